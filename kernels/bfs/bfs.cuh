// What the kernels of breadth-first search share: pushing along an edge, searching a row for a parent, reaching and
// settling vertices. It works on a `Search` (bfs_pack.py, which the .cu file includes before).
#pragma once
#include "common/bitmap.cuh"
#include "common/pull.cuh"

// What a row of more than BFS_LONG edges adds to a weight beside them (common/tuning.py).
#define BFS_LONG 1024
#define BFS_MARK 1099511627776

// Lower the parent of a slot, which was `before`, to an id; whether the slot had none. That is -1, the largest number
// without a sign.
__device__ __forceinline__ bool bfs_lower(int *parent, int before, int id) {
    return (unsigned int)before > (unsigned int)id && atomicMin((unsigned int *)parent, (unsigned int)id) == ~0u;
}
__device__ __forceinline__ bool bfs_lower(long long *parent, long long before, long long id) {
    typedef unsigned long long word;
    return (word)before > (word)id && atomicMin((word *)parent, (word)id) == ~0ULL;
}

__device__ __forceinline__ unsigned long long bfs_weight(const long long *indptr, index_t v) {
    const unsigned long long edges = (unsigned long long)(indptr[v + 1] - indptr[v]);
    return edges > BFS_LONG ? edges + BFS_MARK : edges;
}
// Give the vertices that are found, and so many of the queue of ghosts, their depth and their bit; returns this thread's
// share of the weight. Those that are `sources` are their own parents and become the frontier.
template <bool sources>
__device__ __forceinline__ unsigned long long bfs_settle_all(const Search &a, long long own, const index_t *found,
                                                             long long ghosts, long long level) {
    unsigned long long weight = 0;
    GD_FOR(i, own + ghosts) {
        const bool mine = i < own;
        const index_t v = mine ? found[i] : a.ghost_queue[i - own];
        a.depth[v] = (index_t)level;
        if (sources) {
            a.parent[v] = a.ids[v];
            a.own_queue[i] = v;
        }
        gd_set_bit(a.seen, v);
        if (mine) weight += bfs_weight(a.out_indptr, v);
    }
    return weight;
}

// What a push does with an edge: lower the parent of what it leads to, and queue that if it had none. Bits of `seen` that
// are `constant` do not change during the launch.
template <bool constant> struct Push {
    Search a;
    unsigned long long *own_count, *ghost_count;  // the second is null where there are no ghosts
    Queue<index_t> *own, *ghosts;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = __ldcs(a.indices + edge);  // once only: the caches are for bits and parents
        if (constant ? gd_constant_bit(a.seen, v) : gd_bit(a.seen, v)) return;
        if (!bfs_lower(a.parent + v, *(volatile index_t *)(a.parent + v), a.ids[row])) return;
        if (v < a.owned) own->push(v);
        else ghosts->push(v);
    }
    __device__ __forceinline__ void flush(bool all) const {
        own->flush(a.own_queue, own_count, all);
        if (ghost_count) ghosts->flush(a.ghost_queue, ghost_count, all);
    }
};

__device__ __forceinline__ Push<true> bfs_pushing(const Search &a, SplitQueue<index_t> *found) {
    return Push<true>{a, &a.counters->next, a.slots > a.owned ? &a.counters->ghosts : nullptr, &found->own,
                      &found->ghosts};
}

// Reach a slot that others of the same launch may reach too; whether this is the first that does. A slot that an earlier
// level reached has another depth; one without is being reached now, whoever writes the depth first.
__device__ __forceinline__ bool bfs_reach(const Search &a, index_t v, index_t id, long long level) {
    // Both are read before either is asked about: levels of few vertices take as long as these reads.
    const index_t before = *(volatile index_t *)(a.depth + v), lowest = *(volatile index_t *)(a.parent + v);
    if ((before != -1 && before != (index_t)level) || !bfs_lower(a.parent + v, lowest, id)) return false;
    *(volatile index_t *)(a.depth + v) = (index_t)level;
    gd_set_bit(a.seen, v);
    return true;
}

// The id of the vertex that a slot is of; -2 - position if the id of a ghost does not follow from its position.
__device__ __forceinline__ index_t bfs_id(const Search &a, index_t slot) {
    const bool mine = slot < a.owned;
    if (mine && !a.plain) return a.ids[slot];
    long long position = a.first + (a.few && !mine ? (long long)a.ghosts[slot - a.owned] : (long long)slot);
    if (position >= a.vertices) position -= a.vertices;
    return (index_t)(a.plain ? position : -2 - position);
}

// Whether all targets have a depth, at the end of a level; all threads of a block call it. A block that is ahead may give
// depths of the next level meanwhile; these count as none.
__device__ __forceinline__ bool bfs_all_reached(const index_t *targets, long long count, const index_t *depth,
                                                long long level) {
    int left = 0;
    for (long long i = threadIdx.x; i < count; i += blockDim.x) {
        const index_t found = *(const volatile index_t *)(depth + targets[i]);
        left |= found < 0 || found > level;
    }
    return !__syncthreads_or(left);
}

// Edges that one thread scans before it leaves the rest of the row to a warp (common/tuning.py).
#define BFS_FEW 64

// Vertices that search their rows for a neighbour whose bit is set. If it `queues`, those that find one go to the own
// queue, those that do not to `left`; otherwise all are queued already and find one.
template <bool queues> struct Pull {
    Search a;
    long long level;
    unsigned long long *own_count, *left_count, *hub_count, *edge_count, *weight_count;

    __device__ __forceinline__ unsigned long long found(index_t v, long long edge) const {
        a.depth[v] = (index_t)level;
        a.parent[v] = bfs_id(a, a.indices[edge]);
        return bfs_weight(a.out_indptr, v);
    }
    // Search the rows of a list; one that has not ended after BFS_FEW edges is deferred.
    __device__ __forceinline__ void search(long long count, const index_t *unvisited, Queue<index_t> *finders,
                                           Queue<index_t> *others) const {
        unsigned long long weight = 0;
        gd_search_rows<BFS_FEW>(count, unvisited, a.indptr, a.indices, a.seen, a.hubs, hub_count, edge_count,
                                [&](index_t v, long long edge) {
            weight += found(v, edge);
            if (queues) finders->push(v);
        }, [&](index_t v) {
            if (queues) others->push(v);
        }, [&](bool all) {
            if (!queues) return;
            finders->flush(a.own_queue, own_count, all);
            others->flush(a.left, left_count, all);
        });
        gd_add(weight, weight_count);
    }
    // Search the rest of the deferred rows.
    __device__ __forceinline__ void search_hubs(long long count) const {
        unsigned long long weight = 0;
        gd_search_hubs<BFS_FEW>(count, a.hubs, a.indptr, a.indices, a.seen, edge_count, [&](index_t v, long long edge) {
            weight += found(v, edge);
            if (queues) a.own_queue[atomicAdd(own_count, 1ULL)] = v;
        }, [&](index_t v) { a.left[atomicAdd(left_count, 1ULL)] = v; });
        gd_add(weight, weight_count);
    }
};
