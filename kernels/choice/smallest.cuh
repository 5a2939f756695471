// The edges of a row with the smallest exponential keys, in their order, by the threads of a warp or of a block.
//
// A pass over the row keeps every key below a bound, of which there are few more than are wanted: as many keys are below
// b as edges of a Poisson process of rate `total` come before time b, about. Then they are sorted. If there were too
// few, the bound of the next pass is higher; if more than there is room for, it is the last that would be wanted of those
// that found room, and that many keys are below it for certain. Of more than `most` that are wanted, a pass gives the
// next ones. So which keys come out depends on no bound, and equal keys come in the order of their edges.
//
// Source: Efraimidis and Spirakis, Weighted random sampling with a reservoir, Information Processing Letters 97, 2006.
#pragma once
#include "choice/keys.cuh"
#include "common/philox.cuh"
#include "common/scan.cuh"

#define GD_LONG 4096  // edges of a row above which a block takes it
#define GD_WARPS 8    // of a block
#define GD_OF_WARP 128
#define GD_OF_BLOCK 2048
#define GD_NO_PLACE 0x7fffffffffffffffLL
#define GD_HIGHER 16.0  // times a bound below which there were too few keys
#define GD_RAISED 2     // so often at most

// Biases are fit to choose by, unless their maker says otherwise when they come to be used: not before, so that what they
// are made of may still be on its way.
template <class Bias> __device__ __forceinline__ bool gd_unfit(const Bias &, double) { return false; }
template <class Bias> __device__ __forceinline__ void gd_refuse(const Bias &) {}

typedef long long gd_i64;

// `SIZE` threads, and what they share: memory for CAPACITY keys, a power of two, of which a quarter is given in a pass.
template <int SIZE, int CAPACITY> struct Smallest {
    static constexpr gd_i64 most = CAPACITY / 4;
    double *keys;
    gd_i64 *places;
    int *held;  // how many of these there are, and edges of a bias above 0

    __device__ __forceinline__ int rank() const { return (int)threadIdx.x % SIZE; }
    __device__ __forceinline__ void sync() const {
        if constexpr (SIZE == 32) __syncwarp();
        else __syncthreads();
    }
    __device__ __forceinline__ static bool before(double key, gd_i64 place, double other, gd_i64 of_other) {
        return key < other || (key == other && place < of_other);
    }

    // The sum, or with `greatest` that, of what each thread has, in whichever order.
    __device__ __forceinline__ double of_all(double mine, bool greatest = false) const {
        sync();
        keys[rank()] = mine;
        sync();
        for (int by = SIZE / 2; by; by >>= 1) {
            if (rank() < by) {
                const double one = keys[rank()], other = keys[rank() + by];
                keys[rank()] = !greatest ? one + other : one < other ? other : one;
            }
            sync();
        }
        return keys[0];
    }
    // About the sum of the biases of a row, of which some are looked at. The greatest of these is left out: there may be no
    // other like it.
    template <class Bias> __device__ __forceinline__ double about(gd_i64 size, const Bias &bias) const {
        if (size <= SIZE) return 0.0;
        const int each = size > 16 * SIZE ? 4 : 1;
        const gd_i64 apart = size / (each * SIZE);
        double mine = 0.0, most = 0.0;
        for (int k = 0; k < each; k++) {
            const double one = bias((gd_i64)(k * SIZE + rank()) * apart);
            if (one > most) most = one;
            if (one > 0.0) mine += one;
        }
        const double sum = of_all(mine), greatest = of_all(most, true);
        return (sum - greatest) * ((double)size / (each * SIZE - 1));
    }

    // How many of the threads before this one say yes, and of all.
    __device__ __forceinline__ int count_before(bool yes, int &all) const {
        if constexpr (SIZE == 32) {
            const unsigned mask = __ballot_sync(0xffffffffu, yes);
            all = __popc(mask);
            return __popc(mask & ((1u << rank()) - 1));
        } else {
            return gd_block_scan((int)yes, &all);
        }
    }

    // Sort the first `count` (K. Batcher, "Sorting networks and their applications", 1968).
    __device__ __forceinline__ void sort(int count) const {
        int padded = 2;
        while (padded < count) padded <<= 1;
        for (int k = count + rank(); k < padded; k += SIZE) {
            keys[k] = gd_infinity();
            places[k] = GD_NO_PLACE;
        }
        for (int size = 2; size <= padded; size <<= 1) {
            for (int by = size >> 1; by; by >>= 1) {
                sync();
                for (int k = rank(); k < padded / 2; k += SIZE) {
                    const int low = 2 * k - (k & (by - 1)), high = low + by;
                    const double key = keys[low], other = keys[high];
                    const gd_i64 place = places[low], of_other = places[high];
                    if (before(other, of_other, key, place) == ((low & size) == 0)) {
                        keys[low] = other;
                        keys[high] = key;
                        places[low] = of_other;
                        places[high] = place;
                    }
                }
            }
        }
        sync();
    }

    // A thread's two biases of a row.
    template <class Bias>
    __device__ __forceinline__ static void read(const Bias &bias, gd_i64 two, gd_i64 size, double *rates) {
        rates[0] = two < size ? bias(two) : 0.0;
        rates[1] = two + 1 < size ? bias(two + 1) : 0.0;
    }
    // One pass: those after a key and up to another one. Returns how many there are, or more than CAPACITY.
    template <class Bias>
    __device__ __forceinline__ int pass(gd_u64 key, gd_u64 instance, gd_u32 step, gd_i64 size, const Bias &bias,
                                        double after, gd_i64 after_place, double last, gd_i64 last_place) const {
        sync();
        if (rank() == 0) held[0] = held[1] = 0;
        sync();
        const double than = last < 1e-280 ? 1e-280 : last;  // its product with a bias keeps its digits
        bool full = false, unfit = false;
        int positive = 0;
        double rates[2], next[2];
        read(bias, 2 * rank(), size, next);
        for (gd_i64 two = 2 * rank(); two < size && !full; two += 2 * SIZE) {
            gd_u64 numbers[2];
            rates[0] = next[0], rates[1] = next[1];
            read(bias, two + 2 * SIZE, size, next);  // on its way meanwhile
            gd_philox(key, instance, step, (gd_u32)(two >> 1), numbers[0], numbers[1]);
#pragma unroll
            for (int k = 0; k < 2; ++k) {
                const double rate = rates[k];
                unfit |= gd_unfit(bias, rate);
                positive += rate > 0.0;
                if (full || !(rate > 0.0) || !gd_may_be_less(numbers[k], rate, than)) continue;
                const double one = gd_exponential_key(numbers[k], rate);
                const gd_i64 place = two + k;
                if (before(last, last_place, one, place) || !before(after, after_place, one, place)) continue;
                const int slot = atomicAdd(held, 1);
                full = slot >= CAPACITY;
                if (full) continue;
                keys[slot] = one;
                places[slot] = place;
            }
        }
        if (unfit) gd_refuse(bias);
        for (int by = 16; by; by >>= 1) positive += __shfl_xor_sync(0xffffffffu, positive, by);
        if (threadIdx.x % 32 == 0) atomicAdd(held + 1, positive);
        sync();
        return *held;
    }

    // Give the `count` smallest keys of a row of `size` edges, which are less in number than edges: emit(s, key, place)
    // in their order. The number of a place is that of Philox's numbers at `step`; `total` is about the sum of biases.
    // Returns how many there are, for edges of bias 0 have none, and in `positive` how many edges have one.
    template <class Bias, class Emit>
    __device__ __forceinline__ gd_i64 give(gd_u64 key, gd_u64 instance, gd_u32 step, gd_i64 size, gd_i64 count,
                                           double total, const Bias &bias, gd_i64 &positive, Emit emit) const {
        double after = -1.0;
        gd_i64 after_place = -1, made = 0;
        positive = 0;
        while (made < count) {
            const gd_i64 wanted = count - made < most ? count - made : most;
            const double mean = (double)(made + wanted);
            double last = size <= SIZE || !(total > 0.0) ? gd_infinity() : (mean + 3.0 * sqrt(mean) + 6.0) / total;
            gd_i64 last_place = GD_NO_PLACE;
            int found, raised = 0;
            for (;;) {
                found = pass(key, instance, step, size, bias, after, after_place, last, last_place);
                const bool full = found > CAPACITY;
                if (!full) positive = held[1];
                if (!full && found < wanted && made + found < positive && last < gd_infinity()) {
                    last = raised++ < GD_RAISED ? GD_HIGHER * last : gd_infinity();
                    continue;
                }
                sort(full ? CAPACITY : found);
                if (!full) break;
                last = keys[wanted - 1];
                last_place = places[wanted - 1];
            }
            const int given = found < wanted ? found : (int)wanted;
            for (int s = rank(); s < given; s += SIZE) emit(made + s, keys[s], places[s]);
            if (given) {
                after = keys[given - 1];
                after_place = places[given - 1];
            }
            made += given;
            if (given < wanted) break;
        }
        return made;
    }
};

// Whether an item is one for a block.
__device__ __forceinline__ bool gd_is_long(gd_i64 degree, gd_i64 count) {
    return count && (degree > GD_LONG || (count < degree && count > GD_OF_WARP / 4));
}

// draw(i) by a warp for each item, but for those too long for one.
template <class Long, class Draw>
__device__ __forceinline__ void gd_by_warps(gd_i64 n, gd_i64 *longs, Long is_long, Draw draw) {
    const gd_i64 warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    for (gd_i64 i = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; i < n; i += warps) {
        if (!is_long(i)) draw(i);
        else if ((threadIdx.x & 31) == 0) longs[1 + atomicAdd((gd_u64 *)longs, 1ULL)] = i;
    }
}

// draw(i) by a block for each item of the list.
template <class Draw> __device__ __forceinline__ void gd_by_blocks(const gd_i64 *longs, Draw draw) {
    const gd_i64 count = longs[0];
    for (gd_i64 k = blockIdx.x; k < count; k += gridDim.x) {
        draw(longs[1 + k]);
        __syncthreads();
    }
}
