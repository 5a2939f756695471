// The vertices that a frontier may reach next, in searches from several sources at once: masks as in betweenness.cu.
// Twins: candidates.py.
#include "common/rows.cuh"
#include "triangles/candidates_pack.py"

// Whether the vertex is chosen now, for the first time.
__device__ __forceinline__ bool candidates_choose(unsigned int *chosen, index_t v) {
    const unsigned int bit = 1u << (v & 31);
    return !(chosen[v >> 5] & bit) && !(atomicOr(chosen + (v >> 5), bit) & bit);
}

// The out-neighbours of the frontier that a lane has still to reach, each once.
struct List {
    const CandidateLists &a;
    Queue<index_t> *own, *ghosts;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = a.indices[edge];
        if (!((unsigned long long)a.front[row] & ~(unsigned long long)a.seen[v])) return;
        if (!candidates_choose(a.chosen, v)) return;
        if (v < a.owned) own->push(v);
        else ghosts->push(v);
    }
    __device__ __forceinline__ void flush(bool all) const {
        own->flush(a.own, &a.counters->own, all);
        if (a.slots > a.owned) ghosts->flush(a.ghosts, &a.counters->ghosts, all);
    }
};

extern "C" __global__ void candidates_list(long long n, const index_t *rows, CandidateLists a) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    gd_for_edges(n, rows, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, List{a, &own, &ghosts});
}

extern "C" __global__ void candidates_list_hubs(long long n, CandidateLists a) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, List{a, &own, &ghosts});
}

extern "C" __global__ void candidates_take(long long n, const index_t *slots, CandidateLists a) {
    GD_FOR(i, n) {
        const index_t v = slots[i];
        if (v < a.owned && candidates_choose(a.chosen, v)) a.own[gd_reserve(&a.counters->own)] = v;
    }
}

extern "C" __global__ void candidates_forget(long long n, const index_t *candidates, unsigned int *chosen) {
    GD_FOR(i, n) chosen[candidates[i] >> 5] = 0;  // whoever else writes there writes the same
}
