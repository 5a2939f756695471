// Exponential keys, of which the smallest are kept: choosing in proportion to biases in one pass. Twin: keys.py, where
// the source is.
#pragma once
#include "functions/user.cuh"

// A 64-bit number as one with the exponential law whose rate is the bias.
__device__ __forceinline__ double gd_exponential_key(unsigned long long number, double bias) {
    const double uniform = __dmul_rn((double)(long long)((number >> 11) + 1), 1.1102230246251565e-16);
    return __ddiv_rn(-gd_logarithm(uniform), bias);
}

// Whether the key of a number may be another one or less: without the logarithm, as -log(u) is 1 - u at least.
__device__ __forceinline__ bool gd_may_be_less(unsigned long long number, double bias, double than) {
    const double least = __dmul_rn((double)(long long)(((1ULL << 53) - 1) - (number >> 11)), 1.1102230246251565e-16);
    return __dmul_rn(least, 1.0 - 9.313225746154785e-10) <= __dmul_rn(than, bias);
}
