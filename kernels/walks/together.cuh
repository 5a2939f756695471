// Threads that draw for one walker: one, or those of a block. All of them take the same steps with the same numbers, and
// the first one writes what comes of it. An edge that a reservoir gives they look for together: the lanes of a warp read
// a row side by side, and each of several warps has every so many of its pieces.
//
// The edge is that of gd_pick_reservoir: of the smallest key, and of equal ones the first. What lies behind in a row is
// compared with the smallest key before it, of all lanes; a logarithm is taken only of what may be less than that.
#pragma once

#include "choice/pick.cuh"

#define GD_PAIRS 2                  // of edges that a lane reads at a time
#define GD_PIECE (64 * GD_PAIRS)    // edges that a warp reads at a time
#define GD_TOGETHER 8               // warps of a block at most, as graphdask/sample/walkers.py has it
#define GD_NO_EDGE 0xffffffffu
#define GD_ALL_LANES 0xffffffffu

// A thread for each walker.
struct Single {
    __device__ __forceinline__ long long first() const { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }
    __device__ __forceinline__ long long stride() const { return (long long)gridDim.x * blockDim.x; }
    __device__ __forceinline__ bool writes() const { return true; }
    __device__ __forceinline__ void sync() const {}
    template <int METHOD, class Bias>
    __device__ __forceinline__ long long pick(const gd_biases<Bias> &b, long long row, long long begin, long long end,
                                              gd_u64 key, gd_u64 instance, gd_u32 step, gd_u32 &draw) const {
        return gd_pick(METHOD, b, row, begin, end, key, instance, step, draw);
    }
};

// A key and the place of its edge in the row, GD_NO_EDGE where there is none.
struct Keyed {
    double key;
    gd_u32 place;

    __device__ __forceinline__ bool none() const { return place == GD_NO_EDGE; }
    __device__ __forceinline__ void take_if_before(double other, gd_u32 at) {
        if (other < key || (other == key && at < place)) key = other, place = at;
    }
};

// Biases that are stored are fit to choose by; of others their makers say which are not, when they come to be used: not
// before, so that what they are made of may still be on its way.
template <class Bias> __device__ __forceinline__ bool gd_unfit(const Bias *, Bias) { return false; }
template <class Bias> __device__ __forceinline__ void gd_refuse(const Bias *) {}

// A lane's biases of the piece of a row that begins at `base`; 0 behind its end. `values[place]` is one, stored or made.
template <class Bias, class Values>
__device__ __forceinline__ void gd_read_piece(const Values &values, gd_u32 size, gd_u32 base, Bias *bias) {
#pragma unroll
    for (int k = 0; k < 2 * GD_PAIRS; k++) {
        const gd_u32 place = base + 64 * (k >> 1) + 2 * (threadIdx.x & 31) + (k & 1);
        bias[k] = place < size ? values[place] : (Bias)0;
    }
}

// The smallest key of the pieces of a row that begin at `first`, first + by, ..., which all lanes of a warp get. `key` is
// that of the draw.
template <class Bias, class Values>
__device__ __forceinline__ Keyed gd_least_key(const Values &values, gd_u32 size, gd_u32 first, gd_u32 by, gd_u64 key,
                                              gd_u64 instance, gd_u32 step) {
    const gd_u32 lane = threadIdx.x & 31;
    Keyed least{gd_infinity(), GD_NO_EDGE};
    Bias bias[2 * GD_PAIRS], next[2 * GD_PAIRS];
    gd_read_piece<Bias>(values, size, first, next);
    for (gd_u32 base = first; base < size; base += by) {
#pragma unroll
        for (int k = 0; k < 2 * GD_PAIRS; k++) bias[k] = next[k];
        if (base + by < size) gd_read_piece<Bias>(values, size, base + by, next);  // on its way meanwhile
        unsigned may = 0;
        bool unfit = false;
        gd_u64 number, second;
#pragma unroll
        for (int k = 0; k < 2 * GD_PAIRS; k += 2) {
            unfit |= gd_unfit(values, bias[k]) | gd_unfit(values, bias[k + 1]);
            gd_philox(key, instance, step, (base >> 1) + 16 * k + lane, number, second);
            if (bias[k] > 0 && gd_may_be_less(number, (double)bias[k], least.key)) may |= 1u << k;
            if (bias[k + 1] > 0 && gd_may_be_less(second, (double)bias[k + 1], least.key)) may |= 2u << k;
        }
        if (unfit) gd_refuse(values);
        if (!__any_sync(GD_ALL_LANES, may)) continue;
        Keyed mine{least.key, GD_NO_EDGE};
        for (; may; may &= may - 1) {
            const int k = __ffs(may) - 1;
            const gd_u32 place = base + 64 * (k >> 1) + 2 * lane + (k & 1);
            gd_philox(key, instance, step, place >> 1, number, second);
            if (k & 1) number = second;
            const double rate = (double)values[place];
            if (!gd_may_be_less(number, rate, mine.key)) continue;
            const double one = gd_exponential_key(number, rate);
            if (one < mine.key || (mine.none() && least.none())) mine = {one, place};
        }
#pragma unroll
        for (int far = 16; far; far >>= 1) {
            const double other = __shfl_xor_sync(GD_ALL_LANES, mine.key, far);
            mine.take_if_before(other, __shfl_xor_sync(GD_ALL_LANES, mine.place, far));
        }
        if (!mine.none()) least = mine;
    }
    return least;
}

// The threads of a block for each walker, from one warp to GD_TOGETHER of them, with places for so many keys twice in
// shared memory. Draws by a reservoir alone.
struct Together {
    double *keys;
    gd_u32 *places;
    int turn;  // whose half is the next that is written, while threads may still read the other one; 0 at first

    __device__ __forceinline__ long long first() const { return blockIdx.x; }
    __device__ __forceinline__ long long stride() const { return gridDim.x; }
    __device__ __forceinline__ bool writes() const { return threadIdx.x == 0; }
    __device__ __forceinline__ void sync() const { __syncthreads(); }

    template <int METHOD, class Bias>
    __device__ __forceinline__ long long pick(const gd_biases<Bias> &b, long long, long long begin, long long end,
                                              gd_u64 key, gd_u64 instance, gd_u32 step, gd_u32 &draw) {
        static_assert(METHOD == GD_RESERVOIR, "threads look together for the smallest of keys");
        key = gd_hash(gd_key(key, GD_DRAW_KEY, 0), gd_key(key, GD_DRAW_KEY, 1), (gd_u64)draw++);
        const gd_u32 place = least<Bias>(b.values + begin, (gd_u32)(end - begin), key, instance, step);
        return place == GD_NO_EDGE ? -1 : begin + (long long)place;
    }

    // The place of the edge with the smallest key in a row.
    template <class Bias, class Values>
    __device__ __forceinline__ gd_u32 least(const Values &values, gd_u32 size, gd_u64 key, gd_u64 instance, gd_u32 step) {
        const gd_u32 warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
        const bool alone = warps == 1 || size <= GD_PIECE;  // every warp all of it: sooner than to wait for each other
        Keyed found = gd_least_key<Bias>(values, size, alone ? 0 : GD_PIECE * warp,
                                         alone ? GD_PIECE : GD_PIECE * warps, key, instance, step);
        if (!alone) {
            const int half = GD_TOGETHER * turn;
            if ((threadIdx.x & 31) == 0) {
                keys[half + warp] = found.key;
                places[half + warp] = found.place;
            }
            __syncthreads();
            for (gd_u32 w = 0; w < warps; w++) found.take_if_before(keys[half + w], places[half + w]);
            turn ^= 1;
        }
        return found.place;
    }
};
