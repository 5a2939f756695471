// What breadth-first search does with edges and vertices: pushing along an edge, searching a row for a parent, reaching
// and settling vertices. It works on a `Search` (bfs_pack.py, which the .cu file includes before).
#pragma once
#include "common/bitmap.cuh"
#include "common/levels.cuh"
#include "common/pull.cuh"

// Give what this level has queued, and so many ghosts, its depth and its bit. Those of level 0 are their own parents.
__device__ __forceinline__ void bfs_settle_all(const Search &a, long long level, long long ghosts) {
    const long long own = *(volatile long long *)&a.next->found;
    unsigned long long weight = 0;
    GD_FOR(i, own + ghosts) {
        const bool mine = i < own;
        const index_t v = mine ? a.own_queue[i] : a.ghost_queue[i - own];
        a.depth[v] = (index_t)level;
        if (level == 0) a.parent[v] = a.ids[v];
        gd_set_bit(a.seen, v);
        if (mine) weight += gd_row_weight(a.out_indptr, v);
    }
    gd_add(weight, &a.next->weight);
}

// What a push does with an edge: lower the parent of what it leads to, and queue that if it had none.
struct Push {
    Search a;
    SplitQueue<index_t> *found;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = __ldcs(a.indices + edge);  // once only: the caches are for bits and parents
        if (gd_bit(a.seen, v)) return;
        if (gd_lower_id(a.parent + v, *(volatile index_t *)(a.parent + v), a.ids[row])) found->push(v, a.owned);
    }
    __device__ __forceinline__ void flush(bool all) const {
        found->own.flush(a.own_queue, &a.next->found, all);
        if (a.slots > a.owned) found->ghosts.flush(a.ghost_queue, &a.next->ghosts, all);
    }
};

// Reach a slot that others of the same launch may reach too; whether this is the first that does. A slot that an
// earlier level reached has another depth; one without is being reached now, whoever writes the depth first.
__device__ __forceinline__ bool bfs_reach(const Search &a, index_t v, index_t id, long long level) {
    // Both are read before either is asked about: levels of few vertices take as long as these reads.
    const index_t before = *(volatile index_t *)(a.depth + v), lowest = *(volatile index_t *)(a.parent + v);
    if ((before != -1 && before != (index_t)level) || !gd_lower_id(a.parent + v, lowest, id)) return false;
    *(volatile index_t *)(a.depth + v) = (index_t)level;
    gd_set_bit(a.seen, v);
    return true;
}

// Take in a slot that another rank reached in this level; returns its weight if it is an own vertex, which is queued.
__device__ __forceinline__ unsigned long long bfs_take_in(const Search &a, index_t v, index_t parent, long long level,
                                                          Queue<index_t> *own) {
    if (!bfs_reach(a, v, parent, level) || v >= a.owned) return 0;
    own->push(v);
    return gd_row_weight(a.out_indptr, v);
}

// Vertices that search their rows for a neighbour whose bit is set, which is their parent. If it `queues`, those that
// find one go to the own queue, the others to `left`; otherwise all are queued already and find one.
template <bool queues> struct Pull {
    Search a;
    Queue<index_t> *own, *others;

    // Search the rows of a list; one that has not ended after GD_PULL_FEW edges is deferred.
    __device__ __forceinline__ void search(long long count, const index_t *list) const {
        gd_search_rows(count, list, a.indptr, a.indices, a.seen, a.hubs, &a.next->in_hubs, &a.next->edges,
                       [&](index_t v, long long edge) {
            a.parent[v] = gd_id_of(a, a.indices[edge]);
            if (queues) own->push(v);
        }, [&](index_t v) {
            if (queues) others->push(v);
        }, [&](bool all) {
            if (!queues) return;
            own->flush(a.own_queue, &a.next->found, all);
            others->flush(a.left, &a.next->left, all);
        });
    }
    // Search the rest of the deferred rows.
    __device__ __forceinline__ void search_hubs(long long count) const {
        gd_search_hubs(count, a.hubs, a.indptr, a.indices, a.seen, &a.next->edges, [&](index_t v, long long edge) {
            a.parent[v] = gd_id_of(a, a.indices[edge]);
            if (queues) a.own_queue[atomicAdd(&a.next->found, 1ULL)] = v;
        }, [&](index_t v) { a.left[atomicAdd(&a.next->left, 1ULL)] = v; });
    }
};
