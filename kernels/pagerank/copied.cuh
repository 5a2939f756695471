// Copies from global to shared memory that a thread does not wait for until it says so, by way of no register, and the
// threads of a block in teams that wait for each other only.
#pragma once

struct Team {
    int number, thread, threads;
};

// All threads of a team have come here. In an emulation there is one team.
__device__ __forceinline__ void gd_meet(Team team) {
#ifdef __CUDA_ARCH__
    asm volatile("bar.sync %0, %1;" ::"r"(team.number + 1), "r"(team.threads) : "memory");
#else
    __syncthreads();
#endif
}

// A team copies `count` times 16 bytes; both ends are aligned so.
__device__ __forceinline__ void gd_copy_wide(void *shared, const void *global, int count, Team team) {
    for (int i = team.thread; i < count; i += team.threads) {
        const char *const from = (const char *)global + 16LL * i;
        char *const to = (char *)shared + 16LL * i;
#ifdef __CUDA_ARCH__
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
#else
        for (int k = 0; k < 2; k++) ((unsigned long long *)to)[k] = ((const unsigned long long *)from)[k];
#endif
    }
}

// Wait for this thread's own; meeting tells of those of the others.
__device__ __forceinline__ void gd_copied() {
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
