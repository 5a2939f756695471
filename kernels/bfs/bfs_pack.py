"""What bfs.py, bfs.cu and bfs_team.cu work on: a search by levels, with the parent of each slot."""

from graphdask.kernels.common.levels_pack import LevelSearch, LevelTeam


class Search(LevelSearch):
    parent = "index_t *", "per slot: the smallest id of the vertices that reach it (bfs.py)"


class RankSearch(Search, LevelTeam):
    """A rank of a team."""
