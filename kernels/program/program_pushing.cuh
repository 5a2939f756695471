// Pushing messages along edges: what an edge does, for the loops of rows.cuh.
#pragma once

// Edges that are read at once.
#define PUSH_MANY 4

struct Found {
    WarpQueue<index_t, PUSH_MANY> own, ghosts;

    __device__ __forceinline__ void open() {
        own.open();
        ghosts.open();
    }
};

// Note that messages came to a vertex; whether they are the first ones.
__device__ __forceinline__ bool gd_arrives(index_t v, int count, const Program &a) {
    if (a.counts_messages) atomicAdd(a.received + v, count);
    if (gd_bit(a.marks, v) || !gd_choose_bit(a.marks, v)) return false;
    if (!a.counts_messages) a.received[v] = 1;
    return true;
}

// Where each row begins, by what the rows are called: by listed vertices, or by their own numbers.
__device__ __forceinline__ const long long *gd_rows(const Program &a) { return a.listed ? a.indptr - a.first : a.indptr; }

// Bits are only set, and messages only get better: what a cache kept of them is the present state or an earlier one, and
// costs an atomic operation, nothing else. Who finds a message of another need not mark the vertex: the other one does,
// or who came before it.
struct Pushing {
    const Program &a;
    Found *found;
    const bool uniform;  // whether all messages are equal: then the first one that comes to a vertex is as good as all
    const bool counts;
    const long long before;  // own vertices before the one that row 0 is; vertices that are listed are not numbered so

    __device__ __forceinline__ void queue(index_t v) const {
        if (v < a.owned) found->own.push(v);
        else found->ghosts.push(v);
    }
    __device__ __forceinline__ void operator()(const index_t (&rows)[PUSH_MANY],
                                               const long long (&edges)[PUSH_MANY]) const {
        index_t u[PUSH_MANY], v[PUSH_MANY];
        bool marked[PUSH_MANY], sends[PUSH_MANY], better[PUSH_MANY], first[PUSH_MANY];
        Message sent[PUSH_MANY];
#pragma unroll
        for (int k = 0; k < PUSH_MANY; k++) v[k] = edges[k] < 0 ? 0 : __ldcs(a.indices + edges[k]);  // once only
#pragma unroll
        for (int k = 0; k < PUSH_MANY; k++) u[k] = (index_t)(rows[k] + before);
#pragma unroll
        for (int k = 0; k < PUSH_MANY; k++) marked[k] = uniform && gd_bit(a.marks, v[k]);
#pragma unroll
        for (int k = 0; k < PUSH_MANY; k++)
            sends[k] = edges[k] >= 0 && !marked[k] && message(u[k], v[k], edges[k], a, sent[k]);
#pragma unroll
        for (int k = 0; k < PUSH_MANY; k++) {
            first[k] = true;
            better[k] = sends[k] && !uniform && improves(v[k], sent[k], a, first[k]);
        }
#pragma unroll
        for (int k = 0; k < PUSH_MANY; k++) {
            if (!sends[k]) continue;
            if (better[k]) push(v[k], sent[k], a);
            if (!first[k] && !counts) continue;
            if (!gd_arrives(v[k], 1, a)) continue;
            if (uniform) put(v[k], sent[k], a);
            queue(v[k]);
        }
    }
    __device__ __forceinline__ void flush(bool all) const {
        found->own.flush(a.marked, &a.counters->marked, all);
        if (a.slots_of_all > a.owned) found->ghosts.flush(a.ghosts, &a.counters->ghosts, all);
    }
};
template <> struct gd_at_once<Pushing> { static constexpr int edges = PUSH_MANY, longest = GD_HUB; };

__device__ __forceinline__ Pushing gd_pushing(const Program &a, Found *found) {
    found->open();
    const bool uniform = a.extent && a.extent[0] == a.extent[1];
    return Pushing{a, found, uniform, a.counts_messages != 0, a.listed ? 0 : a.first};
}
