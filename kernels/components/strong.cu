// Strongly connected components: trimming of vertices without in- or out-edges, smallest colours that spread along the
// edges, and searches back to their roots. A count reaches 0 once, a colour is exchanged for -1 once, and a minimum
// does not depend on the order: so the results do not depend on who wins, only the order of the queues does. After
// McLendon et al. (2005) and Orzan (2004). Twins and arguments: strong.py.
#include "common/rows.cuh"
#include "components/strong_pack.py"

__device__ __forceinline__ int strong_add(int *address, int value) { return atomicAdd(address, value); }
__device__ __forceinline__ long long strong_add(long long *address, long long value) {
    return (long long)atomicAdd((unsigned long long *)address, (unsigned long long)value);
}

// Own vertices for the queue and ghosts for theirs, staged in shared memory.
struct Queues {
    index_t *queue, *ghost_queue;
    ColourCounts *counters;
    Queue<index_t> *own, *ghosts;

    __device__ __forceinline__ void flush(bool all) const {
        own->flush(queue, &counters->queue, all);
        if (ghosts) ghosts->flush(ghost_queue, &counters->ghosts, all);
    }
};

struct Count : NoQueue {
    const index_t *indices, *colour;
    index_t *count;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = indices[edge];
        if (v != row && colour[v] >= 0) strong_add(count + row, (index_t)1);
    }
};

extern "C" __global__ void strong_count(long long n, const index_t *rows, Colours a) {
    gd_for_edges(n, rows, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, Count{{}, a.indices, a.colour, a.count});
}

extern "C" __global__ void strong_count_hubs(long long n, Colours a) {
    gd_for_hubs(a.hubs, &a.counters->hubs, a.indptr, Count{{}, a.indices, a.colour, a.count});
}

extern "C" __global__ void strong_bare(long long n, const index_t *rows, Colours a) {
    GD_FOR(i, n) {
        const index_t u = rows[i];
        if (a.count[u] != 0) continue;
        a.colour[u] = -1;
        a.label[u] = a.ids[u];
        a.queue[gd_reserve(&a.counters->queue)] = u;
    }
}

struct Trim : Queues {
    const index_t *indices, *ids;
    long long owned;
    index_t *colour, *count, *label;

    __device__ __forceinline__ void operator()(index_t, long long edge) const {
        const index_t v = indices[edge], before = strong_add(count + v, (index_t)-1);
        if (v >= owned) {
            if (before == 0) ghosts->push(v);
        } else if (before == 1) {
            colour[v] = -1;
            label[v] = ids[v];
            own->push(v);
        }
    }
};

extern "C" __global__ void strong_trim(long long n, const index_t *rows, Colours a) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    if (blockIdx.x == 0 && threadIdx.x == 0) a.counters->followed += (unsigned long long)n;
    const Trim trim{{a.queue, a.ghost_queue, a.counters, &own, &ghosts}, a.indices, a.ids, a.owned, a.colour, a.count, a.label};
    gd_for_edges(n, rows, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, trim);
}

extern "C" __global__ void strong_trim_hubs(long long n, Colours a) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    const Trim trim{{a.queue, a.ghost_queue, a.counters, &own, &ghosts}, a.indices, a.ids, a.owned, a.colour, a.count, a.label};
    gd_for_hubs(a.hubs, &a.counters->hubs, a.indptr, trim);
}

extern "C" __global__ void strong_take(long long n, const index_t *slots, const index_t *values, Colours a) {
    GD_FOR(i, n) {
        const index_t v = slots[i];
        if (v >= a.owned) continue;
        const index_t before = strong_add(a.count + v, values[i]);
        if (before <= 0 || before + values[i] != 0) continue;
        a.colour[v] = -1;
        a.label[v] = a.ids[v];
        a.queue[gd_reserve(&a.counters->queue)] = v;
    }
}

extern "C" __global__ void strong_lower(long long n, const index_t *slots, const index_t *values, Colours a) {
    GD_FOR(i, n) {
        const index_t v = slots[i];
        if (v >= a.owned || values[i] >= gd_atomic_min(a.colour + v, values[i])) continue;
        if (atomicExch(a.stamp + v, (int)a.level) != (int)a.level) a.queue[gd_reserve(&a.counters->queue)] = v;
    }
}

struct Spread : Queues {
    const index_t *indices;
    long long owned;
    index_t *colour;
    int *stamp;
    int level, base;

    // The colour of the row may be lowered meanwhile: then the row is listed again, and any value of it is a true one.
    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = indices[edge], c = *(volatile index_t *)(colour + row);
        if (c >= *(volatile index_t *)(colour + v) || c >= gd_atomic_min(colour + v, c)) return;
        const int before = atomicExch(stamp + v, level);
        if (v < owned) {
            if (before != level) own->push(v);
        } else if (before < base) {
            ghosts->push(v);
        }
    }
};

extern "C" __global__ void strong_spread(long long n, const index_t *rows, Colours a) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    const Spread spread{{a.queue, a.ghost_queue, a.counters, &own, &ghosts}, a.indices, a.owned, a.colour, a.stamp, (int)a.level,
                        (int)a.base};
    gd_for_edges(n, rows, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, spread);
}

extern "C" __global__ void strong_spread_hubs(long long n, Colours a) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    const Spread spread{{a.queue, a.ghost_queue, a.counters, &own, &ghosts}, a.indices, a.owned, a.colour, a.stamp, (int)a.level,
                        (int)a.base};
    gd_for_hubs(a.hubs, &a.counters->hubs, a.indptr, spread);
}

extern "C" __global__ void strong_arrive(long long n, const index_t *slots, Colours a) {
    GD_FOR(i, n) {
        const index_t v = slots[i];
        if (v >= a.owned) continue;
        const index_t c = *(volatile index_t *)(a.colour + v);
        if (c < 0 || gd_atomic_cas(a.colour + v, c, (index_t)-1) != c) continue;
        a.label[v] = c;
        a.queue[gd_reserve(&a.counters->queue)] = v;
    }
}

struct Collect : Queues {
    const index_t *indices;
    long long owned;
    index_t *colour, *label;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = indices[edge], c = label[row];
        if (*(volatile index_t *)(colour + v) != c || gd_atomic_cas(colour + v, c, (index_t)-1) != c) return;
        if (v < owned) {
            label[v] = c;
            own->push(v);
        } else {
            ghosts->push(v);
        }
    }
};

extern "C" __global__ void strong_collect(long long n, const index_t *rows, Colours a) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    if (blockIdx.x == 0 && threadIdx.x == 0) a.counters->followed += (unsigned long long)n;
    const Collect collect{{a.queue, a.ghost_queue, a.counters, &own, &ghosts}, a.indices, a.owned, a.colour, a.label};
    gd_for_edges(n, rows, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, collect);
}

extern "C" __global__ void strong_collect_hubs(long long n, Colours a) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    const Collect collect{{a.queue, a.ghost_queue, a.counters, &own, &ghosts}, a.indices, a.owned, a.colour, a.label};
    gd_for_hubs(a.hubs, &a.counters->hubs, a.indptr, collect);
}

extern "C" __global__ void strong_heads(long long n, const index_t *rows, const long long *begins,
                                        const long long *indptr, const index_t *indices, const index_t *ids,
                                        index_t *heads) {
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += warps) {
        const long long first = indptr[rows[i]], length = indptr[rows[i] + 1] - first;
        for (long long k = threadIdx.x & 31; k < length; k += 32) heads[begins[i] + k] = ids[indices[first + k]];
    }
}
