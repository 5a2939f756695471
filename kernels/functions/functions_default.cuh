// What the kernels of functions.cu call where the caller gave no function. Twins: functions_default.py.
#pragma once

#ifndef GD_HAS_vertex_bias
__device__ __forceinline__ gd_i64 vertex_bias(const gd_i64 *names, gd_i64 base, gd_i64 vertex, gd_i64 degree,
                                              gd_i64 depth, gd_i64 instance, gd_i64 place, int *failure) {
    return 1;
}
#endif
#ifndef GD_HAS_neighbor_size
__device__ __forceinline__ gd_i64 neighbor_size(const gd_i64 *names, gd_i64 base, gd_i64 vertex, gd_i64 degree,
                                                gd_i64 depth, gd_i64 instance, gd_i64 place, double random,
                                                int *failure) {
    return -1;
}
#endif
#ifndef GD_HAS_edge_bias
__device__ __forceinline__ gd_i64 edge_bias(const gd_i64 *indptr, const index_t *indices, const weight_t *weights,
                                            const gd_i64 *degrees, gd_i64 mapped, const gd_i64 *names, gd_i64 base,
                                            const gd_i64 *near_indptr, const index_t *near_indices, gd_i64 edge, gd_i64 row, gd_i64 slot, gd_i64 source,
                                            gd_i64 destination, gd_i64 previous, gd_i64 near, gd_i64 depth,
                                            gd_i64 instance, gd_i64 seed, int *failure) {
    return 1;
}
#define GD_ASKS_NEAR 0
__device__ __forceinline__ gd_i64 edge_bias_if(const gd_i64 *indptr, const index_t *indices, const weight_t *weights,
                                               const gd_i64 *degrees, gd_i64 mapped, const gd_i64 *names, gd_i64 base,
                                               const gd_i64 *near_indptr, const index_t *near_indices, gd_i64 edge, gd_i64 row, gd_i64 slot, gd_i64 source,
                                               gd_i64 destination, gd_i64 previous, gd_i64 near, gd_i64 depth,
                                               gd_i64 instance, gd_i64 seed, bool assumed, int *failure) {
    return 1;
}
#endif
#ifndef GD_HAS_update
__device__ __forceinline__ gd_i64 update(const gd_i64 *indptr, const index_t *indices, const weight_t *weights,
                                         const gd_i64 *degrees, gd_i64 mapped, const gd_i64 *names, gd_i64 base,
                                         const gd_i64 *near_indptr, const index_t *near_indices, gd_i64 edge, gd_i64 row, gd_i64 slot, gd_i64 source,
                                         gd_i64 destination, gd_i64 previous, gd_i64 near, gd_i64 depth,
                                         gd_i64 instance, gd_i64 seed, double random, int *failure) {
    return destination;
}
#endif
