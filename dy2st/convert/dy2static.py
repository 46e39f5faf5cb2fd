"""Has the functions that converted code calls (`StaticFunction.code`), and the trace that runs.

Those of statements are written here. In a trace each decides whether Python goes on, or the Program
gets an operator; elsewhere each does what the statement does in Python. All others are functions of
the trace, of which traced forms call some, and rows the rest. `protocol/machine.py` binds each to
its function, and a test compares the two.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from types import CellType, FrameType, FunctionType
from typing import TYPE_CHECKING, Any, Concatenate, NoReturn, TypeAlias

from dy2st.convert.values.special import UNBOUND, UNBOUND_LOCAL, Generated, Indexed
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.lazy import public_dir

if TYPE_CHECKING:
    from dy2st.convert.trace import Trace


class _Running(threading.local):
    trace: Trace | None = None
    limit = 0  # of calls in each other, as the user's code knows it


running = _Running()


# The least limit of a trace. What Python takes for so many calls fits a stack of 2 MB.
_LEAST = 5000


@contextmanager
def run_in(trace: Trace) -> Iterator[None]:
    """Let the code inside the `with` be that of a trace.

    It goes about as deep as without one, unless the user's own limit is higher.
    """
    outer, limit = (running.trace, running.limit), sys.getrecursionlimit()
    running.trace, running.limit = trace, limit
    try:
        sys.setrecursionlimit(max(limit, _LEAST))
        yield
    finally:
        if sys.getrecursionlimit() == max(limit, _LEAST):  # the code has set no other
            sys.setrecursionlimit(limit)
        running.trace, running.limit = outer


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
    def _binary(self, left: Any, right: Any) -> Any:
        raise NotImplementedError

    def _unary(self, value: Any) -> Any:
        raise NotImplementedError

    add = sub = mul = truediv = floordiv = mod = pow_ = matmul = lshift = rshift = _binary
    iadd = isub = imul = itruediv = ifloordiv = imod = ipow_ = imatmul = ilshift = irshift = _binary
    and_bits = or_bits = xor = iand_bits = ior_bits = ixor = _binary
    lt = le = gt = ge = eq = ne = is_ = is_not = in_ = not_in = _binary
    neg = pos = invert = not_ = _unary
    truth: Callable[[Any], bool]  # for statements that stay Python's own

    # Arguments of calls; the last three are those of a call with `*` or `**` in it.
    double_star: Callable[[Any], Any]  # what `**` spreads
    spread_star: Callable[[Any], Sequence[Any]]
    spread_double_star: Callable[[Any], Any]
    rest: Unary  # what the variables of `*rest` and `**named` hold

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
    # Of what the Program decides: (truth, true, false, state, names)
    stage_if: Callable[..., State]
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
    made_iterator: Unary
    is_plain: Callable[..., bool]  # whether all are numbers, texts or ranges, or `range` itself

    # Attributes and operators, each in one of its ways.
    plain_attr: Callable[[Any, str], Any]
    set_plain: Callable[[Any, str, Any], None]
    set_own: Callable[[Any, str, Any], None]
    compare: Callable[[str, Any, Any], Any]
    equals: Callable[[Any, Any], Any]
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
    stored: Callable[..., Any]

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
    is_decided: Callable[[Any, bool], Any]


# `made` is a method of the Trace: a new list, set or dict, noted as made here. `push` is what the
# form of a generator is given where its consumer takes each item at once: what `yield` gives.
_CALLED = (*TracedCalls.__annotations__, *(name for name in vars(TracedCalls) if name[0] != "_"))
TRACED_CALLS = frozenset({*_CALLED, "made", "push"})
VOCABULARY = frozenset({*_CALLED, *Vocabulary.__annotations__})


def convert_call(function: Any, method: str | None = None, is_spread: bool = False) -> Any:
    """What is called, as a function: in a trace the call is traced.

    method: the name of a method of `function`, which is called in its place.
    is_spread: whether its arguments have `*` or `**`.

    >>> convert_call(abs)(-1)
    1
    >>> convert_call("a,b", "split")(",")
    ['a', 'b']
    """
    trace = running.trace
    if trace is None:
        return function if method is None else getattr(function, method)
    if method is not None:
        # By its name, not as a bound method: of one of several objects each case has its own.
        return partial(trace.method, function, method)
    return partial(trace.call_spread if is_spread else trace.call, function)


def convert_ifelse(
    pred: Any,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    true_args: Sequence[Any] = (),
    false_args: Sequence[Any] = (),
    return_vars: Sequence[Any] = (),
    names: Sequence[str] = (),
) -> Any:
    """`if pred: ... else: ...`: what the branch gives for the variables that it may change.

    return_vars: what these variables hold before, and `names` how they are called. A branch gives
    a tuple of them, or the value of the only one.

    >>> convert_ifelse(False, lambda x: x, lambda x: -x, (1,), (1,), (0,))
    -1
    """
    trace = running.trace
    if trace is None:
        return true_fn(*true_args) if pred else false_fn(*false_args)
    test = trace.test_of(pred)
    if test is True:
        return true_fn(*true_args)
    if test is False:
        return false_fn(*false_args)
    # Arguments are bound here: both branches start with what the variables hold now.
    sides = partial(true_fn, *true_args), partial(false_fn, *false_args)
    known = names or _unnamed(return_vars)
    is_single = len(return_vars) == 1
    found = trace.stage_if(test, *sides, (), known[0] if is_single else known, word="if")
    return found[0] if is_single else found


def _unnamed(values: Sequence[Any]) -> Sequence[str]:
    return ("a value",) * len(values)


def convert_while_loop(
    cond: Callable[..., Any],
    body: Callable[..., State],
    loop_vars: Sequence[Any] = (),
    names: Sequence[str] = (),
    plain: tuple[Callable[..., State], Sequence[Any]] | None = None,
) -> State:
    """`while cond: body`, of the variables that it changes.

    plain: the loop as it is written, and all that it reads: it runs where these are numbers and
    texts of Python, which need no trace.

    >>> convert_while_loop(lambda i: i < 3, lambda i: (i + 1,), [0])
    (3,)
    """
    trace = running.trace
    if trace is None:
        while cond(*loop_vars):
            loop_vars = body(*loop_vars)
        return loop_vars
    # Then no tensor can decide anything in it, and thousands of iterations cost what Python takes.
    if plain is not None and trace.is_plain(*plain[1]):
        return plain[0](*plain[1])
    return trace.while_(cond, body, loop_vars, names or _unnamed(loop_vars))


def convert_for_loop(
    iterable: Iterable[Any],
    cond: Callable[..., Any] | None,
    body: Callable[..., State],
    loop_vars: Sequence[Any] = (),
    names: Sequence[str] = (),
    plain: tuple[Callable[..., State], Sequence[Any]] | None = None,
) -> State:
    """`for item in iterable: body`, as long as the condition holds, which is that of a `break`.

    plain: as for `while`; the iterable is the first that it takes.

    >>> convert_for_loop([1, 2], None, lambda item, total: (total + item,), [0])
    (3,)
    """
    trace = running.trace
    if trace is None:
        for item in iterable:
            loop_vars = body(item, *loop_vars)
            # After the iteration: `break` takes no further item, which others might see.
            if cond is not None and not cond(*loop_vars):
                break
        return loop_vars
    if plain is not None and trace.is_plain(iterable, *plain[1]):
        return plain[0](iterable, *plain[1])
    return trace.for_(iterable, cond, body, loop_vars, names or _unnamed(loop_vars))


def convert_try(
    body: Callable[..., State],
    handlers: Sequence[tuple[Callable[[], Any], Callable[..., State]]],
    orelse: Callable[..., State],
    final: Callable[..., State] | None,
    values: Sequence[Any] = (),
    names: Sequence[str] = (),
) -> State:
    """`try: body ... except ...: ... else: ... finally: ...`, of the variables that it changes.

    handlers: pairs of what gives the classes that are caught, and of what handles one.

    >>> handlers = [(lambda: ZeroDivisionError, lambda error: (0,))]
    >>> convert_try(lambda: (1 / 0,), handlers, tuple, None)
    (0,)
    """
    trace = running.trace
    if trace is not None:
        return trace.try_(body, handlers, orelse, final, values, names or _unnamed(values))
    found = values
    try:
        try:
            found = body(*values)
        except BaseException as error:  # any: the handlers say which they take
            kind = type(error)
            fitting = (one for kinds, one in handlers if is_named(kind, kinds()))
            handler = next(fitting, None)
            if handler is None:
                raise
            found = handler(error, *values)
        else:
            found = orelse(*found)
    finally:
        if final is not None:
            found = final(*found)
    return found


def is_named(kind: type[BaseException], clause: Any) -> bool:
    """Whether `except clause` catches exceptions of a class; to raise one again changes it."""
    classes = clause if isinstance(clause, tuple) else (clause,)
    if not all(isinstance(one, type) and issubclass(one, BaseException) for one in classes):
        raise TypeError("catching classes that do not inherit from BaseException is not allowed")
    return any(one in kind.__mro__ for one in classes)


def convert_with(
    manager: Any, body: Callable[..., State], values: Sequence[Any] = (), names: Sequence[str] = ()
) -> State:
    """`with manager as entered: body`, of the variables that it changes.

    >>> from contextlib import nullcontext
    >>> convert_with(nullcontext(2), lambda entered, x: (x + entered,), [1])
    (3,)
    """
    trace = running.trace
    if trace is not None:
        return trace.with_(manager, body, values, names or _unnamed(values))
    with manager as entered:
        values = body(entered, *values)
    return values


def convert_and(value: Any, other: Callable[[], Any]) -> Any:
    """`value and other()`.

    >>> convert_and(1, lambda: 2)
    2
    """
    trace = running.trace
    return value and other() if trace is None else trace.and_(value, other)


def convert_or(value: Any, other: Callable[[], Any]) -> Any:
    """`value or other()`.

    >>> convert_or(0, lambda: 2)
    2
    """
    trace = running.trace
    return value or other() if trace is None else trace.or_(value, other)


def convert_ifexp(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """`true_fn() if pred else false_fn()`.

    >>> convert_ifexp(True, lambda: 1, lambda: 2)
    1
    """
    trace = running.trace
    if trace is None:
        return true_fn() if pred else false_fn()
    return trace.if_exp(pred, true_fn, false_fn)


def convert_assert(test: Any, message: Callable[[], Any] | None = None) -> None:
    """`assert test, message()`.

    >>> convert_assert(True, lambda: "never")
    """
    trace = running.trace
    if trace is not None:
        trace.assert_(test, message)
    elif not test:
        raise AssertionError(*(() if message is None else (message(),)))


def convert_generator(
    generator: Callable[[Any], Any], iterable: Any, pushing: Callable[..., Any], is_map: bool
) -> Any:
    """`(... for ... in iterable)`, as a generator function of what it runs over.

    pushing: the same, for a consumer that takes each item at once.
    is_map: whether each item has one.

    >>> list(convert_generator(lambda items: (2 * one for one in items), [1, 2], print, True))
    [2, 4]
    """
    trace = running.trace
    if trace is None:
        return generator(iter(iterable))
    return trace.generate(generator, iterable, pushing, is_map)


def convert_match(subject: Any, pattern: tuple[Any, ...], names: tuple[str, ...]) -> State:
    """Whether a pattern of `match` fits, and what it binds to the names: in a trace alone.

    >>> dy2st.jit.dy2static.convert_match("a", (), ())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.UnsupportedSyntax: ...is called where nothing is converted...
    """
    return _trace_for("convert_match").match(subject, pattern, names)


def convert_swallowed(jumped: Any, failed: bool) -> Any:
    """Whether a jump out of `finally` forgets an exception.

    >>> convert_swallowed(False, True)
    False
    """
    trace = running.trace
    return failed and jumped if trace is None else trace.swallowed(jumped, failed)


# In a trace UNBOUND stands for it, which joins know how to carry.
class Undefined:
    """The value of a variable that has none: to use it raises what Python raises.

    >>> dy2st.jit.dy2static.Undefined("y") + 1  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    UnboundLocalError: ...'y'...
    """

    def __init__(self, name: str):
        """Remember the name of the variable."""
        self._name = name

    def _refuse(self, *args: Any) -> NoReturn:
        raise UnboundLocalError(UNBOUND_LOCAL.format(repr(self._name)))

    __bool__ = __call__ = __getitem__ = __iter__ = __len__ = _refuse
    __add__ = __sub__ = __mul__ = __truediv__ = __neg__ = __lt__ = __gt__ = _refuse


def undefined(name: str) -> Any:
    """The value of a variable before it gets one.

    >>> isinstance(undefined("x"), Undefined)
    True
    """
    return Undefined(name) if running.trace is None else UNBOUND


def defined(value: Any, name: str) -> Any:
    """The value of a variable; UnboundLocalError if it has none.

    >>> defined(3, "x")
    3
    """
    trace = running.trace
    if trace is not None:
        return trace.bound(value, name)
    if type(value) is Undefined:  # to ask for `__class__` would run code of the user's
        raise UnboundLocalError(UNBOUND_LOCAL.format(repr(name)))
    return value


def _trace_for(name: str) -> Trace:
    trace = running.trace
    if trace is None:
        raise UnsupportedSyntax(
            f"{name}() is called where nothing is converted",
            why="it is an operation of a trace",
            hint="call it in a function that to_static converts",
        )
    return trace


def __getattr__(name: str) -> Callable[..., Any]:
    """An operation of the trace by its name, as the full text of a converted function calls it."""
    known = name if name in TRACED_CALLS else name.rstrip("_")  # more where the user has the name
    if known not in TRACED_CALLS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return operation(known)


# One function for each name, since guards ask for identity; and one code for all, by which their
# row is found (kinds/converters.py).
@cache
def operation(name: str) -> Callable[..., Any]:
    """The function that does an operation of the trace that runs; all have one code."""

    def run(*args: Any) -> Any:
        return getattr(_trace_for(name), name)(*args)

    run.__name__ = run.__qualname__ = name
    return run


_CONVERTING = sorted(name for name in globals() if name.startswith("convert_"))
STATEMENTS = (*_CONVERTING, "defined", "undefined")

__all__ = ["Undefined", *STATEMENTS]
__dir__ = public_dir(__name__)
