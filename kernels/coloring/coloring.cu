// Colouring along an order of the vertices. An edge marks the colour of its earlier end at the later one before it takes
// itself off those that the later end waits for. Of all edges of a vertex exactly one is the last, and sees every mark;
// its thread colours the vertex. All rounds are one launch. Twins: coloring.py.
#include "common/grid.cuh"
#include "common/rows.cuh"
#include "coloring/coloring_pack.py"

__device__ __forceinline__ int one_less(int *address) { return atomicSub(address, 1); }
__device__ __forceinline__ long long one_less(long long *address) {
    return (long long)atomicAdd((unsigned long long *)address, ~0ULL);
}

struct Mark {
    const Coloring &a;
    Queue<index_t> *colored;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = a.indices[edge];
        const long long color = *(volatile index_t *)(a.color + row), begin = a.begin[v], end = a.begin[v + 1];
        if (begin + (color >> 6) < end) atomicOr(a.taken + begin + (color >> 6), 1ULL << (color & 63));
        __threadfence();
        if (one_less(a.waiting + v) != 1) return;
        __threadfence();
        for (long long word = begin; word < end; word++) {
            const unsigned long long left = ~*(volatile unsigned long long *)(a.taken + word);
            if (left) {
                a.color[v] = (index_t)(((word - begin) << 6) + __ffsll((long long)left) - 1);
                break;
            }
        }
        colored->push(v);
    }
    __device__ __forceinline__ void flush(bool all) const { colored->flush(a.queue, &a.counters->queue, all); }
};

extern "C" __global__ void coloring_mark(long long n, long long head, long long tail, Coloring a) {
    __shared__ Queue<index_t> colored;
    colored.open();
    const Mark mark{a, &colored};
    for (gd_count round = 0; head < tail; round++) {
        unsigned long long *const hubs = a.counters->hubs + (round & 1);
        gd_for_edges(tail - head, (const index_t *)(a.queue + head), a.indptr, a.hubs, hubs, &a.counters->edges, mark);
        if (a.deferring) {
            gd_grid_barrier(a.counters->arrived);
            if (blockIdx.x == 0 && threadIdx.x == 0) a.counters->hubs[~round & 1] = 0;
            gd_for_hubs((const index_t *)a.hubs, hubs, a.indptr, mark);
        }
        head = tail;  // what the last block to queue anything reads is the new end
        const gd_count queued = threadIdx.x ? 0 : *(volatile unsigned long long *)&a.counters->queue;
        tail = (long long)gd_grid_max(queued, a.counters->arrived, round);
    }
}
