// The most frequent label among the neighbours of each row. A warp compares the labels of a short row all with all, and
// counts those of a middle one in a hash table in shared memory. A block does so for a chunk of a long row; if that has
// several chunks, it adds its counts to a table of the row in global memory. Equal labels of a warp are added up before
// they go to a table, or all would wait at one label once most agree. Where a label stands in a table depends on who
// comes first; which one is picked does not. Twins: label_propagation.py.
#include "common/rows.cuh"
#include "label_propagation/label_propagation_pack.py"

#define ALL_LANES 0xffffffffu
#define MIDDLE 256
#define CHUNK 2048
#define AT_ONCE 4  // labels that a thread reads together

constexpr int WARPS = GD_ROWS / 32;
constexpr int PLACES_OF_WARP = sizeof(index_t) == 4 ? 512 : 384;  // more than MIDDLE
constexpr int PLACES = WARPS * PLACES_OF_WARP;                    // more than CHUNK

struct Tables {
    index_t keys[PLACES];
    unsigned counts[PLACES];
    index_t labels[WARPS];
    unsigned times[WARPS];
};

__device__ __forceinline__ long long degree(const Labels &a, index_t row) {
    const long long out = a.indptr[row + 1] - a.indptr[row];
    return a.both ? out + a.in_indptr[row + 1] - a.in_indptr[row] : out;
}

// The neighbours of a row: those that out-edges lead to, then those that in-edges come from.
struct Neighbours {
    const index_t *out, *in;
    long long outs;

    __device__ __forceinline__ Neighbours(const Labels &a, index_t row)
        : out(a.indices + a.indptr[row]), in(a.both ? a.in_indices + a.in_indptr[row] : a.indices),
          outs(a.indptr[row + 1] - a.indptr[row]) {}
    __device__ __forceinline__ index_t operator[](long long i) const { return i < outs ? out[i] : in[i - outs]; }
};

__device__ __forceinline__ void better(unsigned &count, index_t &label, unsigned other, index_t its) {
    if (other > count || (other == count && its < label)) {
        count = other;
        label = its;
    }
}

// The best of a warp, for all its lanes.
__device__ __forceinline__ void best_of_warp(unsigned &count, index_t &label) {
    for (int step = 16; step; step >>= 1) {
        const unsigned other = __shfl_xor_sync(ALL_LANES, count, step);
        better(count, label, other, (index_t)__shfl_xor_sync(ALL_LANES, label, step));
    }
}

// The best of a block, for its first thread. All threads call it.
__device__ __forceinline__ void best_of_block(unsigned &count, index_t &label, Tables &tables) {
    const int t = threadIdx.x;
    best_of_warp(count, label);
    if ((t & 31) == 0) {
        tables.labels[t >> 5] = label;
        tables.times[t >> 5] = count;
    }
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < WARPS; w++) better(count, label, tables.times[w], tables.labels[w]);
    }
}

__device__ __forceinline__ void add(index_t label, unsigned times, long long size, index_t *keys, unsigned *counts) {
    const unsigned mixed = (unsigned)((unsigned long long)(label ^ (label >> 31)) * 2654435761ULL);
    long long place = (long long)(((unsigned long long)mixed * (unsigned long long)size) >> 32);
    while (true) {
        index_t seen = *(volatile index_t *)(keys + place);
        if (seen == -1) {
            seen = gd_atomic_cas(keys + place, (index_t)-1, label);
            if (seen == -1) seen = label;
        }
        if (seen == label) break;
        if (++place == size) place = 0;
    }
    atomicAdd(counts + place, times);
}

// Count the labels of neighbours begin to end - 1 of a row in a table in shared memory, which is cleared before. This
// thread is number `first` of `step` that do so, and whole warps are.
__device__ __forceinline__ void count_in(const Labels &a, index_t row, long long begin, long long end, int first,
                                         int step, int size, index_t *keys, unsigned *counts) {
    const int lane = threadIdx.x & 31;
    const Neighbours neighbours(a, row);
    for (long long base = begin + first - lane; base < end; base += AT_ONCE * step) {
        index_t mine[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            const long long i = base + k * step + lane;
            mine[k] = i < end ? a.label[neighbours[i]] : (index_t)-1;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            if (base + k * step >= end) break;
            const unsigned same = __match_any_sync(ALL_LANES, mine[k]);
            if (mine[k] >= 0 && lane == __ffs(same) - 1) add(mine[k], __popc(same), size, keys, counts);
        }
    }
}

// What is best in a table that warps or a block has filled.
__device__ __forceinline__ void best_in(const index_t *keys, const unsigned *counts, int size, int first, int step,
                                        unsigned &count, index_t &label) {
    count = 0;
    label = -1;
    for (int place = first; place < size; place += step) better(count, label, counts[place], keys[place]);
}

__device__ __forceinline__ void clear(index_t *keys, unsigned *counts, int size, int first, int step) {
    for (int place = first; place < size; place += step) {
        keys[place] = -1;
        counts[place] = 0;
    }
}

// The long row, one of first to last - 1, whose chunk c is.
__device__ __forceinline__ long long row_of_chunk(const Labels &a, long long first, long long last, long long c) {
    if (a.chunks[last] - a.chunks[first] == last - first) return first + c - a.chunks[first];  // one for each
    long long low = first, high = last - 1;
    while (low < high) {
        const long long middle = (low + high) >> 1;
        if (a.chunks[middle + 1] <= c) low = middle + 1;
        else high = middle;
    }
    return low;
}

struct Due : NoQueue {
    const Labels &a;
    const index_t *indices;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        if (a.moved[indices[edge]]) a.due[row] = 1;  // all write the same
    }
};

struct Mark : NoQueue {
    const Labels &a;
    const index_t *indices;

    __device__ __forceinline__ void operator()(index_t, long long edge) const { a.due[indices[edge]] = 1; }
};

extern "C" __global__ void labels_due(long long n, const long long *indptr, const index_t *indices, Labels a) {
    gd_for_edges(n, (const index_t *)nullptr, indptr, a.hubs, &a.counters->hubs, &a.counters->edges, Due{{}, a, indices});
}

extern "C" __global__ void labels_due_hubs(long long n, const long long *indptr, const index_t *indices, Labels a) {
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, indptr, Due{{}, a, indices});
}

extern "C" __global__ void labels_mark(long long n, const long long *indptr, const index_t *indices, Labels a) {
    gd_for_edges(n, (const index_t *)a.changed, indptr, a.hubs, &a.counters->hubs, &a.counters->edges,
                 Mark{{}, a, indices});
}

extern "C" __global__ void labels_mark_hubs(long long n, const long long *indptr, const index_t *indices, Labels a) {
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, indptr, Mark{{}, a, indices});
}

extern "C" __global__ void labels_of_short(long long n, Labels a) {
    const int lane = threadIdx.x & 31;
    const long long warps = ((long long)gridDim.x * blockDim.x) >> 5;
    for (long long r = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; r < n >> 5; r += warps) {
        const index_t row = a.short_rows[r];
        if (!a.due[row]) continue;
        const bool has = lane < degree(a, row);
        index_t mine = has ? a.label[Neighbours(a, row)[lane]] : (index_t)-1;
        const unsigned same = __match_any_sync(ALL_LANES, mine);
        unsigned count = has ? __popc(same) : 0;
        best_of_warp(count, mine);
        if (lane == 0) a.fresh[row] = mine;
    }
}

extern "C" __global__ void labels_of_middle(long long n, Labels a) {
    __shared__ Tables tables;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    index_t *const keys = tables.keys + warp * PLACES_OF_WARP;
    unsigned *const counts = tables.counts + warp * PLACES_OF_WARP;
    const long long warps = ((long long)gridDim.x * blockDim.x) >> 5;
    for (long long r = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; r < n >> 5; r += warps) {
        const index_t row = a.middle_rows[r];
        if (!a.due[row]) continue;
        const long long length = degree(a, row);
        const int size = (int)min(2 * length, (long long)PLACES_OF_WARP);
        clear(keys, counts, size, lane, 32);
        __syncwarp();
        count_in(a, row, 0, length, lane, 32, size, keys, counts);
        __syncwarp();
        unsigned count;
        index_t label;
        best_in(keys, counts, size, lane, 32, count, label);
        best_of_warp(count, label);
        if (lane == 0) a.fresh[row] = label;
        __syncwarp();
    }
}

extern "C" __global__ void labels_count(long long n, long long first, long long last, Labels a) {
    __shared__ Tables tables;
    const int t = threadIdx.x;
    for (long long c = a.chunks[first] + blockIdx.x; c < a.chunks[last]; c += gridDim.x) {
        const long long r = row_of_chunk(a, first, last, c);
        const index_t row = a.long_rows[r];
        if (!a.due[row]) continue;
        const long long begin = (c - a.chunks[r]) * CHUNK, end = min(begin + CHUNK, degree(a, row));
        const int size = (int)min(2 * (end - begin), (long long)PLACES);
        clear(tables.keys, tables.counts, size, t, GD_ROWS);
        __syncthreads();
        count_in(a, row, begin, end, t, GD_ROWS, size, tables.keys, tables.counts);
        __syncthreads();
        if (a.chunks[r + 1] - a.chunks[r] == 1) {
            unsigned count;
            index_t label;
            best_in(tables.keys, tables.counts, size, t, GD_ROWS, count, label);
            best_of_block(count, label, tables);
            if (t == 0) a.fresh[row] = label;
        } else {
            const long long base = a.start[r] - a.start[first], places = a.start[r + 1] - a.start[r];
            for (int place = t; place < size; place += GD_ROWS) {
                if (tables.keys[place] >= 0)
                    add(tables.keys[place], tables.counts[place], places, a.keys + base, a.counts + base);
            }
        }
        __syncthreads();
    }
}

extern "C" __global__ void labels_pick(long long n, long long first, long long last, Labels a) {
    __shared__ Tables tables;
    const int t = threadIdx.x;
    for (long long c = a.chunks[first] + blockIdx.x; c < a.chunks[last]; c += gridDim.x) {
        const long long r = row_of_chunk(a, first, last, c);
        if (a.chunks[r + 1] - a.chunks[r] == 1 || !a.due[a.long_rows[r]]) continue;
        const long long begin = a.start[r] - a.start[first] + (c - a.chunks[r]) * 2 * CHUNK;
        const int size = (int)min(2LL * CHUNK, a.start[r + 1] - a.start[first] - begin);
        unsigned count;
        index_t label;
        best_in(a.keys + begin, a.counts + begin, size, t, GD_ROWS, count, label);
        clear(a.keys + begin, a.counts + begin, size, t, GD_ROWS);
        best_of_block(count, label, tables);
        if (t == 0) {
            a.best_label[c] = label;
            a.best_count[c] = count;
        }
        __syncthreads();
    }
}

extern "C" __global__ void labels_settle(long long n, Labels a) {
    const int lane = threadIdx.x & 31;
    const long long warps = ((long long)gridDim.x * blockDim.x) >> 5;
    for (long long r = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; r < n >> 5; r += warps) {
        const index_t row = a.long_rows[r];
        if (!a.due[row]) continue;
        unsigned count = 0;
        index_t label = -1;
        for (long long c = a.chunks[r] + lane; c < a.chunks[r + 1]; c += 32)
            better(count, label, a.best_count[c], a.best_label[c]);
        best_of_warp(count, label);
        if (lane == 0) a.fresh[row] = label;
    }
}

extern "C" __global__ void labels_change(long long n, Labels a) {
    unsigned long long edges = 0;
    GD_FOR(v, n) {
        if (a.due[v]) edges += degree(a, (index_t)v);
    }
    gd_add(edges, &a.counters->edges);
    GD_FOR(v, n) {
        const bool moved = a.fresh[v] != a.label[v];
        a.moved[v] = moved;
        if (!moved) continue;
        a.label[v] = a.fresh[v];
        a.changed[gd_reserve(&a.counters->changed)] = (index_t)v;
    }
}
