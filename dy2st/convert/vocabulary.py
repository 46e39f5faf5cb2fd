"""Knows which trace runs in this thread, and its functions by name.

Traced forms call some of them, and rows the others. `protocol/machine.py` binds each to its
function, so mypy compares the two.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import CellType, FrameType, FunctionType
from typing import TYPE_CHECKING, Any, Concatenate, TypeAlias

from dy2st.convert.values.special import Generated, Indexed

if TYPE_CHECKING:
    from dy2st.convert.trace import Trace


class _Running(threading.local):
    trace: Trace | None = None
    limit = 0  # of calls in each other, as the user's code knows it


running = _Running()


@contextmanager
def run_in(trace: Trace) -> Iterator[None]:
    """Let the code inside the `with` be that of a trace."""
    outer, running.trace = running.trace, trace
    try:
        yield
    finally:
        running.trace = outer


# The least limit of a trace. What Python takes for so many calls fits a stack of 2 MB.
_LEAST = 5000


@contextmanager
def deeper() -> Iterator[None]:
    """Let code go about as deep as without a trace, unless the user's own limit is higher."""
    outer, running.limit = running.limit, sys.getrecursionlimit()
    limit = running.limit
    try:
        sys.setrecursionlimit(max(limit, _LEAST))
        yield
    finally:
        if sys.getrecursionlimit() == max(limit, _LEAST):  # the code has set no other
            sys.setrecursionlimit(limit)
        running.limit = outer


def users_limit() -> int:
    """The limit of Python that the user's code knows of."""
    now = sys.getrecursionlimit()
    return running.limit if now == max(running.limit, _LEAST) else now


Thunk: TypeAlias = Callable[[], Any]
State: TypeAlias = Sequence[Any]
Body: TypeAlias = Callable[..., Sequence[Any]]
Names: TypeAlias = Sequence[str]
Path: TypeAlias = "tuple[int, ...]"
Unary: TypeAlias = Callable[[Any], Any]
Binary: TypeAlias = Callable[[Any, Any], Any]


class TracedCalls:
    """What a traced form calls beside the functions of `dy2static`."""

    # Variables of modules, of functions around, and of the function itself where others see them.
    glob: Callable[[FunctionType, str], Any]  # of a global or builtin name
    set_glob: Callable[[FunctionType, str, Any], None]
    del_glob: Callable[[FunctionType, str], None]
    # (F, level, module, name, value): what an import binds; without a name the module
    imported: Callable[[FunctionType, int, str, str, Any], Any]
    new_cell: Callable[..., CellType]  # (value), or empty
    cell: Callable[[CellType, str], Any]  # NameError: a variable of the function around
    local_cell: Callable[[CellType, str], Any]  # UnboundLocalError: one of the function itself
    set_cell: Callable[[CellType, Any], None]
    del_cell: Callable[[CellType, str], None]

    # Attributes and items.
    attr: Callable[[Any, str], Any]
    set_attr: Callable[[Any, str, Any], None]
    del_attr: Callable[[Any, str], None]
    item: Callable[[Any, Any], Any]
    set_item: Callable[[Any, Any, Any], None]
    del_item: Callable[[Any, Any], None]

    # Operators.
    add: Binary
    sub: Binary
    mul: Binary
    truediv: Binary
    floordiv: Binary
    mod: Binary
    pow_: Binary
    matmul: Binary
    lshift: Binary
    rshift: Binary
    and_bits: Binary
    or_bits: Binary
    xor: Binary
    iadd: Binary
    isub: Binary
    imul: Binary
    itruediv: Binary
    ifloordiv: Binary
    imod: Binary
    ipow_: Binary
    imatmul: Binary
    ilshift: Binary
    irshift: Binary
    iand_bits: Binary
    ior_bits: Binary
    ixor: Binary
    neg: Unary
    pos: Unary
    invert: Unary
    not_: Unary
    lt: Binary
    le: Binary
    gt: Binary
    ge: Binary
    eq: Binary
    ne: Binary
    is_: Binary
    is_not: Binary
    in_: Binary
    not_in: Binary
    truth: Callable[[Any], bool]  # for statements that stay Python's own

    # Arguments of calls; the last three are those of a call with `*` or `**` in it.
    star: Callable[[Any], Sequence[Any]]  # what `*` spreads
    double_star: Callable[[Any], Any]  # what `**` spreads
    spread_star: Callable[[Any], Sequence[Any]]
    spread_double_star: Callable[[Any], Any]
    rest: Callable[[tuple[Any, ...]], Any]  # what the variable of `*rest` holds

    # Displays, texts, unpacking; functions and classes that are made.
    gather: Callable[..., Any]  # (kind, (is star, value), ...): a list, tuple or set
    gather_dict: Callable[..., Any]  # ((key, value) or (mapping,), ...)
    text: Callable[..., Any]  # (str or (value, conversion, spec), ...)
    unpack: Callable[[Any, int], Sequence[Any]]
    unpack_star: Callable[[Any, int, int], Sequence[Any]]  # counts before and after the star
    make_function: Callable[..., FunctionType]  # (F, path, cells, defaults, kwdefaults, ...)
    make_class: Callable[
        [FunctionType, Path, tuple[Any, ...], str, tuple[Any, ...], dict[str, Any]], Any
    ]
    make_generic: Callable[..., Any]  # (F, path, cells, ...): what has type parameters

    # Generators.
    push_all: Callable[[Callable[[Any], Any], Any], Any]  # what `yield from` gives
    iterate: Unary  # what Python's own `for` and `yield from` take

    # Statements that stay Python's own.
    manager: Unary  # what Python's own `with` takes
    handling: Callable[[Thunk, bool], Any]  # the caught classes, and whether there is `finally`
    raised: Unary  # what `raise` takes


class Vocabulary(TracedCalls):
    """These, and the functions of the protocol that the rows of functions call of it."""

    # Statements and calls: what the functions of `dy2static` do in a trace.
    call: Callable[Concatenate[Any, ...], Any]
    method: Callable[Concatenate[Any, str, ...], Any]  # of an object by its name
    call_spread: Callable[Concatenate[Any, ...], Any]
    bound: Callable[[Any, str], Any]  # the value, unless the variable has none
    and_: Callable[[Any, Thunk], Any]
    or_: Callable[[Any, Thunk], Any]
    if_exp: Callable[[Any, Thunk, Thunk], Any]
    if_: Callable[[Any, Body, Body, State, Names], State]
    while_: Callable[[Callable[..., Any], Body, State, Names], State]
    for_: Callable[[Any, Callable[..., Any] | None, Body, State, Names], State]
    # (body, ((classes or None, handler), ...), else, finally or None, state, names)
    try_: Callable[[Body, Sequence[Any], Body, Body | None, State, Names], State]
    with_: Callable[[Any, Body, State, Names], State]
    swallowed: Callable[[Any, bool], bool]  # whether a jump in `finally` swallows an exception
    assert_: Callable[..., None]  # (test, the message as a thunk or None)
    # (subject, pattern, names): whether it fits, and what the names are bound to
    match: Callable[[Any, Any, tuple[str, ...]], tuple[Any, ...]]
    # (generator function, iterable, the same for a consumer of each item, whether each has one)
    generate: Callable[..., Generated]
    is_plain: Callable[..., bool]  # whether all are numbers, texts or ranges, or `range` itself

    # Attributes and operators, each in one of its ways.
    plain_attr: Callable[[Any, str], Any]
    set_plain: Callable[[Any, str, Any], None]
    set_own: Callable[[Any, str, Any], None]
    del_own: Callable[[Any, str], None]
    compare: Callable[[str, Any, Any], Any]
    equals: Binary
    any_of: Callable[[Callable[[Any], Any], Iterable[Any]], Any]
    any_in: Callable[[Callable[[Any], Any], Any], Any]
    truth_value: Unary
    test_of: Unary
    dict_of: Unary
    value_at: Callable[..., Any]  # (dict, key, default)
    place_of_index: Callable[[Any, Any], Any]
    item_at: Callable[[Any, Any], Any]  # of a list, at a place that it has
    append_to: Callable[[Any, Any], None]
    put_at: Callable[[Any, Any, Any], None]
    write_back: Callable[[Any], None]  # what is borrowed of a list

    # What the tracer asks: whether a handler takes what may be raised, and what it hears of.
    carry_check: Callable[[Any, BaseException], bool]
    check_sizes: Callable[[Any, Exception], bool]
    check_operator: Callable[[Any, Sequence[Any], Any], None]
    explain: Callable[[FrameType], str]
    before_changed: Callable[[Any], None]

    # Calls of what is not traced, and what it may reach.
    call_library: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
    exported: Unary
    native: Callable[..., Any]  # (value, the values in which it stands)
    seen_now: Unary
    with_overlay_materialised: Callable[..., Any]  # (what is reached, thunk, whether it only reads)
    note_class: Callable[[type], None]
    note_class_made: Callable[[Any], None]
    note_fields: Callable[[Any], list[Any]]
    note_reached: Callable[..., list[Any]]  # (values, whether through functions of the user's)

    # One of several values.
    known: Unary
    map_cases: Callable[Concatenate[Callable[..., Any], ...], Any]

    # Iterables.
    listed: Unary
    items_of: Unary
    gathered: Callable[[Indexed], list[Any]]
    first_of: Callable[Concatenate[Any, ...], Any]  # (source, default)
    source_of: Unary  # None: the items are there
    consumed: Callable[..., Any]  # (source, what takes each item, whether it goes on)
    is_decided: Callable[[Any, bool], Any]
    push_loop: Callable[[Any, Callable[..., Any] | None, Body, State], State]


# `made` is a method of the Trace: a new list, set or dict, noted as made here. `push` is what the
# form of a generator is given where its consumer takes each item at once: what `yield` gives.
TRACED_CALLS = frozenset({*TracedCalls.__annotations__, "made", "push"})
