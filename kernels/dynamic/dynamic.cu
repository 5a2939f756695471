// Rows that change, and PageRank over a frontier of affected vertices: separate kernels for vertices of low and of high
// degree, after Sahu, Efficient GPU implementation of static and incrementally expanding DF-P PageRank (2024),
// Algorithms 3 to 5, but for lists of the affected vertices where the paper's kernels look at all. No rank is written by
// two threads. Twins and arguments: dynamic.py.
#include "common/common.cuh"
#include "common/lanes.cuh"
#include "common/place.cuh"
#include "dynamic/dynamic_pack.py"

#define GD_FEW 8
#define GD_HUB 4096
#define GD_MASS 1152921504606846976.0

__device__ __forceinline__ unsigned long long gd_warp_sum(unsigned long long value) {
    for (int step = 16; step; step >>= 1) value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

// How many are listed is read here, so that the host need not wait for it; n is the most that there may be.
__device__ __forceinline__ long long gd_listed(long long n, const unsigned long long *count) {
    const unsigned long long there = *count;
    return there < (unsigned long long)n ? (long long)there : n;
}

extern "C" __global__ void dynamic_find(long long n, const index_t *row, const index_t *column, const long long *begin,
                                        const long long *length, const index_t *indices, const index_t *names,
                                        long long *place, unsigned char *found) {
    GD_FOR(i, n) {
        const long long first = begin[row[i]], end = length[row[i]];
        const index_t wanted = column[i];
        const long long low = gd_place(indices, names, first, end, wanted);
        place[i] = low;
        found[i] = low < end && names[indices[first + low]] == wanted;
    }
}

// Of rows whether they hold the vertex itself, and 1 / their length, where one that does not is given it.
extern "C" __global__ void dynamic_degrees(long long n, const index_t *rows, const index_t *ids, const long long *begin,
                                           const long long *length, const index_t *indices, const index_t *names,
                                           double *inverse, unsigned char *loop) {
    GD_FOR(i, n) {
        const index_t v = rows[i], id = ids[v];
        const long long first = begin[v], end = length[v], low = gd_place(indices, names, first, end, id);
        const bool found = low < end && names[indices[first + low]] == id;
        loop[v] = found;
        inverse[v] = __ddiv_rn(1.0, (double)(end + !found));
    }
}

// What an iteration begins with: ranks, and the contributions of their vertices.
extern "C" __global__ void dynamic_begin(long long n, const double *before, const double *inverse, double *rank,
                                         double *x) {
    GD_FOR(v, n) {
        const double value = before[v];
        rank[v] = value;
        x[v] = __dmul_rn(value, inverse[v]);
    }
}

extern "C" __global__ void dynamic_flag(long long n, const index_t *rows, unsigned char *first, unsigned char *second) {
    GD_FOR(i, n) first[rows[i]] = second[rows[i]] = 1;
}

// A block reserves places for the vertices of a tile at once: where all are flagged, one counter for every warp would be
// what the kernel waits for.
extern "C" __global__ void dynamic_split(long long n, Flagged a) {
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
        if (v < n && a.flags[v] == 1) {
            flagged = true;
            degree = a.length[v];
            a.flags[v] = (unsigned char)a.becomes;
        }
        const bool is_low = flagged && degree <= a.most, is_high = flagged && degree > a.most;
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
            unsigned long long *const length = &a.counters->low + threadIdx.x;  // of `low`, or of `high`, which is next
            if (total) start[threadIdx.x] = atomicAdd(length, (unsigned long long)total);
        }
        __syncthreads();
        if (is_low) a.low[start[0] + listed[warp] + __popc(low_mask & below)] = (index_t)v;
        if (is_high) a.high[start[1] + listed[32 + warp] + __popc(high_mask & below)] = (index_t)v;
        edges += (unsigned long long)degree;
        __syncthreads();
    }
    edges = gd_warp_sum(edges);
    if (lane == 0 && edges) atomicAdd(&block_edges, edges);
    __syncthreads();
    if (threadIdx.x == 0 && block_edges) atomicAdd(&a.counters->edges, block_edges);
}

// This thread's share of the edges begin + lane, + 8, ... below end, `ahead` of them on their way at a time. An edge that
// is not there adds 0, which changes no bit of a sum that began with 0.
template <int ahead>
__device__ __forceinline__ double gd_lane_sum(const index_t *indices, const double *x, long long begin, long long end,
                                              int lane) {
    double sum = 0.0;
#pragma unroll 1
    for (long long e = begin + lane; e < end; e += ahead * GD_LANES) {
        index_t at[ahead];
        double value[ahead];
#pragma unroll
        for (int i = 0; i < ahead; i++) at[i] = e + i * GD_LANES < end ? __ldcs(indices + e + i * GD_LANES) : (index_t)-1;
#pragma unroll
        for (int i = 0; i < ahead; i++) value[i] = at[i] < 0 ? 0.0 : __ldg(x + at[i]);
#pragma unroll
        for (int i = 0; i < ahead; i++) sum = __dadd_rn(sum, value[i]);
    }
    return sum;
}

// Low rows have at most one chunk. A warp takes 32 of them: a thread each one of a few edges, and then eight threads
// each of the others, of which four are on their way at a time.
extern "C" __global__ void dynamic_sum(long long n, const unsigned long long *count, const index_t *listed,
                                       const long long *begin, const long long *length, const index_t *indices,
                                       const double *x, double *sums) {
    const unsigned all = 0xffffffffu;
    const int lane = threadIdx.x & 31, group = lane / GD_LANES;
    const long long end = gd_listed(n, count);
    for (long long base = (long long)blockIdx.x * blockDim.x + threadIdx.x - lane; base < end;
         base += (long long)gridDim.x * blockDim.x) {
        const bool there = base + lane < end;
        const index_t v = there ? listed[base + lane] : (index_t)0;
        const long long first = there ? begin[v] : 0;
        const int degree = there ? (int)length[v] : 0;
        if (there && degree <= GD_FEW) {
            index_t at[GD_LANES];
            double value[GD_LANES];
#pragma unroll
            for (int k = 0; k < GD_LANES; k++) at[k] = k < degree ? __ldcs(indices + first + k) : (index_t)-1;
#pragma unroll
            for (int k = 0; k < GD_LANES; k++) value[k] = at[k] < 0 ? 0.0 : __ldg(x + at[k]);
            sums[v] = gd_tree(value);
        }
        for (unsigned left = __ballot_sync(all, degree > GD_FEW); left;) {
            unsigned mine = left;
            for (int k = 0; k < group; k++) mine &= mine - 1;
            const int from = mine ? __ffs(mine) - 1 : 0;
            const long long row_begin = __shfl_sync(all, first, from);
            const int edges = __shfl_sync(all, degree, from);
            const index_t row = __shfl_sync(all, v, from);
            const long long row_end = mine ? row_begin + edges : row_begin;
            const double sum = gd_warp_tree(gd_lane_sum<4>(indices, x, row_begin, row_end, lane % GD_LANES));
            if (mine && lane % GD_LANES == 0) sums[row] = sum;
            for (int k = 0; k < 32 / GD_LANES; k++) left &= left - 1;
        }
    }
}

// A warp's sum of a row: its four groups of eight threads take a chunk each, so that a group has chunks that are dealt
// to two lanes, in turn. All threads get it.
__device__ __forceinline__ double gd_warp_row(const index_t *indices, const double *x, long long first, long long last,
                                              int lane) {
    double even = 0.0, odd = 0.0;
    bool turn = false;
    for (long long round = first; round < last; round += 32 / GD_LANES * GD_CHUNK, turn = !turn) {
        const long long from = round + (long long)(lane / GD_LANES) * GD_CHUNK;
        const double sum =
            gd_warp_tree(gd_lane_sum<4>(indices, x, from, min(from + GD_CHUNK, last), lane % GD_LANES));
        if (turn) odd = __dadd_rn(odd, sum);
        else even = __dadd_rn(even, sum);
    }
    const int group = (lane & 3) * GD_LANES;
    const double one = __shfl_sync(0xffffffffu, even, group), other = __shfl_sync(0xffffffffu, odd, group);
    return gd_warp_tree(lane & 4 ? other : one);
}

// A block looks at 256 high rows at a time. All of it takes those of more than GD_HUB edges, one after the other, by
// thirty-two groups of eight threads with a chunk each, whose sums the first eight threads add in the order of chunks;
// then a warp takes each of the others.
extern "C" __global__ void __launch_bounds__(256)
dynamic_sum_high(long long n, const unsigned long long *count, const index_t *listed, const long long *begin,
                 const long long *length, const index_t *indices, const double *x, double *sums) {
    __shared__ index_t rows[256];
    __shared__ int hubs, others;
    __shared__ double chunk[32];
    const int group = threadIdx.x / GD_LANES, lane = threadIdx.x % GD_LANES;
    const long long end = gd_listed(n, count);
    for (long long tile = blockIdx.x; tile < end; tile += 256 * (long long)gridDim.x) {
        if (threadIdx.x == 0) hubs = others = 0;
        __syncthreads();
        const long long i = tile + (long long)threadIdx.x * gridDim.x;
        if (i < end) {
            const index_t v = listed[i];
            if (length[v] > GD_HUB) rows[atomicAdd(&hubs, 1)] = v;
            else rows[255 - atomicAdd(&others, 1)] = v;
        }
        __syncthreads();
        for (int h = 0; h < hubs; h++) {
            const index_t v = rows[h];
            const long long first = begin[v], last = first + length[v];
            double dealt = 0.0;
            for (long long round = first; round < last; round += 32 * GD_CHUNK) {
                const long long from = round + (long long)group * GD_CHUNK;
                const double sum = gd_warp_tree(gd_lane_sum<8>(indices, x, from, min(from + GD_CHUNK, last), lane));
                if (lane == 0) chunk[group] = sum;
                __syncthreads();
                if (threadIdx.x < GD_LANES)
#pragma unroll
                    for (int k = 0; k < 32; k += GD_LANES) dealt = __dadd_rn(dealt, chunk[k + threadIdx.x]);
                __syncthreads();
            }
            if (threadIdx.x < 32) {
                const double sum = gd_warp_tree(dealt);
                if (threadIdx.x == 0) sums[v] = sum;
            }
        }
        for (int k = threadIdx.x / 32; k < others; k += 8) {
            const index_t v = rows[255 - k];
            const double sum = gd_warp_row(indices, x, begin[v], begin[v] + length[v], threadIdx.x % 32);
            if (threadIdx.x % 32 == 0) sums[v] = sum;
        }
        __syncthreads();
    }
}

// What a thread has to say of the vertices that it ranked.
struct Ranked {
    double largest;
    unsigned long long first, spread, unsent, edges, mass;
};

// Everything is read before anything is written, as in pagerank.cu, and what a method does not use is not there. Without
// a list of vertices no read waits for another.
template <bool closed, bool expands>
__device__ __forceinline__ Ranked rank_rows(long long n, const index_t *listed, const double *sums, const double *inverse,
                                            const unsigned char *loop, double base, double factor, double damping,
                                            long long prunes, double prune, double frontier, double scale,
                                            long long becomes, const long long *length, long long most, double *rank,
                                            double *x, unsigned char *affected, unsigned char *expand, unsigned char *visited,
                                            index_t *low, index_t *high, DynamicCounts *counters) {
    Ranked all{0.0, 0, 0, 0, 0, 0};
#pragma unroll 1
    GD_FOR(i, n) {
        const index_t v = listed ? listed[i] : (index_t)i;
        const double part = inverse[v], old = __dmul_rn(rank[v], factor), mine = __dmul_rn(x[v], factor);
        const double gathered = __dmul_rn(sums[v], factor);
        const bool has_loop = loop[v], seen = visited[v], marked = expands && expand[v];
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
        x[v] = __dmul_rn(now, part);
        if (!seen) {
            visited[v] = 1;
            all.first++;
        }
        if (!expands) continue;
        const double relative = __ddiv_rn(moved, fmax(now, old));
        if (prunes && relative <= prune) affected[v] = 0;
        if (marked) continue;
        if (relative > frontier) {
            expand[v] = (unsigned char)becomes;
            if (degree <= most) low[gd_reserve(&counters->mark_low)] = v;
            else high[gd_reserve(&counters->mark_high)] = v;
            all.edges += (unsigned long long)degree;
        } else {
            all.unsent += goes;
        }
    }
    return all;
}

extern "C" __global__ void dynamic_update(long long n, DynamicRanks a) {
    __shared__ unsigned long long block[6];
    if (threadIdx.x < 6) block[threadIdx.x] = 0;
    __syncthreads();
    const int way = (a.closed ? 2 : 0) + (a.expands ? 1 : 0);
    const long long end = gd_listed(n, a.count);
    Ranked all;
#define GD_WAY(number, C, E)                                                                                          \
    if (way == number)                                                                                                \
        all = rank_rows<C, E>(end, a.listed, a.sums, a.inverse, a.loop, a.base, a.factor, a.damping, a.prunes, a.prune, a.frontier, a.scale, \
                              a.becomes, a.length, a.most, a.rank, a.x, a.affected, a.expand, a.visited, a.low, a.high, a.counters);
    GD_WAY(0, false, false)
    GD_WAY(1, false, true)
    GD_WAY(2, true, false)
    GD_WAY(3, true, true)
#undef GD_WAY
    __syncwarp();  // lanes that list vertices have a mask of their own
    double largest = all.largest;
    for (int step = 16; step; step >>= 1) largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, step));
    const unsigned long long sums_of_warp[5] = {gd_warp_sum(all.first), gd_warp_sum(all.spread),
                                                gd_warp_sum(all.unsent), gd_warp_sum(all.edges),
                                                gd_warp_sum(all.mass)};
    if ((threadIdx.x & 31) == 0) {
        if (largest > 0.0) atomicMax(block, (unsigned long long)__double_as_longlong(largest));
#pragma unroll
        for (int k = 0; k < 5; k++)
            if (sums_of_warp[k]) atomicAdd(block + 1 + k, sums_of_warp[k]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        if (block[0]) atomicMax(&a.counters->largest, block[0]);  // no sign: ordered as integers
        if (block[1]) atomicAdd(&a.counters->first, block[1]);
        if (block[2]) atomicAdd(&a.counters->spread, block[2]);
        if (block[3]) atomicAdd(&a.counters->unsent, block[3]);
        if (block[4]) atomicAdd(&a.counters->mark_edges, block[4]);
        if (block[5]) atomicAdd(&a.counters->mass, block[5]);
    }
}

// Whether all vertices are to be ranked once more, as the host is going to say of the same counts: rows are summed
// meanwhile, and need not be where this was the last time. With the error of rank_error.py, or the largest change.
extern "C" __global__ void dynamic_judge(long long n, double goal, long long by_error, DynamicRanks a) {
    if (blockIdx.x || threadIdx.x) return;
    double now = __longlong_as_double((long long)a.counters->largest);
    if (by_error) {
        const unsigned long long spread = a.counters->spread, unsent = a.counters->unsent;
        const double left = __dmul_rn(a.damping, __ddiv_rn((double)unsent, a.scale));
        const double reported = __dmul_rn(a.damping, __ddiv_rn((double)(spread - unsent), a.scale));
        now = __ddiv_rn(__dadd_rn(left, reported), __dadd_rn(1.0, -a.damping));
    }
    a.counters->goes = now <= goal ? 0 : ~0ull;
}

#define GD_FLAGS 8        // edges of a thread that are on their way at a time
#define GD_PIECE 4096     // of a long row, which a block takes
#define GD_PIECE_BITS 13  // for 0 to 4096

// Set the flags of these, -1 for none. Most are set already, and one that is not is set by whoever sees so.
__device__ __forceinline__ void gd_flag(unsigned char *flags, const index_t *at) {
    bool set[GD_FLAGS];
#pragma unroll
    for (int i = 0; i < GD_FLAGS; i++) set[i] = at[i] < 0 || flags[at[i]];
#pragma unroll
    for (int i = 0; i < GD_FLAGS; i++)
        if (!set[i]) flags[at[i]] = 1;
}

// A block sets those of the edges from `first` to `last` - 1.
__device__ __forceinline__ void gd_flag_edges(const index_t *indices, unsigned char *flags, long long first,
                                              long long last) {
    for (long long from = first + threadIdx.x; from < last; from += GD_FLAGS * (long long)blockDim.x) {
        index_t at[GD_FLAGS];
#pragma unroll
        for (int i = 0; i < GD_FLAGS; i++) {
            const long long e = from + i * (long long)blockDim.x;
            at[i] = e < last ? __ldcs(indices + e) : (index_t)-1;
        }
        gd_flag(flags, at);
    }
}

// A warp takes 32 rows, and its threads share the edges of all.
extern "C" __global__ void dynamic_mark(long long n, const unsigned long long *count, const index_t *listed,
                                        const long long *begin, const long long *length, const index_t *indices,
                                        unsigned char *flags) {
    const unsigned all = 0xffffffffu;
    const long long end = gd_listed(n, count);
    const int lane = threadIdx.x & 31;
    for (long long base = (long long)blockIdx.x * blockDim.x + threadIdx.x - lane; base < end;
         base += (long long)gridDim.x * blockDim.x) {
        const bool there = base + lane < end;
        const index_t v = there ? listed[base + lane] : (index_t)0;
        const long long first = there ? begin[v] : 0, edges = there ? length[v] : 0;
        long long until = edges;
        for (int step = 1; step < 32; step <<= 1) {
            const long long before = __shfl_up_sync(all, until, step);
            if (lane >= step) until += before;
        }
        const long long total = __shfl_sync(all, until, 31), since = until - edges;
        for (long long round = 0; round < total; round += 32 * GD_FLAGS) {
            index_t at[GD_FLAGS];
#pragma unroll
            for (int i = 0; i < GD_FLAGS; i++) {
                const long long e = round + i * 32 + lane;
                int row = 0;
                for (int step = 16; step; step >>= 1) {
                    const long long starts = __shfl_sync(all, since, row + step);
                    if (starts <= e) row += step;
                }
                const long long place = __shfl_sync(all, first, row) + e - __shfl_sync(all, since, row);
                at[i] = e < total ? indices[place] : (index_t)-1;
            }
            gd_flag(flags, at);
        }
    }
}

// A block takes the first piece of a row, and lists the others.
extern "C" __global__ void dynamic_mark_high(long long n, const unsigned long long *count, const index_t *listed,
                                             const long long *begin, const long long *length, const index_t *indices,
                                             unsigned char *flags, long long *pieces, unsigned long long *number) {
    __shared__ unsigned long long base;
    const long long end = gd_listed(n, count);
    for (long long i = blockIdx.x; i < end; i += gridDim.x) {
        const index_t v = listed[i];
        const long long first = begin[v], edges = length[v], more = (edges - 1) / GD_PIECE;
        if (more > 0) {
            if (threadIdx.x == 0) base = atomicAdd(number, (unsigned long long)more);
            __syncthreads();
            for (long long k = threadIdx.x; k < more; k += blockDim.x) {
                const long long from = (k + 1) * GD_PIECE;
                pieces[base + k] = ((first + from) << GD_PIECE_BITS) + min(edges - from, (long long)GD_PIECE);
            }
            __syncthreads();
        }
        gd_flag_edges(indices, flags, first, first + min(edges, (long long)GD_PIECE));
    }
}

extern "C" __global__ void dynamic_mark_pieces(long long n, const unsigned long long *number, const long long *pieces,
                                               const index_t *indices, unsigned char *flags) {
    const long long end = gd_listed(n, number);
    for (long long i = blockIdx.x; i < end; i += gridDim.x) {
        const long long first = pieces[i] >> GD_PIECE_BITS;
        gd_flag_edges(indices, flags, first, first + (pieces[i] & ((1 << GD_PIECE_BITS) - 1)));
    }
}
