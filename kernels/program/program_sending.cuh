// Steps of supersteps that follow each other in one launch: vertices that got messages change, and those that changed send.
// All blocks run at the same time and meet between them.
#pragma once

// Compute the states of the vertices that got a message, list those that changed and are near, and empty the places of
// messages; return
// the edges of the changed ones that this thread has, where `counts_edges`. Aggregates are added to `sums`.
__device__ __forceinline__ long long gd_renew_marked(const Program &a, bool counts_edges, long long *sums = nullptr) {
    const Message none = nothing();
    const long long marked = (long long)*(volatile gd_count *)&a.counters->marked;
    long long edges = 0;
    GD_FOR(i, marked) {
        const index_t v = a.marked[i];
        if (apply(v, a, sums) && (!a.waits || gd_near(v, a))) {
            a.changed[gd_reserve(&a.counters->changed)] = v;
            if (counts_edges) edges += a.indptr[v + 1] - a.indptr[v];
        }
        put(v, none, a);
        a.received[v] = 0;
        atomicAnd(a.marks + (v >> 5), ~(1u << (v & 31)));
    }
    if (a.sends) GD_FOR(w, (a.slots_of_all + 31) / 32) a.sends[w] = 0;
    return edges;
}

// What a superstep leaves in the counters, as the next one wants it; one thread does this.
__device__ __forceinline__ void gd_begin_step(const Program &a) {
    *(volatile gd_count *)&a.counters->changed = 0;
    *(volatile gd_count *)&a.counters->hubs = 0;
    if (!a.extent) return;
    a.extent[0] = 0x7fffffffffffffffLL;
    a.extent[1] = -0x7fffffffffffffffLL - 1;
}

// Send from `count` vertices: those that are listed, or all. Afterwards all blocks have done so.
template <class Barrier>
__device__ __forceinline__ void gd_send(long long count, const Program &a, Found *found, const Barrier &barrier) {
    if (a.row_ends) gd_values(count, a);
    barrier();  // values are there, and the list of marked vertices is empty
    const Pushing pushing = gd_pushing(a, found);
    gd_for_edges<index_t>(count, a.listed, gd_rows(a), a.hubs, &a.counters->hubs, &a.counters->sent, pushing);
    barrier();
    if (!*(volatile gd_count *)&a.counters->hubs) return;
    gd_for_hubs<index_t>(a.hubs, &a.counters->hubs, gd_rows(a), pushing);
    barrier();
}
