"""Starts a script in several processes of this machine, or of several, and ends all with one.

It is the command `python -m dy2st.distributed.launch`.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import IO, Any, NoReturn

from dy2st.paddle.distributed.hosts import Failure, Hosts, Plan
from dy2st_runtime.errors import ArgumentError, PeerError

_GRACE = 3.0
_NOISE = b"[Gloo] Rank "
_TRACEBACK = "Traceback (most recent call last)"


def main(arguments: Sequence[str]) -> int:
    """The command; 0 if all processes have ended well.

    >>> main(["--nproc_per_node", "2", "train.py"])  # doctest: +SKIP
    0
    """
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _as_exit)
    hosts = None
    try:
        hosts = Hosts(options.nnodes, options.master, options.rank, options.timeout)
        for attempt in range(options.max_restarts + 1):
            plan = hosts.plan(options.nproc_per_node)
            failure = _run(hosts, plan, options, attempt)
            if failure is None:
                return 0
            print(failure.text(), file=sys.stderr, flush=True)
            if attempt < options.max_restarts:
                words = f"starting again: {attempt + 1} of {options.max_restarts} times"
                print(words, file=sys.stderr, flush=True)
        return 1
    except (ArgumentError, PeerError) as error:
        print(f"launch: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    finally:
        if hosts is not None:
            hosts.close()


def _as_exit(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dy2st.distributed.launch",
        description="Run a script in several processes that train together.",
    )
    add = parser.add_argument
    add("--nproc_per_node", type=int, default=1, help="processes on this machine")
    add("--nnodes", type=int, default=1, help="machines; the command is given on each")
    add("--master", default="", help="host:port of the first machine, where the launchers meet")
    add("--rank", type=int, default=-1, help="number of this machine, from 0")
    add("--log_dir", default="", help="folder for workerlog.N instead of the terminal")
    add(
        "--max_restarts",
        "--max_restart",
        type=int,
        default=0,
        help="how often all begin again after one has failed",
    )
    add("--timeout", type=float, default=300, help="seconds to wait for the others at the start")
    add("script", help="the script in Python")
    add("arguments", nargs=argparse.REMAINDER, help="what it is given")
    return parser


# -- processes of this machine ----------------------------------------------------------------


class _Worker:
    """One process: its output goes on with its rank in front, or into a file."""

    def __init__(self, plan: Plan, local: int, options: Any, attempt: int) -> None:
        self.rank = plan.first + local
        env = os.environ | plan.environment(local)
        env |= {"DY2ST_JOIN_TIMEOUT": str(round(options.timeout)), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [sys.executable, options.script, *options.arguments],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.ended = 0.0
        self._last: deque[str] = deque(maxlen=400)
        self._is_quiet = False
        self._file: IO[bytes] | None = None
        if options.log_dir:
            folder = Path(options.log_dir)
            folder.mkdir(parents=True, exist_ok=True)
            self._file = (folder / f"workerlog.{local}").open("ab" if attempt else "wb")
        out, err = self.process.stdout, self.process.stderr
        self._threads = [
            threading.Thread(target=self._pump, args=(out, sys.stdout, False), daemon=True),
            threading.Thread(target=self._pump, args=(err, sys.stderr, True), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _pump(self, source: IO[bytes], stream: Any, is_kept: bool) -> None:
        for line in source:
            if line.startswith(_NOISE):
                continue
            text = line.decode(errors="replace")
            if is_kept:
                self._last.append(text)
            if self._file is not None:
                self._file.write(line)
                self._file.flush()
            elif not self._is_quiet:
                with suppress(OSError, ValueError):
                    stream.write(f"[{self.rank}] {text}")
                    stream.flush()

    def has_ended(self) -> bool:
        """Whether it has; the time is noted."""
        if self.process.poll() is None:
            return False
        self.ended = self.ended or time.monotonic()
        return True

    def failure(self) -> Failure | None:
        """How it failed, if it has ended and did."""
        if not self.has_ended() or self.process.returncode == 0:
            return None
        for thread in self._threads:
            thread.join(1)
        lines = [*self._last]
        starts = [place for place, line in enumerate(lines) if line.startswith(_TRACEBACK)]
        shown = lines[starts[-1] :] if starts else lines[-20:]
        code = self.process.returncode
        how = f"exit code {code}" if code > 0 else f"signal {signal.Signals(-code).name}"
        return Failure(self.rank, socket.gethostname(), how, "".join(shown), self.ended)

    def be_quiet(self) -> None:
        """Let what it still says go to its file alone: it is being ended."""
        self._is_quiet = True

    def kill(self, number: int) -> None:
        """Send a signal to it and all that it has started."""
        with suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(self.process.pid, number)
            else:
                self.process.terminate()

    def close(self) -> None:
        """Wait for the last of its output."""
        self.process.wait()
        for thread in self._threads:
            thread.join(1)
        if self._file is not None:
            self._file.close()


def _run(hosts: Hosts, plan: Plan, options: Any, attempt: int) -> Failure | None:
    """Start the processes of this machine, and wait; the failure that ended all, if one did."""
    workers: list[_Worker] = []
    try:
        workers += [_Worker(plan, n, options, attempt) for n in range(options.nproc_per_node)]
        while True:
            if any(worker.failure() for worker in workers):
                for worker in workers:
                    worker.be_quiet()
                # Who loses the one that failed fails, too, in the same moment.
                time.sleep(0.3)
                found = [one for worker in workers if (one := worker.failure()) is not None]
                # An error says more than the signal by which jax ends who has lost rank 0.
                return hosts.settle(
                    min(found, key=lambda one: (one.is_result, one.is_abort, one.ended))
                )
            elsewhere = hosts.heard()
            if elsewhere is not None:
                return elsewhere
            if all([worker.has_ended() for worker in workers]) and hosts.all_done():
                return None
            time.sleep(0.05)
    finally:
        _end(workers)


def _end(workers: Sequence[_Worker]) -> None:
    """Leave no process, whatever signals still come."""
    before = {n: signal.signal(n, signal.SIG_IGN) for n in (signal.SIGINT, signal.SIGTERM)}
    for worker in workers:
        worker.be_quiet()
        worker.kill(signal.SIGTERM)
    deadline = time.monotonic() + _GRACE
    while time.monotonic() < deadline and not all([w.has_ended() for w in workers]):
        time.sleep(0.02)
    for worker in workers:
        worker.kill(getattr(signal, "SIGKILL", signal.SIGTERM))
        worker.close()
    for number, handler in before.items():
        signal.signal(number, handler)
