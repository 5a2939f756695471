// Sums of the rows of a chunk of a layered edge list, which is on the device for a moment only: nothing is known of it
// beforehand but how long its rows are. All of it is one launch with barriers for all blocks. Blocks add up the lengths
// of their rows, which gives where these begin. They sum rows of few edges, a thread each, and list the others: rows
// for eight threads, rows for a warp, and the parts of longer rows. Then all warps share what is listed, and last they
// add up the sums of parts. No thread waits for more than one round of reads of edges, and one of what these point at.
// The order of additions in a row is that of lanes.py, as in pagerank.cu. Twin and arguments: layered_sums.py.
#include "common/chunks.cuh"
#include "common/common.cuh"
#include "common/grid.cuh"
#include "common/row_sums.cuh"
#include "common/scan.cuh"
#include "stream/layered_sums_pack.py"

#define GD_DIGITS 10  // binary ones, of the number of rows of a kind, 256 at most in a block

// Kinds of rows, and the parts of longer ones, as their counters follow each other.
#define SOME 1
#define ONES 2
#define LONG 3
#define PARTS 4

// The rows of a block, and where the edges of the first one begin.
struct Share {
    long long begin, end, first;
};

// A block's share of the rows, and where their edges begin; this is a barrier for all blocks.
__device__ __forceinline__ Share share_of(const ChunkSums &a) {
    const long long rows = a.rows, tiles = (rows + GD_SCANNED - 1) / GD_SCANNED;
    const long long each = (tiles + gridDim.x - 1) / gridDim.x * GD_SCANNED;
    const long long begin = min(blockIdx.x * each, rows), end = min(begin + each, rows);
    long long edges = 0, total, first;
    for (long long row = begin + threadIdx.x; row < end; row += GD_SCANNED) edges += a.degrees[row];
    gd_block_scan(edges, &total);
    if (threadIdx.x == 0) a.totals[blockIdx.x] = total;
    gd_grid_barrier(&a.counters->arrived);
    edges = 0;
    for (long long block = threadIdx.x; block < blockIdx.x; block += GD_SCANNED) edges += a.totals[block];
    gd_block_scan(edges, &first);
    return {begin, end, first};
}

// List the rows of a block that have more than a few edges, one for each thread, or none; kinds are 0 for none.
__device__ __forceinline__ void list_rows(int kind, long long row, long long first, long long degree,
                                          const ChunkSums &a) {
    __shared__ long long first_of[GD_SCANNED], end_of[GD_SCANNED], parts_before[GD_SCANNED], place[PARTS];
    const int t = threadIdx.x, digits = kind ? (kind - SOME) * GD_DIGITS : 0, all_digits = (PARTS - SOME) * GD_DIGITS;
    const long long mask = (1 << GD_DIGITS) - 1, parts = kind == LONG ? (degree + GD_CHUNK - 1) / GD_CHUNK : 0;
    long long all;
    const long long before = gd_block_scan(kind ? (parts << all_digits) + (1LL << digits) : 0, &all);
    if (t < PARTS) {
        const long long count = t == PARTS - SOME ? all >> all_digits : all >> t * GD_DIGITS & mask;
        place[t] = count ? (long long)atomicAdd(a.counters->listed + t, (unsigned long long)count) : 0;
    }
    first_of[t] = first;
    end_of[t] = first + degree;
    parts_before[t] = before >> all_digits;
    __syncthreads();
    if (kind) {
        const long long at = place[kind - SOME] + (before >> digits & mask), item = kind == SOME ? at : a.rows - 1 - at;
        if (kind == LONG) {
            a.longer[at] = (index_t)row;
            a.places[at] = (index_t)(place[PARTS - SOME] + parts_before[t]);
        } else {
            a.items[item] = first * GD_SPAN + degree;
            a.goes[item] = (index_t)row;
        }
    }
    for (long long k = t; k < all >> all_digits; k += GD_SCANNED) {
        const long long r = chunk_of(k, parts_before, GD_SCANNED);
        const long long begin = first_of[r] + (k - parts_before[r]) * GD_CHUNK;
        a.parts[place[PARTS - SOME] + k] = begin * GD_SPAN + min(end_of[r] - begin, (long long)GD_CHUNK);
    }
}

// Sum rows of few edges from `low` to `high` - 1, and list the others.
template <bool weighted>
__device__ __forceinline__ void sum_few(const Share &share, const Edges &e, const ChunkSums &a) {
    long long next = share.first;
    for (long long tile = share.begin; tile < share.end; tile += GD_SCANNED) {
        const long long row = tile + threadIdx.x, degree = row < share.end ? a.degrees[row] : 0;
        const bool mine = row >= a.low && row < min(a.high, share.end);
        long long edges;
        const long long first = next + gd_block_scan(degree, &edges);
        next += edges;
        const int kind = !mine || degree <= GD_FEW ? 0 : degree <= GD_SOME ? SOME : degree <= GD_CHUNK ? ONES : LONG;
        list_rows(kind, row, first, degree, a);
        if (!mine || kind) continue;
        double value[GD_LANES];
        gather<weighted>(e, first, first + degree, 1, value);
        a.sums[row - a.low] = gd_tree(value);
    }
}

// What a warp takes at a time: a part, a row, or four rows for eight threads each, in this order.
struct Unit {
    long long item;
    index_t row;  // whose sum it gives; -1 for a part, and where nothing is left
};

struct Counts {
    long long parts, ones, some, units;  // parts; with rows for a warp; rows for eight threads; in all
};

__device__ __forceinline__ Unit unit_of(long long unit, const Counts &counts, const ChunkSums &a) {
    if (unit >= counts.units) return {0, -1};
    if (unit < counts.parts) return {a.parts[unit], -1};
    const long long of_eight = (unit - counts.ones) * (32 / GD_LANES) + threadIdx.x % 32 / GD_LANES;
    if (of_eight >= counts.some) return {0, -1};
    const long long at = unit < counts.ones ? a.rows - 1 - (unit - counts.parts) : of_eight;
    return {a.items[at], a.goes[at]};
}

// Sum what is listed; what comes next is on its way meanwhile.
template <bool weighted>
__device__ __forceinline__ void sum_listed(const Edges &e, const ChunkSums &a) {
    const unsigned long long *const listed = a.counters->listed;
    const long long parts = (long long)listed[PARTS - SOME], ones = parts + (long long)listed[ONES - SOME];
    const long long some = (long long)listed[0], warps = (long long)gridDim.x * blockDim.x / 32;
    const Counts counts{parts, ones, some, ones + (some + 32 / GD_LANES - 1) / (32 / GD_LANES)};
    long long at = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (Unit unit = unit_of(at, counts, a), next; at < counts.units; at += warps, unit = next) {
        next = unit_of(at + warps, counts, a);
        const bool whole = at < counts.ones;
        const int apart = whole ? 32 : GD_LANES, lane = threadIdx.x % apart;
        const long long begin = unit.item / GD_SPAN;
        double value[GD_AT_ONCE], sum = 0.0;
        gather<weighted>(e, begin + lane, begin + unit.item % GD_SPAN, apart, value);
        if (whole) sum = add_of_warp(sum, value);
        else {
#pragma unroll
            for (int i = 0; i < GD_AT_ONCE; i++) sum = __dadd_rn(sum, value[i]);
        }
        sum = gd_warp_tree(sum);
        if (lane) continue;
        if (at < counts.parts) a.partial[at] = sum;
        else if (unit.row >= 0) a.sums[unit.row - a.low] = sum;
    }
}

// Sum the parts of longer rows, each warp a row.
__device__ __forceinline__ void sum_parts(const ChunkSums &a, long long count) {
    const int lane = threadIdx.x % 32;
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    for (long long h = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; h < count; h += warps) {
        const long long row = a.longer[h], parts = ((long long)a.degrees[row] + GD_CHUNK - 1) / GD_CHUNK;
        const double *const partial = a.partial + a.places[h];
        const double sum = sum_of_parts(partial, parts, lane);
        if (lane == 0) a.sums[row - a.low] = sum;
    }
}

template <bool weighted> __device__ __forceinline__ void sum_all(const ChunkSums &a) {
    const Edges e{a.targets, a.weights, a.x};
    const Share share = share_of(a);
    sum_few<weighted>(share, e, a);
    gd_grid_barrier(&a.counters->arrived);
    sum_listed<weighted>(e, a);
    const long long longer = (long long)a.counters->listed[LONG - SOME];
    if (!longer) return;
    gd_grid_barrier(&a.counters->arrived);
    sum_parts(a, longer);
}

extern "C" __global__ void __launch_bounds__(GD_SCANNED, 4) layered_sum(long long n, ChunkSums a) {
    if (blockIdx.x == 0 && threadIdx.x < sizeof(SumCounts) / 8) a.cleared[threadIdx.x] = 0;
    if (a.weighted) sum_all<true>(a);
    else sum_all<false>(a);
}
