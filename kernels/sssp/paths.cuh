// Lengths of paths: what stands for an unreached vertex, sums that never wrap, and atomic minima; int, long long, double.
// Labels, what a search keeps of a slot: its distance, or that and the predecessor in one word.
#pragma once
#include "common/rows.cuh"

template <typename T> struct Distance;
template <> struct Distance<int> {
    static __device__ __forceinline__ int none() { return 0x7fffffff; }
    static __device__ __forceinline__ int add(int d, long long w) {
        const unsigned long long sum = (unsigned long long)d + (unsigned long long)w;
        return sum < 0x7fffffffULL ? (int)sum : 0x7fffffff;
    }
    static __device__ __forceinline__ long long bits(int d) { return d; }
    static __device__ __forceinline__ float rounded_down(int d) { return __int2float_rd(d); }
    static __device__ __forceinline__ int at_least(double d) { return d < none() ? (int)ceil(d) : none(); }
    static __device__ __forceinline__ int lower(int *at, int d) { return atomicMin(at, d); }
};
template <> struct Distance<long long> {
    static __device__ __forceinline__ long long none() { return 0x7fffffffffffffffLL; }
    static __device__ __forceinline__ long long add(long long d, long long w) {
        const unsigned long long sum = (unsigned long long)d + (unsigned long long)w;
        return sum < 0x7fffffffffffffffULL ? (long long)sum : none();
    }
    static __device__ __forceinline__ long long bits(long long d) { return d; }
    static __device__ __forceinline__ float rounded_down(long long d) { return __ll2float_rd(d); }
    static __device__ __forceinline__ long long at_least(double d) {
        return d < (double)none() ? (long long)ceil(d) : none();
    }
    static __device__ __forceinline__ long long lower(long long *at, long long d) { return atomicMin(at, d); }
};
template <> struct Distance<double> {  // the bits of floats that are not negative are ordered as the floats are
    static __device__ __forceinline__ double none() { return __longlong_as_double(0x7ff0000000000000LL); }
    static __device__ __forceinline__ double add(double d, double w) { return __dadd_rn(d, w); }
    static __device__ __forceinline__ long long bits(double d) { return __double_as_longlong(d); }
    static __device__ __forceinline__ float rounded_down(double d) { return __double2float_rd(d); }
    static __device__ __forceinline__ double at_least(double d) { return d; }
    static __device__ __forceinline__ double lower(double *at, double d) {
        return __longlong_as_double(atomicMin((long long *)at, __double_as_longlong(d)));
    }
};
typedef Distance<dist_t> Of;

// The distance alone.
template <typename T, typename L> struct Labels {
    static __device__ __forceinline__ T distance(L label) { return label; }
    template <typename W> static __device__ __forceinline__ L extend(L label, W weight, index_t) {
        return Distance<T>::add(label, weight);
    }
};
// The distance in the upper half, the id of the predecessor in the lower one; ids and sums are below 2^31 - 1.
template <> struct Labels<int, long long> {
    static __device__ __forceinline__ int distance(long long label) { return (int)(label >> 32); }
    static __device__ __forceinline__ long long extend(long long label, long long weight, index_t id) {
        return ((label >> 32) + weight) << 32 | (long long)id;
    }
};
