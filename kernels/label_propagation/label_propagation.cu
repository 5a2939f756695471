// The most frequent label among the neighbours of each row. A warp compares the labels of a short row all with all; the
// labels of long rows are counted in hash tables, one for each row, that blocks fill a chunk at a time: equal labels of
// a warp are added up before they go there, or all would wait at one label once most agree. Where a label stands in a
// table depends on who comes first; which one is picked does not. Twins: label_propagation.py.
#include "common/rows.cuh"
#include "label_propagation/label_propagation_pack.py"

#define ALL_LANES 0xffffffffu
#define CHUNK 1024

__device__ __forceinline__ long long degree(const Labels &a, index_t row) {
    const long long out = a.indptr[row + 1] - a.indptr[row];
    return a.both ? out + a.in_indptr[row + 1] - a.in_indptr[row] : out;
}

// The label of neighbour i of a row.
__device__ __forceinline__ index_t label_of(const Labels &a, index_t row, long long i) {
    const long long begin = a.indptr[row], out = a.indptr[row + 1] - begin;
    return a.label[i < out ? a.indices[begin + i] : a.in_indices[a.in_indptr[row] + (i - out)]];
}

template <typename Count> __device__ __forceinline__ void better(Count &count, index_t &label, Count other, index_t its) {
    if (other > count || (other == count && its < label)) {
        count = other;
        label = its;
    }
}

struct Due : NoQueue {
    const Labels &a;
    const index_t *indices;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        if (a.moved[indices[edge]]) a.due[row] = 1;  // all write the same
    }
};

extern "C" __global__ void labels_due(long long n, const long long *indptr, const index_t *indices, Labels a) {
    gd_for_edges(n, (const index_t *)nullptr, indptr, a.hubs, &a.counters->hubs, &a.counters->edges, Due{{}, a, indices});
}

extern "C" __global__ void labels_due_hubs(long long n, const long long *indptr, const index_t *indices, Labels a) {
    gd_for_hubs(a.hubs, &a.counters->hubs, indptr, Due{{}, a, indices});
}

extern "C" __global__ void labels_of_short(long long n, Labels a) {
    const int lane = threadIdx.x & 31;
    const long long warps = ((long long)gridDim.x * blockDim.x) >> 5;
    for (long long r = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; r < n >> 5; r += warps) {
        const index_t row = a.short_rows[r];
        if (!a.due[row]) continue;
        const bool has = lane < degree(a, row);
        index_t mine = has ? label_of(a, row, lane) : (index_t)-1;
        const unsigned same = __match_any_sync(ALL_LANES, mine);
        int count = has ? __popc(same) : 0;
        for (int step = 16; step; step >>= 1) {
            const int other = __shfl_xor_sync(ALL_LANES, count, step);
            better(count, mine, other, (index_t)__shfl_xor_sync(ALL_LANES, mine, step));
        }
        if (lane == 0) a.fresh[row] = mine;
    }
}

__device__ __forceinline__ void add(index_t label, unsigned times, long long base, long long size, index_t *keys,
                                    unsigned *counts) {
    const unsigned mixed = (unsigned)((unsigned long long)(label ^ (label >> 31)) * 2654435761ULL);
    long long place = base + (long long)(((unsigned long long)mixed * (unsigned long long)size) >> 32);
    while (true) {
        index_t seen = *(volatile index_t *)(keys + place);
        if (seen == -1) {
            seen = gd_atomic_cas(keys + place, (index_t)-1, label);
            if (seen == -1) seen = label;
        }
        if (seen == label) break;
        if (++place == base + size) place = base;
    }
    atomicAdd(counts + place, times);
}

extern "C" __global__ void labels_count(long long n, long long first, long long last, Labels a) {
    const int lane = threadIdx.x & 31;
    for (long long c = a.chunks[first] + blockIdx.x; c < a.chunks[last]; c += gridDim.x) {
        long long low = first, high = last - 1;  // the row whose chunk this is
        while (low < high) {
            const long long middle = (low + high) >> 1;
            if (a.chunks[middle + 1] <= c) low = middle + 1;
            else high = middle;
        }
        const index_t row = a.long_rows[low];
        if (!a.due[row]) continue;
        const long long base = a.start[low] - a.start[first], size = a.start[low + 1] - a.start[low];
        const long long begin = (c - a.chunks[low]) * CHUNK, end = min(begin + CHUNK, degree(a, row));
        for (long long i = begin + threadIdx.x; i - lane < end; i += blockDim.x) {
            const index_t mine = i < end ? label_of(a, row, i) : (index_t)-1;
            const unsigned same = __match_any_sync(ALL_LANES, mine);
            if (i < end && lane == __ffs(same) - 1) add(mine, __popc(same), base, size, a.keys, a.counts);
        }
    }
}

extern "C" __global__ void labels_pick(long long n, long long first, long long last, Labels a) {
    __shared__ index_t labels[GD_ROWS / 32];
    __shared__ unsigned times[GD_ROWS / 32];
    const int t = threadIdx.x, lane = t & 31;
    for (long long r = first + blockIdx.x; r < last; r += gridDim.x) {
        if (!a.due[a.long_rows[r]]) continue;
        unsigned count = 0;
        index_t found = -1;
        const long long end = a.start[r + 1] - a.start[first];
        for (long long place = a.start[r] - a.start[first] + t; place < end; place += GD_ROWS) {
            better(count, found, a.counts[place], a.keys[place]);
            a.keys[place] = -1;
            a.counts[place] = 0;
        }
        for (int step = 16; step; step >>= 1) {
            const unsigned other = __shfl_xor_sync(ALL_LANES, count, step);
            better(count, found, other, (index_t)__shfl_xor_sync(ALL_LANES, found, step));
        }
        if (lane == 0) {
            labels[t >> 5] = found;
            times[t >> 5] = count;
        }
        __syncthreads();
        if (t == 0) {
            for (int w = 1; w < GD_ROWS / 32; w++) better(count, found, times[w], labels[w]);
            a.fresh[a.long_rows[r]] = found;
        }
        __syncthreads();
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
