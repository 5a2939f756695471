// Searches by levels: what queues and counters of a level need, whatever the search does with an edge. They work on a
// `LevelSearch`, or a pack with its fields (levels_pack.py, which the .cu file includes before).
#pragma once
#include "common/direction.cuh"
#include "common/grid.cuh"
#include "common/rows.cuh"

// What a row of more than GD_LONG_ROW edges adds to the weight of a level beside them (common/tuning.py).
#define GD_LONG_ROW 1024
#define GD_LONG_ROW_MARK 1099511627776

__device__ __forceinline__ void gd_clear_counts(LevelCounts *counts) {
    if (blockIdx.x == 0 && threadIdx.x < sizeof(LevelCounts) / sizeof(unsigned long long))
        ((volatile unsigned long long *)counts)[threadIdx.x] = 0;
}

__device__ __forceinline__ unsigned long long gd_row_weight(const long long *indptr, index_t v) {
    const unsigned long long edges = (unsigned long long)(indptr[v + 1] - indptr[v]);
    return edges > GD_LONG_ROW ? edges + GD_LONG_ROW_MARK : edges;
}

// Lower the smallest id of a slot, which was `before`; whether the slot had none. That is -1, the largest number
// without a sign.
__device__ __forceinline__ bool gd_lower_id(int *smallest, int before, int id) {
    return (unsigned int)before > (unsigned int)id && atomicMin((unsigned int *)smallest, (unsigned int)id) == ~0u;
}
__device__ __forceinline__ bool gd_lower_id(long long *smallest, long long before, long long id) {
    typedef unsigned long long word;
    return (word)before > (word)id && atomicMin((word *)smallest, (word)id) == ~0ULL;
}

// The id of the vertex that a slot is of; -2 - position if the id of a ghost does not follow from its position.
template <class Slots> __device__ __forceinline__ index_t gd_id_of(const Slots &a, index_t slot) {
    const bool mine = slot < a.owned;
    if (mine && !a.plain) return a.ids[slot];
    long long position = a.first + (a.few && !mine ? (long long)a.ghosts[slot - a.owned] : (long long)slot);
    if (position >= a.vertices) position -= a.vertices;
    return (index_t)(a.plain ? position : -2 - position);
}

// Whether all targets have a depth, at the end of a level; all threads of a block call it. A block that is ahead may
// give depths of the next level meanwhile; these count as none.
template <class Search> __device__ __forceinline__ bool gd_all_reached(const Search &a, long long level) {
    int left = 0;
    for (long long i = threadIdx.x; i < a.num_targets; i += blockDim.x) {
        const index_t found = *(const volatile index_t *)(a.depth + a.targets[i]);
        left |= found < 0 || found > level;
    }
    return !__syncthreads_or(left);
}

// Levels of few edges on a rank that has the whole graph, one after the other in a cooperative launch, whose blocks
// wait for each other. reach(v, id, level) is whether the edge from the vertex of this id is the first that reaches v
// in this level. It goes through at least one level and at most `most`, and ends after one that finds nothing, or more
// vertices or weight than `bound`, or the last of the targets, or before one that is to be pulled. The queues change
// places after each.
//
// A warp takes up to 32 rows, whose edges its lanes share; nobody meets but at the barrier after a level. Of three
// places for the length and the weight of what a level finds, one is filled, the one before is read, and the third is
// cleared: nobody has read it since the last barrier, and nobody fills it before the next. `arrived`, of the barrier,
// grows on from launch to launch, all of which have as many blocks.
template <class Search, class Reach>
__device__ __forceinline__ void gd_small_levels(const Search &a, index_t *frontier, index_t *own_queue, long long level,
                                                long long most, long long bound, double unexplored,
                                                const Reach &reach) {
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    long long count = (long long)a.here->found, weight = (long long)a.here->weight, done = 0, visited = 0, edges = 0;
    for (;;) {
        unsigned long long *const found = a.next->cycle + 2 * (done % 3);
        volatile unsigned long long *const later = a.next->cycle + 2 * ((done + 1) % 3);
        if (first) later[0] = later[1] = 0;
        unsigned long long mine = 0;
        gd_for_few_edges(count, frontier, a.indptr, a.ids, [&](bool is_edge, long long edge, index_t by) {
            const index_t v = is_edge ? a.indices[edge] : 0;
            const bool won = is_edge && reach(v, by, level + 1);
            const gd_count place = gd_reserve_all(won, found);
            if (!won) return;
            *(volatile index_t *)(own_queue + place) = v;
            mine += gd_row_weight(a.indptr, v);
        });
        gd_add(mine, found + 1);
        visited += count;
        edges += weight & (GD_LONG_ROW_MARK - 1);
        done++;
        level++;
        gd_grid_barrier(a.arrived);
        count = *(volatile long long *)found;
        weight = *(volatile long long *)(found + 1);
        if (count == 0 || done == most || count > bound || weight > bound) break;
        if (gd_is_pull_due(false, (double)count, (double)weight, 0, unexplored, (double)a.vertices)) break;
        if (a.num_targets && gd_all_reached(a, level)) break;
        unexplored -= (double)weight;
        index_t *const here = own_queue;
        own_queue = frontier;
        frontier = here;
    }
    if (first) {
        a.next->found = (unsigned long long)count;
        a.next->edges = (unsigned long long)edges;
        a.next->weight = (unsigned long long)weight;
        a.next->levels = (unsigned long long)done;
        a.next->visited = (unsigned long long)visited;
    }
    gd_clear_counts(a.here);
}
