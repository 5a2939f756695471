// Neighbourhoods of minibatches: all hops of all instances in one launch, whose blocks wait for each other and not for
// the host. The twins in neighborhoods.py say what the arguments are.
//
// Vertices and edges are kept hop by hop, in each hop in the order of the instances, and known by their places. A
// table, of which every instance has a part, says the place of a vertex; for one that a hop reaches, at first the least
// that its edges would give it if all were for new vertices. An edge that finds its own there is the first to reach its
// vertex. These get the places that follow, in the order of the edges, so nothing depends on who came first. At the end
// places become numbers.
//
// Source: Hamilton, Ying, Leskovec, Inductive representation learning on large graphs (2017), Algorithm 2.
#include "common/grid.cuh"
#include "common/scan.cuh"
#include "neighbors/successive.cuh"
#include "neighbors/neighborhoods_pack.py"

#define GD_MOST_HOPS 8

// Let a word be at most a value; none, -1, is the largest. `now` is what it was before, and it only falls.
__device__ __forceinline__ void gd_least(int *address, int now, int value) {
    if ((unsigned)now > (unsigned)value) atomicMin((unsigned *)address, (unsigned)value);
}
__device__ __forceinline__ void gd_least(long long *address, long long now, long long value) {
    if ((gd_u64)now > (gd_u64)value) atomicMin((gd_u64 *)address, (gd_u64)value);
}

// What is read here was written in this launch, perhaps by another block, before a barrier: no L1 cache answers it.
template <class T> __device__ __forceinline__ T gd_now(const T *address) { return __ldcg(address); }

// The items that a block takes, of so many.
struct Span {
    gd_i64 begin, end;

    __device__ __forceinline__ Span(gd_i64 count) {
        const gd_i64 each = (count + gridDim.x - 1) / gridDim.x;
        begin = each * blockIdx.x < count ? each * blockIdx.x : count;
        end = begin + each < count ? begin + each : count;
    }
};

// What was counted by blocks before this one, and by all; also a barrier for all. Between two calls there is another.
__device__ __forceinline__ gd_i64 gd_counted_before(gd_i64 mine, gd_count *arrived, gd_i64 *of_block, gd_i64 *all) {
    gd_i64 before = 0, sum = 0, total;
    gd_block_scan(mine, &total);
    if (threadIdx.x == 0) of_block[blockIdx.x] = total;
    gd_grid_barrier(arrived);
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
        const gd_i64 counted = gd_now(of_block + b);
        sum += counted;
        if (b < blockIdx.x) before += counted;
    }
    gd_block_scan(before, &total);
    gd_block_scan(sum, all);
    return total;
}

struct Table {
    index_t *entries;
    const gd_i64 *seed_bounds;
    gd_i64 each;

    // Enter a vertex of an instance that may be at a place; returns where it stands.
    __device__ __forceinline__ gd_i64 enter(gd_i64 instance, index_t vertex, index_t place) const {
        const gd_i64 begin = each * seed_bounds[instance], capacity = each * seed_bounds[instance + 1] - begin;
        gd_i64 slot = (gd_i64)__umul64hi(gd_spread((gd_u64)vertex), (gd_u64)capacity);
        for (;;) {
            index_t *const entry = entries + 2 * (begin + slot);
            index_t held = gd_now(entry);
            const index_t least = gd_now(entry + 1);
            if (held == (index_t)-1) held = gd_atomic_cas(entry, (index_t)-1, vertex);
            if (held == (index_t)-1 || held == vertex) {
                gd_least(entry + 1, least, place);
                return begin + slot;
            }
            slot = slot + 1 == capacity ? 0 : slot + 1;
        }
    }
};

// Of items in the order of their instances: item k, of instance `mine` after one of `before`, begins `at`; the last of
// `count` ends at `end`. Without items all instances begin where they end.
__device__ __forceinline__ void gd_begins(gd_i64 *starts, gd_i64 n, gd_i64 k, gd_i64 count, gd_i64 before, gd_i64 mine,
                                          gd_i64 at, gd_i64 end) {
    for (gd_i64 i = before + 1; i <= mine; ++i) starts[i] = at;
    if (k + 1 == count)
        for (gd_i64 i = mine + 1; i <= n; ++i) starts[i] = end;
}

template <bool ALIKE>
__device__ __forceinline__ void gd_neighborhoods(long long n, gd_i64 first, const NeighborhoodDraws &a) {
    __shared__ gd_i64 node_at[GD_MOST_HOPS + 2], edge_at[GD_MOST_HOPS + 1];
    const gd_i64 t = threadIdx.x, count = a.seed_bounds[n];
    const Table table = {a.entries, a.seed_bounds, a.each};
    gd_count *const arrived = (gd_count *)a.state;
    gd_i64 *const of_block = a.state + 1;
    GD_FOR(k, count) {
        gd_i64 low = 0, high = n - 1;  // the instance: the last that begins at or before it
        while (low < high) {
            const gd_i64 middle = (low + high + 1) >> 1;
            if (a.seed_bounds[middle] <= k) low = middle; else high = middle - 1;
        }
        a.vertices[k] = a.seeds[k];
        a.owners[k] = (int)low;
        table.enter(low, a.seeds[k], (index_t)k);
    }
    GD_FOR(i, n + 1) a.node_starts[i] = a.seed_bounds[i];
    if (t == 0) {
        node_at[0] = edge_at[0] = 0;
        node_at[1] = count;
    }
    gd_grid_barrier(arrived);
    for (gd_i64 hop = 0; hop < a.hops; ++hop) {
        const gd_i64 begin = node_at[hop], end = node_at[hop + 1], made = edge_at[hop], fanout = a.fanouts[hop];
        const gd_i64 expanded = end - begin;
        gd_i64 *const edges_begin = a.edge_starts + hop * (n + 1), *const nodes_begin = a.node_starts + (hop + 1) * (n + 1);
        const auto wanted = [&](gd_i64 degree) {
            return a.replace ? (degree ? fanout : 0) : fanout < degree ? fanout : degree;
        };
        const Span items(expanded);
        gd_i64 mine = 0, total, fresh;
        for (gd_i64 k = items.begin + t; k < items.end; k += blockDim.x) {
            const index_t vertex = gd_now(a.vertices + begin + k);
            mine += wanted(a.indptr[vertex + 1] - a.indptr[vertex]);
        }
        gd_i64 before = gd_counted_before(mine, arrived, of_block, &total);
        if (made + total > a.capacity) {  // so for every block
            gd_fail(1);
            return;
        }
        for (gd_i64 from = items.begin; from < items.end; from += blockDim.x) {
            const gd_i64 k = from + t;
            index_t vertex = 0;
            gd_i64 place = 0, degree = 0, many = 0, here;
            if (k < items.end) {
                vertex = gd_now(a.vertices + begin + k);
                place = a.indptr[vertex];
                degree = a.indptr[vertex + 1] - place;
                many = wanted(degree);
            }
            const gd_i64 out = made + before + gd_block_scan(many, &here);
            before += here;
            if (k >= items.end) continue;
            const gd_i64 owner = gd_now(a.owners + begin + k), other = k ? gd_now(a.owners + begin + k - 1) : -1;
            gd_begins(edges_begin, n, k, expanded, other, owner, out, made + total);
            for (gd_i64 s = 0; s < many; ++s) a.sources[out + s] = (int)(begin + k);
            const gd_u64 key = gd_key_of(a.seed, (gd_u64)vertex), instance = (gd_u64)(first + owner);
            const auto read = [&](gd_i64 chosen) { return place + chosen; };
            const auto emit = [&](gd_i64 s, gd_i64 found) { a.drawn[out + s] = found; };
            if (!many) continue;
            if (ALIKE) {
                gd_draw_alike(key, instance, 0, degree, many, a.replace, read, emit);
            } else {
                const Row biases = {a.sums ? a.sums + place : nullptr, degree};
                gd_draw_by_bias<false>(key, instance, biases, many, a.replace, a.method, read, emit);
            }
        }
        if (!expanded) GD_FOR(i, n + 1) edges_begin[i] = made;
        gd_grid_barrier(arrived);
        GD_FOR(e, total) {
            const index_t vertex = a.indices[gd_now(a.drawn + made + e)];
            const gd_i64 owner = gd_now(a.owners + gd_now(a.sources + made + e));
            a.slots[made + e] = (index_t)table.enter(owner, vertex, (index_t)(end + e));
        }
        gd_grid_barrier(arrived);
        const Span reached(total);
        mine = 0;
        for (gd_i64 e = reached.begin + t; e < reached.end; e += blockDim.x) {
            const index_t slot = gd_now(a.slots + made + e);
            if (gd_now(a.entries + 2 * (gd_i64)slot + 1) != (index_t)(end + e)) continue;
            a.slots[made + e] = ~slot;
            ++mine;
        }
        before = gd_counted_before(mine, arrived, of_block, &fresh);
        for (gd_i64 from = reached.begin; from < reached.end; from += blockDim.x) {
            const gd_i64 e = from + t;
            gd_i64 here;
            const index_t slot = e < reached.end ? ~gd_now(a.slots + made + e) : (index_t)-1;
            const gd_i64 at = end + before + gd_block_scan((gd_i64)(slot >= 0), &here);
            before += here;
            if (slot < 0) continue;
            a.slots[made + e] = slot;
            a.entries[2 * (gd_i64)slot + 1] = (index_t)at;
            a.vertices[at] = gd_now(a.entries + 2 * (gd_i64)slot);
            a.owners[at] = gd_now(a.owners + gd_now(a.sources + made + e));
        }
        gd_grid_barrier(arrived);
        GD_FOR(k, fresh) {
            const gd_i64 owner = gd_now(a.owners + end + k), other = k ? gd_now(a.owners + end + k - 1) : -1;
            gd_begins(nodes_begin, n, k, fresh, other, owner, end + k, end + fresh);
        }
        if (!fresh) GD_FOR(i, n + 1) nodes_begin[i] = end;
        if (t == 0) {
            node_at[hop + 2] = end + fresh;
            edge_at[hop + 1] = made + total;
        }
        __syncthreads();
    }
    gd_grid_barrier(arrived);
    // by how much places at a hop differ from numbers in the instance, from places among all vertices, and among edges
    GD_FOR(x, n * (a.hops + 1)) {
        const gd_i64 hop = x / n, i = x % n;
        gd_i64 vertices_here = 0, edges_here = 0, vertices_before = 0, edges_before = 0;
        for (gd_i64 g = 0; g <= a.hops; ++g) {
            const gd_i64 start = gd_now(a.node_starts + g * (n + 1) + i);
            const gd_i64 size = gd_now(a.node_starts + g * (n + 1) + i + 1) - start;
            vertices_before += start - node_at[g];
            if (g < hop) vertices_here += size;
            if (g == hop) {
                vertices_here -= start;
                a.node_sizes[i * (a.hops + 1) + hop] = size;
            }
            if (g == a.hops) break;
            const gd_i64 begins = gd_now(a.edge_starts + g * (n + 1) + i);
            const gd_i64 many = gd_now(a.edge_starts + g * (n + 1) + i + 1) - begins;
            edges_before += begins - edge_at[g];
            if (g < hop) edges_here += many;
            if (g == hop) {
                edges_here -= begins;
                a.edge_sizes[i * a.hops + hop] = many;
            }
        }
        // where hops end before that of g, what is at `hop` comes after them
        a.shifts[3 * x] = vertices_here;
        a.shifts[3 * x + 1] = vertices_before + vertices_here;
        a.shifts[3 * x + 2] = edges_before + edges_here;
    }
    gd_grid_barrier(arrived);
    GD_FOR(p, node_at[a.hops + 1]) {
        gd_i64 hop = 0;
        while (p >= node_at[hop + 1]) ++hop;
        a.nodes[p + gd_now(a.shifts + 3 * (hop * n + gd_now(a.owners + p)) + 1)] = gd_now(a.vertices + p);
    }
    GD_FOR(e, edge_at[a.hops]) {
        gd_i64 hop = 0, reached = 0;
        while (e >= edge_at[hop + 1]) ++hop;
        const gd_i64 source = gd_now(a.sources + e), owner = gd_now(a.owners + source);
        const gd_i64 place = gd_now(a.entries + 2 * (gd_i64)gd_now(a.slots + e) + 1);
        while (place >= node_at[reached + 1]) ++reached;
        const gd_i64 out = e + gd_now(a.shifts + 3 * (hop * n + owner) + 2);
        a.row[out] = source + gd_now(a.shifts + 3 * (hop * n + owner));
        a.col[out] = place + gd_now(a.shifts + 3 * (reached * n + owner));
        a.edge[out] = gd_now(a.drawn + e);
    }
    if (blockIdx.x == 0 && t == 0) {
        a.reported->instances = n;
        a.reported->vertices = node_at[a.hops + 1];
        a.reported->edges = edge_at[a.hops];
        a.reported->needed = 0;
    }
}

extern "C" __global__ void __launch_bounds__(256, 4) neighborhoods_draw(long long n, gd_i64 first, NeighborhoodDraws a) {
    gd_neighborhoods<true>(n, first, a);
}

extern "C" __global__ void __launch_bounds__(256, 4) neighborhoods_draw_biased(long long n, gd_i64 first, NeighborhoodDraws a) {
    gd_neighborhoods<false>(n, first, a);
}
