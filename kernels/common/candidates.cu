// The vertices that a frontier may reach next, in searches from several sources at once: masks as in betweenness.cu.
// Twins: candidates.py.
#include "common/bitmap.cuh"
#include "common/rows.cuh"
#include "common/candidates_pack.py"

// Whether the vertex is chosen now, for the first time.
__device__ __forceinline__ bool candidates_choose(unsigned int *chosen, index_t v) {
    return !gd_bit(chosen, v) && gd_choose_bit(chosen, v);
}

// The out-neighbours of the frontier that a lane has still to reach, each once.
struct List {
    const CandidateLists &a;
    SplitQueue<index_t> *found;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = a.indices[edge];
        if (!((unsigned long long)a.frontier[row] & ~(unsigned long long)a.seen[v])) return;
        if (!candidates_choose(a.chosen, v)) return;
        found->push(v, a.owned);
    }
    __device__ __forceinline__ void flush(bool all) const {
        found->own.flush(a.own, &a.counters->own, all);
        if (a.slots > a.owned) found->ghosts.flush(a.ghosts, &a.counters->ghosts, all);
    }
};

extern "C" __global__ void candidates_list(long long n, const index_t *rows, CandidateLists a) {
    __shared__ SplitQueue<index_t> found;
    found.open();
    gd_for_edges(n, rows, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, List{a, &found});
}

extern "C" __global__ void candidates_list_hubs(long long n, CandidateLists a) {
    __shared__ SplitQueue<index_t> found;
    found.open();
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, List{a, &found});
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
