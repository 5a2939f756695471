// Shortest paths, what follows once the distances are known: the parents, the edges between vertices of equal distance,
// and the check of a result. Twins and arguments: sssp_tree.py.
#include "sssp/paths.cuh"
#include "sssp/sssp_tree_pack.py"

__device__ __forceinline__ index_t gd_no_id() {
    return sizeof(index_t) == 4 ? (index_t)0x7fffffff : (index_t)0x7fffffffffffffffLL;
}

#define UNREACHED_TAG 255

// Most edges are not tight, and the tags of all slots fit into a cache that their distances do not.
__device__ __forceinline__ unsigned char gd_tag(dist_t d) {
    if (d == Of::none()) return UNREACHED_TAG;
    const unsigned long long mixed = (unsigned long long)Of::bits(d) * 0x9e3779b97f4a7c15ULL >> 56;
    return (unsigned char)min(mixed, UNREACHED_TAG - 1ULL);
}

extern "C" __global__ void sssp_tags(long long n, Tree a) {
    GD_FOR(v, n) a.tags[v] = gd_tag(a.distance[v]);
}

struct Parents {
    Tree a;
    Queue<index_t> *ghosts;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const dist_t du = a.distance[row];
        if (du == Of::none()) return;
        const index_t v = a.indices[edge];
        const dist_t sum = Of::add(du, a.weights[edge & a.each]);
        if (a.tags && a.tags[v] != UNREACHED_TAG && a.tags[v] != gd_tag(sum)) return;
        const dist_t dv = a.distance[v];
        if (dv != Of::none() && dv != sum) return;
        if (dv == du) {
            if (v != row) atomicAdd(a.level + row, 1ULL);
        } else if (a.ids[row] < *(volatile index_t *)(a.parent + v)) {
            const index_t before = gd_atomic_min(a.parent + v, a.ids[row]);
            if (v >= a.owned && before == gd_no_id()) ghosts->push(v);
        }
    }
    __device__ __forceinline__ void flush(bool all) const { ghosts->flush(a.ghost_queue, &a.counters->ghosts, all); }
};

extern "C" __global__ void sssp_parents(long long n, Tree a) {
    __shared__ Queue<index_t> ghosts;
    ghosts.open();
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges,
                 Parents{a, &ghosts});
}

extern "C" __global__ void sssp_parents_hubs(long long n, Tree a) {
    __shared__ Queue<index_t> ghosts;
    ghosts.open();
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, Parents{a, &ghosts});
}

struct Level : NoQueue {
    Tree a;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const dist_t du = a.distance[row];
        const index_t v = a.indices[edge];
        if (du == Of::none() || v == row || a.distance[v] != du || Of::add(du, a.weights[edge & a.each]) != du) return;
        if (a.any || a.parent[v] == a.ids[row]) a.out[atomicAdd(a.place + row, 1ULL)] = v;
    }
};

extern "C" __global__ void sssp_level(long long n, const index_t *rows, Tree a) {
    gd_for_edges(n, rows, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, Level{{}, a});
}

extern "C" __global__ void sssp_level_hubs(long long n, Tree a) {
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, Level{{}, a});
}

struct Check : NoQueue {
    Tree a;
    dist_t until;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const dist_t du = a.distance[row];
        if (du == Of::none()) return;
        const index_t v = a.indices[edge];
        const dist_t dv = a.distance[v], sum = Of::add(du, a.weights[edge & a.each]);
        if ((dv > sum || dv == Of::none()) && sum <= until) atomicMin(a.first_bad, (unsigned long long)edge);
        else if (dv == sum && v != row && a.parent[v] == a.ids[row]) {
            if (du < dv) a.witnessed[v] = 1;
            else atomicAdd(a.level + row, 1ULL);
        }
    }
};

extern "C" __global__ void sssp_check(long long n, Tree a) {
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, Check{{}, a, *a.until});
}

extern "C" __global__ void sssp_check_hubs(long long n, Tree a) {
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, Check{{}, a, *a.until});
}
