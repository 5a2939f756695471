// Peeling a graph level by level. A vertex joins the queue when its degree falls to the level; of all that lower it,
// exactly one sees the step from above, so it is queued once, whatever the order. Twins and arguments: core_number.py.
#include "common/rows.cuh"

__device__ __forceinline__ int lower(int *address, int by) { return atomicSub(address, by); }
__device__ __forceinline__ long long lower(long long *address, long long by) {
    return (long long)atomicAdd((unsigned long long *)address, (unsigned long long)-by);
}

// A self-loop, or the second and later of parallel edges, which stand together.
__device__ __forceinline__ bool repeats(const long long *indptr, const index_t *indices, index_t row, long long edge) {
    const index_t v = indices[edge];
    return v == row || (edge > indptr[row] && indices[edge - 1] == v);
}

struct Fewer : NoQueue {
    const long long *indptr;
    const index_t *indices;
    index_t *degree;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        if (repeats(indptr, indices, row, edge)) lower(degree + row, (index_t)1);
    }
};

extern "C" __global__ void core_degrees(long long n, const long long *indptr, const index_t *indices, index_t *degree,
                                        index_t *hubs, unsigned long long *counters) {
    gd_for_edges(n, (const index_t *)nullptr, indptr, hubs, counters, counters + 1, Fewer{{}, indptr, indices, degree});
}

extern "C" __global__ void core_degrees_hubs(long long n, const long long *indptr, const index_t *indices,
                                             index_t *degree, const index_t *hubs, unsigned long long *counters) {
    gd_for_hubs(hubs, counters, indptr, Fewer{{}, indptr, indices, degree});
}

struct Peel {
    const long long *indptr;
    const index_t *indices;
    long long level, owned;
    index_t *degree, *lost, *queue, *ghost_queue;
    unsigned long long *counters;
    Queue<index_t> *own, *ghosts;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        if (repeats(indptr, indices, row, edge)) return;
        const index_t v = indices[edge];
        if (v >= owned) {
            if (lower(lost + v, (index_t)-1) == 0) ghosts->push(v);
        } else if (*(volatile index_t *)(degree + v) > level) {
            if (lower(degree + v, (index_t)1) == level + 1) own->push(v);
        }
    }
    __device__ __forceinline__ void flush(bool all) const {
        own->flush(queue, counters, all);
        ghosts->flush(ghost_queue, counters + 1, all);
    }
};

extern "C" __global__ void core_peel(long long n, long long head, index_t *queue, const long long *indptr,
                                     const index_t *indices, long long level, index_t *degree, long long owned,
                                     index_t *lost, index_t *ghost_queue, index_t *hubs,
                                     unsigned long long *counters) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    const Peel peel{indptr, indices, level, owned, degree, lost, queue, ghost_queue, counters, &own, &ghosts};
    gd_for_edges(n, (const index_t *)(queue + head), indptr, hubs, counters + 2, counters + 3, peel);
    if (blockIdx.x == 0 && threadIdx.x == 0) counters[4] = (unsigned long long)(head + n);
}

extern "C" __global__ void core_peel_hubs(long long n, long long head, index_t *queue, const long long *indptr,
                                          const index_t *indices, long long level, index_t *degree, long long owned,
                                          index_t *lost, index_t *ghost_queue, index_t *hubs,
                                          unsigned long long *counters) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    const Peel peel{indptr, indices, level, owned, degree, lost, queue, ghost_queue, counters, &own, &ghosts};
    gd_for_hubs((const index_t *)hubs, counters + 2, indptr, peel);
}

extern "C" __global__ void core_lose(long long n, const index_t *slots, const index_t *lost, long long level,
                                     index_t *degree, long long owned, index_t *queue, unsigned long long *counters) {
    __shared__ Queue<index_t> own;
    own.open();
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long begin = (long long)blockIdx.x * blockDim.x; begin < n; begin += threads) {
        const long long i = begin + threadIdx.x;
        if (i < n && slots[i] < owned) {
            const index_t before = lower(degree + slots[i], lost[i]);
            if (before > level && before - lost[i] <= level) own.push(slots[i]);
        }
        own.flush(queue, counters, false);
    }
    own.flush(queue, counters, true);
}
