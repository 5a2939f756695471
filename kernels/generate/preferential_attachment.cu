// Targets of the copy model by hashing (cuPPA-Hash): what a slot holds is defined in pa_walk.py.
//
// Walks differ in length (at p = 0.5 two steps on average, six for the longest of 32), so a thread per slot leaves most
// of a warp waiting. Here a warp owns a run of rows of 32 consecutive slots, and a lane one column of them: when its walk
// ends it stages the target in shared memory and goes on in the next row, whatever the other lanes do, so a refill costs
// eight instructions and no word between lanes. The stage is a ring of PA_ROWS rows. Whenever all lanes have passed the
// oldest PA_FLUSH rows, these leave in coalesced stores; a lane that is a whole ring ahead walks its slot again until then,
// which needs no branch and changes nothing. Of a warp's steps 92 of 100 are of use at p = 0.5, 98 at p = 0, all at p = 1.
//
// Source: M. Alam, K. Perumalla, P. Sanders, "Novel parallel algorithms for fast multi-GPU-based generation of massive
// scale-free networks", Data Science and Engineering 4 (2019), Section 4, Algorithm 2.
#include "common/common.cuh"
#include "generate/pa_walk.cuh"

#define PA_THREADS 256
#define PA_WARPS (PA_THREADS / 32)
// Rows of the stage, how many of them leave at a time, and after how many steps it is looked whether they can.
#ifndef PA_ROWS
#define PA_ROWS ((int)(128 / sizeof(index_t)))
#define PA_FLUSH (PA_ROWS / 2)
#define PA_STEPS 16
#endif
#define PA_ALL 0xffffffffu

static_assert((PA_ROWS & (PA_ROWS - 1)) == 0 && PA_ROWS % PA_FLUSH == 0, "places in the ring are found by masks");

#define PA_PITCH ((int)(32 * sizeof(index_t)))
#define PA_RING (PA_ROWS * PA_PITCH)

// An address in shared memory. The compiler would compute it anew for every target; hidden from it, it is a number.
#ifdef __CUDA_ARCH__
typedef gd_u32 pa_address;
__device__ __forceinline__ pa_address pa_address_of(const void *place) {
    pa_address address = (pa_address)__cvta_generic_to_shared(place);
    asm volatile("mov.u32 %0, %0;" : "+r"(address));
    return address;
}
__device__ __forceinline__ void pa_stage(pa_address address, gd_u32 value) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
__device__ __forceinline__ void pa_stage(pa_address address, gd_u64 value) {
    asm volatile("st.shared.u64 [%0], %1;" ::"r"(address), "l"(value) : "memory");
}
#else
typedef size_t pa_address;
inline pa_address pa_address_of(const void *place) { return (pa_address)place; }
inline void pa_stage(pa_address address, pa_vertex value) { *(pa_vertex *)address = value; }
#endif

// A warp's share of the slots, as one of its lanes sees it.
struct pa_column {
    // Where the walk of the lane's next slot begins, and by how much that moves from row to row.
    pa_vertex vertex, vertex_step;
    gd_u32 edge, edge_step;
    // Where the lane's targets go, and how many of its rows hold a slot that exists.
    index_t *out;
    int rows, filled;
};

template <bool CAREFUL, bool SAME_EDGE>
__device__ __forceinline__ void pa_run(const pa_model &model, pa_column column, const index_t *ring) {
    const pa_address base = pa_address_of(ring);
    pa_vertex v = column.vertex;
    gd_u32 k = column.edge;
    const int lane = threadIdx.x & 31, last = column.rows * PA_PITCH;
    // In bytes; `place` counts the lane's finished rows above the lane's own offset in a row, and stays below `bound`.
    int place = lane * (int)sizeof(index_t), flushed = 0;
    int bound = min(last, (PA_ROWS - 1) * PA_PITCH), goal = min(last, PA_FLUSH * PA_PITCH);
    for (;;) {
#pragma unroll
        for (int i = 0; i < PA_STEPS; i++) {
            const bool ended = model.step<CAREFUL>(v, k), onward = ended && place < bound;
            if (ended) pa_stage(base | (place & (PA_RING - 1)), v);
            place += onward ? PA_PITCH : 0;
            if (SAME_EDGE) {
                column.vertex += onward ? column.vertex_step : 0;
            } else {
                const gd_u32 edge = column.edge + (onward ? column.edge_step : 0);
                column.vertex += (onward ? column.vertex_step : 0) + (edge >= model.degree);
                column.edge = min(edge, edge - model.degree);  // below 0 it wraps to a large number
            }
            v = ended ? column.vertex : v;
            k = ended ? column.edge : k;
        }
        if (!__all_sync(PA_ALL, place >= goal)) continue;
        const index_t *staged = ring + lane + flushed % PA_RING / (int)sizeof(index_t);
        if (goal == last) {
            for (int row = flushed / PA_PITCH; row < column.filled; row++, staged += 32, column.out += 32)
                *column.out = *staged;
            return;
        }
#pragma unroll
        for (int row = 0; row < PA_FLUSH; row++) column.out[row * 32] = staged[row * 32];
        column.out += PA_FLUSH * 32;
        flushed += PA_FLUSH * PA_PITCH;
        bound = min(last, flushed + (PA_ROWS - 1) * PA_PITCH);
        goal = min(last, flushed + PA_FLUSH * PA_PITCH);
    }
}

extern "C" __global__ void __launch_bounds__(PA_THREADS)
pa_targets(long long n, long long first, long long degree, gd_u64 threshold, gd_u64 seed, index_t *out) {
    // Each warp's ring begins at a multiple of its size, so that | adds to its address.
    __shared__ index_t stage[(PA_WARPS + 1) * PA_RING / sizeof(index_t)];
    const pa_address unused = (PA_RING - pa_address_of(stage) % PA_RING) % PA_RING;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const index_t *ring = stage + (unused + warp * PA_RING) / sizeof(index_t);

    // Warps own equal runs of rows, of at least one flush. A run is less than 2^23 rows: n is what fits in memory.
    const long long rows = (n + 31) / 32, warps = (long long)gridDim.x * PA_WARPS;
    const long long share = max((rows + warps - 1) / warps, (long long)PA_FLUSH);
    const long long begin = ((long long)blockIdx.x * PA_WARPS + warp) * share;
    if (begin >= rows) return;

    const pa_model model((gd_u64)degree, threshold, seed);
    const gd_u64 slot = (gd_u64)(first + begin * 32) + lane;
    pa_column column;
    column.vertex = (pa_vertex)(slot / (gd_u64)degree);
    column.edge = (gd_u32)(slot % (gd_u64)degree);
    column.vertex_step = 32 / (gd_u32)degree;
    column.edge_step = 32 % (gd_u32)degree;
    column.out = out + begin * 32 + lane;
    column.rows = (int)min(share, rows - begin);
    column.filled = begin * 32 + column.rows * 32LL > n ? column.rows - (lane >= n % 32) : column.rows;
    if (model.careful())
        pa_run<true, false>(model, column, ring);
    else if (column.edge_step)
        pa_run<false, false>(model, column, ring);
    else
        pa_run<false, true>(model, column, ring);
}
