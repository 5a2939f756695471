// A push of breadth-first search as two kernels: an advance, which writes down where each edge of the frontier leads and
// whence, and a filter, which goes through that. Both are one kernel in bfs.cu, where nothing is written down. Twins and
// arguments: bfs_unfused.py.
#include "bfs/bfs_pack.py"
#include "bfs/bfs.cuh"

struct Led {
    index_t to, by;
};

struct Advance {
    Search a;
    Queue<Led> *queue;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        queue->push(Led{__ldcs(a.indices + edge), a.ids[row]});
    }
    __device__ __forceinline__ void flush(bool all) const { queue->flush((Led *)a.led, &a.counters->led, all); }
};

extern "C" __global__ void bfs_advance(long long n, const index_t *frontier, Search a) {
    __shared__ Queue<Led> queue;
    queue.open();
    gd_for_edges((long long)a.counters->here, frontier, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges,
                 Advance{a, &queue});
}

extern "C" __global__ void bfs_advance_hubs(long long n, Search a) {
    __shared__ Queue<Led> queue;
    queue.open();
    gd_for_hubs(a.hubs, &a.counters->hubs, a.indptr, Advance{a, &queue});
}

extern "C" __global__ void bfs_filter(long long n, Search a) {
    __shared__ SplitQueue<index_t> found;
    found.open();
    const Push<true> filter = bfs_pushing(a, &found);
    gd_for_list((long long)a.counters->led, [&](long long i) { filter.reach(a.led[2 * i], a.led + 2 * i + 1); },
                [&](bool all) { filter.flush(all); });
}
