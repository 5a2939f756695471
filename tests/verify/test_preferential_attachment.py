"""The check of generated edges accepts what is right and names what is wrong."""

import numpy as np
import pytest

from graphdask.device.backend import get_backend
from graphdask.errors import InputError, VerificationError
from graphdask.generate.preferential_attachment import PreferentialAttachment, first_edge
from graphdask.verify import preferential_attachment as verify
from graphdask.verify.tuning import VERIFY

GRAPH = PreferentialAttachment(5000, 4, 0.5, 17)


@pytest.mark.parametrize(("rank", "size"), [(0, 1), (0, 3), (2, 3), (9, 6000)])
def test_generated_blocks_pass(backend, rank, size):
    _, dst = GRAPH.block(backend, rank, size)
    verify.check(backend, GRAPH, *GRAPH.vertices(rank, size), dst)


@pytest.mark.parametrize(("vertex", "edge"), [(1, 0), (3, 2), (4, 0), (2500, 3), (4999, 3)])
@pytest.mark.parametrize("piece", [8, 1 << 22])
def test_a_changed_target_is_named(backend, tuned, vertex, edge, piece):
    tuned(VERIFY, attached_edges=piece)
    _, dst = GRAPH.block(backend, 0, 1)
    dst[first_edge(vertex, 4) + edge] += 1
    with pytest.raises(VerificationError, match=f"vertex {vertex}, edge {edge}: "):
        verify.check(backend, GRAPH, 0, GRAPH.n, dst)


def test_a_kernel_that_disagrees_with_the_definition_is_caught(monkeypatch):
    cpu, other = get_backend("cpu"), PreferentialAttachment(5000, 4, 0.5, 18)
    src, dst = other.block(cpu, 0, 1)
    # A planted error of a kernel.
    monkeypatch.setattr(verify, "edges", lambda *arguments: (src, dst))
    with pytest.raises(VerificationError, match="but seed 17 gives"):
        verify.check(cpu, GRAPH, 0, GRAPH.n, dst)


@pytest.mark.parametrize("multi_edges", ["merge", "redraw"])
@pytest.mark.parametrize(("degree", "p"), [(4, 0.5), (3, 0.0), (40, 0.3)])
@pytest.mark.parametrize("piece", [100, 1 << 22])
def test_the_checks_know_what_becomes_of_parallel_edges(backend, tuned, multi_edges, degree, p, piece):
    tuned(VERIFY, attached_edges=piece)
    graph = PreferentialAttachment(500, degree, p, 3, multi_edges)
    src, dst = graph.block(backend, 1, 3)
    share = graph.vertices(1, 3)
    verify.check(backend, graph, *share, dst)
    kept = PreferentialAttachment(500, degree, p, 3)
    with pytest.raises(VerificationError):
        verify.check(backend, kept, *share, dst)
    with pytest.raises(VerificationError):
        verify.check(backend, graph, *share, kept.block(backend, 1, 3)[1])
    for place in (0, len(dst) // 2, len(dst) - 1):
        planted = dst.copy()
        planted[place] += 1
        with pytest.raises(VerificationError, match=f"vertex {int(src[place])}, edge "):
            verify.check(backend, graph, *share, planted)
    for shorter in (dst[:-1], dst[:0]):
        with pytest.raises(VerificationError, match=r"edges?, but|stored target"):
            verify.check(backend, graph, *share, shorter)


def test_missing_edges_and_bad_arguments_are_named():
    cpu = get_backend("cpu")
    _, dst = GRAPH.block(cpu, 0, 1)
    with pytest.raises(VerificationError, match="have 19990 edges, but 19989"):
        verify.check(cpu, GRAPH, 0, GRAPH.n, dst[:-1])
    with pytest.raises(InputError, match=r"0 \.\. 6000"):
        verify.check(cpu, GRAPH, 0, 6000, dst)
    with pytest.raises(InputError, match="sample=-1"):
        verify.check(cpu, GRAPH, 0, GRAPH.n, dst, sample=-1)


def test_recomputing_one_vertex_gives_its_stored_edges():
    _, dst = GRAPH.block(get_backend("cpu"), 0, 1)
    rows = verify.recompute(GRAPH, [0, 3, 4, 4999])
    assert rows[:2] == [[], [0, 1, 2]]
    for v, row in zip((4, 4999), rows[2:], strict=True):
        begin = first_edge(v, 4)
        np.testing.assert_array_equal(dst[begin : begin + 4], row)
