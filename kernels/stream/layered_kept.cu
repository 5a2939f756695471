// Sums of the rows of some chunks of a layered edge list that stay on the device, in one launch. A warp takes 32 rows
// at a time; it is known where their edges begin. A row of few edges is summed by one thread, other rows by eight
// threads or by the whole warp. The parts of longer rows are listed. After a barrier all warps share these parts, and
// after another one they add up the sums of the parts. The order of additions in a row is that of lanes.py, as in
// layered_sums.cu. Twins and arguments: layered_kept.py.
#include "common/chunks.cuh"
#include "common/common.cuh"
#include "common/grid.cuh"
#include "common/row_sums.cuh"
#include "stream/layered_kept_pack.py"

#define GD_WARP 0xffffffffu

// Columns of the table of chunks.
#define DEGREES 0
#define TARGETS 1
#define WEIGHTS 2
#define ROWS 3
#define LOW 4
#define HIGH 5
#define TO 6
#define TILE 7

// Places of the lengths of lists.
#define LONG 2
#define PARTS 3

#define GD_CHUNK_BITS 40  // above first edge * GD_SPAN + edges

struct Chunks {
    const KeptSums &a;

    __device__ __forceinline__ long long of(int column, long long chunk) const {
        return a.table[column * a.chunks + chunk];
    }
    __device__ __forceinline__ long long chunk(long long tile) const {
        return chunk_of(tile, a.table + TILE * a.chunks, a.chunks);
    }
    __device__ __forceinline__ Edges edges(long long chunk) const {
        return {(const index_t *)(a.words + of(TARGETS, chunk)), a.weights + of(WEIGHTS, chunk), a.x};
    }
    __device__ __forceinline__ long long before(long long tile) const { return tile ? a.upto[tile - 1] : 0; }
};

extern "C" __global__ void kept_tiles(long long n, long long tiles, const long long *table, long long chunks,
                                      const unsigned *words, long long *edges) {
    const int lane = threadIdx.x % 32;
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    for (long long tile = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; tile < tiles; tile += warps) {
        const long long c = chunk_of(tile, table + TILE * chunks, chunks);
        const long long row = (tile - table[TILE * chunks + c]) * 32 + lane;
        unsigned sum = row < table[ROWS * chunks + c] ? (words + table[DEGREES * chunks + c])[row] : 0;
        for (int by = 16; by; by >>= 1) sum += __shfl_xor_sync(GD_WARP, sum, by);
        if (lane == 0) edges[tile] = sum;
    }
}

// List the parts of a row, by a warp.
__device__ __forceinline__ void list_parts(long long chunk, long long first, unsigned degree, long long to,
                                           const KeptSums &a, int lane) {
    const unsigned parts = (degree + GD_CHUNK - 1) / GD_CHUNK;
    long long place = 0;
    if (lane == 0) {
        const long long h = (long long)atomicAdd(a.counters->listed + LONG, 1ULL);
        place = (long long)atomicAdd(a.counters->listed + PARTS, (unsigned long long)parts);
        a.goes[h] = to;
        a.places[h] = (index_t)place;
        a.parts[h] = (index_t)parts;
    }
    place = __shfl_sync(GD_WARP, place, 0);
    for (unsigned k = lane; k < parts; k += 32) {
        const unsigned edges = min(degree - k * GD_CHUNK, (unsigned)GD_CHUNK);
        a.items[place + k] = (chunk << GD_CHUNK_BITS) + (first + k * GD_CHUNK) * GD_SPAN + edges;
    }
}

// Sum the rows of a tile that have no parts, and list the others.
template <bool weighted>
__device__ __forceinline__ void sum_tile(const KeptSums &a, long long tile, int lane) {
    const Chunks chunks{a};
    double *const sums = a.sums;
    const long long c = chunks.chunk(tile), first_tile = chunks.of(TILE, c), top = (tile - first_tile) * 32;
    const long long row = top + lane, low = chunks.of(LOW, c), to = chunks.of(TO, c) + top - low;
    const unsigned degree = row < chunks.of(ROWS, c) ? (a.words + chunks.of(DEGREES, c))[row] : 0;
    const long long begin = chunks.before(tile) - chunks.before(first_tile);
    const bool mine = row >= low && row < chunks.of(HIGH, c);
    const Edges e = chunks.edges(c);
    unsigned ahead = degree;
    for (int by = 1; by < 32; by <<= 1) {
        const unsigned below = __shfl_up_sync(GD_WARP, ahead, by);
        if (lane >= by) ahead += below;
    }
    ahead -= degree;
    unsigned some = __ballot_sync(GD_WARP, mine && degree > GD_FEW && degree <= GD_SOME);
    unsigned ones = __ballot_sync(GD_WARP, mine && degree > GD_SOME && degree <= GD_CHUNK);
    unsigned longs = __ballot_sync(GD_WARP, mine && degree > GD_CHUNK);
    double value[GD_AT_ONCE];
    if (mine && degree <= GD_FEW) {
        gather<weighted>(e, begin + ahead, begin + ahead + degree, 1, value);
        sums[to + lane] = gd_tree(value);
    }
    while (some) {  // four rows, of which every eight lanes take one
        unsigned mask = some;
        for (int k = 0; k < lane / GD_LANES; k++) mask &= mask - 1;
        for (int k = 0; k < 32 / GD_LANES; k++) some &= some - 1;
        const int at = mask ? __ffs(mask) - 1 : 0;
        const long long from = begin + __shfl_sync(GD_WARP, ahead, at);
        const unsigned edges = __shfl_sync(GD_WARP, degree, at);
        double sum = 0.0;
        gather<weighted>(e, from + lane % GD_LANES, mask ? from + edges : 0, GD_LANES, value);
#pragma unroll
        for (int i = 0; i < GD_AT_ONCE; i++) sum = __dadd_rn(sum, value[i]);
        sum = gd_warp_tree(sum);
        if (mask && lane % GD_LANES == 0) sums[to + at] = sum;
    }
    for (; ones; ones &= ones - 1) {
        const int at = __ffs(ones) - 1;
        const long long from = begin + __shfl_sync(GD_WARP, ahead, at);
        gather<weighted>(e, from + lane, from + __shfl_sync(GD_WARP, degree, at), 32, value);
        const double sum = gd_warp_tree(add_of_warp(0.0, value));
        if (lane == 0) sums[to + at] = sum;
    }
    for (; longs; longs &= longs - 1) {
        const int at = __ffs(longs) - 1;
        const long long from = begin + __shfl_sync(GD_WARP, ahead, at);
        list_parts(c, from, __shfl_sync(GD_WARP, degree, at), to + at, a, lane);
    }
}

// The next tile for a warp. Tiles are not assigned beforehand, because their numbers of edges differ too much.
__device__ __forceinline__ long long take(SumCounts *counters, int lane) {
    const long long tile = lane == 0 ? (long long)atomicAdd(&counters->taken, 1ULL) : 0;
    return __shfl_sync(GD_WARP, tile, 0);
}

template <bool weighted> __device__ __forceinline__ void sum_tiles(const KeptSums &a) {
    const int lane = threadIdx.x % 32;
    const long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    for (long long tile = take(a.counters, lane), next; tile < a.tiles; tile = next) {
        next = take(a.counters, lane);
        sum_tile<weighted>(a, tile, lane);
    }
    gd_grid_barrier(&a.counters->arrived);
    const unsigned long long *const listed = a.counters->listed;
    const long long rows = *(volatile long long *)(listed + LONG), parts = *(volatile long long *)(listed + PARTS);
    if (!rows) return;
    for (long long part = warp; part < parts; part += warps) {
        const long long item = a.items[part], edges = item & ((1LL << GD_CHUNK_BITS) - 1);
        const long long from = edges / GD_SPAN, end = from + edges % GD_SPAN;
        double value[GD_AT_ONCE];
        gather<weighted>(Chunks{a}.edges(item >> GD_CHUNK_BITS), from + lane, end, 32, value);
        const double sum = gd_warp_tree(add_of_warp(0.0, value));
        if (lane == 0) a.partial[part] = sum;
    }
    gd_grid_barrier(&a.counters->arrived);
    for (long long h = warp; h < rows; h += warps) {
        const double sum = sum_of_parts(a.partial + a.places[h], a.parts[h], lane);
        if (lane == 0) a.sums[a.goes[h]] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(256, 4) kept_sum(long long n, KeptSums a) {
    if (blockIdx.x == 0 && threadIdx.x < sizeof(SumCounts) / 8) a.cleared[threadIdx.x] = 0;
    if (a.weighted) sum_tiles<true>(a);
    else sum_tiles<false>(a);
}
