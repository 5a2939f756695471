// Steps by functions of the caller, many in one launch; functions.cu says how these come here. Twins:
// functions_hops.py; whether there is an update, and a bias of vertices, is known when they are compiled.
//
// Source: Pandey et al., c-saw, Section III, Figure 2, and Section V-A.
#include "common/common.cuh"
#include "choice/selection.cuh"
#include "functions/user.cuh"
#include "functions/functions_default.cuh"

// How edges are drawn, and whether functions ask from which vertex one was reached, where that is known when this is
// compiled.
#ifndef gd_how
#define gd_how a.how
#endif
#ifndef gd_traces
#define gd_traces 1
#endif
#include "functions/column_types.cuh"
#include "functions/functions_hops_pack.py"
#include "functions/functions_asking.cuh"

// Neighbour sampling of small instances from seeds to last hop.
extern "C" __global__ void __launch_bounds__(128, 5) functions_hops_draw(long long n, gd_i64 first, FunctionHops a) {
    const Given given(a, a.revisit != 0);
    if (gd_how == GD_ALIKE) hops_all(Asking<GD_ALIKE>{given}, n, first, a);
    else if (gd_how == GD_SUMMED) hops_all(Asking<GD_SUMMED>{given}, n, first, a);
    else if (gd_how == GD_ALIASED) hops_all(Asking<GD_ALIASED>{given}, n, first, a);
    else hops_all(Asking<GD_TRIED>{given}, n, first, a);
}

struct Whole {
    static constexpr bool floating = false;
};
struct Fractional {
    static constexpr bool floating = true;
};
__device__ __forceinline__ Fractional gd_kind_of(double) { return {}; }
__device__ __forceinline__ Whole gd_kind_of(gd_i64) { return {}; }

// The pool of an instance, of which all lanes of a warp know the same.
struct Pool : VertexColumns {
    index_t *vertices, *sources;  // -1 where a vertex is a seed
    gd_i64 size;
    const gd_i64 *indptr, *names;
    gd_i64 base, instance;
    gd_u64 key;
    int *failure;
    gd_i64 *kept;  // biases of all, where they are a vertex's wherever it is; else null
    gd_i64 stale;  // the place of which that is to be made anew; -1 for none, -2 for all

    // A bias as a whole number, or the bits of a float.
    __device__ __forceinline__ gd_i64 made(gd_i64 place, int step) const {
        const auto one = vertex_bias(vertices[place], row_length(indptr, vertices[place]), step, instance, place,
                                     failure, *this);
        if (one >= 0 && !(one - one != 0)) return one > 0 ? gd_bits_of(one) : 0;
        atomicCAS(failure, 0, GD_NO_BIAS);
        return 0;
    }
    __device__ __forceinline__ gd_i64 bits(gd_i64 place, int step) const {
        return kept ? kept[place] : made(place, step);
    }
    // The place that is chosen in proportion to the biases; -1 where all are 0.
    __device__ __forceinline__ gd_i64 choose(int step) {
        gd_u64 number, second;
        gd_philox(key, (gd_u64)instance, (gd_u32)step, 0, number, second);
#ifndef GD_HAS_vertex_bias
        return (gd_i64)gd_digit(number, (gd_u64)size);
#endif
        typedef decltype(gd_kind_of(vertex_bias(0, 0, step, instance, 0, failure, *this))) Kind;
        const int lane = threadIdx.x & 31;
        if (kept && stale != -1) {
            if (stale >= 0 && lane == 0) kept[stale] = made(stale, step);
            for (gd_i64 place = lane; stale < 0 && place < size; place += 32) kept[place] = made(place, step);
            stale = -1;
            __syncwarp();
        }
        gd_i64 greatest = 0;
        for (gd_i64 place = lane; Kind::floating && place < size; place += 32) {
            const gd_i64 one = bits(place, step);
            greatest = one > greatest ? one : greatest;
        }
        for (int by = 16; Kind::floating && by; by >>= 1) {
            const gd_i64 other = __shfl_xor_sync(GD_WARP, greatest, by);
            greatest = other > greatest ? other : greatest;
        }
        const auto units = [&](gd_i64 place) {
            const gd_i64 one = bits(place, step);
            return (gd_u64)(Kind::floating ? gd_units_of_float(one, greatest, size) : one);
        };
        gd_u64 total = 0;
        int over = 0;
        for (gd_i64 place = lane; place < size; place += 32) {
            total += units(place);
            if (total >> 63) over = 1, total = 0;
        }
        for (int by = 16; by; by >>= 1) {
            total += __shfl_xor_sync(GD_WARP, total, by);
            if (total >> 63) over = 1, total = 0;
        }
        if (__any_sync(GD_WARP, over)) {
            if (lane == 0) atomicCAS(failure, 0, GD_LARGE_SUM);
            return -1;
        }
        if (!total) return -1;
        const gd_u64 digit = gd_digit(number, total);
        gd_u64 before = 0;
        for (gd_i64 from = 0;; from += 32) {
            gd_u64 sum = from + lane < size ? units(from + lane) : 0;
            for (int by = 1; by < 32; by <<= 1) {
                const gd_u64 lower = __shfl_up_sync(GD_WARP, sum, by);
                if (lane >= by) sum += lower;
            }
            const unsigned above = __ballot_sync(GD_WARP, before + sum > digit);
            if (above) return from + __ffs(above) - 1;
            before += __shfl_sync(GD_WARP, sum, 31);
        }
    }
    // Put a vertex where another one was, or with -1 close the gap.
    __device__ __forceinline__ void replace(gd_i64 place, index_t vertex, index_t source) {
        const int lane = threadIdx.x & 31;
        __syncwarp();
        if (vertex >= 0) {
            if (lane == 0) vertices[place] = vertex, sources[place] = source;
            stale = place;
            __syncwarp();
            return;
        }
        for (gd_i64 from = place; from < size - 1; from += 32) {
            const gd_i64 to = from + lane;
            index_t next = 0, of_next = 0;
            gd_i64 bias = 0;
            if (to < size - 1) next = vertices[to + 1], of_next = sources[to + 1];
            if (kept && to < size - 1) bias = kept[to + 1];
            __syncwarp();
            if (to < size - 1) vertices[to] = next, sources[to] = of_next;
            if (kept && to < size - 1) kept[to] = bias;
            __syncwarp();
        }
        --size;
    }
};

template <int HOW>
__device__ __forceinline__ void pools_all(const Given &given, long long n, gd_i64 first, gd_i64 begin, gd_i64 end,
                                          const FunctionPools &a) {
    const Asking<HOW> drawer{given};
    const gd_u64 key = gd_group_key(a.seed, GD_DRAW_POOL, 0);
    const int lane = threadIdx.x & 31;
    const gd_i64 warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    for (gd_i64 i = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; i < n; i += warps) {
        Pool pool = {VertexColumns(a), a.pools + a.bounds[i], a.before + a.bounds[i], a.sizes[i], a.indptr, a.names,
                     a.base, first + i, key, a.failure_of_pool, a.fixed ? a.kept + a.bounds[i] : nullptr, -2};
        bool lacks = false;
        for (gd_i64 step = begin; step < end; ++step) {
            const gd_i64 place = pool.size ? pool.choose((int)step) : -1;
            index_t from = -1, found = -1, next = -1;
            if (place >= 0 && lane == 0) {
                typename Asking<HOW>::Memo memo;
                from = pool.vertices[place];
                const gd_i64 row = a.indptr[from];
                const Item item = {from, pool.sources[place], a.seeds[i], (gd_u64)(first + i), (int)place, (int)step, row,
                                   a.indptr[from + 1] - row};
                if (drawer.count(item, 1, memo))
                    drawer.draw(item, 1, memo, [&](gd_i64, index_t neighbour, index_t put) {
                        found = neighbour;
                        next = put;
                    });
            }
            if (lane == 0) {
                a.src[i * a.depth + step] = from;
                a.dst[i * a.depth + step] = found;
                lacks |= found < 0;
            }
            if (place >= 0) pool.replace(place, __shfl_sync(GD_WARP, next, 0), from);
        }
        for (gd_i64 step = begin + lane; step < end; step += 32) {
            a.hops[i * a.depth + step] = (int)step;
            a.instances[i * a.depth + step] = first + i;
        }
        if (lane == 0) a.sizes[i] = pool.size;
        if (lacks) *a.lacking = 1;
        __syncwarp();
    }
}

// Of every pool one vertex a step, and of that one edge.
extern "C" __global__ void functions_hops_pools(long long n, gd_i64 first, gd_i64 begin, gd_i64 end, FunctionPools a) {
    const Given given(a, true);
    if (gd_how == GD_ALIKE) pools_all<GD_ALIKE>(given, n, first, begin, end, a);
    else if (gd_how == GD_SUMMED) pools_all<GD_SUMMED>(given, n, first, begin, end, a);
    else if (gd_how == GD_ALIASED) pools_all<GD_ALIASED>(given, n, first, begin, end, a);
    else pools_all<GD_TRIED>(given, n, first, begin, end, a);
}
