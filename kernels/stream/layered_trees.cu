// Device kernels over a chunk of a layered edge list besides paths and sums. They join trees over its edges, mark rows
// with an edge to themselves, convert positions to slots, and flag the chunks that are still to be processed. The host
// reads these flags after the chunks that are under way. Twins and arguments: layered_trees.py.
#include "common/chunks.cuh"
#include "common/grid.cuh"
#include "components/trees.cuh"
#include "stream/chunk_pack.py"

struct Join : NoQueue {
    ChunkRows a;
    index_t *link;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        hook((index_t)(a.first + row), a.targets[edge], link);
    }
};

extern "C" __global__ void layered_join(long long n, index_t *link, long long giant, index_t *queue, ChunkRows a) {
    __shared__ Queue<index_t> found;
    found.open();
    const index_t largest = giant < 0 ? (index_t)-1 : find_root((index_t)giant, link);
    const long long threads = (long long)gridDim.x * blockDim.x;
    const Join join{{}, a, link};
    for (long long begin = (long long)blockIdx.x * blockDim.x; begin < n; begin += threads) {
        const long long row = begin + threadIdx.x;
        if (row < n && find_root((index_t)(a.first + row), link) != largest) found.push((index_t)row);
        found.flush(queue, a.counters->listed, false);
    }
    found.flush(queue, a.counters->listed, true);
    gd_grid_barrier(&a.counters->arrived);
    const long long length = *(volatile long long *)a.counters->listed;
    if (blockIdx.x == 0 && threadIdx.x == 0) a.counters->worked += length;
    gd_for_edges(length, queue, a.indptr, a.hubs, a.counters->hubs, &a.counters->looked, join);
    gd_grid_barrier(&a.counters->arrived);
    gd_for_hubs(a.hubs, a.counters->hubs, a.indptr, join);
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
    ChunkRows a;
    unsigned char *loop;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        if (a.targets[edge] == a.first + row) loop[a.first + row] = 1;  // whoever else writes, writes the same
    }
};

extern "C" __global__ void layered_own(long long n, unsigned char *loop, ChunkRows a) {
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, a.counters->hubs, &a.counters->looked,
                 Own{{}, a, loop});
}

extern "C" __global__ void layered_own_hubs(long long n, unsigned char *loop, ChunkRows a) {
    gd_for_hubs(a.hubs, a.counters->hubs, a.indptr, Own{{}, a, loop});
}
