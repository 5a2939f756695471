// What a rank of a team keeps of a step and of a level of betweenness, and the ends of edges that a push looks for. The
// .cu file includes betweenness_pack.py, betweenness.cuh and team.cuh before.
#pragma once

// Of what describes a rank, after what every team has.
enum {
    INDPTR = ROW_OWN, INDICES, IN_INDPTR, IN_INDICES, SEEN, BITS, FRONTIER = BITS + 2, VALUE, SIGMA, DELTA, SCORE, ROWS,
    MASKS, LEVELS, LEFTS, HUB_ROWS = LEFTS + 3, CHUNKS, PARTIAL, CHOSEN, CANDIDATES, GHOST_QUEUE, LONG_ROWS, COUNTERS,
    VOTES, REPORTED, VALUES_OUT, FIRST_OUT = VALUES_OUT + TEAM_RANKS, FRONTIERS_OUT = FIRST_OUT + TEAM_RANKS
};
// What ranks vote of a level: its vertices, the edges out of them, how many are left to look for it; and to each rank
// its lanes. TEAM_SENT is of ghosts that are candidates.
enum { FOUND, OUT_EDGES, LEFT, TEAM_SENT };
// A row of counters: those of betweenness_pack.py; candidates, ghosts among them, deferred rows of a push, and ghosts of
// other ranks that are sent values.
struct StepCounts : LevelCounts {
    gd_count chosen, ghosts, long_rows, sent;
};
enum { BC_ROW = sizeof(StepCounts) / sizeof(gd_count) };
// What is written down of a level: where its vertices end in the lists of all levels, the edges out of them, how many
// vertices are left, all of this rank; and the lanes of all ranks.
enum { ENDS, LEVEL_EDGES, LEVEL_LEFT, LEVEL_LANES, LEVEL_WORDS };
enum { END_LEVEL = END_OWN, END_BACK, END_PULLS };
enum { LISTS, WORDS };  // the areas for what a rank receives

// Who is notified of a ghost receives no more than that.
struct Nothing {};

// The ends of the edges out of the frontier that a lane has still to reach, as far as this rank knows, each once.
struct Ends {
    const index_t *indices;
    const mask_t *seen;
    Frontier frontier;
    long long owned;
    unsigned int *chosen;
    index_t *candidates, *ghosts;
    StepCounts *counters;
    Queue<index_t> *own, *others;

    __device__ __forceinline__ bool choose(index_t v) const {
        return !gd_bit((const volatile unsigned int *)chosen, v) && gd_choose_bit(chosen, v);
    }
    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        const index_t v = indices[edge];
        if (v < owned && !(frontier.of(row) & ~(lanes_t)seen[v])) return;
        if (!choose(v)) return;
        if (v < owned) own->push(v);
        else others->push(v);
    }
    // A vertex that another rank has found.
    __device__ __forceinline__ void take(index_t v) const {
        if ((frontier.lanes & ~(lanes_t)seen[v]) && choose(v)) own->push(v);
    }
    __device__ __forceinline__ void flush(bool all) const {
        own->flush(candidates, &counters->chosen, all);
        others->flush(ghosts, &counters->ghosts, all);
    }
};
