// One edge for each of many rows, by the tables of graphdask/sample/biases.py. Twin and arguments: pick.py.
#include "common/common.cuh"
#include "choice/pick.cuh"
#include "choice/pick_pack.py"

extern "C" __global__ void pick_edges(long long n, const index_t *rows, const long long *instances, long long method,
                                      gd_u64 key, long long step, long long *edges, int *draws, Picks a) {
    const gd_biases<bias_t> biases{a.values, a.greatest, a.totals, a.shifts, a.table, a.other};
    GD_FOR(i, n) {
        const long long row = rows[i];
        gd_u32 draw = (gd_u32)draws[i];
        edges[i] = gd_pick(method, biases, row, a.indptr[row], a.indptr[row + 1], key, (gd_u64)instances[i], (gd_u32)step,
                           draw);
        draws[i] = (int)draw;
    }
}
