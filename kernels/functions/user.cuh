// Arithmetic of a user's Python function, as graphdask.program.translate writes it: Python's semantics on 64-bit
// integers and doubles, the same bits as the twins in user.py.
//
// What Python raises for (a division by zero, the root of a negative number) and what does not fit 64 bits stores
// 16 * site + reason in `*failure`, unless there is something already, and is 0; graphdask.program.translate knows the
// line of the site. No product is fused with a sum, and exp, log and powers are computed here from sums and products,
// because the libraries of a CPU and a GPU round them differently: the argument is reduced by multiples of log 2, and
// the rest is the series of exp, or that of 2 artanh(f / (2 + f)) = log(1 + f) (J.-M. Muller, "Elementary Functions",
// Birkhaeuser, chapters 3 and 11).
#pragma once

#define GD_BY_ZERO 1
#define GD_OVERFLOW 2
#define GD_ROOT 3
#define GD_LOGARITHM 4
#define GD_TOO_LARGE 5
#define GD_FRACTIONAL_POWER 6
#define GD_NO_INTEGER 7
#define GD_NEGATIVE_POWER 8
#define GD_NO_STEP 9
#define GD_NO_END 10

#define GD_MOST_STEPS (1LL << 20)
#define GD_SMALLEST_INTEGER (-9223372036854775807LL - 1)

__device__ __forceinline__ void gd_failed(int *failure, int site, int reason) {
    atomicCAS(failure, 0, 16 * site + reason);
}

template <class T> __device__ __forceinline__ T gd_smaller(T a, T b) { return b < a ? b : a; }
template <class T> __device__ __forceinline__ T gd_larger(T a, T b) { return b > a ? b : a; }

__device__ __forceinline__ long long gd_int_add(long long a, long long b, int *failure, int site) {
    const long long sum = (long long)((unsigned long long)a + (unsigned long long)b);
    if (((a ^ sum) & (b ^ sum)) >= 0) return sum;
    gd_failed(failure, site, GD_OVERFLOW);
    return 0;
}
__device__ __forceinline__ long long gd_int_subtract(long long a, long long b, int *failure, int site) {
    const long long difference = (long long)((unsigned long long)a - (unsigned long long)b);
    if (((a ^ b) & (a ^ difference)) >= 0) return difference;
    gd_failed(failure, site, GD_OVERFLOW);
    return 0;
}
__device__ __forceinline__ long long gd_int_multiply(long long a, long long b, int *failure, int site) {
    const long long product = (long long)((unsigned long long)a * (unsigned long long)b);
    if (a == (int)a && b == (int)b) return product;
    if (a == 0 || b == 0) return 0;
    if (a == -1 || b == -1) {
        if (product != GD_SMALLEST_INTEGER) return product;
    } else if (product / a == b) {
        return product;
    }
    gd_failed(failure, site, GD_OVERFLOW);
    return 0;
}
__device__ __forceinline__ long long gd_int_absolute(long long a, int *failure, int site) {
    return a < 0 ? gd_int_subtract(0, a, failure, site) : a;
}
__device__ __forceinline__ long long gd_int_quotient(long long a, long long b, int *failure, int site) {
    if (b == 0) {
        gd_failed(failure, site, GD_BY_ZERO);
        return 0;
    }
    if (b == -1) return gd_int_subtract(0, a, failure, site);
    const long long quotient = a / b;
    return quotient - (quotient * b != a && (a < 0) != (b < 0));
}
__device__ __forceinline__ long long gd_int_remainder(long long a, long long b, int *failure, int site) {
    if (b == 0) {
        gd_failed(failure, site, GD_BY_ZERO);
        return 0;
    }
    if (b == -1) return 0;
    const long long remainder = a % b;
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}
__device__ __forceinline__ long long gd_int_power(long long a, long long n, int *failure, int site) {
    if (n < 0) {
        gd_failed(failure, site, GD_NEGATIVE_POWER);
        return 0;
    }
    long long power = 1;
    while (n) {
        if (n & 1) power = gd_int_multiply(power, a, failure, site);
        n >>= 1;
        if (n) a = gd_int_multiply(a, a, failure, site);
    }
    return power;
}
__device__ __forceinline__ long long gd_int_of(double x, int *failure, int site) {
    if (x >= -9223372036854775808.0 && x < 9223372036854775808.0) return (long long)x;
    gd_failed(failure, site, GD_NO_INTEGER);
    return 0;
}
// How many numbers range(start, stop, step) has; a count beyond what a function may loop is not exact.
__device__ __forceinline__ long long gd_range_length(long long start, long long stop, long long step, int *failure,
                                                     int site) {
    if (step == 0) {
        gd_failed(failure, site, GD_NO_STEP);
        return 0;
    }
    if (step > 0 ? start >= stop : start <= stop) return 0;
    const unsigned long long a = (unsigned long long)start, b = (unsigned long long)stop, by = (unsigned long long)step;
    const unsigned long long length = step > 0 ? (b - a - 1) / by + 1 : (a - b - 1) / (0 - by) + 1;
    return (long long)gd_smaller(length, 1ULL << 40);
}
__device__ __forceinline__ long long gd_range_item(long long start, long long step, long long k) {
    return (long long)((unsigned long long)start + (unsigned long long)step * (unsigned long long)k);
}

__device__ __forceinline__ double gd_add(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ double gd_subtract(double a, double b) { return __dsub_rn(a, b); }
__device__ __forceinline__ double gd_multiply(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ double gd_infinity() { return __longlong_as_double(0x7ff0000000000000LL); }

__device__ __forceinline__ double gd_divide(double a, double b, int *failure, int site) {
    if (b != 0.0) return __ddiv_rn(a, b);
    gd_failed(failure, site, GD_BY_ZERO);
    return 0.0;
}
__device__ __forceinline__ double gd_quotient(double a, double b, int *failure, int site) {
    if (b == 0.0) {
        gd_failed(failure, site, GD_BY_ZERO);
        return 0.0;
    }
    double rest = fmod(a, b), quotient = __ddiv_rn(__dsub_rn(a, rest), b);
    if (rest != 0.0 && (b < 0.0) != (rest < 0.0)) quotient = __dsub_rn(quotient, 1.0);
    if (quotient == 0.0) return copysign(0.0, __ddiv_rn(a, b));
    const double whole = floor(quotient);
    return __dsub_rn(quotient, whole) > 0.5 ? __dadd_rn(whole, 1.0) : whole;
}
__device__ __forceinline__ double gd_remainder(double a, double b, int *failure, int site) {
    if (b == 0.0) {
        gd_failed(failure, site, GD_BY_ZERO);
        return 0.0;
    }
    const double rest = fmod(a, b);
    if (rest == 0.0) return copysign(0.0, b);
    return (b < 0.0) != (rest < 0.0) ? __dadd_rn(rest, b) : rest;
}
__device__ __forceinline__ double gd_root(double x, int *failure, int site) {
    if (!(x < 0.0)) return sqrt(x);
    gd_failed(failure, site, GD_ROOT);
    return 0.0;
}

__device__ __forceinline__ double gd_term(double sum, double x, double next) {
    return __dadd_rn(__dmul_rn(sum, x), next);
}
// exp(x) for -746 < x < 710; infinite where that is too large.
__device__ __forceinline__ double gd_exponential(double x) {
    const double k = floor(gd_term(x, 1.4426950408889634, 0.5));
    const double high = __dsub_rn(x, __dmul_rn(k, 0.6931471803691238)), low = __dmul_rn(k, 1.9082149292705877e-10);
    const double r = __dsub_rn(high, low), lost = __dsub_rn(__dsub_rn(high, r), low);
    double sum = 1.6059043836821613e-10;
    sum = gd_term(sum, r, 2.08767569878681e-09);
    sum = gd_term(sum, r, 2.505210838544172e-08);
    sum = gd_term(sum, r, 2.755731922398589e-07);
    sum = gd_term(sum, r, 2.7557319223985893e-06);
    sum = gd_term(sum, r, 2.48015873015873e-05);
    sum = gd_term(sum, r, 0.0001984126984126984);
    sum = gd_term(sum, r, 0.001388888888888889);
    sum = gd_term(sum, r, 0.008333333333333333);
    sum = gd_term(sum, r, 0.041666666666666664);
    sum = gd_term(sum, r, 0.16666666666666666);
    sum = gd_term(sum, r, 0.5);
    const double rest = __dadd_rn(__dmul_rn(__dmul_rn(r, r), sum), lost);
    const int half = (int)floor(__dmul_rn(k, 0.5));
    const double power = __dmul_rn(__dadd_rn(1.0, __dadd_rn(r, rest)), ldexp(1.0, half));
    return __dmul_rn(power, ldexp(1.0, (int)k - half));
}
// log(x) for finite x > 0.
__device__ __forceinline__ double gd_logarithm(double x) {
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.7071067811865476) {
        m = __dmul_rn(m, 2.0);
        exponent -= 1;
    }
    const double k = (double)exponent, f = __dsub_rn(m, 1.0), s = __ddiv_rn(f, __dadd_rn(2.0, f)), z = __dmul_rn(s, s);
    double sum = 0.08;
    sum = gd_term(sum, z, 0.08695652173913043);
    sum = gd_term(sum, z, 0.09523809523809523);
    sum = gd_term(sum, z, 0.10526315789473684);
    sum = gd_term(sum, z, 0.11764705882352941);
    sum = gd_term(sum, z, 0.13333333333333333);
    sum = gd_term(sum, z, 0.15384615384615385);
    sum = gd_term(sum, z, 0.18181818181818182);
    sum = gd_term(sum, z, 0.2222222222222222);
    sum = gd_term(sum, z, 0.2857142857142857);
    sum = gd_term(sum, z, 0.4);
    sum = gd_term(sum, z, 0.6666666666666666);
    const double less = __dmul_rn(s, __dsub_rn(f, __dmul_rn(z, sum)));
    const double low = __dsub_rn(less, __dmul_rn(k, 1.9082149292705877e-10));
    return __dadd_rn(__dmul_rn(k, 0.6931471803691238), __dsub_rn(f, low));
}
__device__ __forceinline__ double gd_exp(double x, int *failure, int site) {
    if (x != x || x == gd_infinity()) return x;
    if (x < -746.0) return 0.0;
    const double power = x < 710.0 ? gd_exponential(x) : gd_infinity();
    if (power < gd_infinity()) return power;
    gd_failed(failure, site, GD_TOO_LARGE);
    return 0.0;
}
__device__ __forceinline__ double gd_log(double x, int *failure, int site) {
    if (x != x || x == gd_infinity()) return x;
    if (x > 0.0) return gd_logarithm(x);
    gd_failed(failure, site, GD_LOGARITHM);
    return 0.0;
}
// x ** y for finite x > 0 and y: by products where y is a small whole number, so that 3.0 ** 2 is 9.
__device__ __forceinline__ double gd_positive_power(double x, double y) {
    const double size = fabs(y);
    if (size <= 1024.0 && floor(size) == size) {
        double power = 1.0, square = x;
        for (int n = (int)size; n; n >>= 1) {
            if (n & 1) power = __dmul_rn(power, square);
            square = __dmul_rn(square, square);
        }
        if (y > 0.0) return power;
        if (power > 1e-300 && power < 1e300) return __ddiv_rn(1.0, power);
    }
    if (size == 0.5) return y > 0.0 ? sqrt(x) : __ddiv_rn(1.0, sqrt(x));
    const double exponent = __dmul_rn(y, gd_logarithm(x));
    return exponent < -746.0 ? 0.0 : exponent < 710.0 ? gd_exponential(exponent) : gd_infinity();
}
__device__ __forceinline__ double gd_power(double x, double y, int *failure, int site) {
    if (y == 0.0 || x == 1.0) return 1.0;
    if (x != x || y != y) return __dadd_rn(x, y);
    const double base = fabs(x), size = fabs(y);
    if (size == gd_infinity()) return base == 1.0 ? 1.0 : (y > 0.0) == (base > 1.0) ? gd_infinity() : 0.0;
    const bool odd = fmod(size, 2.0) == 1.0;
    if (base == gd_infinity()) return y > 0.0 ? (odd ? x : base) : odd ? copysign(0.0, x) : 0.0;
    if (base == 0.0) {
        if (y > 0.0) return odd ? x : 0.0;
        gd_failed(failure, site, GD_BY_ZERO);
        return 0.0;
    }
    if (x < 0.0 && floor(y) != y) {
        gd_failed(failure, site, GD_FRACTIONAL_POWER);
        return 0.0;
    }
    const double power = gd_positive_power(base, y);
    if (power < gd_infinity()) return x < 0.0 && odd ? -power : power;
    gd_failed(failure, site, GD_TOO_LARGE);
    return 0.0;
}
