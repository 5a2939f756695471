"""What sssp_team.cu works on besides the arrays of a rank."""

from graphdask.kernels.common.packs import Pack


class TeamBuckets(Pack):
    each = "long long", "-1 for a weight of each edge, 0 for a single one: edge e weighs weights[e & each]"
    lowest = "long long", "what Bounds subtracts (sssp.cuh)"
    enough = "long long", "near vertices from which a rank tells what it knows before it goes on"
    looked_before = "long long", "edges looked at in the bucket before this one, by all"
    looked_here = "long long", "edges looked at in this one so far"
    widens = "long long", "1 to let the width of a bucket follow from what the last one was worth"
    widened = "double", "how many times as wide as `delta` the bucket is"
    delta = "double", "the width of the first bucket"
    farthest = "double", "where the last bucket ends"
