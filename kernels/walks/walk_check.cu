// Whether steps of walks are edges. Twin and what the arguments are: walk_check.py.
#include "common/common.cuh"

extern "C" __global__ void walk_check(long long n, const index_t *row, const index_t *target, const long long *indptr,
                                      const index_t *indices, const bias_t *values, long long biased,
                                      const index_t *ids, unsigned char *wrong) {
    GD_FOR(i, n) {
        const long long begin = indptr[row[i]], end = indptr[row[i] + 1];
        const index_t wanted = target[i];
        long long first = begin, last = end;
        while (wanted >= 0 && first < last) {
            const long long middle = (first + last) >> 1;
            if (ids[indices[middle]] < wanted) first = middle + 1;
            else last = middle;
        }
        bool found = false;
        for (long long e = first; e < end && !found; e++) {
            if (wanted >= 0 && ids[indices[e]] != wanted) break;
            found = !biased || values[e] > 0;
        }
        wrong[i] = found != (wanted >= 0);
    }
}
