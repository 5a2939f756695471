// Peeling a graph level by level, and the correction of bounds. A vertex is queued when its degree falls to the level; of
// all that lower it, exactly one sees the step from above, so it is queued once, whatever the order. A block corrects a
// bound by bisection. It may read bounds that fall meanwhile, and then finds too large a bound, never too small a one; it
// is checked again, as that fall is found afterwards. Levels are peeled in one cooperative launch, whose blocks meet after
// each round. Twins: core_number.py.
#include "common/grid.cuh"
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

extern "C" __global__ void core_arrive(long long n, const index_t *slots, const index_t *bounds, Peeling a) {
    GD_FOR(i, n) {
        a.before[slots[i]] = a.bound[slots[i]];
        a.bound[slots[i]] = bounds[i];
    }
}

extern "C" __global__ void core_arrive_rows(long long n, const index_t *slots, Peeling a) {
    __shared__ Queue<index_t> again;
    again.open();
    gd_for_edges(n, slots, a.ghost_ptr - a.owned, a.hubs, &a.counters->hubs, &a.counters->edges,
                 FallOfGhost{{a, &again}});
}

extern "C" __global__ void core_arrive_rows_hubs(long long n, Peeling a) {
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

#define PEEL_MANY 4  // edges that a thread takes at once

typedef WarpQueue<index_t, PEEL_MANY> PeelQueue;

// What a vertex that is removed does to its neighbours.
struct Peel {
    const Peeling &a;
    index_t level;
    index_t *out;
    unsigned long long *pushed;
    PeelQueue *own;

    __device__ __forceinline__ void operator()(const index_t (&rows)[PEEL_MANY],
                                               const long long (&edges)[PEEL_MANY]) const {
        index_t v[PEEL_MANY], before[PEEL_MANY], degree[PEEL_MANY];
#pragma unroll
        for (int k = 0; k < PEEL_MANY; k++) {
            v[k] = edges[k] >= 0 ? a.indices[edges[k]] : (index_t)-1;
            before[k] = edges[k] > 0 ? a.indices[edges[k] - 1] : (index_t)-1;
        }
#pragma unroll
        for (int k = 0; k < PEEL_MANY; k++) {
            const bool repeats = v[k] == rows[k] || (before[k] == v[k] && edges[k] > a.indptr[rows[k]]);
            const bool counts = edges[k] >= 0 && v[k] < a.owned && !repeats;
            degree[k] = counts ? *(volatile index_t *)(a.degree + v[k]) : (index_t)0;
        }
#pragma unroll
        for (int k = 0; k < PEEL_MANY; k++)
            if (degree[k] > level && lower(a.degree + v[k], (index_t)1) == level + 1) own->push(v[k]);
    }
    __device__ __forceinline__ void flush(bool all) const { own->flush(out, pushed, all); }
};
template <> struct gd_at_once<Peel> { static constexpr int edges = PEEL_MANY, longest = GD_HUB; };

// What all blocks know of the levels in the same way, and how they meet.
struct Levels {
    const Peeling &a;
    long long tail, length, left, least, degrees;
    int side, round;

    __device__ __forceinline__ Levels(const Peeling &peeling)
        : a(peeling), tail((long long)peeling.counters->queue), length((long long)peeling.kept->length),
          left(length), least(0), degrees(0), side((int)peeling.kept->side), round(0) {}

    __device__ __forceinline__ int place() const { return round % 3; }
    static __device__ __forceinline__ long long read(const unsigned long long *word) {
        return (long long)*(const volatile unsigned long long *)word;
    }
    // Before any block adds to counters of the round after this one; who read those of three rounds before has come on.
    __device__ __forceinline__ void clear_next() const {
        if (blockIdx.x || threadIdx.x) return;
        const int next = (round + 1) % 3;
        volatile unsigned long long *const pushed = a.rounds->pushed, *const hubs = a.rounds->hubs;
        volatile unsigned long long *const others = a.rounds->left, *const nearest = a.rounds->nearest;
        volatile unsigned long long *const sums = a.rounds->degrees;
        pushed[next] = hubs[next] = others[next] = nearest[next] = sums[next] = 0;
    }
    __device__ __forceinline__ void meet() const { gd_grid_barrier(&a.rounds->arrived); }

    // Queue what has no more neighbours than the level; count the others, and list them where many are gone.
    __device__ __forceinline__ long long find(long long level, Queue<index_t> &own, Queue<index_t> &others,
                                              unsigned long long *nearest_of_block) {
        const int at = place();
        const bool lists = 4 * left < 3 * length;
        const index_t *const alive = side ? a.spare : a.alive;
        index_t *const list = side ? a.alive : a.spare;
        clear_next();
        if (threadIdx.x == 0) *nearest_of_block = 0;
        __syncthreads();
        unsigned long long count = 0, sum = 0, nearest = 0;
        gd_for_list(length, [&](long long i) {
            const index_t v = alive[i], degree = *(volatile index_t *)(a.degree + v);
            if (*(volatile index_t *)(a.bound + v) != a.none) return;
            if (degree <= level) {
                own.push(v);
                return;
            }
            if (lists) others.push(v);
            count++;
            sum += (unsigned long long)degree;
            nearest = max(nearest, (unsigned long long)(a.none - degree));
        }, [&](bool all) {
            own.flush(a.queue + tail, a.rounds->pushed + at, all);
            if (lists) others.flush(list, a.rounds->left + at, all);
        });
        if (nearest) atomicMax(nearest_of_block, nearest);
        if (!lists) gd_add(count, a.rounds->left + at);
        gd_add(sum, a.rounds->degrees + at);
        __syncthreads();
        if (threadIdx.x == 0 && *nearest_of_block) atomicMax(a.rounds->nearest + at, *nearest_of_block);
        meet();
        round++;
        left = read(a.rounds->left + at);
        least = a.none - read(a.rounds->nearest + at);
        degrees = read(a.rounds->degrees + at);
        if (lists) {
            side = !side;
            length = left;
        }
        return read(a.rounds->pushed + at);
    }

    // Remove what was queued last, queue[tail : tail + count]; return how many neighbours were queued by that.
    __device__ __forceinline__ long long peel(long long level, long long count, long long first_order,
                                              PeelQueue &own) {
        const int at = place(), before = (round + 2) % 3;
        const index_t *const rows = a.queue + tail;
        clear_next();
        unsigned long long edges = 0;
        GD_FOR(i, count) {
            const index_t u = rows[i];
            a.bound[u] = (index_t)level;
            a.order[u] = first_order + tail + i;
            edges += (unsigned long long)(a.indptr[u + 1] - a.indptr[u]);
        }
        gd_add(edges, &a.counters->edges);
        tail += count;
        const Peel body{a, (index_t)level, a.queue + tail, a.rounds->pushed + at, &own};
        if (count <= 4 * (long long)gridDim.x) {
            gd_for_hubs(rows, a.rounds->pushed + before, a.indptr, body);
        } else {
            gd_for_edges(count, rows, a.indptr, a.hubs, a.rounds->hubs + at, &a.rounds->ignored, body);
            meet();
            if (read(a.rounds->hubs + at)) gd_for_hubs((const index_t *)a.hubs, a.rounds->hubs + at, a.indptr, body);
        }
        meet();
        round++;
        return read(a.rounds->pushed + at);
    }
};

extern "C" __global__ void __launch_bounds__(256, 4) core_levels(long long n, long long last, Peeling a) {
    __shared__ Queue<index_t> own, others;
    __shared__ PeelQueue found;
    __shared__ unsigned long long nearest;
    own.open();
    others.open();
    found.open();
    Levels levels(a);
    const long long first_order = a.now + (long long)a.counters->clock - levels.tail;
    long long level = a.level + 1;
    while (true) {
        long long pushed = levels.find(level, own, others, &nearest);
        if (!pushed) {
            if (levels.least > last) break;
            level = levels.least;
            continue;
        }
        while (pushed) {
            const long long more = levels.peel(level, pushed, first_order, found);
            levels.left -= more;
            pushed = more;
        }
        level = min(level + 1, last);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        a.counters->queue = (unsigned long long)levels.tail;
        a.counters->left = (unsigned long long)levels.left;
        a.counters->least = (unsigned long long)levels.least;
        a.counters->degrees = (unsigned long long)levels.degrees;
        a.kept->length = (unsigned long long)levels.length;
        a.kept->side = (unsigned long long)levels.side;
    }
}
