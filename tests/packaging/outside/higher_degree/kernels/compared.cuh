// What the kernels share: the comparison. Twin: compared.py.
#pragma once

__device__ __forceinline__ bool is_higher(long long one, long long other) { return one > other; }
