// Edges between the vertices of a set, a warp for a vertex. Twins and what the arguments are: induced.py.
#include "common/common.cuh"
#include "neighbors/induced_pack.py"

// How many edges lead to members; the lanes go through the shorter of the two lists, and search the other one.
template <bool FILL>
__device__ __forceinline__ long long induced_met(long long begin, long long end, const index_t *indices,
                                                 const index_t *ids, const index_t *members, long long first,
                                                 long long last, index_t *dst, long long *places) {
    const int lane = threadIdx.x & 31;
    const bool by_row = end - begin <= last - first;
    const long long length = by_row ? end - begin : last - first;
    long long total = 0;
    for (long long base = 0; base < length; base += 32) {
        long long found = 0, at = begin + base + lane;
        if (base + lane < length) {
            const index_t wanted = by_row ? ids[indices[at]] : members[first + base + lane];
            long long low = by_row ? first : begin, high = by_row ? last : end;
            while (low < high) {
                const long long middle = (low + high) >> 1;
                if ((by_row ? members[middle] : ids[indices[middle]]) < wanted) low = middle + 1;
                else high = middle;
            }
            if (by_row) {
                found = low < last && members[low] == wanted;
            } else {
                at = low;
                while (at + found < end && ids[indices[at + found]] == wanted) found++;
            }
        }
        long long upto = found;
        for (int by = 1; by < 32; by <<= 1) {
            const long long before = __shfl_up_sync(0xffffffffu, upto, by);
            if (lane >= by) upto += before;
        }
        if (FILL)
            for (long long e = 0; e < found; e++) {
                dst[total + upto - found + e] = indices[at + e];
                if (places) places[total + upto - found + e] = at + e;
            }
        total += __shfl_sync(0xffffffffu, upto, 31);
    }
    return total;
}

extern "C" __global__ void induced_counts(long long n, const index_t *__restrict__ rows,
                                          const long long *__restrict__ instances,
                                          const long long *__restrict__ indptr, const index_t *__restrict__ indices,
                                          const index_t *__restrict__ ids, const index_t *__restrict__ members,
                                          const long long *__restrict__ bounds, long long *__restrict__ counts) {
    const long long warps = ((long long)gridDim.x * blockDim.x) >> 5;
    for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; i < n; i += warps) {
        const long long instance = instances[i];
        const long long count = induced_met<false>(indptr[rows[i]], indptr[rows[i] + 1], indices, ids, members,
                                                   bounds[instance], bounds[instance + 1], nullptr, nullptr);
        if ((threadIdx.x & 31) == 0) counts[i] = count;
    }
}

extern "C" __global__ void induced_listed(long long n, InducedEdges a) {
    const long long warps = ((long long)gridDim.x * blockDim.x) >> 5;
    for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; i < n; i += warps) {
        const long long instance = a.instances[i], out = a.offsets[i], stop = a.offsets[i + 1];
        if (stop == out) continue;
        induced_met<true>(a.indptr[a.rows[i]], a.indptr[a.rows[i] + 1], a.indices, a.ids, a.members, a.bounds[instance],
                          a.bounds[instance + 1], a.dst + out, a.places ? a.places + out : nullptr);
        for (long long e = out + (threadIdx.x & 31); e < stop; e += 32) {
            a.src[e] = a.vertices[i];
            a.tag[e] = a.tags[i];
        }
    }
}
