// The own neighbours of each ghost, out of the rows of the own vertices; those of a ghost stand in any order.
// Twins: ghost_rows.py.
#include "common/rows.cuh"
#include "core_number/ghost_rows_pack.py"

// The first of the edges from a row to a ghost.
__device__ __forceinline__ bool leads_to_ghost(const GhostRows &a, index_t row, long long edge) {
    const index_t v = a.indices[edge];
    return v >= a.owned && (edge == a.indptr[row] || a.indices[edge - 1] != v);
}

__device__ __forceinline__ long long take(long long *counter) {
    return (long long)atomicAdd((unsigned long long *)counter, 1ull);
}

struct CountGhosts : NoQueue {
    const GhostRows &a;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        if (leads_to_ghost(a, row, edge)) take(a.ends + (a.indices[edge] - a.owned));
    }
};

struct FillGhosts : NoQueue {
    const GhostRows &a;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        if (leads_to_ghost(a, row, edge)) a.rows[take(a.ends + (a.indices[edge] - a.owned))] = row;
    }
};

extern "C" __global__ void ghost_rows_count(long long n, GhostRows a) {
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges,
                 CountGhosts{{}, a});
}

extern "C" __global__ void ghost_rows_count_hubs(long long n, GhostRows a) {
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, CountGhosts{{}, a});
}

extern "C" __global__ void ghost_rows_fill(long long n, GhostRows a) {
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges,
                 FillGhosts{{}, a});
}

extern "C" __global__ void ghost_rows_fill_hubs(long long n, GhostRows a) {
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, FillGhosts{{}, a});
}
