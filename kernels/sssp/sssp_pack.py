"""What sssp.py, sssp.cu and sssp_team.cu work on."""

from graphdask.kernels.common.buckets_pack import BucketSearch
from graphdask.kernels.common.packs import Pack


class WeightedRows(Pack):
    indptr = "const long long *", "where the row of each own vertex begins"
    indices = "const index_t *", "the slots that the edges lead to"
    weights = "const weight_t *", "of each edge, or a single one for all"
    each = "long long", "-1 for a weight of each edge, 0 for a single one: edge e weighs weights[e & each]"
    ids = "const index_t *", "the id of each own vertex"


class Relaxing(WeightedRows, BucketSearch):
    labels = "label_t *", "per slot: its label (sssp.py)"
    parent = (
        "index_t *",
        (
            "per slot: the smallest id of those that lead to its label, for a CPU that has the whole graph; else None, "
            "where sssp_parents finds them"
        ),
    )
    level = "long long *", "with `parent`: 1 where an edge between vertices adds nothing to a distance, of use to none"


class TeamRelaxing(Relaxing):
    bounds = "unsigned char *", "per slot: a bound of its distance, 255 at first (sssp.cuh)"
    votes = "unsigned long long *", "four rows of TEAM_WORDS zeros"


class TeamBuckets(Pack):
    enough = "long long", "near vertices from which a rank sends what it knows before it goes on"
    looked_before = "long long", "edges looked at in the bucket before this one, by all"
    looked_here = "long long", "edges looked at in this one so far"
    widens = "long long", "1 to let the width of a bucket follow from what the last one was worth"
    widened = "double", "how many times as wide as `delta` the bucket is"
    delta = "double", "the width of the first bucket"
    farthest = "double", "where the last bucket ends"
