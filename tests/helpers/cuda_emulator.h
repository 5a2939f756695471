// CUDA C++ on a CPU, for kernels that no test can run on a GPU: its names over the threads of cuda_threads.h, and the
// functions through which emulated.py launches a kernel. What a kernel calls and is not here does not compile.
#pragma once
#include "cuda_threads.h"

#define threadIdx (emulator::thread_index())
#define blockIdx (emulator::block_index())
#define blockDim (emulator::block_size())
#define gridDim (emulator::grid_size())
// Where a call stands in the source. The compiler may have made several calls of it, and lanes may take any of them;
// those of __activemask, which does not say whom it wants to meet, are told apart by their place in the program.
#define EMULATOR_AT uint64_t place = __builtin_LINE() ^ (uint64_t)__builtin_FILE() << 20
namespace emulator {
EMULATOR static Index thread_index() { return {me->thread, 0, 0}; }
EMULATOR static Index block_index() {
    const unsigned each = blocks_of_grid / teams_of_grid;
    return {me->block->index % each, me->block->index / each, 0};
}
EMULATOR static Index block_size() { return {threads_of_block, 1, 1}; }
EMULATOR static Index grid_size() { return {blocks_of_grid / teams_of_grid, teams_of_grid, 1}; }

template <class T> EMULATOR static uint64_t bits(T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "CUDA exchanges 4 or 8 bytes");
    uint64_t out = 0;
    std::memcpy(&out, &value, sizeof value);
    return out;
}
template <class T> EMULATOR static T from_bits(uint64_t bits) {
    T out;
    std::memcpy(&out, &bits, sizeof out);
    return out;
}
template <class T, class U> EMULATOR static U convert(T from) {
    static_assert(sizeof(T) == sizeof(U), "");
    return from_bits<U>(bits(from));
}
template <class T> EMULATOR static void atomic_access(T *address) {
    check(address, sizeof(T), true);
    maybe_yield(4);
}
}  // namespace emulator

EMULATOR_CALL static void __syncthreads(EMULATOR_AT) { emulator::sync_threads(0, 0, place); }
EMULATOR_CALL static int __syncthreads_or(int p, EMULATOR_AT) { return (int)emulator::sync_threads(1, p != 0, place); }
EMULATOR_CALL static int __syncthreads_and(int p, EMULATOR_AT) { return (int)emulator::sync_threads(2, p != 0, place); }
EMULATOR_CALL static int __syncthreads_count(int p, EMULATOR_AT) {
    return (int)emulator::sync_threads(3, p != 0, place);
}
EMULATOR_CALL static unsigned __activemask() { return emulator::active_mask((uint64_t)__builtin_return_address(0)); }
EMULATOR_CALL static void __syncwarp(unsigned mask = 0xffffffffu, EMULATOR_AT) {
    emulator::warp_call(emulator::SYNC_WARP, mask, 0, 0, place);
}
EMULATOR_CALL static unsigned __ballot_sync(unsigned mask, int p, EMULATOR_AT) {
    return (unsigned)emulator::warp_call(emulator::BALLOT, mask, p != 0, 0, place);
}
EMULATOR_CALL static int __any_sync(unsigned mask, int p, EMULATOR_AT) {
    return emulator::warp_call(emulator::BALLOT, mask, p != 0, 0, place) != 0;
}
EMULATOR_CALL static int __all_sync(unsigned mask, int p, EMULATOR_AT) {
    return emulator::warp_call(emulator::BALLOT, mask, p != 0, 0, place) == mask;
}
template <class T> EMULATOR_CALL static unsigned __match_any_sync(unsigned mask, T value, EMULATOR_AT) {
    return (unsigned)emulator::warp_call(emulator::MATCH, mask, emulator::bits(value), 0, place);
}
namespace emulator {
template <class T> EMULATOR static T shuffle(unsigned mask, T value, int lane, uint64_t place) {
    return from_bits<T>(warp_call(SHUFFLE, mask, bits(value), lane, place));
}
EMULATOR static int lane() { return (int)(me->thread % WARP); }
}  // namespace emulator
template <class T> EMULATOR_CALL static T __shfl_sync(unsigned mask, T value, int from, int width = 32, EMULATOR_AT) {
    return emulator::shuffle(mask, value, (emulator::lane() & -width) | (from & (width - 1)), place);
}
template <class T>
EMULATOR_CALL static T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, EMULATOR_AT) {
    const int lane = emulator::lane(), from = lane ^ bits;
    return emulator::shuffle(mask, value, from < (lane & -width) + width ? from : lane, place);
}
template <class T>
EMULATOR_CALL static T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32, EMULATOR_AT) {
    const int lane = emulator::lane(), from = lane + (int)by;
    return emulator::shuffle(mask, value, from < (lane & -width) + width ? from : lane, place);
}
template <class T>
EMULATOR_CALL static T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, EMULATOR_AT) {
    const int lane = emulator::lane(), from = lane - (int)by;
    return emulator::shuffle(mask, value, from >= (lane & -width) ? from : lane, place);
}
#define EMULATOR_REDUCE(name, type, how) \
    EMULATOR_CALL static type __reduce_##name##_sync(unsigned mask, type value, EMULATOR_AT) { \
        return (type)emulator::warp_call(emulator::REDUCE, mask, (uint64_t)(int64_t)value, how, place); \
    }
EMULATOR_REDUCE(add, unsigned, 0)
EMULATOR_REDUCE(add, int, 0)
EMULATOR_REDUCE(and, unsigned, 1)
EMULATOR_REDUCE(or, unsigned, 2)
EMULATOR_REDUCE(min, unsigned, 3)
EMULATOR_REDUCE(max, unsigned, 4)
EMULATOR_REDUCE(min, int, 5)
EMULATOR_REDUCE(max, int, 6)

#define EMULATOR_ATOMIC(name, type, result) \
    EMULATOR_CALL static type atomic##name(type *address, type value) { \
        emulator::atomic_access(address); \
        const type old = *address; \
        *address = (result); \
        return old; \
    }
#define EMULATOR_ATOMICS_32(name, result) \
    EMULATOR_ATOMIC(name, int, result) \
    EMULATOR_ATOMIC(name, unsigned, result)
#define EMULATOR_ATOMICS(name, result) \
    EMULATOR_ATOMICS_32(name, result) \
    EMULATOR_ATOMIC(name, unsigned long long, result)
EMULATOR_ATOMICS(Add, old + value)
EMULATOR_ATOMIC(Add, float, old + value)
EMULATOR_ATOMIC(Add, double, old + value)
EMULATOR_ATOMICS_32(Sub, old - value)
EMULATOR_ATOMICS(Min, old < value ? old : value)
EMULATOR_ATOMIC(Min, long long, old < value ? old : value)
EMULATOR_ATOMICS(Max, old > value ? old : value)
EMULATOR_ATOMIC(Max, long long, old > value ? old : value)
EMULATOR_ATOMICS(And, old &value)
EMULATOR_ATOMICS(Or, old | value)
EMULATOR_ATOMICS(Xor, old ^ value)
EMULATOR_ATOMICS(Exch, value)
EMULATOR_ATOMIC(Exch, float, value)
#define EMULATOR_CAS(type) \
    EMULATOR_CALL static type atomicCAS(type *address, type expected, type value) { \
        emulator::atomic_access(address); \
        const type old = *address; \
        if (old == expected) *address = value; \
        return old; \
    }
EMULATOR_CAS(int)
EMULATOR_CAS(unsigned)
EMULATOR_CAS(unsigned long long)

EMULATOR_CALL static void __threadfence() { emulator::maybe_yield(2); }
EMULATOR_CALL static void __threadfence_system() { emulator::maybe_yield(2); }
EMULATOR_CALL static void __threadfence_block() { emulator::maybe_yield(2); }
EMULATOR_CALL static void __nanosleep(unsigned) { emulator::yield(); }
template <class T> static inline T __ldg(const T *address) { return *address; }
template <class T> static inline T __ldcs(const T *address) { return *address; }
template <class T> static inline T __ldcg(const T *address) { return *address; }
template <class T> static inline void __stcs(T *address, T value) { *address = value; }

template <class A, class B> static constexpr std::common_type_t<A, B> min(A a, B b) {
    const std::common_type_t<A, B> x = a, y = b;
    return y < x ? y : x;
}
template <class A, class B> static constexpr std::common_type_t<A, B> max(A a, B b) {
    const std::common_type_t<A, B> x = a, y = b;
    return x < y ? y : x;
}
EMULATOR static inline int __popc(unsigned x) { return __builtin_popcount(x); }
EMULATOR static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
EMULATOR static inline int __ffs(int x) { return __builtin_ffs(x); }
EMULATOR static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
EMULATOR static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
EMULATOR static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
EMULATOR static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
EMULATOR static inline int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
EMULATOR static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
EMULATOR static inline double __dadd_rn(double a, double b) { return a + b; }
EMULATOR static inline double __dsub_rn(double a, double b) { return a - b; }
EMULATOR static inline double __dmul_rn(double a, double b) { return a * b; }
EMULATOR static inline double __ddiv_rn(double a, double b) { return a / b; }
EMULATOR static inline float __fadd_rn(float a, float b) { return a + b; }
EMULATOR static inline float __fsub_rn(float a, float b) { return a - b; }
EMULATOR static inline float __fmul_rn(float a, float b) { return a * b; }
EMULATOR static inline float __fdiv_rn(float a, float b) { return a / b; }
EMULATOR static inline long long __double_as_longlong(double x) { return emulator::convert<double, long long>(x); }
EMULATOR static inline double __longlong_as_double(long long x) { return emulator::convert<long long, double>(x); }
// Nothing is rounded to a float but where its order counts; so a step down is taken wherever it was rounded up.
EMULATOR static inline float __double2float_rd(double x) {
    const float nearest = (float)x;
    return (double)nearest > x ? std::nextafter(nearest, -std::numeric_limits<float>::infinity()) : nearest;
}
EMULATOR static inline float __ll2float_rd(long long x) {
    const float nearest = (float)x;
    return nearest >= 9223372036854775808.0f || (long long)nearest > x ? std::nextafter(nearest, 0.0f) : nearest;
}
EMULATOR static inline float __int2float_rd(int x) { return __double2float_rd((double)x); }
EMULATOR static inline int __float_as_int(float x) { return emulator::convert<float, int>(x); }
EMULATOR static inline float __int_as_float(int x) { return emulator::convert<int, float>(x); }
EMULATOR static inline long long __double2ll_rn(double x) { return (long long)std::nearbyint(x); }
EMULATOR static inline unsigned long long __double2ull_rn(double x) {  // it saturates
    return !(x > 0) ? 0 : x >= 18446744073709551616.0 ? ~0ULL : (unsigned long long)std::nearbyint(x);
}

// What emulated.py calls: a kernel with arguments of which it has the addresses, and the types of its parameters: "*"
// for a pointer, then u, i or f, and the bytes.
namespace emulator {
template <class... T, size_t... I>
EMULATOR static void call(void (*function)(T...), void **arguments, std::index_sequence<I...>) {
    function(*(T *)arguments[I]...);
}
template <class... T> EMULATOR static void call(void (*function)(T...), void **arguments) {
    call(function, arguments, std::index_sequence_for<T...>());
}

template <class T> EMULATOR static void describe(char *&out) {
    using value = std::remove_cv_t<std::remove_pointer_t<T>>;
    static_assert(std::is_arithmetic<value>::value, "");
    if (std::is_pointer<T>::value) *out++ = '*';
    *out++ = std::is_floating_point<value>::value ? 'f' : std::is_signed<value>::value ? 'i' : 'u';
    *out++ = (char)('0' + sizeof(value));
    *out++ = ' ';
}
template <class... T> EMULATOR static const char *types(void (*)(T...)) {
    static char text[4 * sizeof...(T) + 1], *out;
    out = text;
    (describe<T>(out), ...);
    return text;
}
}  // namespace emulator

#define EMULATOR_EXPORT extern "C" __attribute__((visibility("default"), no_sanitize("thread", "undefined")))
#define EMULATOR_KERNEL(name) \
    EMULATOR static void call_##name(void **arguments) { emulator::call(name, arguments); } \
    EMULATOR_EXPORT const char *types_of_##name() { return emulator::types(name); } \
    EMULATOR_EXPORT const char *launch_##name(unsigned grid, unsigned teams, unsigned threads, unsigned shared, \
                                              uint64_t seed, unsigned at_once, unsigned preemptive, void **arguments, \
                                              unsigned count, const uint64_t *begins, const uint64_t *ends) { \
        return emulator::launch(#name, call_##name, grid, teams, threads, shared, seed, at_once, preemptive, \
                                arguments, count, begins, ends); \
    }
