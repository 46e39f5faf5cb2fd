"""Tests that need Linux say so, so that the others run elsewhere, too."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.systems import NEED_LINUX, not_here

HERE = Path(__file__).parent
OF_POSIX = re.compile(
    r"os\.(fork|mkfifo|geteuid|getuid|killpg|setsid|sched_getaffinity)\b"
    r"|signal\.(SIGKILL|SIGALRM|SIGUSR1|ITIMER_\w+|setitimer|alarm)\b"
    r"|\b(import|from) (fcntl|resource|pwd|pty|termios)\b|/proc/|/dev/(null|zero|shm|full)\b"
)
SAYS_SO = re.compile(r"sys\.platform|hasattr\(os|os\.name|libc_ver")
TESTS = [path.relative_to(HERE) for path in HERE.rglob("test_*.py") if "cpython" not in path.parts]
HELPERS = [path for path in HERE.rglob("*.py") if not path.name.startswith("test_")]


def needs_posix(path):
    """Whether a file uses what is of POSIX, itself or by a module of the tests that it imports."""
    text = path.read_text(encoding="utf-8")
    if OF_POSIX.search(text):
        return True
    imported = re.findall(r"^from (tests[\w.]*) import \(?([\w, ]+)", text, re.MULTILINE)
    places = [f"{module}.{name}" for module, names in imported for name in names.split(", ")]
    places += [module for module, _ in imported]
    files = {one.with_suffix("").relative_to(HERE.parent).as_posix(): one for one in HELPERS}
    used = [files.get(place.replace(".", "/")) for place in places]
    return any(OF_POSIX.search(one.read_text(encoding="utf-8")) for one in used if one)


@pytest.mark.parametrize("path", [p for p in TESTS if needs_posix(HERE / p)], ids=str)
def test_what_needs_linux_says_so(path):
    is_listed = any(path.as_posix().startswith(place) for place in NEED_LINUX)
    text = (HERE / path).read_text(encoding="utf-8")
    assert is_listed or SAYS_SO.search(text), "mark it, or name it in tests/systems.py"


def test_the_list_names_what_is_there(monkeypatch):
    assert all((HERE / place).exists() for place in NEED_LINUX)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not_here() == list(NEED_LINUX)
    monkeypatch.setattr(sys, "platform", "linux")
    assert not_here() == []
