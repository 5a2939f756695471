// Breadth-first search, push. A slot's depth is claimed once, by compare-and-swap; its parent is the smallest id of all
// vertices of the level before that reach it, so it does not depend on who wins. Twins and arguments: bfs.py.
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
