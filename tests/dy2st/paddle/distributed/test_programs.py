"""Collectives in converted functions are operators, which all engines run."""

import pytest

from tests.dy2st.paddle.distributed.several import run

pytest.importorskip("jax")
pytest.importorskip("llvmlite")


def test_programs_do_what_the_functions_do():
    operators = "all_reduce broadcast_from all_gather all_to_all reduce_scatter"
    shown = run("programs.py").splitlines()
    assert sorted(shown) == sorted(f"[{rank}] {operators}" for rank in (0, 0, 1, 1))
