// Sums of the rows of a chunk of a layered edge list, which is on the device for a moment only: nothing is listed for it
// beforehand. A row of few edges is summed by a thread, others by eight, and those of many are dealt out among all blocks.
// The order of additions in a row is that of lanes.py, as in pagerank.cu. Twins and arguments: layered_sums.py.
#include "common.cuh"
#include "lanes.cuh"

#define GD_FEW 8
#define GD_MANY 2048
#define GD_SHARE 32

#define COUNT 0
#define SUMS 1

struct Edges {
    const index_t *targets;
    const weight_t *weights;
    const real_t *x;
};

// Products are of the type of the ranks' weights in memory, which are as narrow as ranks.
__device__ __forceinline__ double widened(weight_t weight) {
    return sizeof(real_t) == 4 ? (double)(float)weight : (double)weight;
}

template <bool weighted> __device__ __forceinline__ double gathered(const Edges &e, long long k) {
    const double value = (double)__ldg(e.x + __ldcs(e.targets + k));
    return weighted ? __dmul_rn(widened(__ldcs(e.weights + k)), value) : value;
}

// This lane's share of the edges from begin to end, four on their way at a time; what is not there adds 0.
template <bool weighted>
__device__ __forceinline__ double lane_sum(const Edges &e, long long begin, long long end, int lane) {
    double sum = 0.0;
    for (long long k = begin + lane; k < end; k += GD_AHEAD * GD_LANES) {
        double value[GD_AHEAD];
#pragma unroll
        for (int i = 0; i < GD_AHEAD; i++)
            value[i] = k + i * GD_LANES < end ? gathered<weighted>(e, k + i * GD_LANES) : 0.0;
#pragma unroll
        for (int i = 0; i < GD_AHEAD; i++) sum = __dadd_rn(sum, value[i]);
    }
    return sum;
}

// n is a multiple of 32, so that a warp is in the loop as a whole or not at all.
template <bool weighted>
__device__ __forceinline__ void sum_rows(long long n, long long rows, const long long *indptr, const Edges &e,
                                         double *sums) {
    GD_FOR(t, n) {
        const long long row = t / GD_LANES;
        const int lane = threadIdx.x % GD_LANES;
        long long begin = 0, end = 0;
        if (row < rows) {
            begin = indptr[row];
            end = indptr[row + 1];
        }
        const bool mine = end - begin > GD_FEW && end - begin <= GD_MANY;
        if (!mine) end = begin;
        double sum = 0.0;
        for (int turn = 0; __any_sync(0xffffffffu, begin < end); turn++, begin += GD_CHUNK) {
            const double part = gd_warp_tree(lane_sum<weighted>(e, begin, min(begin + GD_CHUNK, end), lane));
            if (turn % GD_LANES == lane) sum = __dadd_rn(sum, part);
        }
        sum = gd_warp_tree(sum);
        if (mine && lane == 0) sums[row] = sum;
    }
}

extern "C" __global__ void layered_sum(long long n, long long rows, const long long *indptr, const index_t *targets,
                                       const weight_t *weights, long long weighted, const real_t *x, double *sums,
                                       unsigned long long *counters) {
    if (blockIdx.x == 0 && threadIdx.x == 0) counters[COUNT] = counters[SUMS] = 0;
    const Edges e{targets, weights, x};
    if (weighted) sum_rows<true>(n, rows, indptr, e, sums);
    else sum_rows<false>(n, rows, indptr, e, sums);
}

// Rows of few edges, and a list of those of many, with the places of their partial sums.
extern "C" __global__ void layered_sum_few(long long n, const long long *indptr, const index_t *targets,
                                           const weight_t *weights, long long weighted, const real_t *x, double *sums,
                                           index_t *many, long long *places, unsigned long long *counters) {
    const Edges e{targets, weights, x};
    GD_FOR(row, n) {
        const long long first = indptr[row], degree = indptr[row + 1] - first;
        if (degree > GD_MANY) {
            const long long at = (long long)atomicAdd(counters + COUNT, 1ULL);
            many[at] = (index_t)row;
            places[at] = (long long)atomicAdd(counters + SUMS, (unsigned long long)((degree + GD_CHUNK - 1) / GD_CHUNK));
        }
        if (degree > GD_FEW) continue;
        double lane[GD_LANES];
#pragma unroll
        for (int i = 0; i < GD_LANES; i++)
            lane[i] = i >= degree ? 0.0 : weighted ? gathered<true>(e, first + i) : gathered<false>(e, first + i);
        sums[row] = gd_tree(lane);
    }
}

// A block takes GD_SHARE sums of a row of many edges at a time, eight threads one of them.
template <bool weighted>
__device__ __forceinline__ void sum_many(const long long *indptr, const Edges &e, const index_t *many,
                                         const long long *places, const unsigned long long *counters,
                                         double *partial) {
    const long long count = (long long)counters[COUNT];
    const int lane = threadIdx.x % GD_LANES, group = threadIdx.x / GD_LANES, groups = blockDim.x / GD_LANES;
    long long dealt = 0;  // shares of the rows before
    for (long long h = 0; h < count; h++) {
        const long long first = indptr[many[h]], last = indptr[many[h] + 1];
        const long long parts = (last - first + GD_CHUNK - 1) / GD_CHUNK, shares = (parts + GD_SHARE - 1) / GD_SHARE;
        long long share = (long long)((blockIdx.x + gridDim.x - dealt % gridDim.x) % gridDim.x);
        for (; share < shares; share += gridDim.x)
            for (int k = 0; k < GD_SHARE; k += groups) {
                const long long part = share * GD_SHARE + k + group, begin = min(first + part * GD_CHUNK, last);
                const double sum = gd_warp_tree(lane_sum<weighted>(e, begin, min(begin + GD_CHUNK, last), lane));
                if (lane == 0 && part < parts && k + group < GD_SHARE) partial[places[h] + part] = sum;
            }
        dealt += shares;
    }
}

extern "C" __global__ void layered_sum_many(long long n, const long long *indptr, const index_t *targets,
                                            const weight_t *weights, long long weighted, const real_t *x,
                                            const index_t *many, const long long *places, double *partial,
                                            const unsigned long long *counters) {
    const Edges e{targets, weights, x};
    if (weighted) sum_many<true>(indptr, e, many, places, counters, partial);
    else sum_many<false>(indptr, e, many, places, counters, partial);
}

extern "C" __global__ void layered_sum_ends(long long n, const long long *indptr, const index_t *many,
                                            const long long *places, const double *partial, double *sums,
                                            const unsigned long long *counters) {
    const long long count = (long long)counters[COUNT] * GD_LANES, padded = (count + 31) / 32 * 32;
    GD_FOR(t, padded) {
        const int lane = threadIdx.x % GD_LANES;
        double sum = 0.0;
        const long long h = t / GD_LANES;
        if (t < count) {
            const long long degree = indptr[many[h] + 1] - indptr[many[h]];
            const long long last = places[h] + (degree + GD_CHUNK - 1) / GD_CHUNK;
            sum = gd_lane_of_chunks(partial, places[h], last, lane);
        }
        sum = gd_warp_tree(sum);
        if (lane == 0 && t < count) sums[many[h]] = sum;
    }
}
