// Single-source shortest paths, near-far: all steps of a superstep in one kernel whose blocks wait for each other. A step
// relaxes the edges of the near vertices or, where there are none, splits the far ones as the bucket moves on. Twins,
// and arguments: sssp.py.
#include "sssp/sssp_pack.py"
#include "sssp/bucket.cuh"

extern "C" __global__ void sssp_arrive(long long n, long long step, long long split, const index_t *slots,
                                       const label_t *values, long long universe, Relaxing a) {
    __shared__ Queues queues;
    queues.open();
    double mine = Distance<double>::none();
    index_t *const near = step & 1 ? a.odd_near : a.even_near, *const far = split & 1 ? a.odd_far : a.even_far;
    const Relax<NoBounds> relax{nullptr, nullptr, 0, nullptr, a.labels, a.stamp, {}, *a.limit, a.owned, (int)step, 0, near, nullptr,
                      far, a.counters->near + step % 3, nullptr, a.counters->far + split % 3, false, &queues, &mine};
    gd_for_list(n, [&](long long i) {
        const index_t v = slots[i];
        if (v < 0 || v >= universe) gd_fail(2);
        else relax.reach(v, values[i]);
    }, [&](bool all) { relax.flush(all); });
    gd_least(mine, a.least + split % 3);
}

extern "C" __global__ void __launch_bounds__(256, RELAX_BLOCKS)
sssp_advance(long long n, long long step, long long split, long long splits, long long enough, double nearest,
             double delta, double most, long long mark, Relaxing a) {
    __shared__ Queues queues;
    queues.open();
    Bucket<NoBounds> bucket{a, {}, &queues, step, split, *a.limit};
    bucket.advance(split + splits, enough, nearest, delta, most, mark, [&] { gd_grid_barrier(&a.counters->arrived); });
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        a.counters->step = bucket.step;
        a.counters->split = bucket.split;
        *a.limit = bucket.bound;
    }
}

extern "C" __global__ void sssp_result(long long n, const long long *labels, long long *distance, index_t *parent) {
    GD_FOR(v, n) {
        const long long label = labels[v];
        distance[v] = label == Distance<long long>::none() ? -1 : label >> 32;
        parent[v] = (index_t)(int)label;
    }
}
