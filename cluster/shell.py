"""Words that reach a shell, a batch system's directives or ssh: each is checked and quoted here, and nowhere else.

A job script is read twice: by bash, and by the batch system, which takes its options from the comments at the top. Each
has its own rules of quoting, and all of them end a word at the end of a line. No value with a control character gets
through, so that one option can never become a second line.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable

from graphdask.errors import InputError

LONGEST_NAME = 255
"""Bytes of the name of a partition, an account or a network."""
LONGEST_PATH = 4096
"""Bytes of a file name with its folders, as Linux has it."""
LONGEST_WORD = 131_071
"""Bytes of one argument of a process, as Linux has it."""
REFUSED = ("Cc", "Cs", "Zl", "Zp")
"""Control characters, halves of surrogate pairs, and Unicode's own ends of lines and paragraphs."""
SAFE_IN_DIRECTIVE = re.compile(r"[A-Za-z0-9_./:=,@%+^-]+")
SPLITS_A_SLURM_JOB = re.compile(r"(pack|het)(job)", re.IGNORECASE)
"""Slurm divides a job where it finds these words in a directive, also within a value."""
NETWORK = re.compile(r"[A-Za-z0-9_.:@]+(?:-+[A-Za-z0-9_.:@]+)*")
HOST = re.compile(
    r"(?:[A-Za-z0-9_.+]+(?:-+[A-Za-z0-9_.+]+)*@)?(?:[A-Za-z0-9_.-]+|\[?[0-9A-Fa-f:.]+(?:%[A-Za-z0-9_.-]+)?\]?)"
)
JOB_NUMBER = re.compile(r"[A-Za-z0-9_.\[\]][A-Za-z0-9_.\[\]@-]*")


def line(option: str, value: str, longest: int = LONGEST_WORD) -> str:
    """Return a value that is one line of text.

    Parameters
    ----------
    option : str
        What the caller calls the value, for the error.
    value : str
    longest : int
        Bytes that it may have.

    Raises
    ------
    InputError
        If it is no text, has a control character, or is too long.
    """
    if not isinstance(value, str):
        raise InputError(f"{option}={value!r} is a {type(value).__name__}; give text")
    bad = next((each for each in value if unicodedata.category(each) in REFUSED), None)
    if bad is not None:
        shown = value if len(value) <= 80 else value[:80] + "..."
        kind = "part of a character" if unicodedata.category(bad) == "Cs" else "control character"
        raise InputError(f"{option} {shown!r} has the {kind} {bad!r}, which no job may be given; leave it out")
    if (size := len(value.encode())) > longest:
        raise InputError(f"{option} {value[:40]!r}... has {size} bytes; {longest} is the most")
    return value


def name(option: str, value: str, longest: int = LONGEST_NAME) -> str:
    """Return a value that is one line, is not empty and does not begin like an option.

    Raises
    ------
    InputError
        If it is not.
    """
    if not line(option, value, longest).strip():
        raise InputError(f"{option} is empty; leave it out, or name one")
    if value.startswith("-"):
        raise InputError(f"{option} {value!r} begins with a hyphen, as an option does")
    return value


def path(option: str, value: str) -> str:
    """Return the name of a file or folder that is one line and is not empty."""
    if not line(option, value, LONGEST_PATH):
        raise InputError(f"{option} is empty; name a file or folder")
    return value


def network(option: str, value: str) -> str:
    """Return the name of a network interface: letters, digits and `_ . : @ -`."""
    if NETWORK.fullmatch(name(option, value)) is None:
        raise InputError(f"{option} {value!r} is not the name of a network interface, such as ib0 (ip link lists them)")
    return value


def host(option: str, value: str) -> str:
    """Return the name or address of a host, with `user@` before it where that is given."""
    if HOST.fullmatch(name(option, value)) is None:
        raise InputError(f"{option} {value!r} is not the name of a host, such as node1 or me@node1")
    return value


def job_number(value: str) -> str:
    """Return what a batch system calls a job."""
    if not isinstance(value, str) or JOB_NUMBER.fullmatch(value) is None:
        raise InputError(f"{value!r} is not the number of a job")
    return value


def directive(prefix: str, option: str, value: object = None) -> str:
    """Return a line of a script's header for the batch system.

    Parameters
    ----------
    prefix : {"#SBATCH", "#PBS"}
        Whose rules of quoting hold: Slurm takes a backslash as an escape also within single quotes, PBS does not.
    option : str
        Such as `--partition` or `-q`. Without a value the text is the caller's own, and goes in as it is.
    value : object, optional
        One word.

    Examples
    --------
    >>> directive("#SBATCH", "--chdir", "/a b")
    '#SBATCH --chdir="/a b"'
    >>> directive("#PBS", "-q", "a b")
    "#PBS -q 'a b'"
    """
    if value is None:
        text = line("--directive", option)
        if text.endswith("\\"):
            raise InputError(
                f"--directive {text!r} ends with a backslash, which would take the next line in; leave it out"
            )
        return f"{prefix} {text}"
    text = line(option, str(value))
    if prefix == "#PBS":
        return f"{prefix} {option} {text if SAFE_IN_DIRECTIVE.fullmatch(text) else shlex.quote(text)}"
    return f"{prefix} {option}={slurm_word(text)}"


def slurm_word(text: str) -> str:
    """Return a word of a directive as Slurm reads it: in double quotes where it needs any, with its escapes."""
    if SAFE_IN_DIRECTIVE.fullmatch(text) and not SPLITS_A_SLURM_JOB.search(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + SPLITS_A_SLURM_JOB.sub(r"\1\\\2", escaped) + '"'


def words(arguments: Iterable[str], option: str = "the command's argument") -> str:
    """Return words as a shell reads them: each arrives as it is, whatever it holds."""
    return shlex.join(line(option, each) for each in arguments)


def export(variable: str, value: str, lines: bool = False) -> str:
    """Return the shell command that puts a value into the environment.

    Parameters
    ----------
    variable, value : str
    lines : bool
        Whether the value may have several lines, as a certificate has. By default it may not.
    """
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable) is None:
        raise InputError(f"{variable!r} is not the name of an environment variable")
    for each in value.split("\n") if lines else [value]:
        line(variable, each)
    return f"export {variable}={shlex.quote(value)}"


def label(arguments: Iterable[str], longest: int) -> str:
    """Return a name for a job, made of a command's words: letters, digits and `. _ + -`."""
    return re.sub(r"[^A-Za-z0-9._+]+", "-", "-".join(arguments))[:longest].rstrip("-")


__all__ = [
    "directive",
    "export",
    "host",
    "job_number",
    "label",
    "line",
    "name",
    "network",
    "path",
    "slurm_word",
    "words",
]
