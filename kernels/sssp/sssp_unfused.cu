// A step of shortest paths as two kernels: an advance, which writes down where each edge of the near vertices leads and
// with which label, and a filter, which lowers labels and queues whose fell; and the split of the far vertices. All of
// it is one kernel in sssp.cu, where nothing is written down. Twins and arguments: sssp_unfused.py.
#include "sssp/sssp.cuh"

#define LED ARRIVED

struct Lead : NoQueue {
    const index_t *indices;
    const weight_t *weights;
    long long each;
    const index_t *ids;
    const label_t *labels;
    index_t *led;
    label_t *offered;
    unsigned long long *count;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const long long at = gd_reserve(count);
        led[at] = indices[edge];
        offered[at] = Label::extend(labels[row], weights[edge & each], ids[row]);
    }
};

extern "C" __global__ void sssp_lead(long long n, const index_t *near, const long long *indptr, const index_t *indices,
                                     const weight_t *weights, long long each, const index_t *ids, const label_t *labels,
                                     const dist_t *limit, index_t *led, label_t *offered, index_t *hubs,
                                     unsigned long long *counters) {
    const Lead lead{{}, indices, weights, each, ids, labels, led, offered, counters + LED};
    gd_for_edges(n, near, indptr, hubs, counters + HUBS, counters + EDGES, lead);
}

extern "C" __global__ void sssp_lead_hubs(long long n, const long long *indptr, const index_t *indices,
                                          const weight_t *weights, long long each, const index_t *ids,
                                          const label_t *labels, const dist_t *limit, index_t *led, label_t *offered,
                                          const index_t *hubs, unsigned long long *counters) {
    const Lead lead{{}, indices, weights, each, ids, labels, led, offered, counters + LED};
    gd_for_hubs(hubs, counters + HUBS, indptr, lead);
}

extern "C" __global__ void sssp_filter(long long n, long long step, long long split, long long mark, const index_t *led,
                                       const label_t *offered, label_t *labels, int *stamp, const dist_t *limit,
                                       long long owned, index_t *near, index_t *ghost_queue, index_t *far,
                                       unsigned long long *counters, double *least) {
    __shared__ Queues queues;
    queues.open();
    double mine = Distance<double>::none();
    const Relax relax{nullptr, nullptr, 0, nullptr, labels, stamp, *limit, owned, (int)step, (int)mark, near,
                      ghost_queue, far, counters + NEAR + step % 3, counters + GHOSTS + mark % 2,
                      counters + FAR + split % 3, true, &queues, &mine};
    gd_for_list((long long)counters[LED], [&](long long i) { relax.reach(led[i], offered[i]); },
                [&](bool all) { relax.flush(all); });
    gd_least(mine, least + split % 3);
}

extern "C" __global__ void sssp_split(long long n, long long step, long long split, long long mark, double nearest,
                                      double delta, double most, const index_t *waiting, long long length,
                                      const label_t *labels, int *stamp, const dist_t *limit, dist_t *after,
                                      long long owned, index_t *near, index_t *ghost_queue, index_t *far,
                                      unsigned long long *counters, double *least) {
    __shared__ Queues queues;
    queues.open();
    const dist_t before = *limit, bound = gd_next_limit(nearest, delta, most);
    if (blockIdx.x == 0 && threadIdx.x == 0) *after = bound;
    double mine = Distance<double>::none();
    const Relax out{nullptr, nullptr, 0, nullptr, nullptr, nullptr, bound, owned, (int)step, (int)mark, near,
                    ghost_queue, far, counters + NEAR + step % 3, counters + GHOSTS + mark % 2,
                    counters + FAR + split % 3, true, &queues, &mine};
    gd_for_list(length, [&](long long i) {
        const index_t v = waiting[i];
        const dist_t d = Label::distance(labels[v]);
        if (d < before) return;
        if (!(d < bound)) {
            queues.far.push(v);
            mine = fmin(mine, (double)d);
        } else if (v < owned) {
            queues.near.push(v);
        } else {
            stamp[v] = (int)mark;
            queues.ghosts.push(v);
        }
    }, [&](bool all) { out.flush(all); });
    gd_least(mine, least + split % 3);
}
