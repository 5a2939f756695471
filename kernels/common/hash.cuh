// Counter-based random numbers of the generators: a 64-bit number that depends on (seed, what, id) alone.
//
// The hash is a finalizer of two multiplications and three xor-shifts (variant 13 of D. Stafford's search, the output
// function of SplitMix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
// A seed becomes two 64-bit keys, one xored before the first and one between the two multiplications, so the numbers of
// two seeds are not shifts or permutations of each other, however close the seeds are.
// The twins in hash.py return the same bits; nothing here is floating point.
#pragma once

typedef unsigned int gd_u32;
typedef unsigned long long gd_u64;

// What a number is drawn for; every use has its own keys.
#define GD_DRAW_TARGET 1
#define GD_DRAW_FRACTION 2
#define GD_DRAW_AGAIN 4
#define GD_DRAW_REDRAW 16
#define GD_DRAW_QUADRANTS 64  // and the next 7, one for each hash of an edge
#define GD_DRAW_LABEL 72      // and the next 7, one for each round
#define GD_DRAW_PAIR 128      // and the next 127, one for each round

#define GD_GOLDEN 0x9e3779b97f4a7c15ULL
#define GD_MULTIPLY_1 0xbf58476d1ce4e5b9ULL
#define GD_MULTIPLY_2 0x94d049bb133111ebULL
#define GD_PAIR_FIRST 0x9e3779b1u
#define GD_PAIR_SECOND 0x85ebca6bu
#define GD_PAIR_1 0xdaba0b6eb09322e3ULL
#define GD_PAIR_2 0xd6e8feb86659fd93ULL
#define GD_MULTIPLY_3 0x9fb21c651e98df25ULL

__device__ __forceinline__ gd_u64 gd_mix(gd_u64 x) {
    x = (x ^ (x >> 30)) * GD_MULTIPLY_1;
    x = (x ^ (x >> 27)) * GD_MULTIPLY_2;
    return x ^ (x >> 31);
}

// The key of one use of a seed; `part` is 0 or 1.
__device__ __forceinline__ gd_u64 gd_key(gd_u64 seed, int what, int part) {
    return gd_mix(gd_mix(seed + GD_GOLDEN) + (2 * (gd_u64)what + (gd_u64)part) * GD_GOLDEN);
}

__device__ __forceinline__ gd_u64 gd_hash(gd_u64 key_0, gd_u64 key_1, gd_u64 id) {
    gd_u64 x = id ^ key_0;
    x = (x ^ (x >> 30)) * GD_MULTIPLY_1;
    x = (x ^ (x >> 27) ^ key_1) * GD_MULTIPLY_2;
    return x ^ (x >> 31);
}

// The same for numbers that follow each other, where every bit of the result is read: gd_hash of consecutive ids leaves
// its low bits dependent on those 32 above them. The two rotations spread the few bits that differ over the whole word
// before the first multiplication (P. Evensen's mixer rrmxmx, "Better, stronger mixer and a test procedure", 2018).
__device__ __forceinline__ gd_u64 gd_hash_counter(gd_u64 key_0, gd_u64 key_1, gd_u64 id) {
    gd_u64 x = id ^ key_0;
    x = (x ^ (x >> 49 | x << 15) ^ (x >> 24 | x << 40)) * GD_MULTIPLY_3;
    x = (x ^ (x >> 28) ^ key_1) * GD_MULTIPLY_3;
    return x ^ (x >> 28);
}

// a * b + c, one instruction: the compiler does not see that the halves of a 64-bit number are 32 bits wide.
__device__ __forceinline__ gd_u64 gd_wide(gd_u32 a, gd_u32 b, gd_u64 c) {
#ifdef __CUDA_ARCH__
    gd_u64 result;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(result) : "r"(a), "r"(b), "l"(c));
    return result;
#else
    return (gd_u64)a * b + c;
#endif
}

__device__ __forceinline__ gd_u64 gd_wide(gd_u64 a, gd_u64 b, gd_u64 c) { return a * b + c; }

// The product of hi:lo and a constant, and its high half xored to the low one and `key`: the step of gd_hash_pair.
__device__ __forceinline__ void gd_fold(gd_u32 &lo, gd_u32 &hi, gd_u64 constant, gd_u32 key) {
    const gd_u64 product = gd_wide(lo, (gd_u32)constant, 0);
    hi = hi * (gd_u32)constant + (gd_u32)(product >> 32);
    hi = lo * (gd_u32)(constant >> 32) + hi;
    lo = (gd_u32)product ^ hi ^ key;
}

// A 64-bit number of two 32-bit ones, 11 instructions: each of a and b is multiplied on its own, and a finalizer of two
// multiplications by 64 bits with xor-shifts of half the word (D. Lea's mixer; G. Steele, S. Vigna, "LXM: better
// splittable pseudorandom number generators", OOPSLA 2021) scrambles their sum. One half of the key goes in before each
// of its multiplications. For a key it is a permutation of the 64 bits.
__device__ __forceinline__ gd_u64 gd_hash_pair(gd_u64 key, gd_u32 a, gd_u32 b) {
    const gd_u64 product = gd_wide(a, GD_PAIR_FIRST, 0);
    gd_u32 hi = b * GD_PAIR_SECOND + (gd_u32)(product >> 32), lo = (gd_u32)product ^ hi ^ (gd_u32)key;
    gd_fold(lo, hi, GD_PAIR_1, (gd_u32)(key >> 32));
    gd_fold(lo, hi, GD_PAIR_2, 0);
    return ((gd_u64)hi << 32) | lo;
}

// Read x / 2^64 as a fraction in [0, 1): return the digit floor(fraction * range) and leave in x what follows it. Digits
// taken one after the other from one hash are independent, because they are digits of one uniform number: each comes
// out equally often for every value of those before it, to within (product of the ranges) / 2^64.
__device__ __forceinline__ gd_u64 gd_digit(gd_u64 &x, gd_u64 range) {
    gd_u64 digit = __umul64hi(x, range);
    x *= range;
    return digit;
}
__device__ __forceinline__ gd_u32 gd_digit(gd_u64 &x, gd_u32 range) {
    const gd_u64 low = gd_wide((gd_u32)x, range, 0);
    const gd_u64 high = gd_wide((gd_u32)(x >> 32), range, low >> 32);
    x = (high << 32) | (gd_u32)low;
    return (gd_u32)(high >> 32);
}
