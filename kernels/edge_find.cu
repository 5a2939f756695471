// Where edges stand that are known by their ends. Twin and what the arguments are: edge_find.py.
#include "common.cuh"

extern "C" __global__ void edge_find(long long n, const index_t *row, const index_t *target, const long long *indptr,
                                     const index_t *indices, const index_t *ids, long long *first, long long *count) {
    GD_FOR(i, n) {
        const long long end = indptr[row[i] + 1];
        long long begin = indptr[row[i]], last = end;
        const index_t wanted = target[i];
        while (wanted >= 0 && begin < last) {
            const long long middle = (begin + last) >> 1;
            if (ids[indices[middle]] < wanted) begin = middle + 1;
            else last = middle;
        }
        last = begin;
        long long step = 1;
        while (wanted >= 0 && last < end && ids[indices[last]] == wanted) {  // farther and farther: there are few mostly
            last += step;
            step *= 2;
        }
        long long upper = last < end ? last : end;
        last -= step >> 1;
        while (last < upper) {
            const long long middle = (last + upper) >> 1;
            if (ids[indices[middle]] <= wanted) last = middle + 1;
            else upper = middle;
        }
        first[i] = last > begin ? begin : -1;
        count[i] = last - begin;
    }
}
