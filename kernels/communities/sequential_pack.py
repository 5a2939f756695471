"""What sequential.py works on."""

from graphdask.kernels.common.packs import Pack


class Sequential(Pack):
    indptr = "const long long *", "where the row of each vertex begins"
    indices = "const long long *", "the neighbours"
    weights = "const long long *", "whole weights of the edges, 0 or more"
    degree = "const long long *", "sum of the weights of each vertex"
    label = "long long *", "per vertex: its community, or its group in the refinement"
    sums = "long long *", "per community: sum of the degrees of its vertices"
    members = "long long *", "per community: the number of its vertices"
    queue = "long long *", "vertices in the order in which they are visited; a ring when vertices move"
    waiting = "unsigned char *", "per vertex: 1 if it is in the queue"
    empty = "long long *", "communities without vertices, as a stack"
    keys = "long long *", "communities that the visited vertex has neighbours in"
    total = "long long *", "per community: weight that leads to it; -1 if none was met"
    outer = "const long long *", "per vertex: the community that is refined"
    outer_sums = "const long long *", "per community that is refined: sum of the degrees of its vertices"
    border = "long long *", "per group: weight that leads to the rest of the community that is refined"
