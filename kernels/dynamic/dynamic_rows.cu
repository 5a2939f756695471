// Rewriting the rows that a batch changes: a warp or a block takes a row, and every thread finds by itself where what it
// holds goes, from the few entries of the batch that are of the row. Twins and arguments: dynamic_rows.py.
#include "common/common.cuh"
#include "dynamic/dynamic_rows_pack.py"

#define GD_EACH 8
#define GD_PIECE 4096  // 512 threads of GD_EACH entries

// The entries of the batch that are of a row: from `from` to `to` - 1.
struct Entries {
    const long long *place, *sums;
    long long from, to;
};

__device__ __forceinline__ long long gd_inserted(long long step) { return step & 0xffffffffll; }
__device__ __forceinline__ long long gd_deleted(long long step) { return step >> 32; }

// Where what a row holds goes: to where it is to be; to lower places, where deleted entries were before; to higher ones, where
// what is inserted is to be, the deleted entries being gone.
enum Way { ANY, LOWER, HIGHER };

// Of the entries from `low` to `high` - 1 the first one that does not stand before entry j of the row.
template <Way way>
__device__ __forceinline__ long long gd_before(const Entries &of, long long low, long long high, long long j) {
    const long long before = of.sums[of.from];
    while (low < high) {
        const long long middle = (low + high) >> 1;
        const bool stands = way == HIGHER ? of.place[middle] - gd_deleted(of.sums[middle] - before) <= j
                                        : of.place[middle] < j;
        if (stands) low = middle + 1;
        else high = middle;
    }
    return low;
}

#define GD_GONE (-2147483647 - 1)

// What a lane has read of a row: entries first + lane, + 32, ..., and by how many places each of them moves.
struct Held {
    long long first;
    entry_t entry[GD_EACH];
    int by[GD_EACH];
};

// A warp reads the entries of the row from `first` to `stop` - 1, 32 * GD_EACH at most, and finds where they go. Few entries
// of the batch are among them, most often none: those are looked for once.
template <Way way>
__device__ __forceinline__ void gd_read(const Entries &of, const entry_t *row, long long first, long long stop, int lane,
                                        Held &held) {
    held.first = first + lane;
#pragma unroll
    for (int e = 0; e < GD_EACH; e++) {
        const long long j = first + e * 32 + lane;
        held.by[e] = GD_GONE;
        if (j < stop) held.entry[e] = row[j];
    }
    if (first >= stop) return;
    const long long low = gd_before<way>(of, of.from, of.to, first);
    const long long high = gd_before<way>(of, low, of.to, way == HIGHER ? stop - 1 : stop);
    const long long before = of.sums[of.from];
#pragma unroll
    for (int e = 0; e < GD_EACH; e++) {
        const long long j = first + e * 32 + lane;
        if (j >= stop) continue;
        const long long less = gd_before<way>(of, low, high, j), so_far = of.sums[less];
        if (way == HIGHER) {
            held.by[e] = (int)gd_inserted(so_far - before);
            continue;
        }
        const long long up_to = gd_before<way>(of, less, high, j + 1), now = of.sums[up_to];
        if (gd_deleted(now - so_far)) continue;
        held.by[e] = (int)((way == ANY ? gd_inserted(now - before) : 0) - gd_deleted(so_far - before));
    }
}

__device__ __forceinline__ void gd_write(entry_t *row, const Held &held) {
#pragma unroll
    for (int e = 0; e < GD_EACH; e++)
        if (held.by[e] != GD_GONE) row[held.first + e * 32 + held.by[e]] = held.entry[e];
}

// Of the entries the first that is inserted, or deleted; there is one.
__device__ __forceinline__ long long gd_first(const Entries &of, bool deleted) {
    const long long before = of.sums[of.from];
    long long low = of.from, high = of.to - 1;
    while (low < high) {
        const long long middle = (low + high) >> 1, step = of.sums[middle + 1] - before;
        if ((deleted ? gd_deleted(step) : gd_inserted(step)) == 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

__device__ __forceinline__ void gd_insert(const Entries &of, const entry_t *values, entry_t *goes, int thread,
                                          int threads) {
    const long long before = of.sums[of.from];
    for (long long i = of.from + thread; i < of.to; i += threads) {
        const long long so_far = of.sums[i], step = so_far - before;
        if ((of.sums[i + 1] - so_far) & 1) goes[of.place[i] + gd_inserted(step) - gd_deleted(step)] = values[i];
    }
}

extern "C" __global__ void dynamic_rows_weigh(long long n, const long long *where, long long directed, const long long *order,
                                              const entry_t *weights, entry_t *values, entry_t *out_pool,
                                              entry_t *in_pool) {
    const long long half = n / 2;
    GD_FOR(i, n) {
        const bool backward = i >= half;
        if (where[i] >= 0) (backward && directed ? in_pool : out_pool)[where[i]] = weights[backward ? i - half : i];
        values[i] = weights[order[i] % half];
    }
}

// A row that changes, and where it is and goes.
struct Row {
    Entries of;
    long long v, begin, goes, size, after;
    bool inward;
};

// Whether what rows of a direction claimed fits its pool; else it waits for a larger one.
__device__ __forceinline__ bool gd_fits(bool inward, const BatchCounts *counters, long long out_used,
                                        long long out_size, long long in_used, long long in_size) {
    const unsigned long long *const claimed = inward ? &counters->in_claimed : &counters->out_claimed;
    return (inward ? in_used : out_used) + (long long)*claimed <= (inward ? in_size : out_size);
}

// What is planned for the row whose first entry is entry i; false where its direction waits for a larger pool.
__device__ __forceinline__ bool gd_row(long long n, long long i, const BatchCounts *counters,
                                       const long long *plan, const long long *place, const long long *sums,
                                       long long out_used, long long out_size, long long in_used, long long in_size,
                                       const long long *out_begin, const long long *out_length,
                                       const long long *in_begin, const long long *in_length, Row *row) {
    const bool inward = i >= (long long)counters->outward;
    if (!gd_fits(inward, counters, out_used, out_size, in_used, in_size)) return false;
    const long long v = plan[2 * n + i], to = plan[i], step = sums[to] - sums[i];
    row->of = Entries{place, sums, i, to};
    row->v = v;
    row->inward = inward;
    row->begin = (inward ? in_begin : out_begin)[v];
    row->goes = plan[n + i];
    row->size = (inward ? in_length : out_length)[v];
    row->after = row->size + gd_inserted(step) - gd_deleted(step);
    return true;
}

__device__ __forceinline__ void gd_commit(const Row &row, long long *out_begin, long long *out_length,
                                          long long *out_capacity, long long *in_begin, long long *in_length,
                                          long long *in_capacity) {
    (row.inward ? in_length : out_length)[row.v] = row.after;
    if (row.goes == row.begin) return;
    (row.inward ? in_begin : out_begin)[row.v] = row.goes;
    (row.inward ? in_capacity : out_capacity)[row.v] = row.after + row.after / 4 + 2;
}

template <bool of_block> __device__ __forceinline__ void gd_wait() {
    if (of_block) __syncthreads();
    else __syncwarp();
}

// A block, or a warp, rewrites a row: it reads what comes next before it writes, to where nobody reads any more.
template <bool of_block>
__device__ __forceinline__ void gd_rewrite(const Row &row, entry_t *pool, const entry_t *values) {
    const int lane = threadIdx.x & 31, thread = of_block ? (int)threadIdx.x : lane;
    const int threads = of_block ? (int)blockDim.x : 32;
    const long long tile = (long long)threads * GD_EACH, mine = (long long)(thread - lane) * GD_EACH;
    const entry_t *was = pool + row.begin;
    entry_t *goes = pool + row.goes;
    const long long step = row.of.sums[row.of.to] - row.of.sums[row.of.from];
    Held held, then;
    const long long base = goes == was ? row.of.place[row.of.from] : 0;  // what stands before stays
    if (row.size - base <= tile) {                                       // all of it is in registers
        gd_read<ANY>(row.of, was, base + mine, min(base + mine + 32 * GD_EACH, row.size), lane, held);
        gd_wait<of_block>();
        gd_write(goes, held);
    } else if (goes != was) {
        for (long long first = mine; first < row.size; first += tile) {
            gd_read<ANY>(row.of, was, first, min(first + 32 * GD_EACH, row.size), lane, held);
            gd_write(goes, held);
        }
    } else {
        if (gd_deleted(step)) {
            long long first = row.of.place[gd_first(row.of, true)] + mine;
            gd_read<LOWER>(row.of, was, first, min(first + 32 * GD_EACH, row.size), lane, held);
            for (; first - mine < row.size; first += tile) {
                const long long next = first + tile;
                gd_read<LOWER>(row.of, was, next, min(next + 32 * GD_EACH, row.size), lane, then);
                gd_wait<of_block>();
                gd_write(goes, held);
                held = then;
            }
            gd_wait<of_block>();
        }
        if (gd_inserted(step)) {
            const long long some = gd_first(row.of, false);
            const long long least = row.of.place[some] - gd_deleted(row.of.sums[some] - row.of.sums[row.of.from]);
            long long end = row.size - gd_deleted(step), first = max(end - tile, least) + mine;
            gd_read<HIGHER>(row.of, was, first, min(first + 32 * GD_EACH, end), lane, held);
            for (; end > least; end -= tile) {
                first = max(end - 2 * tile, least) + mine;
                gd_read<HIGHER>(row.of, was, first, min(first + 32 * GD_EACH, end - tile), lane, then);
                gd_wait<of_block>();
                gd_write(goes, held);
                held = then;
            }
        }
    }
    gd_insert(row.of, values, goes, thread, threads);
    gd_wait<of_block>();  // all have read where the row is
}

// Pieces of the longest rows, put together elsewhere, for dynamic_rows_settle to copy to where the rows were; what stands
// before the first entry of the batch stays. Then long rows, which a block takes, and the others, which a warp does.
extern "C" __global__ void __launch_bounds__(512, 2)
dynamic_rows_change(long long n, ChangedRows a) {
    const int lane = threadIdx.x & 31;
    const long long mine = (long long)(threadIdx.x - lane) * GD_EACH;
    const long long many = (long long)a.counters->pieces, high = (long long)a.counters->trailing, low = (long long)a.counters->leading;
    Row row;
    for (long long k = blockIdx.x; k < many; k += gridDim.x) {
        const long long i = a.pieces[4 * k], from = a.pieces[4 * k + 1];
        if (!gd_row(n, i, a.counters, a.plan, a.place, a.sums, a.out_used, a.out_size, a.in_used, a.in_size, a.out_begin, a.out_length,
                    a.in_begin, a.in_length, &row))
            continue;
        const long long stop = min(from + GD_PIECE, row.size), first = from + mine;
        entry_t *goes = a.made + a.pieces[4 * k + 2];
        if (stop > a.place[i]) {
            Held held;
            gd_read<ANY>(row.of, (row.inward ? a.in_pool : a.out_pool) + row.begin, first, min(first + 32 * GD_EACH, stop),
                         lane, held);
            gd_write(goes, held);
        }
        if (from == 0) gd_insert(row.of, a.values, goes, (int)threadIdx.x, (int)blockDim.x);
    }
    for (long long k = blockIdx.x; k < high; k += gridDim.x) {
        if (!gd_row(n, a.listed[n - 1 - k], a.counters, a.plan, a.place, a.sums, a.out_used, a.out_size, a.in_used, a.in_size, a.out_begin,
                    a.out_length, a.in_begin, a.in_length, &row))
            continue;
        gd_rewrite<true>(row, row.inward ? a.in_pool : a.out_pool, a.values);
        if (a.commits && threadIdx.x == 0) gd_commit(row, a.out_begin, a.out_length, a.out_capacity, a.in_begin, a.in_length, a.in_capacity);
    }
    for (long long k = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; k < low;
         k += ((long long)gridDim.x * blockDim.x) >> 5) {
        if (!gd_row(n, a.listed[k], a.counters, a.plan, a.place, a.sums, a.out_used, a.out_size, a.in_used, a.in_size, a.out_begin,
                    a.out_length, a.in_begin, a.in_length, &row))
            continue;
        gd_rewrite<false>(row, row.inward ? a.in_pool : a.out_pool, a.values);
        if (a.commits && lane == 0) gd_commit(row, a.out_begin, a.out_length, a.out_capacity, a.in_begin, a.in_length, a.in_capacity);
    }
}

extern "C" __global__ void __launch_bounds__(512)
dynamic_rows_settle(long long n, ChangedRows a) {
    const long long number = (long long)a.counters->pieces;
    for (long long k = blockIdx.x; k < number; k += gridDim.x) {
        const long long i = a.pieces[4 * k], from = a.pieces[4 * k + 1], after = a.pieces[4 * k + 3], v = a.plan[2 * n + i];
        const bool inward = i >= (long long)a.counters->outward;
        if (!gd_fits(inward, a.counters, a.out_used, a.out_size, a.in_used, a.in_size)) continue;
        entry_t *goes = (inward ? a.in_pool : a.out_pool) + (inward ? a.in_begin : a.out_begin)[v];
        const entry_t *there = a.made + a.pieces[4 * k + 2];
        const long long end = min(from + GD_PIECE, after);
        for (long long j = max(from, a.place[i]) + threadIdx.x; j < end; j += blockDim.x) goes[j] = there[j];
        if (a.commits && from == 0 && threadIdx.x == 0) (inward ? a.in_length : a.out_length)[v] = after;
    }
}

extern "C" __global__ void dynamic_rows_move(long long n, const long long *begin, const long long *length,
                                             const long long *target, const entry_t *pool, entry_t *out) {
    const int lane = threadIdx.x & 31;
    for (long long v = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; v < n;
         v += ((long long)gridDim.x * blockDim.x) >> 5) {
        const long long from = begin[v], to = target[v], size = length[v];
        for (long long k = lane; k < size; k += 32) out[to + k] = pool[from + k];
    }
}
