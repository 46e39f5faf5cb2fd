"""Ctrl-C leaves nothing behind; `python -m tests.dy2st.jit.interrupts 300` tries more of it."""

from __future__ import annotations

import pytest

from tests.dy2st.jit.interrupts import Interrupts


@pytest.fixture(scope="module")
def interrupts(tmp_path_factory):
    return Interrupts(tmp_path_factory.mktemp("interrupted"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("seed", range(12))
def test_ctrl_c_at_any_moment_leaves_all_as_it_was(interrupts, seed):
    assert interrupts.wrong(seed) == []
