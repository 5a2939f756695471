// Sums over rows by way of bins. A contribution that is read from L2 costs a sector there, and more where L2 does not
// hold it; shared memory holds few. So edges are gone through twice, each time in an order in which what they point at
// lies in shared memory: `bins_fill` takes them by segments of x and writes what they gather to the bin of their row,
// `bins_sum` takes bins, each of which lies in a row, and adds up their rows in the order of lanes.py, so that sums have
// the bits of pagerank.cu. Edges that point at the first of x, which are read most, are spared the way: these
// contributions are in shared memory while bins are added up. What an edge costs is a few bytes that are read and
// written in rows.
// Source: Beamer, Asanovic, Patterson, Reducing PageRank communication via propagation blocking (IPDPS 2017), of which
// this is the deterministic form, where each edge has its place in a bin. Twins and arguments: bins.py.
#include "common/common.cuh"
#include "pagerank/codes.cuh"
#include "pagerank/copied.cuh"
#include "common/lanes.cuh"
#include "common/staged.cuh"
#include "pagerank/bins_pack.py"

#define GD_PACK ((int)(32 / sizeof(real_t)))  // contributions of a packet, which is what is written at a time
#define GD_HALF (GD_PACK / 2)                 // those of a thread
#define GD_PACKETS 4                          // halves of a thread that are on their way at a time

typedef unsigned short gd_place;

struct alignas(16) Half {
    real_t value[GD_HALF];
};
struct alignas(GD_HALF * 2) Sources {
    gd_place at[GD_HALF];
};

extern __shared__ real_t gd_staged[];
extern __shared__ unsigned gd_counts[];

__device__ __forceinline__ int gd_times(int at, int width) { return (int)((unsigned)at / (unsigned)width); }
__device__ __forceinline__ int gd_times(long long at, long long width) { return (int)(at / width); }

extern "C" __global__ void bins_count(long long n, long long bins, const long long *first_edge, const index_t *indices,
                                      const index_t *place, long long hot, long long width, long long segments,
                                      long long packet, int *packets) {
    for (long long bin = blockIdx.x; bin < bins; bin += gridDim.x) {
        for (long long s = threadIdx.x; s < segments; s += blockDim.x) gd_counts[s] = 0;
        __syncthreads();
        for (long long k = first_edge[bin] + threadIdx.x; k < first_edge[bin + 1]; k += blockDim.x) {
            const index_t at = place[__ldcs(indices + k)] - (index_t)hot;
            if (at >= 0) atomicAdd(gd_counts + gd_times(at, (index_t)width), 1u);
        }
        __syncthreads();
        for (long long s = threadIdx.x; s < segments; s += blockDim.x)
            packets[bin * segments + s] = (int)((gd_counts[s] + GD_PACK - 1) / GD_PACK);
        __syncthreads();
    }
}

// Whoever comes first has the first place of a run: which one an edge has changes no sum.
extern "C" __global__ void bins_place(long long n, BinRows a) {
    for (long long bin = blockIdx.x; bin < a.bins; bin += gridDim.x) {
        for (long long s = threadIdx.x; s < a.segments; s += blockDim.x) gd_counts[s] = 0;
        __syncthreads();
        const int begin = a.in_bins[bin * a.segments];
        for (long long k = a.first_edge[bin] + threadIdx.x; k < a.first_edge[bin + 1]; k += blockDim.x) {
            const index_t at = a.place[__ldcs(a.indices + k)] - (index_t)a.hot;
            if (at < 0) {
                a.places[k] = (gd_place)(at + (index_t)a.hot);
                continue;
            }
            const int s = gd_times(at, (index_t)a.width), number = (int)atomicAdd(gd_counts + s, 1u);
            const int to = a.in_bins[bin * a.segments + s], from = a.in_segments[s * a.bins + bin];
            a.places[k] = (gd_place)((int)a.hot + (to - begin) * GD_PACK + number);
            a.sources[(long long)from * GD_PACK + number] = (gd_place)(at - (index_t)s * (index_t)a.width);
            if (number % GD_PACK == 0) a.targets[from + number / GD_PACK] = to + number / GD_PACK;
        }
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1)
bins_fill(long long n, BinRows a) {
    if (a.wanted && !*a.wanted) return;
    for (long long item = blockIdx.x; item < a.items; item += gridDim.x) {
        const long long first = a.hot + a.item_segment[item] * a.width, end = 2LL * a.item_packet[item + 1];
        gd_stage(a.x + first, (int)min(a.width, a.length - first), gd_staged);
        __syncthreads();
#pragma unroll 1
        for (long long half = 2LL * a.item_packet[item] + threadIdx.x; half < end; half += GD_PACKETS * blockDim.x) {
            Sources from[GD_PACKETS];
            int to[GD_PACKETS];
#pragma unroll
            for (int i = 0; i < GD_PACKETS; i++)
                if (half + i * blockDim.x < end) {
                    from[i] = ((const Sources *)a.sources)[half + i * blockDim.x];
                    to[i] = __ldcs(a.targets + (half + i * blockDim.x) / 2);
                }
#pragma unroll
            for (int i = 0; i < GD_PACKETS; i++)
                if (half + i * blockDim.x < end) {
                    Half out;
#pragma unroll
                    for (int k = 0; k < GD_HALF; k++) out.value[k] = gd_staged[from[i].at[k]];
                    ((Half *)a.values)[2LL * to[i] + half % 2] = out;
                }
        }
        __syncthreads();
    }
}

struct Edges {
    const gd_place *places;  // of the bin, in shared memory
    const weight_t *weights;
    const real_t *x, *values;  // the first `hot` of x, and what the bin gathers of the rest, of places from there on
    int hot;
    double unit;
};

template <bool weighted> __device__ __forceinline__ double gathered(const Edges &e, int k) {
    const int at = e.places[k];
    const double value = (double)(at < e.hot ? e.x : e.values)[at];
    return weighted ? __dmul_rn(gd_weight(__ldcs(e.weights + k), e.unit), value) : value;
}

// This lane's share of the edges k = begin + lane, + 8, ... below end; in the order of pagerank.cu.
template <bool weighted> __device__ __forceinline__ double gd_lane_sum(const Edges &e, int begin, int end, int lane) {
    double sum = 0.0;
    int k = begin + lane;
#pragma unroll 1
    for (; k + (GD_AHEAD - 1) * GD_LANES < end; k += GD_AHEAD * GD_LANES) {
        double value[GD_AHEAD];
#pragma unroll
        for (int i = 0; i < GD_AHEAD; i++) value[i] = gathered<weighted>(e, k + i * GD_LANES);
#pragma unroll
        for (int i = 0; i < GD_AHEAD; i++) sum = __dadd_rn(sum, value[i]);
    }
#pragma unroll 1
    for (; k < end; k += GD_LANES) sum = __dadd_rn(sum, gathered<weighted>(e, k));
    return sum;
}

// An item of a list: its first edge, from that of the bin on, and how many it has.
__device__ __forceinline__ int gd_begin(int item) { return item >> 8; }
__device__ __forceinline__ int gd_length(int item) { return (item & 255) + 1; }

template <bool weighted>
__device__ __forceinline__ void sum_bin(const Edges &e, Team team, const int *chunks, const index_t *targets, int count,
                                        const int *rows, const index_t *goes, int few, double *sums, double *partial) {
    const int lane = team.thread % GD_LANES, listed = (count * GD_LANES + 31) / 32 * 32, each = team.threads / GD_LANES;
    int c = team.thread / GD_LANES, item = c < count ? chunks[c] : -1;
    index_t target = c < count ? targets[c] : (index_t)0;
    for (int t = team.thread; t < listed; t += team.threads) {
        const int begin = gd_begin(item), end = item < 0 ? begin : begin + gd_length(item);
        const index_t goes_to = target;
        const bool there = item >= 0;
        c += each;
        item = c < count ? chunks[c] : -1;
        target = c < count ? targets[c] : (index_t)0;
        const double sum = gd_warp_tree(gd_lane_sum<weighted>(e, begin, end, lane));
        if (lane || !there) continue;
        if (goes_to < 0) partial[-1 - goes_to] = sum;
        else sums[goes_to] = sum;
    }
    for (int t = team.thread; t < few; t += team.threads) {
        const int row = rows[t], length = gd_length(row), first = gd_begin(row);
        double value[GD_LANES];
#pragma unroll
        for (int i = 0; i < GD_LANES; i++) value[i] = i < length ? gathered<weighted>(e, first + i) : 0.0;
        sums[goes[t]] = gd_tree(value);
    }
}

// A bin, as its team finds it in shared memory.
struct Bin {
    long long begin;
    int halves, offset;  // of what it gathers, and of its edges' places, which stand behind that
};

// What a bin gathers and where its edges find it are copied to shared memory, one behind the other.
__device__ __forceinline__ Bin gd_fetch(long long bin, const long long *first_edge, const int *first_packet,
                                        const Half *values, const gd_place *places, Half *to, Team team) {
    const long long begin = first_edge[bin], end = first_edge[bin + 1], aligned = begin / 8 * 8;
    const int halves = 2 * (first_packet[bin + 1] - first_packet[bin]);
    gd_copy_wide(to, values + 2LL * first_packet[bin], halves, team);
    gd_copy_wide(to + halves, places + aligned, (int)((end - aligned + 7) / 8), team);
    return {begin, halves, (int)(begin - aligned)};
}

// Behind the first of x there is a buffer for a bin of each team: some copy theirs while others add.
extern "C" __global__ void __launch_bounds__(1024, 1)
bins_sum(long long n, BinRows a) {
    if (a.wanted && !*a.wanted) return;
    const int threads = blockDim.x / (int)a.teams, number = threadIdx.x / threads;
    const Team team{number, (int)threadIdx.x % threads, threads};
    Half *const here = (Half *)((char *)(real_t *)gd_staged + a.hot * sizeof(real_t) + number * a.bin_bytes);
    gd_stage(a.x, (int)a.hot, gd_staged);
    __syncthreads();
    for (long long at = blockIdx.x * a.teams + number; at < a.bins; at += gridDim.x * a.teams) {
        const Bin bin = gd_fetch(at, a.first_edge, a.first_packet, (const Half *)a.values, a.places, here, team);
        const int c = a.first_chunk[at], r = a.first_row[at], count = a.first_chunk[at + 1] - c;
        const int few = a.first_row[at + 1] - r;
        const Edges e{(const gd_place *)(here + bin.halves) + bin.offset, a.weights + bin.begin,
                      gd_staged, (const real_t *)here - a.hot, (int)a.hot, a.unit};
        gd_copied();
        gd_meet(team);
        const int *const chunks = a.chunks + c, *const rows = a.rows + r;
        const index_t *const to = a.chunk_targets + c, *const goes = a.goes + r;
        if (a.weighted) sum_bin<true>(e, team, chunks, to, count, rows, goes, few, a.sums, a.partial);
        else sum_bin<false>(e, team, chunks, to, count, rows, goes, few, a.sums, a.partial);
        gd_meet(team);
    }
}
