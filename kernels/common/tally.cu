// How often each number stands in an array. Twin and arguments: tally.py.
#include "common/common.cuh"

extern "C" __global__ void tally_count(long long n, const index_t *numbers, long long *counts) {
    GD_FOR(i, n) atomicAdd((unsigned long long *)counts + numbers[i], 1ULL);
}
