"""Threads convert, call and parse at once; `python -m tests.dy2st.jit.threads 120` does so long."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_threads_that_convert_call_and_parse_do_not_disturb_each_other():
    """In a process of its own: tools for tests have callbacks in garbage collections, which alone
    make CPython 3.11 fail when it parses."""
    command = [sys.executable, "-m", "tests.dy2st.jit.threads", "1.5"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
