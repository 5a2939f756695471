// Single-source shortest paths by the GPUs of a host together: one launch on each goes through all supersteps (team.cuh).
// In a superstep a rank relaxes what it can by itself, writes the labels of the ghosts that it has lowered into the
// memory of their owners, and meets the others; the bucket moves on where nobody had anything to relax. Labels of one
// superstep and of the next lie in areas of their own, for who is ahead may tell while another still takes in.
#include "sssp/sssp_pack.py"
#include "sssp/sssp.cuh"
#include "common/team.cuh"
#include "sssp/sssp_team_pack.py"

// What ranks vote in a superstep, in one of three rows in turn; a fourth is for the beginning of a launch.
enum { BUSY, TEAM_SENT, LOOKED };
enum {
    INDPTR = ROW_OWN, INDICES, WEIGHTS, IDS, LABELS, STAMP, BOUNDS, LIMIT, NEARS, FARS = NEARS + 2, GHOST_QUEUE = FARS + 2,
    LONG_ROWS, COUNTERS, LEASTS, VOTES
};
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
    PathCounts *const counters = (PathCounts *)row[COUNTERS];
    gd_count *const votes = (gd_count *)row[VOTES];
    double *const least = (double *)row[LEASTS];
    label_t *const labels = (label_t *)row[LABELS];
    dist_t *const limit = (dist_t *)row[LIMIT];
    Bucket<Bounds> bucket{(const long long *)row[INDPTR], (const index_t *)row[INDICES], (const weight_t *)row[WEIGHTS], a.each,
                  (const index_t *)row[IDS], labels, (int *)row[STAMP],
                  Bounds{(unsigned char *)row[BOUNDS], (int)a.lowest}, row[ROW_OWNED],
                  (index_t *)row[NEARS], (index_t *)row[NEARS + 1], (index_t *)row[FARS], (index_t *)row[FARS + 1],
                  (index_t *)row[GHOST_QUEUE], (index_t *)row[LONG_ROWS], counters, least, &queues,
                  (long long)team.read(&counters->step), (long long)team.read(&counters->split), *limit};
    const bool leads = team.leads();
    gd_count acted = 0, edges = 0;
    // What this rank votes, once its counters stand: whether it has anything to relax or to tell, and its nearest far one.
    const auto vote = [&](gd_count *into, bool tells) {
        if (!leads) return;
        *(volatile gd_count *)(into + BUSY) = tells || team.read(counters->near + bucket.step % 3);
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
        team.tell_owners<index_t, label_t>(area, ghosts, (const index_t *)row[GHOST_QUEUE], here, TEAM_SENT,
                                           [&](index_t v) { return *(volatile label_t *)(labels + v); });
        vote(here, ghosts > 0);
        fine = team.meet(here, agreed);
        if (!fine) break;
        const gd_count reported = gd_nanoseconds();
        if (agreed[TEAM_SENT]) {
            double mine = Distance<double>::none();
            const Relax<Bounds> relax = bucket.relax(0, superstep, &mine);
            team.take_reported<index_t, label_t>(area, agreed, [&](index_t v, label_t label) { relax.reach(v, label); },
                                             [&](bool all) { relax.flush(all); });
            gd_least(mine, least + bucket.split % 3);
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
        *limit = bucket.bound;
    }
    team.close();
}
