"""What converted code does with traced values: the operators of control flow.

Every function here is called only when a traced value is involved; the Python side decides that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

from dy2st.convert import stage_lists, stage_values
from dy2st.convert.by_turns import is_by_turns
from dy2st.convert.catchers import refuse_if_caught, refuse_if_ending
from dy2st.convert.choices import is_same, loop_over_cases, spread
from dy2st.convert.iterators import Generated
from dy2st.convert.joining import is_number
from dy2st.convert.outer import announcing, places_of
from dy2st.convert.record import staged
from dy2st.convert.regions import raised_when_run
from dy2st.convert.stage_if import stage_branches, truth
from dy2st.convert.stage_lists import LIST_BUILTINS
from dy2st.convert.stage_text import text_of
from dy2st.convert.stage_values import StagedItems, staged_items, tracer
from dy2st.convert.stage_while import stage_loop
from dy2st.convert.stale import check_fresh
from dy2st.convert.traced import is_a
from dy2st.transpiler import StatementInfo, statement_info
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ConversionError, TensorAsPython, UnsupportedSyntax
from dy2st_runtime.ir import ArrayType, F, Tensor, Variable, current_tracer, user_location
from dy2st_runtime.ir.choice import Choice, Text
from dy2st_runtime.ir.program import refused_list
from dy2st_runtime.ir.structure import is_container
from dy2st_runtime.tensor import EagerTensor

Values = Sequence[Any]
_TRACED = (Variable, Condition, Dim, Text)


@staged()
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
    info = _info(true_fn)
    places = places_of(info, (true_fn, true_args), (false_fn, false_args))
    count = len(return_vars)
    results = stage_branches(
        pred,
        _many(true_fn, count),
        _many(false_fn, count),
        true_args,
        false_args,
        info.names,
        info.guarded,
        places,
    )
    if len(return_vars) == 1:
        return results[0]
    return results if return_vars else None


@staged("if expression")
def stage_ifexp(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """A traced `a if pred else b`; the functions have no parameters."""
    names = ("the value of `... if ... else ...`",)
    return stage_branches(pred, _one(true_fn), _one(false_fn), (), (), names)[0]


@staged()
def stage_while(
    condition: Callable[..., Any], body: Callable[..., Any], variables: Values, mark: int
) -> tuple[Any, ...]:
    """The remaining turns of a `while` whose condition became traced.

    `condition(*variables)` gives the test, `body(*variables)` the next variables as a tuple.
    The test on the first `variables` was recorded after `mark` operators; the loop computes it.
    Returns the variables after the loop.
    """
    info = _info(body)
    places = places_of(info, (body, variables), (condition, variables))
    tracer().discard(mark)
    turn = announcing(body, places)
    return stage_loop(condition, turn, variables, info.names, info.guarded, tracer())


def recorded() -> int:
    """How many operators the current Block has: a mark for `stage_while`."""
    active = current_tracer()
    return 0 if active is None else len(active.block.operators)


def is_staged_iterable(iterable: object) -> bool:
    """Whether `for` over this value must be staged: a tensor may decide on its length."""
    check_fresh(iterable)
    if type(iterable) in (Choice, Generated) or is_by_turns(iterable):
        return True
    return staged_items(iterable) is not None


@staged(body=2)
def stage_for(
    iterable: Any,
    condition: Callable[..., Any] | None,
    body: Callable[..., Any],
    variables: Values,
    run: Callable[..., Any],
) -> tuple[Any, ...]:
    """`for item in iterable` over a staged iterable: `run(item, *variables)` each turn.

    `run` is the loop's `body`, or what runs it for some items. If `condition` is given, a turn runs
    only while `condition(*variables)` holds (the loop has a `break`). Returns the variables after
    the loop.
    """
    items = staged_items(iterable)
    assert items is not None
    info = _info(body)
    places = places_of(info, (body, (None, *variables)))

    def more(turn: Any, *values: Any) -> Any:
        left = turn < items.length
        return left if condition is None else stage_and(left, lambda: condition(*values))

    @wraps(run, assigned=(), updated=())
    def take_turn(turn: Any, *values: Any) -> tuple[Any, ...]:
        return (turn + 1, *run(items.item(turn), *values))

    names = ("the number of the turn", *info.names)
    turn = announcing(take_turn, places)
    return stage_loop(more, turn, (0, *variables), names, info.guarded, tracer())[1:]


@staged()
def stage_turn(
    test: Any, body: Callable[..., Any], variables: Values, run: Callable[..., Any]
) -> tuple[Any, ...]:
    """A turn of a `for` with that `body` where `test` holds: `run(*variables)`, else nothing."""
    info = _info(body)
    places = places_of(info, (body, (None, *variables)))
    branches = run, lambda *values: values
    return stage_branches(test, *branches, variables, variables, info.names, info.guarded, places)


def stage_take(
    body: Callable[..., Any], variables: Values, run: Callable[..., Any]
) -> Callable[[Any, Any], Any]:
    """What takes an item for a `for` with that `body`: the variables after `run(item, *values)`."""
    places = places_of(_info(body), (body, (None, *variables)))

    def take(taken: Any, item: Any) -> Any:
        return tuple(run(item, *taken))

    return announcing(take, places)


def refuse_reread(body: Callable[..., Any], surely: bool) -> None:
    """A loop that a tensor leaves must not be over an iterator that is read on afterwards."""
    if surely or _info(body).reread:
        raise UnsupportedSyntax(
            "a loop that a tensor leaves runs over an iterator that is read on later",
            at=user_location(),
            why="how far it has come would be known only when the Program runs",
            hint="take the items before the loop: items = list(...)",
        )


def stage_range(arguments: Values) -> tuple[Any, Any]:
    """`range(...)` with traced arguments: the range, and the number of its turns (traced)."""
    return stage_values.range_of(arguments)


def stage_turn_of_range(numbers: Any, turn: Any) -> Any:
    """The number of a turn: `start + turn * step`; `numbers` or `turn` is traced."""
    start, step = (numbers.start, numbers.step) if isinstance(numbers, range) else numbers
    return start + turn * step


@staged("and")
def stage_and(left: Any, right: Callable[[], Any], test: Any = None) -> Any:
    """`left and right()` for a left operand that is traced, or whose truth `test` is."""
    names = ("the value of `and`",)
    return stage_branches(
        left if test is None else test, _one(right), _one(lambda: left), (), (), names
    )[0]


@staged("or")
def stage_or(left: Any, right: Callable[[], Any], test: Any = None) -> Any:
    """`left or right()` for a left operand that is traced, or whose truth `test` is."""
    names = ("the value of `or`",)
    return stage_branches(
        left if test is None else test, _one(lambda: left), _one(right), (), (), names
    )[0]


def stage_not(value: Any) -> Any:
    """`not value` for a traced value."""
    return stage_values.logical_not(value)


def stage_in(value: Any, container: Any) -> Any:
    """`value in container`, where one of them, or an item of a list or tuple, is traced."""
    if isinstance(container, Choice) or isinstance(value, Choice):
        return spread(stage_in, value, container)
    if is_staged_list(container):
        return stage_lists.contains(value, container)
    if isinstance(container, dict):
        container = [*container]
    return stage_values.contains(value, container)


def stage_assert(test: Any, message: Callable[[], Any] | None) -> None:
    """`assert test, message()` for a traced test; the message is evaluated where it fails."""
    refuse_if_caught(AssertionError, raised=AssertionError())
    if message is None:
        F.assert_(truth(tracer(), test))
        return

    def fails() -> tuple[Any, ...]:
        raise raised_when_run(AssertionError(message()))

    code = message.__code__
    is_constant = not (code.co_names or code.co_freevars or code.co_cellvars)
    text = message() if is_constant else None
    if isinstance(text, str) and text:
        F.assert_(truth(tracer(), test), text)
    else:
        stage_branches(test, lambda: (), fails, (), (), ())


def stage_format(value: Any, conversion: str, spec: Any) -> Any:
    """A traced value, or a list with such, as text: that of an f-string."""
    return text_of(value, conversion, spec)


def stage_percent(value: Any, spec: str) -> Any:
    """`spec % value` for a traced value."""
    if "*" in spec:
        raise TensorAsPython(
            f"the format {spec} beside a traced tensor",
            at=user_location(),
            why="the width is an argument of its own",
            hint="write the width into the format, or use an f-string",
        )
    return text_of(value, "%", spec)


def stage_print(arguments: Values, keywords: dict[str, Any]) -> None:
    """`print` with a traced argument."""
    refuse_if_ending()
    F.print_(
        *[value if is_container(value) else _as_tensor(value) for value in arguments], **keywords
    )


def stage_cast(kind: type, value: Any) -> Any:
    """`bool(value)`, `int(value)`, `float(value)` or `complex(value)` of a traced value."""
    if isinstance(value, Choice):
        return spread(lambda case: _cast_case(kind, case), value)
    if isinstance(value, Dim) and kind is int:
        return value
    return stage_values.cast(kind, value)


def _cast_case(kind: type, value: Any) -> Any:
    return stage_cast(kind, value) if isinstance(value, _TRACED) else kind(value)


def stage_len(value: Any) -> Any:
    """`len(value)` of a traced value."""
    if isinstance(value, Choice):
        return spread(
            lambda case: stage_len(case) if isinstance(case, _TRACED) else len(case), value
        )
    if isinstance(value, Text):
        return len(value)
    return stage_values.length(value)


def stage_builtin(function: Callable[..., Any], arguments: Values, keywords: dict[str, Any]) -> Any:
    """Another builtin with a traced argument: abs, all, any, divmod, enumerate, isinstance, max,
    min, pow, reversed, round, sorted, sum, type, zip, or `range` called where no loop is."""
    if any(isinstance(value, Choice) for value in arguments):
        call = functools.partial(_call_case, function, keywords)
        return spread(call, *arguments)
    known = LIST_BUILTINS.get(function)
    if known is not None and not keywords and is_staged_list(arguments[0]):
        return known(*arguments)
    return stage_values.call_builtin(function, arguments, keywords)


def _call_case(function: Callable[..., Any], keywords: dict[str, Any], *arguments: Any) -> Any:
    if any(isinstance(value, _TRACED) for value in arguments):
        if function is len:
            return stage_len(*arguments)
        result = stage_builtin(function, arguments, keywords)
    elif function in stage_values.BUILTINS and any(
        isinstance(v, _TRACED) for v in _items_of(arguments)
    ):
        result = stage_values.call_builtin(function, arguments, keywords)
    else:
        result = function(*arguments, **keywords)
    if function in _OF_ALL_ITEMS and isinstance(result, Iterator):
        return [*result]
    if isinstance(result, Iterator):
        raise TensorAsPython(
            f"{function.__name__}() of one of several values, such as a list whose length a tensor "
            "decides",
            at=user_location(),
            why="how far an iterator has come is no value of a Program",
            hint="go through the items in a `for` statement or list comprehension",
        )
    return result


def _items_of(arguments: Values) -> Any:
    return arguments[0] if arguments and type(arguments[0]) in (list, tuple) else ()


# What gives iterators over finitely many items, which a list serves as well.
_OF_ALL_ITEMS: tuple[Any, ...] = (enumerate, reversed, zip)


def stage_is(left: Any, right: Any) -> Any:
    """`left is right`, one of which is a Choice."""
    return is_same(left, right)


def stage_same_bool(left: Any, right: Any) -> Any:
    """`left is right` for two bools, one of which is traced: Python has one True and one False."""
    if type(left) is bool:
        left, right = right, left
    if type(right) is bool:
        return left if right else stage_not(left)
    return stage_values.as_number(F.equal(left, right), bool)


def stage_for_case(
    choice: Any, run: Callable[..., tuple[Any, ...]], body: Callable[..., Any], variables: Values
) -> tuple[Any, ...]:
    """A `for` over one of several iterables: `run(case, *variables)` for whichever it is."""
    return loop_over_cases(choice, run, variables, _info(body).names)


def stage_setitem(target: Any, index: Any, value: Any) -> Any:
    """`target[index] = value` for a traced target, or for a traced index or value into a tensor or
    list: the changed target."""
    if isinstance(target, EagerTensor):
        tracer().set_item(target, index, value)
        return target
    if isinstance(target, Variable):
        if isinstance(target.type, ArrayType):
            if isinstance(index, slice):
                raise refused_list("changed by a slice")
            only_tensors([value] if is_staged_list(value) else [])
            return _holding(F.array_write(target, index, value), value)
        tracer().set_item(target, index, value)
        return target
    if isinstance(index, (Variable, Condition, Dim)):
        raise TensorAsPython(
            f"an item of a {type(target).__name__} is set at a traced index",
            at=user_location(),
            why="which item that is, is known only when the Program runs",
            hint="keep the items in one tensor: stack([...])[i] = value",
        )
    target[index] = value
    return target


def stage_append(target: Any, value: Any) -> Any:
    """`target.append(value)` for a staged list: the changed list."""
    only_tensors([value] if is_staged_list(value) else [])
    return _holding(F.array_append(target, _as_tensor(value)), value)


def stage_list(items: list[Any]) -> Any:
    """A Python list as a list of the Program."""
    return _holding(F.array_of(only_tensors(items)), *items)


def _holding(array: Any, *items: Any) -> Any:
    """The list: each of its tensors has a second name in it, which is out of date if it changes."""
    for item in items:
        if isinstance(item, Tensor):
            tracer().aliases.note(array, tracer().variable(item))
    return array


def only_tensors(items: list[Any]) -> list[Any]:
    """The items of a list of the Program; UnsupportedSyntax if some are no tensors."""
    for item in items:
        is_list = is_staged_list(item)
        if is_list or not isinstance(item, Tensor) or is_number(item):
            kind = "list" if is_list else type(item).__name__
            raise UnsupportedSyntax(
                f"a list whose length depends on a tensor holds a {kind}",
                at=user_location(),
                why="a list of the Program holds tensors of one dtype and rank",
                hint="put in tensors: to_tensor(...) of a number",
            )
    return items


def stage_gathering(test: Any, then: Callable[[Any], Any], value: Any) -> Any:
    """`then(value)` where a traced test holds, else `value`: an `if` of a comprehension."""
    names = ("what the comprehension gathers",)
    branches = _one_of(then), _one_of(lambda value: value)
    return stage_branches(test, *branches, (value,), (value,), names)[0]


def stage_gathering_loop(
    iterable: Any, go_on: Callable[[Any], Any] | None, turn: Callable[[Any, Any], Any], value: Any
) -> Any:
    """`turn(item, value)` for each item of a staged iterable, while `go_on(value)` holds."""
    items = staged_items(iterable)
    assert items is not None

    def more(number: Any, value: Any) -> Any:
        left = number < items.length
        return left if go_on is None else stage_and(left, lambda: go_on(value))

    def take_turn(number: Any, value: Any) -> tuple[Any, ...]:
        return number + 1, turn(items.item(number), value)

    names = ("the number of the turn", "what the comprehension gathers")
    return stage_loop(more, take_turn, (0, value), names, frozenset(), tracer())[1]


def stage_change(target: Any, method: str, arguments: Values, keywords: dict[str, Any]) -> Any:
    """`target.extend(...)` and the like for a staged list: the changed list."""
    if method == "clear":
        return F.array_of([])
    if method == "extend" and isinstance(arguments[0], (list, tuple)):
        for value in arguments[0]:
            target = stage_append(target, value)
        return target
    if method in _LIST_METHODS:
        raise ConversionError(
            f"{method}() of a list that a tensor-dependent loop changes",
            at=user_location(),
            why="the list is one of the Program: it can be read, appended to, and popped from",
            hint="build it by append(), and change its order after stack() or concat()",
        )
    raise AttributeError(f"'list' object has no attribute '{method}'")


_LIST_METHODS = ("extend", "insert", "remove", "sort", "reverse")


def stage_pop(target: Any, arguments: Values) -> tuple[Any, Any]:
    """`target.pop(...)` for a staged list: the changed list and the item."""
    changed, item = F.array_pop(target, *arguments)
    return changed, item


def is_staged_list(value: object) -> bool:
    """Whether this is a list whose length is known only at run time."""
    return is_a(value, Variable) and isinstance(value.type, ArrayType)


def is_staged_items(value: object) -> bool:
    """Whether this is what range() or zip() of traced values made."""
    return is_a(value, StagedItems)


def stage_iterator(value: Any) -> Iterator[Any]:
    """The items of a traced value in a loop that is left as Python."""
    if isinstance(value, StagedItems):
        raise TensorAsPython(
            "iteration over a range or tensor whose length is known only at run time",
            at=user_location(),
            why="this loop is left as Python, which goes through it item by item",
            hint="iterate in a `for` statement of a converted function",
        )
    return iter(value)


def _one(function: Callable[[], Any]) -> Callable[[], tuple[Any]]:
    """The function as a branch with one result."""
    return lambda: (function(),)


def _one_of(function: Callable[[Any], Any]) -> Callable[[Any], tuple[Any]]:
    """The function of one value as a branch with one result."""
    return lambda value: (function(value),)


def _many(function: Callable[..., Any], count: int) -> Callable[..., tuple[Any, ...]]:
    """The branch, with its results always in a tuple."""

    @wraps(function, assigned=(), updated=())
    def run(*arguments: Any) -> tuple[Any, ...]:
        result = function(*arguments)
        if count == 1:
            return (result,)
        return tuple(result) if count else ()

    return run


def _as_tensor(value: Any) -> Any:
    if isinstance(value, (Condition, Dim)):
        return tracer().number(value)
    return value


def _info(function: Callable[..., Any]) -> StatementInfo:
    info = statement_info(function.__code__)
    assert info is not None, "a branch or loop body that was not generated"
    return info
