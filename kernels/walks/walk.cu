// First-order random walks, a thread each, or several where a reservoir draws: c-saw (Pandey et al.), Section II-A. Twins
// and what the arguments are: walk.py. A thread has the steps of an aligned 16 bytes in registers before it stores them
// together.
#include "walks/walk.cuh"
#include "walks/walk_pack.py"

// How a partition is read.
#define GD_NEAR 0
#define GD_FAR 1    // in place, in the host's memory
#define GD_WAITS 2  // not at all; who comes there waits

// What walks do besides going to a neighbour; probabilities are multiples of 2^-63.
struct Moves {
    gd_u64 restart;  // of going back to the start
    gd_u64 leave;    // of that, or of jumping to any vertex
    gd_u64 dead;     // of going back, where there are no edges and something is to be done
    long long vertices;
    const long long *degrees;  // per slot
};

template <class Pack> __device__ __forceinline__ Moves moves_of(const Pack &a) {
    return {a.restart, a.leave, a.dead, a.vertices, a.degrees};
}

// The next slot after v, whose edges are begin to after - 1 and whose row is `row`, or with `far` the id of a vertex; -1
// where the walk ends. `taken` is the row of the edge, where that is told; else -1.
template <int METHOD, class Threads>
__device__ __forceinline__ index_t walk_next(Threads &threads, const Rows &rows, const Moves &moves, gd_u64 instance,
                                             gd_u32 step, index_t v, long long row, long long begin, long long after,
                                             index_t start, bool &far, long long &taken) {
    gd_u32 draw = 0;
    taken = -1;
    gd_u64 first, second;
    const bool plain = METHOD == GD_UNIFORM || METHOD == GD_METROPOLIS;
    if (plain) {  // while the row is on its way
        gd_philox(rows.key, instance, step, draw++, first, second);
#ifdef __CUDA_ARCH__
        asm volatile("" : "+l"(first), "+l"(second));  // the compiler would put it after the row has come
#endif
    }
    const long long degree = after - begin;
    const bool dead = rows.dead<METHOD>(row, degree);
    far = false;
    if (METHOD != GD_METROPOLIS && moves.leave) {
        gd_u64 coin = second;
        if (METHOD != GD_UNIFORM) {
            gd_philox(rows.key, instance, step, 0, first, second);
            gd_philox(rows.key, instance, step, GD_WALK_COIN, coin, second);
        }
        coin >>= 1;
        far = coin < (dead ? GD_WALK_ONE : moves.leave);
        if (coin < (dead ? moves.dead : moves.restart)) return start;
        if (far) return (index_t)gd_digit(first, (gd_u64)moves.vertices);
    }
    if (dead) return -1;
    if (METHOD == GD_CELLS) return rows.neighbour(row, begin, degree, instance, step);
    const long long edge = plain ? gd_pick_uniform(begin, after, first)
                                 : rows.pick<METHOD>(threads, row, begin, degree, instance, step, draw, second);
    const index_t u = rows.end_of(edge, taken);
    if (METHOD == GD_METROPOLIS) {
        const long long others = moves.degrees[u];
        if (others > degree && (long long)gd_digit(second, (gd_u64)others) >= degree) {
            taken = -1;
            return v;
        }
    }
    return u;
}

template <int METHOD>
__device__ __forceinline__ void walk_all(long long n, long long first, int begin, int end,
                                         const Rows rows, const Moves moves, const WholeWalks &a) {
    const Single alone{};
    GD_FOR(i, n) {
        index_t *const row = a.walks + i * (a.length + 1);
        const index_t start = a.starts[i];
        index_t v = begin ? row[begin] : start;
        if (!begin) {
            row[0] = v;
            a.lengths[i] = (int)a.length;
        }
        const int phase = (int)(((size_t)row / sizeof(index_t)) % GD_WALK_CHUNK);
        for (int base = (begin + 1 + phase) / GD_WALK_CHUNK * GD_WALK_CHUNK - phase; base <= end;
             base += GD_WALK_CHUNK) {
            Steps held;
#pragma unroll
            for (int k = 0; k < GD_WALK_CHUNK; k++) {
                const int step = base + k;
                long long taken = -1;
                if (v >= 0 && step > begin && step <= end) {
                    bool far;
                    v = walk_next<METHOD>(alone, rows, moves, (gd_u64)(first + i), (gd_u32)step, v, v, rows.indptr[v],
                                          rows.indptr[v + 1], start, far, taken);
                    if (v < 0) a.lengths[i] = step - 1;
                }
                held.at[k] = v;
                if (GD_GIVES_EDGES && step > begin && step <= end) a.edges[i * a.length + step - 1] = taken;
            }
            if (base > begin && base + GD_WALK_CHUNK - 1 <= end) {
                gd_store(row + base, held.at);
            } else {
#pragma unroll
                for (int k = 0; k < GD_WALK_CHUNK; k++)
                    if (base + k > begin && base + k <= end) row[base + k] = held.at[k];
            }
        }
    }
}

// The same by several threads for each walker.
__device__ __forceinline__ void walk_together(Together threads, long long n, long long first, int begin, int end,
                                              const Rows rows, const Moves moves, const WholeWalks &a) {
    const bool writes = threads.writes();
    for (long long i = threads.first(); i < n; i += threads.stride()) {
        index_t *const row = a.walks + i * (a.length + 1);
        const index_t start = a.starts[i];
        index_t v = begin ? row[begin] : start;
        if (!begin && writes) {
            row[0] = v;
            a.lengths[i] = (int)a.length;
        }
        for (int step = begin + 1; step <= end; step++) {
            long long taken = -1;
            if (v >= 0) {
                bool far;
                v = walk_next<GD_RESERVOIR>(threads, rows, moves, (gd_u64)(first + i), (gd_u32)step, v, v,
                                            rows.indptr[v], rows.indptr[v + 1], start, far, taken);
                if (v < 0 && writes) a.lengths[i] = step - 1;
            }
            if (writes) row[step] = v;
            if (GD_GIVES_EDGES && writes) a.edges[i * a.length + step - 1] = taken;
        }
    }
}

template <int METHOD, class Threads>
__device__ __forceinline__ void walk_here(Threads threads, long long n, const Rows rows, const Moves moves,
                                          const PartWalks &a) {
    const int budget = (int)a.budget, length = (int)a.length;
    for (long long i = threads.first(); i < n; i += threads.stride()) {
        const long long walker = a.instance[i];
        const index_t start = a.starts[walker - a.first_instance];
        index_t v = a.at[i], id = -1;
        int s = a.step[i], count = 0;
        bool far = false;
        while (count < budget && s < length) {
            long long taken;
            v = walk_next<METHOD>(threads, rows, moves, (gd_u64)walker, (gd_u32)(s + 1), v, v, rows.indptr[v],
                                  rows.indptr[v + 1], start, far, taken);
            id = v < 0 || far ? v : a.ids[v];
            if (v < 0) break;
            if (threads.writes()) a.path[i * budget + count] = id;
            if (GD_GIVES_EDGES && threads.writes()) a.edges[i * budget + count] = taken;
            count++;
            s++;
            if (far || v >= a.owned) break;
        }
        threads.sync();  // before, all have read where it stood
        if (threads.writes()) {
            a.at[i] = s < length ? id : (index_t)-1;
            a.step[i] = s;
            a.made[i] = count;
        }
    }
}

// Partitions of the rows: where each is, and how it is read. What the arrays are: walk.py.
struct Parts {
    const long long *cuts, *ways;
    int count;
    bool whole;
    Rows far;

    __device__ __forceinline__ int of(index_t v) const {
        int place = 0;
        for (int high = count - 1; place < high;) {
            const int middle = (place + high) >> 1;
            if (cuts[middle + 1] > (long long)v) high = middle;
            else place = middle + 1;
        }
        return place;
    }
};

// The same over partitions, where neighbours are vertices, not slots.
template <int METHOD>
__device__ __forceinline__ void walk_some(long long n, const long long *queue, long long first, int budget,
                                          const Rows near, const Moves moves, const Parts parts, gd_u64 *reported,
                                          const StreamedWalks &a) {
    const int length = (int)a.length;
    const Single alone{};
    gd_u64 in_place = 0;  // steps
    GD_FOR(i, n) {
        const long long r = queue[i];
        index_t *const path = a.walks + r * (length + 1);
        const index_t start = a.starts[r];
        int s = a.lengths[r], place;
        const int end = length - s < budget ? length : s + budget;
        index_t id = path[s];
        for (;;) {
            long long row = id, begin = 0, after = 0;
            if (parts.whole && s < end) {
                begin = near.indptr[row], after = near.indptr[row + 1];
#ifdef __CUDA_ARCH__
                asm volatile("" : "+l"(begin), "+l"(after));  // the compiler would put it after the search
#endif
            }
            place = parts.of(id);
            const long long way = parts.ways[2 * parts.count + place], of_edges = parts.ways[parts.count + place];
            if (s == end || way == GD_WAITS) break;
            if (!parts.whole) {
                row += parts.ways[place];
                begin = near.indptr[row], after = near.indptr[row + 1];
            }
            bool jumped;
            long long taken;
            Rows rows = near;
            if (way == GD_FAR) rows = parts.far;
            id = walk_next<METHOD>(alone, rows, moves, (gd_u64)(first + r), (gd_u32)(s + 1), id, row, begin + of_edges,
                                   after + of_edges, start, jumped, taken);
            in_place += way == GD_FAR;
            if (id < 0) break;
            if (GD_GIVES_EDGES) a.edges[r * length + s] = taken;
            path[++s] = id;
        }
        a.lengths[r] = s;
        a.places[r] = id >= 0 && s < length ? place : parts.count;
    }
    if (in_place) atomicAdd(reported, in_place);
}

extern "C" __global__ void walk(long long n, long long first, long long begin, long long end, WholeWalks a) {
    const Rows rows = rows_of(a);
    const Moves moves = moves_of(a);
    if (a.method == GD_UNIFORM) walk_all<GD_UNIFORM>(n, first, (int)begin, (int)end, rows, moves, a);
    else if (a.method == GD_METROPOLIS) walk_all<GD_METROPOLIS>(n, first, (int)begin, (int)end, rows, moves, a);
    else if (a.method == GD_REJECTION) walk_all<GD_REJECTION>(n, first, (int)begin, (int)end, rows, moves, a);
    else if (a.method == GD_INVERSE) walk_all<GD_INVERSE>(n, first, (int)begin, (int)end, rows, moves, a);
    else walk_all<GD_ALIAS>(n, first, (int)begin, (int)end, rows, moves, a);
}

extern "C" __global__ void __launch_bounds__(256, 3) walk_reservoir(
    long long n, long long first, long long begin, long long end, WholeWalks a) {
    __shared__ double keys[2 * GD_TOGETHER];
    __shared__ gd_u32 places[2 * GD_TOGETHER];
    const Rows rows = rows_of(a);
    const Moves moves = moves_of(a);
    walk_together(Together{keys, places, 0}, n, first, (int)begin, (int)end, rows, moves, a);
}

extern "C" __global__ void walk_part(long long n, PartWalks a) {
    const Rows rows = rows_of(a);
    const Moves moves = moves_of(a);
    const Single alone{};
    if (a.method == GD_UNIFORM) walk_here<GD_UNIFORM>(alone, n, rows, moves, a);
    else if (a.method == GD_METROPOLIS) walk_here<GD_METROPOLIS>(alone, n, rows, moves, a);
    else if (a.method == GD_REJECTION) walk_here<GD_REJECTION>(alone, n, rows, moves, a);
    else if (a.method == GD_INVERSE) walk_here<GD_INVERSE>(alone, n, rows, moves, a);
    else walk_here<GD_ALIAS>(alone, n, rows, moves, a);
}

extern "C" __global__ void __launch_bounds__(256, 3) walk_part_reservoir(long long n, PartWalks a) {
    __shared__ double keys[2 * GD_TOGETHER];
    __shared__ gd_u32 places[2 * GD_TOGETHER];
    const Rows rows = rows_of(a);
    const Moves moves = moves_of(a);
    walk_here<GD_RESERVOIR>(Together{keys, places, 0}, n, rows, moves, a);
}

extern "C" __global__ void walk_streamed(long long n, const long long *queue, long long first, long long budget,
                                         StreamedWalks a) {
    __shared__ gd_u64 in_place;  // steps of the block
    if (threadIdx.x == 0) in_place = 0;
    __syncthreads();
    const Rows near = rows_of(a);
    const Rows far{near.key, a.indptr, a.far_indices, {a.far_values, a.greatest, a.totals, a.shifts, a.far_table, a.far_other}, a.far_arcs};
    const Moves moves = moves_of(a);
    const Parts of{a.cuts, a.ways, (int)a.parts, a.whole != 0, far};
    if (a.method == GD_UNIFORM) walk_some<GD_UNIFORM>(n, queue, first, (int)budget, near, moves, of, &in_place, a);
    else if (a.method == GD_METROPOLIS) walk_some<GD_METROPOLIS>(n, queue, first, (int)budget, near, moves, of, &in_place, a);
    else if (a.method == GD_REJECTION) walk_some<GD_REJECTION>(n, queue, first, (int)budget, near, moves, of, &in_place, a);
    else if (a.method == GD_INVERSE) walk_some<GD_INVERSE>(n, queue, first, (int)budget, near, moves, of, &in_place, a);
    else walk_some<GD_GIVES_EDGES ? GD_ALIAS : GD_CELLS>(n, queue, first, (int)budget, near, moves, of, &in_place, a);
    __syncthreads();
    if (threadIdx.x == 0 && in_place) atomicAdd(a.reported, in_place);
}
