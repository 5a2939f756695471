// How many bytes of an array are not 0, each of which is 0 or 1. A thread reads eight at a time where the array begins at
// a multiple of eight. Twin and arguments: counting.py.
#include "common/common.cuh"

extern "C" __global__ void counting_set(long long n, long long length, const unsigned char *bytes, long long *found) {
    const long long words = ((unsigned long long)bytes & 7) ? 0 : length >> 3;
    const unsigned long long *const eights = (const unsigned long long *)bytes;
    unsigned long long count = 0;
    GD_FOR(i, words) count += __popcll(eights[i]);
    GD_FOR(i, length - 8 * words) count += bytes[8 * words + i];
    gd_add(count, (unsigned long long *)found);
}
