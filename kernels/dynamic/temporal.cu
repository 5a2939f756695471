// Edges in time. Twin and what the arguments are: temporal.py.
#include "common/common.cuh"

extern "C" __global__ void temporal_windows(long long n, const index_t *__restrict__ rows,
                                            const long long *__restrict__ instances,
                                            const long long *__restrict__ indptr, const bias_t *__restrict__ times,
                                            const limit_t *__restrict__ limits, long long most,
                                            long long *__restrict__ windows) {
    GD_FOR(i, n) {
        const long long begin = indptr[rows[i]];
        const limit_t limit = limits[instances[i]];
        long long first = begin, last = indptr[rows[i] + 1];
        while (first < last) {
            const long long middle = (first + last) >> 1;
            if ((limit_t)times[middle] <= limit) first = middle + 1;
            else last = middle;
        }
        windows[2 * i] = most >= 0 && first - begin > most ? first - most : begin;
        windows[2 * i + 1] = first;
    }
}
