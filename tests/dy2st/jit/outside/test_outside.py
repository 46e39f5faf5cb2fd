"""Converted functions follow the state outside of them, and do to it what Python does, once a call."""

from __future__ import annotations

import pytest

from tests.dy2st.jit.outside.catalogue import SCENARIOS
from tests.dy2st.jit.outside.not_yet import NOT_YET
from tests.dy2st.jit.outside.scenario import expected, run

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_converted_function_does_what_python_does(name: str) -> None:
    found = run(SCENARIOS[name])
    wanted = NOT_YET.get(name, "follows")
    assert found.verdict == wanted, (
        f"not_yet.py says {wanted}; traces {found.traces} {found.detail}"
    )


def test_the_table_names_scenarios_alone() -> None:
    assert not NOT_YET.keys() - SCENARIOS.keys()
    assert not {*NOT_YET.values()} - {"WRONG", "error", "refused", "retraced"}


def test_there_is_a_scenario_of_each_kind() -> None:
    kinds = [scenario.kind for scenario in SCENARIOS.values()]
    assert kinds.count("change") > 500
    assert kinds.count("beside") > 20
    assert kinds.count("effect") > 100


def test_a_scenario_that_changes_nothing_is_refused() -> None:
    scenario = SCENARIOS["attributes.an_attribute"]
    still = type(scenario)("still", lambda: (abs, lambda: None))
    with pytest.raises(AssertionError):
        expected(still)
