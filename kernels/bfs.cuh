// What the kernels of breadth-first search share: the absence of a parent, weights of rows, and reaching a vertex.
#pragma once
#include "common.cuh"

// What a row of more than BFS_LONG edges adds to a weight beside them.
#define BFS_LONG 1024
#define BFS_MARK (1ULL << 40)

template <class T> struct bfs_none;
template <> struct bfs_none<int> { static constexpr int id = 0x7fffffff; };
template <> struct bfs_none<long long> { static constexpr long long id = 0x7fffffffffffffffLL; };

__device__ __forceinline__ void bfs_set(unsigned int *bits, index_t slot) {
    atomicOr(bits + (slot >> 5), 1u << (slot & 31));
}

__device__ __forceinline__ unsigned long long bfs_weight(const long long *indptr, index_t v) {
    const unsigned long long edges = (unsigned long long)(indptr[v + 1] - indptr[v]);
    return edges > BFS_LONG ? edges + BFS_MARK : edges;
}
// The sum over the lanes of a warp, added to *out.
__device__ __forceinline__ void bfs_add(unsigned long long mine, unsigned long long *out) {
    for (int step = 16; step; step >>= 1) mine += __shfl_down_sync(0xffffffffu, mine, step);
    if ((threadIdx.x & 31) == 0 && mine) atomicAdd(out, mine);
}

// Slots that others of the same launch may reach too. An earlier level's have another depth; a slot without one is
// being reached now, whoever writes the depth first.
struct Visit {
    index_t *depth, *parent;
    unsigned int *seen;

    // Whether this is the first that reaches it.
    __device__ __forceinline__ bool reach(index_t v, index_t id, long long level) const {
        const index_t before = *(volatile index_t *)(depth + v), lowest = *(volatile index_t *)(parent + v);
        if ((before != -1 && before != (index_t)level) || !(id < lowest)) return false;
        if (gd_atomic_min(parent + v, id) != bfs_none<index_t>::id) return false;
        *(volatile index_t *)(depth + v) = (index_t)level;
        bfs_set(seen, v);
        return true;
    }
};
