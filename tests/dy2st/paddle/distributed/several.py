"""Runs a script in several processes, with a limit of time, and sees that none is left."""

import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"
MARK = "DY2ST_TEST_RUN"
# Each process has one device, also where tests of the engine xla have asked for eight of their own.
ALONE = {"XLA_FLAGS": "", "OMP_NUM_THREADS": "1"}


class Run:
    """The launcher of a script; every process that it starts has a mark in its environment."""

    def __init__(self, script, arguments=(), processes=2, options=(), env=()):
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            # A shell that runs the tests in the background said so, and processes inherit it.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self.mark = uuid.uuid4().hex
        path = SCRIPTS / script if not Path(script).is_absolute() else script
        self.launcher = subprocess.Popen(
            [
                *(sys.executable, "-m", "dy2st.distributed.launch"),
                *("--nproc_per_node", str(processes), *options),
                *(str(path), *map(str, arguments)),
            ],
            env=os.environ | ALONE | {MARK: self.mark} | dict(env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def end(self, seconds=300):
        """Exit code, output and errors; all that is left at the end is killed, and is a failure."""
        try:
            out, err = self.launcher.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self.launcher.pid, signal.SIGKILL)
            self.kill_all()
            out, err = self.launcher.communicate()
            raise AssertionError(f"no end in {seconds} s\n{out}\n{err}") from None
        left = self.kill_all()
        assert not left, (left, out, err)
        return self.launcher.returncode, out, err

    def workers(self):
        """The processes of the script."""
        return [pid for pid in self._marked() if pid != self.launcher.pid]

    def kill_all(self):
        left = self.workers()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return left

    def _marked(self):
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                environment = (entry / "environ").read_bytes()
                is_zombie = b") Z " in (entry / "stat").read_bytes()
            except OSError:
                continue
            if f"{MARK}={self.mark}".encode() in environment and not is_zombie:
                found.append(int(entry.name))
        return found


def run(script, *arguments, processes=2, options=(), env=()):
    """Run a script to its good end; what it printed."""
    code, out, err = Run(script, arguments, processes, options, env).end()
    assert code == 0, f"{out}\n{err}"
    return out
