"""What Python does once, while a function is traced, is said."""

from __future__ import annotations

import datetime
import io
import logging
import os
import pathlib
import random
import secrets
import subprocess
import time
import uuid
from contextvars import ContextVar

import numpy as np
import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.jit import to_static

VARIABLE = ContextVar("of this test")
X = dy2st.to_tensor([1.0, 2.0])


@pytest.mark.parametrize("draw", [np.random.rand, lambda: random.choice(range(99))])
def test_a_random_number_of_python_is_drawn_at_every_call_which_a_warning_calls_slow(draw):
    def noisy(x):
        return x + draw()

    static = to_static(noisy)
    draw_first(1)
    expected = [noisy(X).tolist() for _ in range(3)]
    draw_first(1)
    found = [static(X).tolist()]
    with pytest.warns(UserWarning, match="traced anew for every call.*a random number of Python"):
        found += [static(X).tolist() for _ in range(2)]
    assert found == expected


def draw_first(seed):
    random.seed(seed)
    np.random.seed(seed)


REACHING = {
    "time.time": time.time,
    "datetime.now": datetime.datetime.now,
    "date.today": datetime.date.today,
    "sleep": lambda: time.sleep(0),
    "urandom": lambda: os.urandom(1),
    "uuid4": uuid.uuid4,
    "token_hex": secrets.token_hex,
    "randbits": lambda: secrets.randbits(3),
    "environ": lambda: os.environ.update({}),
    "path": lambda: pathlib.Path("/").mkdir(exist_ok=True),
    "makedirs": lambda: os.makedirs("/", exist_ok=True),
    "run": lambda: subprocess.run(["true"]),
    "variable": lambda: VARIABLE.set(1),
}


@pytest.mark.parametrize("reach", REACHING.values(), ids=REACHING)
def test_what_reaches_beyond_the_function_is_done_at_every_call_and_in_a_branch_refused(reach):
    def once(x):
        reach()
        return x

    def perhaps(x):
        if x.sum() > 0:
            reach()
        return x

    static = to_static(once)
    static(X)
    with pytest.warns(UserWarning, match="traced anew for every call"):
        static(X)
    with pytest.raises(ConversionError, match="in a branch or loop that depends on a tensor"):
        to_static(perhaps)(X)


def test_messages_that_a_logger_does_not_take_are_no_concern(recwarn, caplog):
    logger = logging.getLogger("of this test")
    logger.setLevel(logging.WARNING)

    def notes(x):
        logger.debug("once")
        if x.sum() > 0:
            logger.info("up")
        return x

    static = to_static(notes)
    static(X)
    program = static.main_program
    assert static(X).tolist() == X.tolist() and static.main_program is program
    assert not recwarn.list
    logger.setLevel(logging.INFO)
    with caplog.at_level(logging.INFO, logger.name):
        static(X), static(-X)
    assert [one.getMessage() for one in caplog.records] == ["up"]


def test_a_warning_is_shown_once(recwarn):
    def noisy(x):
        return x + np.random.rand()

    static = to_static(noisy)
    for _ in range(4):
        static(X)
    assert len(recwarn.list) == 1


def test_what_only_looks_at_the_world_is_no_concern(recwarn):
    def looks(x):
        if x.sum() > 0 and os.environ.get("no such variable") is None:
            x = x + len(os.path.join("a", "b")) + pathlib.Path("a").name.count("a")
        return x + datetime.date(2020, 1, 2).day

    assert to_static(looks)(X).tolist() == looks(X).tolist()
    assert not recwarn.list


def test_random_numbers_that_the_function_makes_itself_are_no_concern():
    def seeded(x):
        return x + random.Random(3).random()

    assert to_static(seeded)(X).tolist() == seeded(X).tolist()


def test_a_stream_in_memory_that_the_function_makes_may_be_written(recwarn):
    def framed(x):
        out = io.StringIO()
        out.write("text")
        return x, out.getvalue()

    assert to_static(framed)(X)[1] == "text"
    assert not recwarn.list


def test_the_file_that_print_writes_to_in_a_branch_is_refused(tmp_path):
    with open(tmp_path / "out", "w") as file:

        def noted(x):
            if x.sum() > 0:
                print("up", file=file)
            return x

        with pytest.raises(ConversionError, match="of a stream is called in a branch"):
            to_static(noted)(X)
