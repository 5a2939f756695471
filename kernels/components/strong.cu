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
    unsigned long long *counters;
    Queue<index_t> *own, *ghosts;

    __device__ __forceinline__ void flush(bool all) const {
        own->flush(queue, counters, all);
        if (ghosts) ghosts->flush(ghost_queue, counters + 2, all);
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
    gd_for_edges(n, rows, a.indptr, a.hubs, a.counters + 3, a.counters + 4, Count{{}, a.indices, a.colour, a.count});
}

extern "C" __global__ void strong_count_hubs(long long n, Colours a) {
    gd_for_hubs(a.hubs, a.counters + 3, a.indptr, Count{{}, a.indices, a.colour, a.count});
}

extern "C" __global__ void strong_bare(long long n, const index_t *rows, const index_t *ids, index_t *colour,
                                       const index_t *count, index_t *label, index_t *queue,
                                       unsigned long long *counters) {
    GD_FOR(i, n) {
        const index_t u = rows[i];
        if (count[u] != 0) continue;
        colour[u] = -1;
        label[u] = ids[u];
        queue[gd_reserve(counters)] = u;
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
    if (blockIdx.x == 0 && threadIdx.x == 0) a.counters[1] += (unsigned long long)n;
    const Trim trim{{a.queue, a.ghost_queue, a.counters, &own, &ghosts}, a.indices, a.ids, a.owned, a.colour, a.count, a.label};
    gd_for_edges(n, rows, a.indptr, a.hubs, a.counters + 3, a.counters + 4, trim);
}

extern "C" __global__ void strong_trim_hubs(long long n, Colours a) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    const Trim trim{{a.queue, a.ghost_queue, a.counters, &own, &ghosts}, a.indices, a.ids, a.owned, a.colour, a.count, a.label};
    gd_for_hubs(a.hubs, a.counters + 3, a.indptr, trim);
}

extern "C" __global__ void strong_take(long long n, const index_t *slots, const index_t *values, const index_t *ids,
                                       long long owned, index_t *colour, index_t *count, index_t *label,
                                       index_t *queue, unsigned long long *counters) {
    GD_FOR(i, n) {
        const index_t v = slots[i];
        if (v >= owned) continue;
        const index_t before = strong_add(count + v, values[i]);
        if (before <= 0 || before + values[i] != 0) continue;
        colour[v] = -1;
        label[v] = ids[v];
        queue[gd_reserve(counters)] = v;
    }
}

extern "C" __global__ void strong_lower(long long n, const index_t *slots, const index_t *values, long long owned,
                                        index_t *colour, int *stamp, long long level, index_t *queue,
                                        unsigned long long *counters) {
    GD_FOR(i, n) {
        const index_t v = slots[i];
        if (v >= owned || values[i] >= gd_atomic_min(colour + v, values[i])) continue;
        if (atomicExch(stamp + v, (int)level) != (int)level) queue[gd_reserve(counters)] = v;
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
    gd_for_edges(n, rows, a.indptr, a.hubs, a.counters + 3, a.counters + 4, spread);
}

extern "C" __global__ void strong_spread_hubs(long long n, Colours a) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    const Spread spread{{a.queue, a.ghost_queue, a.counters, &own, &ghosts}, a.indices, a.owned, a.colour, a.stamp, (int)a.level,
                        (int)a.base};
    gd_for_hubs(a.hubs, a.counters + 3, a.indptr, spread);
}

extern "C" __global__ void strong_arrive(long long n, const index_t *slots, long long owned, index_t *colour,
                                         index_t *label, index_t *queue, unsigned long long *counters) {
    GD_FOR(i, n) {
        const index_t v = slots[i];
        if (v >= owned) continue;
        const index_t c = *(volatile index_t *)(colour + v);
        if (c < 0 || gd_atomic_cas(colour + v, c, (index_t)-1) != c) continue;
        label[v] = c;
        queue[gd_reserve(counters)] = v;
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
    if (blockIdx.x == 0 && threadIdx.x == 0) a.counters[1] += (unsigned long long)n;
    const Collect collect{{a.queue, a.ghost_queue, a.counters, &own, &ghosts}, a.indices, a.owned, a.colour, a.label};
    gd_for_edges(n, rows, a.indptr, a.hubs, a.counters + 3, a.counters + 4, collect);
}

extern "C" __global__ void strong_collect_hubs(long long n, Colours a) {
    __shared__ Queue<index_t> own, ghosts;
    own.open();
    ghosts.open();
    const Collect collect{{a.queue, a.ghost_queue, a.counters, &own, &ghosts}, a.indices, a.owned, a.colour, a.label};
    gd_for_hubs(a.hubs, a.counters + 3, a.indptr, collect);
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
