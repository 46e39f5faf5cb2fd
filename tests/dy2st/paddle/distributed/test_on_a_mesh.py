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


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("batch", r"step\(float32\[16, 8\], .* values (\w+); rank 1: step\(.* values (?!\1)"),
        ("rows", r"rank 0: step\(float32\[16, 8\].*; rank 1: (?!step\(float32\[16, 8\])"),
        ("program", r"of the Program (\w+) .*; rank 1: .* of the Program (?!\1)"),
        ("seed", r"values (\w+); rank 1: step\(.* values (?!\1)"),
        ("draws", r"values (\w+); rank 1: step\(.* values (?!\1)"),
        ("looks", r"rank 0: step\(.*; rank 1: all of a float32\[8, 4\]"),
        ("hangs", r"PeerTimeout: step\(.* has waited 5 s .*ranks \[0, 1\]"),
    ],
)
def test_a_rank_that_does_something_else_is_an_error_on_all(fault, said):
    code, out, err = Run("fault_on_a_mesh.py", [fault], env={"PADDLE_PG_TIMEOUT": "5000"}).end(60)
    assert code == 1 and "trained" not in out
    assert re.search(said, err), err
    assert fault == "hangs" or "each reads whole batches" in err
