// A superstep of a vertex program in which many vertices send, on one rank that has the whole undirected graph: every
// vertex combines what comes along its row and computes its new state at once. Edges stand in slices (slices.cu), and what
// vertices send in the order of those that are read most. Only ways to combine that do not depend on the order come here.
// Twins: program_pull.py.
#include "common/common.cuh"
#include "common/bitmap.cuh"
#include "common/grid.cuh"
#include "functions/user.cuh"
#include "pagerank/codes.cuh"
#include "program/exact.cuh"
#define GD_WEIGHT(a, e) gd_weight(__ldcs((a).weights + (e)), (a).unit)
#include "program/program_types.cuh"
#include "program/program_pack.py"
#include "program/program_default.cuh"
#include "program/program_aggregates.cuh"
#include "program/program_known.cuh"
#include "program/program_values.cuh"
#include "program/program_edges.cuh"
#include "program/program_buckets.cuh"

#define GD_LANES 8    // of a chunk
#define GD_PER_WARP 4  // chunks of a warp
#define GD_AT_ONCE 4  // edges of a thread, whose reads are on their way at the same time

struct Came {
    Message held;
    int count;

    __device__ __forceinline__ void add(const Message &sent, int more) {
        held = merge(held, sent);
        count += more;
    }
};

// What vertices send, in the order of places: those that are listed, those with a bit in `marks`, or all. The words of
// aggregates begin anew.
extern "C" __global__ void program_place(long long n, long long marked, Program a) {
    if (blockIdx.x == 0) gd_clear_sums(a);
    if (a.waits && blockIdx.x == 0 && threadIdx.x == 0) a.bucket[BUCKET_EDGES] += (double)a.indptr[a.owned];
    Extent extent;
    GD_FOR(i, n) {
        const index_t v = a.listed ? a.listed[i] : (index_t)i;
        if (marked && !gd_constant_bit(a.marks, v)) continue;
        const index_t at = a.place[v];
        if (a.row_ends) {
            if (!gd_value(v, a)) continue;
            const message0_t value = a.value0[v];
            a.placed_value[at] = value;
            if (a.extent) extent.add(gd_ordered(value));
        }
#define GD_FIELD(i) \
    if (a.placed##i) a.placed##i[at] = a.state##i[v];
        GD_FIELD(0) GD_FIELD(1) GD_FIELD(2) GD_FIELD(3) GD_FIELD(4) GD_FIELD(5) GD_FIELD(6) GD_FIELD(7)
#undef GD_FIELD
        if (!a.everywhere) gd_set_bit((unsigned *)a.active, at);
    }
    if (a.extent) extent.close(a.extent);
}

// The program, as functions that send see it: by place.
__device__ __forceinline__ Program gd_by_place(const Program &a) {
    Program from = a;
    from.state0 = a.placed0;
    from.state1 = a.placed1;
    from.state2 = a.placed2;
    from.state3 = a.placed3;
    from.state4 = a.placed4;
    from.state5 = a.placed5;
    from.state6 = a.placed6;
    from.state7 = a.placed7;
    from.value0 = a.placed_value;
    from.ids = a.placed_ids;
    from.out_degree = a.placed_out_degree;
    from.in_degree = a.placed_in_degree;
    from.sends = (unsigned *)a.active;
    return from;
}

// Whether no message changes any more what came.
struct Until {
    bool stops, uniform;  // the second: all messages are equal, so that the first one that comes is as good as all
    long long least, most;

    __device__ __forceinline__ explicit Until(const Program &a)
        : stops(!a.counts_messages), least(a.extent ? a.extent[0] : 0x8000000000000000LL),
          most(a.extent ? a.extent[1] : 0x7fffffffffffffffLL) {
        uniform = stops && least == most;
    }
    __device__ __forceinline__ bool operator()(const Came &came) const {
        return stops && came.count && settled(came.held, least, most);
    }
};

// What came along the entries k, k + 32, ... below end.
__device__ __forceinline__ Came gd_pull(long long k, long long end, const Program &a, const Program &from,
                                        const Until &until) {
    Came came{nothing(), 0};
#pragma unroll 1
    for (; k < end && !until(came); k += 32 * GD_AT_ONCE) {
        index_t at[GD_AT_ONCE];
        bool sends[GD_AT_ONCE];
        Message sent[GD_AT_ONCE];
#pragma unroll
        for (int i = 0; i < GD_AT_ONCE; i++) at[i] = k + 32 * i < end ? __ldcs(a.indices + k + 32 * i) : (index_t)-1;
#pragma unroll
        for (int i = 0; i < GD_AT_ONCE; i++) sends[i] = at[i] >= 0 && (a.everywhere || gd_constant_bit(a.active, at[i]));
        if (until.uniform) {
            index_t first = -1;
#pragma unroll
            for (int i = GD_AT_ONCE - 1; i >= 0; i--)
                if (sends[i]) first = at[i];
            if (first >= 0 && message(first, (index_t)0, k, from, sent[0])) came.add(sent[0], 1);
            continue;
        }
#pragma unroll
        for (int i = 0; i < GD_AT_ONCE; i++)
            sends[i] = sends[i] && message(at[i], (index_t)0, k + 32 * i, from, sent[i]);
#pragma unroll
        for (int i = 0; i < GD_AT_ONCE; i++)
            if (sends[i]) came.add(sent[i], 1);
    }
    return came;
}

// Neighbouring threads, `lanes` of them, get what they have together.
template <int lanes> __device__ __forceinline__ Came gd_together(Came mine) {
    constexpr int words = (int)(sizeof(Message) / sizeof(int));
#pragma unroll
    for (int step = lanes / 2; step; step >>= 1) {
        int word[words];
        memcpy(word, &mine.held, sizeof(Message));
#pragma unroll
        for (int i = 0; i < words; i++) word[i] = __shfl_xor_sync(0xffffffffu, word[i], step);
        Message other;
        memcpy(&other, word, sizeof(Message));
        mine.add(other, __shfl_xor_sync(0xffffffffu, mine.count, step));
    }
    return mine;
}

// Compute the state of a vertex if messages came to it; return along how many edges it sends next. All threads of a warp
// call it, with a vertex or without one.
__device__ __forceinline__ long long gd_renew(bool there, index_t v, const Came &came, const Program &a,
                                              long long *sums) {
    bool changed = false;
    if (there && came.count) {
        put(v, came.held, a);
        if (a.counts_messages) a.received[v] = came.count;
        changed = apply(v, a, sums) && (!a.waits || gd_near(v, a));
        put(v, nothing(), a);
        if (a.counts_messages) a.received[v] = 0;
    }
    const unsigned long long to = gd_reserve_all(changed, &a.counters->changed);
    if (!changed) return 0;
    a.changed[to] = v;
    gd_set_bit(a.marks, v);
    return a.indptr[v + 1] - a.indptr[v];
}

// Four chunks of a warp, eight lanes each: n is 32 for each slice.
extern "C" __global__ void program_pull_chunks(long long n, Program given) {
    const Program from = gd_by_place(given);
    Program a = given;
    a.failure = a.failure_to_apply;
    const Until until(a);
    const int lane = threadIdx.x % 32;
    long long *const sums = gd_open_sums();
    long long edges = 0;
    GD_FOR(t, n) {
        const long long slice = t / 32, chunk = slice * GD_PER_WARP + lane / GD_LANES;
        const Came came = gd_together<GD_LANES>(gd_pull(a.slices[slice] + lane, a.slices[slice + 1], a, from, until));
        const bool there = lane % GD_LANES == 0 && chunk < a.items;
        const index_t v = there ? a.targets[chunk] : (index_t)0;
        edges += gd_renew(there && v >= 0, v, came, a, sums);
        if (v >= 0) continue;
        a.parts[-1 - v] = (message0_t)came.held.v0;
        a.part_counts[-1 - v] = came.count;
    }
    gd_close_sums(sums, a.sums);
    gd_add_edges(edges, &a.progress->edges);
}

// A row of up to eight edges for each thread.
extern "C" __global__ void program_pull_rows(long long n, Program given) {
    const Program from = gd_by_place(given);
    Program a = given;
    a.failure = a.failure_to_apply;
    const Until until(a);
    long long *const sums = gd_open_sums();
    long long edges = 0;
    GD_FOR(row, n) {
        const Came came = gd_pull(a.slices[row / 32] + row % 32, a.slices[row / 32 + 1], a, from, until);
        const bool there = row < a.items;
        edges += gd_renew(there, there ? a.targets[row] : (index_t)0, came, a, sums);
    }
    gd_close_sums(sums, a.sums);
    gd_add_edges(edges, &a.progress->edges);
}

// Rows of several chunks, a warp each: n is 32 for each row.
extern "C" __global__ void program_pull_parts(long long n, Program given) {
    Program a = given;
    a.failure = a.failure_to_apply;
    long long *const sums = gd_open_sums();
    long long edges = 0;
    GD_FOR(t, n) {
        const long long row = t / 32, first = a.first_part[row], last = a.first_part[row + 1];
        const int lane = (int)(t % 32);
        Came came{nothing(), 0};
        for (long long k = first + lane; k < last; k += 32 * GD_AT_ONCE) {
            int count[GD_AT_ONCE];
            Message sent[GD_AT_ONCE];
#pragma unroll
            for (int i = 0; i < GD_AT_ONCE; i++) {
                count[i] = k + 32 * i < last ? a.part_counts[k + 32 * i] : 0;
                sent[i].v0 = a.parts[min(k + 32 * i, last - 1)];
            }
#pragma unroll
            for (int i = 0; i < GD_AT_ONCE; i++)
                if (count[i]) came.add(sent[i], count[i]);
        }
        edges += gd_renew(lane == 0, a.targets[row], gd_together<32>(came), a, sums);
    }
    gd_close_sums(sums, a.sums);
    gd_add_edges(edges, &a.progress->edges);
}
