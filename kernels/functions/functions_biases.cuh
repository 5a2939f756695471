// What is made of the biases that functions of the caller return.
#pragma once

#include "choice/selection.cuh"
#include "functions/user.cuh"

// How edges are drawn: all alike, by sums of their biases, by rejection, or by an alias table.
#define GD_ALIKE 0
#define GD_SUMMED 1
#define GD_TRIED 2
#define GD_ALIASED 3

#ifdef GD_HAS_update
#define GD_UPDATES 1
#else
#define GD_UPDATES 0
#endif

__device__ __forceinline__ gd_i64 gd_bits_of(double bias) { return __double_as_longlong(bias); }
__device__ __forceinline__ gd_i64 gd_bits_of(gd_i64 bias) { return bias; }

// A bias as it is stored; 0 and a failure where it is none.
__device__ __forceinline__ bias_t gd_checked(double bias, int *failure) {
    if (bias >= 0.0 && bias < gd_infinity()) return bias > 0.0 ? (bias_t)bias : (bias_t)0;
    atomicCAS(failure, 0, GD_NO_BIAS);
    return 0;
}
__device__ __forceinline__ bias_t gd_checked(gd_i64 bias, int *failure) {
    if (bias >= 0) return (bias_t)bias;
    atomicCAS(failure, 0, GD_NO_BIAS);
    return 0;
}
// Whether a number keeps a candidate: with probability bias / bound, of floats to within 2^-53.
__device__ __forceinline__ bool gd_kept(gd_u64 number, gd_i64 bias, gd_i64 bound) {
    return (gd_i64)gd_digit(number, (gd_u64)bound) < bias;
}
__device__ __forceinline__ bool gd_kept(gd_u64 number, double bias, double bound) {
    return __dmul_rn(gd_fraction(number), bound) < bias;
}
