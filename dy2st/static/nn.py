"""Control flow as functions, for models that call it by these names; plain `if` and `while` do.

These functions are converted like the user's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.lazy import public_dir

Branch = Callable[[], Any]


def cond(
    pred: Any,
    true_fn: Branch | None = None,
    false_fn: Branch | None = None,
    name: str | None = None,
    return_names: Any = None,
) -> Any:
    """`true_fn() if pred else false_fn()`; a function that is left out gives None.

    >>> cond(True, lambda: "yes", lambda: "no")
    'yes'
    """
    if true_fn is None or false_fn is None:
        function = false_fn if true_fn is None else true_fn
        wanted = pred if false_fn is None else not pred
        return function() if function is not None and wanted else None
    return true_fn() if pred else false_fn()


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    is_test: bool = False,
    name: str | None = None,
) -> list[Any]:
    """`while cond(*v): v = body(*v)`, from `v = loop_vars` on; the last v as a list.

    >>> while_loop(lambda i: i < 3, lambda i: [i + 1], [0])
    [3]
    """
    values = list(loop_vars)
    while cond(*values):
        results = body(*values)
        values = list(results) if isinstance(results, (list, tuple)) else [results]
    return values


def case(
    pred_fn_pairs: Sequence[tuple[Any, Branch]],
    default: Branch | None = None,
    name: str | None = None,
) -> Any:
    """What the function beside the first condition that holds gives; else `default`, or the last.

    >>> case([(False, lambda: 1), (True, lambda: 2)])
    2
    """
    if not pred_fn_pairs:
        raise ArgumentError("case() needs a condition and a function")
    pred, function = pred_fn_pairs[0]
    if len(pred_fn_pairs) > 1:
        return function() if pred else case(pred_fn_pairs[1:], default)
    if default is None:
        return function()
    return function() if pred else default()


def switch_case(
    branch_index: Any, branch_fns: Any, default: Branch | None = None, name: str | None = None
) -> Any:
    """What the function of number `branch_index` gives; else `default`, or the highest one's.

    >>> switch_case(1, {0: lambda: "a", 1: lambda: "b"})
    'b'
    """
    pairs = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    if pairs and callable(pairs[0]):
        pairs = list(enumerate(pairs))
    pairs.sort(key=lambda pair: pair[0])
    rest = pairs[-1][1] if default is None else default
    return case([(branch_index == number, function) for number, function in pairs], rest)


__dir__ = public_dir(__name__)
