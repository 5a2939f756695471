// Rows of edges that are drawn. Twins and what the arguments are: edge_rows.py.
#include "common/common.cuh"

extern "C" __global__ void edge_rows_reported(long long n, index_t *places, const index_t *indices, const long long *kept,
                                          const row_t *rows, row_t *numbers) {
    GD_FOR(i, n) {
        const index_t place = places[i];
        numbers[i] = rows[kept ? kept[place] : place];
        places[i] = indices[place];
    }
}

extern "C" __global__ void edge_rows_named(long long n, const index_t *places, const long long *kept,
                                           const row_t *rows, row_t *numbers) {
    GD_FOR(i, n) {
        const index_t place = places[i];
        numbers[i] = rows[kept ? kept[place] : place];
    }
}

extern "C" __global__ void edge_rows_placed(long long n, long long first, const long long *shifts,
                                            const long long *instances, const row_t *numbers, long long *out) {
    GD_FOR(i, n) out[i + shifts[instances[i] - first]] = numbers[i];
}
