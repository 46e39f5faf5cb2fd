"""What converted code does with traced values: the operators of control flow.

Every function here is called only when a traced value is involved; the Python side decides that.
`names` of the variables, and where the statement stands, are found by
`dy2st.transpiler.statement_info(true_fn.__code__)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

Values = Sequence[Any]


def stage_ifelse(
    pred: Any,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    true_args: Values,
    false_args: Values,
    return_vars: Values,
) -> Any:
    """A traced `if`: `true_fn(*true_args)` or `false_fn(*false_args)`.

    The branches return what `len(return_vars)` says: None for 0, the value for 1, else a tuple;
    so does this. `return_vars` are the values of the variables before the `if` (or Undefined).
    """
    raise NotImplementedError("traced if")


def stage_defined(value: Any) -> None:
    """A traced value is read from a variable that may be unbound: add the check, if it needs one.

    A variable that only one branch of a traced `if` binds has a value all the same.
    """


def stage_ifexp(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """A traced `a if pred else b`; the functions have no parameters."""
    raise NotImplementedError("traced conditional expression")


def stage_while(
    condition: Callable[..., Any], body: Callable[..., Any], variables: Values, first: Any
) -> tuple[Any, ...]:
    """The remaining turns of a `while` whose condition became traced.

    `condition(*variables)` gives the test, `body(*variables)` the next variables as a tuple.
    `first` is the test already computed on `variables`. Returns the variables after the loop.
    """
    raise NotImplementedError("traced while")


def is_staged_iterable(iterable: object) -> bool:
    """Whether `for` over this value must be staged: a traced tensor, or a range, enumerate, zip,
    reversed of traced values as made by the functions below."""
    return False


def stage_for(
    iterable: Any,
    condition: Callable[..., Any] | None,
    body: Callable[..., Any],
    variables: Values,
) -> tuple[Any, ...]:
    """`for item in iterable` over a staged iterable: `body(item, *variables)` each turn.

    If `condition` is given, a turn runs only while `condition(*variables)` holds (the loop has a
    `break`). Returns the variables after the loop.
    """
    raise NotImplementedError("traced for")


def stage_turn(
    go_on: Any, item: Any, body: Callable[..., Any], variables: Values
) -> tuple[Any, ...]:
    """One turn of a loop over a Python iterable that may have ended: run it only if `go_on`."""
    raise NotImplementedError("traced break in a Python loop")


def stage_range(arguments: Values) -> tuple[Any, Any]:
    """`range(...)` with traced arguments: the range, and the number of its turns (traced)."""
    raise NotImplementedError("range of traced values")


def stage_turn_of_range(numbers: Any, turn: Any) -> Any:
    """The number of a turn: `start + turn * step`; `numbers` or `turn` is traced."""
    raise NotImplementedError("item of a traced range")


def stage_and(left: Any, right: Callable[[], Any]) -> Any:
    """`left and right()` for a traced left operand."""
    raise NotImplementedError("traced and")


def stage_or(left: Any, right: Callable[[], Any]) -> Any:
    """`left or right()` for a traced left operand."""
    raise NotImplementedError("traced or")


def stage_not(value: Any) -> Any:
    """`not value` for a traced value."""
    raise NotImplementedError("traced not")


def stage_in(value: Any, container: Any) -> Any:
    """`value in container`, where one of them, or an item of a list or tuple, is traced."""
    raise NotImplementedError("traced in")


def stage_assert(test: Any, message: Callable[[], Any] | None) -> None:
    """`assert test, message()` for a traced test."""
    raise NotImplementedError("traced assert")


def stage_print(arguments: Values, keywords: dict[str, Any]) -> None:
    """`print` with a traced argument."""
    raise NotImplementedError("traced print")


def stage_cast(kind: type, value: Any) -> Any:
    """`bool(value)`, `int(value)`, `float(value)` or `complex(value)` of a traced value."""
    raise NotImplementedError("traced cast")


def stage_len(value: Any) -> Any:
    """`len(value)` of a traced value."""
    raise NotImplementedError("traced len")


def stage_builtin(function: Callable[..., Any], arguments: Values, keywords: dict[str, Any]) -> Any:
    """Another builtin with a traced argument: abs, all, any, divmod, enumerate, isinstance, max,
    min, pow, reversed, round, sorted, sum, zip, or `range` called where no loop is."""
    raise NotImplementedError(f"traced {function.__name__}")


def stage_setitem(target: Any, index: Any, value: Any) -> Any:
    """`target[index] = value` for a traced target, or for a traced index or value into a tensor or
    list: the changed target."""
    raise NotImplementedError("traced setitem")


def stage_append(target: Any, value: Any) -> Any:
    """`target.append(value)` for a staged list: the changed list."""
    raise NotImplementedError("traced append")


def stage_pop(target: Any, arguments: Values) -> tuple[Any, Any]:
    """`target.pop(...)` for a staged list: the changed list and the item."""
    raise NotImplementedError("traced pop")


def is_staged_list(value: object) -> bool:
    """Whether this is a list inside a staged loop or branch."""
    return False


def stage_iterator(value: Any) -> Iterator[Any]:
    """The items of a traced value in a loop that is left as Python."""
    raise NotImplementedError("iteration over a traced value")
