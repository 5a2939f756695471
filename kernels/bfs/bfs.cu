// Breadth-first search, push and pull. In a push, a slot that an earlier level has reached costs a look at its bit; for
// the others `parent` alone decides: it is lowered by an atomic minimum, and whoever replaces -1 has
// reached the slot first and puts it into a queue. So a parent is the smallest id of all vertices of the level before
// that reach it, and does not depend on who comes first. What the queues hold is settled by the next kernel, since bits
// must not change while others look at them. In a pull a vertex has one thread, and rows are in the order of ids.
// bfs_levels goes through many small levels in one cooperative launch. Twins, arguments and counters: bfs.py.
#include "bfs/bfs_pack.py"
#include "bfs/bfs.cuh"
#include "common/grid.cuh"

extern "C" __global__ void bfs_push(long long n, const index_t *frontier, long long turn, Search a) {
    __shared__ SplitQueue<index_t> found;
    found.open();
    gd_for_edges((long long)a.here->found, frontier, a.indptr, a.hubs, &a.next->hubs + turn, &a.next->edges,
                 Push{a, &found});
}

extern "C" __global__ void bfs_push_hubs(long long n, long long turn, Search a) {
    __shared__ SplitQueue<index_t> found;
    found.open();
    gd_for_hubs(a.hubs, &a.next->hubs + turn, a.indptr, Push{a, &found});
}

extern "C" __global__ void bfs_settle(long long n, long long level, Search a) {
    bfs_settle_all(a, level, (long long)a.next->ghosts);
    if (blockIdx.x == 0 && threadIdx.x == 0) a.next->visited = a.here->found;
    bfs_clear(a.here);
}

extern "C" __global__ void bfs_visit(long long n, const index_t *slots, const index_t *parents, long long level,
                                     Search a) {
    __shared__ Queue<index_t> own;
    own.open();
    unsigned long long weight = 0;
    gd_for_list(n, [&](long long i) { weight += bfs_take_in(a, slots[i], parents[i], level, &own); },
                [&](bool all) { own.flush(a.own_queue, &a.next->found, all); });
    gd_add(weight, &a.next->weight);
}

// Levels of few edges, one after the other, while the blocks of a cooperative launch wait for each other. A warp takes
// up to 32 rows, whose edges its lanes share; nobody meets but at the barrier after a level. Of three places for the
// length and the weight of what a level finds, one is filled, the one before is read, and the third is cleared: nobody
// has read it since the last barrier, and nobody fills it before the next. `arrived`, of the barrier, grows on from
// launch to launch, all of which have as many blocks.
extern "C" __global__ void bfs_levels(long long n, index_t *frontier, index_t *own_queue, long long level,
                                      long long most, long long bound, double unexplored, Search a) {
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    long long count = (long long)a.here->found, weight = (long long)a.here->weight, done = 0, visited = 0, edges = 0;
    for (;;) {
        unsigned long long *const found = a.next->cycle + 2 * (done % 3);
        volatile unsigned long long *const later = a.next->cycle + 2 * ((done + 1) % 3);
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
        edges += weight & (BFS_MARK - 1);
        done++;
        level++;
        gd_grid_barrier(a.arrived);
        count = *(volatile long long *)found;
        weight = *(volatile long long *)(found + 1);
        if (count == 0 || done == most || count > bound || weight > bound) break;
        if (gd_is_pull_due(false, (double)count, (double)weight, 0, unexplored, (double)a.vertices)) break;
        if (a.num_targets && bfs_all_reached(a, level)) break;
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
    bfs_clear(a.here);
}

extern "C" __global__ void bfs_unvisited(long long n, Search a) {
    __shared__ Queue<index_t> remaining;
    remaining.open();
    gd_list(n, [&](long long v) { return !gd_bit(a.seen, v) & (a.indptr[v + 1] > a.indptr[v]); }, remaining,
            a.left, &a.next->left);
}

extern "C" __global__ void bfs_pull(long long n, const index_t *unvisited, Search a) {
    __shared__ Queue<index_t> own, others;
    own.open();
    others.open();
    Pull<true>{a, &own, &others}.search((long long)a.here->left, unvisited);
}

extern "C" __global__ void bfs_pull_hubs(long long n, Search a) {
    Pull<true>{a, nullptr, nullptr}.search_hubs((long long)a.next->in_hubs);
}
