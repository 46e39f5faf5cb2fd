"""Conversion to static Programs: `to_static`, `save`, `load`, and what steers them."""

import os
from typing import TYPE_CHECKING

from dy2st.jit.api import not_to_static, to_static
from dy2st.jit.static_function import StaticFunction, enable_to_static
from dy2st_runtime.ir.location import hide_frames_of
from dy2st_runtime.lazy import lazy_names, public_dir

# Locations name the user's lines, never ours.
hide_frames_of(os.path.dirname(os.path.dirname(__file__)))

if TYPE_CHECKING:
    from dy2st.convert import dy2static
    from dy2st.convert.effect_table import ignore_module
    from dy2st.jit.concrete_program import ConcreteProgram
    from dy2st.jit.save_load import load, save
    from dy2st.jit.trace import set_code_level, set_verbosity
    from dy2st_runtime.io import LoadedModel as TranslatedLayer
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "ConcreteProgram": "dy2st.jit.concrete_program:ConcreteProgram",
            "TranslatedLayer": "dy2st_runtime.io:LoadedModel",
            "dy2static": "dy2st.jit.dy2static",
            "ignore_module": "dy2st.convert.effect_table:ignore_module",
            "load": "dy2st.jit.save_load:load",
            "save": "dy2st.jit.save_load:save",
            "set_code_level": "dy2st.jit.trace:set_code_level",
            "set_verbosity": "dy2st.jit.trace:set_verbosity",
        },
    )

__all__ = [
    "ConcreteProgram",
    "StaticFunction",
    "TranslatedLayer",
    "dy2static",
    "enable_to_static",
    "ignore_module",
    "load",
    "not_to_static",
    "save",
    "set_code_level",
    "set_verbosity",
    "to_static",
]
__dir__ = public_dir(__name__)
