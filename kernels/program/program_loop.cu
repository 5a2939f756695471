// Supersteps of a vertex program one after the other in one launch, where one rank has the whole graph and messages are
// pushed: no superstep waits for the host. All blocks run at the same time and meet between the steps. Lists, messages and
// bits are those of program.cu and program_push.cu, which do the same with a launch for each step.
#include "common/bitmap.cuh"
#include "common/grid.cuh"
#include "common/rows.cuh"
#include "functions/user.cuh"
#include "program/exact.cuh"
#include "program/program_types.cuh"
#include "program/program_pack.py"
#include "program/program_default.cuh"
#include "program/program_pushing.cuh"
#include "program/program_values.cuh"

// Places in `progress`: what blocks meet at, whether the loop ends, its supersteps, and the vertices that sent.
enum { ARRIVED, STOPS, STEPS, VISITED };

// Send from `count` vertices: those that are listed, or all. Afterwards all blocks have done so.
__device__ __forceinline__ void gd_send(long long count, const Program &a, Found *found, gd_count *progress) {
    if (a.row_ends) gd_values(count, a);
    gd_grid_barrier(progress + ARRIVED);  // values are there, and the list of marked vertices is empty
    const Pushing pushing = gd_pushing(a, found);
    gd_for_edges<index_t>(count, a.listed, gd_rows(a), a.hubs, &a.counters->hubs, &a.counters->sent, pushing);
    gd_grid_barrier(progress + ARRIVED);
    if (!*(volatile gd_count *)&a.counters->hubs) return;
    gd_for_hubs<index_t>(a.hubs, &a.counters->hubs, gd_rows(a), pushing);
    gd_grid_barrier(progress + ARRIVED);
}

// At most `steps` supersteps. It begins with `first` vertices that send; if that is negative, with messages that came.
extern "C" __global__ void __launch_bounds__(256)
program_loop(long long n, long long first, long long steps, int *failure_to_send, int *failure_to_apply,
             gd_count *progress, Program given) {
    __shared__ Found found;
    Program a = given;
    const bool reports = blockIdx.x == 0 && threadIdx.x == 0;
    const long long begun = a.superstep;
    const Message none = nothing();
    long long count = first, done = 0;
    a.failure = failure_to_send;
    if (first >= 0) gd_send(first, a, &found, progress);
    a.listed = a.changed;
    for (;;) {
        if (reports) {
            const bool failed = *(volatile int *)failure_to_send || *(volatile int *)failure_to_apply;
            *(volatile gd_count *)(progress + STOPS) = failed || done == steps;
            progress[STEPS] = (gd_count)done;
            if (count > 0) progress[VISITED] += (gd_count)count;
            *(volatile gd_count *)&a.counters->changed = 0;
            *(volatile gd_count *)&a.counters->hubs = 0;
            if (a.extent) {
                a.extent[0] = 0x7fffffffffffffffLL;
                a.extent[1] = -0x7fffffffffffffffLL - 1;
            }
        }
        gd_grid_barrier(progress + ARRIVED);
        if (*(volatile gd_count *)(progress + STOPS)) break;
        a.failure = failure_to_apply;
        a.superstep = begun + done;
        const long long marked = (long long)*(volatile gd_count *)&a.counters->marked;
        GD_FOR(i, marked) {
            const index_t v = a.marked[i];
            if (apply(v, a, nullptr)) a.changed[gd_reserve(&a.counters->changed)] = v;
            put(v, none, a);
            a.received[v] = 0;
            atomicAnd(a.marks + (v >> 5), ~(1u << (v & 31)));
        }
        if (a.sends) GD_FOR(w, (a.slots_of_all + 31) / 32) a.sends[w] = 0;
        gd_grid_barrier(progress + ARRIVED);
        count = (long long)*(volatile gd_count *)&a.counters->changed;
        done++;
        if (reports) *(volatile gd_count *)&a.counters->marked = 0;
        if (count == 0) break;
        a.failure = failure_to_send;
        a.superstep = begun + done;
        gd_send(count, a, &found, progress);
    }
    if (!reports) return;
    progress[STEPS] = (gd_count)done;
    a.counters->changed = (gd_count)max(count, 0LL);
}
