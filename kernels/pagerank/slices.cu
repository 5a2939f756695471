// Sums over rows whose edges stand in the order in which warps read them, so that each reads whole lines of indices and
// weights, once, and nothing of them needs to be kept by a cache. What the edges after the next ones read is on its way
// while these are added up, also from one slice to the next. The order of additions is that of lanes.cuh, so that sums
// have the bits of pagerank.cu. After Kreutzer et al., A unified sparse matrix data format for efficient general sparse
// matrix-vector multiplication on modern processors with wide SIMD units (2014). Twins and arguments: slices.py.
#include "common/common.cuh"
#include "pagerank/codes.cuh"
#include "common/lanes.cuh"
#include "pagerank/sliced.cuh"
#include "common/staged.cuh"
#include "pagerank/slices_pack.py"

#define GD_FEW 8

extern __shared__ real_t gd_staged[];

struct Entries {
    const index_t *indices;
    const weight_t *weights;
    double unit;
    const real_t *x;
    index_t hot;  // the contributions x[0] to x[hot - 1] are in gd_staged, too
};

// What a lane reads of its next edges.
template <bool weighted, int many> struct Group {
    index_t at[many];
    weight_t weight[many];

    __device__ __forceinline__ void fetch(const Entries &e, long long k, long long end) {
#pragma unroll
        for (int i = 0; i < many; i++) {
            const bool there = k + 32 * i < end;
            at[i] = there ? __ldcs(e.indices + k + 32 * i) : (index_t)-1;
            if (weighted) weight[i] = there ? __ldcs(e.weights + k + 32 * i) : (weight_t)0;
        }
    }
    // An edge that is not there adds 0, which changes no bit of a sum that began with 0.
    __device__ __forceinline__ void gather(const Entries &e, double *value) const {
#pragma unroll
        for (int i = 0; i < many; i++)
            value[i] = at[i] < 0 ? 0.0 : (double)(at[i] < e.hot ? gd_staged[at[i]] : __ldg(e.x + at[i]));
    }
    __device__ __forceinline__ double added(const Entries &e, double sum, const double *value, int i) const {
        return __dadd_rn(sum, weighted ? __dmul_rn(gd_weight(weight[i], e.unit), value[i]) : value[i]);
    }
};

// Four chunks of a warp, eight lanes each.
template <bool weighted>
__device__ __forceinline__ void sum_chunks(long long slices, const long long *first, long long count,
                                           const index_t *targets, const Entries &e, double *sums, double *partial) {
    const int lane = threadIdx.x % 32;
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    long long slice = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (slice >= slices) return;
    long long k = first[slice] + lane, end = first[slice + 1];
    Group<weighted, GD_AHEAD> now, next;
    now.fetch(e, k, end);
#pragma unroll 1
    for (; slice < slices; slice += warps) {
        const bool another = slice + warps < slices;
        const long long then = another ? first[slice + warps] + lane : 0;
        const long long until = another ? first[slice + warps + 1] : 0;
        const long long chunk = slice * (32 / GD_LANES) + lane / GD_LANES;
        const index_t target = chunk < count ? targets[chunk] : (index_t)0;
        double sum = 0.0;
        bool more = true;
#pragma unroll 1
        while (more) {
            double value[GD_AHEAD];
            now.gather(e, value);
            k += 32 * GD_AHEAD;
            more = k < end;  // of a whole warp: slices are multiples of 32
            if (!more) {
                k = then;
                end = until;
            }
            next.fetch(e, k, end);
#pragma unroll
            for (int i = 0; i < GD_AHEAD; i++) sum = now.added(e, sum, value, i);
            now = next;
        }
        sum = gd_warp_tree(sum);
        if (lane % GD_LANES || chunk >= count) continue;
        if (target < 0) partial[-1 - target] = sum;
        else sums[target] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1)
slices_sum_chunks(long long n, SliceRows a) {
    if (a.wanted && !*a.wanted) return;
    const Entries e{a.indices, a.weights, a.unit, a.x, (index_t)a.hot};
    if (a.hot) {
        gd_stage(a.x, (int)a.hot, gd_staged);
        __syncthreads();
    }
    if (a.weighted) sum_chunks<true>(n / 32, a.first, a.count, a.targets, e, a.sums, a.partial);
    else sum_chunks<false>(n / 32, a.first, a.count, a.targets, e, a.sums, a.partial);
}

template <bool weighted>
__device__ __forceinline__ void sum_rows(long long n, const long long *first, long long count, const index_t *goes,
                                         const Entries &e, double *sums) {
    GD_FOR(row, n) {
        Group<weighted, GD_FEW> edges;
        double value[GD_FEW], lane[GD_LANES];
        const index_t to = row < count ? goes[row] : (index_t)0;
        edges.fetch(e, first[row / 32] + row % 32, first[row / 32 + 1]);
        edges.gather(e, value);
#pragma unroll
        for (int i = 0; i < GD_LANES; i++) lane[i] = edges.added(e, 0.0, value, i);
        if (row < count) sums[to] = gd_tree(lane);
    }
}

extern "C" __global__ void slices_sum_rows(long long n, const long long *first, long long count, const index_t *goes,
                                           const index_t *indices, const weight_t *weights, long long weighted,
                                           double unit, const real_t *x, double *sums,
                                           const unsigned long long *wanted) {
    if (wanted && !*wanted) return;
    const Entries e{indices, weights, unit, x, 0};
    if (weighted) sum_rows<true>(n, first, count, goes, e, sums);
    else sum_rows<false>(n, first, count, goes, e, sums);
}

struct Placed {
    const index_t *indices, *place;

    __device__ __forceinline__ index_t operator()(long long edge) const {
        return edge < 0 ? (index_t)-1 : place[indices[edge]];
    }
};

extern "C" __global__ void slices_place(long long n, const long long *items, long long lanes, long long count,
                                        const long long *first, const index_t *indices, const index_t *place,
                                        index_t *out) {
    gd_slice(n, items, (int)lanes, count, first, Placed{indices, place}, out);
}
