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

#define GD_DIGITS 10  // binary ones, of the number of rows of a kind, 256 at most in a block

// Counters: arrivals of blocks at the barrier; rows for eight threads, rows for a warp, longer rows, and the parts of
// those.
#define ARRIVED 0
#define SOME 1
#define ONES 2
#define LONG 3
#define PARTS 4
#define COUNTERS 5

struct Lists {
    long long *items;  // first edge * GD_SPAN + edges, of rows for eight threads, and from the end of those for a warp
    index_t *goes;     // the row of each
    long long *parts;  // the same, of parts, whose sums are `partial`
    double *partial;
    index_t *longer, *places;  // longer rows, and where their parts begin
};

// The rows of a block, and where the edges of the first one begin.
struct Share {
    long long begin, end, first;
};

// A block's share of the rows, and where their edges begin; this is a barrier for all blocks.
__device__ __forceinline__ Share share_of(long long rows, const unsigned *degrees, long long *totals,
                                          unsigned long long *counters) {
    const long long tiles = (rows + GD_SCANNED - 1) / GD_SCANNED;
    const long long each = (tiles + gridDim.x - 1) / gridDim.x * GD_SCANNED;
    const long long begin = min(blockIdx.x * each, rows), end = min(begin + each, rows);
    long long edges = 0, total, first;
    for (long long row = begin + threadIdx.x; row < end; row += GD_SCANNED) edges += degrees[row];
    gd_block_scan(edges, &total);
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
    gd_grid_barrier(counters + ARRIVED);
    edges = 0;
    for (long long block = threadIdx.x; block < blockIdx.x; block += GD_SCANNED) edges += totals[block];
    gd_block_scan(edges, &first);
    return {begin, end, first};
}

// List the rows of a block that have more than a few edges, one for each thread, or none; kinds are 0 for none.
__device__ __forceinline__ void list_rows(int kind, long long row, long long first, long long degree, long long rows,
                                          const Lists &lists, unsigned long long *counters) {
    __shared__ long long first_of[GD_SCANNED], end_of[GD_SCANNED], parts_before[GD_SCANNED], place[PARTS];
    const int t = threadIdx.x, digits = kind ? (kind - SOME) * GD_DIGITS : 0, all_digits = (PARTS - SOME) * GD_DIGITS;
    const long long mask = (1 << GD_DIGITS) - 1, parts = kind == LONG ? (degree + GD_CHUNK - 1) / GD_CHUNK : 0;
    long long all;
    const long long before = gd_block_scan(kind ? (parts << all_digits) + (1LL << digits) : 0, &all);
    if (t < PARTS) {
        const long long count = t == PARTS - SOME ? all >> all_digits : all >> t * GD_DIGITS & mask;
        place[t] = count ? (long long)atomicAdd(counters + SOME + t, (unsigned long long)count) : 0;
    }
    first_of[t] = first;
    end_of[t] = first + degree;
    parts_before[t] = before >> all_digits;
    __syncthreads();
    if (kind) {
        const long long at = place[kind - SOME] + (before >> digits & mask), item = kind == SOME ? at : rows - 1 - at;
        if (kind == LONG) {
            lists.longer[at] = (index_t)row;
            lists.places[at] = (index_t)(place[PARTS - SOME] + parts_before[t]);
        } else {
            lists.items[item] = first * GD_SPAN + degree;
            lists.goes[item] = (index_t)row;
        }
    }
    for (long long k = t; k < all >> all_digits; k += GD_SCANNED) {
        const long long r = chunk_of(k, parts_before, GD_SCANNED);
        const long long begin = first_of[r] + (k - parts_before[r]) * GD_CHUNK;
        lists.parts[place[PARTS - SOME] + k] = begin * GD_SPAN + min(end_of[r] - begin, (long long)GD_CHUNK);
    }
}

// Sum rows of few edges from `low` to `high` - 1, and list the others.
template <bool weighted>
__device__ __forceinline__ void sum_few(const Share &share, long long rows, long long low, long long high,
                                        const unsigned *degrees, const Edges &e, double *sums, const Lists &lists,
                                        unsigned long long *counters) {
    long long next = share.first;
    for (long long tile = share.begin; tile < share.end; tile += GD_SCANNED) {
        const long long row = tile + threadIdx.x, degree = row < share.end ? degrees[row] : 0;
        const bool mine = row >= low && row < min(high, share.end);
        long long edges;
        const long long first = next + gd_block_scan(degree, &edges);
        next += edges;
        const int kind = !mine || degree <= GD_FEW ? 0 : degree <= GD_SOME ? SOME : degree <= GD_CHUNK ? ONES : LONG;
        list_rows(kind, row, first, degree, rows, lists, counters);
        if (!mine || kind) continue;
        double value[GD_LANES];
        gather<weighted>(e, first, first + degree, 1, value);
        sums[row - low] = gd_tree(value);
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

__device__ __forceinline__ Unit unit_of(long long unit, long long rows, const Counts &counts, const Lists &lists) {
    if (unit >= counts.units) return {0, -1};
    if (unit < counts.parts) return {lists.parts[unit], -1};
    const long long of_eight = (unit - counts.ones) * (32 / GD_LANES) + threadIdx.x % 32 / GD_LANES;
    if (of_eight >= counts.some) return {0, -1};
    const long long at = unit < counts.ones ? rows - 1 - (unit - counts.parts) : of_eight;
    return {lists.items[at], lists.goes[at]};
}

// Sum what is listed; what comes next is on its way meanwhile.
template <bool weighted>
__device__ __forceinline__ void sum_listed(long long rows, long long low, const Edges &e, double *sums,
                                           const Lists &lists, const unsigned long long *counters) {
    const long long parts = (long long)counters[PARTS], ones = parts + (long long)counters[ONES];
    const long long some = (long long)counters[SOME], warps = (long long)gridDim.x * blockDim.x / 32;
    const Counts counts{parts, ones, some, ones + (some + 32 / GD_LANES - 1) / (32 / GD_LANES)};
    long long at = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (Unit unit = unit_of(at, rows, counts, lists), next; at < counts.units; at += warps, unit = next) {
        next = unit_of(at + warps, rows, counts, lists);
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
        if (at < counts.parts) lists.partial[at] = sum;
        else if (unit.row >= 0) sums[unit.row - low] = sum;
    }
}

// Sum the parts of longer rows, each warp a row.
__device__ __forceinline__ void sum_parts(long long low, const unsigned *degrees, double *sums, const Lists &lists,
                                          long long count) {
    const int lane = threadIdx.x % 32;
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    for (long long h = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; h < count; h += warps) {
        const long long row = lists.longer[h], parts = ((long long)degrees[row] + GD_CHUNK - 1) / GD_CHUNK;
        const double *const partial = lists.partial + lists.places[h];
        const double sum = sum_of_parts(partial, parts, lane);
        if (lane == 0) sums[row - low] = sum;
    }
}

template <bool weighted>
__device__ __forceinline__ void sum_all(long long rows, long long low, long long high, const unsigned *degrees,
                                        const Edges &e, double *sums, const Lists &lists, long long *totals,
                                        unsigned long long *counters) {
    const Share share = share_of(rows, degrees, totals, counters);
    sum_few<weighted>(share, rows, low, high, degrees, e, sums, lists, counters);
    gd_grid_barrier(counters + ARRIVED);
    sum_listed<weighted>(rows, low, e, sums, lists, counters);
    if (!counters[LONG]) return;
    gd_grid_barrier(counters + ARRIVED);
    sum_parts(low, degrees, sums, lists, (long long)counters[LONG]);
}

extern "C" __global__ void __launch_bounds__(GD_SCANNED, 4)
layered_sum(long long n, long long rows, long long low, long long high, const unsigned *degrees,
            const index_t *targets, const weight_t *weights, long long weighted, const real_t *x, double *sums,
            long long *items, index_t *goes, long long *parts, double *partial, index_t *longer, index_t *places,
            long long *totals, unsigned long long *counters, unsigned long long *cleared) {
    if (blockIdx.x == 0 && threadIdx.x < COUNTERS) cleared[threadIdx.x] = 0;
    const Edges e{targets, weights, x};
    const Lists lists{items, goes, parts, partial, longer, places};
    if (weighted) sum_all<true>(rows, low, high, degrees, e, sums, lists, totals, counters);
    else sum_all<false>(rows, low, high, degrees, e, sums, lists, totals, counters);
}
