// Single-source shortest paths by the GPUs of a host together: one launch on each goes through all supersteps (team.cuh).
// In a superstep a rank relaxes what it can by itself, writes the labels of the ghosts that it has lowered into the
// memory of their owners, and meets the others; the bucket moves on where nobody had anything to relax. Labels of one
// superstep and of the next lie in areas of their own, for who is ahead may send while another still takes in.
#include "sssp/sssp_pack.py"
#include "sssp/bucket.cuh"
#include "common/team.cuh"

// What ranks vote in a superstep, in one of three rows in turn; a fourth is for the beginning of a launch.
enum { BUSY, TEAM_SENT, LOOKED };
enum { END_SUPERSTEP = END_OWN, END_TOO_FAR, END_LOOKED, END_WIDENED = END_LOOKED + 2 };
// Edges looked at in a bucket, by all, below which its supersteps, and the look at all far vertices before it, cost more
// than they: the next one is so many times as wide, and half as wide after one of WIDE_HEAVY times as many edges.
#define WIDE_LIGHT (1 << 25)
#define WIDER 8
#define WIDE_HEAVY 8
#define NARROWEST 0.5

extern "C" __global__ void __launch_bounds__(256, RELAX_BLOCKS)
sssp_team(long long n, const long long *rows, long long row_words, long long superstep, long long most, TeamBuckets a) {
    __shared__ Queues queues;
    __shared__ gd_count agreed[TEAM_VOTES];
    queues.open();
    const long long *const row = rows + blockIdx.y * row_words;
    Team team(row);
    const TeamRelaxing &mine = *(const TeamRelaxing *)(row + ROW_OWN);
    BucketCounts *const counters = mine.counters;
    gd_count *const votes = mine.votes;
    double *const least = mine.least;
    Bucket<Bounds> bucket{*(const Relaxing *)&mine, Bounds(mine.bounds, a.delta), &queues,
                          (long long)team.read(&counters->step), (long long)team.read(&counters->split), *mine.limit};
    const bool leads = team.leads();
    gd_count acted = 0, edges = 0;
    // What this rank votes, once its counters stand: whether it has anything to relax or to send, and its nearest far one.
    const auto vote = [&](gd_count *into, bool sends) {
        if (!leads) return;
        *(volatile gd_count *)(into + BUSY) = sends || team.read(counters->near + bucket.step % 3);
        *(volatile gd_count *)(into + LOOKED) = team.read(&counters->edges) - edges;
        *(volatile double *)(into + TEAM_LEAST) = *(volatile double *)(least + bucket.split % 3);
    };
    if (leads) {
        acted = counters->acted;
        edges = counters->edges;
    }
    vote(votes + 3 * TEAM_WORDS, false);
    bool fine = team.meet(votes + 3 * TEAM_WORDS, agreed), done = false, too_far = false;
    long long steps = 0, looked_before = a.looked_before, looked_here = a.looked_here;
    double widened = a.widened;
    for (; fine; steps++, superstep++) {
        const bool splits = agreed[BUSY] == 0;
        const double nearest = __longlong_as_double((long long)agreed[TEAM_LEAST]);
        done = splits && !(nearest < a.farthest);
        too_far = done && nearest < Distance<double>::none();
        if (done || steps == most) break;
        looked_here += (long long)agreed[LOOKED];
        if (splits && a.widens) {  // as wide as the last bucket was worth
            if (looked_here && looked_here < WIDE_LIGHT && looked_here <= looked_before) widened *= WIDER;
            else if (looked_here > WIDE_HEAVY * (long long)WIDE_LIGHT) widened = max(widened / 2, NARROWEST);
            looked_before = looked_here;
            looked_here = 0;
        }
        const gd_count began = gd_nanoseconds();
        gd_count *const here = votes + superstep % 3 * TEAM_WORDS;
        if (blockIdx.x == 0 && threadIdx.x < TEAM_WORDS)
            *(volatile gd_count *)(votes + (superstep + 1) % 3 * TEAM_WORDS + threadIdx.x) = 0;
        bucket.advance(bucket.split + splits, a.enough, nearest, a.delta * widened, a.farthest, superstep, [&] { team.barrier(); });
        const long long ghosts = (long long)team.read(counters->ghosts + superstep % 2);
        const int area = (int)(superstep % 2);
        team.notify_owners<index_t, label_t>(area, ghosts, (const index_t *)bucket.a.ghost_queue, here, TEAM_SENT,
                                           [&](index_t v) { return *(volatile label_t *)(bucket.a.labels + v); });
        vote(here, ghosts > 0);
        fine = team.meet(here, agreed);
        if (!fine) break;
        const gd_count reported = gd_nanoseconds();
        if (agreed[TEAM_SENT]) {
            double nearest_far = Distance<double>::none();
            const Relax<Bounds> relax = bucket.relax(0, superstep, &nearest_far);
            team.take_reported<index_t, label_t>(area, agreed, [&](index_t v, label_t label) { relax.reach(v, label); },
                                             [&](bool all) { relax.flush(all); });
            gd_least(nearest_far, least + bucket.split % 3);
            team.barrier();
        }
        if (leads) {
            team.exchanged += gd_nanoseconds() - reported;
            const gd_count sent = team.read(here + TEAM_SENT), now = team.read(&counters->acted);
            const gd_count looked = team.read(&counters->edges);
            team.log(steps, began, 0, now - acted, looked - edges, sent, (sizeof(index_t) + sizeof(label_t)) * sent);
            acted = now;
            edges = looked;
        }
        __syncthreads();  // everyone has read what was agreed
    }
    if (leads) {
        volatile gd_count *const ends = team.ends();
        ends[END_STEPS] = (gd_count)steps;
        ends[END_DONE] = fine ? done : 2;
        ends[END_SUPERSTEP] = (gd_count)superstep;
        ends[END_TOO_FAR] = too_far;
        ends[END_LOOKED] = (gd_count)looked_before;
        ends[END_LOOKED + 1] = (gd_count)looked_here;
        ((volatile double *)ends)[END_WIDENED] = widened;
        counters->step = bucket.step;
        counters->split = bucket.split;
        *mine.limit = bucket.bound;
    }
    team.close();
}
