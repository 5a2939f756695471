// Rewriting the rows that a batch changes: a block takes a row, and every thread finds by itself where what it holds goes,
// from the few entries of the batch that are of the row. Twins and arguments: dynamic_rows.py.
#include "common.cuh"

// How many of the entries from `low` to `high` - 1 have a place below `bound`.
__device__ __forceinline__ long long gd_below(const long long *place, long long low, long long high, long long bound) {
    while (low < high) {
        const long long middle = (low + high) >> 1;
        if (place[middle] < bound) low = middle + 1;
        else high = middle;
    }
    return low;
}

extern "C" __global__ void dynamic_rows_merge(long long n, const long long *begin, const long long *length,
                                              const long long *first, const long long *place,
                                              const unsigned char *insert, const long long *before_in,
                                              const long long *before_out, const long long *new_begin,
                                              const entry_t *values, const entry_t *pool, entry_t *out) {
    for (long long r = blockIdx.x; r < n; r += gridDim.x) {
        const long long from = first[r], to = first[r + 1], size = length[r];
        const entry_t *row = pool + begin[r];
        entry_t *goes = out + new_begin[r];
        for (long long j = threadIdx.x; j < size; j += blockDim.x) {
            const long long less = gd_below(place, from, to, j), up_to = gd_below(place, less, to, j + 1);
            if (before_out[up_to] != before_out[less]) continue;  // the entry itself is deleted
            goes[j + (before_in[up_to] - before_in[from]) - (before_out[less] - before_out[from])] = row[j];
        }
        for (long long i = from + threadIdx.x; i < to; i += blockDim.x)
            if (insert[i])
                goes[place[i] + (before_in[i] - before_in[from]) - (before_out[i] - before_out[from])] = values[i];
    }
}

extern "C" __global__ void dynamic_rows_put(long long n, const long long *begin, const long long *new_begin,
                                            const entry_t *out, entry_t *pool) {
    for (long long r = blockIdx.x; r < n; r += gridDim.x) {
        const long long from = new_begin[r], size = new_begin[r + 1] - from;
        for (long long k = threadIdx.x; k < size; k += blockDim.x) pool[begin[r] + k] = out[from + k];
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
