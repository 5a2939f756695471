// Counting shortest paths by weight from up to 64 sources at once (lanes), once the distances are known. Twins and
// arguments: weighted_paths.py. Integers are counted down with atomics, which do not depend on an order; a sum of floats
// is one thread's, in the order of the row, so that it has the bits that it has on a CPU. Accumulation after Brandes, A
// faster algorithm for betweenness centrality (2001), Section 4.
#include "sssp/paths.cuh"
#include "betweenness/weighted_paths_pack.py"

typedef unsigned long long lanes_t;

// Edges whose values are added before they go into the sum of the row.
#define WP_CHUNK 256

struct Pending : NoQueue {
    long long first;
    const index_t *indices;
    const weight_t *weights;
    const dist_t *distance;
    long long lanes;
    int *pending;
    PathCounts *counters;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const weight_t w = weights[edge];
        const dist_t *const from = distance + (long long)indices[edge] * lanes;
        const long long place = (first + row) * lanes;
        const dist_t *const to = distance + place;
        unsigned long long beyond = 0, shorter = 0;
        for (long long b = 0; b < lanes; b++) {
            const dist_t du = from[b], dv = to[b];
            if (du == Of::none()) continue;
            if (dv == Of::none()) {
                beyond++;
                continue;
            }
            const dist_t d = Of::add(du, w);
            if (d == dv) atomicAdd(pending + place + b, 1);
            shorter += d < dv;
        }
        if (beyond) atomicAdd(&counters->beyond, beyond);
        if (shorter) atomicAdd(&counters->shorter, shorter);
    }
};

extern "C" __global__ void paths_pending(long long n, Paths a) {
    const Pending body{{}, a.first, a.indices, a.weights, a.distance, a.lanes, a.pending, a.counters};
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, body);
}

extern "C" __global__ void paths_pending_hubs(long long n, Paths a) {
    const Pending body{{}, a.first, a.indices, a.weights, a.distance, a.lanes, a.pending, a.counters};
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, body);
}

struct Release {
    bool pull;
    const lanes_t *frontier;
    const index_t *indices;
    const weight_t *weights;
    const dist_t *distance;
    long long lanes;
    int *pending;
    lanes_t *ready;
    index_t *queue;
    PathCounts *counters;
    Queue<index_t> *found;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t end = indices[edge], u = pull ? end : row, v = pull ? row : end;
        const lanes_t lanes_of = frontier[u];
        if (!lanes_of) return;
        const weight_t w = weights[edge];
        const dist_t *const from = distance + (long long)u * lanes;
        const dist_t *const to = distance + (long long)v * lanes;
        lanes_t now = 0;
        for (lanes_t rest = lanes_of; rest; rest &= rest - 1) {
            const int b = __ffsll((long long)rest) - 1;
            if (Of::add(from[b], w) == to[b] && atomicSub(pending + (long long)v * lanes + b, 1) == 1)
                now |= 1ULL << b;
        }
        if (!now) return;
        atomicAdd(&counters->lanes, (unsigned long long)__popcll(now));
        if (atomicOr(ready + v, now) == 0) found->push(v);
    }
    __device__ __forceinline__ void flush(bool all) const { found->flush(queue, &counters->ready, all); }
};

extern "C" __global__ void paths_release(long long n, const index_t *slots, const unsigned long long *frontier,
                                         long long pull, index_t *queue, Paths a) {
    __shared__ Queue<index_t> found;
    found.open();
    const Release body{pull != 0, frontier, a.indices, a.weights, a.distance, a.lanes, a.pending, a.ready, queue, a.counters, &found};
    gd_for_edges(n, slots, a.indptr - a.first, a.hubs, &a.counters->hubs, &a.counters->edges, body);
}

extern "C" __global__ void paths_release_hubs(long long n, const index_t *slots, const unsigned long long *frontier,
                                              long long pull, index_t *queue, Paths a) {
    __shared__ Queue<index_t> found;
    found.open();
    const Release body{pull != 0, frontier, a.indices, a.weights, a.distance, a.lanes, a.pending, a.ready, queue, a.counters, &found};
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr - a.first, body);
}

struct Tight {
    const index_t *indices;
    const weight_t *weights;
    const dist_t *distance;
    long long lanes;
    bool back;
    const double *paths;

    // The sum over the tight ones of the edges first .. last of row v, in one lane.
    __device__ __forceinline__ double sum(index_t v, long long b, long long first, long long last) const {
        const dist_t dv = distance[(long long)v * lanes + b];
        double sum = 0.0;
        for (long long e = first; e < last; e++) {
            const long long at = (long long)indices[e] * lanes + b;
            const dist_t du = distance[at];
            const bool tight = back ? Of::add(dv, weights[e]) == du : Of::add(du, weights[e]) == dv;
            if (tight) sum = __dadd_rn(sum, paths[at]);
        }
        return sum;
    }
};

// A thread a row and lane.
extern "C" __global__ void paths_gather(long long n, const index_t *rows, const unsigned long long *masks,
                                        long long back, double *out, long long hub, Paths a) {
    const Tight tight{a.indices, a.weights, a.distance, a.lanes, back != 0, a.paths};
    const long long *const indptr = a.indptr - a.first;
    unsigned long long edges = 0;
    GD_FOR(at, n * a.lanes) {
        const long long i = at / a.lanes, b = at - i * a.lanes;
        const index_t v = rows[i];
        const long long last = indptr[v + 1], degree = last - indptr[v];
        if (b == 0) edges += (unsigned long long)degree;
        if (degree > hub) {
            if (b == 0) a.hubs[gd_reserve(&a.counters->hubs)] = (index_t)i;
            continue;
        }
        if (!(masks[i] >> b & 1)) continue;
        double sum = 0.0;
        for (long long begin = indptr[v]; begin < last; begin += WP_CHUNK)
            sum = __dadd_rn(sum, tight.sum(v, b, begin, min(begin + WP_CHUNK, last)));
        out[(long long)v * a.lanes + b] = sum;
    }
    if (edges) atomicAdd(&a.counters->edges, edges);
}

// A block a row of more than `hub` edges, one lane after the other: a thread a chunk, whose sums one thread adds.
extern "C" __global__ void paths_gather_hubs(long long n, const index_t *rows, const unsigned long long *masks,
                                             long long back, double *out, long long hub, Paths a) {
    __shared__ double of_chunk[GD_ROWS];
    const Tight tight{a.indices, a.weights, a.distance, a.lanes, back != 0, a.paths};
    const long long *const indptr = a.indptr - a.first;
    const long long count = (long long)a.counters->hubs;
    for (long long h = blockIdx.x; h < count; h += gridDim.x) {
        const long long i = a.hubs[h];
        const index_t v = rows[i];
        const long long last = indptr[v + 1];
        for (lanes_t rest = masks[i]; rest; rest &= rest - 1) {
            const int b = __ffsll((long long)rest) - 1;
            double sum = 0.0;
            for (long long base = indptr[v]; base < last; base += (long long)GD_ROWS * WP_CHUNK) {
                const long long begin = base + (long long)threadIdx.x * WP_CHUNK;
                of_chunk[threadIdx.x] = begin < last ? tight.sum(v, b, begin, min(begin + WP_CHUNK, last)) : 0.0;
                __syncthreads();
                const long long chunks = min((last - base + WP_CHUNK - 1) / WP_CHUNK, (long long)GD_ROWS);
                if (threadIdx.x == 0)
                    for (long long c = 0; c < chunks; c++) sum = __dadd_rn(sum, of_chunk[c]);
                __syncthreads();
            }
            if (threadIdx.x == 0) out[(long long)v * a.lanes + b] = sum;
        }
    }
}

// Adds the paths that lead over an edge, lane by lane: a thread an edge.
struct Over : NoQueue {
    const index_t *indices;
    const weight_t *weights;
    const dist_t *distance;
    long long lanes;
    const lanes_t *here;
    const double *paths;
    double *over;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const weight_t w = weights[edge];
        const long long from = (long long)row * lanes, to = (long long)indices[edge] * lanes;
        double total = 0.0;
        for (lanes_t rest = here[row]; rest; rest &= rest - 1) {
            const int b = __ffsll((long long)rest) - 1;
            if (Of::add(distance[from + b], w) == distance[to + b])
                total = __dadd_rn(total, __dmul_rn(paths[from + b], paths[to + b]));
        }
        over[edge] = __dadd_rn(over[edge], total);
    }
};

extern "C" __global__ void paths_over(long long n, const index_t *rows, Paths a) {
    const Over body{{}, a.indices, a.weights, a.distance, a.lanes, a.here, a.paths, a.over};
    gd_for_edges(n, rows, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, body);
}

extern "C" __global__ void paths_over_hubs(long long n, const index_t *rows, Paths a) {
    const Over body{{}, a.indices, a.weights, a.distance, a.lanes, a.here, a.paths, a.over};
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, body);
}

extern "C" __global__ void paths_depend(long long n, const index_t *rows, const unsigned long long *masks,
                                        long long lanes, double *paths, double *dependency) {
    GD_FOR(at, n * lanes) {
        const long long i = at / lanes, b = at - i * lanes;
        if (!(masks[i] >> b & 1)) continue;
        const long long to = (long long)rows[i] * lanes + b;
        const double found = __dmul_rn(paths[to], dependency[to]);
        dependency[to] = found;
        paths[to] = __ddiv_rn(__dadd_rn(1.0, found), paths[to]);
    }
}

extern "C" __global__ void paths_arrive(long long n, const index_t *slots, const unsigned long long *masks,
                                        const double *values, long long lanes, unsigned long long *frontier,
                                        double *paths) {
    GD_FOR(at, n * lanes) {
        const long long i = at / lanes, b = at - i * lanes;
        if (b == 0) frontier[slots[i]] = masks[i];
        if (masks[i] >> b & 1) paths[(long long)slots[i] * lanes + b] = values[at];
    }
}

extern "C" __global__ void paths_score(long long n, const double *dependency, long long lanes, long long count,
                                       double *score) {
    GD_FOR(v, n) {
        double total = score[v];
        for (long long b = 0; b < count; b++) total = __dadd_rn(total, dependency[v * lanes + b]);
        score[v] = total;
    }
}
