// Connected components by the GPUs of a host together, after a search (bfs_team.cu) from one vertex, in one launch more
// that goes on with the same rows. What the search has reached is one component. If this has most of the edges, only the
// rows outside it are hooked, to trees of slots (trees.cuh), in which slot number `slots`, that of no vertex, stands for
// all that was reached. Trees of two ranks are one component where one has a ghost of what is in the other: ranks notify
// the owners of such ghosts the least label of their tree, round after round, until no label gets less. An edge that
// joins two ranks is in a row of each, so it is enough to notify owners. Arguments and memory: components_team.py.
//
// A tree that is one component with what was reached has the label REACHED, below all others, so it spreads like them.
// The least id of all that was reached is voted in every meeting, with the ids that REACHED takes the place of: each
// thread has it in a register. What a round has lowered is voted with the labels of the next one, in one meeting.
// Rows of votes are used in turn, three of them, and cleared when all have met twice since.
#include "common/levels_pack.py"
#include "bfs/bfs_pack.py"
#include "common/team_levels.cuh"
#include "components/trees.cuh"

// Of the words behind the rows of the search: three rows of votes, and one of counters. Sums that ranks vote: ghosts that
// are asked about, then labels that got less.
enum { VOTES = 3, COUNTED = 6 };
enum { NEWS, ASKED };
#define REACHED ((index_t)-1)
enum { OUT_HUBS, IN_HUBS, EDGES, GHOSTS, OUTSIDE };
enum { END_FINISHED = END_FOUND + 1 };

struct HookOutside {
    const index_t *indices;
    const unsigned int *seen;
    index_t *link, *ghost_queue;
    long long owned, slots;
    gd_count *counters;
    Queue<index_t> *ghosts;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        index_t v = indices[edge];
        if (gd_bit(seen, v)) {
            v = (index_t)slots;
        } else if (v >= owned) {  // whoever meets a ghost first makes it a leaf of the row's tree
            const index_t ghost = v;
            v = *(volatile index_t *)(link + ghost);
            if (v == -1) v = gd_atomic_cas(link + ghost, (index_t)-1, find_root(row, link));
            if (v == -1) {
                ghosts->push(ghost);
                return;
            }
        }
        hook(row, v, link);
    }
    __device__ __forceinline__ void flush(bool all) const { ghosts->flush(ghost_queue, counters + GHOSTS, all); }
};

struct Finish {
    Team team;
    const RankSearch &search;  // whose arrays get another meaning (components_team.py)
    Queue<index_t> *queue;
    gd_count *agreed;
    long long outside, turn;
    gd_count least;  // the label of what was reached
    index_t whole;   // the root of its tree

    __device__ __forceinline__ index_t *label() const { return search.depth; }
    __device__ __forceinline__ index_t *link() const { return search.parent; }
    __device__ __forceinline__ index_t *outside_rows() const { return search.even_queue; }
    __device__ __forceinline__ gd_count *votes() const { return (gd_count *)(search.rows + VOTES + turn % 3); }
    __device__ __forceinline__ gd_count *counters() const { return (gd_count *)(search.rows + COUNTED); }
    __device__ __forceinline__ gd_count counted(int which) const { return team.read(counters() + which); }

    __device__ __forceinline__ bool meet() {
        if (!team.meet(votes(), agreed)) return false;
        least = min(least, agreed[TEAM_LEAST]);
        turn += 2;
        if (blockIdx.x == 0 && threadIdx.x < TEAM_VOTES)
            *(volatile gd_count *)(votes() + threadIdx.x) = threadIdx.x == TEAM_LEAST ? ~0ULL : 0;
        turn -= 1;
        return true;
    }
    __device__ __forceinline__ void vote_least(gd_count mine) const {
        for (int step = 16; step; step >>= 1) mine = min(mine, __shfl_down_sync(0xffffffffu, mine, step));
        if ((threadIdx.x & 31) == 0 && mine < *(volatile gd_count *)(votes() + TEAM_LEAST))
            atomicMin(votes() + TEAM_LEAST, mine);
    }
    // List the rows outside, each of them a tree, and find the least id of the others. Who has no edges has its label.
    GD_PHASE void sort_out() {
        const long long *const indptr = search.indptr, *const other = search.in_indptr;
        const index_t *const ids = search.ids;
        const unsigned int *const bits = search.seen;
        gd_count mine = ~0ULL;
        const long long threads = (long long)gridDim.x * blockDim.x;
        for (long long begin = (long long)blockIdx.x * blockDim.x; begin < search.owned; begin += threads) {
            const long long v = begin + threadIdx.x;
            if (v < search.owned) {
                const index_t id = ids[v];
                if (gd_bit(bits, v)) {
                    mine = min(mine, (gd_count)id);
                } else {
                    label()[v] = id;
                    if (indptr[v + 1] > indptr[v] || (other != indptr && other[v + 1] > other[v])) {
                        link()[v] = (index_t)v;
                        queue->push((index_t)v);
                    }
                }
            }
            queue->flush(outside_rows(), counters() + OUTSIDE, false);
        }
        queue->flush(outside_rows(), counters() + OUTSIDE, true);
        if (team.leads()) link()[search.slots] = (index_t)search.slots;
        vote_least(mine);
    }
    GD_PHASE void hook_rows(const long long *indptr, const index_t *indices, int hubs) {
        const HookOutside body{indices, search.seen, link(), search.ghost_queue, search.owned, search.slots, counters(), queue};
        gd_for_all_edges(outside, (const index_t *)outside_rows(), indptr, search.hubs, counters() + hubs,
                         counters() + EDGES, body, [&] { team.barrier(); });
    }
    __device__ __forceinline__ index_t root_of(index_t v) const {
        return gd_bit(search.seen, v) ? whole : find_root(v, link());
    }
    // The label of a tree.
    __device__ __forceinline__ index_t label_of(index_t root) const {
        return root == whole ? REACHED : *(volatile index_t *)(label() + root);
    }
    // Give each tree its least id.
    GD_PHASE void label_trees() {
        const index_t *const rows = outside_rows();
        gd_count mine = ~0ULL;
        GD_FOR(i, outside) {
            const index_t v = rows[i], root = find_root(v, link());
            if (root == whole) mine = min(mine, (gd_count)search.ids[v]);
            else if (root != v) gd_atomic_min(label() + root, search.ids[v]);
        }
        vote_least(mine);
        if (team.leads()) atomicAdd(votes() + NEWS, counted(GHOSTS));
    }
    GD_PHASE void notify() {
        team.notify_owners<index_t, index_t>(LISTS, (long long)counted(GHOSTS), search.ghost_queue, votes(), ASKED,
                                           [&](index_t v) { return label_of(find_root(v, link())); });
    }
    // What REACHED takes the place of, or comes to a tree that has it, is an id of what was reached.
    GD_PHASE void take() {
        gd_count mine = ~0ULL, news = 0;
        team.take_reported<index_t, index_t>(LISTS, agreed, [&](index_t v, index_t reported) {
            const index_t root = root_of(v);
            index_t had = label_of(root);
            if (reported < had) {
                had = gd_atomic_min(label() + root, reported);
                news += reported < had;
            }
            if (min(had, reported) == REACHED && max(had, reported) != REACHED)
                mine = min(mine, (gd_count)max(had, reported));
        }, [](bool) {});
        vote_least(mine);
        gd_add(news, votes() + NEWS);
    }
    GD_PHASE void write_labels() {
        const unsigned int *const bits = search.seen;
        const index_t *const rows = outside_rows();
        GD_FOR(v, search.owned) {
            if (gd_bit(bits, v)) label()[v] = (index_t)least;
        }
        GD_FOR(i, outside) {
            const index_t v = rows[i], root = find_root(v, link()), found = label_of(root);
            if (found == REACHED) label()[v] = (index_t)least;
            else if (root != v) label()[v] = found;
        }
    }
    // Owners send what was reached, where an edge may lead there from outside and a ghost lack its bit.
    __device__ __forceinline__ bool complete_bits() {
        team.send_bits<index_t>(BITS, search.seen);
        if (!meet()) return false;
        team.take_bits(BITS, search.seen);
        return true;
    }
    // Wait until nobody takes in any longer what came before: where ranks write into each other's memory, the others too.
    __device__ __forceinline__ bool taken_in() {
        if (!team.relayed()) return meet();
        team.barrier();
        return true;
    }
    // 1 where all have their labels, 0 where so many rounds are too few, 2 where a meeting failed.
    __device__ __forceinline__ int run(bool closed, long long most, gd_count *sent) {
        sort_out();
        if (!taken_in()) return 2;
        outside = (long long)counted(OUTSIDE);
        if (team.size > 1 && !closed && !complete_bits()) return 2;
        hook_rows(search.indptr, search.indices, OUT_HUBS);
        if (search.in_indptr != search.indptr) hook_rows(search.in_indptr, search.in_indices, IN_HUBS);
        whole = find_root((index_t)search.slots, link());
        label_trees();
        team.barrier();
        const int ended = team.exchange([&] {
            for (long long round = 0;; round++) {
                notify();
                if (!meet()) return 2;
                if (!agreed[NEWS]) return 1;
                if (round == most) return 0;
                *sent += counted(GHOSTS);
                take();
                if (team.relayed()) team.barrier();
                else {
                    if (!meet()) return 2;
                    if (!agreed[NEWS]) return 1;
                    if (team.leads()) atomicAdd(votes() + NEWS, (gd_count)1);  // the next meeting is to say so, too
                }
            }
        });
        if (ended == 1) write_labels();
        return ended;
    }
};

extern "C" __global__ void __launch_bounds__(256, 4)
components_team(long long n, const long long *rows, long long row_words, double edges, long long most) {
    __shared__ Queue<index_t> queue;
    __shared__ gd_count agreed[TEAM_VOTES];
    queue.open();
    const long long *const row = rows + blockIdx.y * row_words;
    Finish finish{Team(row, true), *(const RankSearch *)(row + ROW_OWN), &queue, agreed, 0, 0, ~0ULL, (index_t)-1};
    const bool leads = finish.team.leads();
    volatile gd_count *const ends = finish.team.ends();
    const gd_count steps = ends[END_STEPS], done = ends[END_DONE], began = gd_nanoseconds();
    const double left = ((const volatile double *)ends)[END_UNEXPLORED];
    if (done == 2 || 2 * left > edges) {  // the same on all ranks
        if (leads) ends[END_FINISHED] = 0;
        return;
    }
    gd_count sent = 0;
    const int finished = finish.run(done == 1 && finish.search.in_indptr == finish.search.indptr, most, &sent);
    if (leads) {
        ends[END_FINISHED] = finished == 1;
        if (finished == 2) ends[END_DONE] = 2;
        ends[END_STEPS] = steps + 1;
        finish.team.log((long long)steps, began, 0, (gd_count)finish.outside, finish.counted(EDGES), sent,
                        2 * sizeof(index_t) * sent);
    }
    finish.team.close();
}
