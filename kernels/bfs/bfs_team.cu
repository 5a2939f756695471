// Breadth-first search by the GPUs of a host together (common/team_levels.cuh): what a level does with depths and
// parents when it pushes, pulls or claims. A push sends each owner the ghosts that were reached and their parents; who
// was claimed finds its parent in its own row, as in a pull. Levels, parents and their uniqueness: bfs.cu.
#include "common/levels_pack.py"
#include "bfs/bfs_pack.py"
#include "bfs/bfs.cuh"
#include "common/team_levels.cuh"

struct TeamSearch : TeamLevels<RankSearch, Search> {
    GD_PHASE void settle(long long level) { bfs_settle_all(pushes(level), level, 0); }
    __device__ __forceinline__ bool start() {
        settle(0);
        vote_targets(0);
        return meet(0);
    }
    // Tell owners of the ghosts that a push has queued; bits of ghosts are set here.
    GD_PHASE void notify_owners(long long level) {
        const Search a = pushes(level);
        team.notify_owners<index_t, index_t>(LISTS, read(a.next->ghosts), a.ghost_queue, (gd_count *)a.next, SENT,
                                           [&](index_t v) {
                                               gd_set_bit(a.seen, v);
                                               return a.parent[v];
                                           });
    }
    // Own vertices that other ranks reached in this level.
    GD_PHASE void take_in(long long level) {
        const Search a = pushes(level);
        gd_count weight = 0;
        team.take_reported<index_t, index_t>(LISTS, votes, [&](index_t v, index_t parent) {
            weight += bfs_take_in(a, v, parent, level, &found->own);
        }, [&](bool all) { found->own.flush(a.own_queue, &a.next->found, all); });
        gd_add(weight, &a.next->weight);
    }
    GD_PHASE void push_edges(long long level) { visit_edges(level, Push{pushes(level), found}); }
    __device__ __forceinline__ bool push(long long level) {
        push_edges(level);
        settle(level);
        notify_owners(level);
        vote_targets(level);
        if (!meet(level)) return false;
        if (team.relayed() && !has_targets) {  // for the next direction it is enough to know about how many are new
            if (agreed().sent) team.exchange([&] {
                take_in(level);
                count_sent();
                team.barrier();
                return true;
            });
            return true;
        }
        return agreed().sent == 0 || team.exchange([&] {
            take_in(level);
            vote_targets(level);
            return meet(level);
        });
    }
    // Let vertices of a list find their parents.
    template <bool queues> GD_PHASE void find_parents(long long level, long long count, const index_t *list) {
        const Search a = pulls(level);
        const Pull<queues> body{a, &found->own, &found->ghosts};
        body.search(count, list);
        team.barrier();
        if (const long long hubs = read(a.next->in_hubs)) {
            body.search_hubs(hubs);
            team.barrier();
        }
    }
    // Settle those that have found one.
    __device__ __forceinline__ bool finish(long long level) {
        settle(level);
        if (team.relayed()) {
            team.barrier();
            vote_targets(level);
            return send_reached(level);
        }
        vote_targets(level);
        if (!meet(level)) return false;
        return team.size == 1 || agreed().found == 0 || send_reached(level);
    }
    __device__ __forceinline__ bool pull(long long level) {
        find_parents<true>(level, read(counters(level - 1)->left), waiting(level - 1));
        return finish(level);
    }
    __device__ __forceinline__ bool claim(long long level) {
        if (!claim_level(level)) return false;
        find_parents<false>(level, read(counters(level)->found), queue(level));
        return finish(level);
    }
};

extern "C" __global__ void __launch_bounds__(256, 4)
bfs_team(long long n, const long long *rows, long long row_words, Levels a) {
    __shared__ SplitQueue<index_t> found;
    __shared__ gd_count votes[TEAM_VOTES];
    found.open();
    const long long *const row = rows + blockIdx.y * row_words;
    TeamSearch search{{Team(row), *(const RankSearch *)(row + ROW_OWN), &found, votes, a.shift, a.has_targets != 0}};
    gd_team_levels(search, a);
}
