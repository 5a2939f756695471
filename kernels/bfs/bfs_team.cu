// Breadth-first search by the GPUs of a host together: one launch on each goes through all levels, and nothing waits for
// the host. Ranks write what they tell each other straight into the receiver's memory, and meet (team.cuh) where a level
// needs what others found. A push sends each owner the ghosts that were reached and their parents as lists; a pull sends
// who holds ghosts the bits of what is settled. Which way the next level goes follows from the same sums on every rank,
// by the rule of graphdask.engine.direction. Levels, parents and their uniqueness: bfs.cu.
//
// A push of very many edges claims: it sets a bit for what an edge leads to, and sends owners the bits of ghosts. Bits
// stay in the cache, where to lower the parent of each would be a read of memory; and who was claimed then finds its
// parent in its own row, as in a pull, usually among the first few.
//
// Rows of counters are used in turn, three of them: the one of this level, which holds what the last one found; the next
// one's, which is filled; and a third that is cleared, as nobody has read it since the last meeting. What a rank is told
// in a push and in a pull lies apart, for who is ahead may push while another still takes in bits.
#include "bfs/bfs_pack.py"
#include "bfs/bfs_team.cuh"
#include "common/rows.cuh"

// Edges that a claim scans at once, and the edges of a row that it defers.
#define CLAIM_MANY 8
#define CLAIM_LONG 1024

// Sets the bits of what edges lead to. One that was set meanwhile is set again: what a block has of them in its cache
// may be old.
struct Claim {
    const index_t *indices;
    unsigned int *claimed;

    __device__ __forceinline__ void operator()(const index_t (&)[CLAIM_MANY], const long long (&edges)[CLAIM_MANY]) const {
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

// Places in a row of counters; the first TEAM_VOTES are what ranks vote.
enum { FOUND, WEIGHT, EDGES, SENT, GHOSTS = TEAM_VOTES, HUBS, LEFT, ASIDE };
// Which way a level goes.
enum { PUSHES, PULLS, CLAIMS };

struct TeamSearch {
    Team team;
    const RankSearch &mine;
    Queue<index_t> *own, *others;
    gd_count *agreed;
    bool has_targets;

    __device__ __forceinline__ index_t *queue(long long level) const { return level & 1 ? mine.odd_queue : mine.even_queue; }
    __device__ __forceinline__ index_t *waiting(long long level) const { return level & 1 ? mine.odd_waiting : mine.even_waiting; }
    __device__ __forceinline__ gd_count *counters(long long level) const { return mine.rows + level % 3 * BFS_ROW; }
    __device__ __forceinline__ gd_count read(const gd_count *counter) const { return team.read(counter); }
    __device__ __forceinline__ long long words() const { return (mine.slots + 31) / 32; }

    // What it works on in a level that pushes; one that pulls scans in-edges.
    __device__ __forceinline__ Search pushes(long long level) const {
        Search a = *(const Search *)&mine;
        a.own_queue = queue(level);
        a.left = waiting(level);
        return a;
    }
    __device__ __forceinline__ Search pulls(long long level) const {
        Search a = pushes(level);
        a.indptr = mine.in_indptr;
        a.indices = mine.in_indices;
        return a;
    }
    GD_PHASE void start() {
        const long long count = (long long)read(counters(0) + FOUND);
        gd_add(bfs_settle_all<true>(pushes(0), count, mine.sources, 0, 0), counters(0) + WEIGHT);
        vote_targets(counters(0), 0);
    }
    // Vote whether all own targets have a depth: the least of all ranks is 1 if they are reached. All blocks call it when
    // they have set their depths, before the meeting.
    GD_PHASE void vote_targets(gd_count *votes, long long level) const {
        if (!has_targets) return;
        team.barrier();
        if (blockIdx.x) return;
        const bool reached = bfs_all_reached(mine.targets, mine.num_targets, mine.depth, level);
        if (threadIdx.x == 0) *(volatile gd_count *)(votes + TEAM_LEAST) = (gd_count)reached;
    }
    // What a push has queued gets its depth and its bit, and owners are told of their ghosts.
    GD_PHASE void settle(long long level, gd_count *next) {
        const Search a = pushes(level);
        gd_add(bfs_settle_all<false>(a, (long long)read(next + FOUND), a.own_queue, 0, level), next + WEIGHT);
        team.tell_owners<index_t, index_t>(LISTS, (long long)read(next + GHOSTS), a.ghost_queue, next, SENT,
                                           [&](index_t v) {
                                               gd_set_bit(a.seen, v);
                                               return a.parent[v];
                                           });
    }
    // Own vertices that other ranks reached in this level.
    GD_PHASE void take_in(long long level, gd_count *next) {
        const Search a = pushes(level);
        gd_count weight = 0;
        team.take_reported<index_t, index_t>(LISTS, agreed, [&](index_t v, index_t parent) {
            if (!bfs_reach(a, v, parent, level)) return;
            weight += bfs_weight(a.out_indptr, v);
            own->push(v);
        }, [&](bool all) { own->flush(a.own_queue, next + FOUND, all); });
        gd_add(weight, next + WEIGHT);
    }
    GD_PHASE void list_unvisited(long long level, gd_count *here) {
        const Search a = pulls(level);
        gd_list(a.owned, [&](long long v) { return !gd_bit(a.seen, v) & (a.indptr[v + 1] > a.indptr[v]); }, *others,
                a.left, here + LEFT);
    }
    // The search of rows in this level; who finds a parent is queued, unless that has been done.
    template <bool queues> __device__ __forceinline__ Pull<queues> pulling(long long level, gd_count *next) const {
        return Pull<queues>{pulls(level), level, next + FOUND, next + LEFT,
                            next + (queues ? HUBS : ASIDE), next + EDGES, next + WEIGHT};
    }
    GD_PHASE void pull(long long level, const gd_count *here, gd_count *next) {
        pulling<true>(level, next).search((long long)read(here + LEFT), waiting(level - 1), own, others);
        team.barrier();
        search_hubs<true>(level, next);
    }
    template <bool queues> GD_PHASE void search_hubs(long long level, gd_count *next) {
        const long long count = (long long)read(next + (queues ? HUBS : ASIDE));
        if (!count) return;
        pulling<queues>(level, next).search_hubs(count);
        team.barrier();
    }
    // The bits of what a pull has found.
    __device__ __forceinline__ void mark(long long level, const gd_count *next) {
        const index_t *const found = queue(level);
        const long long count = (long long)read(next + FOUND);
        GD_FOR(i, count) gd_set_bit(mine.seen, found[i]);
    }
    template <class Body>
    __device__ __forceinline__ void visit_edges(long long level, const gd_count *here, gd_count *next, const Body &body) {
        const Search a = pushes(level);
        gd_for_all_edges((long long)read(here + FOUND), (const index_t *)queue(level - 1), a.indptr, a.hubs, next + HUBS,
                         next + EDGES, body, [&] { team.barrier(); });
    }
    GD_PHASE bool push(long long level, const gd_count *here, gd_count *next) {
        visit_edges(level, here, next, Push<false>{pushes(level), next + FOUND, next + GHOSTS, own, others});
        settle(level, next);
        vote_targets(next, level);
        if (!team.meet(next, agreed)) return false;
        return agreed[SENT] == 0 || team.exchange([&] {
            take_in(level, next);
            vote_targets(next, level);
            return team.meet(next, agreed);
        });
    }
    __device__ __forceinline__ bool tell(gd_count *votes) {
        return team.exchange([&] {
            team.tell_bits<index_t>(BITS, mine.seen);
            if (!team.meet(votes, agreed)) return false;
            team.take_bits(BITS, mine.seen);
            return true;
        });
    }
    // Claim what the frontier's edges lead to.
    GD_PHASE void claim(long long level, const gd_count *here, gd_count *next) {
        GD_FOR(w, words()) mine.claimed[w] = mine.seen[w];
        team.barrier();
        visit_edges(level, here, next, Claim{mine.indices, mine.claimed});
    }
    // Queue what was claimed, and let it find its parents.
    GD_PHASE void find_parents(long long level, gd_count *next) {
        const unsigned int *const seen = mine.seen, *const claimed = mine.claimed;
        gd_list(mine.owned, [&](long long v) { return gd_bit(claimed, v) & !gd_bit(seen, v); }, *own, queue(level),
                next + FOUND);
        team.barrier();
        pulling<false>(level, next).search((long long)read(next + FOUND), queue(level), own, others);
        team.barrier();
        search_hubs<false>(level, next);
    }
    __device__ __forceinline__ bool claim_and_tell(long long level, const gd_count *here, gd_count *next) {
        claim(level, here, next);
        const bool fine = team.size == 1 || team.exchange([&] {
            team.tell_owner_bits(LISTS, mine.claimed);
            if (!team.meet(next, agreed)) return false;
            team.take_owner_bits<index_t>(LISTS, mine.claimed);
            return true;
        });
        if (!fine) return false;
        find_parents(level, next);
        GD_FOR(w, words()) mine.seen[w] = mine.claimed[w];
        team.tell_bits<index_t>(BITS, mine.claimed);
        vote_targets(next, level);
        if (!team.meet(next, agreed)) return false;
        team.take_bits(BITS, mine.seen);
        return true;
    }
    __device__ __forceinline__ bool pull_and_tell(long long level, const gd_count *here, gd_count *next) {
        pull(level, here, next);
        mark(level, next);
        vote_targets(next, level);
        if (!team.meet(next, agreed)) return false;
        return agreed[FOUND] == 0 || tell(next);
    }
};

extern "C" __global__ void __launch_bounds__(256, 4)
bfs_team(long long n, const long long *rows, long long row_words, Levels a) {
    __shared__ Queue<index_t> own, others;
    __shared__ gd_count agreed[TEAM_VOTES];
    own.open();
    others.open();
    const long long *const row = rows + blockIdx.y * row_words;
    TeamSearch search{Team(row), bfs_rank(row), &own, &others, agreed, a.has_targets != 0};
    const bool leads = search.team.leads();
    int way = (int)(a.ways & 3), last = (int)(a.ways >> 2);  // of this level, and of the one before
    bool done = false, fine = true;
    long long level = a.level, levels = 0;
    double unexplored = a.unexplored, before = a.before;
    const auto decide = [&] {
        const double found = (double)agreed[FOUND], edges = (double)(agreed[WEIGHT] & (BFS_MARK - 1));
        bool pulls = way == PULLS;
        if (a.may_pull == 1)
            pulls = pulls ? found >= a.vertices / a.beta || found > before
                          : edges > max(unexplored / a.alpha, floor(a.vertices / a.beta));
        way = pulls ? PULLS : edges > a.claims ? CLAIMS : PUSHES;
        unexplored = max(unexplored - edges, 0.0);
        before = found;
        done = agreed[FOUND] == 0 || level >= a.deepest || (a.has_targets && agreed[TEAM_LEAST]);
        __syncthreads();  // everyone has read what was agreed
    };
    if (unexplored < 0) {  // all are to know where it begins, and how many edges there are
        search.start();
        fine = search.team.meet(search.counters(0), agreed);
        unexplored = (double)agreed[EDGES];
        decide();
    }
    while (fine && !done && levels < a.most) {
        const gd_count began = gd_nanoseconds();
        gd_count *const here = search.counters(level), *const next = search.counters(level + 1);
        if (blockIdx.x == 0 && threadIdx.x < BFS_ROW)
            *(volatile gd_count *)(search.counters(level + 2) + threadIdx.x) = 0;
        if (way == PULLS && last != PULLS) search.list_unvisited(level, here);
        if (way != PUSHES && last == PUSHES) fine = search.tell(here);
        else if (way != last) search.team.barrier();
        level++;
        if (fine) fine = way == PULLS    ? search.pull_and_tell(level, here, next)
                         : way == CLAIMS ? search.claim_and_tell(level, here, next)
                                         : search.push(level, here, next);
        last = way;
        levels++;
        if (leads) {
            const gd_count sent = search.read(next + SENT);
            search.team.log(levels - 1, began, (gd_count)(way != PUSHES), search.read(here + FOUND),
                            search.read(next + EDGES), sent, 2 * sizeof(index_t) * sent);
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
