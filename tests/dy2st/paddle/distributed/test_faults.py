"""What goes wrong in one process ends all of them, with one message; nothing is left."""

import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

from tests.dy2st.paddle.distributed.several import SCRIPTS, Run

pytest.importorskip("jax")


@pytest.mark.parametrize(
    "fault, how, why",
    [
        ("raise", "exit code 1", "ValueError: the data is broken"),
        ("kill", "signal SIGKILL", ""),
        ("exit", "exit code", r"rank 0: all_reduce\(float32\[2\], sum\); rank 1: its end"),
        ("differ", "exit code 1", r"rank 0: all_reduce\(float32\[2\], sum\); rank 1: barrier"),
        ("shape", "exit code 1", r"rank 1: all_reduce\(float32\[3\], sum\)"),
        ("hang", "exit code 1", r"PeerTimeout: all_reduce.* waited 5 s .*ranks \[0, 1\]"),
    ],
)
def test_one_process_that_fails_ends_all(fault, how, why):
    run = Run("faults.py", [fault], env={"PADDLE_PG_TIMEOUT": "5000"} if fault == "hang" else {})
    code, _, err = run.end()
    assert code == 1
    rank = "1" if fault in ("raise", "kill") else r"\d"
    told = re.findall(rf"rank {rank} on {socket.gethostname()} ended with {how}", err)
    assert len(told) == 1 and re.search(why, err), err


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_end_of_the_launcher_is_the_end_of_all(number, code):
    run = Run("faults.py", ["wait"])
    for line in run.launcher.stdout:
        if "ready" in line:
            break
    begun = time.monotonic()
    run.launcher.send_signal(number)
    found, _, err = run.end(30)
    assert found == code and time.monotonic() - begun < 10, err


def alone(rank, timeout, address):
    """Rank `rank` of 3, the only one that comes; its errors."""
    env = {
        "PADDLE_TRAINER_ID": str(rank),
        "PADDLE_TRAINERS_NUM": "3",
        "PADDLE_MASTER": address,
        "DY2ST_JOIN_TIMEOUT": str(timeout),
    }
    command = [sys.executable, str(SCRIPTS / "faults.py"), "none"]
    ran = subprocess.run(command, env=os.environ | env, capture_output=True, text=True, timeout=200)
    assert ran.returncode == 1
    return ran.stderr


def free_address():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


def test_an_address_where_nobody_is_is_named():
    address = free_address()
    err = alone(1, 2, address)
    assert re.search(rf"PeerTimeout: rank 1 has waited 2 s for rank 0 at {address}", err), err


def test_ranks_that_do_not_come_are_named():
    err = alone(0, 2, free_address())
    assert re.search(r"PeerTimeout: .* of 3 processes the ranks \[1, 2\] have not come", err), err


def test_an_address_that_is_taken_is_named():
    with socket.create_server(("", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        err = alone(0, 2, address)
    assert f"PeerError: rank 0 cannot listen at {address}" in err, err
