// Supersteps of a vertex program one after the other in one launch, where one rank has the whole graph and messages are
// pushed: no superstep waits for the host. All blocks run at the same time and meet between the steps. Lists, messages and
// bits are those of program.cu and program_push.cu, which do the same with a launch for each step. The first block computes
// the values of aggregates, and asks `until`, while the others send: no function that sends reads them.
#include "common/bitmap.cuh"
#include "common/grid.cuh"
#include "common/rows.cuh"
#include "functions/user.cuh"
#include "program/exact.cuh"
#include "program/program_types.cuh"
#include "program/program_pack.py"
#include "program/program_default.cuh"
#include "program/program_aggregates.cuh"
#include "program/program_known.cuh"
#include "program/program_pushing.cuh"
#include "program/program_values.cuh"
#include "program/program_edges.cuh"
#include "program/program_buckets.cuh"
#include "program/program_sending.cuh"

// At most `steps` supersteps; it ends before vertices send that have `dense` edges. It begins with `first` vertices that
// send; if that is negative, with messages that came. It also ends after a superstep in which the host has to ask whether
// the run ends; the words of aggregates are those of the last superstep.
extern "C" __global__ void __launch_bounds__(256)
program_loop(long long n, long long first, long long steps, Program given) {
    __shared__ Found found;
    Program a = given;
    ProgramProgress *const progress = a.progress;
    const bool reports = blockIdx.x == 0 && threadIdx.x == 0;
    const long long begun = a.superstep;
    long long count = first, done = 0;
    bool sends = first >= 0;
#if GD_AGGREGATES || GD_UNTIL
    bool looks = false;
#endif
    gd_count pushes = 0;
    a.failure = a.failure_to_send;
    const auto barrier = [&] { gd_grid_barrier(&progress->arrived); };
    gd_count counted = 0;  // edges of this launch that are those of an earlier bucket
    if (a.waits && count == 0) count = gd_next_bucket(0, a, barrier);
    for (;;) {
        if (sends) gd_send(count, a, &found, barrier);  // the only call: the compiler puts all of it here
        pushes += sends;
        sends = true;
        a.listed = a.changed;
        if (reports) {
#if GD_AGGREGATES || GD_UNTIL
            *(volatile gd_count *)&progress->stops = gd_fails(a) || looks || done == steps;
#else
            const bool failed = *(volatile int *)a.failure_to_send || *(volatile int *)a.failure_to_apply;
            *(volatile gd_count *)&progress->stops = failed || done == steps;
#endif
            progress->steps = (gd_count)done;
            if (count > 0) progress->visited += (gd_count)count;
            *(volatile gd_count *)&progress->edges = 0;
            gd_begin_step(a);
        }
#if GD_AGGREGATES
        if (blockIdx.x == 0) {
            __syncthreads();
            if (!*(volatile gd_count *)&progress->stops) gd_clear_sums(a);  // else the host reads them
        }
#endif
        barrier();
        if (*(volatile gd_count *)&progress->stops) break;
        a.failure = a.failure_to_apply;
        a.superstep = begun + done;
        long long *const sums = gd_open_sums();
        const long long edges = gd_renew_marked(a, a.dense != 0, sums);
        gd_close_sums(sums, a.sums);
        if (a.dense) gd_add_edges(edges, &progress->edges);
        barrier();
        count = (long long)*(volatile gd_count *)&a.counters->changed;
        done++;
        if (reports) *(volatile gd_count *)&a.counters->marked = 0;
        if (a.waits && count == 0) {
            const gd_count sent = *(volatile gd_count *)&a.counters->sent;
            count = gd_next_bucket(sent - counted, a, barrier);
            counted = sent;
        }
        if (count == 0 || (a.dense && (long long)*(volatile gd_count *)&progress->edges >= a.dense)) break;
#if GD_AGGREGATES || GD_UNTIL
        if (blockIdx.x == 0) {
            looks = gd_know(a.sums, 1, a);
            if (reports && host_looks(count, begun + done, a)) looks = true;
        }
#endif
        a.failure = a.failure_to_send;
        a.superstep = begun + done;
    }
    if (!reports) return;
    if (a.waits) a.bucket[BUCKET_EDGES] += (double)(*(volatile gd_count *)&a.counters->sent - counted);
    progress->steps = (gd_count)done;
    progress->pushes = pushes;
    a.counters->changed = (gd_count)max(count, 0LL);
}
