// One edge for each of many rows, by the tables of graphdask/sample/biases.py. Twin and arguments: pick.py.
#include "common/common.cuh"
#include "choice/pick.cuh"

extern "C" __global__ void pick_edges(long long n, const index_t *rows, const long long *instances,
                                      const long long *indptr, long long method, const bias_t *values,
                                      const bias_t *greatest, const gd_u64 *totals, const int *shifts,
                                      const gd_u64 *table, const int *other, gd_u64 key, long long step,
                                      long long *edges, int *draws) {
    const gd_biases<bias_t> biases{values, greatest, totals, shifts, table, other};
    GD_FOR(i, n) {
        const long long row = rows[i];
        gd_u32 draw = (gd_u32)draws[i];
        edges[i] = gd_pick(method, biases, row, indptr[row], indptr[row + 1], key, (gd_u64)instances[i], (gd_u32)step,
                           draw);
        draws[i] = (int)draw;
    }
}
