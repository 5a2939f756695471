// How long a list is whose length the kernels before have counted. Twin: program_length.py.
#pragma once

__device__ __forceinline__ long long gd_length(long long n, const Program &a) {
    if (!a.limit) return n;
    return min(n, (long long)(a.limit == 1 ? a.counters->marked : a.counters->changed));
}
