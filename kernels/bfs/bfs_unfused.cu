// A push of breadth-first search as two kernels: an advance, which writes down where each edge of the frontier leads and
// whence, and a filter, which goes through that. Both are one kernel in bfs.cu, where nothing is written down. Twins and
// arguments: bfs_unfused.py.
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

extern "C" __global__ void bfs_advance(long long n, const index_t *frontier, const long long *indptr,
                                       const index_t *indices, const index_t *ids, long long turn, index_t *led,
                                       index_t *hubs, unsigned long long *counters) {
    __shared__ Queue<Led> queue;
    queue.open();
    const Advance advance{indices, ids, (Led *)led, counters + LED + turn, &queue};
    gd_for_edges((long long)counters[HERE], frontier, indptr, hubs, counters + HUBS + turn, counters + EDGES, advance);
}

extern "C" __global__ void bfs_advance_hubs(long long n, const long long *indptr, const index_t *indices,
                                            const index_t *ids, long long turn, index_t *led, const index_t *hubs,
                                            unsigned long long *counters) {
    __shared__ Queue<Led> queue;
    queue.open();
    const Advance advance{indices, ids, (Led *)led, counters + LED + turn, &queue};
    gd_for_hubs(hubs, counters + HUBS + turn, indptr, advance);
}

extern "C" __global__ void bfs_filter(long long n, long long turn, const index_t *led, const unsigned int *seen,
                                      index_t *parent, long long owned, long long slots, index_t *own_queue,
                                      index_t *ghost_queue, unsigned long long *counters) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    const Reach filter{seen, parent, owned, slots > owned, own_queue, ghost_queue, counters, &own, &ghosts};
    const long long count = (long long)counters[LED + turn], threads = (long long)gridDim.x * blockDim.x;
    for (long long begin = (long long)blockIdx.x * blockDim.x; begin < count; begin += threads) {
        const long long i = begin + threadIdx.x;
        if (i < count) filter.reach(led[2 * i], led + 2 * i + 1);
        filter.flush(false);
    }
    filter.flush(true);
}
