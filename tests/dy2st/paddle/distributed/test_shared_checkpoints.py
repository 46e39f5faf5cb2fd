"""Checkpoints of 4 processes, read by any number; killed at any moment they stay whole."""

import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.dy2st.paddle.distributed.several import SCRIPTS, Run, run

pytest.importorskip("jax")


def read(folder):
    """The value of a checkpoint, read by one process, which checks all of it."""
    command = [sys.executable, str(SCRIPTS / "checkpoint.py"), "read", str(folder)]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert shown.returncode == 0, shown.stderr
    return int(shown.stdout.split()[1])


def test_any_number_of_processes_reads_what_four_have_written(tmp_path):
    run("checkpoint.py", "write", tmp_path, 1, 2, processes=4)
    assert len([*tmp_path.glob("*/*.safetensors")]) == 4
    assert read(tmp_path) == 2
    assert sorted(run("checkpoint.py", "read", tmp_path).split()) == sorted(
        "[0] read 2 [1] read 2".split()
    )


def test_a_name_of_two_shapes_is_refused_in_all_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import dy2st, dy2st.distributed as dist\n"
        "dist.init_parallel_env()\n"
        "try:\n"
        "    dist.save_state_dict({'x': dy2st.ones([1 + dist.get_rank()])}, 'nowhere')\n"
        "except dy2st.errors.ArgumentError as error:\n"
        "    print(error)\n"
    )
    out = run(str(script))
    assert len(re.findall(r"'x' is float32\[1\] in one process, and float32\[2\]", out)) == 2


def test_a_process_killed_at_any_moment_leaves_a_checkpoint_that_is_whole(tmp_path):
    draw = random.Random(7)
    for _ in range(30 if os.environ.get("DY2ST_TESTS") == "full" else 3):
        writing = Run("checkpoint.py", ["write", tmp_path, *range(1, 2000)], 4)
        for line in writing.launcher.stdout:
            if "saved 1" in line:
                break
        time.sleep(draw.uniform(0, 0.5))
        os.kill(draw.choice(writing.workers()), signal.SIGKILL)
        code, _, err = writing.end(60)
        assert code == 1 and "signal SIGKILL" in err
        assert read(tmp_path) >= 1
