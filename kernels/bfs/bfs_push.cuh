// What kernels of one level share: the counters of a superstep, and a push that works on a `Search` (bfs_pack.py, which
// the .cu file includes before).
#pragma once
#include "bfs/bfs.cuh"

// Places among the counters of a superstep: as in bfs.py. LED is of bfs_unfused.py.
enum { HERE, NEXT, GHOSTS, UNVISITED, LEFT, HUBS, EDGES = HUBS + 2, WEIGHT, LEVELS, VISITED, LISTED, CYCLE, LED = CYCLE };
#define BFS_COUNTERS (CYCLE + 6)

typedef Push<true> SearchPush;

__device__ __forceinline__ SearchPush bfs_pushing(const Search &a, SplitQueue<index_t> *found) {
    return SearchPush{a.indices, a.ids, a.seen, a.parent, a.owned, a.own_queue, a.ghost_queue, a.counters + NEXT,
                      a.slots > a.owned ? a.counters + GHOSTS : nullptr, &found->own, &found->ghosts};
}
