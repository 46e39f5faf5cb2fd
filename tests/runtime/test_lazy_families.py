"""Families of operators are loaded by whatever first needs one of their names."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dy2st_runtime.ir import DEFINITIONS
from dy2st_runtime.ir.dispatch import FUNCTIONS, METHODS
from dy2st_runtime.ops.lazy import FAMILIES, load_all

WAYS = {
    "a function of the package": "dy2st.logaddexp(1.0, 1.0)",
    "a function called by name": "from dy2st_runtime.ir import F; F.logaddexp(1.0, 1.0)",
    "a method": "x = dy2st.ones([2]); x.logaddexp(x)",
    "a record": "from dy2st_runtime.ir.definition import lookup; lookup('logaddexp')",
    "a method of the class": "dy2st.Tensor.logaddexp(dy2st.ones([2]), 1.0)",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_family_is_loaded_when_one_of_its_names_is_asked_for(way):
    script = f"""
import sys, dy2st
assert "dy2st_runtime.ops.numeric" not in sys.modules
{WAYS[way]}
assert "dy2st_runtime.ops.numeric" in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_a_saved_program_loads_the_families_of_its_operators(tmp_path):
    save = f"""
import dy2st
from dy2st.static import InputSpec
f = dy2st.to_static(lambda x: dy2st.logaddexp(x, x), input_spec=[InputSpec([2])])
dy2st.jit.save(f, r"{tmp_path / "f"}")
"""
    load = f"""
import sys, numpy, dy2st_runtime
model = dy2st_runtime.load(r"{tmp_path / "f"}")
print(model(numpy.zeros(2, "float32")).numpy())
"""
    subprocess.run([sys.executable, "-c", save], check=True, timeout=60)
    shown = subprocess.run(
        [sys.executable, "-c", load], check=True, timeout=60, capture_output=True, text=True
    )
    assert shown.stdout == "[0.6931472 0.6931472]\n"


def test_the_table_names_what_the_families_have():
    load_all()
    for family in FAMILIES:
        assert set(family.functions.split()) <= set(FUNCTIONS)
        assert set(family.operators.split()) <= set(DEFINITIONS)
        assert set(family.methods.split()) <= set(METHODS)


def test_a_misspelt_late_name_is_told_how_it_is_written():
    import dy2st

    with pytest.raises(AttributeError, match="did you mean 'logaddexp'"):
        dy2st.logadexp  # noqa: B018
