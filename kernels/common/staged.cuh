// What all threads of a block read often, in shared memory.
#pragma once

// Several on their way at a time, for nobody has anything else to do yet.
__device__ __forceinline__ void gd_stage(const real_t *x, int hot, real_t *staged) {
    constexpr int AHEAD = 32 / sizeof(real_t);
    const int threads = blockDim.x;
#pragma unroll 1
    for (int i = threadIdx.x; i < hot; i += AHEAD * threads) {
        real_t value[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            if (i + k * threads < hot) value[k] = __ldg(x + i + k * threads);
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            if (i + k * threads < hot) staged[i + k * threads] = value[k];
    }
}
