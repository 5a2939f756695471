// Rows that change, and PageRank over a frontier of affected vertices: separate kernels for vertices of low and of high
// degree, after Sahu, Efficient GPU implementation of static and incrementally expanding DF-P PageRank (2024),
// Algorithms 3 to 5, but for lists of the affected vertices where the paper's kernels look at all. No rank is written by
// two threads. Twins and arguments: dynamic.py.
#include "common.cuh"
#include "lanes.cuh"

#define GD_MASS 1152921504606846976.0

__device__ __forceinline__ unsigned long long gd_warp_sum(unsigned long long value) {
    for (int step = 16; step; step >>= 1) value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

// How many of the `end` entries from indices[first] on are less than `wanted`.
__device__ __forceinline__ long long gd_place(const index_t *indices, long long first, long long end, index_t wanted) {
    long long low = 0, high = end;
    while (low < high) {
        const long long middle = (low + high) >> 1;
        if (indices[first + middle] < wanted) low = middle + 1;
        else high = middle;
    }
    return low;
}

extern "C" __global__ void dynamic_find(long long n, const index_t *row, const index_t *column, const long long *begin,
                                        const long long *length, const index_t *indices, long long *place,
                                        unsigned char *found) {
    GD_FOR(i, n) {
        const long long first = begin[row[i]], end = length[row[i]];
        const index_t wanted = column[i];
        const long long low = gd_place(indices, first, end, wanted);
        place[i] = low;
        found[i] = low < end && indices[first + low] == wanted;
    }
}

extern "C" __global__ void dynamic_look(long long n, const index_t *row, const index_t *column, const long long *begin,
                                        const long long *length, const long long *room, const index_t *indices,
                                        long long *out) {
    GD_FOR(i, n) {
        const index_t v = row[i], wanted = column[i];
        const long long first = begin[v], end = length[v];
        const long long low = gd_place(indices, first, end, wanted);
        out[i] = low;
        out[n + i] = low < end && indices[first + low] == wanted;
        out[2 * n + i] = first;
        out[3 * n + i] = end;
        out[4 * n + i] = room[v];
    }
}

// A block reserves places for the vertices of a tile at once: where all are flagged, one counter for every warp would be
// what the kernel waits for.
extern "C" __global__ void dynamic_split(long long n, const index_t *ids, unsigned char *flags, long long becomes,
                                         const long long *length, long long most, index_t *low, index_t *high,
                                         unsigned long long *counters) {
    __shared__ unsigned long long block_edges, start[2];
    __shared__ int listed[64];
    const int warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5, lane = threadIdx.x & 31;
    const unsigned below = (1u << lane) - 1;
    if (threadIdx.x == 0) block_edges = 0;
    unsigned long long edges = 0;
    for (long long tile = (long long)blockIdx.x * blockDim.x; tile < n; tile += (long long)gridDim.x * blockDim.x) {
        const long long v = tile + threadIdx.x;
        bool flagged = false;
        long long degree = 0;
        if (v < n) {
            const index_t at = ids[v];
            flagged = flags[at] == 1;
            if (flagged) {
                degree = length[v];
                flags[at] = (unsigned char)becomes;
            }
        }
        const bool is_low = flagged && degree <= most, is_high = flagged && degree > most;
        const unsigned low_mask = __ballot_sync(0xffffffffu, is_low), high_mask = __ballot_sync(0xffffffffu, is_high);
        if (lane == 0) {
            listed[warp] = __popc(low_mask);
            listed[32 + warp] = __popc(high_mask);
        }
        __syncthreads();
        if (threadIdx.x < 2) {
            int total = 0;
            for (int k = 0; k < warps; k++) {
                const int count = listed[threadIdx.x * 32 + k];
                listed[threadIdx.x * 32 + k] = total;
                total += count;
            }
            if (total) start[threadIdx.x] = atomicAdd(counters + threadIdx.x, (unsigned long long)total);
        }
        __syncthreads();
        if (is_low) low[start[0] + listed[warp] + __popc(low_mask & below)] = (index_t)v;
        if (is_high) high[start[1] + listed[32 + warp] + __popc(high_mask & below)] = (index_t)v;
        edges += (unsigned long long)degree;
        __syncthreads();
    }
    edges = gd_warp_sum(edges);
    if (lane == 0 && edges) atomicAdd(&block_edges, edges);
    __syncthreads();
    if (threadIdx.x == 0 && block_edges) atomicAdd(counters + 2, block_edges);
}

// Low rows have at most one chunk.
extern "C" __global__ void dynamic_sum(long long n, const index_t *listed, const long long *begin,
                                       const long long *length, const index_t *indices, const double *x,
                                       double *sums) {
    GD_FOR(i, n) {
        const index_t v = listed[i];
        const long long first = begin[v], last = first + length[v];
        double lane[GD_LANES];
#pragma unroll
        for (int k = 0; k < GD_LANES; k++) lane[k] = 0.0;
        for (long long e = first; e < last; e += GD_LANES) {
#pragma unroll
            for (int k = 0; k < GD_LANES; k++)
                if (e + k < last) lane[k] = __dadd_rn(lane[k], x[indices[e + k]]);
        }
        sums[v] = gd_tree(lane);
    }
}

// A block a row, of 256 threads: thirty-two groups of eight lanes take a chunk each; group g always has chunks that are
// dealt to lane g % 8, and the first warp adds what they found in the order of chunks.
extern "C" __global__ void __launch_bounds__(256)
dynamic_sum_high(long long n, const index_t *listed, const long long *begin, const long long *length,
                 const index_t *indices, const double *x, double *sums) {
    __shared__ double edges[256];
    __shared__ double chunk[32];
    __shared__ double lanes[GD_LANES];
    const int group = threadIdx.x / GD_LANES, lane = threadIdx.x % GD_LANES;
    for (long long i = blockIdx.x; i < n; i += gridDim.x) {
        const index_t v = listed[i];
        const long long first = begin[v], last = first + length[v];
        double dealt = 0.0;
        for (long long round = first; round < last; round += 32 * GD_CHUNK) {
            const long long from = round + (long long)group * GD_CHUNK;
            const long long end = min(from + GD_CHUNK, last);
            double sum = 0.0;
            for (long long e = from + lane; e < end; e += GD_LANES) sum = __dadd_rn(sum, x[indices[e]]);
            edges[threadIdx.x] = sum;
            __syncthreads();
            if (lane == 0) chunk[group] = gd_tree(edges + threadIdx.x);
            __syncthreads();
            if (threadIdx.x < GD_LANES)
#pragma unroll
                for (int k = 0; k < 32; k += GD_LANES) dealt = __dadd_rn(dealt, chunk[k + threadIdx.x]);
        }
        if (threadIdx.x < GD_LANES) lanes[threadIdx.x] = dealt;
        __syncthreads();
        if (threadIdx.x == 0) sums[v] = gd_tree(lanes);
        __syncthreads();
    }
}

// What a thread has to say of the vertices that it ranked.
struct Ranked {
    double largest;
    unsigned long long first, spread, untold, edges, mass;
};

// Everything is read before anything is written, as in pagerank.cu, and what a method does not use is not there.
template <bool closed, bool expands>
__device__ __forceinline__ Ranked rank_rows(long long n, const index_t *listed, const index_t *ids, const double *sums,
                                            const double *inverse, const unsigned char *loop, double base,
                                            double damping, long long prunes, double prune, double frontier,
                                            double scale, long long becomes, const long long *length, long long most,
                                            double *rank, double *x, unsigned char *affected, unsigned char *expand,
                                            unsigned char *visited, index_t *low, index_t *high,
                                            unsigned long long *counters) {
    Ranked all{0.0, 0, 0, 0, 0, 0};
    GD_FOR(i, n) {
        const index_t v = listed[i], at = ids[v];
        const double old = rank[v], part = inverse[v], mine = x[at], gathered = sums[v];
        const bool has_loop = loop[v], seen = visited[v], marked = expands && expand[at];
        const long long degree = expands ? length[v] : 0;
        double now;
        if (closed) {
            const double sum = has_loop ? __dadd_rn(gathered, -mine) : gathered;
            now = __ddiv_rn(__dadd_rn(base, __dmul_rn(damping, sum)), __dadd_rn(1.0, -__dmul_rn(damping, part)));
        } else {
            const double sum = has_loop ? gathered : __dadd_rn(gathered, mine);
            now = __dadd_rn(base, __dmul_rn(damping, sum));
        }
        const double moved = fabs(__dadd_rn(now, -old));
        const double weight = closed ? __dmul_rn(moved, __dadd_rn(1.0, -part)) : moved;
        const unsigned long long goes = (unsigned long long)ceil(__dmul_rn(weight, scale));
        all.largest = fmax(all.largest, moved);
        all.spread += goes;
        all.mass += __double2ull_rn(__dmul_rn(now, GD_MASS));
        rank[v] = now;
        x[at] = __dmul_rn(now, part);
        if (!seen) {
            visited[v] = 1;
            all.first++;
        }
        if (!expands) continue;
        const double relative = __ddiv_rn(moved, fmax(now, old));
        if (prunes && relative <= prune) affected[at] = 0;
        if (marked) continue;
        if (relative > frontier) {
            expand[at] = (unsigned char)becomes;
            if (degree <= most) low[gd_reserve(counters + 7)] = v;
            else high[gd_reserve(counters + 8)] = v;
            all.edges += (unsigned long long)degree;
        } else {
            all.untold += goes;
        }
    }
    return all;
}

extern "C" __global__ void dynamic_update(long long n, const index_t *listed, const index_t *ids, const double *sums,
                                          const double *inverse, const unsigned char *loop, double base, double damping,
                                          long long closed, long long prunes, double prune, long long expands,
                                          double frontier, double scale, long long becomes, const long long *length,
                                          long long most, double *rank, double *x, unsigned char *affected,
                                          unsigned char *expand, unsigned char *visited, index_t *low, index_t *high,
                                          unsigned long long *counters) {
    __shared__ unsigned long long block[6];
    if (threadIdx.x < 6) block[threadIdx.x] = 0;
    __syncthreads();
    const int way = (closed ? 2 : 0) + (expands ? 1 : 0);
    Ranked all;
#define GD_WAY(number, C, E)                                                                                          \
    if (way == number)                                                                                                \
        all = rank_rows<C, E>(n, listed, ids, sums, inverse, loop, base, damping, prunes, prune, frontier, scale,     \
                              becomes, length, most, rank, x, affected, expand, visited, low, high, counters);
    GD_WAY(0, false, false)
    GD_WAY(1, false, true)
    GD_WAY(2, true, false)
    GD_WAY(3, true, true)
#undef GD_WAY
    __syncwarp();  // lanes that list vertices have a mask of their own
    double largest = all.largest;
    for (int step = 16; step; step >>= 1) largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, step));
    const unsigned long long sums_of_warp[5] = {gd_warp_sum(all.first), gd_warp_sum(all.spread),
                                                gd_warp_sum(all.untold), gd_warp_sum(all.edges),
                                                gd_warp_sum(all.mass)};
    if ((threadIdx.x & 31) == 0) {
        if (largest > 0.0) atomicMax(block, (unsigned long long)__double_as_longlong(largest));
#pragma unroll
        for (int k = 0; k < 5; k++)
            if (sums_of_warp[k]) atomicAdd(block + 1 + k, sums_of_warp[k]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        if (block[0]) atomicMax(counters + 3, block[0]);  // no sign: ordered as integers
        if (block[1]) atomicAdd(counters + 4, block[1]);
        if (block[2]) atomicAdd(counters + 5, block[2]);
        if (block[3]) atomicAdd(counters + 6, block[3]);
        if (block[4]) atomicAdd(counters + 9, block[4]);
        if (block[5]) atomicAdd(counters + 10, block[5]);
    }
}

// How many are listed is read here, so that the host need not wait for it; n is the most that there may be.
extern "C" __global__ void dynamic_mark(long long n, const unsigned long long *count, const index_t *listed,
                                        const long long *begin, const long long *length, const index_t *indices,
                                        unsigned char *flags) {
    const long long end = (long long)*count;
    GD_FOR(i, end) {
        const index_t v = listed[i];
        const long long first = begin[v], last = first + length[v];
        for (long long e = first; e < last; e++) flags[indices[e]] = 1;  // whoever else writes, writes the same
    }
}

extern "C" __global__ void dynamic_mark_high(long long n, const unsigned long long *count, const index_t *listed,
                                             const long long *begin, const long long *length, const index_t *indices,
                                             unsigned char *flags) {
    const long long end = (long long)*count;
    for (long long i = blockIdx.x; i < end; i += gridDim.x) {
        const index_t v = listed[i];
        const long long first = begin[v], last = first + length[v];
        for (long long e = first + threadIdx.x; e < last; e += blockDim.x) flags[indices[e]] = 1;
    }
}
