// The vertices that a frontier may reach next, in searches from several sources at once: masks as in betweenness.cu.
// Twins and arguments: candidates.py.
#include "common/rows.cuh"

// Whether the vertex is chosen now, for the first time.
__device__ __forceinline__ bool candidates_choose(unsigned int *chosen, index_t v) {
    const unsigned int bit = 1u << (v & 31);
    return !(chosen[v >> 5] & bit) && !(atomicOr(chosen + (v >> 5), bit) & bit);
}

// The out-neighbours of the frontier that a lane has still to reach, each once.
struct Candidates {
    const index_t *indices;
    const mask_t *front, *seen;
    long long owned;
    bool tells;  // whether there are ghosts
    unsigned int *chosen;
    index_t *candidates, *ghosts;
    unsigned long long *counters;
    Queue<index_t> *own, *others;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = indices[edge];
        if (!((unsigned long long)front[row] & ~(unsigned long long)seen[v])) return;
        if (!candidates_choose(chosen, v)) return;
        if (v < owned) own->push(v);
        else others->push(v);
    }
    __device__ __forceinline__ void flush(bool all) const {
        own->flush(candidates, counters, all);
        if (tells) others->flush(ghosts, counters + 3, all);
    }
};

extern "C" __global__ void candidates_list(long long n, const index_t *rows, const long long *indptr,
                                           const index_t *indices, const mask_t *front, const mask_t *seen,
                                           long long owned, long long slots, unsigned int *chosen, index_t *candidates,
                                           index_t *ghosts, index_t *hubs, unsigned long long *counters) {
    __shared__ Queue<index_t> own, others;
    own.open();
    others.open();
    const Candidates body{indices, front, seen, owned, slots > owned, chosen, candidates, ghosts, counters,
                          &own, &others};
    gd_for_edges(n, rows, indptr, hubs, counters + 1, counters + 2, body);
}

extern "C" __global__ void candidates_list_hubs(long long n, const index_t *rows, const long long *indptr,
                                                const index_t *indices, const mask_t *front, const mask_t *seen,
                                                long long owned, long long slots, unsigned int *chosen,
                                                index_t *candidates, index_t *ghosts, const index_t *hubs,
                                                unsigned long long *counters) {
    __shared__ Queue<index_t> own, others;
    own.open();
    others.open();
    const Candidates body{indices, front, seen, owned, slots > owned, chosen, candidates, ghosts, counters,
                          &own, &others};
    gd_for_hubs(hubs, counters + 1, indptr, body);
}

extern "C" __global__ void candidates_take(long long n, const index_t *slots, long long owned, unsigned int *chosen,
                                           index_t *candidates, unsigned long long *counters) {
    GD_FOR(i, n) {
        const index_t v = slots[i];
        if (v < owned && candidates_choose(chosen, v)) candidates[gd_reserve(counters)] = v;
    }
}

extern "C" __global__ void candidates_forget(long long n, const index_t *candidates, unsigned int *chosen) {
    GD_FOR(i, n) chosen[candidates[i] >> 5] = 0;  // whoever else writes there writes the same
}
