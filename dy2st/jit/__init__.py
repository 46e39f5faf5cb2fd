"""Conversion to static Programs: `to_static`, `save`, `load`, and what steers them."""

from pathlib import Path

from dy2st.jit.api import not_to_static, to_static
from dy2st.jit.code_level import set_code_level, set_verbosity
from dy2st.jit.save_load import load, save
from dy2st.jit.static_function import StaticFunction
from dy2st.jit.switches import enable_to_static
from dy2st.late import late_names
from dy2st_runtime.io import LoadedModel as TranslatedLayer
from dy2st_runtime.ir.location import hide_frames_of

hide_frames_of(str(Path(__file__).parent.parent))  # locations name the user's lines, never ours

__getattr__ = late_names(
    __name__,
    {
        "ConcreteProgram": "dy2st.jit.concrete_program",
        "ignore_module": "dy2st.convert.call",
    },
)

__all__ = [
    "ConcreteProgram",
    "StaticFunction",
    "TranslatedLayer",
    "enable_to_static",
    "ignore_module",
    "load",
    "not_to_static",
    "save",
    "set_code_level",
    "set_verbosity",
    "to_static",
]
