// Single-source shortest paths, near-far: all steps of a superstep in one kernel whose blocks wait for each other. A step
// relaxes the edges of the near vertices or, where there are none, splits the far ones as the bucket moves on. Twins,
// arguments and the layout of `counters`: sssp.py.
#include "sssp/sssp.cuh"

extern "C" __global__ void sssp_arrive(long long n, long long step, long long split, const index_t *slots,
                                       const label_t *values, label_t *labels, int *stamp, const dist_t *limit,
                                       long long owned, index_t *near, index_t *far, unsigned long long *counters,
                                       double *least) {
    __shared__ Queues queues;
    queues.open();
    double mine = Distance<double>::none();
    const Relax relax{nullptr, nullptr, 0, nullptr, labels, stamp, *limit, owned, (int)step, 0, near, nullptr, far,
                      counters + NEAR + step % 3, nullptr, counters + FAR + split % 3, false, &queues, &mine};
    gd_for_list(n, [&](long long i) { relax.reach(slots[i], values[i]); }, [&](bool all) { relax.flush(all); });
    gd_least(mine, least + split % 3);
}

extern "C" __global__ void __launch_bounds__(256, RELAX_BLOCKS)
sssp_advance(long long n, long long step, long long split, long long splits, long long enough, double nearest,
             double delta, double most, const long long *indptr, const index_t *indices, const weight_t *weights,
             long long each, const index_t *ids, label_t *labels, int *stamp, dist_t *limit, long long owned, long long mark,
             index_t *even_near, index_t *odd_near, index_t *even_far, index_t *odd_far, index_t *ghost_queue,
             index_t *hubs, unsigned long long *counters, double *least) {
    __shared__ Queues queues;
    queues.open();
    Bucket bucket{indptr, indices, weights, each, ids, labels, stamp, owned, even_near, odd_near, even_far, odd_far,
                  ghost_queue, hubs, counters, least, &queues, step, split, *limit};
    bucket.advance(split + splits, enough, nearest, delta, most, mark, [&] { gd_grid_barrier(counters + ARRIVED); });
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        counters[STEP] = bucket.step;
        counters[SPLIT] = bucket.split;
        *limit = bucket.bound;
    }
}

extern "C" __global__ void sssp_result(long long n, const long long *labels, long long *distance, index_t *parent) {
    GD_FOR(v, n) {
        const long long label = labels[v];
        distance[v] = label == Distance<long long>::none() ? -1 : label >> 32;
        parent[v] = (index_t)(int)label;
    }
}
