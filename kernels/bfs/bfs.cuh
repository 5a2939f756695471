// What the kernels of breadth-first search share: the absence of a parent, weights of rows, and reaching a vertex.
#pragma once
#include "common/rows.cuh"

// Edges that a claim scans at once, and the edges of a row that it defers.
#define CLAIM_MANY 8
#define CLAIM_LONG 1024
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

// Bits change between the phases of the launch, so that they are not read as constants.
__device__ __forceinline__ bool bfs_bit(const unsigned int *bits, long long slot) {
    return bits[slot >> 5] >> (slot & 31) & 1u;
}

// The first of the edges from `first` to last - 1 that leads to a set bit, or `last`. The first one often does; behind it
// several are scanned together, so that a row which leads nowhere does not wait for one after the other.
#define BFS_AHEAD 4
__device__ __forceinline__ long long bfs_first_set(const index_t *indices, const unsigned int *bits, long long first,
                                                   long long last) {
    if (first < last && bfs_bit(bits, indices[first])) return first;
    for (long long e = first + 1; e < last; e += BFS_AHEAD) {
        index_t v[BFS_AHEAD];
        unsigned int words[BFS_AHEAD];
#pragma unroll
        for (int k = 0; k < BFS_AHEAD; k++) v[k] = indices[min(e + k, last - 1)];
#pragma unroll
        for (int k = 0; k < BFS_AHEAD; k++) words[k] = bits[v[k] >> 5];
        int hit = BFS_AHEAD;
#pragma unroll
        for (int k = BFS_AHEAD - 1; k >= 0; k--)
            if (words[k] >> (v[k] & 31) & 1u) hit = k;
        if (hit < BFS_AHEAD) return e + hit;  // the last edge stands for those behind it, and comes before them
    }
    return last;
}
// Queue the vertices below n that are `wanted`; a thread looks at several together. All threads of the block call it.
template <class Wanted, class Into>
__device__ __forceinline__ void bfs_list(long long n, const Wanted &wanted, Into &queue, index_t *out,
                                         unsigned long long *tail) {
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long begin = (long long)blockIdx.x * blockDim.x; begin < n; begin += BFS_AHEAD * threads) {
        bool found[BFS_AHEAD];
#pragma unroll
        for (int k = 0; k < BFS_AHEAD; k++) {
            const long long v = begin + k * threads + threadIdx.x;
            found[k] = v < n && wanted(v);
        }
#pragma unroll
        for (int k = 0; k < BFS_AHEAD; k++) {
            if (found[k]) queue.push((index_t)(begin + k * threads + threadIdx.x));
            queue.flush(out, tail, false);
        }
    }
    queue.flush(out, tail, true);
}

// Sets the bits of what edges lead to. One that was set meanwhile is set again: what a block has of them in its cache
// may be old.
struct Claim {
    const index_t *indices;
    unsigned int *claimed;

    __device__ __forceinline__ void operator()(const index_t (&)[CLAIM_MANY], const long long (&edges)[CLAIM_MANY]) const {
        index_t v[CLAIM_MANY];
        unsigned int words[CLAIM_MANY];
#pragma unroll
        for (int k = 0; k < CLAIM_MANY; k++) v[k] = __ldcs(indices + max(edges[k], 0LL));
#pragma unroll
        for (int k = 0; k < CLAIM_MANY; k++) words[k] = claimed[v[k] >> 5];
#pragma unroll
        for (int k = 0; k < CLAIM_MANY; k++)
            if (edges[k] >= 0 && !(words[k] >> (v[k] & 31) & 1u)) bfs_set(claimed, v[k]);
    }
    __device__ __forceinline__ void flush(bool) const {}
};
template <> struct gd_at_once<Claim> { static constexpr int edges = CLAIM_MANY, longest = CLAIM_LONG; };
