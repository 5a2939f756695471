// The vertices that a front may reach next, in searches from several sources at once: masks as in betweenness.cu.
// Twins and arguments: candidates.py.
#include "rows.cuh"

// The out-neighbours of the front that a lane has still to reach, each once.
struct Candidates {
    const index_t *indices;
    const mask_t *front, *seen;
    unsigned int *chosen;
    index_t *candidates;
    unsigned long long *counters;
    Queue<index_t> *queue;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = indices[edge];
        if (!((unsigned long long)front[row] & ~(unsigned long long)seen[v])) return;
        const unsigned int bit = 1u << (v & 31);
        if (chosen[v >> 5] & bit || atomicOr(chosen + (v >> 5), bit) & bit) return;
        queue->push(v);
    }
    __device__ __forceinline__ void flush(bool all) const { queue->flush(candidates, counters, all); }
};

extern "C" __global__ void candidates_list(long long n, const index_t *rows, const long long *indptr,
                                         const index_t *indices, const mask_t *front, const mask_t *seen,
                                         unsigned int *chosen, index_t *candidates, index_t *hubs,
                                         unsigned long long *counters) {
    __shared__ Queue<index_t> queue;
    queue.open();
    const Candidates body{indices, front, seen, chosen, candidates, counters, &queue};
    gd_for_edges(n, rows, indptr, hubs, counters + 1, counters + 2, body);
}

extern "C" __global__ void candidates_list_hubs(long long n, const index_t *rows, const long long *indptr,
                                              const index_t *indices, const mask_t *front, const mask_t *seen,
                                              unsigned int *chosen, index_t *candidates, const index_t *hubs,
                                              unsigned long long *counters) {
    __shared__ Queue<index_t> queue;
    queue.open();
    const Candidates body{indices, front, seen, chosen, candidates, counters, &queue};
    gd_for_hubs(hubs, counters + 1, indptr, body);
}

extern "C" __global__ void candidates_forget(long long n, const index_t *candidates, unsigned int *chosen) {
    GD_FOR(i, n) chosen[candidates[i] >> 5] = 0;  // whoever else writes there writes the same
}
