// Messages of a rank to the others about changed contributions and marked vertices. Places are reserved by a
// block for all its threads at once: one counter for every warp would be what the kernels wait for. Twins and arguments:
// dynamic_messages.py.
#include "common/common.cuh"
#include "dynamic/dynamic_messages_pack.py"

#define GD_RANKS 64

// How many contributions go to each rank are added up in a block, of GD_RANKS ranks at a time.
extern "C" __global__ void dynamic_messages_count(long long n, const unsigned long long *count, const index_t *listed,
                                         const double *x, const double *reported, const unsigned char *held,
                                         long long owned, long long size, long long rank,
                                         unsigned long long *counts) {
    __shared__ unsigned long long block[GD_RANKS];
    const int lane = threadIdx.x & 31;
    const long long end = (long long)min((unsigned long long)n, *count);
    for (long long ranks = 0; ranks <= size; ranks += GD_RANKS) {
        const long long until = min(size + 1, ranks + GD_RANKS);
        __syncthreads();
        if (threadIdx.x < GD_RANKS) block[threadIdx.x] = 0;
        __syncthreads();
        for (long long base = (long long)blockIdx.x * blockDim.x + threadIdx.x - lane; base < end;
             base += (long long)gridDim.x * blockDim.x) {
            const long long i = base + lane;
            const index_t v = i < end ? listed[i] : (index_t)0;
            const bool changed = i < end && x[v] != reported[v];
            for (long long r = ranks; r < until; r++) {
                const bool goes = changed && r != rank && (r == size || held[r * owned + v]);
                const unsigned mask = __ballot_sync(0xffffffffu, goes);
                if (lane == 0 && mask) atomicAdd(block + (r - ranks), (unsigned long long)__popc(mask));
            }
        }
        __syncthreads();
        if (threadIdx.x < until - ranks && block[threadIdx.x]) atomicAdd(counts + ranks + threadIdx.x, block[threadIdx.x]);
    }
}

// A place after `*next` for every thread that wants one. All threads of the block, of up to 1,024, call it together.
__device__ __forceinline__ unsigned long long gd_places(bool wants, unsigned long long *next) {
    __shared__ unsigned long long start;
    __shared__ int before[32];
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const unsigned mask = __ballot_sync(0xffffffffu, wants);
    __syncthreads();
    if (lane == 0) before[warp] = __popc(mask);
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (int k = 0; k < (int)((blockDim.x + 31) >> 5); k++) {
            const int count = before[k];
            before[k] = total;
            total += count;
        }
        if (total) start = atomicAdd(next, (unsigned long long)total);
    }
    __syncthreads();
    return start + before[warp] + __popc(mask & ((1u << lane) - 1));
}

extern "C" __global__ void dynamic_messages_fill(long long n, ChangedContributions a) {
    for (long long tile = (long long)blockIdx.x * blockDim.x; tile < n; tile += (long long)gridDim.x * blockDim.x) {
        const long long i = tile + threadIdx.x;
        const index_t v = i < n ? a.listed[i] : (index_t)0;
        const double now = i < n ? a.x[v] : 0.0;
        const bool changed = i < n && now != a.reported[v];
        for (long long r = 0; r <= a.size; r++) {
            if (r == a.rank) continue;
            const bool goes = changed && (r == a.size || a.held[r * a.owned + v]);
            const unsigned long long at = gd_places(goes, a.next + r);
            if (!goes) continue;
            if (r == a.size) {
                a.last[at] = v;
            } else {
                a.vertex[at] = (index_t)(a.shifts[r] + v);
                a.contribution[at] = now;
            }
        }
        if (changed) a.reported[v] = now;
    }
}

// The marks of 64 slots, of those below `slots`, as bits; all threads of a warp get them, each reads two.
__device__ __forceinline__ unsigned long long gd_word(const unsigned char *affected, long long word, long long slots) {
    const long long low = 64 * word + (threadIdx.x & 31), high = low + 32;
    const unsigned int first = __ballot_sync(0xffffffffu, low < slots && affected[low]);
    const unsigned int last = __ballot_sync(0xffffffffu, high < slots && affected[high]);
    return first | (unsigned long long)last << 32;
}

extern "C" __global__ void dynamic_messages_marks_count(long long n, const unsigned char *affected, const long long *bounds,
                                               long long size, long long rank, unsigned long long *counts) {
    __shared__ unsigned long long block;
    const long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    const long long warps = (long long)gridDim.x * blockDim.x >> 5;
    for (long long k = 1; k < size; k++) {
        const long long first = bounds[k], slots = bounds[k + 1] - first;
        __syncthreads();
        if (threadIdx.x == 0) block = 0;
        __syncthreads();
        unsigned long long found = 0;
        for (long long w = warp; 64 * w < slots; w += warps) found += gd_word(affected + first, w, slots) != 0;
        if ((threadIdx.x & 31) == 0 && found) atomicAdd(&block, found);
        __syncthreads();
        if (threadIdx.x == 0 && block) atomicAdd(counts + (rank + k) % size, block);
    }
}

extern "C" __global__ void dynamic_messages_marks(long long n, unsigned char *affected, const long long *bounds, long long size,
                                         long long rank, unsigned long long *next, index_t *vertex,
                                         double *contribution) {
    const int lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    for (long long k = 1; k < size; k++) {
        const long long first = bounds[k], slots = bounds[k + 1] - first;
        unsigned char *const flags = affected + first;
        for (long long tile = (long long)blockIdx.x * warps; 64 * tile < slots; tile += (long long)gridDim.x * warps) {
            const long long w = tile + (threadIdx.x >> 5);
            const unsigned long long word = gd_word(flags, w, slots);
            const bool goes = lane == 0 && word;
            const unsigned long long at = gd_places(goes, next + (rank + k) % size);
            if (word >> lane & 1) flags[64 * w + lane] = 0;
            if (word >> (lane + 32) & 1) flags[64 * w + lane + 32] = 0;
            if (!goes) continue;
            vertex[at] = (index_t)(-1 - w);
            contribution[at] = __longlong_as_double((long long)word);
        }
    }
}

extern "C" __global__ void dynamic_messages_take(long long n, const index_t *vertex, const double *contribution, double *x,
                                        unsigned char *affected) {
    GD_FOR(i, n) {
        const index_t v = vertex[i];
        if (v >= 0) {
            x[v] = contribution[i];
            continue;
        }
        unsigned long long word = (unsigned long long)__double_as_longlong(contribution[i]);
        for (; word; word &= word - 1) affected[64 * (-1 - (long long)v) + __ffsll((long long)word) - 1] = 1;
    }
}

extern "C" __global__ void dynamic_messages_gather(long long n, const index_t *slots, const double *x, double *contribution) {
    GD_FOR(i, n) contribution[i] = x[slots[i]];
}

extern "C" __global__ void dynamic_messages_put(long long n, const index_t *slots, const double *contribution, double *x) {
    GD_FOR(i, n) x[slots[i]] = contribution[i];
}
