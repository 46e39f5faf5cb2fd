"""Converted models on the engine `xla`: training, and model code, as on NumPy's engine."""

from __future__ import annotations

import pytest

from tests.dy2st.catalogue.drivers import verdict
from tests.dy2st.catalogue.not_yet import NOT_YET, WRONG
from tests.dy2st.catalogue.themes import CASES
from tests.dy2st.jit.trained import control, layers, objectives  # noqa: F401  they fill the table
from tests.dy2st.jit.trained.compare import MODELS, WAYS, check
from tests.effort import IS_FULL

pytest.importorskip("jax", reason="the engine xla needs jax: pip install 'dy2st[jax]'")

# One of those, as each takes seconds to compile.
TRAINED = sorted(MODELS)[:: 1 if IS_FULL else 12]
PROGRAMS = [
    case for case in CASES if case.way == "program" and case.entry.theme.startswith("model_code.")
]
KNOWN = [c for c in PROGRAMS if c.name not in NOT_YET | {*WRONG} and not c.entry.slow]
CODE = KNOWN[:: 4 if IS_FULL else 60]


@pytest.fixture(autouse=True)
def on_xla(monkeypatch):
    monkeypatch.setenv("DY2ST_ENGINE", "xla")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TRAINED)
def test_losses_and_state_are_those_of_eager_training(name, way):
    check(name, way, "Adam", 4, 4)


@pytest.mark.filterwarnings("ignore:(divide|invalid|overflow|underflow)")
@pytest.mark.parametrize("case", CODE, ids=lambda case: case.name)
def test_model_code_gives_what_python_gives(case):
    assert verdict(case)[:2] == ("equal", "")
