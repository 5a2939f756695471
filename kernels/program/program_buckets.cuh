// Buckets of vertices where the states that a run ends with do not depend on the order in which vertices send: see the twin
// program_buckets.py, whose far vertices stand in a list. Here they are those with a bit in `waits`.
#pragma once

#define GD_NARROWEST 0x1p-12  // as NARROWEST and WIDER there
#define GD_WIDER 4.0
#define GD_BUCKETS 8       // after a bucket with fewer of all edges than one in 1 << GD_BUCKETS the next one is wider,
#define GD_LEAST (1 << 15)  // or with fewer than so many,
#define GD_MANY 16         // and narrower after GD_MANY times as many

// Whether a vertex that changed is in the bucket; if not, it is far.
__device__ __forceinline__ bool gd_near(index_t v, const Program &a) {
    const bool near = priority(v, a) <= *(volatile double *)(a.bucket + BUCKET_LIMIT);
    const unsigned bit = 1u << (v & 31);
    const bool waits = *(volatile unsigned *)(a.waits + (v >> 5)) & bit;
    if (near && waits) atomicAnd(a.waits + (v >> 5), ~bit);
    else if (!near && !waits) atomicOr(a.waits + (v >> 5), bit);
    return near;
}

// List the vertices of the next bucket, the best of the far ones, and add their edges to those of the next superstep;
// return how many they are. All blocks call it, when no vertex is listed and after `sent` edges of this bucket.
template <class Barrier>
__device__ __forceinline__ long long gd_next_bucket(gd_count sent, const Program &a, const Barrier &barrier) {
    const bool reports = blockIdx.x == 0 && threadIdx.x == 0;
    volatile double *const bucket = a.bucket;
    const long long words = (a.owned + 31) / 32, all = a.indptr[a.owned];
    const double before = bucket[BUCKET_EDGES], edges = before + (double)sent;
    const double enough = (double)max(all >> GD_BUCKETS, (long long)GD_LEAST);
    double width = bucket[BUCKET_WIDTH];
    if (before >= 0.0 && edges < enough) width = max(width * GD_WIDER, GD_NARROWEST);
    else if (before >= 0.0 && edges > GD_MANY * enough) width /= GD_WIDER;
    if (reports) {
        a.bounds[0] = 0x7fffffffffffffffLL;
        a.bounds[1] = -0x7fffffffffffffffLL - 1;
    }
    barrier();
    Extent extent;
    GD_FOR(w, words) {
        const unsigned word = *(volatile unsigned *)(a.waits + w);
        unsigned rest = word;
        for (unsigned bits = word; bits; bits &= bits - 1) {
            const index_t v = (index_t)(w * 32 + __ffs(bits) - 1);
            if (a.indptr[v + 1] == a.indptr[v]) {  // it sends nothing
                rest &= ~(bits & (0u - bits));
                continue;
            }
            const double key = priority(v, a);
            extent.low = min(extent.low, gd_ordered(key));
            if (key < gd_infinity()) extent.high = max(extent.high, gd_ordered(key));
        }
        if (rest != word) a.waits[w] = rest;
    }
    if (extent.low < 0x7fffffffffffffffLL) extent.high = max(extent.high, extent.low);
    extent.close(a.bounds);
    barrier();
    const long long low = *(volatile long long *)a.bounds, high = *(volatile long long *)(a.bounds + 1);
    if (low > high) return 0;
    const double best = gd_of_ordered(low, 0.0), worst = gd_of_ordered(high, 0.0);
    double limit = __dadd_rn(best, __dmul_rn(width, __dadd_rn(worst, -best)));
    if (!(limit >= best)) limit = best;  // infinite states have no distance
    long long edges_next = 0;
    GD_FOR(w, words) {
        unsigned rest = *(volatile unsigned *)(a.waits + w);
        for (unsigned bits = rest; bits; bits &= bits - 1) {
            const index_t v = (index_t)(w * 32 + __ffs(bits) - 1);
            if (!(priority(v, a) <= limit)) continue;
            rest &= ~(bits & (0u - bits));
            a.changed[gd_reserve(&a.counters->changed)] = v;
            edges_next += a.indptr[v + 1] - a.indptr[v];
        }
        a.waits[w] = rest;
    }
    if (a.dense) gd_add_edges(edges_next, &a.progress->edges);
    if (reports) {
        bucket[BUCKET_LIMIT] = limit;
        bucket[BUCKET_WIDTH] = width;
        bucket[BUCKET_EDGES] = 0.0;
    }
    barrier();
    return (long long)*(volatile gd_count *)&a.counters->changed;
}
