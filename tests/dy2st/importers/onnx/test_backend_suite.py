"""ONNX's own suite: a drawn share of it in every run, all of it with DY2ST_TESTS=full."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx", reason="ONNX needs onnx: pip install 'dy2st[onnx]'")
pytest.importorskip("ml_dtypes", reason="floats of 8 bits need ml_dtypes")

from tests.dy2st.importers.onnx.backend_suite import (  # noqa: E402
    CONFIGURATIONS,
    cases,
    outcome,
)
from tests.dy2st.importers.onnx.expected import EXPECTED  # noqa: E402
from tests.effort import IS_FULL  # noqa: E402

# How many cases a run of a configuration leaves out between two; machine code takes long to make.
_STEPS = {"plain": 7, "inference": 29, "saved": 31, "native": 211}
_DRAWN_ANEW = "random numbers"


@pytest.mark.parametrize("how", CONFIGURATIONS)
def test_all_cases_pass_but_those_that_are_expected_to_fail(how):
    step = 1 if IS_FULL else _STEPS[how]
    failed = {key: why for key, case in [*cases().items()][::step] if (why := outcome(case, how))}
    surprises = {key: why for key, why in failed.items() if key not in EXPECTED}
    assert not surprises
    left = {key for key in [*cases()][::step] if key in EXPECTED and key not in failed}
    assert {key for key in left if not EXPECTED[key].startswith(_DRAWN_ANEW)} == set()


def test_what_is_expected_to_fail_is_in_the_suite():
    assert set(EXPECTED) <= set(cases())


def test_most_of_the_suite_passes():
    assert len(cases()) - len(EXPECTED) >= 1900
