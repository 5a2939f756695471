// What the kernels of program.cu call, of a program that sends labels and keeps the smallest. Twins: program_default.py.
#pragma once

#define GD_AGGREGATES 0  // of which there are functions that are added up, or extremes of them
#define GD_COUNTS 0      // whether a function asks how many messages came

struct Message {
    long long v0;
};

__device__ __forceinline__ void begin(index_t v, long long field, const Program &a) { a.state0[v] = a.ids[v]; }
__device__ __forceinline__ bool value_of(index_t v, const Program &a) {
    a.value0[v] = a.state0[v];
    return true;
}
__device__ __forceinline__ bool message(index_t u, index_t v, long long e, const Program &a, Message &sent) {
    sent.v0 = a.value0[u];
    return true;
}
__device__ __forceinline__ Message nothing() { return Message{9223372036854775807LL}; }
__device__ __forceinline__ Message merge(const Message &held, const Message &sent) {
    return Message{sent.v0 < held.v0 ? sent.v0 : held.v0};
}
__device__ __forceinline__ bool settled(const Message &held, long long least, long long most) { return held.v0 <= least; }
__device__ __forceinline__ double priority(index_t v, const Program &a) { return (double)a.state0[v]; }
__device__ __forceinline__ Message got(index_t v, const Program &a) { return Message{a.message0[v]}; }
__device__ __forceinline__ void put(index_t v, const Message &held, const Program &a) { a.message0[v] = held.v0; }
__device__ __forceinline__ bool improves(index_t v, const Message &sent, const Program &a, bool &first) {
    const long long held = a.message0[v];
    first = held == nothing().v0;
    return sent.v0 < held;
}
__device__ __forceinline__ void push(index_t v, const Message &sent, const Program &a) {
    atomicMin(a.message0 + v, sent.v0);
}
__device__ __forceinline__ void take(long long i, index_t v, const Program &a) {
    atomicMin(a.message0 + v, a.given0[i]);
}
__device__ __forceinline__ bool know(int k, const long long *sums, const Program &a) { return false; }
__device__ __forceinline__ bool host_looks(long long active, long long superstep, const Program &a) { return false; }
__device__ __forceinline__ bool takes_least(int k) { return false; }
__device__ __forceinline__ bool apply(index_t v, const Program &a, long long *sums) {
    if (a.message0[v] >= a.state0[v]) return false;
    a.state0[v] = a.message0[v];
    return true;
}
