// Rows that change, and PageRank over a frontier of affected vertices: separate kernels for vertices of low and of high
// degree, after Sahu, Efficient GPU implementation of static and incrementally expanding DF-P PageRank (2024),
// Algorithms 3 to 5, but for lists of the affected vertices where the paper's kernels look at all. No rank is written by
// two threads. Twins and arguments: dynamic.py.
#include "common.cuh"
#include "lanes.cuh"

#define GD_MASS 1152921504606846976.0

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

extern "C" __global__ void dynamic_split(long long n, const index_t *ids, unsigned char *flags, long long becomes,
                                         const long long *length, long long most, index_t *low, index_t *high,
                                         unsigned long long *counters) {
    __shared__ unsigned long long block_edges;
    if (threadIdx.x == 0) block_edges = 0;
    __syncthreads();
    unsigned long long edges = 0;
    GD_FOR(v, n) {
        const index_t at = ids[v];
        if (flags[at] != 1) continue;
        flags[at] = (unsigned char)becomes;
        const long long degree = length[v];
        if (degree <= most) low[gd_reserve(counters)] = (index_t)v;
        else high[gd_reserve(counters + 1)] = (index_t)v;
        edges += (unsigned long long)degree;
    }
    if (edges) atomicAdd(&block_edges, edges);
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

extern "C" __global__ void dynamic_update(long long n, const index_t *listed, const index_t *ids, const double *sums,
                                          const double *inverse, const unsigned char *loop, double base, double damping,
                                          long long closed, long long prunes, double prune, long long expands,
                                          double frontier, double scale, long long becomes, const long long *length,
                                          long long most, double *rank, double *x, unsigned char *affected,
                                          unsigned char *expand, unsigned char *visited, index_t *low, index_t *high,
                                          unsigned long long *counters) {
    __shared__ unsigned long long block_largest, block_first, block_spread, block_untold, block_edges, block_mass;
    if (threadIdx.x == 0) block_largest = block_first = block_spread = block_untold = block_edges = block_mass = 0;
    __syncthreads();
    double largest = 0.0;
    unsigned long long first = 0, spread = 0, untold = 0, edges = 0, mass = 0;
    GD_FOR(i, n) {
        const index_t v = listed[i], at = ids[v];
        const double old = rank[v], part = inverse[v];
        double sum = sums[v], now;
        if (closed) {
            if (loop[v]) sum = __dadd_rn(sum, -x[at]);
            now = __ddiv_rn(__dadd_rn(base, __dmul_rn(damping, sum)), __dadd_rn(1.0, -__dmul_rn(damping, part)));
        } else {
            if (!loop[v]) sum = __dadd_rn(sum, x[at]);
            now = __dadd_rn(base, __dmul_rn(damping, sum));
        }
        rank[v] = now;
        x[at] = __dmul_rn(now, part);
        const double moved = fabs(__dadd_rn(now, -old));
        largest = fmax(largest, moved);
        const double relative = __ddiv_rn(moved, fmax(now, old));
        if (prunes && relative <= prune) affected[at] = 0;
        const double weight = closed ? __dmul_rn(moved, __dadd_rn(1.0, -part)) : moved;
        const unsigned long long goes = (unsigned long long)ceil(__dmul_rn(weight, scale));
        spread += goes;
        mass += __double2ull_rn(__dmul_rn(now, GD_MASS));
        if (expands && !expand[at]) {
            if (relative > frontier) {
                expand[at] = (unsigned char)becomes;
                const long long degree = length[v];
                if (degree <= most) low[gd_reserve(counters + 7)] = v;
                else high[gd_reserve(counters + 8)] = v;
                edges += (unsigned long long)degree;
            } else {
                untold += goes;
            }
        }
        if (!visited[v]) {
            visited[v] = 1;
            first++;
        }
    }
    if (largest > 0.0) atomicMax(&block_largest, (unsigned long long)__double_as_longlong(largest));
    if (first) atomicAdd(&block_first, first);
    if (spread) atomicAdd(&block_spread, spread);
    if (untold) atomicAdd(&block_untold, untold);
    if (edges) atomicAdd(&block_edges, edges);
    if (mass) atomicAdd(&block_mass, mass);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (block_largest) atomicMax(counters + 3, block_largest);  // no sign: ordered as integers
        if (block_first) atomicAdd(counters + 4, block_first);
        if (block_spread) atomicAdd(counters + 5, block_spread);
        if (block_untold) atomicAdd(counters + 6, block_untold);
        if (block_edges) atomicAdd(counters + 9, block_edges);
        if (block_mass) atomicAdd(counters + 10, block_mass);
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
