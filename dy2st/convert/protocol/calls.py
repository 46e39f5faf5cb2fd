"""Calls: the user's functions in their traced form, C functions by their rows, the rest refused."""

from __future__ import annotations

import struct
import sys
import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextvars import ContextVar
from enum import Enum, EnumMeta, Flag
from functools import partial
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, getattr_static
from types import (
    FrameType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    NoneType,
    WrapperDescriptorType,
)
from typing import Any

from dy2st.convert.aliases import MoreIsKnown
from dy2st.convert.effect_table import (
    IGNORE_MARK,
    EffectRow,
    changed,
    is_ignored_module,
    is_like_the_users,
    is_operator,
    is_polyfill,
    module_of_code,
    row_of,
)
from dy2st.convert.kinds.objects import call_generated
from dy2st.convert.kinds.side_effects import (
    called_by_the_user,
    check_side_effects,
    has_set_variables,
    is_fresh,
    is_settled,
    looks_at_caller,
    note_environment,
    note_settings,
    with_owner,
)
from dy2st.convert.kinds.table import (
    CODES,
    WHOLE,
    load_late,
    row_of_function,
    say_misfit,
)
from dy2st.convert.kinds.text import inside, is_silent, logs_message
from dy2st.convert.polyfills.methods import member
from dy2st.convert.polyfills.random_ import is_drawn_by_program
from dy2st.convert.protocol.natives import note_reached, shown, with_overlay_materialised
from dy2st.convert.stage.checks import has_union, map_cases
from dy2st.convert.stage.function import repeatable
from dy2st.convert.stage.outcome import reraise_swallowed_refusals
from dy2st.convert.trace import Remaker, Trace, of_class, own_method, special
from dy2st.convert.types import info
from dy2st.convert.values.layout import Same, is_traced_number
from dy2st.convert.values.special import NOWHERE, STATE, SymbolicSequence, Union
from dy2st.transpiler.compile import TracedForm
from dy2st.transpiler.lower import traced_form
from dy2st_runtime.errors import ConversionError, SourceUnavailable, TensorAsPython
from dy2st_runtime.ir import Tensor, Variable
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.ir.location import explain_frames, without_own_frames
from dy2st_runtime.ir.tracing.tracer import current_tracer
from dy2st_runtime.nn.layer import Layer, note_layer

# Of Python's library: what they call is the user's, as the operators of `total_ordering` do.
_CALLING_BACK = frozenset({"contextlib", "functools"})

# What classes of the user's inherit, written in Python: it calls their own methods.
_INHERITED = ("ChainMap", "Counter", "UserDict", "UserList", "UserString")


def is_library(module: str) -> bool:
    """Whether the functions of a module are called as they are."""
    return module not in _CALLING_BACK and is_ignored_module(module)


def is_marked(function: FunctionType) -> bool:
    """Whether `not_to_static` has marked a function."""
    return bool(function.__dict__) and bool(function.__dict__.get(IGNORE_MARK))


def why_left_alone(function: FunctionType, args: Sequence[Any] = ()) -> str:
    """Why nobody asks for the source of a function; empty if it may have a traced form."""
    if is_marked(function):
        return "it is marked with not_to_static"
    module = module_of_code(function)
    of_class = function.__qualname__.partition(".")[0]
    is_inherited = module == "collections" and of_class in _INHERITED
    if args and (is_inherited or module == "collections.abc"):
        # A collection of Python's own, as `os.environ` is, may reach beyond the process.
        kind = str(type(args[0]).__module__)
        if not is_library(kind) or kind in ("collections", "collections.abc"):
            return ""
    return f"functions of the module {module} are left as they are" if is_library(module) else ""


def form_of(trace: Trace, function: FunctionType) -> TracedForm | None:
    """The traced form of a function that is called; None if it has none. It stands in the record.

    Raises SourceUnavailable if it has no readable text.
    """
    try:
        form = traced_form(function, on_form=trace.record.on_form)
    except SourceUnavailable as error:
        trace.record.met(function, f"its source is not available: {error.why}")
        raise
    trace.record.met(function, form.why, form.statements)
    return None if form.why else form


def require_source(trace: Trace, function: Any) -> None:
    """Raise SourceUnavailable for a function, method or partial without readable text."""
    while isinstance(function, (partial, MethodType)):
        function = function.func if isinstance(function, partial) else function.__func__
    if type(function) is FunctionType and not is_marked(function):
        traced_form(function, on_form=trace.record.on_form)


def _why_of_frame(frame: FrameType) -> str:
    """Why the code of a frame runs as it is, if the trace has called it so."""
    tracer = current_tracer()
    host = None if tracer is None else tracer.host
    return "" if host is None else host.explain(frame)


explain_frames(_why_of_frame)


def explain(trace: Trace, frame: FrameType | None) -> str:
    """What a refusal says of code that runs as it is, or is called by such code."""
    while frame is not None:
        _, met = trace.record.functions.get(id(frame.f_code), (None, None))
        if met is not None and met.why:
            return f"{met.name}() is not converted: {met.why}"
        frame = frame.f_back
    return ""


# Of functions of ours whose errors show no frame of ours.
_MARKED = without_own_frames(len).__code__
_ASYNC = CO_COROUTINE | CO_ASYNC_GENERATOR


def call(trace: Trace, function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)`."""
    kind = type(function)
    if kind is FunctionType:
        return callee(trace, function, args)(*args, **kwargs)
    if kind is MethodType:
        return call(trace, function.__func__, function.__self__, *args, **kwargs)
    if info(kind).family == "bound in C":
        trace.record.met_other(function)
        row = load_late(function)
        if row is not None:
            return _by_row(trace, function, row, *args, **kwargs)
        owner = getattr(function, "__self__", None)
        if function.__name__ == "__call__" and type(owner) is FunctionType:
            return trace.call(owner, *args, **kwargs)
        # Of a Counter, which has most methods in Python, it is a method of dict.
        of_owner = info(dict if type(owner) is Counter else type(owner))
        # It is none that a class of the user's has in its place.
        of_owner = of_owner.base if of_owner.is_open else of_owner
        row = of_owner.methods.get(function.__name__) if owner is not None else None
        if row is None and type(function) is MethodWrapperType:
            # `[].__add__` is made anew for each list; the table knows that of the class.
            of_class_in_c = getattr(function.__objclass__, function.__name__)
            row = row_of_function(of_class_in_c)
        if row is not None:
            return call_method_row(trace, row, owner, function.__name__, args, kwargs)
        return call_native(trace, function, args, kwargs)
    if kind is Union:
        return map_cases(trace, lambda one: call(trace, one, *args, **kwargs), function)
    if isinstance(function, type):
        # A new object: `__new__`, then `__init__`, each in traced form if it is the user's
        trace.record.met_other(function)
        row = row_of_function(function)
        if row is not None:
            return _by_row(trace, function, row, *args, **kwargs)
        if _is_member_that_is_decided(function, args, kwargs):
            members: Any = [*function]  # type: ignore[misc]
            return call(trace, member, members, *args, function.__qualname__)
        meta_call = own_method(trace, function, "__call__")
        if meta_call is not None:
            return call(trace, meta_call, function, *args, **kwargs)
        if trace.call_context.is_tentative and hasattr(function, "__del__"):
            trace.refuse_effect(f"a {function.__name__} is made, which does something when it goes")
        new, init = (_maker(trace, function, name) for name in ("__new__", "__init__"))
        is_plain = isinstance(init, FunctionType) or isinstance(new, FunctionType)
        if not is_plain or issubclass(function, type):
            return _constructed_in_c(trace, function, args, kwargs)
        if isinstance(new, FunctionType):
            made = call(trace, new, function, *args, **kwargs)
        elif new is object.__new__:
            made = new(function)
        else:
            given = trace.exported(args) if info(function).is_unchanging else args
            made = new(function, *given, **kwargs)
        trace.locations.wanted.add(False)
        trace.made(made)
        own_init = _maker(trace, type(made), "__init__")
        # As Python: a `__new__` that gives something else is not followed by `__init__`.
        if issubclass(type(made), function) and own_init is not object.__init__:
            call(trace, own_init, made, *args, **kwargs)
        return made
    if kind is partial:
        # A partial can be given other parts by `__setstate__`, so each is guarded.
        for name in ("func", "args", "keywords"):
            trace.seen("attr", function, name, getattr(function, name))
        trace.read_content(function.keywords)
        words = trace.content(function.keywords)
        return call(trace, function.func, *function.args, *args, **{**words, **kwargs})
    if isinstance(function, Layer):
        return call_layer(trace, function, args, kwargs)
    return _call_object(trace, function, args, kwargs)


def _is_member_that_is_decided(kind: type, args: Sequence[Any], kwargs: Any) -> bool:
    """Whether a tensor decides which member of an Enum is asked for by its value."""
    if not (isinstance(kind, EnumMeta) and len(args) == 1 and is_traced_number(args[0])):
        return False
    has_own = kind._missing_.__func__ is not Enum._missing_.__func__  # type: ignore[attr-defined]
    return not (kwargs or issubclass(kind, Flag) or has_own)


def callee(trace: Trace, function: FunctionType, args: tuple[Any, ...]) -> Callable[..., Any]:
    """What runs in the place of a function of Python: its traced form if it is the user's."""
    known_form = trace.forms.get(id(function))
    if known_form is not None:  # first, since most calls of a trace are of the same functions
        return known_form[1]
    if is_polyfill(function.__module__):
        return _called_as(trace, function, traced_form(function).bind(trace, function))
    if function.__code__ is _MARKED and is_like_the_users(function.__module__):
        inner: Any = vars(function)["__wrapped__"]
        if not inner.__name__.startswith("__"):  # objects of ours are made as they are
            return callee(trace, inner, args)
    is_drawn = function.__module__ == "random" and is_drawn_by_program(trace, function, args)
    why = "" if is_drawn else why_left_alone(function, args)
    watcher = sys.gettrace()
    is_new = watcher is not trace.call_context.process[1]
    if not why and is_new and type(watcher) is FunctionType:
        why = "the code looks at its lines by a function that it has given to sys.settrace()"
    if why:
        trace.record.met(function, why)
    row = _forward if function is Layer.__call__ else load_late(function)
    if row is not None:
        return partial(_by_row, trace, function, row)
    row = CODES.get(function.__code__)
    if row is not None:
        return partial(row, trace, function)
    if trace.call_context.is_tentative and function.__code__.co_flags & _ASYNC:
        trace.refuse_effect(f"{function.__qualname__}() makes a coroutine")
    if id(function) not in trace.own:  # what it holds was there before the trace, and is guarded
        trace.mark_outside(function)
    try:
        form = None if why else form_of(trace, function)
    except SourceUnavailable:  # made by exec(), as those of dataclasses are
        return partial(_call_without_form, trace, function)
    if form is None and function.__name__ != "_replace":  # of a namedtuple
        library = lambda *values, **named: call_library(trace, function, values, named)  # noqa: E731
        is_of_layer = bool(args) and isinstance(args[0], Layer) and function.__name__ == "forward"
        return repeatable(trace, function, library) if is_of_layer else library
    if form is None:
        return partial(_call_without_form, trace, function)
    # The traced form is made once in a trace; what the function holds is noted.
    trace.read("code", function, "__code__", function.__code__)
    if trace.is_outside(function):
        for one in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            trace.mark_outside(one)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        trace.origins[id(cell)] = cell, name
    bound: Callable[..., Any] = form.bind(trace, function)
    if not function.__code__.co_flags & CO_GENERATOR:
        bound = repeatable(trace, function, bound)
    return _called_as(trace, function, bound)


def _called_as(
    trace: Trace, function: FunctionType, bound: Callable[..., Any]
) -> Callable[..., Any]:
    """A traced form, which all later calls of the function are of."""

    def generate(*args: Any, **kwargs: Any) -> Any:
        give = lambda *to: pushing(trace, function, to[-1])(*args, **kwargs)  # noqa: E731
        if trace.locations.here()[0] in trace.locations.carried:
            return trace.generate(function, (args, tuple(kwargs.values())), give)

        def made(items: Iterable[Any], at: tuple[Any, ...]) -> Generator[Any, Any, Any]:
            try:
                return (yield from items)
            except ConversionError as error:  # a tensor decides on what Python asks for
                if not isinstance(error, MoreIsKnown):
                    trace.locations.carry(give, at)
                raise

        made.__name__, made.__qualname__ = function.__name__, function.__qualname__
        return trace.note_generator(made(bound(*args, **kwargs), trace.locations.here()), give)

    found = generate if function.__code__.co_flags & CO_GENERATOR else bound
    trace.forms[id(function)] = function, found
    return found


def _call_without_form(trace: Trace, function: FunctionType, /, *args: Any, **kwargs: Any) -> Any:
    found = call_generated(trace, function, args, kwargs)
    return call_library(trace, function, args, kwargs) if found is NotImplemented else found


class _Pushing:
    """The protocol for a generator function whose consumer takes each item at once."""

    def __init__(self, trace: Trace, push: Callable[[Any], Any]):
        """`push` takes an item, and gives what `yield` gives."""
        self.push = push
        self.push_all = partial(trace.push_all, push)
        self._trace = trace

    def __getattr__(self, name: str) -> Any:
        """All else is that of the trace."""
        return getattr(self._trace, name)


def pushing(trace: Trace, function: FunctionType, push: Callable[[Any], Any]) -> Callable[..., Any]:
    """A generator function as one that gives each item to `push`, and returns its value."""
    bound = traced_form(function, pushes=True).bind(_Pushing(trace, push), function)
    return repeatable(trace, function, bound, trace.repeats.site(push))


def _by_row(trace: Trace, function: Any, row: Any, /, *args: Any, **kwargs: Any) -> Any:
    """What a row gives, for each case of an argument that is one of several."""
    if has_union(args) and row not in WHOLE:
        make = lambda *values: row(trace, *values, **kwargs)  # noqa: E731
        older = len(trace.locations.iterators)
        found = map_cases(trace, make, *args)
        is_of_items = function.__name__ in _OF_ITEMS and all(map(is_of_containers, args))
        if type(found) is Union and is_of_items:
            trace.origins[id(found)] = found, Remaker(make, args)
            while len(trace.locations.iterators) > older:  # others are made, and once only
                trace.locations.iterators.popitem()
        return found
    try:
        return row(trace, *args, **kwargs)
    except TypeError as error:
        say_misfit(error, function, args, kwargs)
        raise


# Made again for each of several containers, in the branch that takes an item.
_OF_ITEMS = frozenset({"enumerate", "zip", "chain", "islice", "pairwise"})


def is_of_containers(value: Any) -> bool:
    """Whether nobody sees that an iterator over a value is made twice."""
    if isinstance(value, (Tensor, SymbolicSequence)):
        return True
    nodes = value.layouts if type(value) is Union else (Same(value, NOWHERE),)
    kinds = [type(n.value) if isinstance(n, Same) else getattr(n, "kind", None) for n in nodes]
    known = (list, tuple, dict, Counter, OrderedDict, defaultdict, deque, range, int, str, NoneType)
    return all(kind in known for kind in kinds)


def call_method_row(
    trace: Trace, row: Any, owner: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What a row gives for a method of an object."""
    try:
        return row(trace, owner, *args, **kwargs)
    except TypeError as error:
        if type(owner).__module__ in ("builtins", "collections"):
            # An empty object is asked, as none may change.
            ask = lambda *values, **named: getattr(type(owner)(), name)(*values, **named)  # noqa: E731
            say_misfit(error, ask, args, kwargs)
        raise


def call_native(trace: Trace, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function in C without a row, or of a library: it gets real objects."""
    if has_union((*args, *kwargs.values())):
        return _for_each_case(trace, call_native, function, args, kwargs)
    is_in_c = type(function) is not FunctionType
    if not is_in_c and (
        is_silent(trace, function, args) or logs_message(trace, function, args, kwargs)
    ):
        return None
    whole = with_owner(function, args) if is_in_c else args
    values = (*whole, *kwargs.values())
    # What the process answers (`os.getcwd`) is asked again at each call, if the code sets none.
    row = row_of(function, values)
    is_changed = any((id(one), STATE) in trace.over for one in values)
    is_asked = row.is_asked and not (is_changed or has_set_variables(trace))
    if is_asked and all(map(is_settled, (*args, *kwargs.values()))):
        return trace.read_volatile(function, *args, **kwargs)
    if not is_in_c and note_environment(trace, function, args):
        return function(*args, **kwargs)
    check_side_effects(trace, function, whole, kwargs, row)
    if is_in_c:
        reached = note_reached(trace, values)
    else:
        reached = note_reached(trace, (function, *values), function.__name__ != "forward")
    return _with_real_objects(trace, function, row, reached, args, kwargs)


def _for_each_case(
    trace: Trace, run: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`run(trace, function, args, kwargs)` for each case of arguments that are one of several."""
    count = len(args)

    def again(*values: Any) -> Any:
        named = dict(zip(kwargs, values[count:], strict=True))
        return run(trace, function, values[:count], named)

    return map_cases(trace, again, *args, *kwargs.values())


def _with_real_objects(
    trace: Trace, function: Any, row: EffectRow, reached: Any, args: tuple[Any, ...], kwargs: Any
) -> Any:
    def run() -> Any:
        named = {name: shown(trace, value, is_ours) for name, value in kwargs.items()}
        given = tuple(shown(trace, value, is_ours) for value in args)
        subject = getattr(function, "__self__", None), *given, *named.values()
        check_numpy(trace, function, subject)
        with reraise_swallowed_refusals(function):
            try:
                if looks_at_caller(function):
                    return called_by_the_user(function, given, named)
                return function(*given, **named)
            except FAULTS as error:
                check_fault(trace, function, error, subject)
                raise

    is_ours = str(getattr(function, "__module__", "")).startswith("dy2st")
    only_reads = not changed(row, function, with_owner(function, args), kwargs)
    found = with_overlay_materialised(trace, reached, run, only_reads)
    if is_fresh(row, args, found):
        trace.note_class_made(trace.made(found))
    if type(found).__module__ == "decimal":
        note_settings(trace, found)
    if isinstance(getattr(function, "__self__", None), ContextVar):
        return trace.read("cached", function, (args, tuple(kwargs.items())), found)
    return found


# Of more of them a function would stand in too many branches.
_MOST_INSIDE = 4


def _unions_inside(trace: Trace, values: Iterable[Any]) -> list[Union]:
    """What is one of several, as far as is known here, in lists and tuples among some values."""
    contents = (trace.content(one) if type(one) is list else one for one in values)
    parts = (part for one in contents if type(one) in (list, tuple) for part in one)
    unions = (one for one in parts if type(one) is Union and len(trace.cases_of(one)) > 1)
    return list({id(one): one for one in unions}.values())


def call_library(trace: Trace, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of dy2st, or of a library that is not looked into."""
    # Nothing outside is reached through what an operator is given.
    given = map(type, (*args, *kwargs.values()))
    if all(kind is Variable or info(kind).is_plain for kind in given) and is_operator(function):
        found = function(*args, **kwargs)
        return trace.made(found) if type(found) is list else found  # of several tensors
    if has_union((*args, *kwargs.values())):
        return _for_each_case(trace, call_library, function, args, kwargs)
    unions = _unions_inside(trace, (*args, *kwargs.values()))
    if 0 < len(unions) <= _MOST_INSIDE:
        # What is one of several still, inside of a case, is refused.
        run = lambda *_: call_native(trace, function, args, kwargs)  # noqa: E731
        return map_cases(trace, run, *unions)
    return call_native(trace, function, args, kwargs)


def _constructed_in_c(
    trace: Trace, kind: type, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    if has_union((*args, *kwargs.values())):  # each branch makes its own, and they are joined
        return _for_each_case(trace, _constructed_in_c, kind, args, kwargs)
    made = trace.made(call_native(trace, kind, args, kwargs))
    if len(args) > 1:
        trace.note_class_made(made)
    return made


def _maker(trace: Trace, kind: type, name: str) -> Any:
    """`kind.__new__` or `kind.__init__`, as it is now."""
    found = of_class(trace, kind, name)
    return found if type(found) is FunctionType else getattr(kind, name)


def call_layer(trace: Trace, layer: Layer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A Layer: pre hooks, `forward`, post hooks."""
    own = special(trace, layer, "__call__")
    if own is not Layer.__call__:
        return call(trace, own, layer, *args, **kwargs)
    return _forward(trace, layer, *args, **kwargs)


def _forward(trace: Trace, layer: Layer, /, *args: Any, **kwargs: Any) -> Any:
    """What `Layer.__call__` does; what is recorded meanwhile has the path of the Layer."""
    trace.seen("layer", layer, "hooks", None)
    special(trace, layer, "__call__")  # noted: Python has looked it up before
    tracer, around = trace.tracer, trace.tracer.layer
    tracer.layer = trace.record.layer_paths.of(layer, around)
    try:
        for key, hook in tuple(layer._forward_pre_hooks.items()):
            args, kwargs = _before(trace, layer, key, partial(call, trace, hook), args, kwargs)
        outputs = call(trace, trace.attr(layer, "forward"), *args, **kwargs)
        for key, hook in tuple(layer._forward_post_hooks.items()):
            given = (args, kwargs) if key in layer._hooks_with_kwargs else (args,)
            found = call(trace, hook, layer, *given, outputs)
            changed = lambda one, own=outputs: own if one is None else one  # noqa: E731
            outputs = map_cases(trace, changed, found)
        return outputs
    except Exception as error:
        note_layer(error, layer)
        raise
    finally:
        tracer.layer = around


def _before(
    trace: Trace,
    layer: Layer,
    key: int,
    hook: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The inputs after a pre hook, which may give None on some paths."""
    if key in layer._hooks_with_kwargs:
        return layer._before(key, hook, args, kwargs)
    changed = hook(layer, args)
    inputs = lambda one: layer._before(key, lambda *_: one, args, kwargs)[0]  # noqa: E731
    return map_cases(trace, inputs, changed), kwargs


def _call_object(trace: Trace, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    row = row_of_function(function)
    if row is not None:
        return _by_row(trace, function, row, *args, **kwargs)
    row = info(type(function)).methods.get("__call__")
    if row is not None:
        return row(trace, function, *args, **kwargs)
    if hasattr(type(function), "dygraph_function"):
        # A converted function is called as what it was made of.
        return call(trace, function.dygraph_function, *args, **kwargs)
    if isinstance(function, (MethodDescriptorType, WrapperDescriptorType)) and args:
        row = info(type(args[0])).methods.get(function.__name__)
        if row is not None:
            return row(trace, *args, **kwargs)
        return call_native(trace, function, args, kwargs)
    own = special(trace, function, "__call__")
    if type(own) is FunctionType:
        return call(trace, own, function, *args, **kwargs)
    wrapped = getattr_static(function, "__wrapped__", None)
    if type(wrapped) is FunctionType and not is_library(module_of_code(wrapped)):
        # functools.cache and its like
        return call(trace, wrapped, *args, **kwargs)
    if isinstance(function, weakref.ref):
        return trace.seen("cached", function, (args, ()), function())
    return call_native(trace, function, args, kwargs)


# What code raises that looks at a value more closely than it expects to.
FAULTS = (TypeError, AttributeError, ValueError, struct.error)


def check_numpy(trace: Trace, function: Any, given: Sequence[Any]) -> None:
    """Refuse numbers in what NumPy makes an array of: it would be one of objects."""
    is_numpy = str(getattr(function, "__module__", "")).partition(".")[0] == "numpy"
    if is_numpy and _holds_number(trace, given):
        raise _refusal(f"np.{function.__name__}()", "of NumPy")


def check_fault(trace: Trace, function: Any, error: Exception, given: Sequence[Any]) -> None:
    """Refuse a call that fails since it gets no number of Python: with one it may not fail."""
    is_own = str(getattr(function, "__module__", "")).startswith("dy2st")
    if is_own or isinstance(error, ConversionError):
        return
    if not _holds_number(trace, given) and Variable.__name__ not in str(error):
        return
    name = getattr(function, "__name__", type(function).__name__)
    raise _refusal(f"{name}()", "that is not converted") from error


def _refusal(called: str, of: str) -> TensorAsPython:
    return TensorAsPython(
        f"{called}, a function {of}, gets what only the run knows",
        why="while a function is traced numbers and texts of the Program have no value yet",
        hint="call it on what the function returns, or compute it with functions of dy2st",
    )


def _holds_number(trace: Trace, values: Iterable[Any]) -> bool:
    parts = (one for value in values for one in inside(trace, value))
    return any(is_traced_number(one) or type(one) is Text for one in parts)
