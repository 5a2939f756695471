// Messages of a vertex program along the edges of the vertices that send: they are combined where they arrive, by atomic
// operations, and vertices that got one are listed. Only ways to combine that do not depend on the order come here.
// Twins: program_push.py.
#include "common/bitmap.cuh"
#include "common/rows.cuh"
#include "functions/user.cuh"
#include "program/exact.cuh"
#include "program/program_types.cuh"
#include "program/program_pack.py"
#include "program/program_length.cuh"
#include "program/program_default.cuh"

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

// Bits are only set, and messages only get better: what a cache kept of them is the present state or an earlier one, and
// costs an atomic operation, nothing else.
struct Pushing {
    const Program &a;
    Found *found;
    const bool uniform;  // whether all messages are equal: then the first one that comes to a vertex is as good as all
    const bool counts;

    __device__ __forceinline__ void queue(index_t v) const {
        if (v < a.owned) found->own.push(v);
        else found->ghosts.push(v);
    }
    __device__ __forceinline__ void operator()(const index_t (&rows)[PUSH_MANY],
                                               const long long (&edges)[PUSH_MANY]) const {
        index_t v[PUSH_MANY];
        bool marked[PUSH_MANY], sends[PUSH_MANY], better[PUSH_MANY];
        Message sent[PUSH_MANY];
#pragma unroll
        for (int k = 0; k < PUSH_MANY; k++) v[k] = __ldcs(a.indices + max(edges[k], 0LL));  // once only
#pragma unroll
        for (int k = 0; k < PUSH_MANY; k++) marked[k] = gd_bit(a.marks, v[k]);
#pragma unroll
        for (int k = 0; k < PUSH_MANY; k++)
            sends[k] = edges[k] >= 0 && !(uniform && marked[k]) && message(rows[k], v[k], edges[k], a, sent[k]);
#pragma unroll
        for (int k = 0; k < PUSH_MANY; k++) better[k] = sends[k] && !uniform && improves(v[k], sent[k], a);
#pragma unroll
        for (int k = 0; k < PUSH_MANY; k++) {
            if (!sends[k]) continue;
            if (better[k]) push(v[k], sent[k], a);
            if (marked[k] && !counts) continue;
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
    return Pushing{a, found, a.extent && a.extent[0] == a.extent[1], a.counts_messages != 0};
}

extern "C" __global__ void program_push(long long n, Program a) {
    __shared__ Found found;
    const Pushing pushing = gd_pushing(a, &found);
    gd_for_edges<index_t>(gd_length(n, a), a.listed, a.indptr, a.hubs, &a.counters->hubs, &a.counters->sent, pushing);
}

extern "C" __global__ void program_push_hubs(long long n, Program a) {
    __shared__ Found found;
    const Pushing pushing = gd_pushing(a, &found);
    gd_for_hubs<index_t>(a.hubs, &a.counters->hubs, a.indptr, pushing);
}

extern "C" __global__ void program_take(long long n, Program a) {
    GD_FOR(i, n) {
        take(i, a.slots[i], a);
        const index_t v = a.slots[i];
        if (gd_arrives(v, a.counted[i], a)) a.marked[gd_reserve(&a.counters->marked)] = v;
    }
}
