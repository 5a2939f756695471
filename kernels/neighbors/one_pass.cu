// One-pass edge sampling: keys of edges, and those below a threshold. The twins in one_pass.py say what the arguments are.
#include "neighbors/neighbors.cuh"

__device__ __forceinline__ gd_u64 gd_one_pass_key(gd_u64 seed, gd_u64 vertex) {
    return gd_hash(gd_key(seed, GD_DRAW_ONE_PASS, 0), gd_key(seed, GD_DRAW_ONE_PASS, 1), vertex);
}

// A warp takes a row: how many of its edges have a key below `least`, of those that lead to no smaller number if `once`.
extern "C" __global__ void one_pass_below(long long n, const index_t *__restrict__ vertices,
                                           const gd_i64 *__restrict__ indptr, const index_t *__restrict__ ends,
                                           gd_i64 once, gd_u64 seed, gd_u64 least, gd_i64 *__restrict__ counts) {
    const int lane = threadIdx.x & 31;
    const gd_i64 warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    for (gd_i64 row = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; row < n; row += warps) {
        const gd_u64 key = gd_one_pass_key(seed, (gd_u64)vertices[row]);
        const gd_i64 begin = indptr[row], end = indptr[row + 1];
        gd_i64 count = 0;
        for (gd_i64 e = begin + lane; e < end; e += 32)
            count += gd_word_at(key, (gd_u64)(e - begin), 0) <= least && (!once || vertices[row] <= ends[e]);
        for (int by = 16; by; by >>= 1) count += __shfl_xor_sync(0xffffffffu, count, by);
        if (lane == 0) counts[row] = count;
    }
}

// The same edges and their keys, in the order of the rows.
extern "C" __global__ void one_pass_listed(long long n, const index_t *__restrict__ vertices,
                                            const gd_i64 *__restrict__ indptr, const index_t *__restrict__ ends,
                                            gd_i64 once, gd_u64 seed, gd_u64 least,
                                            const gd_i64 *__restrict__ offsets, index_t *__restrict__ src,
                                            gd_i64 *__restrict__ edges, gd_u64 *__restrict__ keys) {
    const int lane = threadIdx.x & 31;
    const gd_i64 warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    for (gd_i64 row = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; row < n; row += warps) {
        const gd_u64 key = gd_one_pass_key(seed, (gd_u64)vertices[row]);
        const gd_i64 begin = indptr[row], end = indptr[row + 1];
        gd_i64 out = offsets[row];
        if (out == offsets[row + 1]) continue;
        for (gd_i64 base = begin; base < end; base += 32) {
            const gd_i64 e = base + lane;
            const gd_u64 word = e < end ? gd_word_at(key, (gd_u64)(e - begin), 0) : 0;
            const bool mine = e < end && word <= least && (!once || vertices[row] <= ends[e]);
            const unsigned all = __ballot_sync(0xffffffffu, mine);
            if (mine) {
                const gd_i64 place = out + __popc(all & ((1u << lane) - 1));
                src[place] = vertices[row];
                edges[place] = e;
                keys[place] = word;
            }
            out += __popc(all);
        }
    }
}
