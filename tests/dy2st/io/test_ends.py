"""Programs that end while workers of a DataLoader are busy leave none behind."""

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dy2st import io
from dy2st.io import loader

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

ROOT = Path(__file__).parents[3]

HEAD = """
import multiprocessing, os, signal, sys, time
import numpy as np
import dy2st
from dy2st import io

# A test run in the background inherits that Ctrl-C is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

class Slow(io.Dataset):
    def __getitem__(self, idx):
        time.sleep(0.02)
        return np.full(10_000, idx)
    def __len__(self):
        return 100_000

def tell():
    print(*[child.pid for child in multiprocessing.active_children()], flush=True)
"""
BUSY = "for number, _ in enumerate(io.DataLoader(Slow(), batch_size=5, num_workers=4{more})):\n"
BUSY += "    if number == 3: tell()\n"


def started(tmp_path, text):
    file = tmp_path / "script.py"
    file.write_text(HEAD + text)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "runtime")])}
    return subprocess.Popen(
        [sys.executable, "-W", "error", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environment,
    )


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def all_end(pids):
    end = time.monotonic() + 60
    while any(is_running(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(is_running(pid) for pid in pids)


@pytest.mark.parametrize("more", ["", ", persistent_workers=True"])
def test_ctrl_c_leaves_nothing_running(tmp_path, more):
    process = started(tmp_path, BUSY.format(more=more))
    pids = [int(pid) for pid in process.stdout.readline().split()]
    assert len(pids) == 4 and all(is_running(pid) for pid in pids)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert errors.count("Traceback") == errors.count("KeyboardInterrupt") == 1
    assert all_end(pids)


def test_workers_end_with_a_user_who_is_killed(tmp_path):
    process = started(tmp_path, BUSY.format(more=""))
    pids = [int(pid) for pid in process.stdout.readline().split()]
    process.kill()
    process.communicate(timeout=120)
    assert len(pids) == 4 and all_end(pids)


@pytest.mark.parametrize("more", ["", ", persistent_workers=True"])
def test_a_program_may_end_in_the_middle(tmp_path, more):
    text = f"batches = iter(io.DataLoader(Slow(), num_workers=2{more}))\nnext(batches)\ntell()\n"
    process = started(tmp_path, text)
    output, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")
    assert all_end([int(pid) for pid in output.split()])


@pytest.mark.parametrize("name", ["default_collate_fn", "default_convert_fn"])
def test_what_makes_batches_can_be_sent_to_a_process(name):
    assert pickle.loads(pickle.dumps(getattr(loader, name))) is getattr(io, name)


SPAWNED = """
class Own(io.Dataset):
    def __getitem__(self, idx):
        return np.full(200_000, idx), io.get_worker_info().id
    def __len__(self):
        return 6

if __name__ == "__main__":
    multiprocessing.set_start_method("{method}")
    for x, number in io.DataLoader(Own(), num_workers=2):
        print(int(x[0, 7]), int(number), end=" ")
    try:
        list(io.DataLoader(Own(), num_workers=2, collate_fn=lambda batch: batch))
    except dy2st.errors.WorkerError as error:
        print("importable module" in str(error))
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers_that_are_not_forked_do_the_same(tmp_path, method):
    process = started(tmp_path, SPAWNED.replace("{method}", method))
    output, errors = process.communicate(timeout=300)
    assert (output.split(), errors) == ([*"001120314051", "True"], "")


MANY = """
class Numbers(io.Dataset):
    def __getitem__(self, idx):
        return idx
    def __len__(self):
        return 100_000

batches = [b.numpy() for b in io.DataLoader(Numbers(), batch_size=64, num_workers=4)]
print((np.concatenate(batches) == np.arange(100_000)).all(), multiprocessing.active_children())
"""


@pytest.mark.slow
def test_many_samples_come_in_order_from_several_workers(tmp_path):
    process = started(tmp_path, MANY)
    output, errors = process.communicate(timeout=300)
    assert (output, errors) == ("True []\n", "")
