// What the kernels of shortest paths share: relaxing edges. Labels are lowered by atomic minima; of all who lower one, the
// label that the minimum replaced decides who puts the vertex where, so that a vertex stands in a queue at most once.
#pragma once
#include "common/grid.cuh"
#include "sssp/paths.cuh"


typedef Labels<dist_t, label_t> Label;
typedef Distance<label_t> Least;

// A byte for each slot: a bound from above on its distance. The distances of many vertices do not fit into the cache of
// the device, their bounds do; and most edges lead to vertices that are much nearer by another way, which the bound says.
// A bound is the logarithm of a distance, in steps of an eighth. Whoever lowers a label writes the bound of what it wrote:
// labels only fall, so any bound that was written is one. Bounds begin BELOW steps below the width of a bucket, and end
// 24 octaves above that.
#define BELOW 64
struct Bounds {
    unsigned char *of;
    int lowest;

    static __device__ __forceinline__ int steps(float d) { return __float_as_int(d) >> 20; }
    __device__ __forceinline__ Bounds(unsigned char *bounds, double delta)
        : of(bounds), lowest(steps((float)delta) - BELOW) {}
    __device__ __forceinline__ int code(dist_t d) const {
        return min(max(steps(Of::rounded_down(d)) - lowest, 0), 255);
    }
    // Whether a label at this distance may be lower than that of the slot.
    __device__ __forceinline__ bool allows(index_t v, dist_t d) const { return code(d) <= of[v]; }
    __device__ __forceinline__ void set(index_t v, dist_t d) const { of[v] = (unsigned char)code(d); }
};
// None, for graphs so sparse that all bounds near a vertex are alike, and for ranks that are not in a team.
struct NoBounds {
    __device__ __forceinline__ bool allows(index_t, dist_t) const { return true; }
    __device__ __forceinline__ void set(index_t, dist_t) const {}
};

// The smallest of a value of every thread, into *out; all threads of the block call it.
__device__ __forceinline__ void gd_least(double mine, double *out) {
    const bool any = __syncthreads_or(mine < Distance<double>::none());
    if (!any) return;
    for (int lanes = 16; lanes; lanes >>= 1) mine = fmin(mine, __shfl_xor_sync(0xffffffffu, mine, lanes));
    if ((threadIdx.x & 31) == 0 && mine < Distance<double>::none()) Distance<double>::lower(out, mine);
}

// Edges that are relaxed at once, and blocks of a processor that leave room for what is known of them.
#define RELAX_MANY 4
#define RELAX_BLOCKS 4

struct Queues {
    WarpQueue<index_t, RELAX_MANY> near, ghosts, far;

    __device__ __forceinline__ void open() {
        near.open();
        ghosts.open();
        far.open();
    }
};

template <class Bounded> struct Relax {
    const index_t *indices;
    const weight_t *weights;
    long long each;
    const index_t *ids;
    label_t *labels;
    int *stamp;
    Bounded bounds;
    dist_t limit;
    long long owned;
    int round, mark;
    index_t *next, *ghost_queue, *far;
    unsigned long long *near_count, *ghost_count, *far_count;
    bool sends;  // whether ghosts are sent to their owners
    Queues *queues;
    double *least;  // of this thread

    // Labels only fall: one that a cache kept is the present one or larger, and costs a look at memory, nothing else.
    __device__ __forceinline__ void reach(index_t v, label_t label) const {
        if (!(label < labels[v]) || !(label < *(volatile label_t *)(labels + v))) return;
        const label_t before = Least::lower(labels + v, label);
        if (!(label < before)) return;
        const dist_t d = Label::distance(label);
        bounds.set(v, d);
        if (!(d < limit)) {
            if (before == Least::none()) queues->far.push(v);
            *least = fmin(*least, (double)d);
        } else if (v < owned) {
            if (d < Label::distance(before) && atomicExch(stamp + v, round) != round) queues->near.push(v);
        } else if (sends) {
            if (atomicExch(stamp + v, mark) != mark) queues->ghosts.push(v);
        }
    }
    __device__ __forceinline__ void operator()(const index_t (&rows)[RELAX_MANY],
                                               const long long (&edges)[RELAX_MANY]) const {
        index_t v[RELAX_MANY];
        label_t label[RELAX_MANY];
        bool lower[RELAX_MANY];
#pragma unroll
        for (int k = 0; k < RELAX_MANY; k++) {
            const long long edge = max(edges[k], 0LL);
            v[k] = indices[edge];
            label[k] = Label::extend(labels[rows[k]], weights[edge & each], ids[rows[k]]);
        }
#pragma unroll
        for (int k = 0; k < RELAX_MANY; k++) lower[k] = edges[k] >= 0 && bounds.allows(v[k], Label::distance(label[k]));
#pragma unroll
        for (int k = 0; k < RELAX_MANY; k++) lower[k] = lower[k] && label[k] < labels[v[k]];
#pragma unroll
        for (int k = 0; k < RELAX_MANY; k++)
            if (lower[k]) reach(v[k], label[k]);
    }
    __device__ __forceinline__ void flush(bool all) const {
        queues->near.flush(next, near_count, all);
        queues->ghosts.flush(ghost_queue, ghost_count, all);
        queues->far.flush(far, far_count, all);
    }
};

template <class Bounded> struct gd_at_once<Relax<Bounded>> { static constexpr int edges = RELAX_MANY, longest = GD_HUB; };

// gd_for_list, RELAX_MANY entries of a thread at once: visit(at) has their places, -1 for none.
template <typename Visit, typename Flush>
__device__ __forceinline__ void gd_for_list_at_once(long long n, const Visit &visit, const Flush &flush) {
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long begin = (long long)blockIdx.x * blockDim.x; begin < n; begin += RELAX_MANY * threads) {
        long long at[RELAX_MANY];
#pragma unroll
        for (int k = 0; k < RELAX_MANY; k++) {
            const long long i = begin + k * threads + threadIdx.x;
            at[k] = i < n ? i : -1;
        }
        visit(at);
        flush(false);
    }
    flush(true);
}

// Where the bucket of a distance ends: above it, whatever rounding does, and no farther than `most`.
__device__ __forceinline__ dist_t gd_next_limit(double nearest, double delta, double most) {
    const double above = __longlong_as_double(__double_as_longlong(nearest) + 1);
    return Distance<dist_t>::at_least(fmin(fmax((floor(nearest / delta) + 1) * delta, above), most));
}
