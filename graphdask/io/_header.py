"""Whether the first line of a text is a header, from evidence, and which of its names are the ends of the edges.

Evidence for a header: a column that is text in the first line and numbers below; names that are quoted only in the
first line; names that are words for the ends of an edge. Evidence against it: a number in the first line; an id of it
that later lines have as well, or have with another number (`node1`, below it `node3`). A `Verdict` says how the line
is read, why, and whether that is conclusive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

NUMBER_LIKE = re.compile(rb"[+-]?\.?[0-9][0-9.eE+-]*\Z|[+-]?(nan|inf)\Z", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d][\w .()-]{0,40}\Z")
"""What a name of a column may be."""
_STARTS_AS_NUMBER = re.compile(rb"[+-]?\.?[0-9]")
_CHOICES = frozenset([b"true", b"false", b"yes", b"no", b"directed", b"undirected"])
_SIGILS = "~_:#%@$*^ \t\"'"
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PAIRS = """
source target, src dst, src dest, source destination, source dest, src target, src tgt, source sink, from to, start
end, begin end, head tail, origin destination, origin dest, orig dest, orig dst, departure arrival, caller callee,
citing cited, citer citee, source cited, follower followee, follower followed, follower following, user item, user
movie, user product, user song, user artist, user book, user page, user group, user business, customer product,
customer item, reviewer product, reader book, sender receiver, sender recipient, payer payee, buyer seller, giver
receiver, parent child, ancestor descendant, subject object, subj obj, left right, first second, predecessor
successor, importer importee, influencer influenced, trustor trustee, truster trustee, rater ratee, pre post,
presynaptic postsynaptic, regulator gene, regulator target, ligand receptor, drug protein, drug target, gene disease,
predator prey, winner loser, home away, ego alter, outgoing incoming, in out, lhs rhs, row col, row column, upstream
downstream, u v
"""
_CROSSED = tuple(
    (first, second)
    for first in ("source", "src", "from", "start")
    for second in ("target", "dst", "dest", "destination", "to", "end")
)
_LISTED = tuple((pair.split()[0], pair.split()[1]) for pair in " ".join(_PAIRS.split()).split(","))
PAIRS = _LISTED + _CROSSED
"""Words for the source and the target of an edge."""
_SOURCES = frozenset(first for first, _ in PAIRS)
_TARGETS = frozenset(second for _, second in PAIRS)
_PLAIN = _set("""
from to start end begin u v head tail user item parent child left right first second in out home away row col column
subject object pre post ego alter winner loser
""")
"""Words that names of vertices may well be."""
_SOURCE = ("source", "src", "from")
_TARGET = ("target", "tgt", "destination", "dest", "dst", "to", "sink")
_GLUED = {
    "sip": ("src", "ip"), "dip": ("dst", "ip"), "saddr": ("src", "addr"), "daddr": ("dst", "addr"),
    "smac": ("src", "mac"), "dmac": ("dst", "mac"), "sport": ("src", "port"), "dport": ("dst", "port"),
    "dsport": ("dst", "port"),
    "fromnodeid": ("from", "node", "id"), "tonodeid": ("to", "node", "id"), "fromid": ("from", "id"),
    "toid": ("to", "id"), "fromnode": ("from", "node"), "tonode": ("to", "node"), "sourceid": ("source", "id"),
    "targetid": ("target", "id"), "srcid": ("src", "id"), "dstid": ("dst", "id"), "destid": ("dest", "id"),
    "sourcenode": ("source", "node"), "targetnode": ("target", "node"), "startid": ("start", "id"),
    "endid": ("end", "id"), "startnode": ("start", "node"), "endnode": ("end", "node"), "sources": ("source",),
    "targets": ("target",), "userid": ("user", "id"), "itemid": ("item", "id"), "movieid": ("movie", "id"),
    "nodeid": ("node", "id"), "vertexid": ("vertex", "id"), "idsource": ("id", "source"), "idtarget": ("id", "target"),
    "parentid": ("parent", "id"), "childid": ("child", "id"), "originid": ("origin", "id"),
}  # fmt: skip
_KINDS = _set("""
id ids node nodes vertex vertices entity name names key label index idx number no num nr code uid uuid accession
symbol identifier official
""")
"""Words that say nothing of which end of an edge a column is."""
_THINGS = _set("""
protein gene interactor interactant participant person people user author actor paper article page site url host
account address station stop airport city country region place location word term concept item product movie song
artist book group company organization org member agent character species compound molecule drug disease cell neuron
router peer machine object element point document doc text class type module package function method file repo
repository subreddit channel video tag category player team club ip asn as chemical residue atom taxon student
student_id friend individual dolphin mp block
""")
"""Words for what vertices are."""
_ATTRIBUTES = _set("""
port ports lat latitude lon lng long longitude x y bytes packets pkts ttl size rank country city region asn as degree
""")
"""Words for what an end of an edge has beside its name."""
_IDENTIFYING = _set("id ids key uid uuid index idx number no num nr code accession identifier symbol")
OTHERS = _set("""
weight weights w wgt cost distance dist length score combined rating ratings value val count counts amount capacity
probability prob confidence similarity correlation strength time times timestamp timestamps date datetime day month
year unixtime unixts t type types relation rel relationship predicate property kind edge edges link sentiment post
labels direction directed sign layer interval description comment title properties attributes attr experimental system
pubmed evidence
""")
"""Words for further columns."""
_AFTER_AN_END = _KINDS | _THINGS | _ATTRIBUTES | _set("addr mac hostname ipv4 ipv6 username email phone")
"""What may stand right behind a word for an end: `srcip`, `toaddress`."""
_BEFORE = ("sender", "receiver", "recipient", "start", "end", "origin", "orig", *_SOURCE, *_TARGET)
_VOCABULARY = _SOURCES | _TARGETS | _KINDS | _THINGS | OTHERS
_ROWS = re.compile(
    r"(unnamed: ?0|index|idx|#|id|row(_?(id|number|num|no))?|no\.?|nr\.?|(edge|link)_?(id|index|no)|eid|)\Z"
)
_LONGEST, _MOST = 100, 100
"""Characters of a name, and columns, that are examined: real headers have fewer."""
_DOER = re.compile(r"([a-z]{3,100}?)(?:er|or|ing)\Z")
_DONE = re.compile(r"([a-z]{3,100}?)(?:ee|ed)\Z")
_COUNTERPARTS = (("1", "2"), ("0", "1"), ("a", "b"), ("x", "y"), ("i", "j"))


@dataclass(frozen=True)
class Verdict:
    """How the first line is read."""

    header: bool
    why: str
    certain: bool = True
    """Whether the evidence is conclusive."""


@dataclass(frozen=True)
class Ends:
    """The columns whose names are words for the ends of an edge."""

    src: int
    dst: int
    compound: bool = False
    """The names are made as names of columns are: `FromNodeId`, `_from`, `SOURCE_SUBREDDIT`."""
    rivals: tuple[tuple[int, int], ...] = ()
    """Other columns that are named as the ends as well as these are."""
    plain: bool = False
    """Both names are words that names of vertices may well be."""
    twins: bool = False
    """The names differ in a number or letter only."""


def clean(name: str) -> str:
    """A name of a column without what databases put around it: `~from`, `_to`, `:START_ID(Person)`, `weight:double`."""
    name = name.strip(_SIGILS)
    if name.endswith(")") and "(" in name:
        name = name[: name.index("(")]
    return name.partition(":")[0].strip(_SIGILS) or name


def words(name: str) -> tuple[str, ...]:
    """The words that a name of a column is made of, in lower case."""
    bare = clean(name[:_LONGEST])
    if bare.lower() in _GLUED:
        return _GLUED[bare.lower()]
    found = tuple(word.lower() for word in _WORD.findall(bare))
    return tuple(part for word in found for part in _GLUED.get(word) or _unglued(word))


def _unglued(word: str) -> tuple[str, ...]:
    """`srcip` as the words src and ip; another word as it is."""
    for end in _BEFORE:
        if word.startswith(end) and word[len(end) :] in _AFTER_AN_END:
            return end, word[len(end) :]
    return (word,)


def is_number_of_rows(name: str) -> bool:
    """Whether a name is one of the numbers of rows, as pandas, R and databases write them."""
    return _ROWS.match(name.strip(" \t\"'").lower()) is not None


def find_ends(names: Sequence[str]) -> Ends | None:
    """The columns that are named as the ends of an edge, if any are."""
    split = [words(name) for name in names[:_MOST]]
    for group in _GROUPS:
        found = sorted(_named_by(group, split), key=itemgetter(0))
        if found and found[0][0][0] < _OF_ATTRIBUTES:
            best, i, j, first, second = found[0]
            rivals = tuple(dict.fromkeys(other[1:3] for other in found if other[0] == best and other[1:3] != (i, j)))
            compound = len(split[i]) + len(split[j]) > 3 or (_sigil(names[i]) and _sigil(names[j]))
            return Ends(i, j, compound, rivals, not compound and first in _PLAIN and second in _PLAIN)
    for i, mine in enumerate(split):
        for j, other in enumerate(split):
            if len(mine) == len(other) == 1 and _done_to(mine[0], other[0]):
                return Ends(i, j)
    for first, second in _COUNTERPARTS:
        for i, mine in enumerate(split):
            for j in range(i + 1, len(split)):
                if _twins(mine, split[j], first, second):
                    return Ends(i, j, len(mine) > 2, twins=True)
    return None


_GROUPS = (
    tuple(pair for pair in PAIRS if pair[0] in _SOURCE and pair[1] in _TARGET),
    *((pair,) for pair in PAIRS if not (pair[0] in _SOURCE and pair[1] in _TARGET)),
)
"""Words of which none is preferred to the others, in the order of preference."""
_OF_ATTRIBUTES = 4


def _named_by(
    group: tuple[tuple[str, str], ...], split: Sequence[tuple[str, ...]]
) -> Iterator[tuple[tuple[int, bool, bool], int, int, str, str]]:
    """Columns that are named by two of these words: how little that says, the columns, and the words."""
    for first, second in group:
        for i, mine in enumerate(split):
            if first not in mine:
                continue
            for j, other in enumerate(split):
                if i != j and second in other:
                    one, two = _without(mine, first), _without(other, second)
                    if _alike(one, two):
                        doubt = max(_rank(one), _rank(two)), one != two, (first, second) not in _LISTED
                        yield doubt, i, j, first, second


def _rank(rest: tuple[str, ...]) -> int:
    """How little the rest of a name says that the column has vertices: of `source`, `source_id`, `source_ip`,
    `source_mood`, `source_port`."""
    if not rest:
        return 0
    if any(word in _ATTRIBUTES or (word in OTHERS and word not in _KINDS) for word in rest):
        return _OF_ATTRIBUTES
    if _IDENTIFYING & set(rest):
        return 1
    return 2 if all(word in _KINDS | _AFTER_AN_END for word in rest) else 3


def names_an_end(name: str) -> bool:
    """Whether a word for the source or the target is in a name, and what is left of it may be a vertex's."""
    found = words(name)
    return any(word in found and _rank(_without(found, word)) < 3 for word in _SURE)


def names_an_attribute(name: str) -> bool:
    """Whether a name is that of something that an end has: `source_port`."""
    found = words(name)
    return any(word in found and bool(_ATTRIBUTES & set(found)) for word in _SURE)


def names_the_other(names: Sequence[str], src: int, dst: int) -> bool:
    """Whether a column taken for the source is named as a target, or one taken for the target as a source."""
    return bool(set(words(names[src])) & set(_SURE[2:])) or bool(set(words(names[dst])) & set(_SURE[:2]))


_SURE = ("source", "src", "target", "tgt", "destination", "dest", "dst")
"""Words that are seldom anything but ends."""


def _done_to(one: str, other: str) -> bool:
    """Whether two words are who does and to whom it is done: retweeter and retweeted, mentor and mentee."""
    if other == "co" + one:
        return True
    doer, done = _DOER.match(one), _DONE.match(other)
    return doer is not None and done is not None and doer.group(1) == done.group(1)


def _without(parts: tuple[str, ...], word: str) -> tuple[str, ...]:
    at = parts.index(word)
    return parts[:at] + parts[at + 1 :]


def _alike(mine: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether what is left of two names is the same, or says nothing."""
    return mine == other or (set(mine) | set(other)) <= _KINDS


def _twins(mine: tuple[str, ...], other: tuple[str, ...], first: str, second: str) -> bool:
    """Whether two names differ only in their number or letter, as `protein1` and `protein2`."""
    if len(mine) < 2 or len(mine) != len(other):
        return False
    differ = [k for k in range(len(mine)) if mine[k] != other[k]]
    if len(differ) != 1 or (mine[differ[0]], other[differ[0]]) != (first, second):
        return False
    return bool(set(mine) & (_KINDS | _THINGS))


def _sigil(name: str) -> bool:
    return name.strip(" \t\"'")[:1] in ("~", "_", ":")


def _vocabulary(name: str) -> bool:
    found = words(name)
    known = [word for word in found if word in _VOCABULARY]
    return bool(known) and all(word in known or len(word) == 1 or word.isdigit() for word in found)


def decide(
    line: Sequence[bytes], below: Sequence[Sequence[bytes]], csv: bool, missing: frozenset[bytes],
    quoted: tuple[bool, bool] = (False, False),
) -> Verdict:  # fmt: skip
    """How the first line that is no comment is read.

    Parameters
    ----------
    line, below : sequences of tokens
        The line, and some of those that follow.
    csv : bool
        The file is one of a format in which headers are usual.
    missing : frozenset of bytes
        Words that stand for a missing id.
    quoted : (bool, bool)
        Whether all tokens of the line are quoted, and whether any of those below is.
    """
    if len(line) < 2:
        return Verdict(False, "it has one column")
    names = [token.decode("utf-8", "replace") for token in line]
    pair = find_ends(names)
    ends = (0, 1) if pair is None else (pair.src, pair.dst)
    rows = [row for row in below if len(row) == len(line)]
    for c in ends:
        if not line[c] or line[c] in missing or NUMBER_LIKE.match(line[c]):
            return Verdict(False, f"{_show(line[c])} is no name of a column")
    columns = [c for c in range(len(line)) if _text_above(line[c], [row[c] for row in rows], c in ends, missing)]
    further = any(c not in ends for c in columns)
    if columns and (csv or further or len(rows) > 1 or len(columns) == len(ends)):
        certain = csv or further or pair is not None or (len(rows) > 1 and len(columns) == len(ends))
        return Verdict(True, f"column {columns[0] + 1} is text here and numbers below", certain)
    if any(NUMBER_LIKE.match(token) for token in line):
        return Verdict(False, "it has a number", not (csv and pair is not None and pair.compound))
    if quoted[0] and rows and not quoted[1]:
        return Verdict(True, "its names are quoted and those below are not")
    seen = {row[c] for row in rows for c in ends}
    again = [line[c] for c in ends if line[c] in seen]
    if again:
        if pair is not None and (list(line) in [list(row) for row in rows] or (csv and not pair.plain)):
            return Verdict(True, f"its words name the ends of an edge, but {_show(again[0])} stands again below", False)
        return Verdict(False, f"{_show(again[0])} stands in a later line as well")
    shapes = {_shape(token) for token in seen}
    if any(_shape(line[c]) in shapes for c in ends if re.search(rb"[0-9]", line[c])):
        return Verdict(False, "ids of later lines have its form")
    if pair is not None and not rows and not quoted[0] and (pair.twins or (pair.plain and not csv)):
        return Verdict(False, "its words name the ends of an edge, but no edge follows", False)
    if pair is not None:
        known = len(line) > 2 and all(map(_vocabulary, names))
        certain = pair.compound or (csv and (not pair.plain or known or quoted[0]))
        return Verdict(True, "its words name the ends of an edge", certain)
    if all(_vocabulary(names[c]) for c in ends):
        return Verdict(True, "its words are those of a header", csv and len(line) > 2 and all(map(_vocabulary, names)))
    if rows and all(_style(line[c]) and not any(_style(line[c]) & _style(row[e]) for row in rows for e in ends)
                    for c in ends):  # fmt: skip
        return Verdict(csv, "its words are written as no id below is", False)
    if len(seen) < len(rows) * len(ends) and all(_NAME.match(names[c]) for c in ends):
        return Verdict(csv, "ids below stand there again, its words do not", False)
    if csv:
        return Verdict(False, "nothing tells its words from ids", False)
    return Verdict(False, "nothing in it is of a header")


def _text_above(token: bytes, below: list[bytes], end: bool, missing: frozenset[bytes]) -> bool:
    """Whether a token is text, and what stands below it numbers; dates and choices are taken for these."""
    if not token or NUMBER_LIKE.match(token) or token in missing or not below:
        return False
    filled = [other for other in below if other and other not in missing and other not in MISSING_WORDS]
    if not filled:
        return False
    if all(NUMBER_LIKE.match(other) for other in filled):
        return True
    if end or _STARTS_AS_NUMBER.match(token) or token.lower() in _CHOICES:
        return False
    return all(_STARTS_AS_NUMBER.match(other) for other in filled) or all(o.lower() in _CHOICES for o in filled)


def _shape(token: bytes) -> bytes:
    return re.sub(rb"[0-9]+", b"0", token)


def _style(token: bytes) -> set[str]:
    """How a token is written, where that is as names of columns are and names of vertices seldom."""
    text = token.decode("utf-8", "replace").strip(" \"'")
    found = set()
    if "_" in text:
        found.add("underscore")
    if re.match(r"[~:_]", text):
        found.add("sigil")
    if re.match(r"[A-Za-z][a-z]+[A-Z]", text):
        found.add("camel")
    if len(text) > 3 and text.isupper():
        found.add("capitals")
    return found


def _show(token: bytes) -> str:
    return repr(token[:40].decode("utf-8", "replace"))


MISSING_WORDS = frozenset(
    word.encode()
    for word in (
        "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
        "NULL", "NaN", "None", "n/a", "nan", "null", "\\N", "NAN", "Null", "NONE", "<null>", "<NULL>", "(null)",
        "(NULL)", "[NULL]", "[null]", "<na>", "<NaN>", "<nan>", "<None>", "<none>", "<missing>", "Nan", "NaT", "none",
        "nil", "NIL", "Nil", "undefined", "#NULL!", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "-", "?",
        "N.A.", "n.a.", "N/a", "n/A", "<N/A>", "<n/a>", "<nil>", "<empty>", "<unknown>", "#NULL", "NA_character_", "--",
    )
)  # fmt: skip
"""Words that stand for a missing id unless the caller says otherwise: those of pandas, `\\N` of MySQL and PostgreSQL,
and how other languages, tables and databases write it."""
