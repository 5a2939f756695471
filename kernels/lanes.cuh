// The sum of a row in eight lanes, in an order of additions that depends on nothing but the row: edges in chunks, those
// of a chunk dealt to eight lanes, which are added as a tree, and the sums of the chunks likewise. Twin: lanes.py.
#pragma once

#define GD_LANES 8
#define GD_CHUNK 256

// The tree of eight lanes that one thread holds, or that lie side by side.
__device__ __forceinline__ double gd_tree(const double *lane) {
    return __dadd_rn(__dadd_rn(__dadd_rn(lane[0], lane[4]), __dadd_rn(lane[2], lane[6])),
                     __dadd_rn(__dadd_rn(lane[1], lane[5]), __dadd_rn(lane[3], lane[7])));
}

// That of eight threads of a warp; all eight get it, since a sum of two has the same bits either way round.
__device__ __forceinline__ double gd_warp_tree(double value) {
    value = __dadd_rn(value, __shfl_xor_sync(0xffffffffu, value, 4));
    value = __dadd_rn(value, __shfl_xor_sync(0xffffffffu, value, 2));
    return __dadd_rn(value, __shfl_xor_sync(0xffffffffu, value, 1));
}
