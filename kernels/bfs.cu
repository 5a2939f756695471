// Breadth-first search, push and pull. In a push a slot's depth is claimed once, by compare-and-swap; its parent is the
// smallest id of all vertices of the level before that reach it, so it does not depend on who wins. In a pull a vertex
// has one thread, and rows are in the order of ids. Twins and arguments: bfs.py.
#include "rows.cuh"

struct Push {
    const index_t *indices, *ids;
    index_t *depth, *parent;
    long long level, owned;
    index_t *own_queue, *ghost_queue;
    unsigned long long *counters;
    Queue<index_t> *own, *ghosts;

    __device__ __forceinline__ void reach(index_t v, index_t id) const {
        index_t seen = *(volatile index_t *)(depth + v);
        if (seen == -1) seen = gd_atomic_cas(depth + v, (index_t)-1, (index_t)level);
        const bool won = seen == -1;
        if (won) {
            if (v < owned) own->push(v);
            else if (ghosts) ghosts->push(v);
        }
        if ((won || seen == (index_t)level) && id < *(volatile index_t *)(parent + v)) gd_atomic_min(parent + v, id);
    }
    __device__ __forceinline__ void operator()(index_t row, long long edge) const { reach(indices[edge], ids[row]); }
    __device__ __forceinline__ void flush(bool all) const {
        own->flush(own_queue, counters, all);
        if (ghosts) ghosts->flush(ghost_queue, counters + 1, all);
    }
};

extern "C" __global__ void bfs_push(long long n, const index_t *frontier, const long long *indptr,
                                    const index_t *indices, const index_t *ids, index_t *depth, index_t *parent,
                                    long long level, long long owned, index_t *own_queue, index_t *ghost_queue,
                                    index_t *hubs, unsigned long long *counters) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    const Push push{indices, ids, depth, parent, level, owned, own_queue, ghost_queue, counters, &own, &ghosts};
    gd_for_edges(n, frontier, indptr, hubs, counters + 2, counters + 3, push);
}

extern "C" __global__ void bfs_push_hubs(long long n, const long long *indptr, const index_t *indices,
                                         const index_t *ids, index_t *depth, index_t *parent, long long level,
                                         long long owned, index_t *own_queue, index_t *ghost_queue,
                                         const index_t *hubs, unsigned long long *counters) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    const Push push{indices, ids, depth, parent, level, owned, own_queue, ghost_queue, counters, &own, &ghosts};
    gd_for_hubs(hubs, counters + 2, indptr, push);
}

extern "C" __global__ void bfs_visit(long long n, const index_t *slots, const index_t *parents, index_t *depth,
                                     index_t *parent, long long level, long long owned, index_t *own_queue,
                                     unsigned long long *counters) {
    __shared__ Queue<index_t> own;
    own.open();
    const Push arrive{nullptr, nullptr, depth, parent, level, owned, own_queue, nullptr, counters, &own, nullptr};
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long begin = (long long)blockIdx.x * blockDim.x; begin < n; begin += threads) {
        const long long i = begin + threadIdx.x;
        if (i < n) arrive.reach(slots[i], parents[i]);
        arrive.flush(false);
    }
    arrive.flush(true);
}

extern "C" __global__ void bfs_weigh(long long n, const index_t *vertices, const long long *indptr,
                                     unsigned long long *counters) {
    unsigned long long edges = 0;
    GD_FOR(i, n) edges += (unsigned long long)(indptr[vertices[i] + 1] - indptr[vertices[i]]);
    for (int step = 16; step; step >>= 1) edges += __shfl_down_sync(0xffffffffu, edges, step);
    if ((threadIdx.x & 31) == 0 && edges) atomicAdd(counters, edges);
}

extern "C" __global__ void bfs_mark(long long n, const index_t *slots, unsigned int *front) {
    GD_FOR(i, n) atomicOr(front + (slots[i] >> 5), 1u << (slots[i] & 31));
}

extern "C" __global__ void bfs_unvisited(long long n, const index_t *depth, const long long *indptr, index_t *left,
                                         unsigned long long *counters) {
    __shared__ Queue<index_t> remaining;
    remaining.open();
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long begin = (long long)blockIdx.x * blockDim.x; begin < n; begin += threads) {
        const long long v = begin + threadIdx.x;
        if (v < n && depth[v] == -1 && indptr[v + 1] > indptr[v]) remaining.push((index_t)v);
        remaining.flush(left, counters + 1, false);
    }
    remaining.flush(left, counters + 1, true);
}

// Edges that one thread looks at before it leaves the rest of the row to a warp.
#define BFS_FEW 64

__device__ __forceinline__ bool bfs_in_front(const unsigned int *front, index_t slot) {
    return front[slot >> 5] >> (slot & 31) & 1u;
}

extern "C" __global__ void bfs_pull(long long n, const index_t *unvisited, const long long *indptr,
                                    const index_t *indices, const unsigned int *front, index_t *depth, index_t *parent,
                                    long long level, index_t *own_queue, index_t *left, index_t *hubs,
                                    unsigned long long *counters) {
    __shared__ Queue<index_t> own, remaining;
    own.open();
    remaining.open();
    unsigned long long edges = 0;
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long begin = (long long)blockIdx.x * blockDim.x; begin < n; begin += threads) {
        const long long i = begin + threadIdx.x;
        if (i < n) {
            const index_t v = unvisited[i];
            const long long first = indptr[v], last = indptr[v + 1], few = min(first + BFS_FEW, last);
            long long e = first;
            while (e < few && !bfs_in_front(front, indices[e])) e++;
            edges += (unsigned long long)(min(e + 1, few) - first);
            if (e < few) {
                depth[v] = (index_t)level;
                parent[v] = -2 - indices[e];
                own.push(v);
            } else if (few < last) {
                hubs[gd_reserve(counters + 2)] = v;
            } else {
                remaining.push(v);
            }
        }
        own.flush(own_queue, counters, false);
        remaining.flush(left, counters + 1, false);
    }
    own.flush(own_queue, counters, true);
    remaining.flush(left, counters + 1, true);
    for (int step = 16; step; step >>= 1) edges += __shfl_down_sync(0xffffffffu, edges, step);
    if ((threadIdx.x & 31) == 0 && edges) atomicAdd(counters + 3, edges);
}

// The rows that bfs_pull gave up after BFS_FEW edges, a warp each.
extern "C" __global__ void bfs_pull_hubs(long long n, const long long *indptr, const index_t *indices,
                                         const unsigned int *front, index_t *depth, index_t *parent, long long level,
                                         index_t *own_queue, index_t *left, const index_t *hubs,
                                         unsigned long long *counters) {
    const int lane = threadIdx.x & 31;
    const long long warps = (long long)gridDim.x * blockDim.x / 32, count = (long long)counters[2];
    unsigned long long edges = 0;
    for (long long h = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; h < count; h += warps) {
        const index_t v = hubs[h];
        const long long first = indptr[v] + BFS_FEW, last = indptr[v + 1];
        bool found = false;
        for (long long base = first; base < last && !found; base += 32) {
            const long long e = base + lane;
            const bool hit = e < last && bfs_in_front(front, indices[e]);
            const unsigned hits = __ballot_sync(0xffffffffu, hit);
            found = hits != 0;
            if (found && lane == __ffs(hits) - 1) {
                depth[v] = (index_t)level;
                parent[v] = -2 - indices[e];
                own_queue[atomicAdd(counters, 1ULL)] = v;
            }
            if (lane == 0) edges += found ? __ffs(hits) : min(32LL, last - base);
        }
        if (!found && lane == 0) left[atomicAdd(counters + 1, 1ULL)] = v;
    }
    if (lane == 0 && edges) atomicAdd(counters + 3, edges);
}

struct Check : NoQueue {
    const index_t *indices, *ids, *depth, *parent;
    unsigned char *witnessed;
    unsigned long long *first_bad;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = indices[edge], du = depth[row], dv = depth[v];
        if (du < 0) return;
        if (dv < 0 || dv > du + 1) atomicMin(first_bad, (unsigned long long)edge);
        if (dv == du + 1 && parent[v] == ids[row]) witnessed[v] = 1;
    }
};

extern "C" __global__ void bfs_check(long long n, const long long *indptr, const index_t *indices,
                                     const index_t *ids, const index_t *depth, const index_t *parent,
                                     unsigned char *witnessed, unsigned long long *first_bad, index_t *hubs,
                                     unsigned long long *counters) {
    const Check check{{}, indices, ids, depth, parent, witnessed, first_bad};
    gd_for_edges(n, (const index_t *)nullptr, indptr, hubs, counters, counters + 1, check);
}

extern "C" __global__ void bfs_check_hubs(long long n, const long long *indptr, const index_t *indices,
                                          const index_t *ids, const index_t *depth, const index_t *parent,
                                          unsigned char *witnessed, unsigned long long *first_bad,
                                          const index_t *hubs, unsigned long long *counters) {
    const Check check{{}, indices, ids, depth, parent, witnessed, first_bad};
    gd_for_hubs(hubs, counters, indptr, check);
}
