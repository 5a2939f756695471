// The frontier of a search from many sources at once: who is in it, in which lanes, and which columns of values stand for
// these (kernels/betweenness/betweenness.cu). A mask has a bit for each lane.
#pragma once
#include "common/bitmap.cuh"
#include "common/rows.cuh"

// Masks in registers.
template <int bytes> struct Wide {
    typedef unsigned long long type;
};
template <> struct Wide<1> {
    typedef unsigned int type;
};
typedef Wide<sizeof(mask_t)>::type lanes_t;

struct Frontier {
    const unsigned int *bits;
    const mask_t *mask;
    const double *value;
    lanes_t lanes;  // in which some vertex may be in the frontier
    int columns;

    __device__ __forceinline__ lanes_t of(index_t u) const {
        if (!gd_bit(bits, u)) return 0;
        return lanes & (lanes - 1) ? (lanes_t)mask[u] : lanes;
    }
};

// Which lane each column of the values is of. All threads of the block call it together.
__device__ __forceinline__ int bc_columns(unsigned long long shown, int *lane_of) {
    const int count = __popcll(shown);
    for (int c = threadIdx.x; c < count; c += blockDim.x) {
        unsigned long long rest = shown;
        for (int k = 0; k < c; k++) rest &= rest - 1;
        lane_of[c] = __ffsll((long long)rest) - 1;
    }
    __syncthreads();
    return count;
}

// The lanes of columns b and b + 32; a bit of 0 where there is no such column.
struct Columns {
    lanes_t low, high;
    int low_lane, high_lane;

    __device__ __forceinline__ Columns(int b, int count, const int *lane_of) {
        low_lane = b < count ? lane_of[b] : 0;
        high_lane = b + 32 < count ? lane_of[b + 32] : 0;
        low = b < count ? (lanes_t)1 << low_lane : 0;
        high = b + 32 < count ? (lanes_t)1 << high_lane : 0;
    }
};

// The smallest power of two of at least as many as there are columns, up to 32.
__device__ __forceinline__ int bc_width(int columns) {
    int width = 1;
    while (width < 32 && width < columns) width <<= 1;
    return width;
}
