// PageRank by pulling over in-edges, without atomics on ranks: every row is summed by whoever suits its length, in an
// order of additions that depends on nothing but the row, so that the sum has the same bits on every device and for
// every division of the graph. Rows of few and of many in-edges go to separate kernels, after Sahu, Efficient GPU
// implementation of static and incrementally expanding DF-P PageRank (2024). Twins and arguments: pagerank.py.
#include "rows.cuh"

#define GD_CHUNK 256
#define GD_FEW 8
#define GD_LANES 8
#define GD_IN_WARP 4096

// Indices and weights are read once an iteration: they must not push the contributions, which are read many times, out
// of the caches.
template <typename T> __device__ __forceinline__ T gd_stream(const T *address) { return __ldcs(address); }

struct Edges {
    const index_t *indices;
    const weight_t *weights;
    const real_t *x;
};

template <bool weighted> __device__ __forceinline__ double gathered(const Edges &e, long long k) {
    const double value = (double)__ldg(e.x + gd_stream(e.indices + k));
    return weighted ? __dmul_rn((double)gd_stream(e.weights + k), value) : value;
}

// The tree of eight lanes of a warp; all eight get it, since a sum of two has the same bits either way round.
__device__ __forceinline__ double gd_tree(double value) {
    value = __dadd_rn(value, __shfl_xor_sync(0xffffffffu, value, 4));
    value = __dadd_rn(value, __shfl_xor_sync(0xffffffffu, value, 2));
    return __dadd_rn(value, __shfl_xor_sync(0xffffffffu, value, 1));
}

// This lane's share of the edges k = begin + lane, + 8, ... below end. Four are on their way at a time.
template <bool weighted>
__device__ __forceinline__ double gd_lane_sum(const Edges &e, long long begin, long long end, int lane) {
    double sum = 0.0;
    long long k = begin + lane;
    for (; k + 3 * GD_LANES < end; k += 4 * GD_LANES) {
        const double a = gathered<weighted>(e, k), b = gathered<weighted>(e, k + GD_LANES);
        const double c = gathered<weighted>(e, k + 2 * GD_LANES), d = gathered<weighted>(e, k + 3 * GD_LANES);
        sum = __dadd_rn(__dadd_rn(__dadd_rn(__dadd_rn(sum, a), b), c), d);
    }
    for (; k < end; k += GD_LANES) sum = __dadd_rn(sum, gathered<weighted>(e, k));
    return sum;
}

template <bool weighted>
__device__ __forceinline__ void sum_rows(long long n, const long long *indptr, const Edges &e, double *sums) {
    GD_FOR(v, n) {
        const long long first = indptr[v];
        const int degree = (int)min(indptr[v + 1] - first, (long long)(GD_FEW + 1));
        if (degree > GD_FEW) continue;
        double lane[GD_FEW];
#pragma unroll
        for (int i = 0; i < GD_FEW; i++) lane[i] = i < degree ? gathered<weighted>(e, first + i) : 0.0;
        sums[v] = __dadd_rn(__dadd_rn(__dadd_rn(lane[0], lane[4]), __dadd_rn(lane[2], lane[6])),
                            __dadd_rn(__dadd_rn(lane[1], lane[5]), __dadd_rn(lane[3], lane[7])));
    }
}

extern "C" __global__ void pagerank_sum(long long n, const long long *indptr, const index_t *indices,
                                        const weight_t *weights, long long weighted, const real_t *x, double *sums) {
    const Edges e{indices, weights, x};
    if (weighted) sum_rows<true>(n, indptr, e, sums);
    else sum_rows<false>(n, indptr, e, sums);
}

// Here and below n is a multiple of 32, so that a warp is in the loop as a whole or not at all: `rows` ends in -1 for
// groups that have no row.
template <bool weighted>
__device__ __forceinline__ void sum_groups(long long n, const index_t *rows, const long long *indptr, const Edges &e,
                                           double *sums) {
    GD_FOR(t, n) {
        const index_t row = rows[t / GD_LANES];
        const int lane = threadIdx.x % GD_LANES;
        const double sum = gd_tree(row < 0 ? 0.0 : gd_lane_sum<weighted>(e, indptr[row], indptr[row + 1], lane));
        if (lane == 0 && row >= 0) sums[row] = sum;
    }
}

extern "C" __global__ void pagerank_sum_groups(long long n, const index_t *rows, const long long *indptr,
                                               const index_t *indices, const weight_t *weights, long long weighted,
                                               const real_t *x, double *sums) {
    const Edges e{indices, weights, x};
    if (weighted) sum_groups<true>(n, rows, indptr, e, sums);
    else sum_groups<false>(n, rows, indptr, e, sums);
}

// The four groups of a warp take chunks in turn: group g those of the lanes g and g + 4.
template <bool weighted>
__device__ __forceinline__ void sum_warps(long long n, const index_t *rows, const long long *indptr, const Edges &e,
                                          double *sums) {
    GD_FOR(t, n) {
        const index_t row = rows[t / 32];
        const int lane = threadIdx.x % GD_LANES, group = threadIdx.x % 32 / GD_LANES;
        const long long last = indptr[row + 1];
        double low = 0.0, high = 0.0;
        for (long long base = indptr[row]; base < last; base += 8 * GD_CHUNK) {
            const long long a = base + group * GD_CHUNK, b = a + 4 * GD_CHUNK;
            low = __dadd_rn(low, gd_tree(gd_lane_sum<weighted>(e, a, min(a + GD_CHUNK, last), lane)));
            high = __dadd_rn(high, gd_tree(gd_lane_sum<weighted>(e, b, min(b + GD_CHUNK, last), lane)));
        }
        double sum = __dadd_rn(low, high);  // lanes g and g + 4 of the tree
        sum = __dadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, 2 * GD_LANES));
        sum = __dadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, GD_LANES));
        if (threadIdx.x % 32 == 0) sums[row] = sum;
    }
}

extern "C" __global__ void pagerank_sum_warps(long long n, const index_t *rows, const long long *indptr,
                                              const index_t *indices, const weight_t *weights, long long weighted,
                                              const real_t *x, double *sums) {
    const Edges e{indices, weights, x};
    if (weighted) sum_warps<true>(n, rows, indptr, e, sums);
    else sum_warps<false>(n, rows, indptr, e, sums);
}

// Chunks of rows of very many edges, eight threads each; first_chunk[i] is the number of chunks before row i.
template <bool weighted>
__device__ __forceinline__ void sum_chunks(long long n, const index_t *rows, long long count,
                                           const long long *first_chunk, const long long *indptr, const Edges &e,
                                           double *partial) {
    GD_FOR(t, n) {
        const long long chunk = t / GD_LANES;
        const int lane = threadIdx.x % GD_LANES;
        long long low = 0, high = count;  // the last i with first_chunk[i] <= chunk; `count` past the end
        while (low < high) {
            const long long middle = (low + high) >> 1;
            if (first_chunk[middle + 1] <= chunk) low = middle + 1;
            else high = middle;
        }
        double sum = 0.0;
        if (low < count) {
            const index_t row = rows[low];
            const long long begin = indptr[row] + (chunk - first_chunk[low]) * GD_CHUNK;
            sum = gd_lane_sum<weighted>(e, begin, min(begin + GD_CHUNK, indptr[row + 1]), lane);
        }
        sum = gd_tree(sum);
        if (lane == 0 && low < count) partial[chunk] = sum;
    }
}

extern "C" __global__ void pagerank_sum_chunks(long long n, const index_t *rows, long long count,
                                               const long long *first_chunk, const long long *indptr,
                                               const index_t *indices, const weight_t *weights, long long weighted,
                                               const real_t *x, double *partial) {
    const Edges e{indices, weights, x};
    if (weighted) sum_chunks<true>(n, rows, count, first_chunk, indptr, e, partial);
    else sum_chunks<false>(n, rows, count, first_chunk, indptr, e, partial);
}

extern "C" __global__ void pagerank_sum_partials(long long n, const index_t *rows, const long long *first_chunk,
                                                 const double *partial, double *sums) {
    GD_FOR(t, n) {
        const long long i = t / 32;
        const int lane = threadIdx.x % 32;
        double sum = 0.0;
        if (lane < GD_LANES)
            for (long long c = first_chunk[i] + lane; c < first_chunk[i + 1]; c += GD_LANES)
                sum = __dadd_rn(sum, partial[c]);
        sum = gd_tree(sum);
        if (lane == 0) sums[rows[i]] = sum;
    }
}

extern "C" __global__ void pagerank_relabel(long long n, const index_t *indices, const index_t *place, index_t *out) {
    GD_FOR(k, n) out[k] = place[gd_stream(indices + k)];
}

extern "C" __global__ void pagerank_scatter(long long n, const real_t *told, const index_t *place, real_t *x,
                                            long long owned) {
    GD_FOR(i, n) x[place[owned + i]] = told[owned + i];
}

struct Loop : NoQueue {
    const index_t *indices;
    unsigned char *loop;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        if (indices[edge] == row) loop[row] = 1;  // whoever else writes, writes the same
    }
};

extern "C" __global__ void pagerank_loops(long long n, const long long *indptr, const index_t *indices,
                                          unsigned char *loop, index_t *hubs, unsigned long long *counters) {
    gd_for_edges(n, (const index_t *)nullptr, indptr, hubs, counters, counters + 1, Loop{{}, indices, loop});
}

extern "C" __global__ void pagerank_loops_hubs(long long n, const long long *indptr, const index_t *indices,
                                               unsigned char *loop, const index_t *hubs,
                                               unsigned long long *counters) {
    gd_for_hubs(hubs, counters, indptr, Loop{{}, indices, loop});
}

extern "C" __global__ void pagerank_update(long long n, const double *sums, const double *inverse,
                                           const double *teleport, long long personalized, const unsigned char *extra,
                                           long long has_extra, const index_t *place, double damping, double base,
                                           double dangling_scale, double change_scale, long long tells, real_t *rank,
                                           real_t *x, real_t *told, unsigned long long *counters) {
    __shared__ unsigned long long block_dangling, block_change, block_largest;
    if (threadIdx.x == 0) block_dangling = block_change = block_largest = 0;
    __syncthreads();
    unsigned long long dangling = 0, change = 0;
    double largest = 0.0;
    GD_FOR(v, n) {
        const index_t at = place[v];
        const double part = inverse[v], old = (double)rank[v];
        double sum = sums[v];
        if (has_extra && extra[v]) sum = __dadd_rn(sum, (double)x[at]);
        const double jump = personalized ? __dmul_rn(base, teleport[v]) : base;
        const real_t stored = (real_t)__dadd_rn(jump, __dmul_rn(damping, sum));
        const double now = (double)stored;
        rank[v] = stored;
        if (part > 0.0) {
            const real_t contribution = (real_t)__dmul_rn(now, part);
            x[at] = contribution;
            if (tells) told[v] = contribution;
        } else {
            dangling += (unsigned long long)__double2ull_rn(__dmul_rn(now, dangling_scale));
        }
        const double moved = fabs(__dadd_rn(now, -old));
        change += (unsigned long long)__double2ull_rn(__dmul_rn(moved, change_scale));
        largest = fmax(largest, moved);
    }
    for (int step = 16; step; step >>= 1) {
        dangling += __shfl_xor_sync(0xffffffffu, dangling, step);
        change += __shfl_xor_sync(0xffffffffu, change, step);
        largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, step));
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&block_dangling, dangling);
        atomicAdd(&block_change, change);
        atomicMax(&block_largest, (unsigned long long)__double_as_longlong(largest));  // no sign: ordered as integers
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        if (block_dangling) atomicAdd(counters, block_dangling);
        if (block_change) atomicAdd(counters + 1, block_change);
        if (block_largest) atomicMax(counters + 2, block_largest);
    }
}
