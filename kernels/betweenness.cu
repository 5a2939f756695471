// Betweenness from up to 64 sources at once (lanes): owner-computes, without atomics on values, so that sums have one
// order. Twins and arguments: betweenness.py. Multi-source search with bit masks after Then et al., The more the merrier:
// efficient multi-source graph traversal (2014); accumulation after Brandes (2001).
#include "rows.cuh"

typedef unsigned long long mask_t;

// Edges that one warp sums before it leaves a row to a whole block.
#define BC_HUB 2048

extern "C" __global__ void bc_reach(long long n, const index_t *rows, const long long *indptr, const index_t *indices,
                                    const mask_t *front, mask_t full, mask_t *seen, mask_t *fresh, index_t *queue,
                                    index_t *left, unsigned long long *counters) {
    const int lane = threadIdx.x & 31;
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    unsigned long long edges = 0;
    for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += warps) {
        const index_t v = rows[i];
        const mask_t want = full & ~seen[v];
        mask_t got = 0;
        const long long first = indptr[v], last = indptr[v + 1];
        for (long long base = first; base < last && got != want; base += 32) {
            mask_t mine = base + lane < last ? front[indices[base + lane]] & want : 0;
            for (int step = 16; step; step >>= 1) mine |= __shfl_xor_sync(0xffffffffu, mine, step);
            got |= mine;
            edges += lane == 0 ? min(32LL, last - base) : 0;
        }
        if (lane == 0) {
            if (got) {
                fresh[v] = got;
                seen[v] |= got;
                queue[gd_reserve(counters)] = v;
            }
            if (got != want) left[gd_reserve(counters + 1)] = v;
        }
        __syncwarp();
    }
    if (lane == 0 && edges) atomicAdd(counters + 3, edges);
}

// The sums of lanes `lane` and `lane + 32` over the edges first, first + step, ... of a row that begins at `begin`.
struct Sums {
    double low, high;

    __device__ __forceinline__ Sums(const index_t *indices, const mask_t *front, const double *value, mask_t mask,
                                    long long lanes, long long begin, long long first, long long last, long long step)
        : low(0), high(0) {
        const int lane = threadIdx.x & 31;
        for (long long e = first; e < last; e += step) {
            const index_t u = indices[e];
            const mask_t common = front[u] & mask;
            if (!common || (e > begin && indices[e - 1] == u)) continue;
            const double *row = value + (long long)u * lanes;
            if (common >> lane & 1) low += row[lane];
            if (common >> (lane + 32) & 1) high += row[lane + 32];
        }
    }
};

__device__ __forceinline__ void bc_write(double *out, index_t v, mask_t mask, long long lanes, const Sums &sums) {
    const int lane = threadIdx.x & 31;
    if (mask >> lane & 1) out[(long long)v * lanes + lane] = sums.low;
    if (mask >> (lane + 32) & 1) out[(long long)v * lanes + lane + 32] = sums.high;
}

extern "C" __global__ void bc_gather(long long n, const index_t *rows, const mask_t *masks, const long long *indptr,
                                     const index_t *indices, const mask_t *front, const double *value, long long lanes,
                                     double *out, index_t *hubs, unsigned long long *counters) {
    const int lane = threadIdx.x & 31;
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    unsigned long long edges = 0;
    for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += warps) {
        const index_t v = rows[i];
        const long long first = indptr[v], last = indptr[v + 1];
        edges += last - first;
        if (last - first > BC_HUB) {
            if (lane == 0) hubs[gd_reserve(counters + 2)] = (index_t)i;
            __syncwarp();
            continue;
        }
        bc_write(out, v, masks[i], lanes, Sums(indices, front, value, masks[i], lanes, first, first, last, 1));
    }
    if (lane == 0 && edges) atomicAdd(counters + 3, edges);
}

extern "C" __global__ void bc_gather_hubs(long long n, const index_t *rows, const mask_t *masks,
                                          const long long *indptr, const index_t *indices, const mask_t *front,
                                          const double *value, long long lanes, double *out, const index_t *hubs,
                                          unsigned long long *counters) {
    __shared__ double low[GD_ROWS], high[GD_ROWS];
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (long long h = blockIdx.x; h < (long long)counters[2]; h += gridDim.x) {
        const long long i = hubs[h];
        const index_t v = rows[i];
        const long long begin = indptr[v], last = indptr[v + 1], share = (last - begin + warps - 1) / warps;
        const long long first = begin + warp * share;
        Sums sums(indices, front, value, masks[i], lanes, begin, first, min(first + share, last), 1);
        low[threadIdx.x] = sums.low;
        high[threadIdx.x] = sums.high;
        __syncthreads();
        if (warp == 0) {
            for (int w = 1; w < warps; w++) {
                sums.low += low[32 * w + threadIdx.x];
                sums.high += high[32 * w + threadIdx.x];
            }
            bc_write(out, v, masks[i], lanes, sums);
        }
        __syncthreads();
    }
}

extern "C" __global__ void bc_show_paths(long long n, const index_t *rows, const mask_t *masks, const double *sigma,
                                         long long lanes, mask_t *front, double *value) {
    const int lane = threadIdx.x & 31;
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += warps) {
        const index_t v = rows[i];
        const mask_t mask = masks[i];
        if (lane == 0) front[v] = mask;
        for (long long b = lane; b < lanes; b += 32)
            value[(long long)v * lanes + b] = mask >> b & 1 ? sigma[(long long)v * lanes + b] : 0.0;
    }
}

extern "C" __global__ void bc_show_dependencies(long long n, const index_t *rows, const mask_t *masks,
                                                const double *sigma, const double *delta, long long lanes,
                                                long long last, long long first, double *score, mask_t *front,
                                                double *value) {
    // a thread a vertex: its lanes are added in their order
    GD_FOR(i, n) {
        const index_t v = rows[i];
        const mask_t mask = masks[i];
        front[v] = mask;
        double total = 0;
        for (long long b = 0; b < lanes; b++) {
            const long long at = (long long)v * lanes + b;
            if (!(mask >> b & 1)) {
                value[at] = 0.0;
                continue;
            }
            const double dependency = last ? 0.0 : __dmul_rn(sigma[at], delta[at]);
            total = __dadd_rn(total, dependency);
            value[at] = __ddiv_rn(__dadd_rn(1.0, dependency), sigma[at]);
        }
        if (!first) score[v] += total;
    }
}

extern "C" __global__ void bc_clear(long long n, const index_t *slots, mask_t *front) { GD_FOR(i, n) front[slots[i]] = 0; }

extern "C" __global__ void bc_count(long long n, const mask_t *masks, unsigned long long *counters) {
    unsigned long long total = 0;
    GD_FOR(i, n) total += (unsigned long long)__popcll(masks[i]);
    for (int step = 16; step; step >>= 1) total += __shfl_down_sync(0xffffffffu, total, step);
    if ((threadIdx.x & 31) == 0 && total) atomicAdd(counters, total);
}
