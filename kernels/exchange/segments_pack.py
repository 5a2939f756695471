"""What segments.py and segments.cu work on."""

from graphdask.kernels.common.packs import Pack


class SegmentParts(Pack):
    bits = "unsigned int *", "marks of the entries, cleared once the last column is written"
    sums = "const long long *", "entries marked before each tile"
    plan = "const long long *", "where the entries of each peer begin, and rows (segments.py)"
    segments = "long long", "the number of peers"
    columns = "long long", "the number of columns"
    column = "long long", "which of them"
    layout = "const long long *", "of each peer: where its part begins, where its ids do, and whether they are a bitmap"
    numbers = "const index_t *", "None, or the id of each entry"
    mirror = "const index_t *", "None, or the place of each entry among the values"
    shift = "long long", "the place of the first entry among the values, without `mirror`"
    values = "unsigned char *", "of the column"
    item = "long long", "bytes of its items"
    payload = "unsigned char *", "the messages of all peers"


class FewParts(Pack):
    counters = "const long long *", "None, or counters of which one says how many numbers there are"
    place = "long long", "which of them"
    plan = "const long long *", "as above, and what follows too"
    segments = "long long", "the number of peers"
    columns = "long long", "the number of columns"
    column = "long long", "which of them"
    layout = "long long *", "of each peer: how many entries, where its part begins, and 0"
    numbers = "const index_t *", "None, or the id of each entry"
    shift = "long long", "the place of the first entry among the values"
    values = "const unsigned char *", "of the column"
    item = "long long", "bytes of its items"
    payload = "unsigned char *", "the messages of all peers"


MESSAGES = 7
"""The most that one launch joins."""
OF_MESSAGE = {
    "ids": ("const index_t *", "the ids of the entries; None where slots are not wanted"),
    "from": ("const unsigned char *", "their values"),
    "end": ("long long", "entries of this message and those before it"),
    "first": ("long long", "the slot of id 0"),
    "universe": ("long long", "ids are below it"),
}
OF_ALL = {
    "row": ("long long", "bytes of an entry's values"),
    "slots": ("index_t *", "the slots of all entries"),
    "values": ("unsigned char *", "the values of all entries"),
}
Joined: type[Pack] = type(
    "Joined",
    (Pack,),
    OF_ALL | {f"{name}{k}": field for k in range(MESSAGES) for name, field in OF_MESSAGE.items()},
)
"""What `segments_join` works on: ids0, from0, ... of the first message, and of MESSAGES in all."""
