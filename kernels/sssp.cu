// Single-source shortest paths, near-far: relaxation of the edges of near vertices, the split of far ones when the
// bucket moves on, and the columns of a result. Labels are lowered by atomic minima; of all who lower one, the label
// that the minimum replaced decides who puts the vertex where, so that a vertex stands in a queue at most once.
// Twins, arguments and the layout of `counters`: sssp.py.
#include "paths.cuh"

#define FAR 0
#define GHOSTS 1
#define EDGES 2
#define ACTED 3
#define NEAR 4
#define HUBS 13

typedef Labels<dist_t, label_t> Label;
typedef Distance<label_t> Least;

// The smallest of a value of every thread, into *out; all threads of the block call it.
__device__ __forceinline__ void gd_least(double mine, double *out) {
    const bool any = __syncthreads_or(mine < Distance<double>::none());
    if (!any) return;
    for (int lanes = 16; lanes; lanes >>= 1) mine = fmin(mine, __shfl_xor_sync(0xffffffffu, mine, lanes));
    if ((threadIdx.x & 31) == 0 && mine < Distance<double>::none()) Distance<double>::lower(out, mine);
}

struct Queues {
    Queue<index_t> near, ghosts, far;

    __device__ __forceinline__ void open() {
        near.open();
        ghosts.open();
        far.open();
    }
};

struct Relax {
    const index_t *indices;
    const weight_t *weights;
    long long each;
    const index_t *ids;
    label_t *labels;
    int *stamp;
    dist_t limit;
    long long owned;
    int round, mark;
    index_t *next, *ghost_queue, *far;
    unsigned long long *counters;
    long long slot;  // of the length of `next` among the counters
    bool tells;      // whether ghosts are told to their owners
    Queues *queues;
    double *least;  // of this thread

    // Labels only fall: one that a cache kept is the present one or larger, and costs a look at memory, nothing else.
    __device__ __forceinline__ void reach(index_t v, label_t label) const {
        if (!(label < labels[v]) || !(label < *(volatile label_t *)(labels + v))) return;
        const label_t before = Least::lower(labels + v, label);
        if (!(label < before)) return;
        const dist_t d = Label::distance(label);
        if (!(d < limit)) {
            if (before == Least::none()) queues->far.push(v);
            *least = fmin(*least, (double)d);
        } else if (v < owned) {
            if (d < Label::distance(before) && atomicExch(stamp + v, round) != round) queues->near.push(v);
        } else if (tells) {
            if (atomicExch(stamp + v, mark) != mark) queues->ghosts.push(v);
        }
    }
    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        reach(indices[edge], Label::extend(labels[row], weights[edge & each], ids[row]));
    }
    __device__ __forceinline__ void flush(bool all) const {
        queues->near.flush(next, counters + slot, all);
        queues->ghosts.flush(ghost_queue, counters + GHOSTS, all);
        queues->far.flush(far, counters + FAR, all);
    }
};

extern "C" __global__ void sssp_begin(long long n, long long *counters, double *least, long long far, long long near,
                                      double nearest) {
    GD_FOR(i, n) {
        counters[i] = i == FAR ? far : i == NEAR ? near : 0;
        if (i == 0) *least = nearest;
    }
}

extern "C" __global__ void sssp_arrive(long long n, const index_t *slots, const label_t *values, label_t *labels,
                                       int *stamp, dist_t limit, long long owned, long long stamped, index_t *near,
                                       index_t *far, unsigned long long *counters, double *least) {
    __shared__ Queues queues;
    queues.open();
    double mine = Distance<double>::none();
    const Relax relax{nullptr, nullptr, 0, nullptr, labels, stamp, limit, owned, (int)stamped, 0, near, nullptr, far,
                      counters, NEAR, false, &queues, &mine};
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long begin = (long long)blockIdx.x * blockDim.x; begin < n; begin += threads) {
        const long long i = begin + threadIdx.x;
        if (i < n) relax.reach(slots[i], values[i]);
        relax.flush(false);
    }
    relax.flush(true);
    gd_least(mine, least);
}

extern "C" __global__ void sssp_relax(long long n, long long turn, const index_t *near, const long long *indptr,
                                      const index_t *indices, const weight_t *weights, long long each,
                                      const index_t *ids, label_t *labels, int *stamp, dist_t limit, long long owned,
                                      long long stamped, long long mark, index_t *next, index_t *ghost_queue,
                                      index_t *far, index_t *hubs, unsigned long long *counters, double *least) {
    __shared__ Queues queues;
    const long long length = (long long)counters[NEAR + turn];
    if (length == 0) return;
    queues.open();
    double mine = Distance<double>::none();
    if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(counters + ACTED, (unsigned long long)length);
    const Relax relax{indices, weights, each, ids, labels, stamp, limit, owned, (int)stamped + 1, (int)mark, next,
                      ghost_queue, far, counters, NEAR + turn + 1, true, &queues, &mine};
    gd_for_edges(length, near, indptr, hubs, counters + HUBS + turn, counters + EDGES, relax);
    gd_least(mine, least);
}

extern "C" __global__ void sssp_relax_hubs(long long n, long long turn, const index_t *near, const long long *indptr,
                                           const index_t *indices, const weight_t *weights, long long each,
                                           const index_t *ids, label_t *labels, int *stamp, dist_t limit, long long owned,
                                           long long stamped, long long mark, index_t *next, index_t *ghost_queue,
                                           index_t *far, index_t *hubs, unsigned long long *counters, double *least) {
    __shared__ Queues queues;
    if (counters[HUBS + turn] == 0) return;
    queues.open();
    double mine = Distance<double>::none();
    const Relax relax{indices, weights, each, ids, labels, stamp, limit, owned, (int)stamped + 1, (int)mark, next,
                      ghost_queue, far, counters, NEAR + turn + 1, true, &queues, &mine};
    gd_for_hubs(hubs, counters + HUBS + turn, indptr, relax);
    gd_least(mine, least);
}

extern "C" __global__ void sssp_split(long long n, const index_t *far, const label_t *labels, int *stamp,
                                      dist_t before, dist_t limit, long long owned, long long mark, index_t *near,
                                      index_t *ghost_queue, index_t *kept, unsigned long long *counters, double *least) {
    __shared__ Queues queues;
    queues.open();
    double mine = Distance<double>::none();
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long begin = (long long)blockIdx.x * blockDim.x; begin < n; begin += threads) {
        const long long i = begin + threadIdx.x;
        if (i < n) {
            const index_t v = far[i];
            const dist_t d = Label::distance(labels[v]);
            if (!(d < limit)) {
                queues.far.push(v);
                mine = fmin(mine, (double)d);
            } else if (!(d < before)) {
                if (v < owned) {
                    queues.near.push(v);
                } else {
                    stamp[v] = (int)mark;
                    queues.ghosts.push(v);
                }
            }
        }
        queues.near.flush(near, counters + NEAR, false);
        queues.ghosts.flush(ghost_queue, counters + GHOSTS, false);
        queues.far.flush(kept, counters + FAR, false);
    }
    queues.near.flush(near, counters + NEAR, true);
    queues.ghosts.flush(ghost_queue, counters + GHOSTS, true);
    queues.far.flush(kept, counters + FAR, true);
    gd_least(mine, least);
}

extern "C" __global__ void sssp_result(long long n, const long long *labels, long long *distance, index_t *parent) {
    GD_FOR(v, n) {
        const long long label = labels[v];
        distance[v] = label == Distance<long long>::none() ? -1 : label >> 32;
        parent[v] = (index_t)(int)label;
    }
}
