// The minimum spanning forest of the edges of one partition, by Boruvka's rounds. Twins, rounds and arguments: forest.py.
//
// In the first round every vertex is a tree, so a row has all edges that leave it, and warps find the least of each row
// without an atomic for each edge. Later rounds work on a list. An edge offers itself to the trees of both ends, and
// reads first what they have, because an atomic that changes nothing takes longer than a read. Edges that join no trees
// any more stay on the list: a thread that reads two equal ends goes on. Of any two offers the lesser one stays, so the
// forest depends neither on the order of the list nor on that of the threads.
// After Fallin, Gonzalez, Seo and Burtscher, A high-performance MST implementation for GPUs (2023).
#include "common/ordered.cuh"
#include "common/rows.cuh"
#include "forest/forest_pack.py"

#define GD_NONE 0x7fffffffffffffffLL
#define GD_MANY 4    // edges that a thread has on their way at a time
#define GD_STEPS 32  // from parent to parent, before a slot waits for the next launch

__device__ __forceinline__ long long row_at(const Growing &a, long long edge) {
    return a.rows ? (long long)a.rows[edge] : a.wide_rows[edge];
}

__device__ __forceinline__ long long key_at(const Growing &a, long long edge) {
    if (a.ints) return a.ints[edge];
    if (a.longs) return a.longs[edge];
    if (a.floats) return gd_ordered(a.floats[edge]);
    if (a.doubles) return gd_ordered(a.doubles[edge]);
    return row_at(a, edge);
}

__device__ __forceinline__ long long packed(const Growing &a, long long row, long long index) {
    return a.rows ? row << 32 | index : index;
}

__device__ __forceinline__ long long index_of(const Growing &a, long long best) {
    return a.rows ? best & 0xffffffffLL : best;
}

// The row of the edge of a vertex, before there is a list.
__device__ __forceinline__ long long row_of_best(const Growing &a, long long best) {
    return a.rows ? best >> 32 : a.wide_rows[best];
}

__device__ __forceinline__ void lower(long long *address, long long value) {
    if (value < *(volatile long long *)address) gd_atomic_min(address, value);
}

// Make an edge the best one of a tree if its row is less; an index leads to an edge by `place`, or is one without it.
__device__ __forceinline__ void offer(const Growing &a, long long *best, long long row, long long index,
                                      const long long *place) {
    if (a.rows) return lower(best, row << 32 | index);
    long long seen = *(volatile long long *)best;
    while (seen == GD_NONE || row < a.wide_rows[place ? place[seen] : seen]) {
        const long long found = gd_atomic_cas(best, seen, index);
        if (found == seen) return;
        seen = found;
    }
}

// The least value of each row among the edges of a warp, which lie together, to the element of the row. All lanes call it.
__device__ __forceinline__ void lower_rows(long long *least, index_t row, long long value) {
    const unsigned all = 0xffffffffu;
    const int lane = threadIdx.x & 31;
    for (int step = 1; step < 32; step <<= 1) {
        const index_t before = __shfl_up_sync(all, row, step);
        const long long theirs = __shfl_up_sync(all, value, step);
        if (lane >= step && before == row && theirs < value) value = theirs;
    }
    const index_t next = __shfl_down_sync(all, row, 1);
    if ((lane == 31 || next != row) && value != GD_NONE) lower(least + row, value);
}

template <bool ties> struct Nearest : NoQueue {
    const Growing &a;

    __device__ __forceinline__ Nearest(const Growing &a) : a(a) {}
    __device__ __forceinline__ void operator()(const index_t *rows, const long long *edges) const {
        long long value[GD_MANY];
#pragma unroll
        for (int k = 0; k < GD_MANY; k++) {
            const long long e = edges[k];
            value[k] = GD_NONE;
            if (e < 0 || a.indices[e] == rows[k]) continue;
            if (ties) {
                if (key_at(a, e) != a.least[rows[k]]) continue;
                if (a.rows) value[k] = packed(a, a.rows[e], e);
                else offer(a, a.best + rows[k], a.wide_rows[e], e, nullptr);
            } else {
                value[k] = a.least ? key_at(a, e) : packed(a, a.rows[e], e);
            }
        }
        if (ties && !a.rows) return;
#pragma unroll
        for (int k = 0; k < GD_MANY; k++) lower_rows(!ties && a.least ? a.least : a.best, rows[k], value[k]);
    }
};
template <bool ties> struct gd_at_once<Nearest<ties>> { static constexpr int edges = GD_MANY, longest = GD_HUB; };

extern "C" __global__ void forest_nearest(long long n, Growing a) {
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges,
                 Nearest<false>(a));
}

extern "C" __global__ void forest_nearest_hubs(long long n, Growing a) {
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, Nearest<false>(a));
}

extern "C" __global__ void forest_nearest_ties(long long n, Growing a) {
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges,
                 Nearest<true>(a));
}

extern "C" __global__ void forest_nearest_ties_hubs(long long n, Growing a) {
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, Nearest<true>(a));
}

__device__ __forceinline__ void join(const Growing &a, long long root, index_t parent, index_t source, long long place,
                                     bool joins) {
    const unsigned long long at = gd_reserve_all(joins, &a.counters->joined);
    if (!joins) return;
    a.root[root] = parent;
    a.forest_source[at] = source;
    a.forest_place[at] = place;
}

extern "C" __global__ void forest_hook(long long n, Growing a) {
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long base = (long long)blockIdx.x * blockDim.x; base < n; base += threads) {  // warps stay together
        const long long v = base + threadIdx.x, best = v < n ? a.best[v] : GD_NONE;
        const long long e = index_of(a, best);
        bool joins = best != GD_NONE;
        index_t u = 0;
        if (joins) {
            u = a.indices[e];
            if (v < u && u < n) joins = row_of_best(a, a.best[u]) != row_of_best(a, best);
        }
        join(a, v, u, (index_t)v, e, joins);
    }
}

// Edges that a warp has found, by their rows and places; all lanes list them together.
struct Found {
    index_t rows[GD_ROWS / 32][GD_WARP_KEEPS + 32 * GD_MANY];
    long long edges[GD_ROWS / 32][GD_WARP_KEEPS + 32 * GD_MANY];
    int count[GD_ROWS / 32];

    __device__ __forceinline__ void open() {
        count[threadIdx.x >> 5] = 0;
        __syncwarp();
    }
    __device__ __forceinline__ void push(index_t row, long long edge) {
        const int warp = threadIdx.x >> 5, at = atomicAdd(count + warp, 1);
        rows[warp][at] = row;
        edges[warp][at] = edge;
    }
    __device__ __forceinline__ void flush(const Growing &a, bool all) {
        const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
        __syncwarp();
        const int held = *(volatile int *)(count + warp);
        __syncwarp();
        if (held < (all ? 1 : GD_WARP_KEEPS)) return;
        unsigned long long base = 0;
        if (lane == 0) {
            base = atomicAdd(&a.counters->listed, (unsigned long long)held);
            count[warp] = 0;
        }
        base = __shfl_sync(0xffffffffu, base, 0);
        for (int i = lane; i < held && (long long)base + i < a.capacity; i += 32) {
            const index_t row = rows[warp][i];
            const long long edge = edges[warp][i], at = (long long)base + i;
            a.one[at] = a.root[row];
            a.other[at] = a.root[a.indices[edge]];
            a.source[at] = row;
            a.place[at] = edge;
            if (a.keys) a.keys[at] = key_at(a, edge);
        }
        __syncwarp();
    }
};

struct Select {
    const Growing &a;
    Found &found;

    __device__ __forceinline__ void operator()(const index_t *rows, const long long *edges) const {
        index_t slot[GD_MANY], root[GD_MANY];
        bool listed[GD_MANY];
#pragma unroll
        for (int k = 0; k < GD_MANY; k++) {
            listed[k] = false;
            if (edges[k] < 0) continue;
            slot[k] = a.indices[edges[k]];
            if (slot[k] <= rows[k]) continue;
            const long long key = key_at(a, edges[k]);
            listed[k] = a.low <= key && key <= a.high;
        }
#pragma unroll
        for (int k = 0; k < GD_MANY; k++)
            if (listed[k]) root[k] = a.root[slot[k]];
#pragma unroll
        for (int k = 0; k < GD_MANY; k++)
            if (listed[k] && root[k] != a.root[rows[k]]) found.push(rows[k], edges[k]);
    }
    __device__ __forceinline__ void flush(bool all) const { found.flush(a, all); }
};
template <> struct gd_at_once<Select> { static constexpr int edges = GD_MANY, longest = GD_HUB; };

extern "C" __global__ void forest_select(long long n, Growing a) {
    __shared__ Found found;
    found.open();
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges,
                 Select{a, found});
}

extern "C" __global__ void forest_select_hubs(long long n, Growing a) {
    __shared__ Found found;
    found.open();
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, Select{a, found});
}

extern "C" __global__ void forest_least(long long n, Growing a) {
    unsigned long long live = 0;
    GD_FOR(i, n) {
        const index_t one_before = a.one[i], other_before = a.other[i];
        if (one_before == other_before) continue;
        const index_t one = a.root[one_before], other = a.root[other_before];
        if (one != one_before) a.one[i] = one;
        if (other != other_before) a.other[i] = other;
        if (one == other) continue;
        live++;
        const long long value = a.keys ? a.keys[i] : row_at(a, a.place[i]);
        if (a.least) {
            lower(a.least + one, value);
            lower(a.least + other, value);
        } else {
            lower(a.best + one, packed(a, value, i));
            lower(a.best + other, packed(a, value, i));
        }
    }
    gd_add(live, &a.counters->live);
}

extern "C" __global__ void forest_ties(long long n, Growing a) {
    GD_FOR(i, n) {
        const index_t one = a.one[i], other = a.other[i];
        if (one == other) continue;
        const long long place = a.place[i], key = a.keys ? a.keys[i] : row_at(a, place);
        const bool first = key == a.least[one], second = key == a.least[other];
        if (!first && !second) continue;
        const long long row = row_at(a, place);
        if (first) offer(a, a.best + one, row, i, a.place);
        if (second) offer(a, a.best + other, row, i, a.place);
    }
}

extern "C" __global__ void forest_join(long long n, Growing a) {
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long base = (long long)blockIdx.x * blockDim.x; base < n; base += threads) {  // warps stay together
        const long long r = base + threadIdx.x, best = r < n ? a.best[r] : GD_NONE;
        bool joins = best != GD_NONE;
        index_t beyond = 0, source = 0;
        long long place = 0;
        if (joins) {
            const long long i = index_of(a, best);
            beyond = a.one[i] == r ? a.other[i] : a.one[i];
            source = a.source[i];
            place = a.place[i];
            joins = beyond < r || a.best[beyond] != best;
        }
        join(a, r, beyond, source, place, joins);
    }
}

// A slot may read an older parent of another one, which is an ancestor too.
extern "C" __global__ void forest_flatten(long long n, Growing a) {
    GD_FOR(v, n) {
        a.best[v] = GD_NONE;
        if (a.least) a.least[v] = GD_NONE;
        const index_t first = *(volatile index_t *)(a.root + v);
        index_t at = first, next = *(volatile index_t *)(a.root + at);
        for (int step = 0; step < GD_STEPS && next != at; step++) {
            at = next;
            next = *(volatile index_t *)(a.root + at);
        }
        if (at != first) a.root[v] = at;
        if (next != at) a.counters->deep = 1;
    }
}
