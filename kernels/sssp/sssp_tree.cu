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
    const index_t *indices;
    const weight_t *weights;
    long long each;
    const index_t *ids;
    const dist_t *distance;
    const unsigned char *tags;
    long long owned;
    index_t *parent, *ghost_queue;
    unsigned long long *level;
    TreeCounts *counters;
    Queue<index_t> *ghosts;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const dist_t du = distance[row];
        if (du == Of::none()) return;
        const index_t v = indices[edge];
        const dist_t sum = Of::add(du, weights[edge & each]);
        if (tags && tags[v] != UNREACHED_TAG && tags[v] != gd_tag(sum)) return;
        const dist_t dv = distance[v];
        if (dv != Of::none() && dv != sum) return;
        if (dv == du) {
            if (v != row) atomicAdd(level + row, 1ULL);
        } else if (ids[row] < *(volatile index_t *)(parent + v)) {
            const index_t before = gd_atomic_min(parent + v, ids[row]);
            if (v >= owned && before == gd_no_id()) ghosts->push(v);
        }
    }
    __device__ __forceinline__ void flush(bool all) const { ghosts->flush(ghost_queue, &counters->ghosts, all); }
};

extern "C" __global__ void sssp_parents(long long n, Tree a) {
    __shared__ Queue<index_t> ghosts;
    ghosts.open();
    const Parents parents{a.indices, a.weights, a.each, a.ids, a.distance, a.tags, a.owned, a.parent, a.ghost_queue, a.level,
                          a.counters, &ghosts};
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, parents);
}

extern "C" __global__ void sssp_parents_hubs(long long n, Tree a) {
    __shared__ Queue<index_t> ghosts;
    ghosts.open();
    const Parents parents{a.indices, a.weights, a.each, a.ids, a.distance, a.tags, a.owned, a.parent, a.ghost_queue, a.level,
                          a.counters, &ghosts};
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, parents);
}

struct Level : NoQueue {
    const index_t *indices;
    const weight_t *weights;
    long long each;
    const index_t *ids;
    const dist_t *distance;
    const index_t *parent;
    long long any;
    unsigned long long *place;
    index_t *out;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const dist_t du = distance[row];
        const index_t v = indices[edge];
        if (du == Of::none() || v == row || distance[v] != du || Of::add(du, weights[edge & each]) != du) return;
        if (any || parent[v] == ids[row]) out[atomicAdd(place + row, 1ULL)] = v;
    }
};

extern "C" __global__ void sssp_level(long long n, const index_t *rows, Tree a) {
    const Level level{{}, a.indices, a.weights, a.each, a.ids, a.distance, a.parent, a.any, a.place, a.out};
    gd_for_edges(n, rows, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, level);
}

extern "C" __global__ void sssp_level_hubs(long long n, Tree a) {
    const Level level{{}, a.indices, a.weights, a.each, a.ids, a.distance, a.parent, a.any, a.place, a.out};
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, level);
}

struct Check : NoQueue {
    const index_t *indices;
    const weight_t *weights;
    long long each;
    const index_t *ids;
    const dist_t *distance;
    const index_t *parent;
    unsigned char *witnessed;
    unsigned long long *level, *first_bad;
    dist_t until;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const dist_t du = distance[row];
        if (du == Of::none()) return;
        const index_t v = indices[edge];
        const dist_t dv = distance[v], sum = Of::add(du, weights[edge & each]);
        if ((dv > sum || dv == Of::none()) && sum <= until) atomicMin(first_bad, (unsigned long long)edge);
        else if (dv == sum && v != row && parent[v] == ids[row]) {
            if (du < dv) witnessed[v] = 1;
            else atomicAdd(level + row, 1ULL);
        }
    }
};

extern "C" __global__ void sssp_check(long long n, Tree a) {
    const Check check{{}, a.indices, a.weights, a.each, a.ids, a.distance, a.parent, a.witnessed, a.level, a.first_bad,
                      *a.until};
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, check);
}

extern "C" __global__ void sssp_check_hubs(long long n, Tree a) {
    const Check check{{}, a.indices, a.weights, a.each, a.ids, a.distance, a.parent, a.witnessed, a.level, a.first_bad,
                      *a.until};
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, check);
}
