// Breadth-first search, push and pull. In a push, a slot that an earlier level has reached costs a look at its bit; for
// the others `parent` alone decides: it is lowered by an atomic minimum, and whoever replaces the largest integer has
// reached the slot first and puts it into a queue. So a parent is the smallest id of all vertices of the level before
// that reach it, and does not depend on who comes first. What the queues hold is settled by the next kernel, since bits
// must not change while others look at them. In a pull a vertex has one thread, and rows are in the order of ids.
// bfs_levels goes through many small levels in one cooperative launch. Twins, arguments and counters: bfs.py.
#include "bfs/bfs_pack.py"
#include "bfs/bfs_push.cuh"
#include "common/grid.cuh"

// Make the counters of the next superstep ready.
__device__ __forceinline__ void bfs_turn(unsigned long long *after, unsigned long long here, unsigned long long left) {
    if (blockIdx.x == 0 && threadIdx.x < BFS_COUNTERS)
        after[threadIdx.x] = threadIdx.x == HERE ? here : threadIdx.x == UNVISITED ? left : 0;
}

struct alignas(16) bfs_chunk {
    index_t of[16 / sizeof(index_t)];
};

extern "C" __global__ void bfs_init(long long n, long long depths, index_t *depth, index_t *parent, unsigned int *seen) {
    const int each = 16 / sizeof(index_t);
    const long long chunks = n / each;
    bfs_chunk unreached, none;
    for (int i = 0; i < each; i++) {
        unreached.of[i] = -1;
        none.of[i] = bfs_none<index_t>::id;
    }
    const long long whole = depths / each;
    GD_FOR(i, chunks) {
        ((bfs_chunk *)parent)[i] = none;
        if (i < whole) ((bfs_chunk *)depth)[i] = unreached;
    }
    GD_FOR(i, n - chunks * each) parent[chunks * each + i] = bfs_none<index_t>::id;
    GD_FOR(i, depths - whole * each) depth[whole * each + i] = -1;
    GD_FOR(i, (n + 31) / 32) seen[i] = 0;
}

extern "C" __global__ void bfs_start(long long n, const index_t *sources, const long long *indptr, const index_t *ids,
                                     index_t *depth, index_t *parent, unsigned int *seen, index_t *own_queue,
                                     unsigned long long *counters, unsigned long long *after) {
    unsigned long long weight = 0;
    GD_FOR(i, n) {
        const index_t v = sources[i];
        depth[v] = 0;
        parent[v] = ids[v];
        gd_set_bit(seen, v);
        own_queue[i] = v;
        weight += bfs_weight(indptr, v);
    }
    gd_add(weight, counters + WEIGHT);
    bfs_turn(after, (unsigned long long)n, 0);
}

extern "C" __global__ void bfs_push(long long n, const index_t *frontier, long long turn, Search a) {
    __shared__ SplitQueue<index_t> found;
    found.open();
    gd_for_edges((long long)a.counters[HERE], frontier, a.indptr, a.hubs, a.counters + HUBS + turn, a.counters + EDGES,
                 bfs_pushing(a, &found));
}

extern "C" __global__ void bfs_push_hubs(long long n, long long turn, Search a) {
    __shared__ SplitQueue<index_t> found;
    found.open();
    gd_for_hubs(a.hubs, a.counters + HUBS + turn, a.indptr, bfs_pushing(a, &found));
}

extern "C" __global__ void bfs_settle(long long n, const index_t *own_queue, const index_t *ghost_queue,
                                      const long long *indptr, index_t *depth, unsigned int *seen, long long level,
                                      unsigned long long *counters, unsigned long long *after) {
    const long long own = (long long)counters[NEXT], count = own + (long long)counters[GHOSTS];
    unsigned long long weight = 0;
    GD_FOR(i, count) {
        const bool mine = i < own;
        const index_t v = mine ? own_queue[i] : ghost_queue[i - own];
        depth[v] = (index_t)level;
        gd_set_bit(seen, v);
        if (mine) weight += bfs_weight(indptr, v);
    }
    gd_add(weight, counters + WEIGHT);
    bfs_turn(after, (unsigned long long)own, 0);
}

extern "C" __global__ void bfs_visit(long long n, const index_t *slots, const index_t *parents, index_t *depth,
                                     index_t *parent, unsigned int *seen, long long level, long long owned,
                                     index_t *own_queue, unsigned long long *counters) {
    __shared__ Queue<index_t> own;
    own.open();
    const Visit visit{depth, parent, seen};
    gd_for_list(n, [&](long long i) {
        const index_t v = slots[i];
        if (visit.reach(v, parents[i], level) && v < owned) own.push(v);
    }, [&](bool all) { own.flush(own_queue, counters + HERE, all); });
}

// Levels of few edges, one after the other, while the blocks of a cooperative launch wait for each other. A warp takes
// up to 32 rows, whose edges its lanes share; nobody meets but at the barrier after a level. Of three places for the
// length and the weight of what a level finds, one is filled, the one before is read, and the third is cleared: nobody
// has read it since the last barrier, and nobody fills it before the next. `arrived`, of the barrier, grows on from
// launch to launch, all of which have as many blocks.
extern "C" __global__ void bfs_levels(long long n, index_t *frontier, index_t *own_queue, long long level,
                                      long long most, long long bound, long long alpha, long long floor,
                                      long long unexplored, Search a) {
    const unsigned all = 0xffffffffu;
    const int lane = threadIdx.x & 31;
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    const long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const Visit visit{a.depth, a.parent, a.seen};
    long long count = (long long)a.counters[HERE], done = 0, visited = 0, edges = 0, weight = 0;
    for (;;) {
        unsigned long long *const found = a.counters + CYCLE + 2 * (done % 3);
        volatile unsigned long long *const later = a.counters + CYCLE + 2 * ((done + 1) % 3);
        if (first) later[0] = later[1] = 0;
        unsigned long long mine = 0;
        const long long share = min((count + warps - 1) / warps, 32LL);
        for (long long base = warp * share; base < count; base += warps * share) {
            long long begin = 0;
            int degree = 0;
            index_t id = 0;
            if (lane < share && base + lane < count) {
                const index_t u = *(volatile index_t *)(frontier + base + lane);
                begin = a.indptr[u];
                degree = (int)(a.indptr[u + 1] - begin);
                id = a.ids[u];
            }
            int scan = degree;
            for (int step = 1; step < 32; step <<= 1) {
                const int before = __shfl_up_sync(all, scan, step);
                if (lane >= step) scan += before;
            }
            const int total = __shfl_sync(all, scan, 31);
            for (int chunk = 0; chunk < total; chunk += 32) {
                const int e = chunk + lane;
                int row = 0;
                for (int step = 16; step; step >>= 1) {
                    const int until = __shfl_sync(all, scan, row + step - 1);
                    if (until <= e) row += step;
                }
                const int offset = e - __shfl_sync(all, scan - degree, row);
                const long long edge = __shfl_sync(all, begin, row) + offset;
                const index_t by = __shfl_sync(all, id, row);
                const index_t v = e < total ? a.indices[edge] : 0;
                const bool won = e < total && visit.reach(v, by, level + 1);
                const unsigned winners = __ballot_sync(all, won);
                if (!winners) continue;
                gd_count place = 0;
                if (lane == 0) place = atomicAdd(found, (gd_count)__popc(winners));
                place = __shfl_sync(all, place, 0) + __popc(winners & ((1u << lane) - 1));
                if (!won) continue;
                *(volatile index_t *)(own_queue + place) = v;
                mine += bfs_weight(a.indptr, v);
            }
        }
        gd_add(mine, found + 1);
        visited += count;
        done++;
        level++;
        gd_grid_barrier(a.arrived);
        count = *(volatile long long *)found;
        weight = *(volatile long long *)(found + 1);
        if (count == 0 || done == most || count > bound || weight > bound) break;
        if (weight > floor && weight * alpha > unexplored) break;
        edges += weight;
        unexplored -= weight;
        index_t *const here = own_queue;
        own_queue = frontier;
        frontier = here;
    }
    if (first) {
        a.counters[NEXT] = (unsigned long long)count;
        a.counters[EDGES] = (unsigned long long)edges;
        a.counters[WEIGHT] = (unsigned long long)weight;
        a.counters[LEVELS] = (unsigned long long)done;
        a.counters[VISITED] = (unsigned long long)visited;
    }
    bfs_turn(a.after, (unsigned long long)count, 0);
}

extern "C" __global__ void bfs_unvisited(long long n, const unsigned int *seen, const long long *indptr, index_t *left,
                                         unsigned long long *counters) {
    __shared__ Queue<index_t> remaining;
    remaining.open();
    bfs_list(n, [&](long long v) { return !gd_constant_bit(seen, v) & (indptr[v + 1] > indptr[v]); }, remaining, left,
             counters + UNVISITED);
}

__device__ __forceinline__ Pull<true> bfs_pulling(const Search &a, long long level, index_t *left) {
    return Pull<true>{a.indptr, a.indices, a.out_indptr, a.seen, a.depth, a.parent, level, a.own_queue, left, a.hubs,
                      a.counters + NEXT, a.counters + LEFT, a.counters + HUBS};
}

extern "C" __global__ void bfs_pull(long long n, const index_t *unvisited, long long level, index_t *left, Search a) {
    __shared__ Queue<index_t> own, remaining;
    own.open();
    remaining.open();
    bfs_pulling(a, level, left).search((long long)a.counters[UNVISITED], unvisited, &own, &remaining,
                                       a.counters + EDGES, a.counters + WEIGHT);
}

extern "C" __global__ void bfs_pull_hubs(long long n, long long level, index_t *left, Search a) {
    bfs_pulling(a, level, left).search_hubs((long long)a.counters[HUBS], a.counters + EDGES, a.counters + WEIGHT);
}

extern "C" __global__ void bfs_mark(long long n, const index_t *own_queue, unsigned int *seen,
                                    const unsigned long long *counters, unsigned long long *after) {
    const long long count = (long long)counters[NEXT];
    GD_FOR(i, count) gd_set_bit(seen, own_queue[i]);
    bfs_turn(after, (unsigned long long)count, counters[LEFT]);
}

extern "C" __global__ void bfs_result(long long n, const index_t *depth, index_t *parent, const index_t *ids,
                                      const index_t *ghosts, long long few, long long owned, long long first,
                                      long long vertices, long long plain, index_t *listed,
                                      unsigned long long *counters) {
    __shared__ Queue<index_t> places;
    places.open();
    gd_for_list(n, [&](long long v) {
        const index_t found = parent[v];
        if (depth[v] < 0) {
            parent[v] = -1;
        } else if (found < -1) {
            const long long slot = -2 - (long long)found;
            const bool mine = slot < owned;
            long long position = first + (few && !mine ? (long long)ghosts[slot - owned] : slot);
            if (position >= vertices) position -= vertices;
            if (plain) {
                parent[v] = (index_t)position;
            } else if (mine) {
                parent[v] = ids[slot];
            } else {
                parent[v] = (index_t)(-2 - position);
                places.push((index_t)v);
            }
        }
    }, [&](bool all) { places.flush(listed, counters + LISTED, all); });
}
