// Paths over a chunk of a layered edge list that is on the device: labels decrease along the edges of active rows until
// no row of the chunk is active. One kernel runs all rounds. Its blocks wait for each other, so the host is not asked
// whether to go on. After WolfPath, International Journal of Parallel Programming 47 (2019), Section 4.2. Twins and
// arguments: layered_paths.py.
#include "common/grid.cuh"
#include "sssp/paths.cuh"

#define WORKED 0
#define LOOKED 1
#define ARRIVED 2
#define COUNT 3
#define HUBS 6

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
    long long first;
    long long begin;
    long long end;
    const index_t *ids;
    const index_t *targets;
    const weight_t *weights;
    long long each;
    bool packed;
    unsigned char *active;
    dist_t *labels;

    // Labels only decrease: a cached one is the present one or larger, so it costs a read of memory, nothing else.
    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = targets[edge], id = ids ? ids[row] : (index_t)(first + row);
        const dist_t label = Label<dist_t>::extend(labels[first + row], weights[edge & each], id, packed);
        if (!(label < labels[v]) || !(label < *(volatile dist_t *)(labels + v))) return;
        const dist_t before = Of::lower(labels + v, label);
        if (label < before && (v < begin || v >= end || Label<dist_t>::nearer(label, before, packed))) active[v] = 1;
    }
};

// A round lists the active rows and clears their marks, then decreases labels; marks that are set meanwhile belong
// to the next round. Each count has three places: one is in use, and the next is cleared; its readers have passed a
// barrier.
extern "C" __global__ void layered_relax_chunk(long long n, long long first, long long begin, long long end,
                                               const long long *indptr, const index_t *ids, const index_t *targets,
                                               const weight_t *weights, long long each, long long packed,
                                               unsigned char *active, dist_t *labels, index_t *queue, index_t *hubs,
                                               unsigned long long *counters) {
    __shared__ Queue<index_t> found;
    found.open();
    const bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
    const long long threads = (long long)gridDim.x * blockDim.x;
    const Fall fall{{}, first, begin, end, ids, targets, weights, each, packed != 0, active, labels};
    for (int round = 0;; round = (round + 1) % 3) {
        unsigned long long *const count = counters + COUNT + round, *const hub_count = counters + HUBS + round;
        if (first_thread) counters[COUNT + (round + 1) % 3] = counters[HUBS + (round + 1) % 3] = 0;
        for (long long begin = (long long)blockIdx.x * blockDim.x; begin < n; begin += threads) {
            const long long row = begin + threadIdx.x;
            if (row < n && active[first + row]) {
                active[first + row] = 0;
                found.push((index_t)row);
            }
            found.flush(queue, count, false);
        }
        found.flush(queue, count, true);
        gd_grid_barrier(counters + ARRIVED);
        const long long length = *(volatile long long *)count;
        if (!length) break;
        if (first_thread) counters[WORKED] += length;
        gd_for_edges(length, queue, indptr, hubs, hub_count, counters + LOOKED, fall);
        gd_grid_barrier(counters + ARRIVED);
        if (*(volatile unsigned long long *)hub_count) {
            gd_for_hubs(hubs, hub_count, indptr, fall);
            gd_grid_barrier(counters + ARRIVED);
        }
    }
}

// Labels of own vertices that other ranks have found; a vertex may occur several times.
extern "C" __global__ void layered_take(long long n, const index_t *positions, const dist_t *values, long long packed,
                                        unsigned char *active, dist_t *labels) {
    GD_FOR(i, n) {
        const index_t v = positions[i];
        if (!(values[i] < *(volatile dist_t *)(labels + v))) continue;
        const dist_t before = Of::lower(labels + v, values[i]);
        if (values[i] < before && Label<dist_t>::nearer(values[i], before, packed)) active[v] = 1;
    }
}

struct Offer : NoQueue {
    long long first;
    const index_t *ids;
    const index_t *targets;
    const weight_t *weights;
    long long each;
    const dist_t *distance;
    index_t *parent;
    unsigned char *flat;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const long long u = first + row;
        const dist_t du = distance[u];
        if (du == Of::none()) return;
        const index_t v = targets[edge];
        const dist_t dv = distance[v];
        if (dv != Of::none() && dv != Of::add(du, weights[edge & each])) return;
        if (dv == du) {
            if (v != u) flat[u] = 1;  // whoever else writes, writes the same
            return;
        }
        const index_t id = ids ? ids[row] : (index_t)u;
        if (id < *(volatile index_t *)(parent + v)) gd_atomic_min(parent + v, id);
    }
};

extern "C" __global__ void layered_offer(long long n, long long first, const long long *indptr, const index_t *ids,
                                         const index_t *targets, const weight_t *weights, long long each,
                                         const dist_t *distance, index_t *parent, unsigned char *flat, index_t *hubs,
                                         unsigned long long *counters) {
    gd_for_edges(n, (const index_t *)nullptr, indptr, hubs, counters + HUBS, counters + LOOKED,
                 Offer{{}, first, ids, targets, weights, each, distance, parent, flat});
}

extern "C" __global__ void layered_offer_hubs(long long n, long long first, const long long *indptr,
                                              const index_t *ids, const index_t *targets, const weight_t *weights,
                                              long long each, const dist_t *distance, index_t *parent,
                                              unsigned char *flat, const index_t *hubs, unsigned long long *counters) {
    gd_for_hubs(hubs, counters + HUBS, indptr, Offer{{}, first, ids, targets, weights, each, distance, parent, flat});
}

struct Further : NoQueue {
    long long first;
    const index_t *ids;
    const index_t *targets;
    const weight_t *weights;
    long long each;
    const dist_t *distance;
    int *hops;
    int hop;
    index_t *parent;
    unsigned char *active;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const long long u = first + row;
        if (hops[u] != hop) return;
        const index_t v = targets[edge];
        const dist_t du = distance[u];
        if (distance[v] != du || du == Of::none() || Of::add(du, weights[edge & each]) != du) return;
        const int there = hops[v];
        if (there >= 0 && there != hop + 1) return;
        if (there < 0) {  // whoever else writes, writes the same
            hops[v] = hop + 1;
            active[v] = 1;
        }
        const index_t id = ids ? ids[row] : (index_t)u;
        if (id < *(volatile index_t *)(parent + v)) gd_atomic_min(parent + v, id);
    }
};

extern "C" __global__ void layered_further(long long n, long long first, const long long *indptr, const index_t *ids,
                                           const index_t *targets, const weight_t *weights, long long each,
                                           const dist_t *distance, int *hops, long long hop, index_t *parent,
                                           unsigned char *active, index_t *hubs, unsigned long long *counters) {
    gd_for_edges(n, (const index_t *)nullptr, indptr, hubs, counters + HUBS, counters + LOOKED,
                 Further{{}, first, ids, targets, weights, each, distance, hops, (int)hop, parent, active});
}

extern "C" __global__ void layered_further_hubs(long long n, long long first, const long long *indptr,
                                                const index_t *ids, const index_t *targets, const weight_t *weights,
                                                long long each, const dist_t *distance, int *hops, long long hop,
                                                index_t *parent, unsigned char *active, const index_t *hubs,
                                                unsigned long long *counters) {
    gd_for_hubs(hubs, counters + HUBS, indptr,
                Further{{}, first, ids, targets, weights, each, distance, hops, (int)hop, parent, active});
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
