// Messages of a vertex program along the edges of the vertices that send: they are combined where they arrive, by atomic
// operations, and vertices that got one are listed. Only ways to combine that do not depend on the order come here.
// Twins: program_push.py.
#include "common/bitmap.cuh"
#include "common/rows.cuh"
#include "functions/user.cuh"
#include "program/exact.cuh"
#include "program/program_types.cuh"
#include "program/program_pack.py"
#include "program/program_default.cuh"

__device__ __forceinline__ void gd_arrives(index_t v, int count, const Program &a) {
    if (a.counts_messages) atomicAdd(a.received + v, count);
    if (gd_bit((volatile const unsigned *)a.marks, v) || !gd_choose_bit(a.marks, v)) return;
    if (!a.counts_messages) a.received[v] = 1;
    if (v < a.owned) a.marked[gd_reserve(&a.counters->marked)] = v;
    else a.ghosts[gd_reserve(&a.counters->ghosts)] = v;
}

struct Pushing {
    const Program &a;
    __device__ __forceinline__ void operator()(index_t u, long long e) const {
        const index_t v = a.indices[e];
        Message sent;
        if (!message(u, v, e, a, sent)) return;
        push(v, sent, a);
        gd_arrives(v, 1, a);
    }
    __device__ __forceinline__ void flush(bool) const {}
};

extern "C" __global__ void program_push(long long n, Program a) {
    gd_for_edges<index_t>(n, a.listed, a.indptr, a.hubs, &a.counters->hubs, &a.counters->sent, Pushing{a});
}

extern "C" __global__ void program_push_hubs(long long n, Program a) {
    gd_for_hubs<index_t>(a.hubs, &a.counters->hubs, a.indptr, Pushing{a});
}

extern "C" __global__ void program_take(long long n, Program a) {
    GD_FOR(i, n) {
        take(i, a.slots[i], a);
        gd_arrives(a.slots[i], a.counted[i], a);
    }
}
