// Breadth-first search, push and pull. In a push, a slot that an earlier level has reached costs a look at its bit; for
// the others `parent` alone decides: it is lowered by an atomic minimum, and whoever replaces -1 has
// reached the slot first and puts it into a queue. So a parent is the smallest id of all vertices of the level before
// that reach it, and does not depend on who comes first. What the queues hold is settled by the next kernel, since bits
// must not change while others look at them. In a pull a vertex has one thread, and rows are in the order of ids.
// bfs_levels goes through many small levels in one cooperative launch. Twins, arguments and counters: bfs.py.
#include "bfs/bfs_pack.py"
#include "bfs/bfs.cuh"
#include "common/grid.cuh"

// Make the counters of the next superstep ready: `here` and `unvisited` are the first two.
__device__ __forceinline__ void bfs_turn(const Search &a, unsigned long long here, unsigned long long unvisited = 0) {
    if (blockIdx.x == 0 && threadIdx.x < sizeof(SearchCounts) / sizeof(unsigned long long))
        ((unsigned long long *)a.after)[threadIdx.x] = threadIdx.x == 0 ? here : threadIdx.x == 1 ? unvisited : 0;
}

extern "C" __global__ void bfs_start(long long n, const index_t *sources, Search a) {
    gd_add(bfs_settle_all<true>(a, n, sources, 0, 0), &a.counters->weight);
    bfs_turn(a, (unsigned long long)n);
}

extern "C" __global__ void bfs_push(long long n, const index_t *frontier, long long turn, Search a) {
    __shared__ SplitQueue<index_t> found;
    found.open();
    gd_for_edges((long long)a.counters->here, frontier, a.indptr, a.hubs, &a.counters->hubs + turn, &a.counters->edges,
                 bfs_pushing(a, &found));
}

extern "C" __global__ void bfs_push_hubs(long long n, long long turn, Search a) {
    __shared__ SplitQueue<index_t> found;
    found.open();
    gd_for_hubs(a.hubs, &a.counters->hubs + turn, a.indptr, bfs_pushing(a, &found));
}

extern "C" __global__ void bfs_settle(long long n, long long level, Search a) {
    const long long own = (long long)a.counters->next, ghosts = (long long)a.counters->ghosts;
    gd_add(bfs_settle_all<false>(a, own, a.own_queue, ghosts, level), &a.counters->weight);
    bfs_turn(a, (unsigned long long)own);
}

extern "C" __global__ void bfs_visit(long long n, const index_t *slots, const index_t *parents, long long level,
                                     Search a) {
    __shared__ Queue<index_t> own;
    own.open();
    gd_for_list(n, [&](long long i) {
        const index_t v = slots[i];
        if (bfs_reach(a, v, parents[i], level) && v < a.owned) own.push(v);
    }, [&](bool all) { own.flush(a.own_queue, &a.counters->here, all); });
}

// Levels of few edges, one after the other, while the blocks of a cooperative launch wait for each other. A warp takes
// up to 32 rows, whose edges its lanes share; nobody meets but at the barrier after a level. Of three places for the
// length and the weight of what a level finds, one is filled, the one before is read, and the third is cleared: nobody
// has read it since the last barrier, and nobody fills it before the next. `arrived`, of the barrier, grows on from
// launch to launch, all of which have as many blocks.
extern "C" __global__ void bfs_levels(long long n, index_t *frontier, index_t *own_queue, long long level,
                                      long long most, long long bound, long long alpha, long long floor,
                                      long long unexplored, Search a) {
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    long long count = (long long)a.counters->here, done = 0, visited = 0, edges = 0, weight = 0;
    for (;;) {
        unsigned long long *const found = a.counters->cycle + 2 * (done % 3);
        volatile unsigned long long *const later = a.counters->cycle + 2 * ((done + 1) % 3);
        if (first) later[0] = later[1] = 0;
        unsigned long long mine = 0;
        gd_for_few_edges(count, frontier, a.indptr, a.ids, [&](bool is_edge, long long edge, index_t by) {
            const index_t v = is_edge ? a.indices[edge] : 0;
            const bool won = is_edge && bfs_reach(a, v, by, level + 1);
            const gd_count place = gd_reserve_all(won, found);
            if (!won) return;
            *(volatile index_t *)(own_queue + place) = v;
            mine += bfs_weight(a.indptr, v);
        });
        gd_add(mine, found + 1);
        visited += count;
        done++;
        level++;
        gd_grid_barrier(a.arrived);
        count = *(volatile long long *)found;
        weight = *(volatile long long *)(found + 1);
        if (count == 0 || done == most || count > bound || weight > bound) break;
        if (weight > floor && weight * alpha > unexplored) break;
        if (a.num_targets && bfs_all_reached(a.targets, a.num_targets, a.depth, level)) break;
        edges += weight;
        unexplored -= weight;
        index_t *const here = own_queue;
        own_queue = frontier;
        frontier = here;
    }
    if (first) {
        a.counters->next = (unsigned long long)count;
        a.counters->edges = (unsigned long long)edges;
        a.counters->weight = (unsigned long long)weight;
        a.counters->levels = (unsigned long long)done;
        a.counters->visited = (unsigned long long)visited;
    }
    bfs_turn(a, (unsigned long long)count);
}

extern "C" __global__ void bfs_unvisited(long long n, Search a) {
    __shared__ Queue<index_t> remaining;
    remaining.open();
    gd_list(n, [&](long long v) { return !gd_constant_bit(a.seen, v) & (a.indptr[v + 1] > a.indptr[v]); }, remaining,
            a.left, &a.counters->unvisited);
}

__device__ __forceinline__ Pull<true> bfs_pulling(const Search &a, long long level) {
    return Pull<true>{a, level, &a.counters->next, &a.counters->left, &a.counters->hubs, &a.counters->edges,
                      &a.counters->weight};
}

extern "C" __global__ void bfs_pull(long long n, const index_t *unvisited, long long level, Search a) {
    __shared__ Queue<index_t> own, remaining;
    own.open();
    remaining.open();
    bfs_pulling(a, level).search((long long)a.counters->unvisited, unvisited, &own, &remaining);
}

extern "C" __global__ void bfs_pull_hubs(long long n, long long level, Search a) {
    bfs_pulling(a, level).search_hubs((long long)a.counters->hubs);
}

extern "C" __global__ void bfs_mark(long long n, Search a) {
    const long long count = (long long)a.counters->next;
    GD_FOR(i, count) gd_set_bit(a.seen, a.own_queue[i]);
    bfs_turn(a, (unsigned long long)count, a.counters->left);
}
