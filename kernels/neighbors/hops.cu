// Neighbour sampling of small instances from seeds to last hop (hops.cuh). The twins in hops.py say what the arguments are.
//
// One launch draws the edges of all hops into buffers for the most that instances can have, and after the sum over
// instances another one puts them together.
#include "neighbors/hops.cuh"
#include "neighbors/successive.cuh"

// How neighbours are drawn: all alike, by bias or one of the methods for it, or by one that sees by bits what is drawn.
#define GD_ALIKE 0
#define GD_BY_BIAS 1
#define GD_BY_BITS 2

template <int HOW> struct Graph {
    // Whether what a neighbour puts into the next frontier is another vertex, or none; whether it is asked from which
    // vertex one was reached, and which seed is an instance's first.
    static constexpr bool PUTS = false, TRACES = false, ASKS = false;
    struct Memo {};

    const gd_i64 *indptr;
    const index_t *indices;
    const gd_i64 *sums;
    bool replace;
    gd_i64 method;
    gd_u64 key_0, key_1;

    __device__ __forceinline__ static constexpr bool revisits() { return false; }
    __device__ __forceinline__ int count(const Item &item, gd_i64 fanout, Memo &) const {
        return (int)(replace ? (item.degree ? fanout : 0) : fanout < item.degree ? fanout : item.degree);
    }
    template <class Emit>
    __device__ __forceinline__ void draw(const Item &item, gd_i64 count, const Memo &, Emit emit) const {
        const gd_u64 key = gd_hash(key_0, key_1, (gd_u64)item.vertex);
        const index_t *const row = indices + item.row;
        const auto read = [&](gd_i64 place) { return row[place]; };
        const auto give = [&](gd_i64 s, index_t neighbour) { emit(s, neighbour, neighbour); };
        if constexpr (HOW == GD_ALIKE) {
            gd_draw_alike(key, item.instance, 0, item.degree, count, replace, read, give);
        } else {
            const Row biases = {sums ? sums + item.row : nullptr, item.degree};
            gd_draw_by_bias<HOW == GD_BY_BITS>(key, item.instance, biases, count, replace, method, read, give);
        }
    }
};

// All neighbours alike.
extern "C" __global__ void __launch_bounds__(128, 5) hops_draw(
    long long n, gd_i64 first, const index_t *__restrict__ seeds, const gd_i64 *__restrict__ bounds,
    const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices, const gd_i64 *__restrict__ sums,
    gd_u64 fanouts, gd_i64 hops, gd_i64 replace, gd_i64 method, gd_u64 seed, gd_i64 together, gd_i64 places,
    gd_i64 slots, gd_i64 most, index_t *__restrict__ src, index_t *__restrict__ dst, int *__restrict__ upto,
    int *__restrict__ starts, gd_i64 *__restrict__ counts) {
    const Graph<GD_ALIKE> graph = {indptr, indices, sums, replace != 0, method, gd_key(seed, GD_DRAW_NEIGHBOR, 0),
                             gd_key(seed, GD_DRAW_NEIGHBOR, 1)};
    hops_all(graph, n, first, seeds, bounds, fanouts, hops, together, places, slots, most, src, dst, upto, starts, counts);
}

// By bias, or by one of the methods for it.
extern "C" __global__ void __launch_bounds__(128, 6) hops_draw_biased(
    long long n, gd_i64 first, const index_t *__restrict__ seeds, const gd_i64 *__restrict__ bounds,
    const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices, const gd_i64 *__restrict__ sums,
    gd_u64 fanouts, gd_i64 hops, gd_i64 replace, gd_i64 method, gd_u64 seed, gd_i64 together, gd_i64 places,
    gd_i64 slots, gd_i64 most, index_t *__restrict__ src, index_t *__restrict__ dst, int *__restrict__ upto,
    int *__restrict__ starts, gd_i64 *__restrict__ counts) {
    const Graph<GD_BY_BIAS> graph = {indptr, indices, sums, replace != 0, method, gd_key(seed, GD_DRAW_NEIGHBOR, 0),
                             gd_key(seed, GD_DRAW_NEIGHBOR, 1)};
    hops_all(graph, n, first, seeds, bounds, fanouts, hops, together, places, slots, most, src, dst, upto, starts, counts);
}

// By a method that sees by bits what is drawn already.
extern "C" __global__ void __launch_bounds__(128, 6) hops_draw_by_bits(
    long long n, gd_i64 first, const index_t *__restrict__ seeds, const gd_i64 *__restrict__ bounds,
    const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices, const gd_i64 *__restrict__ sums,
    gd_u64 fanouts, gd_i64 hops, gd_i64 replace, gd_i64 method, gd_u64 seed, gd_i64 together, gd_i64 places,
    gd_i64 slots, gd_i64 most, index_t *__restrict__ src, index_t *__restrict__ dst, int *__restrict__ upto,
    int *__restrict__ starts, gd_i64 *__restrict__ counts) {
    const Graph<GD_BY_BITS> graph = {indptr, indices, sums, replace != 0, method, gd_key(seed, GD_DRAW_NEIGHBOR, 0),
                             gd_key(seed, GD_DRAW_NEIGHBOR, 1)};
    hops_all(graph, n, first, seeds, bounds, fanouts, hops, together, places, slots, most, src, dst, upto, starts, counts);
}

// A warp takes the instances that were drawn together; their edges are side by side in what comes out, too.
extern "C" __global__ void hops_place(long long n, gd_i64 first, gd_i64 hops, gd_i64 together, gd_i64 most,
                                      const index_t *__restrict__ src, const index_t *__restrict__ dst,
                                      const int *__restrict__ upto, const int *__restrict__ starts,
                                      const gd_i64 *__restrict__ ends, index_t *__restrict__ out_src,
                                      index_t *__restrict__ out_dst, int *__restrict__ out_hop,
                                      gd_i64 *__restrict__ out_instance) {
    const int lane = (int)threadIdx.x & 31;
    const gd_i64 warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    for (gd_i64 group = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; group * together < n; group += warps) {
        const gd_i64 begin = group * together, last = min(begin + together, (gd_i64)n) - 1;
        const gd_i64 out = group ? ends[begin - 1] : 0;
        const int end = (int)(ends[min(begin + lane, last)] - out), all = __shfl_sync(GD_WARP, end, 31);
        const index_t *const from_here = src + begin * most, *const to_here = dst + begin * most;
        for (int from = 0; from < all; from += 32) {
            const int at = from + lane, g = gd_whose(end, at), before = __shfl_sync(GD_WARP, end, g ? g - 1 : 0);
            if (at >= all) continue;
            const int e = at - (g ? before : 0), *const of_hop = upto + (begin + g) * hops;
            int hop = 0, of_others = 0;
            for (int made; (made = of_hop[hop]) <= e; ++hop) of_others = made;
            const int place = starts[(begin + g) * hops + hop] + e - of_others;
            out_src[out + at] = from_here[place];
            out_dst[out + at] = to_here[place];
            out_hop[out + at] = hop;
            out_instance[out + at] = first + begin + g;
        }
    }
}
