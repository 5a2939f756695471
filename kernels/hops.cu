// Neighbour sampling of small instances from seeds to last hop, a group of threads each: what an instance has reached is
// in shared memory. The twins in hops.py say what the arguments are.
//
// One launch draws the edges of all hops into room for the most that an instance can have, and after the sum over
// instances another one puts them together.
//
// Sources: Pandey et al., c-saw, Section V-A (many instances at a time); Hamilton, Ying, Leskovec, Inductive
// representation learning on large graphs (2017).
#include "successive.cuh"

struct Graph {
    const gd_i64 *indptr;
    const index_t *indices;
    const gd_i64 *sums;
    bool replace;
    gd_i64 method;
    gd_u64 key_0, key_1;

    __device__ __forceinline__ gd_i64 wanted(gd_i64 degree, gd_i64 fanout) const {
        return replace ? (degree ? fanout : 0) : fanout < degree ? fanout : degree;
    }
    // Give emit(s, neighbour) those of a vertex whose row is [begin, begin + degree).
    template <bool ALIKE, class Emit>
    __device__ __forceinline__ void draw(index_t vertex, gd_u64 instance, gd_i64 begin, gd_i64 degree, gd_i64 count,
                                         Emit emit) const {
        const gd_u64 key = gd_hash(key_0, key_1, (gd_u64)vertex);
        const index_t *const row = indices + begin;
        const auto read = [&](gd_i64 place) { return row[place]; };
        if (ALIKE) {
            gd_draw_alike(key, instance, degree, count, replace, read, emit);
        } else {
            const Row biases = {sums ? sums + begin : nullptr, degree};
            gd_draw_by_bias(key, instance, biases, count, replace, method, read, emit);
        }
    }
};

// Which vertices an instance has reached: places in its list, found by the vertices that stand there.
struct Reached {
    index_t *list;
    int *table;
    gd_i64 slots;

    __device__ __forceinline__ int first(index_t vertex) const {
        return (int)__umul64hi(gd_spread((gd_u64)vertex), (gd_u64)slots);
    }
    // Enter the vertex at a place; of places with the same vertex, the least stays.
    __device__ __forceinline__ void enter(int place) {
        const index_t vertex = list[place];
        for (int slot = first(vertex);; slot = slot + 1 == (int)slots ? 0 : slot + 1) {
            const int held = atomicCAS(&table[slot], -1, place);
            if (held == -1) return;
            if (list[held] == vertex) {
                atomicMin(&table[slot], place);
                return;
            }
        }
    }
    __device__ __forceinline__ int find(index_t vertex) const {
        int slot = first(vertex);
        while (list[table[slot]] != vertex) slot = slot + 1 == (int)slots ? 0 : slot + 1;
        return slot;
    }
};

// Draw the edges of an instance, by the `width` threads of a group, of which this one is `lane`.
template <bool ALIKE>
__device__ __forceinline__ gd_i64 hops_of_one(const Graph &graph, Reached reached, gd_u64 instance,
                                              const index_t *seeds, int count, gd_u64 fanouts, int hops, int width,
                                              int lane, unsigned mask, index_t *src, index_t *dst, int *upto) {
    int begin = 0, end = count;
    int made = 0;
    for (int k = lane; k < end; k += width) reached.list[k] = seeds[k];
    if (hops > 1)
        for (int slot = lane; slot < (int)reached.slots; slot += width) reached.table[slot] = -1;
    __syncwarp(mask);
    if (hops > 1)
        for (int k = lane; k < end; k += width) reached.enter(k);
    for (int hop = 0; hop < hops; ++hop) {
        const gd_i64 fanout = (gd_i64)(fanouts >> (8 * hop) & 255);
        const bool more = hop + 1 < hops;
        int total = 0;
        for (int from = begin; from < end; from += width) {
            const int k = from + lane;
            index_t vertex = 0;
            gd_i64 row = 0, degree = 0;
            int mine = 0;
            if (k < end) {
                vertex = reached.list[k];
                row = graph.indptr[vertex];
                degree = graph.indptr[vertex + 1] - row;
                mine = (int)graph.wanted(degree, fanout);
            }
            int sum = mine;
            for (int by = 1; by < width; by <<= 1) {
                const int below = __shfl_up_sync(mask, sum, by, width);
                if (lane >= by) sum += below;
            }
            const int before = total + sum - mine;
            total += __shfl_sync(mask, sum, width - 1, width);
            if (mine) {
                graph.draw<ALIKE>(vertex, instance, row, degree, mine, [&](gd_i64 s, index_t neighbour) {
                    src[made + before + s] = vertex;
                    dst[made + before + s] = neighbour;
                    if (more) reached.list[end + before + (int)s] = neighbour;
                });
            }
        }
        made += total;
        if (lane == 0) upto[hop] = made;
        if (!more) break;
        __syncwarp(mask);
        for (int e = end + lane; e < end + total; e += width) reached.enter(e);
        __syncwarp(mask);
        // those that are new, in the order of the edges, take the places that follow
        int next = end;
        for (int from = end; from < end + total; from += width) {
            const int e = from + lane;
            index_t vertex = 0;
            int slot = 0;
            bool fresh = false;
            if (e < end + total) {
                vertex = reached.list[e];
                slot = reached.find(vertex);
                fresh = reached.table[slot] == e;
            }
            const unsigned all = __ballot_sync(mask, fresh) & mask;
            __syncwarp(mask);
            if (fresh) {
                const int at = next + __popc(all & ((1u << (threadIdx.x & 31)) - 1));
                reached.list[at] = vertex;
                reached.table[slot] = at;
            }
            next += __popc(all);
            __syncwarp(mask);
        }
        begin = end;
        end = next;
    }
    __syncwarp(mask);
    return made;
}

template <bool ALIKE>
__device__ __forceinline__ void hops_all(
    long long n, gd_i64 first, const index_t *__restrict__ seeds, const gd_i64 *__restrict__ bounds,
    const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices, const gd_i64 *__restrict__ sums,
    gd_u64 fanouts, gd_i64 hops, gd_i64 replace, gd_i64 method, gd_u64 seed, gd_i64 width, gd_i64 room,
    gd_i64 slots, gd_i64 most, index_t *__restrict__ src, index_t *__restrict__ dst, int *__restrict__ upto,
    gd_i64 *__restrict__ counts) {
    extern __shared__ gd_i64 gd_rooms[];
    const Graph graph = {indptr, indices, sums, replace != 0, method, gd_key(seed, GD_DRAW_NEIGHBOR, 0),
                         gd_key(seed, GD_DRAW_NEIGHBOR, 1)};
    const int wide = (int)width, lane = (int)threadIdx.x & (wide - 1);
    const int group = (int)threadIdx.x / wide, groups = (int)blockDim.x / wide;
    const unsigned mask = wide == 32 ? 0xffffffffu : ((1u << wide) - 1) << (threadIdx.x & 31 & ~(wide - 1));
    const gd_i64 words = (room * (gd_i64)sizeof(index_t) + slots * 4 + 7) / 8;
    index_t *const list = (index_t *)&gd_rooms[group * words];
    const Reached reached = {list, (int *)(list + room), slots};
    for (gd_i64 i = (gd_i64)blockIdx.x * groups + group; i < n; i += (gd_i64)gridDim.x * groups) {
        const gd_i64 begin = bounds ? bounds[i] : i, count = bounds ? bounds[i + 1] - begin : 1;
        const gd_i64 made =
            hops_of_one<ALIKE>(graph, reached, (gd_u64)(first + i), seeds + begin, (int)count, fanouts, (int)hops, wide, lane,
                        mask, src + i * most, dst + i * most, upto + i * hops);
        if (lane == 0) counts[i] = made;
    }
}

// All neighbours alike.
extern "C" __global__ void __launch_bounds__(128, 5) hops_draw(
    long long n, gd_i64 first, const index_t *__restrict__ seeds, const gd_i64 *__restrict__ bounds,
    const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices, const gd_i64 *__restrict__ sums,
    gd_u64 fanouts, gd_i64 hops, gd_i64 replace, gd_i64 method, gd_u64 seed, gd_i64 width, gd_i64 room,
    gd_i64 slots, gd_i64 most, index_t *__restrict__ src, index_t *__restrict__ dst, int *__restrict__ upto,
    gd_i64 *__restrict__ counts) {
    hops_all<true>(n, first, seeds, bounds, indptr, indices, sums, fanouts, hops, replace, method, seed, width, room, slots,
                   most, src, dst, upto, counts);
}

// By bias, or by one of the methods for it.
extern "C" __global__ void __launch_bounds__(128, 8) hops_draw_biased(
    long long n, gd_i64 first, const index_t *__restrict__ seeds, const gd_i64 *__restrict__ bounds,
    const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices, const gd_i64 *__restrict__ sums,
    gd_u64 fanouts, gd_i64 hops, gd_i64 replace, gd_i64 method, gd_u64 seed, gd_i64 width, gd_i64 room,
    gd_i64 slots, gd_i64 most, index_t *__restrict__ src, index_t *__restrict__ dst, int *__restrict__ upto,
    gd_i64 *__restrict__ counts) {
    hops_all<false>(n, first, seeds, bounds, indptr, indices, sums, fanouts, hops, replace, method, seed, width, room, slots,
                    most, src, dst, upto, counts);
}

extern "C" __global__ void hops_place(long long n, gd_i64 first, gd_i64 hops, gd_i64 most,
                                      const index_t *__restrict__ src, const index_t *__restrict__ dst,
                                      const int *__restrict__ upto, const gd_i64 *__restrict__ ends,
                                      index_t *__restrict__ out_src, index_t *__restrict__ out_dst,
                                      int *__restrict__ out_hop, gd_i64 *__restrict__ out_instance) {
    const int lane = (int)threadIdx.x & 31;
    const gd_i64 warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    for (gd_i64 i = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; i < n; i += warps) {
        const gd_i64 out = i ? ends[i - 1] : 0, count = ends[i] - out;
        int hop = 0;
        for (gd_i64 e = lane; e < count; e += 32) {
            while (upto[i * hops + hop] <= e) ++hop;
            out_src[out + e] = src[i * most + e];
            out_dst[out + e] = dst[i * most + e];
            out_hop[out + e] = hop;
            out_instance[out + e] = first + i;
        }
    }
}
