// What the kernels of functions.cu call where the caller gave no function. Twins: functions_default.py.
#pragma once

#ifndef GD_HAS_vertex_bias
template <class Given>
__device__ __forceinline__ gd_i64 vertex_bias(gd_i64 vertex, gd_i64 degree, gd_i64 depth, gd_i64 instance, gd_i64 place,
                                              int *failure, const Given &a) {
    return 1;
}
#endif
#ifndef GD_HAS_neighbor_size
template <class Given>
__device__ __forceinline__ gd_i64 neighbor_size(gd_i64 vertex, gd_i64 degree, gd_i64 depth, gd_i64 instance,
                                                gd_i64 place, double random, int *failure, const Given &a) {
    return -1;
}
#endif
#ifndef GD_HAS_edge_bias
#define GD_ASKS_NEAR 0
template <class Given>
__device__ __forceinline__ gd_i64 edge_bias(gd_i64 edge, gd_i64 row, gd_i64 slot, gd_i64 source, gd_i64 destination,
                                            gd_i64 previous, gd_i64 near, gd_i64 depth, gd_i64 instance, gd_i64 seed,
                                            int *failure, const Given &a) {
    return 1;
}
template <class Given>
__device__ __forceinline__ gd_i64 edge_bias_if(gd_i64 edge, gd_i64 row, gd_i64 slot, gd_i64 source, gd_i64 destination,
                                               gd_i64 previous, gd_i64 depth, gd_i64 instance, gd_i64 seed,
                                               bool assumed, int *failure, const Given &a) {
    return 1;
}
#endif
#ifndef GD_HAS_update
template <class Given>
__device__ __forceinline__ gd_i64 update(gd_i64 edge, gd_i64 row, gd_i64 slot, gd_i64 source, gd_i64 destination,
                                         gd_i64 previous, gd_i64 near, gd_i64 depth, gd_i64 instance, gd_i64 seed,
                                         double random, const Given &a) {
    return destination;
}
#endif
