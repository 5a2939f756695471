// What a push of breadth-first search does with an edge, and the counters of a superstep: of bfs.cu, where that is one
// kernel with the visit of the edges, and of bfs_unfused.cu, where it is one of its own.
#pragma once
#include "bfs/bfs.cuh"

// Places among the counters of a superstep: as in bfs.py. LED is of bfs_unfused.py.
enum { HERE, NEXT, GHOSTS, UNVISITED, LEFT, HUBS, EDGES = HUBS + 2, WEIGHT, LEVELS, VISITED, LISTED, CYCLE, LED = CYCLE };
#define BFS_COUNTERS (CYCLE + 6)

__device__ __forceinline__ bool bfs_has(const unsigned int *bits, index_t slot) {
    return __ldg(bits + (slot >> 5)) >> (slot & 31) & 1u;
}

struct Reach {
    const unsigned int *seen;
    index_t *parent;
    long long owned;
    bool tells;  // whether there are ghosts
    index_t *own_queue, *ghost_queue;
    unsigned long long *counters;
    Queue<index_t> *own, *ghosts;

    // The vertex at *by leads to v.
    __device__ __forceinline__ void reach(index_t v, const index_t *by) const {
        if (bfs_has(seen, v)) return;
        const index_t id = *by;
        if (!(id < *(volatile index_t *)(parent + v))) return;
        if (gd_atomic_min(parent + v, id) != bfs_none<index_t>::id) return;
        if (v < owned) own->push(v);
        else ghosts->push(v);
    }
    __device__ __forceinline__ void flush(bool all) const {
        own->flush(own_queue, counters + NEXT, all);
        if (tells) ghosts->flush(ghost_queue, counters + GHOSTS, all);
    }
};
