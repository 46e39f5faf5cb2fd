"""What lies on a mesh is written in parts, each once, and read in parts, on any other mesh."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import dy2st
import dy2st.distributed as dist
from dy2st.errors import FormatError
from tests.dy2st.paddle.distributed.several import SCRIPTS, Run, run

SCRIPT = "checkpoint_of_a_mesh.py"


def alone(*arguments, script=SCRIPT):
    """A script in one process, of eight devices."""
    devices = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    command = [sys.executable, str(SCRIPTS / script), *map(str, arguments)]
    ran = subprocess.run(
        command, env=os.environ | devices, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def parts_of(folder):
    return json.loads((folder / "index.json").read_text())["tensors"]


@pytest.mark.slow
def test_four_processes_write_each_part_once_and_others_go_on(tmp_path):
    pytest.importorskip("jax")
    one_each = {"XLA_FLAGS": ""}  # of the devices that the tests here may have
    run(SCRIPT, "write", "2x2", tmp_path, processes=4, env=one_each)
    tensors = parts_of(tmp_path)
    assert len(tensors["0.weight"]["parts"]) == 4
    assert len({part["file"] for part in tensors["0.weight"]["parts"]}) == 4
    state = sum(
        np.dtype(one["dtype"]).itemsize * int(np.prod(one["shape"])) for one in tensors.values()
    )
    files = [file.stat().st_size for file in tmp_path.glob("*/*.safetensors")]
    headers = 4096 * len(files)
    assert len(files) == 4 and state <= sum(files) <= state + headers
    assert max(files) < state // 2 + headers  # nobody has had all of it
    read = run(SCRIPT, "read", "1x2", tmp_path, env=one_each)
    assert sorted(read.splitlines()) == ["[0] equal", "[1] equal"]
    for shape in ("1x1", "2x4"):
        assert alone("read", shape, tmp_path) == "equal\n"


def test_a_process_killed_at_any_moment_leaves_parts_of_one_step(tmp_path):
    pytest.importorskip("jax")
    draw = random.Random(11)
    for _ in range(30 if os.environ.get("DY2ST_TESTS") == "full" else 2):
        writing = Run("counting_on_a_mesh.py", ["count", tmp_path], 2, env={"XLA_FLAGS": ""})
        for line in writing.launcher.stdout:
            if "saved 1" in line:
                break
        time.sleep(draw.uniform(0, 0.5))
        os.kill(draw.choice(writing.workers()), signal.SIGKILL)
        code, _, err = writing.end(60)
        assert code == 1 and "signal SIGKILL" in err
        shown = alone("read", tmp_path, script="counting_on_a_mesh.py")
        assert int(shown.split()[1]) >= 1
        assert len(parts_of(tmp_path)["w"]["parts"]) == 2


def saved_in_parts(folder):
    """A checkpoint of w, 4 x 6, in two files that have two rows each."""
    w = np.arange(24, dtype="float32").reshape(4, 6)
    dist.save_state_dict({"w": dy2st.to_tensor(w[:2]), "other": dy2st.ones([1])}, str(folder))
    dist.save_state_dict({"w": dy2st.to_tensor(w[2:])}, str(folder / "second"))
    index, second = (
        json.loads((at / "index.json").read_text()) for at in (folder, folder / "second")
    )
    (more,) = second["tensors"]["w"]["parts"]
    more |= {"file": f"second/{more['file']}", "offset": [2, 0]}
    index["tensors"]["w"]["parts"].append(more)
    index["tensors"]["w"]["shape"] = [4, 6]
    (folder / "index.json").write_text(json.dumps(index))
    return w, folder / more["file"]


def test_parts_become_a_tensor(tmp_path):
    w, _ = saved_in_parts(tmp_path)
    mesh = dist.ProcessMesh([0], dim_names=["x"])
    for tensor in (dy2st.zeros([4, 6]), dist.shard_tensor(dy2st.zeros([4, 6]), mesh, [])):
        dist.load_state_dict({"w": tensor}, str(tmp_path))
        np.testing.assert_array_equal(tensor.numpy(), w)


def test_a_device_is_given_its_window_of_the_parts(tmp_path):
    w, _ = saved_in_parts(tmp_path)
    mesh = dist.ProcessMesh([0], dim_names=["x"])
    tensor = dist.shard_tensor(dy2st.zeros([4, 6]), mesh, [])
    dist.load_state_dict({"w": tensor}, str(tmp_path))
    stored = tensor.resident.value
    for rows in (slice(0, 1), slice(1, 3), slice(2, 4), slice(None)):
        for columns in (slice(0, 2), slice(3, 6), slice(None)):
            np.testing.assert_array_equal(stored.part((rows, columns)), w[rows, columns])


def test_a_part_that_lacks_is_told(tmp_path):
    _, second = saved_in_parts(tmp_path)
    index = json.loads((tmp_path / "index.json").read_text())
    index["tensors"]["w"]["parts"].pop()
    (tmp_path / "index.json").write_text(json.dumps(index))
    with pytest.raises(FormatError, match="parts of 'w' lack"):
        dist.load_state_dict({"w": dy2st.zeros([4, 6])}, str(tmp_path))


def test_names_that_look_like_those_of_parts_stay_apart(tmp_path):
    state = {
        name: dy2st.full([2], value) for value, name in enumerate(["w", "w#0", "w#1", "w#0#0"])
    }
    dist.save_state_dict(state, str(tmp_path))
    found = {name: dy2st.full([2], 9) for name in state}
    dist.load_state_dict(found, str(tmp_path))
    assert [one.tolist() for one in found.values()] == [[v, v] for v in range(4)]
