// Edges between the vertices of a set, a thread for a vertex. Twins and what the arguments are: induced.py.
#include "common.cuh"

// How many edges lead to members; the shorter of the two lists is gone through, and the other one searched.
template <bool FILL>
__device__ __forceinline__ long long induced_met(long long begin, long long end, const index_t *indices,
                                                 const index_t *ids, const index_t *members, long long first,
                                                 long long last, index_t *dst) {
    long long count = 0;
    if (end - begin <= last - first) {
        for (long long e = begin; e < end; e++) {
            const index_t slot = indices[e], wanted = ids[slot];
            long long low = first, high = last;
            while (low < high) {
                const long long middle = (low + high) >> 1;
                if (members[middle] < wanted) low = middle + 1;
                else high = middle;
            }
            if (low < last && members[low] == wanted) {
                if (FILL) dst[count] = slot;
                count++;
            }
        }
        return count;
    }
    long long e = begin;
    for (long long m = first; m < last; m++) {
        const index_t wanted = members[m];
        long long high = end;
        while (e < high) {
            const long long middle = (e + high) >> 1;
            if (ids[indices[middle]] < wanted) e = middle + 1;
            else high = middle;
        }
        for (; e < end && ids[indices[e]] == wanted; e++) {
            if (FILL) dst[count] = indices[e];
            count++;
        }
    }
    return count;
}

extern "C" __global__ void induced_counts(long long n, const index_t *__restrict__ rows,
                                          const long long *__restrict__ instances,
                                          const long long *__restrict__ indptr, const index_t *__restrict__ indices,
                                          const index_t *__restrict__ ids, const index_t *__restrict__ members,
                                          const long long *__restrict__ bounds, long long *__restrict__ counts) {
    GD_FOR(i, n) {
        const long long instance = instances[i];
        counts[i] = induced_met<false>(indptr[rows[i]], indptr[rows[i] + 1], indices, ids, members, bounds[instance],
                                       bounds[instance + 1], nullptr);
    }
}

extern "C" __global__ void induced_listed(long long n, const index_t *__restrict__ rows,
                                          const index_t *__restrict__ vertices,
                                          const long long *__restrict__ instances, const long long *__restrict__ tags,
                                          const long long *__restrict__ indptr, const index_t *__restrict__ indices,
                                          const index_t *__restrict__ ids, const index_t *__restrict__ members,
                                          const long long *__restrict__ bounds, const long long *__restrict__ offsets,
                                          index_t *__restrict__ src, index_t *__restrict__ dst,
                                          long long *__restrict__ tag) {
    GD_FOR(i, n) {
        const long long instance = instances[i], out = offsets[i], stop = offsets[i + 1];
        if (stop == out) continue;
        induced_met<true>(indptr[rows[i]], indptr[rows[i] + 1], indices, ids, members, bounds[instance],
                          bounds[instance + 1], dst + out);
        for (long long e = out; e < stop; e++) {
            src[e] = vertices[i];
            tag[e] = tags[i];
        }
    }
}
