// Breadth-first search, push and pull. In a push, a slot that an earlier level has reached costs a look at its bit; for
// the others `parent` alone decides: it is lowered by an atomic minimum, and whoever replaces -1 has
// reached the slot first and puts it into a queue. So a parent is the smallest id of all vertices of the level before
// that reach it, and does not depend on who comes first. What the queues hold is settled by the next kernel, since bits
// must not change while others look at them. In a pull a vertex has one thread, and rows are in the order of ids.
// bfs_levels goes through many small levels in one cooperative launch. Twins, arguments and counters: bfs.py.
#include "common/levels_pack.py"
#include "bfs/bfs_pack.py"
#include "bfs/bfs.cuh"

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
    gd_clear_counts(a.here);
}

extern "C" __global__ void bfs_visit(long long n, const index_t *slots, const index_t *parents, long long level,
                                     long long universe, Search a) {
    __shared__ Queue<index_t> own;
    own.open();
    unsigned long long weight = 0;
    gd_for_list(n, [&](long long i) {
        const index_t v = slots[i];
        if (v < 0 || v >= universe) gd_fail(2);
        else weight += bfs_take_in(a, v, parents[i], level, &own);
    },
                [&](bool all) { own.flush(a.own_queue, &a.next->found, all); });
    gd_add(weight, &a.next->weight);
}

extern "C" __global__ void bfs_levels(long long n, index_t *frontier, index_t *own_queue, long long level,
                                      long long most, long long bound, double unexplored, Search a) {
    gd_small_levels(a, frontier, own_queue, level, most, bound, unexplored,
                    [&](index_t v, index_t by, long long at) { return bfs_reach(a, v, by, at); });
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
