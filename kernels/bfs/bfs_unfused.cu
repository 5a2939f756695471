// A push of breadth-first search as two kernels: an advance, which writes down where each edge of the frontier leads and
// whence, and a filter, which goes through that. Both are one kernel in bfs.cu, where nothing is written down. Twins and
// arguments: bfs_unfused.py.
#include "bfs/bfs_pack.py"
#include "bfs/bfs_push.cuh"

struct Led {
    index_t to, by;
};

struct Advance {
    const index_t *indices, *ids;
    Led *led;
    unsigned long long *count;
    Queue<Led> *queue;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        queue->push(Led{__ldcs(indices + edge), ids[row]});
    }
    __device__ __forceinline__ void flush(bool all) const { queue->flush(led, count, all); }
};

extern "C" __global__ void bfs_advance(long long n, const index_t *frontier, long long turn, index_t *led, Search a) {
    __shared__ Queue<Led> queue;
    queue.open();
    const Advance advance{a.indices, a.ids, (Led *)led, a.counters + LED + turn, &queue};
    gd_for_edges((long long)a.counters[HERE], frontier, a.indptr, a.hubs, a.counters + HUBS + turn, a.counters + EDGES,
                 advance);
}

extern "C" __global__ void bfs_advance_hubs(long long n, long long turn, index_t *led, Search a) {
    __shared__ Queue<Led> queue;
    queue.open();
    gd_for_hubs(a.hubs, a.counters + HUBS + turn, a.indptr,
                Advance{a.indices, a.ids, (Led *)led, a.counters + LED + turn, &queue});
}

extern "C" __global__ void bfs_filter(long long n, long long turn, const index_t *led, Search a) {
    __shared__ SplitQueue<index_t> found;
    found.open();
    const SearchPush filter = bfs_pushing(a, &found);
    gd_for_list((long long)a.counters[LED + turn], [&](long long i) { filter.reach(led[2 * i], led + 2 * i + 1); },
                [&](bool all) { filter.flush(all); });
}
