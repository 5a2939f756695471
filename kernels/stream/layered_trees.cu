// Device kernels over a chunk of a layered edge list besides paths and sums. They join trees over its edges, mark rows
// with an edge to themselves, convert positions to slots, and flag the chunks that are still to be processed. The host
// reads these flags after the chunks that are under way. Twins and arguments: layered_trees.py.
#include "common/chunks.cuh"
#include "common/grid.cuh"
#include "components/trees.cuh"

#define WORKED 0
#define LOOKED 1
#define ARRIVED 2
#define COUNT 3
#define HUBS 4

struct Join : NoQueue {
    long long first;
    const index_t *targets;
    index_t *link;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        hook((index_t)(first + row), targets[edge], link);
    }
};

extern "C" __global__ void layered_join(long long n, long long first, const long long *indptr, const index_t *targets,
                                        index_t *link, long long giant, index_t *queue, index_t *hubs,
                                        unsigned long long *counters) {
    __shared__ Queue<index_t> found;
    found.open();
    const index_t largest = giant < 0 ? (index_t)-1 : find_root((index_t)giant, link);
    const long long threads = (long long)gridDim.x * blockDim.x;
    const Join join{{}, first, targets, link};
    for (long long begin = (long long)blockIdx.x * blockDim.x; begin < n; begin += threads) {
        const long long row = begin + threadIdx.x;
        if (row < n && find_root((index_t)(first + row), link) != largest) found.push((index_t)row);
        found.flush(queue, counters + COUNT, false);
    }
    found.flush(queue, counters + COUNT, true);
    gd_grid_barrier(counters + ARRIVED);
    const long long length = *(volatile long long *)(counters + COUNT);
    if (blockIdx.x == 0 && threadIdx.x == 0) counters[WORKED] += length;
    gd_for_edges(length, queue, indptr, hubs, counters + HUBS, counters + LOOKED, join);
    gd_grid_barrier(counters + ARRIVED);
    gd_for_hubs(hubs, counters + HUBS, indptr, join);
}

__device__ __forceinline__ void leave(unsigned long long *flag) {
    if (!*(volatile unsigned long long *)flag) atomicExch(flag, 1ULL);
}

extern "C" __global__ void layered_outside_of(long long n, long long first, index_t *link, long long giant,
                                              const long long *firsts, long long chunks, unsigned long long *flags) {
    const index_t largest = find_root((index_t)giant, link);
    GD_FOR(i, n) {
        const long long v = first + i;
        unsigned long long *const flag = flags + chunk_of(v, firsts, chunks);
        if (!*(volatile unsigned long long *)flag && find_root((index_t)v, link) != largest) leave(flag);
    }
}

extern "C" __global__ void layered_roots(long long n, const index_t *positions, index_t *link, index_t *roots) {
    GD_FOR(i, n) roots[i] = find_root(positions[i], link);
}

// Eight marks at a time: most are not set.
extern "C" __global__ void layered_active(long long n, const unsigned long long *marks, const long long *firsts,
                                          long long chunks, unsigned long long *flags) {
    GD_FOR(i, n) {
        const unsigned long long eight = marks[i];
        if (!eight) continue;
        long long end = 0;
        for (int k = 0; k < 8; k++) {
            const long long position = 8 * i + k;
            if (!(eight >> 8 * k & 255) || position < end) continue;
            const long long chunk = chunk_of(position, firsts, chunks);
            end = chunk + 1 < chunks ? firsts[chunk + 1] : 8 * n;
            leave(flags + chunk);
        }
    }
}

// The own rows come first, and what stood in their place is where they were, or behind them.
extern "C" __global__ void layered_slots(long long n, index_t *targets, long long first, long long rows) {
    const index_t begin = (index_t)first, end = (index_t)(first + rows), moved = min(begin, (index_t)rows);
    const index_t place = max(begin, (index_t)rows);
    GD_FOR(i, n) {
        const index_t target = targets[i];
        if (target >= begin && target < end) targets[i] = target - begin;
        else if (target < moved) targets[i] = target + place;
    }
}

// The own rows come first, and the others follow in their order, from the first one again after the last.
extern "C" __global__ void layered_cyclic(long long n, index_t *targets, long long first, long long vertices) {
    const index_t begin = (index_t)first, size = (index_t)vertices;
    GD_FOR(i, n) {
        const index_t target = targets[i] - begin;
        targets[i] = target < 0 ? target + size : target;
    }
}

struct Own : NoQueue {
    long long first;
    const index_t *targets;
    unsigned char *loop;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        if (targets[edge] == first + row) loop[first + row] = 1;  // whoever else writes, writes the same
    }
};

extern "C" __global__ void layered_own(long long n, long long first, const long long *indptr, const index_t *targets,
                                       unsigned char *loop, index_t *hubs, unsigned long long *counters) {
    gd_for_edges(n, (const index_t *)nullptr, indptr, hubs, counters + HUBS, counters + LOOKED,
                 Own{{}, first, targets, loop});
}

extern "C" __global__ void layered_own_hubs(long long n, long long first, const long long *indptr,
                                            const index_t *targets, unsigned char *loop, const index_t *hubs,
                                            unsigned long long *counters) {
    gd_for_hubs(hubs, counters + HUBS, indptr, Own{{}, first, targets, loop});
}
