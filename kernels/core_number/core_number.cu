// Peeling a graph level by level. A vertex joins the queue when its degree falls to the level; of all that lower it,
// exactly one sees the step from above, so it is queued once, whatever the order. Twins: core_number.py.
#include "common/rows.cuh"
#include "core_number/core_number_pack.py"

__device__ __forceinline__ int lower(int *address, int by) { return atomicSub(address, by); }
__device__ __forceinline__ long long lower(long long *address, long long by) {
    return (long long)atomicAdd((unsigned long long *)address, (unsigned long long)-by);
}

// A self-loop, or the second and later of parallel edges, which stand together.
__device__ __forceinline__ bool repeats(const long long *indptr, const index_t *indices, index_t row, long long edge) {
    const index_t v = indices[edge];
    return v == row || (edge > indptr[row] && indices[edge - 1] == v);
}

struct Fewer : NoQueue {
    const Peeling &a;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        if (repeats(a.indptr, a.indices, row, edge)) lower(a.degree + row, (index_t)1);
    }
};

extern "C" __global__ void core_degrees(long long n, Peeling a) {
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, Fewer{{}, a});
}

extern "C" __global__ void core_degrees_hubs(long long n, Peeling a) {
    gd_for_hubs(a.hubs, &a.counters->hubs, a.indptr, Fewer{{}, a});
}

struct Peel {
    const Peeling &a;
    Queue<index_t> *own, *ghosts;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        if (repeats(a.indptr, a.indices, row, edge)) return;
        const index_t v = a.indices[edge];
        if (v >= a.owned) {
            if (lower(a.lost + v, (index_t)-1) == 0) ghosts->push(v);
        } else if (*(volatile index_t *)(a.degree + v) > a.level) {
            if (lower(a.degree + v, (index_t)1) == a.level + 1) own->push(v);
        }
    }
    __device__ __forceinline__ void flush(bool all) const {
        own->flush(a.queue, &a.counters->queue, all);
        ghosts->flush(a.ghost_queue, &a.counters->ghosts, all);
    }
};

extern "C" __global__ void core_peel(long long n, long long head, Peeling a) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    gd_for_edges(n, (const index_t *)(a.queue + head), a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges,
                 Peel{a, &own, &ghosts});
    if (blockIdx.x == 0 && threadIdx.x == 0) a.counters->done = (unsigned long long)(head + n);
}

extern "C" __global__ void core_peel_hubs(long long n, Peeling a) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, Peel{a, &own, &ghosts});
}

extern "C" __global__ void core_lose(long long n, const index_t *slots, const index_t *times, Peeling a) {
    __shared__ Queue<index_t> own;
    own.open();
    gd_for_list(n, [&](long long i) {
        if (slots[i] >= a.owned) return;
        const index_t before = lower(a.degree + slots[i], times[i]);
        if (before > a.level && before - times[i] <= a.level) own.push(slots[i]);
    }, [&](bool all) { own.flush(a.queue, &a.counters->queue, all); });
}
