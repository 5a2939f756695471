// The threads of a CUDA kernel on a CPU: every one is a fiber, and a seeded random order decides which goes on wherever
// threads may overtake each other on a GPU, so that what depends on an order shows. CUDA's names: cuda_emulator.h.
//
// Threads of a block meet at __syncthreads, lanes of a warp at the intrinsics with a mask; who waits where nobody comes
// fails the launch, and so do some that meet at different places. __activemask gives any of the lanes that stand at the
// same place. Shared memory belongs to a block and begins with noise (emulated.py rewrites its declarations). Some of
// the blocks run at the same time, the rest after them; all at the same time in a cooperative launch. Memory is
// sequentially consistent: a missing fence does not show.
// Kernels are compiled with -fsanitize=thread, whose hooks cuda_threads.cpp answers and not the sanitizer's library: each
// access must lie in an argument, in shared memory, in a variable of the file or on the thread's own stack, and is a
// place where another thread may come in. One launch at a time, which the caller sees to.
#pragma once
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <cmath>
#include <type_traits>
#include <ucontext.h>
#include <utility>

#define EMULATOR __attribute__((no_sanitize("thread", "undefined"), unused))
#define EMULATOR_CALL __attribute__((no_sanitize("thread", "undefined"), noinline, noclone, unused))

#define __device__
#define __global__
#define __constant__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

#pragma GCC visibility push(hidden)
namespace emulator {

enum Waiting { READY, SYNC_THREADS, ACTIVE_MASK, SYNC_WARP, BALLOT, SHUFFLE, MATCH, REDUCE, ENDED };
constexpr unsigned WARP = 32, MOST_BLOCKS = 8, MOST_THREADS = 1024, SHARED = 1 << 18;
constexpr size_t STACK = 1 << 16;

struct Block;
struct Fiber {
    jmp_buf at;
    ucontext_t first;
    char *stack;
    bool made, in_ready;
    Block *block;
    unsigned thread;
    Waiting waits;
    uint64_t place;       // where the program waits
    unsigned mask;       // what it waits with, and what comes out
    uint64_t value, out;
    int lane;            // to read from
    uint64_t joined;     // times it met others
};
struct Block {
    unsigned index, alive, arrived;
    uint64_t any, all, sum;
    char *shared;
    Fiber fibers[MOST_THREADS];
};
struct Index {
    unsigned x, y, z;
};

// Variables of cuda_threads.cpp, and what it does for the calls of cuda_emulator.h.
extern Fiber *me;
extern unsigned threads_of_block, blocks_of_grid, teams_of_grid;

unsigned long long nanoseconds();
void yield();
void maybe_yield(unsigned one_of);
uint64_t sync_threads(unsigned how, uint64_t value, uint64_t place);
uint64_t warp_call(Waiting kind, unsigned mask, uint64_t value, int lane, uint64_t place);
unsigned active_mask(uint64_t place);
void check(const void *address, size_t size, bool writes);
void *shared(size_t *place, size_t size);

// Run a kernel with arguments of which it gets the addresses, and which may point into the memory from begins[i] to
// ends[i]; what failed, or null.
const char *launch(const char *kernel, void (*body)(void **), unsigned grid, unsigned teams, unsigned threads,
                   unsigned shared, uint64_t seed, unsigned at_once, unsigned preemptive, void **arguments,
                   unsigned count, const uint64_t *begins, const uint64_t *ends);

template <class T> struct DynamicShared {
    EMULATOR operator T *() const { return (T *)(me->block->shared + SHARED); }
};
}  // namespace emulator
#pragma GCC visibility pop
