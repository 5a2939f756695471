"""Every error travels between processes, as itself, whatever Dask does to pickling."""

import subprocess
import sys

import pytest

from graphdask import errors

CLASSES = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.GraphdaskError)]

AFTER_DASK = """
import pickle, sys
from graphdask import errors  # first: what Dask registers is what it finds when it is imported
import distributed
from graphdask import errors
for name in sys.argv[1:]:
    error = getattr(errors, name)("what was wrong")
    try:
        raise error
    except errors.GraphdaskError as raised:
        again = pickle.loads(pickle.dumps(raised))
    assert type(again) is type(error), (name, again)
    assert str(again) == "what was wrong", (name, again)
located = pickle.loads(pickle.dumps(errors.FormatError("no number", "graph.txt", 7)))
assert (str(located), located.line) == ("graph.txt:7: no number", 7), located
"""


def test_errors_survive_pickling_when_dask_is_imported_after_them():
    done = subprocess.run(
        [sys.executable, "-c", AFTER_DASK, *(kind.__name__ for kind in CLASSES)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", CLASSES)
def test_errors_name_the_exit_code_of_the_command_line(kind):
    expected = 3 if issubclass(kind, errors.VerificationError) else 2 if issubclass(kind, errors.InputError) else 1
    assert kind.exit_code == (2 if kind is errors.MissingDependency else expected)
