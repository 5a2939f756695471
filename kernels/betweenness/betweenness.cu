// Betweenness from up to 64 sources at once (lanes): owner-computes, without atomics on values, so that sums have one
// order, which depends on the row alone. Twins and arguments: betweenness.py. Multi-source search with bit masks after
// Then et al., The more the merrier: efficient multi-source graph traversal (2014); accumulation after Brandes (2001).
// What has more than `hub` edges waits for a second launch.
#include "betweenness/betweenness_pack.py"
#include "betweenness/betweenness.cuh"

#define BC_REACH \
    Reach{n, rows, a.indptr, a.indices, a.out_indptr, {a.bits, a.frontier, nullptr, (lanes_t)a.alive, 0}, a.seen, a.queue, \
          masks, a.left, a.hub, a.hubs, a.counters}
#define BC_GATHER \
    Gather{n, rows, masks, a.indptr, a.indices, {a.bits, a.frontier, a.value, (lanes_t)a.shown, __popcll(a.shown)}, \
           a.lanes, a.out, a.hub, a.chunks, a.partial, a.counters}

extern "C" __global__ void __launch_bounds__(256, 5)
bc_reach(long long n, const index_t *rows, mask_t *masks, Lanes a) {
    BC_REACH.find();
}

extern "C" __global__ void bc_reach_hubs(long long n, const index_t *rows, mask_t *masks, Lanes a) {
    BC_REACH.find_hubs();
}

extern "C" __global__ void __launch_bounds__(256, 4)
bc_gather(long long n, const index_t *rows, const mask_t *masks, Lanes a) {
    BC_GATHER.sum<false>();
}

extern "C" __global__ void bc_gather_hubs(long long n, const index_t *rows, const mask_t *masks, Lanes a) {
    BC_GATHER.sum_chunks();
}

extern "C" __global__ void bc_sum_hubs(long long n, const index_t *rows, const mask_t *masks, Lanes a) {
    BC_GATHER.add_chunks();
}

// Adds what leads over an edge to the frontier, in all lanes: a thread an edge. Each fourth column goes into one sum.
struct OverEdge : NoQueue {
    const index_t *indices;
    Frontier given;
    const mask_t *here;
    const double *sigma;
    long long lanes;
    const long long *indptr;
    double *edges;
    const int *lane_of;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t u = indices[edge];
        const lanes_t common = given.of(u) & here[row];
        if (!common || (edge > indptr[row] && indices[edge - 1] == u)) return;  // of parallel edges one counts
        const double *const paths = sigma + (long long)row * lanes, *const values = given.value + (long long)u * given.columns;
        double sums[4] = {0, 0, 0, 0};
        for (int c = 0; c < given.columns; c += 4) {
#pragma unroll
            for (int k = 0; k < 4; k++)
                if (c + k < given.columns && common >> lane_of[c + k] & 1)
                    sums[k] = __dadd_rn(sums[k], __dmul_rn(paths[lane_of[c + k]], values[c + k]));
        }
        edges[edge] = __dadd_rn(edges[edge], __dadd_rn(__dadd_rn(sums[0], sums[1]), __dadd_rn(sums[2], sums[3])));
    }
};

#define BC_OVER_EDGE \
    OverEdge{{}, a.indices, {a.bits, a.frontier, a.value, (lanes_t)a.shown, __popcll(a.shown)}, a.here, a.sigma, a.lanes, \
             a.indptr, a.edges, lane_of}

extern "C" __global__ void bc_edges(long long n, const index_t *rows, Lanes a) {
    __shared__ int lane_of[64];
    bc_columns(a.shown, lane_of);
    gd_for_edges(n, rows, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, BC_OVER_EDGE);
}

extern "C" __global__ void bc_edges_hubs(long long n, const index_t *rows, Lanes a) {
    __shared__ int lane_of[64];
    bc_columns(a.shown, lane_of);
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, BC_OVER_EDGE);
}

extern "C" __global__ void bc_show_paths(long long n, const index_t *rows, const mask_t *masks, const double *sigma,
                                         long long lanes, unsigned long long shown, unsigned int *bits, mask_t *frontier,
                                         double *value) {
    bc_put_paths(n, rows, masks, sigma, lanes, shown, bits, frontier, value);
}

extern "C" __global__ void bc_show_dependencies(long long n, const index_t *rows, const mask_t *masks,
                                                const double *sigma, const double *delta, long long lanes,
                                                unsigned long long shown, long long last, double *score,
                                                unsigned int *bits, mask_t *frontier, double *value) {
    bc_put_dependencies(n, rows, masks, sigma, delta, lanes, shown, last != 0, score, bits, frontier, value);
}

// A thread a vertex and column. Without masks there is one lane.
extern "C" __global__ void bc_arrive(long long n, const index_t *slots, const mask_t *masks, const double *values,
                                     long long count, unsigned int *bits, mask_t *frontier, double *value, mask_t *seen) {
    GD_FOR(at, n * count) {
        const long long i = count == 1 ? at : at / count, c = at - i * count;
        const index_t slot = slots[i];
        if (c == 0) {
            const mask_t mask = masks ? masks[i] : (mask_t)1;
            gd_set_bit(bits, slot);
            frontier[slot] = mask;
            seen[slot] = (mask_t)(seen[slot] | mask);
        }
        if (values) value[(long long)slot * count + c] = values[at];
    }
}
