// The values of the two directions of undirected edges, added up. Twin and arguments: edge_pairs.py.
#include "common/common.cuh"

extern "C" __global__ void edge_pairs_add(long long n, const index_t *places, const index_t *mirrors,
                                          const double *over, const double *came, double scale, double *scores) {
    GD_FOR(i, n) {
        const index_t mirror = mirrors[i];
        const double score = __dmul_rn(over[places[i]], scale);
        scores[i] = mirror < 0 ? score : __dadd_rn(score, __dmul_rn(came[mirror], scale));
    }
}
