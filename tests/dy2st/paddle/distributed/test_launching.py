"""The launcher: outputs, several machines, and beginning again."""

import os
import re
import socket
from multiprocessing import connection

import pytest

import dy2st
import dy2st.distributed as dist
from dy2st.paddle.distributed.spawning import SpawnContext
from tests.dy2st.paddle.distributed.several import Run, run

pytest.importorskip("jax")


def test_each_process_has_its_log(tmp_path):
    out = run("faults.py", "none", options=["--log_dir", str(tmp_path)])
    assert "ready" not in out
    for local in range(2):
        assert (tmp_path / f"workerlog.{local}").read_text() == "ready\n"


def test_output_has_the_rank_in_front():
    out = run("faults.py", "none")
    assert sorted(out.splitlines()) == ["[0] ready", "[1] ready"]


def launchers(script, *arguments, options=()):
    """The launchers of two machines, which are this one."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        master = f"127.0.0.1:{server.getsockname()[1]}"
    common = ["--nnodes", "2", "--master", master, *options]
    return [Run(script, arguments, 1, [*common, "--rank", str(node)]) for node in range(2)]


def test_two_machines_work_together():
    ends = [one.end() for one in launchers("faults.py", "none")]
    assert [(code, out) for code, out, _ in ends] == [(0, "[0] ready\n"), (0, "[1] ready\n")]


def test_what_fails_on_one_machine_is_told_on_both():
    for code, _, err in [one.end() for one in launchers("faults.py", "raise")]:
        assert code == 1 and "rank 1 on " in err and "ValueError: the data is broken" in err, err


@pytest.mark.parametrize("machines", [1, 2])
def test_all_begin_again_from_the_last_checkpoint(tmp_path, machines):
    options = ["--max_restarts", "1"]
    if machines == 1:
        ends = [Run("restarted.py", [tmp_path, 6], 2, options).end()]
    else:
        ends = [one.end() for one in launchers("restarted.py", tmp_path, 6, options=options)]
    out = "".join(out for _, out, _ in ends)
    assert [code for code, _, _ in ends] == [0] * machines, ends
    assert re.findall(r"\[0\] begins at (\d)", out) in (["0", "2"], ["0", "3"])
    assert "[0] ends with [6.0, 6.0]" in out and "[1] ends with [12.0, 12.0]" in out


def test_a_wrong_master_is_named():
    options = ["--nnodes", "2", "--master", "127.0.0.1:9", "--rank", "1", "--timeout", "1"]
    code, _, err = Run("faults.py", ["none"], 1, options).end(60)
    assert code == 2 and "nobody answers at 127.0.0.1:9" in err


def work(number):
    dist.init_parallel_env()
    x = dy2st.full([1], float(dist.get_rank() + number))
    dist.all_reduce(x)
    if x.item() != 3.0:
        raise ValueError(f"the sum is {x.item()}")


def test_a_function_is_called_in_several_processes():
    assert dist.spawn(work, (1,), nprocs=2).join()


def test_a_function_that_fails_in_a_process_is_told():
    with pytest.raises(dy2st.errors.PeerError, match=r"rank \d on (.|\n)*ValueError: the sum is 5"):
        dist.spawn(work, (2,), nprocs=2)


class EndsBetweenTwoLooks:
    """A process that ends after it was asked twice."""

    pid = None

    def __init__(self):
        self.sentinel, write = os.pipe()
        os.close(write)
        self._codes = iter([None, None])

    @property
    def exitcode(self):
        return next(self._codes, 0)


def test_a_process_that_ends_while_it_is_looked_at_is_not_waited_for(monkeypatch):
    waited = []
    monkeypatch.setattr(connection, "wait", lambda given, left: waited.append([*given]))
    process = EndsBetweenTwoLooks()
    assert SpawnContext([process]).join()
    os.close(process.sentinel)
    assert [] not in waited
