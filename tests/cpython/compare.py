"""Run a test module as it is and traced, and compare test by test."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BASELINE_LIMIT = 120.0
SLACK = 90.0
WAITING = 10  # how much longer by the clock: a test may sleep, and other work slows the machine


@dataclass
class Run:
    """What one process reported."""

    seconds: float = 0.0
    kinds: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    traced: int = 0
    end: str = ""
    is_complete: bool = False


@dataclass
class Outcome:
    """One test module: the tests that pass as they are, and those of them lost when traced."""

    suite: str
    module: str
    plain: Run
    run: Run

    @property
    def kept(self) -> list[str]:
        """The tests that pass in both."""
        return [name for name in self._passing() if self.run.kinds.get(name) == "passed"]

    @property
    def lost(self) -> dict[str, str]:
        """The tests that pass only as they are, with what happened."""
        names = [name for name in self._passing() if self.run.kinds.get(name) != "passed"]
        return {n: self.run.texts.get(n) or self.run.kinds.get(n) or self.run.end for n in names}

    def _passing(self) -> list[str]:
        return [name for name, kind in self.plain.kinds.items() if kind == "passed"]


def is_shipped(module: str) -> bool:
    """Whether this Python has the test module."""
    folder = _test_folder()
    if folder is None:
        return False
    return (folder / f"{module}.py").exists() or (folder / module).is_dir()


@functools.cache
def _test_folder() -> Path | None:
    code = "import test.support, pathlib; print(pathlib.Path(test.__file__).parent)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return Path(found.stdout.strip()) if found.returncode == 0 else None


def compare(suite: str, module: str) -> Outcome:
    """Run both ways; the traced one may compute three times as long, and some more."""
    plain = _run(suite, module, "plain", BASELINE_LIMIT)
    run = _run(suite, module, "traced", 3 * plain.seconds + SLACK)
    return Outcome(suite, module, plain, run)


def _run(suite: str, module: str, mode: str, limit: float) -> Run:
    """Run in a process that may compute for so many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "report")
        inside = Path(folder, "work")
        inside.mkdir()
        command = ["sh", "-c", f'ulimit -t {limit:.0f}; exec "$0" "$@"', sys.executable]
        command += ["-m", "tests.cpython.worker", suite, module, mode, str(file)]
        started = time.perf_counter()
        try:
            done = subprocess.run(
                command,
                cwd=inside,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=WAITING * limit,
            )
            end = f"the process ended with {done.returncode}: {done.stderr[-2000:]}"
        except subprocess.TimeoutExpired:
            end = f"not finished after {WAITING * limit:.0f} s"
        run = Run(time.perf_counter() - started, end=end)
        _read(file, run)
        return run


def _environment() -> dict[str, str]:
    paths = [str(ROOT), str(ROOT / "runtime")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"}


def _read(file: Path, run: Run) -> None:
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    for line in lines:
        record = json.loads(line)
        if "test" in record:
            run.kinds[record["test"]] = record["kind"]
            run.texts[record["test"]] = record["text"]
        else:
            run.traced = record["traced"]
            run.is_complete = True
