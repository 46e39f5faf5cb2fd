"""Threads convert, call and parse at once; `python -m tests.dy2st.jit.threads 120` does so long."""

from __future__ import annotations

import linecache

from tests.dy2st.jit.threads import FILE, Threads, know_text


def test_threads_that_convert_call_and_parse_do_not_disturb_each_other():
    know_text()
    try:
        assert Threads(1.5).run() == []
    finally:
        del linecache.cache[FILE]
