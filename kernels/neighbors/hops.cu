// Neighbour sampling of small instances from seeds to last hop (hops.cuh). The twins in hops.py say what the arguments are.
//
// One launch draws the edges of all hops into buffers for the most that instances can have, and after the sum over
// instances another one puts them together.
#include "neighbors/hops.cuh"
#include "neighbors/successive.cuh"
#include "neighbors/hops_pack.py"

// How neighbours are drawn: all alike, by bias or one of the methods for it, or by one that sees by bits what is drawn.
#define GD_ALIKE 0
#define GD_BY_BIAS 1
#define GD_BY_BITS 2

// Whether places of edges are drawn instead of neighbours: as the kernel says, or as its arguments say.
#define GD_NEIGHBORS 0
#define GD_PLACES 1
#define GD_ASKED 2

template <int HOW, int WHAT> struct Graph {
    // Whether what a neighbour puts into the next frontier is another vertex, or none; whether it is asked from which
    // vertex one was reached, and which seed is an instance's first.
    static constexpr bool PUTS = false, TRACES = false, ASKS = false;
    struct Memo {};

    const gd_i64 *indptr;
    const index_t *indices;
    const gd_i64 *sums;
    bool replace, asked;
    int last;
    gd_i64 method;
    gd_u64 key_0, key_1;

    __device__ __forceinline__ explicit Graph(const NeighborHops &a)
        : indptr(a.indptr), indices(a.indices), sums(a.sums), replace(a.replace != 0), asked(a.placed != 0),
          last((int)a.hops - 1), method(a.method), key_0(gd_key(a.seed, GD_DRAW_NEIGHBOR, 0)),
          key_1(gd_key(a.seed, GD_DRAW_NEIGHBOR, 1)) {}
    __device__ __forceinline__ static constexpr bool revisits() { return false; }
    __device__ __forceinline__ bool places() const { return WHAT == GD_ASKED ? asked : WHAT == GD_PLACES; }
    __device__ __forceinline__ int count(const Item &item, gd_i64 fanout, Memo &) const {
        return (int)(replace ? (item.degree ? fanout : 0) : fanout < item.degree ? fanout : item.degree);
    }
    template <class Emit>
    __device__ __forceinline__ void draw(const Item &item, gd_i64 count, const Memo &, Emit emit) const {
        const gd_u64 key = gd_hash(key_0, key_1, (gd_u64)item.vertex);
        const index_t *const row = indices + item.row;
        // where places are wanted, the neighbours of the last hop are read as its edges are put together
        const auto read = [&](gd_i64 place) { return places() ? (index_t)(item.row + place) : row[place]; };
        const auto give = [&](gd_i64 s, index_t found) {
            emit(s, found, places() && item.hop < last ? indices[found] : found);
        };
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
    long long n, gd_i64 first, NeighborHops a) {
    hops_all(Graph<GD_ALIKE, GD_NEIGHBORS>(a), n, first, a);
}

// The places of their edges. It is a kernel of its own because the one before has no register left.
extern "C" __global__ void __launch_bounds__(128, 5) hops_draw_places(
    long long n, gd_i64 first, NeighborHops a) {
    hops_all(Graph<GD_ALIKE, GD_PLACES>(a), n, first, a);
}

// By bias, or by one of the methods for it.
extern "C" __global__ void __launch_bounds__(128, 6) hops_draw_biased(
    long long n, gd_i64 first, NeighborHops a) {
    hops_all(Graph<GD_BY_BIAS, GD_ASKED>(a), n, first, a);
}

// By a method that sees by bits what is drawn already.
extern "C" __global__ void __launch_bounds__(128, 6) hops_draw_by_bits(
    long long n, gd_i64 first, NeighborHops a) {
    hops_all(Graph<GD_BY_BITS, GD_ASKED>(a), n, first, a);
}

// A warp takes the instances that were drawn together; their edges are side by side in what comes out, too.
extern "C" __global__ void hops_place(long long n, gd_i64 first, PlacedHops a) {
    const int lane = (int)threadIdx.x & 31;
    const gd_i64 warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    for (gd_i64 group = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; group * a.together < n; group += warps) {
        const gd_i64 begin = group * a.together, last = min(begin + a.together, (gd_i64)n) - 1;
        const gd_i64 out = group ? a.ends[begin - 1] : 0;
        const int end = (int)(a.ends[min(begin + lane, last)] - out), all = __shfl_sync(GD_WARP, end, 31);
        const index_t *const from_here = a.src + begin * a.most, *const to_here = a.dst + begin * a.most;
        for (int from = 0; from < all; from += 32) {
            const int at = from + lane, g = gd_whose(end, at), before = __shfl_sync(GD_WARP, end, g ? g - 1 : 0);
            if (at >= all) continue;
            const int e = at - (g ? before : 0), *const of_hop = a.upto + (begin + g) * a.hops;
            int hop = 0, of_others = 0;
            for (int made; (made = of_hop[hop]) <= e; ++hop) of_others = made;
            const int place = a.starts[(begin + g) * a.hops + hop] + e - of_others;
            a.out_src[out + at] = from_here[place];
            index_t to = to_here[place];
            if (a.out_edge) {
                const gd_i64 row = a.kept ? a.kept[to] : (gd_i64)to;
                a.out_edge[out + at] = a.rows ? (gd_i64)a.rows[row] : a.long_rows[row];
                to = a.indices[to];
            }
            a.out_dst[out + at] = to;
            a.out_hop[out + at] = hop;
            a.out_instance[out + at] = first + begin + g;
        }
    }
}
