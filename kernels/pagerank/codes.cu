// Weights as codes of fewer bytes: which codes hold every weight, and what they are. Twins and arguments: codes.py.
#include "common/common.cuh"
#include "pagerank/codes.cuh"
#include "pagerank/sliced.cuh"

__device__ __forceinline__ double gd_given(given_t given, bool single) {
    return single ? (double)(float)given : (double)given;
}

__device__ __forceinline__ bool gd_holds(double weight, double unit, double most) {
    const double code = floor(__ddiv_rn(weight, unit));
    return code >= 0.0 && code <= most && __dmul_rn(code, unit) == weight;
}

__device__ __forceinline__ weight_t gd_code(given_t given, bool single, double unit) {
    return (weight_t)__ddiv_rn(gd_given(given, single), unit);
}

extern "C" __global__ void codes_try(long long n, const given_t *given, long long single, double one, double two,
                                     int *misfits) {
    bool beyond_one = false, beyond_two = false, beyond_float = false;
    GD_FOR(k, n) {
        const double weight = gd_given(__ldcs(given + k), single);
        beyond_one |= !gd_holds(weight, one, 255.0);
        beyond_two |= !gd_holds(weight, two, 65535.0);
        beyond_float |= (double)(float)weight != weight;
    }
    if (beyond_one) misfits[0] = 1;  // whoever else writes, writes the same
    if (beyond_two) misfits[1] = 1;
    if (beyond_float) misfits[2] = 1;
}

extern "C" __global__ void codes_write(long long n, const given_t *given, long long single, double unit,
                                       weight_t *out) {
    GD_FOR(k, n) out[k] = gd_code(__ldcs(given + k), single, unit);
}

struct Coded {
    const given_t *given;
    double unit;
    bool single;

    __device__ __forceinline__ weight_t operator()(long long edge) const {
        return edge < 0 ? (weight_t)0 : gd_code(given[edge], single, unit);
    }
};

extern "C" __global__ void codes_slice(long long n, const long long *items, long long lanes, long long count,
                                       const long long *first, const given_t *given, long long single, double unit,
                                       weight_t *out) {
    gd_slice(n, items, (int)lanes, count, first, Coded{given, unit, single != 0}, out);
}
