"""User code that looks at its callers, functions and errors sees the same while it is traced."""

from __future__ import annotations

import inspect
import sys
import traceback
import warnings

import dy2st
from dy2st.jit import to_static


def caller():
    return sys._getframe(1).f_code.co_name


class Looking:
    def __init__(self):
        self.made_by = caller()

    @property
    def callers(self):
        return caller()

    def __eq__(self, other):
        return type(other) is Looking

    __hash__ = object.__hash__

    @property
    def warned(self):
        return _warn()

    @property
    def failing(self):
        if self is None:
            return 1
        raise KeyError("missing")

    def method(self, a, *, b=2, **options):
        """A text."""
        return a


def _warn():
    warnings.warn("seen", stacklevel=2)
    return 1


def run(function):
    return to_static(function)(dy2st.to_tensor([1.0]))


def test_callers_are_those_of_python():
    def look(x):
        looking = Looking()
        return looking.made_by, looking.callers, looking == Looking()

    assert run(look) == look(None) == ("__init__", "callers", True)


def test_functions_have_their_names_texts_signatures_and_identity():
    def look(x):
        method = Looking().method
        table = {Looking.method: "found"}
        same = Looking.method is Looking.__dict__["method"]
        names = method.__name__, method.__qualname__, method.__doc__, method.__module__
        return str(inspect.signature(method)), names, same, table[Looking.method]

    assert run(look) == look(None)


def test_warnings_point_to_the_line_of_the_user():
    def warn(x):
        return x * Looking().warned

    places = []
    for call in (lambda: warn(dy2st.to_tensor([1.0])), lambda: run(warn)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        places.append([(w.filename, w.lineno) for w in caught])
    assert places[0] == places[1] and len(places[0]) == 1


def test_tracebacks_of_swapped_functions_show_the_lines_of_the_user():
    def fail(x):
        return Looking().failing

    texts = []
    for call in (lambda: fail(None), lambda: run(fail)):
        try:
            call()
        except KeyError as error:
            frames = [f for f in traceback.extract_tb(error.__traceback__) if "fail" in f.name]
            texts.append([(f.filename, f.lineno, f.name, f.line) for f in frames])
    assert texts[0] == texts[1] and [frame[2] for frame in texts[0]] == ["fail", "failing"]


def test_properties_that_call_themselves_may_go_deep():
    class Chain:
        def __init__(self, n):
            self.n = n

        @property
        def depth(self):
            return 0 if self.n == 0 else 1 + Chain(self.n - 1).depth

    assert run(lambda x: x * Chain(80).depth).numpy().tolist() == [80.0]
