// A step of shortest paths as two kernels: an advance, which writes down where each edge of the near vertices leads and
// with which label, and a filter, which lowers labels and queues whose fell; and the split of the far vertices. All of
// it is one kernel in sssp.cu, where nothing is written down. Twins and arguments: sssp_unfused.py.
#include "sssp/sssp_unfused_pack.py"
#include "sssp/sssp.cuh"

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

extern "C" __global__ void sssp_lead(long long n, const index_t *near, Stepping a) {
    const Lead lead{{}, a.indices, a.weights, a.each, a.ids, a.labels, a.led, a.offered, &a.counters->led};
    gd_for_edges(n, near, a.indptr, a.hubs, a.counters->hubs, &a.counters->edges, lead);
}

extern "C" __global__ void sssp_lead_hubs(long long n, Stepping a) {
    const Lead lead{{}, a.indices, a.weights, a.each, a.ids, a.labels, a.led, a.offered, &a.counters->led};
    gd_for_hubs(a.hubs, a.counters->hubs, a.indptr, lead);
}

extern "C" __global__ void sssp_filter(long long n, long long step, long long split, long long mark, Stepping a) {
    __shared__ Queues queues;
    queues.open();
    double mine = Distance<double>::none();
    const Relax<NoBounds> relax{nullptr, nullptr, 0, nullptr, a.labels, a.stamp, {}, *a.limit, a.owned, (int)step, (int)mark, a.near,
                      a.ghost_queue, a.far, a.counters->near + step % 3, a.counters->ghosts + mark % 2,
                      a.counters->far + split % 3, true, &queues, &mine};
    gd_for_list((long long)a.counters->led, [&](long long i) { relax.reach(a.led[i], a.offered[i]); },
                [&](bool all) { relax.flush(all); });
    gd_least(mine, a.least + split % 3);
}

extern "C" __global__ void sssp_split(long long n, long long step, long long split, long long mark, double nearest,
                                      double delta, double most, const index_t *waiting, long long length, Stepping a) {
    __shared__ Queues queues;
    queues.open();
    const dist_t before = *a.limit, bound = gd_next_limit(nearest, delta, most);
    if (blockIdx.x == 0 && threadIdx.x == 0) *a.after = bound;
    double mine = Distance<double>::none();
    const Relax<NoBounds> out{nullptr, nullptr, 0, nullptr, nullptr, nullptr, {}, bound, a.owned, (int)step, (int)mark, a.near,
                    a.ghost_queue, a.far, a.counters->near + step % 3, a.counters->ghosts + mark % 2,
                    a.counters->far + split % 3, true, &queues, &mine};
    gd_for_list(length, [&](long long i) {
        const index_t v = waiting[i];
        const dist_t d = Label::distance(a.labels[v]);
        if (d < before) return;
        if (!(d < bound)) {
            queues.far.push(v);
            mine = fmin(mine, (double)d);
        } else if (v < a.owned) {
            queues.near.push(v);
        } else {
            a.stamp[v] = (int)mark;
            queues.ghosts.push(v);
        }
    }, [&](bool all) { out.flush(all); });
    gd_least(mine, a.least + split % 3);
}
