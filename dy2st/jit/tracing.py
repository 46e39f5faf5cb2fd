"""All that a trace needs, and what runs its Program: loaded with the first `to_static`."""

import os
from collections.abc import Callable
from typing import Any

import dy2st_runtime.engine.numpy.executable  # noqa: F401
from dy2st.convert.call import convert_call, on_conversion
from dy2st.convert.once import OneCall
from dy2st.jit.concrete_program import place_of
from dy2st.jit.concrete_program import trace as trace_by_converting
from dy2st.jit.generality import Family, axes_text, generalised
from dy2st.jit.guards import object_key
from dy2st.jit.heart_program import HeartTracing
from dy2st.jit.shape_table import ShapeTable
from dy2st.jit.shown import show
from dy2st.transpiler import statement_info, transpile
from dy2st_runtime.ir.converting import install_converter
from dy2st_runtime.ir.tracebacks import join_parts

# From here on a Layer that is called while a function is traced runs its converted forward.
install_converter(convert_call)
join_parts(lambda code: statement_info(code) is not None)
on_conversion.append(show)

# Until all runs on the heart, this says whether `to_static` does.
uses_heart = os.environ.get("DY2ST_HEART") == "1"


def new_trace() -> Callable[..., Any]:
    """What traces one function."""
    return HeartTracing().trace if uses_heart else trace_by_converting


__all__ = [
    "Family",
    "OneCall",
    "ShapeTable",
    "axes_text",
    "convert_call",
    "generalised",
    "new_trace",
    "object_key",
    "place_of",
    "transpile",
    "uses_heart",
]
