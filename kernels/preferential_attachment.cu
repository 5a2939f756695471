// Targets of the copy model by hashing (cuPPA-Hash): what a slot holds is defined in preferential_attachment.py.
//
// Walks differ in length (at p = 0.5 two steps on average, six for the longest of 32), so a thread per slot leaves most
// of a warp waiting. Here a warp owns chunks of consecutive slots. While the chunk has slots left every lane walks, and
// the lanes whose walk ended take the next slots, numbered by a ballot; then the last walks drain. Targets are staged in
// shared memory, in slot order, and leave in coalesced stores.
//
// Source: M. Alam, K. Perumalla, P. Sanders, "Novel parallel algorithms for fast multi-GPU-based generation of massive
// scale-free networks", Data Science and Engineering 4 (2019), Section 4, Algorithm 2.
#include "common.cuh"
#include "hash.cuh"

#define PA_THREADS 256
#define PA_WARPS (PA_THREADS / 32)
#define PA_CHUNK ((int)(4096 / sizeof(index_t)))
#define PA_FAR (1ULL << 31)
#define PA_ALL 0xffffffffu

// Vertices and degree are 32 bits wide where the ids fit: the digits then need half the multiplications.
template <class T> struct pa_unsigned { typedef gd_u64 type; };
template <> struct pa_unsigned<int> { typedef gd_u32 type; };
typedef pa_unsigned<index_t>::type pa_vertex;

struct pa_model {
    gd_u64 key_0, key_1, far_0, far_1;
    // The coin is below threshold * 2 of 2^64 values, which for p = 1 is all of them and does not fit.
    gd_u64 limit;
    bool always;
    pa_vertex degree;

    // One step from `slot` of vertex v: sets v to the vertex u that was drawn and slot to a slot of u, and returns
    // whether the walk ends at u.
    __device__ __forceinline__ bool step(gd_u64 &slot, pa_vertex &v) const {
        gd_u64 fraction = gd_hash(key_0, key_1, slot);
        const pa_vertex u = gd_digit(fraction, v);
        if (sizeof(index_t) > 4 && v >= PA_FAR) fraction = gd_hash(far_0, far_1, slot);
        const pa_vertex k = gd_digit(fraction, degree);
        slot = gd_wide(u, degree, k);
        v = u;
        return u < degree || always || fraction < limit;
    }
};

// Vertex of a slot that lies `x` slots after the first slot of vertex `base`, for x < degree + PA_CHUNK.
struct pa_divider {
    gd_u32 degree, reciprocal;

    // 2^31 / degree rounded up; exact while x * degree < 2^31. A larger degree than a chunk gives 0 or 1.
    __device__ __forceinline__ explicit pa_divider(gd_u32 d) : degree(d), reciprocal((1u << 31) / d + 1) {}
    __device__ __forceinline__ gd_u32 operator()(gd_u32 x) const {
        return degree > 16384 ? (gd_u32)(x >= degree) : (gd_u32)(((gd_u64)x * reciprocal) >> 31);
    }
};

extern "C" __global__ void __launch_bounds__(PA_THREADS)
pa_targets(long long n, long long first, long long degree, gd_u64 threshold, gd_u64 seed, index_t *out) {
    __shared__ index_t staged_by_warp[PA_WARPS][PA_CHUNK];
    const int lane = threadIdx.x & 31;
    const unsigned earlier_lanes = (1u << lane) - 1;
    index_t *staged = staged_by_warp[threadIdx.x >> 5];

    pa_model model;
    model.key_0 = gd_key(seed, GD_DRAW_TARGET, 0);
    model.key_1 = gd_key(seed, GD_DRAW_TARGET, 1);
    model.far_0 = gd_key(seed, GD_DRAW_FRACTION, 0);
    model.far_1 = gd_key(seed, GD_DRAW_FRACTION, 1);
    model.limit = threshold << 1;
    model.always = threshold >> 63;
    model.degree = (pa_vertex)degree;
    const pa_divider divide((gd_u32)degree);

    // Chunks are multiples of 32 slots, shorter where there are too few slots to give every warp a full one.
    const long long warps = (long long)gridDim.x * PA_WARPS;
    const long long share = (n + warps - 1) / warps;
    const int chunk = share >= PA_CHUNK ? PA_CHUNK : (int)((share + 31) / 32) * 32;
    const long long stride = warps * chunk;
    const long long stride_vertices = stride / degree, stride_rest = stride % degree;

    long long start = ((long long)blockIdx.x * PA_WARPS + (threadIdx.x >> 5)) * chunk;
    long long base = (first + start) / degree, rest = (first + start) % degree;
    for (; start < n; start += stride) {
        const int length = n - start < chunk ? (int)(n - start) : chunk;
        const gd_u64 origin = (gd_u64)(first + start);

        int place = lane;
        gd_u64 slot = origin + place;
        pa_vertex v = (pa_vertex)base + divide((gd_u32)rest + place);
        int next = 32;
        while (next < length) {
            const bool ended = model.step(slot, v);
            const unsigned refilled = __ballot_sync(PA_ALL, ended);
            if (ended) {
                staged[place] = (index_t)v;
                place = next + __popc(refilled & earlier_lanes);
                slot = origin + place;
                v = (pa_vertex)base + divide((gd_u32)rest + place);
            }
            next += __popc(refilled);
        }
        if (place < length) {
            while (!model.step(slot, v)) {
            }
            staged[place] = (index_t)v;
        }
        __syncwarp();
        for (int i = lane; i < length; i += 32) out[start + i] = staged[i];
        __syncwarp();

        base += stride_vertices;
        rest += stride_rest;
        if (rest >= degree) {
            rest -= degree;
            base++;
        }
    }
}
