"""Lets functions written in Python stand for functions in C."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable
from functools import partial
from inspect import CO_GENERATOR, getsource, signature
from types import FunctionType
from typing import Any, TypeVar

from dy2st.convert.effect_table import POLYFILLS, row_of
from dy2st.convert.kinds.lists import is_lazy
from dy2st.convert.kinds.scalars import is_traced
from dy2st.convert.kinds.side_effects import refuse_advance_outside
from dy2st.convert.kinds.table import function_row
from dy2st.convert.trace import Trace
from dy2st.convert.types import info
from dy2st.convert.values.special import Generated, Indexed
from dy2st.transpiler.lower import traced_form

F = TypeVar("F", bound=Callable[..., Any])
_OTHER = object()
_NEVER = 1 << 30


def polyfill(*functions: Any, moves: int = 0, restarts: bool = True) -> Callable[[F], F]:
    """Let a function in Python stand for functions in C.

    moves: how many of its first arguments are iterables whose items are moved, and nothing is asked
    of them; -1 if all are.
    restarts: whether it goes on behind an exception, or a `break`, as it begins.
    """

    def register(written: F) -> F:
        for function in functions:
            _give_row(function, written, moves, restarts)
        return written

    return register


def _give_row(function: Any, written: Any, moves: int, restarts: bool) -> None:
    parameters = signature(written)
    names = list(parameters.parameters)
    makes_items = written.__code__.co_flags & CO_GENERATOR and "iterable" in names
    # The argument of a generator function that has the items that it makes others of
    place = names.index("iterable") if makes_items else _NEVER
    is_changing = row_of(function, ((),)).changes == (0,)  # its first argument
    is_tool = hasattr(function, "__next__") or function is itertools.tee

    @function_row(function)
    def row(trace: Trace, /, *args: Any, **options: Any) -> Any:
        """Python's own function runs where the trace knows all that it asks for.

        Of a dict from outside that is changed no more is asked than the code in Python does.
        """
        if is_changing and args and isinstance(args[0], dict) and trace.is_outside(args[0]):
            return trace.call(written, *args, **options)
        given = [_known(trace, one, is_changing and not at) for at, one in enumerate(args)]
        is_plain = all(map(_is_plain, options.values())) and not any(one is _OTHER for one in given)
        if is_plain and is_tool:  # it makes each item of what a list holds then
            held = [info(type(one)).is_container for one in args]
            asked = [trace.call(iter, one) if is_held else one for one, is_held in zip(args, held)]
            given = given if any(map(_is_traced_iterator, asked)) else asked
        if is_plain:
            found = function(*given, **options)
            # What an operator in place gives is its operand.
            return args[0] if given and found is given[0] else trace.made_iterator(found)
        count = len(args) if moves < 0 else moves
        if count and not any(map(is_traced, (*args[count:], *options.values()))):
            args = (*(trace.call(iter, one) for one in args[:count]), *args[count:])
            for one in filter(trace.is_outside, args[:count]):
                refuse_advance_outside(one)
            if not any(map(_is_traced_iterator, args[:count])):
                return trace.made_iterator(function(*args, **options))
        try:
            parameters.bind(*args, **options)
        except TypeError:
            function(*args, **options)  # raises, in Python's words
        call: Callable[..., Any] = partial(trace.call, written)
        if written is function:  # which has this row, so that it would be asked again
            call = traced_form(written).bind(trace, written)
        if place >= len(args):
            return call(*args, **options)
        before, behind = args[:place], args[place + 1 :]
        made = lambda one: call(*before, one, *behind, **options)  # noqa: E731
        return lazily(trace, made, args[place], restarts)


def pure(module: Any, accelerator: str) -> dict[str, Any]:
    """What a module holds where the one in C that replaces its functions is not there."""

    def imported(name: str, *rest: Any) -> Any:
        if name == accelerator:
            raise ImportError(name)
        return __import__(name, *rest)

    built_in = {**vars(builtins), "__import__": imported}
    names: dict[str, Any] = {"__name__": POLYFILLS + module.__name__, "__builtins__": built_in}
    names["__file__"] = module.__file__  # where the text is looked for
    # Under a name that no location ever shows.
    exec(compile(getsource(module), f"<dy2st {module.__name__}>", "exec"), names)
    return names


def lazily(trace: Trace, made: Callable[[Any], Any], iterable: Any, restarts: bool = True) -> Any:
    """The items that a generator function of the traced form makes of an iterable's; see polyfill.

    What goes through all of them lets the Program decide how many there are; else all are made with
    the first, where Python does not know them.
    """
    its = trace.source_of(iterable)
    goes_on = its is not None and its.restarts
    is_all = type(iterable) in (Indexed, Generated) or not is_lazy(trace, iterable)
    is_whole = is_all and not goes_on
    is_made = (its and not goes_on) or _known(trace, iterable, False) is not _OTHER
    if is_made or not (is_whole or restarts):
        found, restarts = made(iterable), False
    else:
        iterable = iterable if is_whole else trace.call(iter, iterable)
        push = lambda one, push: trace.source_of(made(one)).run(push)  # noqa: E731
        found = trace.generate(made, iterable, push)
    source = trace.source_of(found)
    if source is not None:
        source.restarts = restarts and not is_whole
    return found


def _is_traced_iterator(iterator: Any) -> bool:
    """Whether the Program knows the items of an iterator, or code that is traced makes them."""
    kind = type(iterator)
    return kind in (Generated, Indexed) or isinstance(getattr(kind, "__next__", None), FunctionType)


def _known(trace: Trace, value: Any, is_changed: bool) -> Any:
    """A value of which the trace knows all, as Python's own function may take it."""
    if _is_plain(value):
        return value
    if not info(type(value)).is_container:
        return _OTHER
    content = trace.writable(value) if is_changed else trace.content(value)
    trace.read_content(value)
    items = content.values() if isinstance(content, dict) else content
    return content if type(content) is type(value) and all(map(_is_plain, items)) else _OTHER


def _is_plain(item: Any) -> bool:
    return all(map(_is_plain, item)) if type(item) is tuple else info(type(item)).is_atom
