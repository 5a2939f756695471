// Supersteps of a vertex program, with functions of the caller in them. Eight threads combine the messages along a row
// of up to GD_HUB edges; a block takes a longer one. Messages are added in the order of lanes.cuh, other ways to combine
// do not depend on the order, and what stands in lists has no order. Twins: program.py.
#include "common/common.cuh"
#include "common/bitmap.cuh"
#include "common/lanes.cuh"
#include "functions/user.cuh"
#include "program/exact.cuh"
#include "program/program_types.cuh"
#include "program/program_pack.py"
#include "program/program_length.cuh"
#include "program/program_default.cuh"
#include "program/program_aggregates.cuh"
#include "program/program_known.cuh"
#include "program/program_values.cuh"

#define GD_HUB 4096
#define GD_GROUPS 32  // of eight threads, in a block
#define GD_AT_ONCE 4  // edges of a thread, whose reads are on their way at the same time

// The message of one of eight neighbouring threads, for another one.
__device__ __forceinline__ Message gd_other(Message mine, int step, unsigned group) {
    constexpr int words = (int)(sizeof(Message) / sizeof(int));
    int word[words];
    memcpy(word, &mine, sizeof(Message));
#pragma unroll
    for (int i = 0; i < words; i++) word[i] = __shfl_xor_sync(group, word[i], step);
    memcpy(&mine, word, sizeof(Message));
    return mine;
}

// All eight threads get what they have together.
__device__ __forceinline__ Message gd_together(Message mine, unsigned group) {
    mine = merge(mine, gd_other(mine, 4, group));
    mine = merge(mine, gd_other(mine, 2, group));
    return merge(mine, gd_other(mine, 1, group));
}

// What came along the edges of a chunk to one of its eight lanes.
__device__ __forceinline__ Message gd_lane(index_t v, long long head, long long last, int lane, const Program &a,
                                           int &count) {
    Message held = nothing();
    const long long end = min(head + GD_CHUNK, last);
    for (long long e = head + lane; e < end; e += GD_AT_ONCE * GD_LANES) {
        index_t from[GD_AT_ONCE];
        bool sends[GD_AT_ONCE];
        Message sent[GD_AT_ONCE];
#pragma unroll
        for (int i = 0; i < GD_AT_ONCE; i++) {
            const long long at = e + i * GD_LANES;
            from[i] = at < end ? __ldg(a.indices + at) : (index_t)-1;
        }
#pragma unroll
        for (int i = 0; i < GD_AT_ONCE; i++)
            sends[i] = from[i] >= 0 && (a.everywhere || gd_constant_bit(a.active, from[i]));
#pragma unroll
        for (int i = 0; i < GD_AT_ONCE; i++)
            sends[i] = sends[i] && message(from[i], v, e + i * GD_LANES, a, sent[i]);
#pragma unroll
        for (int i = 0; i < GD_AT_ONCE; i++) {
            if (!sends[i]) continue;
            held = merge(held, sent[i]);
            count++;
        }
    }
    return held;
}

__device__ __forceinline__ int gd_sum_of(int count, unsigned group) {
    for (int step = 4; step; step >>= 1) count += __shfl_xor_sync(group, count, step);
    return count;
}

__device__ __forceinline__ void gd_keep(index_t v, Message held, int count, const Program &a) {
    if (a.merges) {
        held = merge(got(v, a), held);
        count += a.received[v];
    }
    put(v, held, a);
    a.received[v] = count;
}

extern "C" __global__ void program_begin(long long n, long long field, Program a) {
    GD_FOR(v, n) begin((index_t)v, field, a);
}

extern "C" __global__ void program_values(long long n, Program a) { gd_values(gd_length(n, a), a); }

extern "C" __global__ void program_gather(long long n, Program a) {
    const int lane = threadIdx.x % GD_LANES;
    const unsigned group = 0xffu << (threadIdx.x & 24);
    const long long groups = (long long)gridDim.x * blockDim.x / GD_LANES;
    for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / GD_LANES; i < n; i += groups) {
        const index_t v = a.listed ? a.listed[i] : (index_t)(i + a.first);
        const long long row = v - a.first, first = a.indptr[row], last = a.indptr[row + 1];
        if (last - first > GD_HUB) {
            if (lane == 0) a.hubs[gd_reserve(&a.counters->hubs)] = v;
            continue;
        }
        Message held = nothing();
        int count = 0, chunk = 0;
        for (long long head = first; head < last; head += GD_CHUNK, chunk++) {
            const Message whole = gd_together(gd_lane(v, head, last, lane, a, count), group);
            if (chunk % GD_LANES == lane) held = merge(held, whole);
        }
        held = gd_together(held, group);
        count = gd_sum_of(count, group);
        if (lane == 0) gd_keep(v, held, count, a);
    }
}

extern "C" __global__ void program_gather_hubs(long long n, Program a) {
    __shared__ Message of_chunk[GD_GROUPS];
    __shared__ int counts[GD_GROUPS];
    const int lane = threadIdx.x % GD_LANES, mine = threadIdx.x / GD_LANES;
    const unsigned group = 0xffu << (threadIdx.x & 24);
    for (long long h = blockIdx.x; h < (long long)a.counters->hubs; h += gridDim.x) {
        const index_t v = a.hubs[h];
        const long long row = v - a.first, first = a.indptr[row], last = a.indptr[row + 1];
        Message held = nothing();
        int count = 0;
        for (long long begin = first; begin < last; begin += GD_GROUPS * GD_CHUNK) {
            const long long head = begin + mine * GD_CHUNK;
            const Message whole = gd_together(gd_lane(v, head, last, lane, a, count), group);
            if (lane == 0) of_chunk[mine] = whole;
            __syncthreads();
            if (mine == 0)
                for (int c = lane; c < GD_GROUPS; c += GD_LANES) held = merge(held, of_chunk[c]);
            __syncthreads();
        }
        count = gd_sum_of(count, group);
        if (lane == 0) counts[mine] = count;
        __syncthreads();
        if (mine == 0) {
            held = gd_together(held, group);
            if (lane == 0) {
                for (int c = 1; c < GD_GROUPS; c++) count += counts[c];
                gd_keep(v, held, count, a);
            }
        }
        __syncthreads();
    }
}

extern "C" __global__ void program_apply(long long n, Program a) {
    __shared__ unsigned of_block;
    if (threadIdx.x == 0) of_block = 0;
    long long *const sums = gd_open_sums();
    const long long count = gd_length(n, a);
    unsigned changes = 0;
    GD_FOR(i, count) {
        const index_t v = a.listed ? a.listed[i] : (index_t)i;
        if ((!a.everyone && a.received[v] <= 0) || !apply(v, a, sums)) continue;
        if (a.everyone) changes++;
        else a.changed[gd_reserve(&a.counters->changed)] = v;
    }
    gd_close_sums(sums, a.sums);
    if (!a.everyone) return;
    __syncthreads();
    if (changes) atomicAdd(&of_block, changes);
    __syncthreads();
    if (threadIdx.x == 0 && of_block) atomicAdd(&a.counters->changed, (unsigned long long)of_block);
}

// The value of an aggregate from its words: an integer, or the bits of a float.
__device__ __forceinline__ long long gd_aggregate(int kind, const long long *words) {
    switch (kind) {
        case SUM: return __double_as_longlong(gd_exact_value(words));
        case COUNT: return words[0] + (words[1] << 32);
        case ANY: return words[0] + (words[1] << 32) > 0;
        case LEAST: return words[0];
        case MOST: return ~words[0];
        case LEAST_FLOAT: return __double_as_longlong(gd_of_ordered(words[0], gd_infinity()));
        default: return __double_as_longlong(gd_of_ordered(~words[0], -gd_infinity()));
    }
}

#define GD_KIND_BITS 4  // of the kind of an aggregate in a word

__device__ __forceinline__ int gd_kind(long long kinds, int k) {
    return (int)(kinds >> GD_KIND_BITS * k & ((1 << GD_KIND_BITS) - 1));
}

extern "C" __global__ void program_between(long long n, long long aggregates, long long functions, long long kinds,
                                           const long long *failures, long long *values, Program a) {
    if (blockIdx.x) return;
    for (int k = threadIdx.x; k < aggregates; k += blockDim.x)
        values[k] = gd_aggregate(gd_kind(kinds, k), a.sums + k * GD_BINS);
    __syncthreads();
    for (int i = threadIdx.x; i < aggregates * GD_BINS; i += blockDim.x)
        a.sums[i] = i % GD_BINS == 0 && gd_kind(kinds, i / GD_BINS) >= LEAST ? 0x7fffffffffffffffLL : 0;
    if (threadIdx.x) return;
    a.counters->changed = 0;
    for (int f = 0; !a.progress->failed && f < functions; f++) {
        if (!failures[f]) continue;
        a.progress->failed = f + 1;
        a.progress->failure = failures[f];
    }
}

// Write the values of the aggregates, and whether the run goes on after so many supersteps.
extern "C" __global__ void program_judge(long long n, long long superstep, Program a) {
    if (blockIdx.x) return;
    const bool checks = gd_know(a.sums, 1, a);
    if (threadIdx.x) return;
    a.progress->goes = !(host_looks((long long)a.counters->changed, superstep, a) || checks || gd_fails(a));
}

extern "C" __global__ void program_clear(long long n, Program a) {
    const Message none = nothing();
    const long long count = gd_length(n, a);
    GD_FOR(i, count) {
        const index_t v = a.listed[i];
        put(v, none, a);
        a.received[v] = 0;
        atomicAnd(a.marks + (v >> 5), ~(1u << (v & 31)));
    }
}
