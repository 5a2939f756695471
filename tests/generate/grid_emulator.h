// Runs a CUDA kernel whose blocks wait for each other on the CPU: every block is a thread of the operating system, so
// that blocks race, and the threads of a block are fibers of it, which switch at __syncthreads alone. A thread that ends
// while its block waits there is taken as waiting, as on a GPU. Intrinsics on a warp end the process.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sched.h>
#include <thread>
#include <ucontext.h>
#include <vector>

struct emulated_index {
    unsigned x = 0, y = 0, z = 0;
};
static thread_local emulated_index threadIdx, blockIdx, blockDim, gridDim;

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static thread_local

static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
static void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static void __nanosleep(unsigned) { sched_yield(); }

template <class T> static T atomicAdd(T *address, T value) { return __atomic_fetch_add(address, value, __ATOMIC_RELAXED); }
template <class T> static T atomicCAS(T *address, T expected, T value) {
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
template <class T> static T atomicMax(T *address, T value) {
    T old = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (old < value && !__atomic_compare_exchange_n(address, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return old;
}
template <class T> static T atomicMin(T *address, T value) {
    T old = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (old > value && !__atomic_compare_exchange_n(address, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return old;
}
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __ffs(unsigned x) { return __builtin_ffs((int)x); }
static unsigned __activemask() { std::abort(); }
template <class T> static T __shfl_sync(unsigned, T, int) { std::abort(); }

struct emulated_thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    bool ended = false;
};
static thread_local std::vector<emulated_thread> emulated_threads;
static thread_local ucontext_t emulated_scheduler;
static std::function<void()> emulated_body;

static void __syncthreads() { swapcontext(&emulated_threads[threadIdx.x].context, &emulated_scheduler); }

static void emulated_entry() {
    emulated_body();
    emulated_threads[threadIdx.x].ended = true;
    swapcontext(&emulated_threads[threadIdx.x].context, &emulated_scheduler);
}

static void emulated_block(unsigned block, unsigned blocks, unsigned threads) {
    const size_t stack = 1 << 15;
    blockIdx.x = block;
    gridDim.x = blocks;
    blockDim.x = threads;
    emulated_threads = std::vector<emulated_thread>(threads);
    for (emulated_thread &thread : emulated_threads) {
        thread.stack.reset(new char[stack]);
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.get();
        thread.context.uc_stack.ss_size = stack;
        thread.context.uc_link = &emulated_scheduler;
        makecontext(&thread.context, emulated_entry, 0);
    }
    for (bool running = true; running;) {
        running = false;
        for (unsigned i = 0; i < threads; i++) {
            if (emulated_threads[i].ended) continue;
            threadIdx.x = i;
            swapcontext(&emulated_scheduler, &emulated_threads[i].context);
            running = running || !emulated_threads[i].ended;
        }
    }
}

static void emulate(unsigned blocks, unsigned threads, std::function<void()> body) {
    emulated_body = body;
    std::vector<std::thread> running;
    for (unsigned block = 0; block < blocks; block++) running.emplace_back(emulated_block, block, blocks, threads);
    for (std::thread &block : running) block.join();
}
