"""The page on engines lists the operators that NumPy computes, and models meet none of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dy2st_runtime.engine.native.program.planner import planned
from dy2st_runtime.engine.native.report import _asked
from dy2st_runtime.ir import DEFINITIONS
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.functions import inlined
from dy2st_runtime.ops.lazy import FAMILIES
from examples.zoo.__main__ import compare
from examples.zoo.models import MODELS
from tests.runtime.engine.native.test_executable import square_of

PAGE = Path(__file__).parents[4] / "docs" / "engines.md"
WINDOWS = "windows, unless"
# Without samples: tests of lists, of branches and of what is asserted run them.
WITHOUT_SAMPLES = {name for name in ("cond", "while", "call", "raise", "warn")}


def called_back():
    """The operators that the page lists, by why."""
    section = PAGE.read_text(encoding="utf-8").partition("### What NumPy computes")[2]
    rows = re.findall(r"^\| ((?:`\w+` ?)+)\| (.+) \|$", section.partition("\nSo are")[0], re.M)
    return {why: re.findall(r"`(\w+)`", names) for names, why in rows}


def all_operators():
    for family in FAMILIES:
        for name in family.operators.split():
            lookup(name)
    return sorted(DEFINITIONS)


def asked(program):
    return set(_asked(planned(program.block)))


def is_code(name):
    """Whether code computes one of the samples of an operator."""
    definition = DEFINITIONS[name]
    for sample in definition.samples:
        for is_fixed in (True, False):
            try:
                square = square_of(definition, sample, is_fixed)
            except Exception:  # it has no meaning for such sizes
                continue
            if not asked(square.program):
                return True
    return False


@pytest.mark.filterwarnings("ignore")
def test_the_page_lists_all_operators_that_numpy_computes():
    reasons = called_back()
    windows = next(names for why, names in reasons.items() if why.startswith(WINDOWS))
    listed = {name for names in reasons.values() for name in names}
    found = {
        name
        for name in all_operators()
        if DEFINITIONS[name].samples and name not in windows and not is_code(name)
    }
    assert found == listed - set(windows)
    others = {name for name in DEFINITIONS if not DEFINITIONS[name].samples}
    assert all(name.startswith("array_") for name in others - WITHOUT_SAMPLES)


def test_most_operators_are_code():
    between_processes = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"}
    listed = {name for names in called_back().values() for name in names}
    count = len(listed - between_processes - {"broadcast_from"})
    assert count <= 0.15 * len(all_operators())


@pytest.mark.parametrize("name", MODELS)
def test_a_model_asks_numpy_for_nothing_but_windows(name):
    comparison = compare(name, tiny=True)
    windows = next(names for why, names in called_back().items() if why.startswith(WINDOWS))
    assert asked(inlined(comparison.before)) <= set(windows)
    assert asked(comparison.after) <= set(windows)
