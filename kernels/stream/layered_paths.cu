// Paths over a chunk of a layered edge list that is on the device: labels decrease along the edges of active rows until
// no row of the chunk is active. One kernel runs all rounds. Its blocks wait for each other, so the host is not asked
// whether to go on. After WolfPath, International Journal of Parallel Programming 47 (2019), Section 4.2. Twins and
// arguments: layered_paths.py.
#include "common/grid.cuh"
#include "sssp/paths.cuh"
#include "stream/layered_paths_pack.py"

template <typename T> struct Label;
template <> struct Label<long long> {
    static __device__ __forceinline__ long long extend(long long label, long long weight, index_t id, bool packed) {
        return packed ? ((label >> 32) + weight) << 32 | (long long)id : Distance<long long>::add(label, weight);
    }
    static __device__ __forceinline__ bool nearer(long long label, long long before, bool packed) {
        return !packed || (label >> 32) < (before >> 32);
    }
};
template <> struct Label<double> {
    static __device__ __forceinline__ double extend(double label, double weight, index_t, bool) {
        return Distance<double>::add(label, weight);
    }
    static __device__ __forceinline__ bool nearer(double, double, bool) { return true; }
};

struct Fall : NoQueue {
    ChunkLabels a;

    // Labels only decrease: a cached one is the present one or larger, so it costs a read of memory, nothing else.
    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = a.targets[edge], id = a.ids ? a.ids[row] : (index_t)(a.first + row);
        const bool packed = a.packed != 0;
        const dist_t label = Label<dist_t>::extend(a.labels[a.first + row], a.weights[edge & a.each], id, packed);
        if (!(label < a.labels[v]) || !(label < *(volatile dist_t *)(a.labels + v))) return;
        const dist_t before = Of::lower(a.labels + v, label);
        if (label < before && (v < a.begin || v >= a.end || Label<dist_t>::nearer(label, before, packed)))
            a.active[v] = 1;
    }
};

// A round lists the active rows and clears their marks, then decreases labels; marks that are set meanwhile belong
// to the next round. Each count has three places: one is in use, and the next is cleared; its readers have passed a
// barrier.
extern "C" __global__ void layered_relax_chunk(long long n, ChunkLabels a) {
    __shared__ Queue<index_t> found;
    found.open();
    const bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
    const long long threads = (long long)gridDim.x * blockDim.x;
    const Fall fall{{}, a};
    for (int round = 0;; round = (round + 1) % 3) {
        unsigned long long *const count = a.counters->listed + round, *const hub_count = a.counters->hubs + round;
        if (first_thread) a.counters->listed[(round + 1) % 3] = a.counters->hubs[(round + 1) % 3] = 0;
        for (long long begin = (long long)blockIdx.x * blockDim.x; begin < n; begin += threads) {
            const long long row = begin + threadIdx.x;
            if (row < n && a.active[a.first + row]) {
                a.active[a.first + row] = 0;
                found.push((index_t)row);
            }
            found.flush(a.queue, count, false);
        }
        found.flush(a.queue, count, true);
        gd_grid_barrier(&a.counters->arrived);
        const long long length = *(volatile long long *)count;
        if (!length) break;
        if (first_thread) a.counters->worked += length;
        gd_for_edges(length, a.queue, a.indptr, a.hubs, hub_count, &a.counters->looked, fall);
        gd_grid_barrier(&a.counters->arrived);
        if (*(volatile unsigned long long *)hub_count) {
            gd_for_hubs(a.hubs, hub_count, a.indptr, fall);
            gd_grid_barrier(&a.counters->arrived);
        }
    }
}

// Labels of own vertices that other ranks have found; a vertex may occur several times.
extern "C" __global__ void layered_take(long long n, const index_t *positions, const dist_t *values, ChunkLabels a) {
    GD_FOR(i, n) {
        const index_t v = positions[i];
        if (!(values[i] < *(volatile dist_t *)(a.labels + v))) continue;
        const dist_t before = Of::lower(a.labels + v, values[i]);
        if (values[i] < before && Label<dist_t>::nearer(values[i], before, a.packed != 0)) a.active[v] = 1;
    }
}

struct Offer : NoQueue {
    TightEdges a;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const long long u = a.first + row;
        const dist_t du = a.distance[u];
        if (du == Of::none()) return;
        const index_t v = a.targets[edge];
        const dist_t dv = a.distance[v];
        if (dv != Of::none() && dv != Of::add(du, a.weights[edge & a.each])) return;
        if (dv == du) {
            if (v != u) a.flat[u] = 1;  // whoever else writes, writes the same
            return;
        }
        const index_t id = a.ids ? a.ids[row] : (index_t)u;
        if (id < *(volatile index_t *)(a.parent + v)) gd_atomic_min(a.parent + v, id);
    }
};

struct Further : NoQueue {
    TightEdges a;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const long long u = a.first + row;
        const int hop = (int)a.hop;
        if (a.hops[u] != hop) return;
        const index_t v = a.targets[edge];
        const dist_t du = a.distance[u];
        if (a.distance[v] != du || du == Of::none() || Of::add(du, a.weights[edge & a.each]) != du) return;
        const int there = a.hops[v];
        if (there >= 0 && there != hop + 1) return;
        if (there < 0) {  // whoever else writes, writes the same
            a.hops[v] = hop + 1;
            a.active[v] = 1;
        }
        const index_t id = a.ids ? a.ids[row] : (index_t)u;
        if (id < *(volatile index_t *)(a.parent + v)) gd_atomic_min(a.parent + v, id);
    }
};

template <typename Body> __device__ __forceinline__ void for_rows(long long n, const TightEdges &a, const Body &body) {
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, a.counters->hubs, &a.counters->looked, body);
}

extern "C" __global__ void layered_offer(long long n, TightEdges a) { for_rows(n, a, Offer{{}, a}); }

extern "C" __global__ void layered_offer_hubs(long long n, TightEdges a) {
    gd_for_hubs(a.hubs, a.counters->hubs, a.indptr, Offer{{}, a});
}

extern "C" __global__ void layered_further(long long n, TightEdges a) { for_rows(n, a, Further{{}, a}); }

extern "C" __global__ void layered_further_hubs(long long n, TightEdges a) {
    gd_for_hubs(a.hubs, a.counters->hubs, a.indptr, Further{{}, a});
}

extern "C" __global__ void layered_unpack(long long n, const long long *labels, const index_t *ids, int *distance,
                                          long long *wide, index_t *parent) {
    GD_FOR(u, n) {
        const long long label = labels[u], v = ids ? (long long)ids[u] : u;
        const bool none = label == Distance<long long>::none();
        if (wide) wide[v] = none ? -1 : label >> 32;
        else distance[v] = none ? -1 : (int)(label >> 32);
        parent[v] = (index_t)(int)label;
    }
}
