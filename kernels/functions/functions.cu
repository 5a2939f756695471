// Where functions of the caller are called: biases of vertices and edges, how many neighbours, and what goes into the
// pool. graphdask.kernels.inserted puts them before the defaults. Twins: functions.py.
//
// Source: Pandey et al., c-saw, Section III, Figure 2; Yang et al., KnightKing (SOSP 2019), Section 4, for rejection
// with a bound.
#include "common/common.cuh"
#include "choice/keys.cuh"
#include "choice/pick.cuh"
#include "choice/selection.cuh"
#include "choice/smallest.cuh"
#include "functions/column_types.cuh"
#include "functions/functions_pack.py"
#include "functions/functions_default.cuh"
#include "functions/functions_biases.cuh"

extern "C" __global__ void functions_vertex_bias(long long n, FunctionVertices a) {
    GD_FOR(i, n) {
        a.values[i] = gd_checked(
            vertex_bias(a.vertices[i], a.degrees[i], a.depth, a.instances[i], a.places[i], a.failure, a), a.failure);
    }
}

extern "C" __global__ void functions_neighbor_size(long long n, FunctionVertices a) {
    GD_FOR(i, n) {
        gd_u64 first, second;
        gd_philox(gd_group_key(a.seed, GD_DRAW_SIZE, a.places[i]), (gd_u64)a.instances[i], (gd_u32)a.depth, 0, first,
                  second);
        const gd_i64 size = neighbor_size(a.vertices[i], a.degrees[i], a.depth, a.instances[i], a.places[i],
                                          gd_fraction(first), a.failure, a);
        const bool wrong = size < (a.replace ? 0 : -1) || size > a.most;
        if (wrong) atomicCAS(a.failure, 0, GD_NO_SIZE);
        a.counts[i] = gd_wanted(a.degrees[i], wrong ? 0 : size, a.replace);
    }
}

extern "C" __global__ void functions_edge_bias(long long n, FunctionItems a) {
    const gd_i64 lane = threadIdx.x & 31, warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    for (gd_i64 i = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; i < n; i += warps) {
        const gd_i64 row = a.rows[i], source = a.vertices[i], before = a.previous[i], instance = a.instances[i];
        const gd_i64 begin = a.indptr[row], end = a.indptr[row + 1], start = a.seeds[i];
        bias_t *const out = a.values + (a.at[i] - a.at[0]);
        for (gd_i64 edge = begin + lane; edge < end; edge += 32) {
            const gd_i64 slot = a.indices[edge], destination = a.mapped ? a.ids[slot] : slot;
            out[edge - begin] = gd_checked(edge_bias(edge, row, slot, source, destination, before, a.near[i], a.depth,
                                                     instance, start, a.failure, a), a.failure);
        }
    }
}

extern "C" __global__ void functions_row_bias(long long n, FunctionItems a) {
    GD_FOR(i, n) {
        const gd_i64 row = a.rows[i], source = a.vertices[i];
        if (a.indptr[row] == a.indptr[row + 1]) continue;
        const bias_t bias = gd_checked(edge_bias(a.indptr[row], row, row, source, source, a.previous[i], a.near[i], a.depth,
                                                 a.instances[i], a.seeds[i], a.failure, a), a.failure);
        if (!(bias > 0)) a.counts[i] = 0;
    }
}

// How functions_reservoir chooses.
struct Reservoir {
    const FunctionItems &a;

    __device__ __forceinline__ bool is_long(gd_i64 i) const {
        return gd_is_long(row_length(a.indptr, a.rows[i]), a.replace ? a.counts[i] > 0 : a.counts[i]);
    }

    // Biases of the edges of an item, as the function says.
    struct OfItem {
        const FunctionItems &a;
        gd_i64 row, source, before, near, instance, seed, begin;

        __device__ __forceinline__ double operator()(gd_i64 place) const {
            const gd_i64 slot = a.indices[begin + place], destination = a.mapped ? a.ids[slot] : slot;
            return (double)edge_bias(begin + place, row, slot, source, destination, before, near, a.depth, instance,
                                     seed, a.failure, a);
        }
        friend __device__ __forceinline__ bool gd_unfit(const OfItem &, double one) {
            return !(one >= 0.0) | !(one < gd_infinity());
        }
        friend __device__ __forceinline__ void gd_refuse(const OfItem &item) {
            atomicCAS(item.a.failure, 0, GD_NO_BIAS);
        }
    };

    // Choose all edges of an item whose bias is above 0, in the order of the row; how many they are.
    template <int SIZE, int CAPACITY>
    __device__ __forceinline__ gd_i64 choose_all(const Smallest<SIZE, CAPACITY> &group, const OfItem &bias, gd_i64 size,
                                                 gd_i64 out) const {
        gd_i64 made = 0;
        for (gd_i64 from = 0; from < size; from += SIZE) {
            const gd_i64 place = from + group.rank();
            const double one = place < size ? bias(place) : 0.0;
            if (gd_unfit(bias, one)) gd_refuse(bias);
            int all;
            const int ahead = group.count_before(one > 0.0, all);
            if (one > 0.0) a.chosen[out + made + ahead] = place;
            made += all;
        }
        return made;
    }

    // Choose for an item, with a group of threads. Biases are made anew in every pass over the row.
    template <int SIZE, int CAPACITY>
    __device__ __forceinline__ void choose(const Smallest<SIZE, CAPACITY> &group, gd_i64 i) const {
        const gd_i64 row = a.rows[i], begin = a.indptr[row], size = a.indptr[row + 1] - begin, out = a.starts[i];
        const gd_i64 count = a.counts[i];
        if (count == 0) return;
        const OfItem bias = {a, row, a.vertices[i], a.previous[i], a.near[i], a.instances[i], a.seeds[i], begin};
        gd_i64 made = 0, positive = count + 1;
        if (a.replace || size > count) {
            const double total = group.about(size, bias);
            const gd_u64 of_item = gd_group_key(a.seed, GD_DRAW_KEY, a.places[i]);
            const gd_i64 each = a.replace ? 1 : count;
            for (gd_i64 s = 0; s < count && (made == s || !a.replace); s += each) {
                made += group.give(gd_group_key(of_item, GD_DRAW_KEY, s), (gd_u64)bias.instance, (gd_u32)a.depth, size,
                                   each, total, bias, positive, [&](gd_i64 at, double one, gd_i64 place) {
                                       a.keys[out + s + at] = one;
                                       a.chosen[out + s + at] = place;
                                   });
            }
        }
        if (!a.replace && (size <= count || positive <= count)) {
            group.sync();
            made = choose_all(group, bias, size, out);
        }
        for (gd_i64 s = group.rank(); s < count; s += SIZE) a.owner[out + s] = s < made ? i : -1;
        if (made < count) *a.lacking = 1;
    }
};

extern "C" __global__ void functions_reservoir(long long n, FunctionItems a) {
    __shared__ double held_keys[GD_WARPS * GD_OF_WARP];
    __shared__ long long held_places[GD_WARPS * GD_OF_WARP];
    __shared__ int held[2 * GD_WARPS];
    const int warp = (int)threadIdx.x >> 5, at = warp * GD_OF_WARP;
    const Smallest<32, GD_OF_WARP> group = {held_keys + at, held_places + at, held + 2 * warp};
    const Reservoir of = {a};
    gd_by_warps(n, a.longs, [&](gd_i64 i) { return of.is_long(i); }, [&](gd_i64 i) { of.choose(group, i); });
}

extern "C" __global__ void functions_reservoir_long(long long n, FunctionItems a) {
    __shared__ double held_keys[GD_OF_BLOCK];
    __shared__ long long held_places[GD_OF_BLOCK];
    __shared__ int held[2];
    const Smallest<32 * GD_WARPS, GD_OF_BLOCK> group = {held_keys, held_places, held};
    const Reservoir of = {a};
    gd_by_blocks(a.longs, [&](gd_i64 i) { of.choose(group, i); });
}

extern "C" __global__ void functions_trials(long long n, FunctionItems a) {
    GD_FOR(i, n) {
        const gd_i64 row = a.rows[i], source = a.vertices[i], before = a.previous[i], instance = a.instances[i];
        const gd_i64 begin = a.indptr[row], size = a.indptr[row + 1] - begin, out = a.starts[i], count = a.counts[i];
        const gd_u64 key = gd_group_key(a.seed, GD_DRAW_TRIAL, a.places[i]);
        gd_i64 made = 0;
        for (bool found = true; found && made < count && (a.replace || count < size);) {
            found = false;
            for (gd_i64 trial = 0; !found && trial < a.trials; ++trial) {
                gd_u64 which, kept;
                gd_philox(key, (gd_u64)instance, (gd_u32)a.depth, (gd_u32)(made * a.trials + trial), which, kept);
                const gd_i64 place = (gd_i64)gd_digit(which, (gd_u64)size);
                const gd_i64 slot = a.indices[begin + place], destination = a.mapped ? a.ids[slot] : slot;
                const bias_t bias = gd_checked(edge_bias(begin + place, row, slot, source, destination, before, a.near[i],
                                                         a.depth, instance, a.seeds[i], a.failure, a), a.failure);
                if (bias > a.bound) atomicCAS(a.failure, 0, GD_ABOVE_BOUND);
                found = gd_kept(kept, bias, a.bound);
                for (gd_i64 s = 0; found && !a.replace && s < made; ++s) found = a.chosen[out + s] != place;
                if (found) a.chosen[out + made] = place;
            }
            made += found;
        }
        a.done[i] = made;
        for (gd_i64 s = 0; s < count; ++s) a.owner[out + s] = s < made ? a.label + i : -1;
    }
}

extern "C" __global__ void functions_update(long long n, FunctionItems a) {
    GD_FOR(k, n) {
        const gd_i64 i = a.of_items[k], edge = a.edges[k], slot = a.indices[edge], instance = a.instances[i];
        const gd_i64 destination = a.mapped ? a.ids[slot] : slot;
        gd_u64 one, two;
        gd_philox(gd_group_key(a.seed, GD_DRAW_UPDATE, a.places[i]), (gd_u64)instance, (gd_u32)a.depth,
                  (gd_u32)a.numbers[k], one, two);
        const gd_i64 named = update(edge, a.rows[i], slot, a.vertices[i], destination, a.previous[i], a.near[i], a.depth,
                                    instance, a.seeds[i], gd_fraction(one), a);
        const gd_i64 next = vertex_of(a.names, a.base, a.num_vertices, named);
        const bool wrong = next < -1;
        if (wrong) atomicCAS(a.failure_of_update, 0, GD_NO_VERTEX);
        a.put[k] = wrong ? (index_t)-1 : (index_t)next;
    }
}
