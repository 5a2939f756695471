// Lengths of paths: what stands for an unreached vertex, sums that never wrap, and atomic minima; int, long long, double.
#pragma once
#include "rows.cuh"

template <typename T> struct Distance;
template <> struct Distance<int> {
    static __device__ __forceinline__ int none() { return 0x7fffffff; }
    static __device__ __forceinline__ int add(int d, long long w) {
        const unsigned long long sum = (unsigned long long)d + (unsigned long long)w;
        return sum < 0x7fffffffULL ? (int)sum : 0x7fffffff;
    }
    static __device__ __forceinline__ int lower(int *at, int d) { return atomicMin(at, d); }
};
template <> struct Distance<long long> {
    static __device__ __forceinline__ long long none() { return 0x7fffffffffffffffLL; }
    static __device__ __forceinline__ long long add(long long d, long long w) {
        const unsigned long long sum = (unsigned long long)d + (unsigned long long)w;
        return sum < 0x7fffffffffffffffULL ? (long long)sum : none();
    }
    static __device__ __forceinline__ long long lower(long long *at, long long d) { return atomicMin(at, d); }
};
template <> struct Distance<double> {  // the bits of floats that are not negative are ordered as the floats are
    static __device__ __forceinline__ double none() { return __longlong_as_double(0x7ff0000000000000LL); }
    static __device__ __forceinline__ double add(double d, double w) { return __dadd_rn(d, w); }
    static __device__ __forceinline__ double lower(double *at, double d) {
        return __longlong_as_double(atomicMin((long long *)at, __double_as_longlong(d)));
    }
};
typedef Distance<dist_t> Of;
