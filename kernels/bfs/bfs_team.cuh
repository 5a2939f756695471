// What describes a rank to a breadth-first search by GPUs together (bfs_team.cu), and to what goes on from what it has
// reached with the same rows.
#pragma once
#include "bfs/bfs.cuh"
#include "common/team.cuh"

// After what every team has.
__device__ __forceinline__ const RankSearch &bfs_rank(const long long *row) { return *(const RankSearch *)(row + ROW_OWN); }
// Where it stopped, for the next launch; and the areas for what a rank is told.
enum { END_WAYS = END_OWN, END_UNEXPLORED, END_FOUND };
enum { LISTS, BITS };
