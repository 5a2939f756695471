// Supersteps of a vertex program by the GPUs of a host together: one launch on each goes through all of them (team.cuh).
// In a superstep the vertices of a rank that got messages change, those that changed push messages to neighbours, and what
// came to ghosts is written into the memory of their owners, combined; then the ranks meet. Messages of one superstep and
// of the next lie in areas of their own, for who is ahead may send while another still takes in. A rank's row has the
// words of its Program at ROW_OWN, then the votes, and by rank where the words of aggregates go: for each sender those of
// two meetings in turn. After a meeting each rank computes the same values from the words of all.
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
#include "common/team.cuh"

enum { VOTES = ROW_OWN + sizeof(Program) / 8, SUMS };
// What ranks vote in a superstep, in one of three rows in turn: vertices that changed, messages, and failures.
enum { CHANGED, SENT, FAILED };
enum { END_SUPERSTEP = END_OWN };
#define HOST_LOOKS 3  // END_DONE of a launch after which the host asks whether the run ends

// What the owner of a ghost receives.
struct OwnerMessage {
    message0_t value;
#if GD_COUNTS
    int count;
#endif
};

__device__ __forceinline__ OwnerMessage gd_message(index_t v, const Program &a) {
    OwnerMessage message;
    message.value = a.message0[v];
#if GD_COUNTS
    message.count = a.received[v];
#endif
    return message;
}

// Combine what another rank sent with what came here.
__device__ __forceinline__ void gd_combine(index_t v, const OwnerMessage &message, const Program &a) {
    Message sent = nothing();
    sent.v0 = message.value;
    push(v, sent, a);
#if GD_COUNTS
    const bool first = gd_arrives(v, message.count, a);
#else
    const bool first = gd_arrives(v, 1, a);
#endif
    if (first) a.marked[gd_reserve(&a.counters->marked)] = v;
}

// Empty the places of ghosts, of which the owners know.
__device__ __forceinline__ void gd_forget_ghosts(long long count, const Program &a) {
    const Message none = nothing();
    GD_FOR(i, count) {
        const index_t v = a.ghosts[i];
        put(v, none, a);
        a.received[v] = 0;
        atomicAnd(a.marks + (v >> 5), ~(1u << (v & 31)));
    }
}

// Supersteps until number `most`. The first launch begins at -1, with the vertices that send first: `changed` of them.
extern "C" __global__ void __launch_bounds__(256)
program_team(long long n, const long long *rows, long long row_words, long long superstep, long long steps,
             long long most) {
    __shared__ Found found;
    __shared__ gd_count agreed[TEAM_VOTES];
    const long long *const row = rows + blockIdx.y * row_words;
    Team team(row);
    Program a = *(const Program *)(row + ROW_OWN);
    gd_count *const votes = (gd_count *)row[VOTES];
    const bool leads = team.leads();
    const auto barrier = [&] { team.barrier(); };
    constexpr long long words = GD_AGGREGATES * GD_BINS;
    bool fine = true, done = false, looks = false;
    gd_count edges = 0;
    long long number = 0;
    for (; number < steps && !done && !looks; number++, superstep++) {
        const gd_count began = gd_nanoseconds();
        const long long turn = (long long)(team.meeting + 1 & 1) * team.size;
        gd_count *const here = votes + (superstep + 1) % 3 * TEAM_WORDS;
        if (superstep >= 0) {
            if (leads) gd_begin_step(a);
            if (blockIdx.x == 0) gd_clear_sums(a);
            barrier();
            a.failure = a.failure_to_apply;
            a.superstep = superstep;
            long long *const sums = gd_open_sums();
            gd_renew_marked(a, false, sums);
            gd_close_sums(sums, a.sums);
            barrier();
#if GD_AGGREGATES
            GD_FOR(i, team.size * words) {
                long long *const there = (long long *)row[SUMS + i / words] + (turn + team.rank) * words;
                *(volatile long long *)(there + i % words) = *(volatile long long *)(a.sums + i % words);
            }
#endif
            a.listed = a.changed;
        }
        const long long count = (long long)team.read(&a.counters->changed);
        if (leads) *(volatile gd_count *)&a.counters->marked = 0;
        if (blockIdx.x == 0 && threadIdx.x < TEAM_WORDS)
            *(volatile gd_count *)(votes + (superstep + 2) % 3 * TEAM_WORDS + threadIdx.x) = 0;
        a.failure = a.failure_to_send;
        a.superstep = superstep + 1;
        gd_send(count, a, &found, barrier);
        const long long ghosts = (long long)team.read(&a.counters->ghosts);
        const int area = (int)((superstep + 1) % 2);
        team.notify_owners<index_t, OwnerMessage>(area, ghosts, a.ghosts, here, SENT, [&](index_t v) { return gd_message(v, a); });
        if (leads) {
            *(volatile gd_count *)(here + CHANGED) = (gd_count)count;
            *(volatile gd_count *)(here + FAILED) = gd_fails(a);
        }
        fine = team.meet(here, agreed);
        if (!fine) break;
        const gd_count arrived = gd_nanoseconds();
        gd_forget_ghosts(ghosts, a);
        if (agreed[SENT])
            team.take_reported<index_t, OwnerMessage>(area, agreed, [&](index_t v, const OwnerMessage &message) { gd_combine(v, message, a); },
                                              [](bool) {});
        if (blockIdx.x == 0 && superstep >= 0) {
            const bool checks = gd_know((const long long *)row[SUMS + team.rank] + turn * words, team.size, a);
            if (leads)
                *(volatile gd_count *)&a.progress->stops =
                    host_looks((long long)agreed[CHANGED], superstep + 1, a) || checks;
        }
        barrier();
        looks = superstep >= 0 && *(volatile gd_count *)&a.progress->stops;
        done = agreed[FAILED] || !agreed[CHANGED] || superstep + 1 >= most;
        if (leads) {
            *(volatile gd_count *)&a.counters->ghosts = 0;
            team.exchanged += gd_nanoseconds() - arrived;
            const gd_count sent = team.read(here + SENT), now = team.read(&a.counters->sent);
            team.log(number, began, 0, (gd_count)count, now - edges, sent, (sizeof(index_t) + sizeof(OwnerMessage)) * sent);
            edges = now;
        }
        __syncthreads();  // everyone has read what was agreed
    }
    if (leads) {
        volatile gd_count *const ends = team.ends();
        ends[END_STEPS] = (gd_count)number;
        ends[END_DONE] = !fine ? 2 : done ? 1 : looks ? HOST_LOOKS : 0;
        ends[END_SUPERSTEP] = (gd_count)superstep;
        *(volatile gd_count *)&a.counters->sent = 0;
    }
    team.close();
}
