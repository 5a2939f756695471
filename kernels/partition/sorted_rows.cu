// Rows of edges that a GPU sorts: the edges that are stored in both directions, the numbers of 64 bits by which edges
// are sorted, and the rows that lie between them. Twins and arguments: sorted_rows.py.
#include "common/common.cuh"
#include "common/rows.cuh"

typedef long long gd_place;

extern "C" __global__ void sorted_rows_others(long long n, const index_t *src, const index_t *dst, long long *others,
                                              unsigned long long *count) {
    __shared__ Queue<gd_place> queue;
    queue.open();
    gd_list(n, [&](long long i) { return src[i] != dst[i]; }, queue, (gd_place *)others, count);
}

extern "C" __global__ void sorted_rows_keys(long long n, const long long *places, const int *rows,
                                            const int *columns, long long *keys) {
    GD_FOR(i, n) {
        const long long place = places ? places[i] : i;
        keys[i] = (long long)rows[place] << 32 | columns[place];
    }
}

// The first of the keys from `low` on that is at least `least`.
__device__ __forceinline__ long long gd_first_key(const long long *keys, long long low, long long count,
                                                  long long least) {
    long long high = count;
    while (low < high) {
        const long long middle = low + (high - low) / 2;
        if (keys[middle] < least) low = middle + 1;
        else high = middle;
    }
    return low;
}

extern "C" __global__ void sorted_rows_begins(long long n, const long long *keys, long long count, const int *ids,
                                              long long *indptr, unsigned long long *loops) {
    unsigned long long found = 0;
    GD_FOR(row, n) {
        const long long begin = gd_first_key(keys, 0, count, row << 32);
        indptr[row] = begin;
        if (row + 1 == n) continue;
        const long long loop = row << 32 | ids[row], first = gd_first_key(keys, begin, count, loop);
        if (first < count && keys[first] == loop) found += gd_first_key(keys, first, count, loop + 1) - first;
    }
    gd_add(found, loops);
}

extern "C" __global__ void sorted_rows_numbers(long long n, long long first, index_t *numbers) {
    GD_FOR(i, n) numbers[i] = (index_t)(first + i);
}

// The number of the vertex of a slot; `number` is null if it is the slot.
__device__ __forceinline__ long long gd_number(const index_t *number, index_t slot) {
    return number ? number[slot] : slot;
}

// The first entry of a row from `low` on whose vertex has at least this number.
__device__ __forceinline__ long long gd_first_from(const index_t *indices, const index_t *number, long long low,
                                                   long long high, long long least) {
    while (low < high) {
        const long long middle = low + (high - low) / 2;
        if (gd_number(number, indices[middle]) < least) low = middle + 1;
        else high = middle;
    }
    return low;
}

extern "C" __global__ void sorted_rows_degrees(long long n, const long long *indptr, const index_t *indices,
                                               const index_t *number, const index_t *ids, long long *degrees) {
    GD_FOR(row, n) {
        const long long begin = indptr[row], end = indptr[row + 1];
        long long degree = degrees[row] + end - begin;
        if (ids) {
            const long long first = gd_first_from(indices, number, begin, end, ids[row]);
            degree += gd_first_from(indices, number, first, end, ids[row] + 1LL) - first;
        }
        degrees[row] = degree;
    }
}

// The last one of the rows from `low` to `high` that begins at this edge or before it: the row of the edge.
__device__ __forceinline__ long long gd_row_of(const long long *indptr, long long low, long long high, long long edge) {
    while (low < high) {
        const long long middle = high - (high - low) / 2;
        if (indptr[middle] <= edge) low = middle;
        else high = middle - 1;
    }
    return low;
}

// A block takes some edges that follow each other, and looks for their rows between those of the first and the last.
extern "C" __global__ void sorted_rows_sources(long long n, long long rows, long long first, const long long *indptr,
                                               index_t *sources) {
    const long long together = 16 * (long long)blockDim.x;
    __shared__ long long ends[2];
    for (long long begin = blockIdx.x * together; begin < n; begin += gridDim.x * together) {
        const long long end = begin + together < n ? begin + together : n;
        if (threadIdx.x < 2) ends[threadIdx.x] = gd_row_of(indptr, 0, rows - 1, threadIdx.x ? end - 1 : begin);
        __syncthreads();
        const long long low = ends[0], high = ends[1];
        for (long long edge = begin + threadIdx.x; edge < end; edge += blockDim.x) {
            sources[edge] = (index_t)(first + gd_row_of(indptr, low, high, edge));
        }
        __syncthreads();
    }
}

extern "C" __global__ void sorted_rows_columns(long long n, const long long *keys, int *columns) {
    GD_FOR(i, n) columns[i] = (int)keys[i];
}
