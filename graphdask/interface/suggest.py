"""What was meant by a name that there is not, of a function or an argument: near ones, and those of other packages."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib.util import find_spec
from types import FunctionType
from typing import Any, TypeVar

from graphdask.errors import ArgumentError
from graphdask.interface.kinds import Options
from graphdask.interface.registry import algorithms

T = TypeVar("T")

LONG = 11
"""Letters from which a misspelt word may have two slips."""

GUARDED = ("__init__", "__call__", "__getitem__", "__contains__")
"""Methods with names of Python's that users call with arguments."""

NAMES = {
    "read_graph": "read load load_graph open read_csv read_edgelist read_edge_list read_weighted_edgelist read_parquet "
    "from_csv read_adjlist read_gexf read_graphml read_npz read_mtx",
    "from_edges": "from_edgelist from_edge_list from_pandas from_pandas_edgelist from_cudf_edgelist from_arrays graph",
    "from_networkx": "from_nx",
    "from_scipy": "from_scipy_sparse_array from_scipy_sparse_matrix from_adjacency from_numpy_array from_csr",
    "from_dask_dataframe": "from_dask from_dask_cudf_edgelist from_dataframe",
    "same_graph": "graphs_equal",
    "DynamicGraph": "Dynamic MutableGraph",
    "generate.preferential_attachment": "barabasi_albert barabasi_albert_graph ba scale_free pa",
    "generate.erdos_renyi": "er gnp gnm gnp_random_graph gnm_random_graph fast_gnp_random_graph erdos_renyi_graph",
    "generate.rmat": "kronecker rmat_graph graph500",
    "sample.random_walk": "walk walks random_walks uniform_random_walk deepwalk",
    "sample.node2vec": "node2vec_walks node2vec_random_walks biased_random_walk",
    "sample.neighbors": "neighbor_sample uniform_neighbor_sample neighbor_sampler sample_neighbors graphsage",
    "sample.personalized_pagerank": "ppr",
    "sample.ShaDowLoader": "ShaDowKHopSampler shadow",
    "sample.random_edges": "edges",
    "sample.random_nodes": "nodes",
}
"""What other packages call what is here, by its name here; `names` has those of the algorithms too."""

ARGUMENTS = {
    "damping restart p": "alpha damping_factor d teleport",
    "sources k starts seeds fanouts count": "k n_samples num_samples samples n_sources",
    "max_iter iterations": "max_iter max_iterations maxiter max_iters iterations niter n_iter "
    "num_iter num_iterations iters",
    "tol": "tolerance eps epsilon threshold",
    "weight weighted weights": "weight weights weighted edge_attr distance cost",
    "source": "root start source_vertex source_node src",
    "sources starts seeds source": "sources starts seeds start start_vertices start_nodes start_list nodes input_nodes",
    "personalization personalize": "personalize personalized personalization reset",
    "start": "nstart initial initial_ranks",
    "G": "g graph",
    "seed": "random_state rng random_seed generator",
    "walks_per_start": "num_walks n_walks walks number_walks",
    "length depth": "walk_length path_length num_steps steps max_depth hops",
    "input_nodes": "node_idx",
    "fanouts sizes": "fanout num_neighbors sizes fanout_vals",
    "n num_vertices vertices": "nodes n_vertices num_nodes num_vertices number_of_nodes n_nodes vertices",
    "m edges": "num_edges n_edges number_of_edges edges",
    "degree": "m edges_per_vertex k",
    "p": "prob probability",
    "edge_factor": "edgefactor",
    "direction": "mode orientation reverse",
    "replace": "with_replacement replacement",
    "delimiter": "sep separator",
    "columns": "names usecols",
    "comment": "comments",
    "directed": "is_directed create_using undirected",
    "path": "file filename fname",
    "self_loops": "loops selfloops",
    "multi_edges": "multigraph duplicates parallel_edges",
    "normalized": "normalised norm normalize",
    "prefetch": "num_workers prefetch_factor persistent_workers",
    "bias": "weight_attr",
    "times": "time_attr",
    "num_samples": "num_neighbors fanouts",
    "subgraph_type": "directed",
    "client workers": "n_jobs nprocs num_workers n_workers threads",
    "output": "o out",
    "workers": "w j n np jobs",
    "overwrite": "force f",
    "format": "f fmt file_format",
    "partitions": "parts num_partitions nparts",
    "progress": "verbose",
}
"""What other packages call arguments, by their names here: the first that a function has is meant."""
NOT_NEEDED = {
    "is_sorted": "edges may stand in any order; leave it out",
    "filter_per_worker": "a thread of this process takes the rows of x and y, ahead of their use as prefetch= says; "
    "leave it out",
    "transform_sampler_output": "transform= is called with the batch and may change its edges; rows of x and y are "
    "taken before",
    "neighbor_sampler": "give the options of the draws to the loader itself",
    "pin_memory": "batches of a graph on a GPU are made there; leave it out",
}
"""Arguments of other packages that nothing here stands for, and why."""
NOT_OF = {
    "HGTLoader": {
        "weight_attr": "budgets follow numbers of edges; TypedNeighborLoader draws by weights",
        "bias": "budgets follow numbers of edges; TypedNeighborLoader draws by weights",
        "time_attr": "edges of all times are seen; TypedNeighborLoader draws in time",
        "times": "edges of all times are seen; TypedNeighborLoader draws in time",
        "input_time": "edges of all times are seen; TypedNeighborLoader draws in time",
        "disjoint": "give batch_size=1 for a sample of each seed",
        "replace": "vertices are drawn once each; leave it out",
        "subgraph_type": "batches have all edges between their vertices; leave it out",
        "directed": "batches have all edges between their vertices; leave it out",
    },
}
"""Arguments of a function's relatives that it has no meaning for, and why."""


def names() -> dict[str, str]:
    """What other packages call what is here, by its name here."""
    return {each.name: each.also for each in algorithms().values()} | NAMES


def _by_name() -> dict[str, str]:
    return {other: name for name, others in names().items() for other in others.split()}


def meant(name: str, names: Iterable[str], least: float = 0.65) -> str | None:
    """Return the one of these names that is nearest to a name; None if there is none of which it may be a misspelling.

    Names must share `least` of their characters, and each word of the given one must be a misspelling of a word of the
    other, or its beginning: `closeness_centrality` is near to `betweenness_centrality`, and means something else.
    """
    near = {each.lower(): each for each in sorted(names) if not each.startswith("_")}
    for found in get_close_matches(name.lower(), near, len(near) or 1, least):
        if _misspelt(name.lower(), found):
            return near[found]
    return None


def _misspelt(given: str, name: str) -> bool:
    """Whether each word of one name, or it without signs between words, may be meant to be of the other."""
    words = name.split("_")
    if _slip(given.replace("_", ""), name.replace("_", "")):
        return True
    return all(any(_slip(one, word) for word in words) for one in given.split("_"))


def _slip(given: str, word: str) -> bool:
    """Whether a word may be a slip of the pen for another: it begins alike, and they are one edit apart (two if it is
    long), or it is a beginning of three letters or more. An edit adds, takes, replaces or swaps letters."""
    if given[:1] != word[:1]:
        return False
    if len(given) >= 3 and word.startswith(given):
        return True
    before, last = [0] * (len(word) + 1), list(range(len(word) + 1))
    for i, character in enumerate(given, 1):
        here = [i]
        for j, other in enumerate(word, 1):
            edits = min(last[j] + 1, here[j - 1] + 1, last[j - 1] + (character != other))
            if i > 1 and j > 1 and character == word[j - 2] and given[i - 2] == other:
                edits = min(edits, before[j - 2] + 1)
            here.append(edits)
        before, last = last, here
    return last[-1] <= (1 if len(given) < LONG else 2)


def meant_function(name: str) -> str:
    """The name here of what other packages call so, such as `generate.rmat`; the name itself where it is none."""
    return _by_name().get(name.lower(), name)


def meant_argument(name: str, names: Iterable[str]) -> str | None:
    """The one of a function's arguments that is meant by a name; None where none is."""
    names = list(names)
    for here, others in ARGUMENTS.items():
        if name in others.split():
            for each in here.split():
                if each in names and each != name:
                    return each
    return meant(name, names)


def no_attribute(module: str, name: str, public: Iterable[str]) -> AttributeError:
    """The error for a public name that a module has not, with the one that is meant."""
    text = f"module {module!r} has no attribute {name!r}"
    if name.startswith("_") or _is_module(f"{module}.{name}"):  # asked by Python: by tools, and while it imports
        return AttributeError(text)
    by_name = _by_name()
    known = {f"graphdask.{each}" for each in names()} | {f"{module}.{each}" for each in public}
    known -= {f"{module}.{name}"}
    if name in by_name:
        return AttributeError(f"{text}; did you mean graphdask.{by_name[name]}?")
    for each in sorted(known):
        if each.rpartition(".")[2] == name:
            return AttributeError(f"{text}; did you mean {each}?")
    near = {each.rpartition(".")[2]: each for each in sorted(known, key=lambda each: each.startswith(f"{module}."))}
    found = meant(name, near) or by_name.get(meant(name, by_name) or "")
    if found is None:
        return AttributeError(text)
    return AttributeError(f"{text}; did you mean {near.get(found, f'graphdask.{found}')}?")


def _is_module(name: str) -> bool:
    """Whether a module of a package has this name; `from package import module` asks for an attribute first."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def suggesting(function: Any, module: str, name: str) -> Any:
    """The public form of a function: a call whose arguments do not fit says which are meant, as an ArgumentError, and
    an option of a wrong kind is refused by its name, as an InputError (graphdask.interface.kinds).

    Its signature and docstring are the function's, and it is pickled by its public name. Other values are returned as
    they are.
    """
    if not inspect.isfunction(function):
        return function
    public = _guarded(function, name)
    public.__module__, public.__name__, public.__qualname__ = module, name, name
    return public


def public(cls: type[T]) -> type[T]:
    """Make the constructor and the public methods of a class, and of the classes derived from it, speak as public
    functions do (`suggesting`). A class whose methods another one inherits names that one in `SPOKEN`."""
    _guard(cls)

    def derived(of: type, **kwargs: Any) -> None:
        super(cls, of).__init_subclass__(**kwargs)  # type: ignore[misc]
        _guard(of)

    cls.__init_subclass__ = classmethod(derived)  # type: ignore[assignment, method-assign]
    return cls


def _guard(cls: type) -> None:
    owner = vars(cls).get("SPOKEN", cls.__name__)
    for name, value in list(vars(cls).items()):
        if name.startswith("_") and name not in GUARDED:
            continue
        spoken = owner if name == "__init__" else f"{owner}.{name.strip('_')}"
        if inspect.isfunction(value) and not hasattr(value, "__wrapped__"):
            setattr(cls, name, _guarded(value, spoken, cls))


def _guarded(function: Any, name: str, of: type | None = None) -> Any:
    """A function that checks its arguments and then calls another, with the other's signature and docstring."""
    explain: Callable[..., ArgumentError] = _misfit
    doc = of.__doc__ if of is not None and function.__name__ == "__init__" else function.__doc__
    checked, fit, method = Options(function, doc).checked, _fit_of(function), of is not None

    def call(*args: Any, **kwargs: Any) -> Any:
        args = checked(args, kwargs)
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is None or (error.__traceback__.tb_next is not None and fit(args, kwargs)):
                raise  # it comes from inside the function
            refused = explain(function, name, method, args, kwargs)
        raise refused

    # In the function's own module, where doctest looks for it.
    guarded = FunctionType(call.__code__, function.__globals__, function.__name__, None, call.__closure__)
    return functools.update_wrapper(guarded, function)


def _fit_of(function: Any) -> Callable[[Any, Any], bool]:
    """What says whether a TypeError from deeper than the call is none of the call: always, but of a decorated one."""

    def fit(args: Any, kwargs: Any) -> bool:
        if hasattr(function, "__wrapped__"):
            try:
                inspect.signature(function).bind(*args, **kwargs)
            except TypeError:
                return False
        return True

    return fit


def _misfit(function: Any, name: str, method: bool, args: tuple[Any, ...], given: dict[str, Any]) -> ArgumentError:
    """What does not fit in a call."""
    parameters = list(inspect.signature(function).parameters.values())[method:]
    names = [each.name for each in parameters]
    has = f"it has {', '.join(names)}" if names else "it has none"
    for each in given:
        if each not in names:
            refused = NOT_OF.get(name, {}).get(each) or NOT_NEEDED.get(each)
            if refused is not None:
                return ArgumentError(f"{name} has no argument {each}=; {refused}")
            found = meant_argument(each, [other for other in names if other not in given])
            if found is not None:
                return ArgumentError(f"{name} has no argument {each}=; did you mean {found}=?")
            return ArgumentError(f"{name} has no argument {each}=; {has}")
    placed = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    count = len(args) - method
    if count > len(placed):
        takes = f"takes {len(placed)} argument{'s' * (len(placed) != 1)} by position, but {count} were given"
        return ArgumentError(f"{name} {takes}; {has}")
    for each in placed[:count]:
        if each in given:
            return ArgumentError(f"{name} was given {each} twice, by position and as {each}=; {has}")
    missing = [
        each.name
        for each in parameters
        if each.default is each.empty and each.name not in given and each.name not in placed[:count]
        and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    ]  # fmt: skip
    return ArgumentError(f"{name} needs {' and '.join(f'{each}=' for each in missing)}; {has}")
