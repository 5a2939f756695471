// The most frequent label among the neighbours of each row. A warp compares the labels of a short row all with all; the
// labels of long rows are counted in hash tables, one for each row, that blocks fill a chunk at a time: equal labels of
// a warp are added up before they go there, or all would wait at one label once most agree. Where a label stands in a
// table depends on who comes first; which one is picked does not. Twins and arguments: label_propagation.py.
#include "common/rows.cuh"

#define ALL_LANES 0xffffffffu
#define CHUNK 1024

struct Rows {
    const long long *indptr;
    const index_t *indices;
    const long long *in_indptr;
    const index_t *in_indices;
    bool both;
    const index_t *label;

    __device__ __forceinline__ long long degree(index_t row) const {
        const long long out = indptr[row + 1] - indptr[row];
        return both ? out + in_indptr[row + 1] - in_indptr[row] : out;
    }
    __device__ __forceinline__ index_t label_of(index_t row, long long i) const {
        const long long begin = indptr[row], out = indptr[row + 1] - begin;
        return label[i < out ? indices[begin + i] : in_indices[in_indptr[row] + (i - out)]];
    }
};

template <typename Count> __device__ __forceinline__ void better(Count &count, index_t &label, Count other, index_t its) {
    if (other > count || (other == count && its < label)) {
        count = other;
        label = its;
    }
}

extern "C" __global__ void labels_of_short(long long n, const index_t *rows, const long long *indptr,
                                           const index_t *indices, const long long *in_indptr,
                                           const index_t *in_indices, long long both, const index_t *label,
                                           index_t *fresh) {
    const Rows graph{indptr, indices, in_indptr, in_indices, both != 0, label};
    const int lane = threadIdx.x & 31;
    const long long warps = ((long long)gridDim.x * blockDim.x) >> 5;
    for (long long r = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; r < n >> 5; r += warps) {
        const index_t row = rows[r];
        const bool has = lane < graph.degree(row);
        index_t mine = has ? graph.label_of(row, lane) : (index_t)-1;
        const unsigned same = __match_any_sync(ALL_LANES, mine);
        int count = has ? __popc(same) : 0;
        for (int step = 16; step; step >>= 1) {
            const int other = __shfl_xor_sync(ALL_LANES, count, step);
            better(count, mine, other, (index_t)__shfl_xor_sync(ALL_LANES, mine, step));
        }
        if (lane == 0) fresh[row] = mine;
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

extern "C" __global__ void labels_count(long long n, long long first, long long last, const index_t *rows,
                                        const long long *start, const long long *chunks, const long long *indptr,
                                        const index_t *indices, const long long *in_indptr,
                                        const index_t *in_indices, long long both, const index_t *label,
                                        index_t *keys, unsigned *counts) {
    const Rows graph{indptr, indices, in_indptr, in_indices, both != 0, label};
    const int lane = threadIdx.x & 31;
    for (long long c = chunks[first] + blockIdx.x; c < chunks[last]; c += gridDim.x) {
        long long low = first, high = last - 1;  // the row whose chunk this is
        while (low < high) {
            const long long middle = (low + high) >> 1;
            if (chunks[middle + 1] <= c) low = middle + 1;
            else high = middle;
        }
        const index_t row = rows[low];
        const long long base = start[low] - start[first], size = start[low + 1] - start[low];
        const long long begin = (c - chunks[low]) * CHUNK, end = min(begin + CHUNK, graph.degree(row));
        for (long long i = begin + threadIdx.x; i - lane < end; i += blockDim.x) {
            const index_t mine = i < end ? graph.label_of(row, i) : (index_t)-1;
            const unsigned same = __match_any_sync(ALL_LANES, mine);
            if (i < end && lane == __ffs(same) - 1) add(mine, __popc(same), base, size, keys, counts);
        }
    }
}

extern "C" __global__ void labels_pick(long long n, long long first, long long last, const index_t *rows,
                                       const long long *start, index_t *keys, unsigned *counts, index_t *fresh) {
    __shared__ index_t labels[GD_ROWS / 32];
    __shared__ unsigned times[GD_ROWS / 32];
    const int t = threadIdx.x, lane = t & 31;
    for (long long r = first + blockIdx.x; r < last; r += gridDim.x) {
        unsigned count = 0;
        index_t found = -1;
        const long long end = start[r + 1] - start[first];
        for (long long place = start[r] - start[first] + t; place < end; place += GD_ROWS) {
            better(count, found, counts[place], keys[place]);
            keys[place] = -1;
            counts[place] = 0;
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
            fresh[rows[r]] = found;
        }
        __syncthreads();
    }
}

extern "C" __global__ void labels_change(long long n, const index_t *fresh, index_t *label, index_t *changed,
                                         unsigned long long *counters) {
    GD_FOR(v, n) {
        if (fresh[v] == label[v]) continue;
        label[v] = fresh[v];
        changed[gd_reserve(counters)] = (index_t)v;
    }
}
