"""Where the text of a function may be: candidates, each to be compared with the function's code."""

from __future__ import annotations

import linecache
import os
import stat
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType

# A typed function is looked for in so many places of the history, in so many lines each.
_MOST_STARTS = 50
_MOST_LINES = 200
_MOST_BYTES = 1 << 24


def texts_of(function: FunctionType) -> Iterator[list[str]]:
    """The lines of every text that may define a function, the likeliest first.

    What is yielded is a guess but for files: compile it and compare the code objects.
    """
    code = function.__code__
    filename = code.co_filename
    linecache.checkcache(filename)
    lines = linecache.getlines(filename, function.__globals__)
    if lines:
        yield lines
    elif filename == "<string>":
        # `python -c text`: the interpreter keeps its arguments, before 3.13 nothing else.
        for argument in sys.orig_argv[1:]:
            yield argument.removeprefix("-c").splitlines(keepends=True)
    elif filename.startswith("<frozen "):  # a part of the interpreter: its file lies beside
        yield linecache.getlines(str(function.__globals__.get("__file__", "")))
    elif filename in ("<stdin>", "<console>"):
        for typed in (_standard_input(), _history()):
            yield typed
            yield from _statements_of(typed, code)


def is_guess(function: FunctionType) -> bool:
    """Whether the name of the file is one that any executed text may have."""
    return function.__code__.co_filename in ("<string>", "<stdin>", "<console>")


def _standard_input() -> list[str]:
    """`python < file`: the file is still open."""
    try:
        status = os.fstat(0)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            return []
        text = os.pread(0, status.st_size, 0).decode()
    except (OSError, UnicodeDecodeError, AttributeError):  # closed, no text, not on this system
        return []
    return text.splitlines(keepends=True)


def _history() -> list[str]:
    """What was typed before 3.13: readline has it by line, without the empty ones."""
    readline = sys.modules.get("readline")
    if readline is None:
        return []
    numbers = range(1, readline.get_current_history_length() + 1)
    return [(readline.get_history_item(number) or "") + "\n" for number in numbers]


def _statements_of(typed: list[str], code: CodeType) -> Iterator[list[str]]:
    """What may be the statement that defines a function: at a prompt each begins with line 1."""
    name = "lambda" if code.co_name == "<lambda>" else code.co_name
    starts = 0
    for index in range(len(typed) - 1, -1, -1):
        first = index - code.co_firstlineno + 1
        line = typed[index].lstrip()
        if first < 0 or not (name in line or line.startswith("@")):
            continue
        starts += 1
        if starts > _MOST_STARTS:
            return
        for last in range(index + 1, min(len(typed), index + _MOST_LINES) + 1):
            yield typed[first:last]
