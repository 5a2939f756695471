// What the kernels of shortest paths share: relaxing edges, and the steps of the near-far search over one part. Labels are
// lowered by atomic minima; of all who lower one, the label that the minimum replaced decides who puts the vertex where,
// so that a vertex stands in a queue at most once. The file that includes this one includes sssp_pack.py first.
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
    bool tells;  // whether ghosts are told to their owners
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
        } else if (tells) {
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

// The search of one rank over its part: what the steps of a kernel work on. Of three places that steps (or splits) take
// in turn, one is read, the next is filled, and the third is cleared for the step after: those who read or filled it last
// have passed a barrier since, and those who fill it next come after one. The fences of the barrier order what it parts,
// so that plain reads see it.
template <class Bounded> struct Bucket {
    Relaxing a;
    Bounded bounds;
    Queues *queues;
    long long step, split;
    dist_t bound;

    __device__ __forceinline__ index_t *near(long long at) const { return at % 2 ? a.odd_near : a.even_near; }
    __device__ __forceinline__ index_t *far(long long at) const { return at % 2 ? a.odd_far : a.even_far; }

    // What relaxes edges, or takes in labels that arrived, for the step `to` after this one (0 or 1).
    __device__ __forceinline__ Relax<Bounded> relax(int to, long long mark, double *mine) const {
        const long long at = step + to;
        return Relax<Bounded>{a.indices, a.weights, a.each, a.ids, a.labels, a.stamp, bounds, bound, a.owned, (int)at,
                              (int)mark, near(at), a.ghost_queue, far(split), a.counters->near + at % 3,
                              a.counters->ghosts + mark % 2, a.counters->far + split % 3, to != 0, queues, mine};
    }
    // Relax near vertices until none are left, or `enough` are after the first step, moving the bucket on until `last`,
    // and while the nearest far one is below `most`.
    template <class Barrier>
    __device__ __forceinline__ void advance(long long last, long long enough, double nearest, double delta, double most,
                                            long long mark, const Barrier &barrier) {
        const bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
        const long long begun = step;
        bool relaxed = false;
        if (first_thread) a.counters->ghosts[(mark + 1) % 2] = 0;
        for (;; step++) {
            const long long length = *(volatile long long *)(a.counters->near + step % 3);
            const double from = step == begun ? nearest : *(volatile double *)(a.least + split % 3);
            if (length == 0 && (split == last || !(from < most))) break;
            if (relaxed && length >= enough) break;
            if (first_thread) {
                a.counters->near[(step + 2) % 3] = a.counters->hubs[(step + 1) % 3] = 0;
                a.counters->acted += length;
            }
            const index_t *const waiting = far(split);
            const unsigned long long *const far_count = a.counters->far + split % 3;
            const dist_t before = bound;
            if (length == 0) {
                split++;
                bound = gd_next_limit(from, delta, most);
                if (first_thread) {
                    a.counters->far[(split + 1) % 3] = 0;
                    a.least[(split + 1) % 3] = Distance<double>::none();
                }
            }
            double mine = Distance<double>::none();
            const Relax<Bounded> body = relax(1, mark, &mine);
            if (length) {
                relaxed = true;
                unsigned long long *const hub_count = a.counters->hubs + step % 3;
                gd_for_edges(length, near(step), a.indptr, a.hubs, hub_count, &a.counters->edges, body);
                gd_least(mine, a.least + split % 3);
                barrier();
                if (*(volatile unsigned long long *)hub_count) {
                    gd_for_hubs(a.hubs, hub_count, a.indptr, body);
                    gd_least(mine, a.least + split % 3);
                    barrier();
                }
            } else {
                gd_for_list_at_once(*(volatile long long *)far_count, [&](const long long (&at)[RELAX_MANY]) {
                    index_t v[RELAX_MANY];
                    dist_t d[RELAX_MANY];
#pragma unroll
                    for (int k = 0; k < RELAX_MANY; k++) v[k] = waiting[max(at[k], 0LL)];
#pragma unroll
                    for (int k = 0; k < RELAX_MANY; k++) d[k] = Label::distance(a.labels[v[k]]);
#pragma unroll
                    for (int k = 0; k < RELAX_MANY; k++) {
                        if (at[k] < 0 || d[k] < before) continue;
                        if (!(d[k] < bound)) {
                            queues->far.push(v[k]);
                            mine = fmin(mine, (double)d[k]);
                        } else if (v[k] < a.owned) {
                            queues->near.push(v[k]);
                        } else {
                            a.stamp[v[k]] = (int)mark;
                            queues->ghosts.push(v[k]);
                        }
                    }
                }, [&](bool all) { body.flush(all); });
                gd_least(mine, a.least + split % 3);
                barrier();
            }
        }
    }
};
