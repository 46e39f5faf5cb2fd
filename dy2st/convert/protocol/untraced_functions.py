"""Which functions are called as they are, and why."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import FrameType, FunctionType, MethodType
from typing import Any

from dy2st.convert.effect_table import IGNORE_MARK, is_ignored_module, module_of_code
from dy2st.convert.trace import Trace
from dy2st.transpiler.lower import TracedForm, traced_form
from dy2st_runtime.errors import SourceUnavailable
from dy2st_runtime.ir.location import explain_frames
from dy2st_runtime.ir.tracing.tracer import current_tracer

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


def explain(trace: Trace, frame: FrameType) -> str:
    """What a refusal says of code that runs as it is."""
    met = trace.record.functions.get(id(frame.f_code))
    if met is None or not met.why:
        return ""
    return f"{met.name}() is not converted: {met.why}"
