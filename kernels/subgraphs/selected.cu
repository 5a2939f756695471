// Edges between the vertices of each of some sets, in the order of set, source and place. Twins: selected.py.
//
// Entries of the rows of all members are one list, of which a warp takes a tile at a time. The first pass keeps a bit for
// each entry and counts those of each tile; sums of these say where the second one writes, so that the order does not
// depend on which warp is first. The second pass reads the bits, and of the rows no more than what is kept.
#include "common/bitmap.cuh"
#include "common/common.cuh"
#include "common/flat.cuh"
#include "subgraphs/selected_pack.py"

#define GD_ALL 0xffffffffu

__device__ __forceinline__ index_t selected_id(const SelectedEdges &a, index_t slot) {
    return a.named ? a.names[slot] : slot;
}

// Whether a slot is marked for a set. The marks of all of them are set before.
__device__ __forceinline__ bool selected_marked(const SelectedEdges &a, long long set, index_t slot) {
    return gd_constant_bit(a.marks + set * a.stride, slot);
}

// Whether the vertex of a slot is a member of a set.
__device__ __forceinline__ bool selected_member(const SelectedEdges &a, long long set, index_t slot) {
    const index_t wanted = selected_id(a, slot);
    const long long end = a.bounds[set + 1];
    long long low = a.bounds[set], high = end;
    while (low < high) {
        const long long middle = (low + high) >> 1;
        if (a.members[middle] < wanted) low = middle + 1;
        else high = middle;
    }
    return low < end && a.members[low] == wanted;
}

// Where in `indices` an entry of an item is.
__device__ __forceinline__ long long selected_place(const SelectedEdges &a, long long item, long long entry) {
    return a.begins[item] + entry - (item ? a.ends[item - 1] : 0);
}

extern "C" __global__ void selected_mark(long long n, SelectedEdges a) {
    GD_FOR(i, n) if (a.marked[i] >= 0) gd_set_bit(a.marks + a.marked_set[i] * a.stride, a.marked[i]);
}

extern "C" __global__ void selected_rows(long long n, SelectedEdges a) {
    GD_FOR(i, n) {
        const index_t row = a.rows[i];
        const long long stop = a.indptr[row + 1];
        long long begin = a.indptr[row], end = stop;
        if (a.undirected)
            while (begin < end) {
                const long long middle = (begin + end) >> 1;
                if (selected_id(a, a.indices[middle]) < a.ids[i]) begin = middle + 1;
                else end = middle;
            }
        a.begins[i] = begin;
        a.ends[i] = stop - begin;
    }
}

extern "C" __global__ void selected_count(long long n, SelectedEdges a) {
    const int lane = threadIdx.x & 31;
    const long long warps = ((long long)gridDim.x * blockDim.x) >> 5, total = a.ends[a.items - 1];
    for (long long t = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; t < n; t += warps) {
        const long long begin = (a.first + t) * GD_FLAT_TILE, end = min(begin + GD_FLAT_TILE, total);
        long long item = gd_flat_item(a.ends, a.items, begin);
        unsigned mine = 0;  // of lane k: word k of the tile
        if (a.ends[item] >= end) {
            const long long place = selected_place(a, item, begin) + lane, set = a.sets[item];
            const int length = (int)(end - begin);
            index_t slot[GD_FLAT_WORDS];  // all are read before the first mark is, and all marks before they are used
            bool kept[GD_FLAT_WORDS];
#pragma unroll
            for (int k = 0; k < GD_FLAT_WORDS; k++) slot[k] = 32 * k + lane < length ? a.indices[place + 32 * k] : 0;
#pragma unroll
            for (int k = 0; k < GD_FLAT_WORDS; k++) kept[k] = selected_marked(a, set, slot[k]) & (32 * k + lane < length);
            if (a.searched)
#pragma unroll
                for (int k = 0; k < GD_FLAT_WORDS; k++) kept[k] = kept[k] && selected_member(a, set, slot[k]);
#pragma unroll
            for (int k = 0; k < GD_FLAT_WORDS; k++) {
                const unsigned word = __ballot_sync(GD_ALL, kept[k]);
                if (lane == k) mine = word;
            }
        } else {
            for (int k = 0; begin + 32 * k < end; k++) {
                const long long entry = begin + 32 * k + lane;
                bool kept = false;
                if (entry < end) {
                    item = gd_flat_item_from(a.ends, a.items, item, entry);
                    const long long set = a.sets[item];
                    const index_t slot = a.indices[selected_place(a, item, entry)];
                    kept = selected_marked(a, set, slot) && (!a.searched || selected_member(a, set, slot));
                }
                const unsigned word = __ballot_sync(GD_ALL, kept);
                if (lane == k) mine = word;
            }
        }
        if (lane < GD_FLAT_WORDS) a.masks[t * GD_FLAT_WORDS + lane] = mine;
        int count = __popc(mine);
        for (int by = GD_FLAT_WORDS / 2; by; by >>= 1) count += __shfl_down_sync(GD_ALL, count, by);
        if (lane == 0) a.counts[t] = count;
    }
}

extern "C" __global__ void selected_write(long long n, SelectedEdges a) {
    const int lane = threadIdx.x & 31;
    const long long warps = ((long long)gridDim.x * blockDim.x) >> 5;
    for (long long t = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; t < n; t += warps) {
        const int count = a.counts[t];
        if (count == 0) continue;
        const long long begin = (a.first + t) * GD_FLAT_TILE;
        const unsigned words = lane < GD_FLAT_WORDS ? a.masks[t * GD_FLAT_WORDS + lane] : 0;
        long long item = gd_flat_item(a.ends, a.items, begin), out = a.upto[t] - count;
        for (int k = 0; k < GD_FLAT_WORDS; k++) {
            const unsigned word = __shfl_sync(GD_ALL, words, k);
            if (word >> lane & 1u) {
                const long long entry = begin + 32 * k + lane, at = out + __popc(word & ((1u << lane) - 1));
                item = gd_flat_item_from(a.ends, a.items, item, entry);
                const long long place = selected_place(a, item, entry);
                a.src[at] = a.ids[item];
                a.dst[at] = selected_id(a, a.indices[place]);
                a.instance[at] = a.sets[item];
                if (a.placed) a.places[at] = place;
            }
            out += __popc(word);
        }
    }
}
