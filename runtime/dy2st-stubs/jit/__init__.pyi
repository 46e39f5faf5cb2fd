"""Conversion to static Programs: `to_static`, `save`, `load`, and what steers them."""

from dy2st.convert import dy2static as dy2static
from dy2st.convert.effect_table import ignore_module as ignore_module
from dy2st.jit.api import not_to_static as not_to_static, to_static as to_static
from dy2st.jit.concrete_program import ConcreteProgram as ConcreteProgram
from dy2st.jit.save_load import load as load, save as save
from dy2st.jit.static_function import (
    StaticFunction as StaticFunction,
    enable_to_static as enable_to_static,
)
from dy2st.jit.trace import set_code_level as set_code_level, set_verbosity as set_verbosity
from dy2st_runtime.io import LoadedModel as _TranslatedLayer

TranslatedLayer = _TranslatedLayer
