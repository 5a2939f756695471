// A search by levels by the GPUs of a host together: one launch on each goes through all levels, and nothing waits for
// the host. Ranks write what they send each other straight into the receiver's memory, and meet (team.cuh) where a
// level needs what others found. Which way the next level goes follows from the same sums on every rank, by the rule of
// graphdask.engine.direction.
//
// A push visits the edges of the frontier, and sends each owner the ghosts that were reached as lists. A pull visits
// those that are not reached, and sends who holds ghosts the bits of what is settled. A push of very many edges claims:
// it sets a bit for what an edge leads to, and sends owners the bits of ghosts; who was claimed then searches its own
// row, as in a pull, and finds what it looks for among the first few edges.
//
// Three rows of counters are used in turn: that of the level before, which is read; that of this level, which is
// filled; and a third that is cleared, as nobody has read it since the last meeting. The first words of a row are what
// a rank votes. What a rank receives in a push and in a pull lies apart, for who is ahead may push while another still
// takes in bits. A rank is a pack of the search's fields and those of `LevelTeam` (levels_pack.py).
#pragma once
#include "common/levels.cuh"
#include "common/team.cuh"

// Where a launch stopped, for the next one; the areas for what a rank receives; a place in `LevelCounts`, of what
// notify_owners counts.
enum { END_WAYS = END_OWN, END_UNEXPLORED, END_FOUND };
enum { LISTS, BITS };
enum { SENT = 3 };

// Edges that a claim scans at once, and the edges of a row that it defers.
#define CLAIM_MANY 8
#define CLAIM_LONG 1024

// Sets the bits of what edges lead to. One that was set meanwhile is set again: what a block has of them in its cache
// may be old. Bits stay in the cache, where to lower the parent of each would be a read of memory.
struct Claim {
    const index_t *indices;
    unsigned int *claimed;

    __device__ __forceinline__ void operator()(const index_t (&)[CLAIM_MANY],
                                               const long long (&edges)[CLAIM_MANY]) const {
        index_t v[CLAIM_MANY];
        unsigned int words[CLAIM_MANY];
#pragma unroll
        for (int k = 0; k < CLAIM_MANY; k++) v[k] = __ldcs(indices + max(edges[k], 0LL));
#pragma unroll
        for (int k = 0; k < CLAIM_MANY; k++) words[k] = claimed[v[k] >> 5];
#pragma unroll
        for (int k = 0; k < CLAIM_MANY; k++)
            if (edges[k] >= 0 && !(words[k] >> (v[k] & 31) & 1u)) gd_set_bit(claimed, v[k]);
    }
    __device__ __forceinline__ void flush(bool) const {}
};
template <> struct gd_at_once<Claim> { static constexpr int edges = CLAIM_MANY, longest = CLAIM_LONG; };

// What a search has of its levels: `Rank` describes it, `Level` is what a level works on.
template <class Rank, class Level> struct TeamLevels {
    Team team;
    const Rank &mine;
    SplitQueue<index_t> *found;
    gd_count *votes;  // what all ranks agreed on, TEAM_VOTES words, shared
    long long shift;
    bool has_targets;

    __device__ __forceinline__ index_t *queue(long long level) const {
        return level & 1 ? mine.odd_queue : mine.even_queue;
    }
    __device__ __forceinline__ index_t *waiting(long long level) const {
        return level & 1 ? mine.odd_waiting : mine.even_waiting;
    }
    __device__ __forceinline__ LevelCounts *counters(long long level) const { return mine.rows + (level + shift) % 3; }
    __device__ __forceinline__ const LevelCounts &agreed() const { return *(const LevelCounts *)votes; }
    __device__ __forceinline__ long long read(const gd_count &counter) const { return (long long)team.read(&counter); }
    __device__ __forceinline__ bool meet(long long level) { return team.meet((const gd_count *)counters(level), votes); }

    // What a level works on that pushes; one that pulls scans in-edges.
    __device__ __forceinline__ Level pushes(long long level) const {
        Level a = *(const Level *)&mine;
        a.own_queue = queue(level);
        a.left = waiting(level);
        a.here = counters(level - 1);
        a.next = counters(level);
        return a;
    }
    __device__ __forceinline__ Level pulls(long long level) const {
        Level a = pushes(level);
        a.indptr = mine.in_indptr;
        a.indices = mine.in_indices;
        return a;
    }
    template <class Body> __device__ __forceinline__ void visit_edges(long long level, const Body &body) {
        const Level a = pushes(level);
        gd_for_all_edges(read(a.here->found), (const index_t *)queue(level - 1), a.indptr, a.hubs, &a.next->hubs,
                         &a.next->edges, body, [&] { team.barrier(); });
    }
    // Count what ranks have sent each other as found, with as many edges each as the others.
    __device__ __forceinline__ void count_sent() {
        __syncthreads();
        if (threadIdx.x == 0) {
            LevelCounts &all = *(LevelCounts *)votes;
            const gd_count found = all.found, edges = all.weight & (GD_LONG_ROW_MARK - 1);
            all.found = found + all.sent;
            all.weight = edges + (gd_count)((double)edges / (double)max(found, (gd_count)1) * (double)all.sent);
        }
        __syncthreads();
    }
    // Send what is settled to the ranks that hold ghosts of it, for a level that pulls.
    __device__ __forceinline__ bool send_reached(long long level) {
        return team.exchange([&] {
            team.send_bits<index_t>(BITS, mine.seen);
            if (!meet(level)) return false;
            team.take_bits(BITS, mine.seen);
            return true;
        });
    }
    // Vote whether all own targets have a depth: the least of all ranks is 1 if they are reached. All blocks call it
    // when they have set their depths, before the meeting.
    GD_PHASE void vote_targets(long long level) const {
        if (!has_targets) return;
        team.barrier();
        if (blockIdx.x) return;
        const bool reached = gd_all_reached(pushes(level), level);
        if (threadIdx.x == 0) *(volatile gd_count *)&counters(level)->least = (gd_count)reached;
    }
    GD_PHASE void list_unvisited(long long level) {
        const Level a = pulls(level);
        gd_list(a.owned, [&](long long v) { return !gd_bit(a.seen, v) & (a.indptr[v + 1] > a.indptr[v]); }, found->own,
                a.left, &a.next->left);
    }
    GD_PHASE void claim_edges(long long level) {
        GD_FOR(w, (mine.slots + 31) / 32) mine.claimed[w] = mine.seen[w];
        team.barrier();
        visit_edges(level, Claim{mine.indices, mine.claimed});
    }
    GD_PHASE void queue_claimed(long long level) {
        const unsigned int *const seen = mine.seen, *const claimed = mine.claimed;
        gd_list(mine.owned, [&](long long v) { return gd_bit(claimed, v) & !gd_bit(seen, v); }, found->own,
                queue(level), &counters(level)->found);
        team.barrier();
    }
    // Queue what the frontier's edges lead to; false where a meeting failed.
    __device__ __forceinline__ bool claim_level(long long level) {
        claim_edges(level);
        const bool fine = team.size == 1 || team.exchange([&] {
            team.send_owner_bits(LISTS, mine.claimed);
            if (!meet(level)) return false;
            team.take_owner_bits<index_t>(LISTS, mine.claimed);
            return true;
        });
        if (fine) queue_claimed(level);
        return fine;
    }
};

// Go through levels until the search ends or so many are done. It is a TeamLevels with start(), push(level),
// pull(level) and claim(level), which process a level and meet; they are false where a meeting failed.
template <class Search> __device__ __forceinline__ void gd_team_levels(Search &search, const Levels &a) {
    const bool leads = search.team.leads();
    int way = (int)(a.ways & 3), last = (int)(a.ways >> 2);  // of this level, and of the one before
    bool done = false, fine = true;
    long long level = a.level, levels = 0;
    double unexplored = a.unexplored, before = a.before;
    const auto decide = [&] {
        const LevelCounts &agreed = search.agreed();
        const double found = (double)agreed.found, edges = (double)(agreed.weight & (GD_LONG_ROW_MARK - 1));
        const bool pulls = a.may_pull == 1 ? gd_is_pull_due(way == PULLS, found, edges, before, unexplored,
                                                            (double)search.mine.vertices)
                                           : way == PULLS;
        way = pulls ? PULLS : edges > a.claims ? CLAIMS : PUSHES;
        unexplored = max(unexplored - edges, 0.0);
        before = found;
        done = agreed.found == 0 || level >= a.deepest || (a.has_targets && agreed.least);
        __syncthreads();  // everyone has read what was agreed
    };
    if (unexplored < 0) {  // all are to know where it begins, and how many edges there are
        fine = search.start();
        unexplored = (double)search.agreed().edges;
        decide();
    }
    while (fine && !done && levels < a.most) {
        const gd_count began = gd_nanoseconds();
        gd_clear_counts(search.counters(level + 2));
        if (way == PULLS && last != PULLS) search.list_unvisited(level);
        if (way != PUSHES && last == PUSHES && search.team.size > 1) fine = search.send_reached(level);
        else if (way != last) search.team.barrier();
        level++;
        if (fine) fine = way == PULLS    ? search.pull(level)
                         : way == CLAIMS ? search.claim(level)
                                         : search.push(level);
        last = way;
        levels++;
        if (leads) {
            const LevelCounts *const here = search.counters(level - 1), *const next = search.counters(level);
            const gd_count sent = (gd_count)search.read(next->sent);
            search.team.log(levels - 1, began, (gd_count)(way != PUSHES), (gd_count)search.read(here->found),
                            (gd_count)search.read(next->edges), sent, 2 * sizeof(index_t) * sent);
        }
        decide();
    }
    if (leads) {
        volatile gd_count *const ends = search.team.ends();
        ends[END_STEPS] = (gd_count)levels;
        ends[END_DONE] = fine ? done : 2;
        ends[END_WAYS] = (gd_count)(way + 4 * last);
        ((volatile double *)ends)[END_UNEXPLORED] = unexplored;
        ((volatile double *)ends)[END_FOUND] = before;
    }
    search.team.close();
}
