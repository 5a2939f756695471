// Counting the neighbours of higher degree: a thread takes an edge. Twins: higher.py.
#include "common/rows.cuh"
#include "higher_degree/kernels/compared.cuh"
#include "higher_degree/kernels/higher_pack.py"

struct Count : NoQueue {
    const Higher &a;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        if (is_higher(a.degree[a.indices[edge]], a.degree[row])) atomicAdd(a.higher + row, 1ull);
    }
};

extern "C" __global__ void higher_count(long long n, Higher a) {
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, Count{{}, a});
}

extern "C" __global__ void higher_count_hubs(long long n, Higher a) {
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, Count{{}, a});
}
