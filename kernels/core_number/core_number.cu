// Peeling a graph level by level, and the correction of bounds. A vertex is queued when its degree falls to the level; of
// all that lower it, exactly one sees the step from above, so it is queued once, whatever the order. A block corrects a
// bound by bisection. It may read bounds that fall meanwhile, and then finds too large a bound, never too small a one; it
// is checked again, as that fall is found afterwards. Twins: core_number.py.
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

// What must be checked because the bound of a neighbour of v fell.
struct Fall {
    const Peeling &a;
    Queue<index_t> *again;

    __device__ __forceinline__ void check(index_t v, index_t old, index_t fresh) const {
        const index_t bound = a.bound[v];
        if (bound == a.none) {
            if (old != a.none || lower(a.degree + v, (index_t)1) != a.level + 1) return;
        } else if (bound <= fresh || bound > old || lower(a.support + v, (index_t)1) > bound) {
            return;
        }
        if (atomicExch(a.marked + v, 1u) == 0) again->push(v);
    }
    __device__ __forceinline__ void flush(bool all) const { again->flush(a.again, &a.counters->again, all); }
};

struct FallOfGhost : Fall {
    __device__ __forceinline__ void operator()(index_t ghost, long long edge) const {
        check(a.ghost_rows[edge], a.before[ghost], a.bound[ghost]);
    }
};

struct FallOfOwn : Fall {
    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = a.indices[edge];
        if (v < a.owned && !repeats(a.indptr, a.indices, row, edge)) check(v, a.before[row], a.bound[row]);
    }
};

extern "C" __global__ void core_hear(long long n, const index_t *slots, const index_t *bounds, Peeling a) {
    GD_FOR(i, n) {
        a.before[slots[i]] = a.bound[slots[i]];
        a.bound[slots[i]] = bounds[i];
    }
}

extern "C" __global__ void core_hear_rows(long long n, const index_t *slots, Peeling a) {
    __shared__ Queue<index_t> again;
    again.open();
    gd_for_edges(n, slots, a.ghost_ptr - a.owned, a.hubs, &a.counters->hubs, &a.counters->edges,
                 FallOfGhost{{a, &again}});
}

extern "C" __global__ void core_hear_rows_hubs(long long n, Peeling a) {
    __shared__ Queue<index_t> again;
    again.open();
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.ghost_ptr - a.owned, FallOfGhost{{a, &again}});
}

// How many neighbours have bounds of at least `least`. All threads of a block call it, and all get the number.
__device__ __forceinline__ index_t supporters(const Peeling &a, index_t u, long long least, int *counted) {
    if (threadIdx.x == 0) *counted = 0;
    __syncthreads();
    int mine = 0;
    for (long long e = a.indptr[u] + threadIdx.x; e < a.indptr[u + 1]; e += blockDim.x)
        if (!repeats(a.indptr, a.indices, u, e)) mine += *(volatile index_t *)(a.bound + a.indices[e]) >= least;
    if (mine) atomicAdd(counted, mine);
    __syncthreads();
    const index_t found = *counted;
    __syncthreads();
    return found;
}

extern "C" __global__ void core_settle(long long n, Peeling a) {
    __shared__ int counted;
    for (long long i = blockIdx.x; i < n; i += gridDim.x) {
        const index_t u = a.again[i], old = a.bound[u];
        const long long most = min((long long)old, a.level);
        const bool suffice = old == a.none && a.degree[u] >= most;  // those that are left; who else counts is not known
        index_t enough = suffice ? 0 : supporters(a, u, most, &counted);
        long long low = most;
        if (!suffice && enough < most) {
            long long high = most - 1;
            low = enough;  // as many have bounds of `most` or more
            while (low < high) {
                const long long middle = (low + high + 1) >> 1;
                if (supporters(a, u, middle, &counted) >= middle) low = middle;
                else high = middle - 1;
            }
            enough = supporters(a, u, low, &counted);
        }
        __syncthreads();  // all threads have read the bound
        if (threadIdx.x) continue;
        if (!suffice) atomicAdd(&a.counters->edges, (unsigned long long)(a.indptr[u + 1] - a.indptr[u]));
        a.marked[u] = 0;
        a.support[u] = enough;
        if (low == old) continue;
        if (a.order[u] < a.now) a.queue[atomicAdd(&a.counters->queue, 1ull)] = u;
        a.order[u] = a.now + (long long)atomicAdd(&a.counters->clock, 1ull);
        a.before[u] = old;
        a.fell[atomicAdd(&a.counters->fell, 1ull)] = u;
        __threadfence();  // who reads the bound has a later place in the order
        *(volatile index_t *)(a.bound + u) = (index_t)low;
    }
}

extern "C" __global__ void core_fall(long long n, Peeling a) {
    __shared__ Queue<index_t> again;
    again.open();
    gd_for_edges(n, (const index_t *)a.fell, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges,
                 FallOfOwn{{a, &again}});
}

extern "C" __global__ void core_fall_hubs(long long n, Peeling a) {
    __shared__ Queue<index_t> again;
    again.open();
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, FallOfOwn{{a, &again}});
}

extern "C" __global__ void core_find(long long n, const index_t *alive, Peeling a) {
    __shared__ Queue<index_t> own;
    __shared__ unsigned long long lowest;
    own.open();
    if (threadIdx.x == 0) lowest = (unsigned long long)a.none;
    __syncthreads();
    unsigned long long left = 0, degrees = 0, least = (unsigned long long)a.none;
    gd_for_list(n, [&](long long i) {
        const index_t v = alive[i], degree = a.degree[v];
        if (a.bound[v] != a.none) return;
        if (degree <= a.level) {
            own.push(v);
        } else {
            left++;
            degrees += (unsigned long long)degree;
            if ((unsigned long long)degree < least) least = (unsigned long long)degree;
        }
    }, [&](bool all) { own.flush(a.queue, &a.counters->queue, all); });
    if (least < (unsigned long long)a.none) atomicMin(&lowest, least);
    gd_add(left, &a.counters->left);
    gd_add(degrees, &a.counters->degrees);
    __syncthreads();
    if (threadIdx.x == 0 && lowest < (unsigned long long)a.none) atomicMin(&a.counters->least, lowest);
}

struct Peel {
    const Peeling &a;
    Queue<index_t> *own;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = a.indices[edge];
        if (v >= a.owned || repeats(a.indptr, a.indices, row, edge)) return;
        if (*(volatile index_t *)(a.degree + v) > a.level && lower(a.degree + v, (index_t)1) == a.level + 1)
            own->push(v);
    }
    __device__ __forceinline__ void flush(bool all) const { own->flush(a.queue, &a.counters->queue, all); }
};

extern "C" __global__ void core_peel(long long n, long long head, Peeling a) {
    __shared__ Queue<index_t> own;
    own.open();
    gd_for_edges(n, (const index_t *)(a.queue + head), a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges,
                 Peel{a, &own});
    if (blockIdx.x == 0 && threadIdx.x == 0) a.counters->done = (unsigned long long)(head + n);
}

extern "C" __global__ void core_peel_hubs(long long n, Peeling a) {
    __shared__ Queue<index_t> own;
    own.open();
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, Peel{a, &own});
}
