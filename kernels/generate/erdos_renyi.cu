// Edges of a uniform random graph: an alternating Feistel network on the rectangle of possible edges; see
// erdos_renyi.py. With 32-bit ids both sides of the rectangle are below 2^31, and 32-bit arithmetic gives the same cells.
#include "common/common.cuh"
#include "common/hash.cuh"

#define ER_MOST_ROUNDS 128

template <typename id> struct er_word { typedef gd_u64 type; };
template <> struct er_word<int> { typedef gd_u32 type; };
typedef er_word<index_t>::type er_side;

// moved + F(of) mod modulus; both sides are below 2^63, so the sum does not overflow.
__device__ __forceinline__ er_side er_step(const gd_u64 *keys, er_side of, er_side moved, er_side modulus) {
    gd_u64 fraction = gd_hash_counter(keys[0], keys[1], of);
    const er_side at = moved + gd_digit(fraction, modulus);
    return at >= modulus ? at - modulus : at;
}

extern "C" __global__ void __launch_bounds__(256)
erdos_renyi_edges(long long n, long long first, long long width, long long height, long long star, long long rounds,
                  gd_u64 seed, index_t *__restrict__ src, index_t *__restrict__ dst) {
    __shared__ gd_u64 keys[2 * ER_MOST_ROUNDS];
    for (int i = threadIdx.x; i < 2 * rounds; i += blockDim.x) keys[i] = gd_key(seed, GD_DRAW_PAIR + i / 2, i % 2);
    __syncthreads();
    // The first cell of a thread and the way to its next one, so that no edge needs a division.
    const long long begin = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long stride = (long long)gridDim.x * blockDim.x;
    const long long across = stride % width, down = stride / width;
    long long column = (first + begin) % width, row = (first + begin) / width;
    for (long long i = begin; i < n; i += stride) {
        er_side x = (er_side)column, y = (er_side)row;
        for (int round = 0; round < rounds; round += 2) {
            y = er_step(keys + 2 * round, x, y, (er_side)height);
            x = er_step(keys + 2 * round + 2, y, x, (er_side)width);
        }
        er_side other = x + y + 1;
        if (other >= (er_side)width) other -= (er_side)width;
        src[i] = (index_t)x;
        dst[i] = (index_t)((long long)y == star ? (er_side)width : other);
        column += across;
        row += down;
        if (column >= width) {
            column -= width;
            row++;
        }
    }
}
