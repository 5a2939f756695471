// Neighbour sampling of small instances from seeds to last hop, some of them by a warp: what they have reached is in shared
// memory. How many neighbours a vertex gives, which, and what they put into the next frontier, a drawer says (hops.cu and
// functions_hops.cu).
//
// Frontiers differ in size, and many are empty. So lane g of a warp keeps the counts of its instance g, and what is to be
// done for all of them, item after item of the first, then of the next, is dealt to all lanes.
//
// Sources: Pandey et al., c-saw, Section V-A (many instances at a time); Hamilton, Ying, Leskovec, Inductive
// representation learning on large graphs (2017).
#pragma once
#include "neighbors/neighbors.cuh"

#define GD_STAGED 16  // neighbours of a vertex, at most, that come by way of shared memory and leave it side by side
#define GD_WARP 0xffffffffu

__device__ __forceinline__ int gd_sum_upto(int mine, int lane) {
    for (int by = 1; by < 32; by <<= 1) {
        const int below = __shfl_up_sync(GD_WARP, mine, by);
        if (lane >= by) mine += below;
    }
    return mine;
}

// The lane whose item it is, where each knows how many there are up to the last of its own.
__device__ __forceinline__ int gd_whose(int upto, int item) {
    int lanes = 0;
    for (int by = 16; by; by >>= 1) {
        const int at = __shfl_sync(GD_WARP, upto, lanes + by - 1);
        if (at <= item) lanes += by;
    }
    return lanes;
}

// The items of all instances, 32 at a time.
struct Dealt {
    int lane, mine, upto, all, from;

    __device__ __forceinline__ Dealt(int lane, int count)
        : lane(lane), mine(count), upto(gd_sum_upto(count, lane)), from(0) {
        all = __shfl_sync(GD_WARP, upto, 31);
    }
    __device__ __forceinline__ bool here() const { return from + lane < all; }
    // Whose item this lane has.
    __device__ __forceinline__ int instance() const { return gd_whose(upto, from + lane); }
    // The first of the items of an instance, in this round counted from its first lane.
    __device__ __forceinline__ int begin(int instance) const { return __shfl_sync(GD_WARP, upto - mine, instance) - from; }
    // The lanes that have items of this lane's instance: [low, high).
    __device__ __forceinline__ int low() const { return min(max(upto - mine - from, 0), 32); }
    __device__ __forceinline__ int high() const { return min(max(upto - from, 0), 32); }
};

__device__ __forceinline__ unsigned gd_lanes_below(int lane) { return lane < 32 ? (1u << lane) - 1 : GD_WARP; }

// Which vertices an instance has reached: places in its list, found by the vertices that stand there.
struct Reached {
    index_t *list;
    int *table;
    int slots;

    __device__ __forceinline__ int first(index_t vertex) const {
        return (int)__umul64hi(gd_spread((gd_u64)vertex), (gd_u64)slots);
    }
    // Enter the vertex at a place; of places with the same vertex, the least stays.
    __device__ __forceinline__ void enter(int place) {
        const index_t vertex = list[place];
        for (int slot = first(vertex);; slot = slot + 1 == slots ? 0 : slot + 1) {
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
        while (list[table[slot]] != vertex) slot = slot + 1 == slots ? 0 : slot + 1;
        return slot;
    }
};

// What a warp has in shared memory.
struct Scratch {
    index_t *stage, *lists;
    index_t *sources;  // from which those of the lists were reached, where the drawer asks
    int *tables;
    int longest, slots;

    __device__ __forceinline__ Reached of(int instance) const {
        return {lists + instance * longest, tables + instance * slots, slots};
    }
};

// An entry of a frontier.
struct Item {
    index_t vertex, source, seed;  // `source` where the drawer asks; the seed is its instance's first
    gd_u64 instance;
    int place, hop;  // its place in the frontier
    gd_i64 row, degree;
};

// The counts of one instance.
struct Progress {
    int begin, end;  // of the frontier, in the list
    int made;        // edges up to the last hop
};

// Draw the edges of a hop from frontiers to `src` and `dst`; how many each instance gets.
template <class Drawer>
__device__ __forceinline__ int hops_drawn(const Drawer &drawer, const Scratch &scratch, gd_u64 instance, int hop,
                                          gd_i64 fanout, bool more, const Progress &one, int lane, index_t *src,
                                          index_t *dst) {
    const bool staged = fanout <= GD_STAGED;
    int mine = 0;
    for (Dealt items(lane, one.end - one.begin); items.from < items.all; items.from += 32) {
        const int g = items.instance(), start = items.begin(g), place = lane - start;
        const int k = __shfl_sync(GD_WARP, one.begin, g) + place;
        const int made = __shfl_sync(GD_WARP, mine, g), after = __shfl_sync(GD_WARP, one.end, g);
        index_t *const list = scratch.lists + g * scratch.longest;
        typename Drawer::Memo memo;
        Item item = {0, 0, 0, instance + g, place, hop, 0, 0};
        int count = 0;
        if (items.here()) {
            item.vertex = list[k];
            item.row = drawer.indptr[item.vertex];
            item.degree = drawer.indptr[item.vertex + 1] - item.row;
            if (Drawer::TRACES) item.source = scratch.sources[g * scratch.longest + k];
            if (Drawer::ASKS) item.seed = list[0];
            count = drawer.count(item, fanout, memo);
        }
        const int upto = gd_sum_upto(count, lane), before = upto - count, all = __shfl_sync(GD_WARP, upto, 31);
        // edges of this instance before those of this item, at this hop
        const int ahead = made + before - __shfl_sync(GD_WARP, before, max(start, 0));
        index_t *const drawn = staged ? scratch.stage + before : dst + before;
        index_t *const next = list + after + ahead;
        if (count) {
            drawer.draw(item, count, memo, [&](gd_i64 s, index_t neighbour, index_t put) {
                drawn[s] = neighbour;
                if (!more) return;
                next[s] = put;
                if (Drawer::TRACES) scratch.sources[next - scratch.lists + s] = item.vertex;
            });
        }
        const int low = items.low(), high = items.high();
        const int last = __shfl_sync(GD_WARP, upto, (high - 1) & 31), first = __shfl_sync(GD_WARP, before, low & 31);
        if (low < high) mine += last - first;
        __syncwarp();
        for (int from = 0; from < all; from += 32) {
            const int e = from + lane;
            const index_t source = __shfl_sync(GD_WARP, item.vertex, gd_whose(upto, e));
            if (e < all) {
                src[e] = source;
                if (staged) dst[e] = scratch.stage[e];
            }
        }
        __syncwarp();
        src += all;
        dst += all;
    }
    return mine;
}

// Enter what was drawn, `count` vertices for this lane's instance after those that its list has; of those that are new,
// in the order of edges, the list keeps one each, or all that there are where vertices are revisited. -1 is no vertex.
// Where it ends then.
template <class Drawer>
__device__ __forceinline__ int hops_entered(const Drawer &drawer, const Scratch &scratch, int end, int count, int lane) {
    const bool once = !drawer.revisits();
    if (once) {
        for (Dealt items(lane, count); items.from < items.all; items.from += 32) {
            const int g = items.instance(), e = __shfl_sync(GD_WARP, end, g) + lane - items.begin(g);
            if (items.here() && (!Drawer::PUTS || scratch.lists[g * scratch.longest + e] >= 0)) scratch.of(g).enter(e);
        }
        __syncwarp();
    }
    int next = end;
    for (Dealt items(lane, count); items.from < items.all; items.from += 32) {
        const int g = items.instance(), start = items.begin(g), e = __shfl_sync(GD_WARP, end, g) + lane - start;
        const Reached reached = scratch.of(g);
        index_t vertex = 0, source = 0;
        int slot = 0;
        bool fresh = false;
        if (items.here()) {
            vertex = reached.list[e];
            if (Drawer::TRACES) source = scratch.sources[g * scratch.longest + e];
            fresh = !Drawer::PUTS || vertex >= 0;
            if (once && fresh) {
                slot = reached.find(vertex);
                fresh = reached.table[slot] == e;
            }
        }
        const unsigned all = __ballot_sync(GD_WARP, fresh);
        const int to = __shfl_sync(GD_WARP, next, g);
        if (fresh) {
            const int at = to + __popc(all & gd_lanes_below(lane) & ~gd_lanes_below(max(start, 0)));
            reached.list[at] = vertex;
            if (once) reached.table[slot] = at;
            if (Drawer::TRACES) scratch.sources[g * scratch.longest + at] = source;
        }
        next += __popc(all & gd_lanes_below(items.high()) & ~gd_lanes_below(items.low()));
        __syncwarp();
    }
    return next;
}

// `Draws` is a pack with the fields of HopDraws.
template <class Drawer, class Draws>
__device__ __forceinline__ void hops_all(const Drawer &drawer, long long n, gd_i64 first, const Draws &a) {
    extern __shared__ gd_i64 gd_scratch[];
    const int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x >> 5, warps = (int)blockDim.x >> 5;
    const int instances = (int)a.together;
    const gd_i64 listed = a.together * a.places, lists = Drawer::TRACES ? 2 * listed : listed;
    const gd_i64 words = ((32 * GD_STAGED + lists) * (gd_i64)sizeof(index_t) + a.together * a.slots * 4 + 7) / 8;
    index_t *const stage = (index_t *)&gd_scratch[warp * words], *const list = stage + 32 * GD_STAGED;
    const Scratch scratch = {stage, list, list + listed, (int *)(list + lists), (int)a.places, (int)a.slots};
    for (gd_i64 group = (gd_i64)blockIdx.x * warps + warp; group * a.together < n; group += (gd_i64)gridDim.x * warps) {
        const gd_i64 i = group * a.together + lane;
        const bool mine = lane < instances && i < n;
        gd_i64 given = 0;
        int count = 0;
        if (mine) {
            given = a.bounds ? a.bounds[i] : i;
            count = a.bounds ? (int)(a.bounds[i + 1] - given) : 1;
        }
        for (int slot = lane; slot < instances * scratch.slots; slot += 32) scratch.tables[slot] = -1;
        for (Dealt items(lane, count); items.from < items.all; items.from += 32) {
            const int g = items.instance(), k = lane - items.begin(g);
            const gd_i64 from = __shfl_sync(GD_WARP, given, g);
            if (items.here()) {
                scratch.lists[g * scratch.longest + k] = a.seeds[from + k];
                if (Drawer::TRACES) scratch.sources[g * scratch.longest + k] = (index_t)-1;
            }
        }
        __syncwarp();
        if (a.hops > 1 && !drawer.revisits()) {
            for (Dealt items(lane, count); items.from < items.all; items.from += 32) {
                const int g = items.instance(), k = lane - items.begin(g);
                if (items.here()) scratch.of(g).enter(k);
            }
            __syncwarp();
        }
        Progress one = {0, count, 0};
        index_t *from = a.src + group * a.together * a.most, *to = a.dst + group * a.together * a.most;
        int all = 0;
        for (int hop = 0; hop < (int)a.hops; ++hop) {
            const gd_i64 fanout = (gd_i64)(a.fanouts >> (8 * hop) & 255);
            const bool more = hop + 1 < (int)a.hops;
            const int drawn = hops_drawn(drawer, scratch, (gd_u64)(first + group * a.together), hop, fanout, more, one, lane,
                                         from + all, to + all);
            const int ends = gd_sum_upto(drawn, lane);
            one.made += drawn;
            if (mine) {
                a.upto[i * a.hops + hop] = one.made;
                a.starts[i * a.hops + hop] = all + ends - drawn;
            }
            all += __shfl_sync(GD_WARP, ends, 31);
            if (!more) break;
            one.begin = one.end;
            one.end = hops_entered(drawer, scratch, one.end, drawn, lane);
        }
        if (mine) a.counts[i] = one.made;
        __syncwarp();
    }
}
