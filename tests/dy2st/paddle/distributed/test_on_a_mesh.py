"""On a mesh of several processes training gives what it gives in one."""

import pytest

from tests.dy2st.paddle.distributed.scripts.on_a_mesh import PLANS
from tests.dy2st.paddle.distributed.several import run

pytest.importorskip("jax")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "rows"), [("2", 16), ("2", 13), ("4", 16), ("2x2", 16)], ids=lambda one: str(one)
)
def test_all_plans_give_what_one_process_gives(shape, rows):
    processes = eval(shape.replace("x", "*"))
    printed = run("on_a_mesh.py", shape, rows, processes=processes)
    lines = [f"[{rank}] {name} True" for rank in range(processes) for name in PLANS]
    assert sorted(printed.splitlines()) == sorted(lines)
