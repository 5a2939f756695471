// PageRank by pulling over in-edges, without atomics on ranks: every row is summed by whoever suits its length, in an
// order of additions that depends on nothing but the row, so that the sum has the same bits on every device and for
// every division of the graph. Rows of few and of many in-edges go to separate kernels, after Sahu, Efficient GPU
// implementation of static and incrementally expanding DF-P PageRank (2024), those of many in chunks that are listed by
// their lengths, so that the threads of a warp end together. Twins and arguments: pagerank.py.
#include "common/lanes.cuh"
#include "common/rows.cuh"
#include "common/staged.cuh"
#include "pagerank/pagerank_pack.py"

#define GD_FEW 8
#define GD_SPAN 512

// Indices and weights are read once an iteration: they must not push the contributions, which are read many times, out
// of the caches.
template <typename T> __device__ __forceinline__ T gd_stream(const T *address) { return __ldcs(address); }

struct Edges {
    const index_t *indices;
    const weight_t *weights;
    const real_t *x;
    index_t hot;           // the contributions x[0] to x[hot - 1] are in gd_staged, too,
    index_t width, ranges;  // and of several ranges of x, of this width, so many of each
    unsigned long long inverse;
};

extern __shared__ real_t gd_staged[];

// How often `width` goes into a place, or once less: `inverse` is 2^32 / width, rounded down, or of wide places 2^64 / width.
__device__ __forceinline__ int gd_range(int at, unsigned long long inverse) {
    return (int)__umulhi((unsigned)at, (unsigned)inverse);
}
__device__ __forceinline__ long long gd_range(long long at, unsigned long long inverse) {
    return (long long)__umul64hi((unsigned long long)at, inverse);
}

// x at a place that is read from shared memory where it is there.
template <bool ranged> __device__ __forceinline__ real_t gd_contribution(const Edges &e, index_t at) {
    index_t begin = 0, within = at;
    if (ranged) {
        const index_t range = min(gd_range(at, e.inverse), e.ranges - 1);
        begin = range * e.hot;
        within = at - range * e.width;
    }
    return within < e.hot ? gd_staged[begin + within] : __ldg(e.x + at);
}

template <bool weighted> __device__ __forceinline__ double gathered(const Edges &e, long long k) {
    const double value = (double)__ldg(e.x + gd_stream(e.indices + k));
    return weighted ? __dmul_rn((double)gd_stream(e.weights + k), value) : value;
}

// This lane's share of the edges k = begin + lane, + 8, ... below end, four on their way at a time. An edge that is not
// there adds 0, which changes no bit of a sum that began with 0.
template <bool weighted, bool ranged>
__device__ __forceinline__ double gd_lane_sum(const Edges &e, long long begin, long long end, int lane) {
    double sum = 0.0;
#pragma unroll 1
    for (long long k = begin + lane; k < end; k += GD_AHEAD * GD_LANES) {
        index_t at[GD_AHEAD];
        double value[GD_AHEAD];
        weight_t weight[GD_AHEAD];
#pragma unroll
        for (int i = 0; i < GD_AHEAD; i++) {
            const bool there = k + i * GD_LANES < end;
            at[i] = there ? gd_stream(e.indices + k + i * GD_LANES) : (index_t)-1;
            if (weighted) weight[i] = there ? gd_stream(e.weights + k + i * GD_LANES) : (weight_t)0;
        }
#pragma unroll
        for (int i = 0; i < GD_AHEAD; i++)
            value[i] = at[i] < 0 ? 0.0 : (double)gd_contribution<ranged>(e, at[i]);
#pragma unroll
        for (int i = 0; i < GD_AHEAD; i++)
            sum = __dadd_rn(sum, weighted ? __dmul_rn((double)weight[i], value[i]) : value[i]);
    }
    return sum;
}

template <bool weighted>
__device__ __forceinline__ void sum_rows(long long n, const long long *indptr, const Edges &e, const index_t *goes,
                                         bool ordered, double *sums) {
    GD_FOR(v, n) {
        const long long first = indptr[v];
        const int degree = (int)min(indptr[v + 1] - first, (long long)(GD_FEW + 1));
        if (degree > GD_FEW) continue;
        double lane[GD_LANES];
#pragma unroll
        for (int i = 0; i < GD_LANES; i++) lane[i] = i < degree ? gathered<weighted>(e, first + i) : 0.0;
        sums[ordered ? (long long)goes[v] : v] = gd_tree(lane);
    }
}

extern "C" __global__ void pagerank_sum(long long n, const long long *indptr, const index_t *indices,
                                        const weight_t *weights, long long weighted, const real_t *x,
                                        const index_t *goes, long long ordered, double *sums) {
    const Edges e{indices, weights, x, 0};
    if (weighted) sum_rows<true>(n, indptr, e, goes, ordered, sums);
    else sum_rows<false>(n, indptr, e, goes, ordered, sums);
}

// Here and below n is a multiple of 32, so that a warp is in the loop as a whole or not at all: lists are filled up with
// chunks of no edges, and with rows of -1.
template <bool weighted, bool ranged>
__device__ __forceinline__ void sum_chunks(long long n, const long long *chunks, const index_t *targets, const Edges &e,
                                           double *sums, double *partial) {
    GD_FOR(t, n) {
        const long long chunk = chunks[t / GD_LANES], begin = chunk / GD_SPAN, length = chunk % GD_SPAN;
        const int lane = threadIdx.x % GD_LANES;
        const double sum = gd_warp_tree(gd_lane_sum<weighted, ranged>(e, begin, begin + length, lane));
        if (lane || !length) continue;
        const index_t target = targets[t / GD_LANES];
        if (target < 0) partial[-1 - target] = sum;
        else sums[target] = sum;
    }
}

// A sector of L2 is read for every contribution, and no faster where the same few are meant. So the first `hot` of them,
// those that are read most, are copied to shared memory by each block, of which a processor then has one, a large one.
// Where several ranks' contributions lie one after the other, the first of each are.
extern "C" __global__ void __launch_bounds__(1024, 1)
pagerank_sum_chunks(long long n, RankRows a) {
    if (a.goes && !*a.goes) return;
    const bool ranged = a.hot && a.ranges > 1;
    const unsigned long long one = sizeof(index_t) == 4 ? 1ull << 32 : ~0ull;
    const Edges e{a.indices, a.weights, a.x, (index_t)a.hot, (index_t)a.width, (index_t)a.ranges, ranged ? one / a.width : 0};
    if (a.hot) {
        for (int k = 0; k < a.ranges; k++) gd_stage(a.x + k * a.width, (int)a.hot, gd_staged + k * a.hot);
        __syncthreads();
    }
    if (ranged) sum_chunks<false, true>(n, a.chunks, a.targets, e, a.sums, a.partial);
    else if (a.weighted) sum_chunks<true, false>(n, a.chunks, a.targets, e, a.sums, a.partial);
    else sum_chunks<false, false>(n, a.chunks, a.targets, e, a.sums, a.partial);
}

extern "C" __global__ void pagerank_sum_partials(long long n, const index_t *rows, const long long *first_chunk,
                                                 const double *partial, double *sums) {
    gd_sum_chunks(n, rows, first_chunk, partial, sums);
}

extern "C" __global__ void pagerank_relabel(long long n, const index_t *indices, const index_t *place, index_t *out) {
    GD_FOR(k, n) out[k] = place[gd_stream(indices + k)];
}

extern "C" __global__ void pagerank_scatter(long long n, const real_t *reported, const index_t *place, real_t *x) {
    GD_FOR(i, n) x[place[i]] = reported[i];
}

struct Loop : NoQueue {
    const index_t *indices;
    unsigned char *loop;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        if (indices[edge] == row) loop[row] = 1;  // whoever else writes, writes the same
    }
};

extern "C" __global__ void pagerank_loops(long long n, SelfLoops a) {
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges,
                 Loop{{}, a.indices, a.loop});
}

extern "C" __global__ void pagerank_loops_hubs(long long n, SelfLoops a) {
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, Loop{{}, a.indices, a.loop});
}

// What a thread has to say of the ranks that it changed.
struct Changed {
    unsigned long long dangling, change;
    double largest;
};

// Everything is read before anything is written, and what a run does not use is not there: with reads behind branches
// and writes the loop waits for one after the other, and takes six times as long.
template <bool personalized, bool has_extra, bool sends>
__device__ __forceinline__ Changed update_rows(long long n, const double *sums, const double *inverse,
                                               const double *teleport, const unsigned char *extra,
                                               const index_t *place, const index_t *slot, double damping, double base,
                                               double dangling_scale, double change_scale, real_t *rank, real_t *x,
                                               real_t *reported) {
    Changed all{0, 0, 0.0};
#pragma unroll 1
    GD_FOR(v, n) {
        const index_t at = place[v], to = sends ? slot[v] : (index_t)0;
        const double part = inverse[v], old = (double)rank[v];
        const double jump = personalized ? __dmul_rn(base, teleport[v]) : base;
        double sum = sums[v];
        if (has_extra && extra[v]) sum = __dadd_rn(sum, (double)x[at]);
        const real_t stored = (real_t)__dadd_rn(jump, __dmul_rn(damping, sum));
        const double now = (double)stored;
        rank[v] = stored;
        if (part > 0.0) {
            const real_t contribution = (real_t)__dmul_rn(now, part);
            x[at] = contribution;
            if (sends) reported[to] = contribution;
        } else {
            all.dangling += (unsigned long long)__double2ull_rn(__dmul_rn(now, dangling_scale));
        }
        const double moved = fabs(__dadd_rn(now, -old));
        all.change += (unsigned long long)__double2ull_rn(__dmul_rn(moved, change_scale));
        all.largest = fmax(all.largest, moved);
    }
    return all;
}

// Own vertices stand in the order of their contributions in x, so that nearly all of this is read and written in a row.
extern "C" __global__ void pagerank_update(long long n, RankRows a) {
    __shared__ unsigned long long block_dangling, block_change, block_largest;
    if (blockIdx.x == 0 && threadIdx.x < sizeof(RankCounts) / 8) a.cleared[threadIdx.x] = 0;
    if (threadIdx.x == 0) block_dangling = block_change = block_largest = 0;
    __syncthreads();
    const int way = (a.personalized ? 4 : 0) + (a.has_extra ? 2 : 0) + (a.sends ? 1 : 0);
    Changed all;
#define GD_WAY(number, P, E, T)                                                                                      \
    if (way == number)                                                                                               \
        all = update_rows<P, E, T>(n, a.sums, a.inverse, a.teleport, a.extra, a.place, a.slot, a.damping, a.base, a.dangling_scale,    \
                                   a.change_scale, a.rank, a.x, a.reported);
    GD_WAY(0, false, false, false)
    GD_WAY(1, false, false, true)
    GD_WAY(2, false, true, false)
    GD_WAY(3, false, true, true)
    GD_WAY(4, true, false, false)
    GD_WAY(5, true, false, true)
    GD_WAY(6, true, true, false)
    GD_WAY(7, true, true, true)
#undef GD_WAY
    unsigned long long dangling = all.dangling, change = all.change;
    double largest = all.largest;
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
        if (block_dangling) atomicAdd(&a.counters->dangling, block_dangling);
        if (block_change) atomicAdd(&a.counters->change, block_change);
        if (block_largest) atomicMax(&a.counters->largest, block_largest);
    }
}

// Whether there is to be one more iteration, as the host is going to say of the same counts: its rows are summed
// meanwhile, and need not be where this was the last one.
extern "C" __global__ void pagerank_judge(long long n, double tol, long long by_largest, RankRows a) {
    if (blockIdx.x || threadIdx.x) return;
    const double sum = __ddiv_rn((double)a.counters->change, a.change_scale);
    a.counters->goes = (by_largest ? __longlong_as_double((long long)a.counters->largest) : sum) <= tol ? 0 : ~0ull;
}
