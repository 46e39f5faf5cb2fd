"""All that a trace needs, and what runs its Program: loaded with the first `to_static`."""

import dy2st_runtime.engine.numpy.executable  # noqa: F401
from dy2st.convert.call_context import CallContext
from dy2st.jit.shape_history import Family, axes_text, generalised
from dy2st.jit.trace import Tracing
from dy2st.transpiler.compile import is_part
from dy2st.transpiler.lower import code_of
from dy2st_runtime.ir.location import join_parts

join_parts(is_part)

__all__ = [
    "CallContext",
    "Family",
    "Tracing",
    "axes_text",
    "code_of",
    "generalised",
]
