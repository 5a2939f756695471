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
#include "program/program_pushing.cuh"

extern "C" __global__ void program_push(long long n, Program a) {
    __shared__ Found found;
    const Pushing pushing = gd_pushing(a, &found);
    gd_for_edges<index_t>(gd_length(n, a), a.listed, gd_rows(a), a.hubs, &a.counters->hubs, &a.counters->sent, pushing);
}

extern "C" __global__ void program_push_hubs(long long n, Program a) {
    __shared__ Found found;
    const Pushing pushing = gd_pushing(a, &found);
    gd_for_hubs<index_t>(a.hubs, &a.counters->hubs, gd_rows(a), pushing);
}

extern "C" __global__ void program_take(long long n, Program a) {
    GD_FOR(i, n) {
        const index_t v = a.slots[i];
        if (v >= a.owned) continue;  // of a broadcast
        take(i, v, a);
        if (gd_arrives(v, a.counted[i], a)) a.marked[gd_reserve(&a.counters->marked)] = v;
    }
}
