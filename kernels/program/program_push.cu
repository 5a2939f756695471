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

// Note that messages came to a vertex; whether they are the first ones.
__device__ __forceinline__ bool gd_arrives(index_t v, int count, const Program &a) {
    if (a.counts_messages) atomicAdd(a.received + v, count);
    if (gd_bit((volatile const unsigned *)a.marks, v) || !gd_choose_bit(a.marks, v)) return false;
    if (!a.counts_messages) a.received[v] = 1;
    return true;
}

// Where each row begins, by what the rows are called: by listed vertices, or by their own numbers.
__device__ __forceinline__ const long long *gd_rows(const Program &a) { return a.listed ? a.indptr - a.first : a.indptr; }

// Whether all messages are equal: then the first one that comes to a vertex is as good as all.
__device__ __forceinline__ bool gd_uniform(const Program &a) { return a.extent && a.extent[0] == a.extent[1]; }

struct Pushing {
    const Program &a;
    SplitQueue<index_t> *found;
    const bool uniform;
    const long long before;  // own vertices before the one that row 0 is: vertices that are listed are not numbered so

    __device__ __forceinline__ void operator()(index_t row, long long e) const {
        const index_t u = (index_t)(row + before);
        const index_t v = __ldcs(a.indices + e);  // once only: the caches are for bits and messages
        if (uniform && gd_bit((volatile const unsigned *)a.marks, v)) return;
        Message sent;
        if (!message(u, v, e, a, sent)) return;
        if (!uniform) push(v, sent, a);
        if (!gd_arrives(v, 1, a)) return;
        if (uniform) put(v, sent, a);
        found->push(v, a.owned);
    }
    __device__ __forceinline__ void flush(bool all) const {
        found->own.flush(a.marked, &a.counters->marked, all);
        if (a.slots_of_all > a.owned) found->ghosts.flush(a.ghosts, &a.counters->ghosts, all);
    }
};

extern "C" __global__ void program_push(long long n, Program a) {
    __shared__ SplitQueue<index_t> found;
    found.open();
    gd_for_edges<index_t>(gd_length(n, a), a.listed, gd_rows(a), a.hubs, &a.counters->hubs, &a.counters->sent,
                          Pushing{a, &found, gd_uniform(a), a.listed ? 0 : a.first});
}

extern "C" __global__ void program_push_hubs(long long n, Program a) {
    __shared__ SplitQueue<index_t> found;
    found.open();
    gd_for_hubs<index_t>(a.hubs, &a.counters->hubs, gd_rows(a),
                         Pushing{a, &found, gd_uniform(a), a.listed ? 0 : a.first});
}

extern "C" __global__ void program_take(long long n, Program a) {
    GD_FOR(i, n) {
        take(i, a.slots[i], a);
        const index_t v = a.slots[i];
        if (gd_arrives(v, a.counted[i], a)) a.marked[gd_reserve(&a.counters->marked)] = v;
    }
}
