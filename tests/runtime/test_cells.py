"""Code of IPython and of notebooks is named by its cell, not by the file that it was compiled as."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import dy2st
from dy2st_runtime.errors import Location

FILE = str(Path(tempfile.gettempdir(), "ipykernel_1234", "3405691582.py"))


@pytest.fixture
def notebook(monkeypatch):
    """A kernel that has compiled `FILE` as its fifth cell."""
    module = ModuleType("IPython")
    compiler = SimpleNamespace(_filename_map={FILE: 5})
    module.get_ipython = lambda: SimpleNamespace(compile=compiler)
    monkeypatch.setitem(sys.modules, "IPython", module)


def test_a_cell_of_ipython_has_its_number():
    place = Location("<ipython-input-3-0badc0de>", 2, 5)
    assert (str(place), place.file_name) == ("cell 3:2:5", "cell 3")


def test_a_cell_of_a_notebook_has_its_number(notebook):
    assert str(Location(FILE, 2)) == "cell 5:2"


def test_a_file_that_no_kernel_knows_keeps_its_name(notebook):
    assert str(Location(f"{FILE}x", 2)) == f"{FILE}x:2"
    assert Location("model.py", 2).shown_file == "model.py"


def test_errors_and_reports_name_the_cell(notebook):
    scope = {"dy2st": dy2st}
    exec(
        compile("def f(x):\n    if x:\n        x = x + 1\n    return x.numpy()", FILE, "exec"),
        scope,
    )
    f = dy2st.to_static(scope["f"], engine="numpy")
    with pytest.raises(dy2st.errors.ConversionError, match="cell 5:"):
        f(dy2st.ones([1]))
