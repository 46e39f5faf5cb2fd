"""On a mesh of several processes training gives what it gives in one."""

import re

import pytest

from tests.dy2st.paddle.distributed.scripts.on_a_mesh import PLANS
from tests.dy2st.paddle.distributed.several import Run, run

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


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("killed", "rank 1 on .* ended with signal SIGKILL"),
        ("raises", "(?s)rank 1 on .* exit code 1.*ValueError: this rank has had enough"),
    ],
)
def test_a_rank_that_ends_in_a_step_ends_the_others_with_one_message(fault, said):
    code, out, err = Run("fault_on_a_mesh.py", [fault]).end(60)
    assert code != 0
    assert re.search(said, out + err)
    assert "deleted" not in out + err
