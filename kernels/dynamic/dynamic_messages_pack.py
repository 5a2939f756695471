"""What dynamic_messages.py and dynamic_messages.cu work on."""

from graphdask.kernels.common.packs import Pack


class ChangedContributions(Pack):
    listed = "const index_t *", "own vertices that may have changed, each once"
    x = "const double *", "per slot: contributions"
    reported = "double *", "per own vertex: contributions as the other ranks know them"
    held = "const unsigned char *", "whether a rank needs to know of an own vertex; its own row does not count"
    shifts = "const long long *", "per rank: the first slot that own vertices have there"
    owned = "long long", "the number of own vertices"
    size = "long long", "the number of ranks"
    rank = "long long", "this one"
    next = "unsigned long long *", "the same, where the next one goes"
    vertex = "index_t *", "slots of the receiving rank, the entries for each rank side by side"
    contribution = "double *", "float64, in the same places"
    last = "index_t *", "vertices that are sent, for the next time"
