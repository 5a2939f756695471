// Tables of the biases of edges: greatest bias and sum of each row, prefix sums that begin anew in each row, and alias
// tables. Work is dealt out by edges, not by rows: a warp takes a tile of GD_TILE edges, 32 at a time, and sums them up
// to where rows begin (a segmented scan: Blelloch, Prefix sums and their applications, 1990). What a row has in earlier
// tiles is added from sums of tiles, which the second pass is given. Sums are of integers, so their order is free.
//
// Alias tables without a queue, after Huebschle-Schneider and Sanders, Parallel weighted random sampling (2022), Section
// 5: the table is defined by prefix sums of what light edges lack and heavy ones have too much, so that every edge finds
// its entry by a search. Twins, arguments and the definition of the table: biases.py.
#include "common/common.cuh"
#include "choice/pick.cuh"
#include "choice/biases_pack.py"

#define GD_TILE 1024
#define GD_STEPS (GD_TILE / 32)
#define GD_AHEAD 4
#define GD_WARPS 8
#define GD_EVERYONE 0xffffffffu

struct Rows {
    long long count;  // of rows that have edges
    const index_t *rows;
    const long long *starts;  // first edge of each, and the end of the last
    const index_t *firsts;    // for each tile the row of its first edge, as its place among `rows`
    long long edges;
};

// A warp's tile: of its edges those that begin a row are marked.
struct Tile {
    const Rows &r;
    unsigned *heads;
    long long begin, end, place;  // of the row of the edge before the next 32
    int lane;

    __device__ __forceinline__ Tile(const Rows &rows, unsigned *marks, long long tile) : r(rows), heads(marks) {
        lane = threadIdx.x & 31;
        begin = tile * GD_TILE;
        end = min(begin + GD_TILE, r.edges);
        place = r.firsts[tile];
        __syncwarp();
        for (int i = lane; i <= GD_STEPS; i += 32) heads[i] = 0;
        __syncwarp();
        // the end of the last row is marked too
        for (long long k = place + lane;; k += 32) {
            const long long start = k <= r.count ? r.starts[k] : r.edges + GD_TILE;
            if (start >= begin && start <= end) {
                const int at = (int)(start - begin);
                atomicOr(&heads[at >> 5], 1u << (at & 31));
            }
            if (__any_sync(GD_EVERYONE, start > end)) break;
        }
        __syncwarp();
        if (r.starts[place] == begin) place--;  // counted again at its mark
    }
};

// What a sum has of an edge: its units, or what it lacks to the mean of its row.
struct Term {
    const bias_t *values;
    const int *shifts;
    const gd_u64 *totals;
    bool shifted, lacks;

    __device__ __forceinline__ gd_u64 units(index_t row, long long e) const {
        return gd_units(values[e], shifted ? shifts[row] : 0);
    }
    __device__ __forceinline__ gd_u64 operator()(const Rows &r, long long place, long long e) const {
        const index_t row = shifted || lacks ? r.rows[place] : (index_t)0;
        const gd_u64 mine = units(row, e);
        if (!lacks) return mine;
        const gd_u64 mean = totals[row], weight = mine * (gd_u64)(r.starts[place + 1] - r.starts[place]);
        return weight < mean ? mean - weight : 0;
    }
};

// Positive doubles and floats are ordered like their bits.
__device__ __forceinline__ void gd_raise(int *address, int value) { atomicMax(address, value); }
__device__ __forceinline__ void gd_raise(long long *address, long long value) { atomicMax(address, value); }
__device__ __forceinline__ void gd_raise(float *address, float value) {
    atomicMax((int *)address, __float_as_int(value));
}
__device__ __forceinline__ void gd_raise(double *address, double value) {
    atomicMax((long long *)address, __double_as_longlong(value));
}

struct Add {
    __device__ __forceinline__ gd_u64 operator()(gd_u64 a, gd_u64 b) const { return a + b; }
};
struct Greater {
    __device__ __forceinline__ bias_t operator()(bias_t a, bias_t b) const { return a < b ? b : a; }
};

// act(e, place) for every edge of the tile.
template <class Act> __device__ __forceinline__ void gd_visit_tile(Tile &t, const Act &act) {
#pragma unroll 1
    for (long long e = t.begin + t.lane, step = 0; step < GD_STEPS; step++, e += 32) {
        const unsigned heads = t.heads[step];
        if (e < t.end) act(e, t.place + __popc(heads & (2u << t.lane) - 1));
        t.place += __popc(heads);
    }
}

// act(e, place, value, last, whole) for every edge of the tile, the value being what the edges from where the row, or the
// tile, begins up to e come to together, `carry` with those of the row that began before. `last` is set at the last edge
// of a row or of the tile, and `whole` if its row has no edge outside of the tile. All lanes call it together.
template <class T, class Of, class Join, class Act>
__device__ __forceinline__ void gd_scan_tile(Tile &t, T carry, const Of &of, const Join &join, const Act &act) {
    bool inside = false;  // the running row began in this tile
#pragma unroll 1
    for (int base = 0; base < GD_STEPS && t.begin + 32 * base < t.end; base += GD_AHEAD) {
        T values[GD_AHEAD];  // several on their way at a time
        long long place = t.place;
#pragma unroll
        for (int j = 0; j < GD_AHEAD; j++) {
            const unsigned heads = t.heads[base + j];
            const long long e = t.begin + 32 * (base + j) + t.lane;
            values[j] = e < t.end ? of(place + __popc(heads & (2u << t.lane) - 1), e) : (T)0;
            place += __popc(heads);
        }
#pragma unroll
        for (int j = 0; j < GD_AHEAD; j++) {
            const unsigned heads = t.heads[base + j], mine = heads & (2u << t.lane) - 1;
            const long long e = t.begin + 32 * (base + j) + t.lane;
            const int head = mine ? 31 - __clz((int)mine) : 0;
            T value = values[j];
            for (int by = 1; by < 32; by <<= 1) {
                const T below = __shfl_up_sync(GD_EVERYONE, value, by);
                if (t.lane - by >= head) value = join(below, value);
            }
            if (!mine) value = join(carry, value);
            const bool ends = (heads >> 1 | t.heads[base + j + 1] << 31) >> t.lane & 1;
            if (e < t.end) act(e, t.place + __popc(mine), value, ends || e + 1 == t.end, ends && (mine || inside));
            carry = __shfl_sync(GD_EVERYONE, value, 31);
            inside |= heads != 0;
            t.place += __popc(heads);
        }
    }
}

// n is 32 for each tile, here and below.
extern "C" __global__ void biases_greatest(long long n, long long count, const index_t *rows, const long long *starts,
                                           const index_t *firsts, long long edges, const bias_t *values,
                                           bias_t *greatest) {
    __shared__ unsigned heads[GD_WARPS * (GD_STEPS + 1)];
    const Rows r{count, rows, starts, firsts, edges};
    GD_FOR(i, n) {
        Tile tile(r, heads + (threadIdx.x >> 5) * (GD_STEPS + 1), i >> 5);
        gd_scan_tile(tile, (bias_t)0, [&](long long, long long e) { return values[e]; }, Greater(),
                     [&](long long, long long place, bias_t value, bool last, bool whole) {
                         if (!last) return;
                         if (whole) greatest[rows[place]] = value > (bias_t)0 ? value : (bias_t)0;
                         else if (value > (bias_t)0) gd_raise(greatest + rows[place], value);
                     });
    }
}

extern "C" __global__ void biases_sum(long long n, BiasSums a) {
    __shared__ unsigned heads[GD_WARPS * (GD_STEPS + 1)];
    const Rows r{a.count, a.rows, a.starts, a.firsts, a.edges};
    const Term term{a.values, a.shifts, a.totals, a.shifted != 0, a.lacks != 0};
    GD_FOR(i, n) {
        Tile tile(r, heads + (threadIdx.x >> 5) * (GD_STEPS + 1), i >> 5);
        gd_u64 all = 0;
        gd_scan_tile(tile, (gd_u64)0, [&](long long place, long long e) { return term(r, place, e); }, Add(),
                     [&](long long e, long long place, gd_u64 value, bool last, bool whole) {
                         if (!last) return;
                         all += value;
                         if (e + 1 == tile.end) a.tile_lasts[i >> 5] = value;
                         if (a.lacks) return;
                         if (whole) a.sums[a.rows[place]] = value;
                         else atomicAdd(a.sums + a.rows[place], value);
                     });
        for (int by = 16; by; by >>= 1) all += __shfl_xor_sync(GD_EVERYONE, all, by);
        if (tile.lane == 0) a.tile_sums[i >> 5] = all;
    }
}

extern "C" __global__ void biases_prefix(long long n, BiasSums a) {
    __shared__ unsigned heads[GD_WARPS * (GD_STEPS + 1)];
    const Rows r{a.count, a.rows, a.starts, a.firsts, a.edges};
    const Term term{a.values, a.shifts, a.totals, a.shifted != 0, a.lacks != 0};
    GD_FOR(i, n) {
        Tile tile(r, heads + (threadIdx.x >> 5) * (GD_STEPS + 1), i >> 5);
        gd_scan_tile(tile, a.carries[i >> 5], [&](long long place, long long e) { return term(r, place, e); }, Add(),
                     [&](long long e, long long, gd_u64 value, bool, bool) {
                         if (!a.sparse) a.prefix[e] = value;
                         else if (e % GD_SPARSE == GD_SPARSE - 1) a.prefix[e / GD_SPARSE] = value;
                     });
    }
}

// A row's prefix sums: of units, of what light edges lack, and so of what heavy ones have too much.
struct Row {
    const gd_u64 *prefix, *lacking;
    long long begin, end;
    gd_u64 mean, degree;

    __device__ __forceinline__ gd_u64 lacks(long long e) const { return lacking[e]; }
    __device__ __forceinline__ gd_u64 exceeds(long long e) const {
        return lacking[e] + degree * prefix[e] - (gd_u64)(e + 1 - begin) * mean;
    }
    // The first edge whose excess, with those before, is `amount` or more; if there is none, the end.
    __device__ __forceinline__ long long heavy(gd_u64 amount) const {
        long long low = begin, high = end;
        while (low < high) {
            const long long middle = (low + high) >> 1;
            if (exceeds(middle) >= amount) high = middle;
            else low = middle + 1;
        }
        return low;
    }
    // The first edge at which more than `amount` lacks.
    __device__ __forceinline__ long long light(gd_u64 amount) const {
        long long low = begin, high = end;
        while (low < high) {
            const long long middle = (low + high) >> 1;
            if (lacks(middle) > amount) high = middle;
            else low = middle + 1;
        }
        return low;
    }
};

extern "C" __global__ void biases_alias(long long n, BiasSums a) {
    __shared__ unsigned heads[GD_WARPS * (GD_STEPS + 1)];
    const Rows r{a.count, a.rows, a.starts, a.firsts, a.edges};
    const Term term{a.values, a.shifts, a.totals, a.shifted != 0, false};
    GD_FOR(i, n) {
        Tile tile(r, heads + (threadIdx.x >> 5) * (GD_STEPS + 1), i >> 5);
        gd_visit_tile(tile, [&](long long e, long long place) {
            const index_t v = a.rows[place];
            const long long begin = a.starts[place], end = a.starts[place + 1];
            const Row row{a.prefix, a.lacking, begin, end, a.totals[v], (gd_u64)(end - begin)};
            const gd_u64 weight = row.degree * term.units(v, e);
            gd_u64 kept = row.mean;
            long long from = e;
            if (weight < row.mean) {
                const gd_u64 before = row.lacks(e) - (row.mean - weight);
                kept = weight;
                from = row.heavy(before ? before : 1);
            } else if (weight > row.mean) {
                const gd_u64 excess = row.exceeds(e);
                const long long last = row.light(excess);
                if (last < end) {
                    kept = row.mean - (row.lacks(last) - excess);
                    from = row.heavy(excess + 1);
                }
            }
            a.share[e] = kept;
            a.other[e] = (int)(from - begin);
        });
    }
}
