// Distances from up to 64 sources at once (lanes) that fall along edges until none can fall. Twins and arguments:
// lane_distances.py. Distances are lowered by atomic minima, which do not depend on an order.
#include "sssp/paths.cuh"
#include "betweenness/lane_distances_pack.py"

typedef unsigned long long lanes_t;

struct Relax : NoQueue {
    const lanes_t *now;
    const index_t *indices;
    const weight_t *weights;
    long long lanes;
    dist_t *distance;
    lanes_t *active;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = indices[edge];
        const weight_t w = weights[edge];
        const dist_t *const from = distance + (long long)row * lanes;
        dist_t *const to = distance + (long long)v * lanes;
        lanes_t fell = 0;
        for (lanes_t rest = now[row]; rest; rest &= rest - 1) {
            const int b = __ffsll((long long)rest) - 1;
            const dist_t d = Of::add(from[b], w);
            if (d < to[b] && d < Of::lower(to + b, d)) fell |= 1ULL << b;
        }
        if (fell) atomicOr(active + v, fell);
    }
};

extern "C" __global__ void lane_distances_relax(long long n, const index_t *rows, LaneRows a) {
    const Relax body{{}, a.now, a.indices, a.weights, a.lanes, a.distance, a.active};
    gd_for_edges(n, rows, a.indptr - a.first, a.hubs, &a.counters->hubs, &a.counters->edges, body);
}

extern "C" __global__ void lane_distances_relax_hubs(long long n, const index_t *rows, LaneRows a) {
    const Relax body{{}, a.now, a.indices, a.weights, a.lanes, a.distance, a.active};
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr - a.first, body);
}

extern "C" __global__ void lane_distances_arrive(long long n, const index_t *slots, const dist_t *values, long long lanes,
                                        dist_t *distance, unsigned long long *active) {
    GD_FOR(at, n * lanes) {
        const long long i = at / lanes, b = at - i * lanes, place = (long long)slots[i] * lanes + b;
        if (values[at] < distance[place]) {
            distance[place] = values[at];
            atomicOr(active + slots[i], 1ULL << b);
        }
    }
}
