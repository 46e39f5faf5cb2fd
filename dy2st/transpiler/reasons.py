"""Why a statement is left as Python: one code each, with the cause and what to write instead.

A statement left as Python is exact for Python values. If its condition turns out to be a traced
tensor, the error is worded from this table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """Why, and what to write instead; `{name}` stands for the variable concerned."""

    why: str
    hint: str


REASONS: dict[str, Reason] = {
    "yield": Reason(
        "the statement contains `yield` or `await`, which must run in the function itself",
        "compute the tensor condition in a helper function without `yield`",
    ),
    "jump": Reason(
        "a `return`, `break` or `continue` leaves it in `finally`, a generator or a coroutine",
        "assign a result inside the statement, and leave the loop or function after it",
    ),
    "super": Reason(
        "it calls super() without arguments",
        "call super() before the statement, or write super(Class, self)",
    ),
    "namespace": Reason(
        "its function calls locals(), eval(), exec(), vars() or dir(), which would see the rewrite",
        "make the call in a function of its own",
    ),
    "depth": Reason(
        "it is nested too deeply to be rewritten", "split the function into smaller ones"
    ),
    "async": Reason(
        "it stands in or contains an `async` statement",
        "move the tensor code into a plain function",
    ),
}
