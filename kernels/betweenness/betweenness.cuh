// What finds the next level of a search from many sources at once, and sums what its neighbours give: shared by kernels
// of one launch each (betweenness.cu) and by those of GPUs together (betweenness_team.cu). Arguments: betweenness.py.
//
// A warp takes up to 32 rows. The short ones are dealt to teams of its threads, a longer one has the whole warp, and
// what has more than `hub` edges is deferred. A vertex is looked up in the bitmap of the frontier, which stays
// in the cache, before its mask or its values are read. A sum has one order, which depends on the row alone.
// The file that includes this one includes betweenness_pack.py first.
#pragma once
#include "betweenness/frontier.cuh"

// Edges up to which several rows share a warp, and threads that such a row has at least.
#define BC_SHORT 32
#define BC_TEAM 8
#define BC_WARP 0xffffffffu

// The rows of a list that a warp takes, one a thread: so few at once that there is something for every warp.
struct Rows {
    int lane, at_once;
    long long first, step;

    __device__ __forceinline__ Rows(long long n) {
        const long long warps = (long long)gridDim.x * blockDim.x / 32;
        lane = threadIdx.x & 31;
        at_once = (int)min(32LL, (n + warps - 1) / warps);
        first = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32 * at_once;
        step = warps * at_once;
    }
};

// Who takes which of the warp's rows next: short ones (bits of `few`) teams of `small` threads, a longer one (a bit of
// `many`) all of them.
struct Deal {
    int size;  // threads of a team
    int row;   // of this thread's team, or -1
    int by;    // the first thread of the team that takes this thread's row, or -1

    __device__ __forceinline__ Deal(unsigned &few, unsigned &many, int small) {
        const int lane = threadIdx.x & 31;
        unsigned rest = few ? few : many;
        size = few ? small : 32;
        const int before = __popc(rest & ((1u << lane) - 1)) * size;
        by = (rest >> lane & 1u) && before < 32 ? before : -1;
        row = -1;
        for (int first = 0; first < 32; first += size) {
            if (first == (lane & -size)) row = __ffs((int)rest) - 1;
            rest &= rest - 1;
        }
        (few ? few : many) = rest;
    }
};

// For each team the lanes of `want` in which one of the edges first .. last leads into the frontier; some edges suffice
// where they have them all. All threads of the warp call it together.
__device__ __forceinline__ lanes_t bc_look(const Frontier &frontier, const index_t *indices, lanes_t want, long long first,
                                           long long last, int team, unsigned long long &edges) {
    const int t = threadIdx.x & (team - 1);
    lanes_t got = 0;
    index_t next = first + t < last ? indices[first + t] : 0;
    for (;;) {
        const bool looks = first < last && got != want;
        if (!__any_sync(BC_WARP, looks)) return got;
        const index_t u = next;
        if (looks && first + t + team < last) next = indices[first + t + team];
        lanes_t mine = looks && first + t < last ? frontier.of(u) & want : 0;
        if (looks && t == 0) edges += (unsigned long long)min((long long)team, last - first);
        if (__any_sync(BC_WARP, mine != 0)) {
            for (int step = team >> 1; step; step >>= 1) mine |= __shfl_xor_sync(BC_WARP, mine, step);
            got |= mine;
        }
        first += team;
    }
}

// The rows that look for the frontier, n of them.
struct Reach {
    long long n;
    const index_t *rows;
    const long long *indptr;
    const index_t *indices;
    const long long *out_indptr;
    Frontier look;  // without values
    mask_t *seen;
    index_t *queue;
    mask_t *masks;
    index_t *left;
    long long hub;
    index_t *hubs;
    LevelCounts *counters;

    __device__ __forceinline__ lanes_t wanted(index_t v) const { return look.lanes & ~(lanes_t)seen[v]; }
    __device__ __forceinline__ void find() const;
    __device__ __forceinline__ void find_hubs() const;
};

// What comes of those that a thread has scanned.
struct Reached {
    const Reach &to;
    unsigned long long edges, out_edges;
    lanes_t lanes;

    __device__ __forceinline__ void finish(index_t v, lanes_t want, lanes_t got) {
        if (got) {
            to.seen[v] = (mask_t)(to.seen[v] | got);
            edges += (unsigned long long)(to.indptr[v + 1] - to.indptr[v]);
            out_edges += (unsigned long long)(to.out_indptr[v + 1] - to.out_indptr[v]);
            lanes |= got;
            const long long at = gd_reserve(&to.counters->found);
            to.queue[at] = v;
            to.masks[at] = (mask_t)got;
        }
        if (got != want) to.left[gd_reserve(&to.counters->left)] = v;
    }
    __device__ __forceinline__ void count() const {
        gd_add(edges, &to.counters->edges);
        gd_add(out_edges, &to.counters->out_edges);
        lanes_t mine = lanes;
        for (int step = 16; step; step >>= 1) mine |= __shfl_xor_sync(BC_WARP, mine, step);
        if ((threadIdx.x & 31) == 0 && mine) atomicOr(&to.counters->lanes, (unsigned long long)mine);
    }
};

__device__ __forceinline__ void Reach::find() const {
    Reached reached{*this, 0, 0, 0};
    const Rows mine(n);
    for (long long base = mine.first; base < n; base += mine.step) {
        const bool valid = mine.lane < mine.at_once && base + mine.lane < n;
        const index_t v = valid ? rows[base + mine.lane] : 0;
        const long long first = valid ? indptr[v] : 0, last = valid ? indptr[v + 1] : 0;
        const long long degree = last - first;
        const lanes_t want = valid ? wanted(v) : 0;
        lanes_t got = 0;
        if (degree > hub) hubs[gd_reserve(&counters->hubs)] = v;
        __syncwarp();
        unsigned few = __ballot_sync(BC_WARP, degree > 0 && degree <= BC_SHORT && degree <= hub);
        unsigned many = __ballot_sync(BC_WARP, degree > BC_SHORT && degree <= hub);
        while (few | many) {
            const Deal deal(few, many, BC_TEAM);
            const int from = max(deal.row, 0);
            const lanes_t wanted = __shfl_sync(BC_WARP, want, from);
            const long long begin = __shfl_sync(BC_WARP, first, from), end = __shfl_sync(BC_WARP, last, from);
            const lanes_t found = bc_look(look, indices, wanted, begin, deal.row < 0 ? begin : end, deal.size,
                                          reached.edges);
            const lanes_t given = __shfl_sync(BC_WARP, found, max(deal.by, 0));
            if (deal.by >= 0) got = given;
        }
        if (valid && degree <= hub) reached.finish(v, want, got);
        __syncwarp();
    }
    reached.count();
}

// Edges of a hub that a thread scans before its block compares what it has found.
#define BC_AT_ONCE 4

// The deferred rows, a block each.
__device__ __forceinline__ void Reach::find_hubs() const {
    Reached reached{*this, 0, 0, 0};
    __shared__ unsigned long long together;
    const long long count = (long long)counters->hubs;
    for (long long h = blockIdx.x; h < count; h += gridDim.x) {
        const index_t v = hubs[h];
        const long long last = indptr[v + 1];
        const lanes_t want = wanted(v);
        lanes_t got = 0;
        if (threadIdx.x == 0) together = 0;
        __syncthreads();
        for (long long base = indptr[v]; base < last && got != want;
             base += BC_AT_ONCE * (long long)blockDim.x) {
            index_t u[BC_AT_ONCE];
            lanes_t mine = 0;
#pragma unroll
            for (int k = 0; k < BC_AT_ONCE; k++) {
                const long long e = base + k * (long long)blockDim.x + threadIdx.x;
                u[k] = e < last ? indices[e] : -1;
            }
#pragma unroll
            for (int k = 0; k < BC_AT_ONCE; k++) mine |= u[k] < 0 ? 0 : look.of(u[k]) & want;
            for (int step = 16; step; step >>= 1) mine |= __shfl_xor_sync(BC_WARP, mine, step);
            if ((threadIdx.x & 31) == 0 && (mine & ~got)) atomicOr(&together, (unsigned long long)mine);
            if (threadIdx.x == 0)
                reached.edges += (unsigned long long)min(BC_AT_ONCE * (long long)blockDim.x, last - base);
            __syncthreads();
            got = (lanes_t)together;
            __syncthreads();
        }
        if (threadIdx.x == 0) reached.finish(v, want, got);
        __syncthreads();
    }
    reached.count();
}

// The sums of columns b and b + 32, where a thread's place in its team is b modulo the width.
struct Sums {
    double low, high;

    __device__ __forceinline__ void write(double *row, lanes_t mask, const Columns &columns) const {
        if (mask & columns.low) row[columns.low_lane] = low;
        if (mask & columns.high) row[columns.high_lane] = high;
    }
    // And nothing in the lanes that have no column; `t` is the thread's place among `width`.
    __device__ __forceinline__ void finish(double *row, lanes_t mask, lanes_t shown, const Columns &columns, int t,
                                           int width, long long lanes) const {
        write(row, mask, columns);
        if (!(mask & ~shown)) return;
        for (int b = t; b < lanes; b += width)
            if ((mask & ~shown) >> b & 1) row[b] = 0.0;
    }
};

// For each team the sums over the edges first .. last of a row that begins at `begin`. The edges are read by the
// threads together; then a thread adds those values of lane b that stand in its group's places. A fixed tree adds up
// the groups, so the order is that of the places in the row. All threads of the warp call it together.
__device__ __forceinline__ Sums bc_sum(const Frontier &frontier, const index_t *indices, lanes_t mask, long long begin,
                                       long long first, long long last, int team, int width,
                                       const Columns &columns) {
    const int t = threadIdx.x & (team - 1), log = __popc(width - 1), b = t & (width - 1);
    const int group = t >> log, groups = team >> log;
    const int span = min(4 * groups, team);  // places that a step of four edges a group takes
    Sums sums{0, 0};
    double before = 0;  // added one round later, so that nobody waits for it
    index_t next = first + t < last ? indices[first + t] : 0;
    while (__any_sync(BC_WARP, first < last)) {
        const long long e = first + t;
        const index_t u = next;
        if (e + team < last) next = indices[e + team];
        lanes_t common = e < last ? frontier.of(u) & mask : 0;
        if (common && e > begin && indices[e - 1] == u) common = 0;  // of parallel edges one counts
        first += team;
        if (width == 1) {
            sums.low += before;
            before = common ? frontier.value[u] : 0.0;
            continue;
        }
        unsigned hits = __ballot_sync(BC_WARP, common != 0);
        for (int k = team; k < 32; k <<= 1) hits |= hits >> k;  // the low bits: places where any team has one
        for (int s = 0; s < width; s += 4) {
            if (!(hits >> s * groups & 0xffffffffu >> (32 - span))) continue;
            double low[4], high[4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const int place = ((s + k) * groups + group) & (team - 1);
                const index_t w = __shfl_sync(BC_WARP, u, place, team);
                lanes_t lanes_of_it = __shfl_sync(BC_WARP, common, place, team);
                if (s + k >= width) lanes_of_it = 0;
                const double *row = frontier.value + (long long)w * frontier.columns;
                low[k] = lanes_of_it & columns.low ? row[b] : 0.0;
                high[k] = lanes_of_it & columns.high ? row[b + 32] : 0.0;
            }
#pragma unroll
            for (int k = 0; k < 4; k++) {
                sums.low += low[k];
                sums.high += high[k];
            }
        }
    }
    sums.low += before;
    for (int k = width; k < team; k <<= 1) sums.low += __shfl_xor_sync(BC_WARP, sums.low, k);
    return sums;
}

// The rows, n of them, that sum what their neighbours in the frontier give.
struct Gather {
    long long n;
    const index_t *rows;
    const mask_t *masks;
    const long long *indptr;
    const index_t *indices;
    Frontier given;
    long long lanes;
    double *out;
    long long hub;
    index_t *chunks;
    double *partial;
    LevelCounts *counters;

    // `one` says that a single lane is shown: the same sums, with fewer registers.
    template <bool one> __device__ __forceinline__ void sum() const {
        __shared__ int lane_of[64];
        const int shown = bc_columns(given.lanes, lane_of), count = one ? 1 : shown;
        const int width = one ? 1 : bc_width(count), team = max(width, BC_TEAM);
        const Rows mine(n);
        const Columns columns(mine.lane & (width - 1), count, lane_of);
        for (long long base = mine.first; base < n; base += mine.step) {
            const long long i = base + mine.lane;
            const bool valid = mine.lane < mine.at_once && i < n;
            const index_t v = valid ? rows[i] : 0;
            const lanes_t mask = valid ? masks[i] : 0;
            const long long first = valid ? indptr[v] : 0, last = valid ? indptr[v + 1] : 0, degree = last - first;
            if (degree > hub) {
                const long long pieces = (degree + hub / 2 - 1) / (hub / 2);
                const long long at = (long long)atomicAdd(&counters->chunks, (unsigned long long)pieces);
                for (long long c = 0; c < pieces; c++) {
                    chunks[2 * (at + c)] = (index_t)i;
                    chunks[2 * (at + c) + 1] = (index_t)c;
                }
            }
            __syncwarp();
            unsigned few = __ballot_sync(BC_WARP, valid && degree <= BC_SHORT && degree <= hub);
            unsigned many = __ballot_sync(BC_WARP, degree > BC_SHORT && degree <= hub);
            while (few | many) {
                const Deal deal(few, many, team);
                const int from = max(deal.row, 0), t = mine.lane & (deal.size - 1);
                const index_t row = __shfl_sync(BC_WARP, v, from);
                const lanes_t wanted = __shfl_sync(BC_WARP, mask, from);
                const long long begin = __shfl_sync(BC_WARP, first, from), end = __shfl_sync(BC_WARP, last, from);
                const Sums sums = bc_sum(given, indices, wanted, begin, begin, deal.row < 0 ? begin : end, deal.size,
                                         width, columns);
                if (deal.row >= 0 && t < width)
                    sums.finish(out + (long long)row * lanes, wanted, given.lanes, columns, t, width, lanes);
            }
        }
    }
    // A warp sums a chunk of hub / 2 edges.
    __device__ __forceinline__ void sum_chunks() const {
        __shared__ int lane_of[64];
        const int count = bc_columns(given.lanes, lane_of), width = bc_width(count), lane = threadIdx.x & 31;
        const Columns columns(lane & (width - 1), count, lane_of);
        const long long warps = (long long)gridDim.x * blockDim.x / 32, size = hub / 2;
        const long long all = (long long)counters->chunks;
        for (long long c = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; c < all; c += warps) {
            const long long i = chunks[2 * c];
            const index_t v = rows[i];
            const long long begin = indptr[v], first = begin + chunks[2 * c + 1] * size;
            const lanes_t mask = masks[i];
            const Sums sums = bc_sum(given, indices, mask, begin, first, min(first + size, indptr[v + 1]), 32, width,
                                     columns);
            if (lane < width) sums.write(partial + c * lanes, mask, columns);
        }
    }
    // A warp adds up the chunks of a row: thread (group, lane) those of its group, then a tree the groups.
    __device__ __forceinline__ void add_chunks() const {
        __shared__ int lane_of[64];
        const int count = bc_columns(given.lanes, lane_of), width = bc_width(count), lane = threadIdx.x & 31;
        const Columns columns(lane & (width - 1), count, lane_of);
        const long long warps = (long long)gridDim.x * blockDim.x / 32, size = hub / 2;
        const long long all = (long long)counters->chunks;
        for (long long c = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; c < all; c += warps) {
            if (chunks[2 * c + 1] != 0) continue;
            const long long i = chunks[2 * c];
            const index_t v = rows[i];
            const lanes_t mask = masks[i];
            const long long of_row = (indptr[v + 1] - indptr[v] + size - 1) / size;
            Sums sums{0, 0};
            for (long long k = lane / width; k < of_row; k += 32 / width) {
                const double *row = partial + (c + k) * lanes;
                if (mask & columns.low) sums.low += row[columns.low_lane];
                if (mask & columns.high) sums.high += row[columns.high_lane];
            }
            for (int k = width; k < 32; k <<= 1) sums.low += __shfl_xor_sync(BC_WARP, sums.low, k);
            if (lane < width)
                sums.finish(out + (long long)v * lanes, mask, given.lanes, columns, lane, width, lanes);
        }
    }
};

// The rows come into the frontierier with their numbers of paths, a thread a vertex and column.
__device__ __forceinline__ void bc_put_paths(long long n, const index_t *rows, const mask_t *masks, const double *sigma,
                                             long long lanes, unsigned long long shown, unsigned int *bits,
                                             mask_t *frontier, double *value) {
    __shared__ int lane_of[64];
    const int count = bc_columns(shown, lane_of);
    GD_FOR(at, n * count) {
        const long long i = count == 1 ? at : at / count, c = at - i * count;
        const int b = lane_of[c];
        const index_t v = rows[i];
        const lanes_t mask = masks[i];
        if (c == 0) {
            gd_set_bit(bits, v);
            frontier[v] = (mask_t)mask;
        }
        value[(long long)v * count + c] = mask >> b & 1 ? sigma[(long long)v * lanes + b] : 0.0;
    }
}

// They score, and come into the frontier with what they give; a thread a vertex and two columns, whose dependencies are
// added in a tree.
__device__ __forceinline__ void bc_put_dependencies(long long n, const index_t *rows, const mask_t *masks,
                                                    const double *sigma, const double *delta, long long lanes,
                                                    unsigned long long shown, bool last, double *score,
                                                    unsigned int *bits, mask_t *frontier, double *value) {
    __shared__ int lane_of[64];
    const int count = bc_columns(shown, lane_of), width = bc_width(count), vertices = 32 / width;
    const int lane = threadIdx.x & 31, b = lane & (width - 1);
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    const long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (long long base = warp * vertices; base < n; base += warps * vertices) {
        const long long i = base + lane / width;
        const bool valid = i < n;
        const index_t v = valid ? rows[i] : 0;
        const lanes_t mask = valid ? masks[i] : 0;
        double total = 0;
        for (int c = b; valid && c < count; c += 32) {
            const long long at = (long long)v * lanes + lane_of[c], to = (long long)v * count + c;
            if (!(mask >> lane_of[c] & 1)) {
                value[to] = 0.0;
                continue;
            }
            const double paths = sigma[at], dependency = last ? 0.0 : __dmul_rn(paths, delta[at]);
            total = __dadd_rn(total, dependency);
            value[to] = __ddiv_rn(__dadd_rn(1.0, dependency), paths);
        }
        for (int k = width >> 1; k; k >>= 1) total = __dadd_rn(total, __shfl_xor_sync(BC_WARP, total, k));
        if (valid && b == 0) {
            gd_set_bit(bits, v);
            frontier[v] = (mask_t)mask;
            score[v] += total;
        }
    }
}
