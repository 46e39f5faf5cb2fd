"""What Python or a library calls by itself has its tensors decided by the Program, too."""

from __future__ import annotations

import functools
import gc
import operator
import threading
import weakref

import pytest

import dy2st
from dy2st.errors import TensorAsPython
from dy2st.jit import not_to_static, to_static

UP, DOWN = [1.0, 2.0], [-1.0, -2.0]


def flip(x):
    if x.sum() > 0:
        return x * 2
    return -x


def both(function):
    """The results of one Program on the two inputs, beside Python's."""
    static = to_static(function)
    found = [static(dy2st.to_tensor(v)).numpy().tolist() for v in (UP, DOWN)]
    assert len(static.program_cache) == 1
    return found, [function(dy2st.to_tensor(v)).numpy().tolist() for v in (UP, DOWN)]


class Box:
    def __init__(self, x):
        self.x = x

    def method(self):
        if self.x.sum() > 0:
            return self.x * 2
        return -self.x

    @property
    def size(self):
        if self.x.sum() > 0:
            return self.x * 3
        return -self.x


def test_a_method_that_c_code_calls_is_found_and_the_trace_begun_anew():
    found, expected = both(lambda x: operator.methodcaller("method")(Box(x)))
    assert found == expected


def test_what_only_other_functions_have_met_makes_no_new_program():
    static = to_static(flip)
    static(dy2st.to_tensor(UP))
    Reading.of_function(dy2st.to_tensor(UP))
    try:
        globals()["SCALE"] = 3
        static(dy2st.to_tensor(UP))
        assert len(static.program_cache) == 1
    finally:
        globals()["SCALE"] = 2


SCALE = 2


class Reading(Box):
    def scaled(self):
        return self.x * SCALE if self.x.sum() > 0 else self.x

    @staticmethod
    def of_function(x):
        return to_static(lambda y: operator.methodcaller("scaled")(Reading(y)))(x)


def test_a_global_that_a_swapped_function_reads_is_guarded():
    static = to_static(lambda x: operator.methodcaller("scaled")(Reading(x)))
    try:
        assert static(dy2st.to_tensor(UP)).numpy().tolist() == [2.0, 4.0]
        globals()["SCALE"] = 5
        assert static(dy2st.to_tensor(UP)).numpy().tolist() == [5.0, 10.0]
    finally:
        globals()["SCALE"] = 2


def test_a_closure_made_by_an_unconverted_function_is_converted_with_it():
    found, expected = both(lambda x: operator.methodcaller("__call__", x)(make_closure(2)))
    assert found == expected


def make_closure(scale):
    def inner(x):
        return x * scale if x.sum() > 0 else x

    return inner


@not_to_static
def marked(x):
    return x if x.sum() > 0 else -x


def test_the_refusal_names_the_function_that_is_not_converted_and_the_mark():
    with pytest.raises(TensorAsPython, match=r"marked\(\) is not converted: it is marked"):
        to_static(lambda x: marked(x))(dy2st.to_tensor(UP))


def test_the_refusal_names_a_function_without_source():
    bare = eval("lambda x: x if x.sum() > 0 else -x")
    with pytest.raises(TensorAsPython, match="source is not available"):
        to_static(lambda x: operator.methodcaller("__call__", x)(bare))(dy2st.to_tensor(UP))


def test_a_refusal_that_user_code_catches_is_raised_all_the_same():
    def swallow(x):
        try:
            return x * float(x.sum().numpy())
        except TypeError:
            return x

    with pytest.raises(TensorAsPython, match=r"numpy\(\)"):
        to_static(swallow)(dy2st.to_tensor(UP))


def test_a_refusal_that_user_code_turns_into_another_error_is_still_converted():
    def strict(box):
        try:
            return operator.methodcaller("method")(box)
        except TypeError as error:
            raise ValueError("no method") from error

    found, expected = both(lambda x: strict(Box(x)))
    assert found == expected


def test_lru_cache_in_a_trace_keeps_plain_results_and_no_tensors():
    calls = []

    @functools.lru_cache
    def plain(n):
        calls.append(n)
        return n if n < 2 else plain(n - 1) + plain(n - 2)

    @functools.lru_cache
    def of_tensor(x):
        return flip(x)

    found, expected = both(lambda x: of_tensor(x) * plain(30))
    assert found == expected
    assert of_tensor.cache_info().currsize == 2  # those of Python's own two calls
    assert calls.count(30) == 1


def test_no_class_is_kept_alive():
    def make():
        class Local(Box):
            def __add__(self, other):
                return self.x if other.sum() > 0 else other

        to_static(lambda x: Local(x) + x)(dy2st.to_tensor(UP))
        return weakref.ref(Local)

    gone = make()
    gc.collect()
    assert gone() is None


def test_another_thread_runs_the_same_class_while_it_is_swapped():
    wrong, stop = [], threading.Event()

    def work():
        box = Box(dy2st.to_tensor(UP))
        while not stop.is_set():
            if box.size.numpy().tolist() != [3.0, 6.0]:
                wrong.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(20):
        to_static(lambda x: Box(x).size)(dy2st.to_tensor(DOWN))
    stop.set()
    thread.join()
    assert not wrong
