// Parallel edges of the copy model by hashing: finding them among the targets of a vertex, and drawing others instead.
// What a new draw is, and in which order draws are taken, is defined in parallel_edges.py.
//
// A warp takes as many whole vertices as have 32 edges, or one vertex of more. Up to 32 edges are compared with each
// other; up to PA_TABLE_DEGREE go through a hash table in shared memory that holds the first edge of each target.
#include "common/common.cuh"
#include "generate/pa_walk.cuh"

#define PA_WARPS 8
#define PA_TABLE 1024
#define PA_TABLE_DEGREE (PA_TABLE / 2)
#define PA_ALL 0xffffffffu

// The tiles of a warp: `vertices` of them in one, the last may be shorter.
struct pa_tiles {
    long long count, first, stride;
    int vertices;

    __device__ __forceinline__ pa_tiles(long long n, long long degree) : vertices(degree < 32 ? 32 / (int)degree : 1) {
        count = (n + vertices - 1) / vertices;
        first = (long long)blockIdx.x * PA_WARPS + (threadIdx.x >> 5);
        stride = (long long)gridDim.x * PA_WARPS;
    }
};

__device__ __forceinline__ int pa_bucket(index_t target, int buckets) {
    return (int)(((gd_u64)target * GD_GOLDEN) >> 40) & (buckets - 1);
}

// Make -1 of every target that an earlier edge of the row has. First edges stay, so rows may be read meanwhile.
__device__ __forceinline__ void pa_mark_row(index_t *row, int degree, int *first) {
    const int lane = threadIdx.x & 31;
    int buckets = 64;
    while (buckets < 2 * degree) buckets *= 2;
    for (int i = lane; i < buckets; i += 32) first[i] = -1;
    __syncwarp();
    for (int j = lane; j < degree; j += 32) {
        const index_t target = row[j];
        for (int at = pa_bucket(target, buckets);; at = (at + 1) & (buckets - 1)) {
            const int holds = atomicCAS(&first[at], -1, j);
            if (holds >= 0 && row[holds] != target) continue;
            if (holds > j) atomicMin(&first[at], j);
            break;
        }
    }
    __syncwarp();
    for (int j = lane; j < degree; j += 32) {
        const index_t target = row[j];
        int at = pa_bucket(target, buckets);
        while (row[first[at]] != target) at = (at + 1) & (buckets - 1);
        if (first[at] != j) row[j] = -1;
    }
    __syncwarp();
}

extern "C" __global__ void __launch_bounds__(256) pa_repeats(long long n, long long degree, index_t *out) {
    __shared__ int tables[PA_WARPS][PA_TABLE];
    __shared__ index_t held_by_warp[PA_WARPS][32];
    const int lane = threadIdx.x & 31;
    index_t *held = held_by_warp[threadIdx.x >> 5];
    const pa_tiles tiles(n, degree);
    for (long long tile = tiles.first; tile < tiles.count; tile += tiles.stride) {
        index_t *row = out + tile * tiles.vertices * degree;
        if (degree <= 32) {
            const long long left = (n - tile * tiles.vertices) * degree;
            const bool filled = lane < tiles.vertices * (int)degree && lane < left;
            const int edge = filled ? lane % (int)degree : 0;
            const index_t target = filled ? row[lane] : 0;
            held[lane] = target;
            __syncwarp();
            bool repeated = false;
            for (int i = 1; i <= edge; i++) repeated |= held[lane - i] == target;
            if (repeated) row[lane] = -1;
            __syncwarp();
        } else if (degree <= PA_TABLE_DEGREE) {
            pa_mark_row(row, (int)degree, tables[threadIdx.x >> 5]);
        } else {
            for (long long j = lane; j < degree; j += 32) {
                const index_t target = row[j];
                bool repeated = false;
                for (long long i = 0; i < j && !repeated; i++) repeated = row[i] == target;
                if (repeated) row[j] = -1;
            }
        }
    }
}

struct pa_redraws {
    gd_u64 key_0, key_1;
    long long bound;

    __device__ __forceinline__ pa_redraws(gd_u64 seed, long long degree)
        : key_0(gd_key(seed, GD_DRAW_REDRAW, 0)), key_1(gd_key(seed, GD_DRAW_REDRAW, 1)), bound(32 * (degree / 4 + 1)) {}

    __device__ __forceinline__ index_t draw(const pa_model &model, gd_u64 v, long long number) const {
        if (number >= bound) return (index_t)(number - bound);
        const gd_u64 shift = (gd_u64)number * GD_GOLDEN;
        const pa_vertex u = (pa_vertex)__umul64hi(gd_hash(key_0 + shift, key_1, v), v);
        gd_u32 k;
        const bool direct = model.coin(gd_hash(key_1 + shift, key_0, v), k);
        return (index_t)(u < model.stop || direct ? u : model.follow(u, k));
    }
};

// Fill the places of vertex v's row that hold -1. All lanes call it; each tries one draw of 32.
__device__ __forceinline__ void pa_fill_row(const pa_model &model, const pa_redraws &redraws, gd_u64 v, index_t *row,
                                            long long degree, index_t *drawn) {
    const int lane = threadIdx.x & 31;
    const unsigned earlier_lanes = (1u << lane) - 1;
    bool open = true;
    for (long long number = lane; open; number += 32) {
        const index_t target = redraws.draw(model, v, number);
        bool known = false;
        for (long long j = 0; j < degree; j++) known |= row[j] == target;
        drawn[lane] = target;
        __syncwarp();
        for (int i = 0; i < lane; i++) known |= drawn[i] == target;
        const unsigned fresh = __ballot_sync(PA_ALL, !known);
        __syncwarp();
        if (!known) drawn[__popc(fresh & earlier_lanes)] = target;
        __syncwarp();
        long long filled = 0;
        for (long long begin = 0; begin < degree; begin += 32) {
            const bool empty = begin + lane < degree && row[begin + lane] < 0;
            const unsigned places = __ballot_sync(PA_ALL, empty);
            const long long rank = filled + __popc(places & earlier_lanes);
            if (empty && rank < __popc(fresh)) row[begin + lane] = drawn[rank];
            filled += __popc(places);
        }
        open = filled > __popc(fresh);
        __syncwarp();
    }
}

extern "C" __global__ void __launch_bounds__(256)
pa_redraw(long long n, long long first, long long degree, gd_u64 threshold, gd_u64 seed, index_t *out) {
    __shared__ index_t drawn_by_warp[PA_WARPS][32];
    const int lane = threadIdx.x & 31;
    index_t *drawn = drawn_by_warp[threadIdx.x >> 5];
    const pa_model model((gd_u64)degree, threshold, seed);
    const pa_redraws redraws(seed, degree);
    const pa_tiles tiles(n, degree);
    for (long long tile = tiles.first; tile < tiles.count; tile += tiles.stride) {
        const long long low = tile * tiles.vertices, high = min(low + tiles.vertices, n);
        bool repeated = false;
        for (long long j = low * degree + lane; j < high * degree; j += 32) repeated |= out[j] < 0;
        if (!__ballot_sync(PA_ALL, repeated)) continue;
        for (long long v = low; v < high; v++) {
            index_t *row = out + v * degree;
            repeated = false;
            for (long long j = lane; j < degree; j += 32) repeated |= row[j] < 0;
            if (__ballot_sync(PA_ALL, repeated))
                pa_fill_row(model, redraws, (gd_u64)(first + v), row, degree, drawn);
        }
    }
}
