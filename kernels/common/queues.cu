// Queues of walkers by the partition where they stand. The twins in queues.py say what the arguments are.
//
// A block counts in shared memory, so that counters of all blocks are written once for many walkers.
//
// Source: Pandey et al., c-saw, Section V-B (a queue for each partition).
#include "common/common.cuh"
#include "common/queues_pack.py"

#define GD_TILE 8  // walkers of a thread between two reservations

typedef unsigned long long gd_u64;

extern "C" __global__ void queues_count(long long n, const int *__restrict__ places, const int *__restrict__ lengths,
                                        long long parts, long long *tally) {
    extern __shared__ int gd_counts[];
    for (int p = (int)threadIdx.x; p < (int)parts; p += (int)blockDim.x) gd_counts[p] = 0;
    __syncthreads();
    long long steps = 0;
    GD_FOR(i, n) {
        if (places[i] < (int)parts) atomicAdd(&gd_counts[places[i]], 1);
        steps += lengths[i];
    }
    for (int by = 16; by; by >>= 1) steps += __shfl_xor_sync(0xffffffffu, steps, by);
    if ((threadIdx.x & 31) == 0 && steps) atomicAdd((gd_u64 *)&tally[parts], (gd_u64)steps);
    __syncthreads();
    for (int p = (int)threadIdx.x; p < (int)parts; p += (int)blockDim.x)
        if (gd_counts[p]) atomicAdd((gd_u64 *)&tally[p], (gd_u64)gd_counts[p]);
}

extern "C" __global__ void queues_fill(long long n, const int *__restrict__ places, long long parts, long long *tally,
                                       long long *__restrict__ queue) {
    extern __shared__ long long gd_begins[];  // of each partition the place of its next walker; then numbers of them
    int *const counts = (int *)(gd_begins + parts);
    long long *const heads = tally + parts + 1;
    const int threads = (int)blockDim.x, t = (int)threadIdx.x;
    const long long tile = (long long)threads * GD_TILE;
    for (long long from = (long long)blockIdx.x * tile; from < n; from += (long long)gridDim.x * tile) {
        for (int p = t; p < (int)parts; p += threads) counts[p] = 0;
        __syncthreads();
        int place[GD_TILE], rank[GD_TILE];
#pragma unroll
        for (int k = 0; k < GD_TILE; ++k) {
            const long long i = from + (long long)k * threads + t;
            place[k] = i < n ? places[i] : (int)parts;
            if (place[k] < (int)parts) rank[k] = atomicAdd(&counts[place[k]], 1);
        }
        __syncthreads();
        for (int p = t; p < (int)parts; p += threads)
            gd_begins[p] = counts[p] ? (long long)atomicAdd((gd_u64 *)&heads[p], (gd_u64)counts[p]) : 0;
        __syncthreads();
        if (t == 0) {
            long long before = 0;
            for (int p = 0; p < (int)parts; ++p) {
                gd_begins[p] += before;
                before += tally[p];
            }
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < GD_TILE; ++k)
            if (place[k] < (int)parts) queue[gd_begins[place[k]] + rank[k]] = from + (long long)k * threads + t;
        __syncthreads();
    }
}

// Lanes of a warp whose walkers come to the same partition count them together.
extern "C" __global__ void queues_leave(long long n, QueueEntries a) {
    const int lane = (int)threadIdx.x & 31;
    const long long threads = (long long)gridDim.x * blockDim.x;
    long long steps = 0;
    for (long long base = (long long)blockIdx.x * blockDim.x + threadIdx.x - lane; base < n; base += threads) {
        const long long i = base + lane;
        int place = -1;
        if (i < n) {
            const long long walker = a.queue[i];
            const int count = a.made[i], next = a.target[i];
            int *const to = a.walks + walker * a.width + a.lengths[walker] + 1;
            for (int k = 0; k < count; ++k) to[k] = a.path[i * a.budget + k];
            a.lengths[walker] += count;
            steps += count;
            place = (int)a.parts;
            if (next >= 0) {
                const int position = a.differ ? a.table[next] : next;
                int low = 0, high = (int)a.parts - 1;
                while (low < high) {
                    const int middle = (low + high + 1) >> 1;
                    if (a.cuts[middle] <= position) low = middle;
                    else high = middle - 1;
                }
                a.at[walker] = position;
                place = low;
            }
            a.places[walker] = place;
        }
        const unsigned same = __match_any_sync(0xffffffffu, place);
        if (place >= 0 && lane == __ffs((int)same) - 1) atomicAdd((gd_u64 *)&a.tally[place], (gd_u64)__popc(same));
    }
    for (int by = 16; by; by >>= 1) steps += __shfl_xor_sync(0xffffffffu, steps, by);
    if (lane == 0 && steps) atomicAdd((gd_u64 *)&a.tally[a.parts + 1], (gd_u64)steps);
}
