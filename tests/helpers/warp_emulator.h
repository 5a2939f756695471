// Runs a CUDA kernel on the CPU with its warps in lockstep where it asks for that: every thread of a block is a fiber,
// and an intrinsic on a warp returns once all 32 lanes have called the same one. A lane that has left the kernel, or
// waits at another intrinsic, while its warp waits ends the process: on a GPU that is undefined.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <ucontext.h>
#include <vector>

using std::max;
using std::min;

struct emulated_index {
    unsigned x = 0, y = 0, z = 0;
};
static emulated_index threadIdx, blockIdx, blockDim, gridDim;

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static

static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
static int atomicCAS(int *address, int expected, int value) {
    const int found = *address;
    if (found == expected) *address = value;
    return found;
}
static int atomicMin(int *address, int value) {
    const int found = *address;
    *address = min(found, value);
    return found;
}
static int __popc(unsigned x) { return __builtin_popcount(x); }

enum emulated_call { RUNNING, BALLOT, SYNC, ENDED };
struct emulated_thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    emulated_call call;
    bool vote;
    unsigned result;
};
static std::vector<emulated_thread> emulated_threads;
static ucontext_t emulated_scheduler;
static std::function<void()> emulated_body;

static unsigned emulated_meet(emulated_call call, unsigned mask, bool vote) {
    if (mask != 0xffffffffu) {
        std::fprintf(stderr, "only intrinsics on the full warp are emulated\n");
        std::abort();
    }
    emulated_thread &self = emulated_threads[threadIdx.x];
    self.call = call;
    self.vote = vote;
    swapcontext(&self.context, &emulated_scheduler);
    return self.result;
}
static unsigned __ballot_sync(unsigned mask, int vote) { return emulated_meet(BALLOT, mask, vote != 0); }
static bool __all_sync(unsigned mask, int vote) { return emulated_meet(BALLOT, mask, vote != 0) == 0xffffffffu; }
static void __syncwarp(unsigned mask = 0xffffffffu) { emulated_meet(SYNC, mask, false); }

static void emulated_entry() {
    emulated_body();
    emulated_threads[threadIdx.x].call = ENDED;
    swapcontext(&emulated_threads[threadIdx.x].context, &emulated_scheduler);
}

static void emulated_warp(unsigned first) {
    emulated_thread *lanes = &emulated_threads[first];
    do {
        for (unsigned lane = 0; lane < 32; lane++) {
            threadIdx.x = first + lane;
            lanes[lane].call = RUNNING;
            swapcontext(&emulated_scheduler, &lanes[lane].context);
        }
        unsigned votes = 0;
        for (unsigned lane = 0; lane < 32; lane++) {
            votes |= (unsigned)lanes[lane].vote << lane;
            if (lanes[lane].call != lanes[0].call) {
                std::fprintf(stderr, "warp %u of block %u diverges at an intrinsic\n", first / 32, blockIdx.x);
                std::abort();
            }
        }
        for (unsigned lane = 0; lane < 32; lane++) lanes[lane].result = votes;
    } while (lanes[0].call != ENDED);
}

// `threads` is a multiple of 32.
static void emulate(unsigned blocks, unsigned threads, std::function<void()> body) {
    const size_t stack = 1 << 14;
    emulated_body = body;
    gridDim.x = blocks;
    blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
        emulated_threads = std::vector<emulated_thread>(threads);
        for (emulated_thread &thread : emulated_threads) {
            thread.stack.reset(new char[stack]);
            getcontext(&thread.context);
            thread.context.uc_stack.ss_sp = thread.stack.get();
            thread.context.uc_stack.ss_size = stack;
            thread.context.uc_link = &emulated_scheduler;
            makecontext(&thread.context, emulated_entry, 0);
        }
        for (unsigned first = 0; first < threads; first += 32) emulated_warp(first);
    }
}
