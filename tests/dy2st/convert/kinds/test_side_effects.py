"""C code that a branch must not run is refused; what reaches outward is traced at each call."""

from __future__ import annotations

import atexit
import decimal
import gc
import heapq
import io
import logging
import os
import pprint
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import types
import warnings

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static
from tests.dy2st.convert.kinds.same import refused, same

RNG = random.Random(3)
GENERATOR = np.random.default_rng(3)
STREAM = io.StringIO()
ARRAY = np.zeros(3)


def in_a_branch(action):
    def function(x):
        if x.sum() > 3:
            action(x)
        return x

    return function


def timed(x):
    if x.sum() > 3:
        return x * time.time()
    return x


def drawn(x):
    if x.sum() > 3:
        return x * random.SystemRandom().random()
    return x


def drawn_from_a_generator(x):
    if x.sum() > 3:
        return x * GENERATOR.uniform(0.0, 1.0)
    return x


def written(x):
    if x.sum() > 3:
        STREAM.write("large")
    return x


def kept(x):
    if x.sum() > 3:
        dy2st.save({}, os.devnull)
    return x


def loaded(x):
    if x.sum() > 3:
        dy2st.load(os.devnull)
    return x


def slept(x):
    for v in x:
        time.sleep(0)
    return x


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (timed, "a clock is read in a branch"),
        (drawn, "a random number of the machine is drawn in a branch"),
        (drawn_from_a_generator, "a random number of Python is drawn in a branch"),
        (written, "of a stream is called in a branch"),
        (kept, "a file is made in a branch"),
        (loaded, "a file is read in a branch"),
        (slept, r"time.sleep\(\) is called in a branch"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_reaches_outward_is_refused_in_a_branch(function, words):
    refused(function, words)


def filled(x):
    if x.sum() > 3:
        ARRAY.fill(1)
    return x


def arrays_of_its_own(x):
    words = "a b c".split()
    if x.sum() > 3:
        own = np.arange(3)
        own.fill(2)
        parts = "a b".split()
        parts.append("c")
        return x * float(own.sum()) * len(parts), words
    return x * float(np.ones(2).sum()), words


def test_what_c_code_has_made_in_a_branch_may_be_changed_there():
    same(arrays_of_its_own)


def test_c_code_that_may_change_what_is_older_is_refused_in_a_branch():
    refused(filled, r"fill\(\), which is not converted, gets a ndarray")


@pytest.mark.filterwarnings("ignore:.*traced anew for every call")
def test_a_random_number_is_drawn_at_each_call():
    static = to_static(lambda x: x * random.random())
    x = dy2st.ones([2])
    assert len({float(static(x)[0]) for _ in range(3)}) == 3


@pytest.mark.filterwarnings("ignore:.*traced anew for every call")
def test_a_stream_is_written_at_each_call():
    stream = io.StringIO()

    def write(x):
        stream.write("a")
        return x

    static = to_static(write)
    for _ in range(3):
        static(dy2st.ones([2]))
    assert stream.getvalue() == "aaa"


def test_a_text_that_the_function_writes_for_itself_is_its_own():
    def framed(x):
        out = io.StringIO()
        out.write("text")
        return x, out.getvalue()

    static = to_static(framed)
    for _ in range(3):
        assert static(dy2st.ones([2]))[1] == "text"
    assert len(static.program_cache) == 1


def test_a_generator_of_numbers_that_the_function_seeds_is_its_own():
    static = to_static(lambda x: x * random.Random(3).random() * np.random.default_rng(4).random())
    assert float(static(dy2st.ones([2]))[0]) == float(static(dy2st.ones([2]))[0])
    assert len(static.program_cache) == 1


@pytest.mark.filterwarnings("ignore:.*traced anew for every call")
@pytest.mark.parametrize("make", [random.Random, np.random.default_rng])
def test_a_generator_of_numbers_without_a_seed_draws_at_each_call(make):
    static = to_static(lambda x: x * make().random())
    assert len({float(static(dy2st.ones([2]))[0]) for _ in range(3)}) == 3


def test_a_call_that_is_traced_each_time_says_so():
    static = to_static(lambda x: x * time.time())
    static(dy2st.ones([2]))
    with pytest.warns(UserWarning, match="traced anew for every call.*a clock is read"):
        static(dy2st.ones([2]))


def test_a_heap_of_its_own_may_be_used_anywhere():
    def function(x):
        heap = []
        heapq.heappush(heap, 2)
        heapq.heappush(heap, 1)
        if x.sum() > 3:
            own = []
            heapq.heappush(own, 5)
            return x * own[0]
        return x * heapq.heappop(heap)

    static = to_static(function)
    assert float(static(dy2st.ones([2]))[0]) == 1
    assert float(static(dy2st.ones([2]) * 4)[0]) == 20


OF_THE_PROCESS = {
    "a_setting_of_numpy": lambda: np.seterr(all="warn"),
    "a_setting_of_python": lambda: sys.setrecursionlimit(sys.getrecursionlimit()),
    "a_filter_of_warnings": lambda: warnings.simplefilter("error"),
    "a_default_dtype": lambda: dy2st.set_default_dtype("float32"),
    "a_process": lambda: subprocess.Popen([sys.executable, "-c", ""]).wait(),
    "a_thread": lambda: threading.Thread(target=len, args=("",)).start(),
    "a_file": lambda: tempfile.mkstemp(),
    "a_call_at_the_end": lambda: atexit.register(len, ""),
    "garbage": lambda: gc.set_threshold(*gc.get_threshold()),
    "a_printed_text": lambda: pprint.pprint("a"),
    "a_saved_array": lambda: np.save(os.devnull, np.ones(2)),
    "the_end": lambda: os._exit(0),
}


@pytest.mark.parametrize("name", OF_THE_PROCESS)
def test_what_a_branch_does_to_the_process_is_refused(name):
    done = OF_THE_PROCESS[name]

    def f(x):
        if x.sum() > 1000:
            done()
        return x

    refused(f, "in a branch or loop that depends on a tensor", sizes="known")


def test_code_in_a_branch_that_only_asks_is_called():
    def f(x):
        text = "a"
        if x.sum() > 0:
            text = re.sub("a", "b", text) + str(sys.getsizeof(1) > 0) + os.path.join("a", "b")
        return x, text

    same(f)


def test_what_c_keeps_of_an_object_from_outside_is_not_set():
    context = decimal.Context()

    def f(x):
        context.prec = 5
        return x

    refused(f, "'prec' of a Context is set", sizes="known")


def test_modules_that_another_thread_is_loading_have_no_classes_yet(monkeypatch):
    for name in ("random", "numpy.random", "logging"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))

    def f(x):
        logging.getLogger("quiet").debug("nothing")
        return x + float(np.random.default_rng(3).random() < 2)

    static = dy2st.to_static(f)
    assert static(dy2st.zeros([1])).tolist() == [1.0]
