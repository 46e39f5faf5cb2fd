"""Reading by lines gives what reading by words gives, for every text."""

from __future__ import annotations

import gc
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import Dy2stError, Location
from dy2st_runtime.ir import F
from dy2st_runtime.ir.text.line_reader import LineReader
from dy2st_runtime.ir.text.parser import parse, parse_one
from dy2st_runtime.ir.text.printer import to_text
from tests.effort import effort

QUICK = ["quick_head", "quick_tail", "quick_end", "quick_parameters"]
MANY = settings(
    max_examples=effort(30, 100),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)


@pytest.fixture
def by_words(monkeypatch):
    """`by_words(text)` is what `read` says of a text that is read word by word."""

    def call(text):
        with monkeypatch.context() as patch:
            for name in QUICK:
                patch.setattr(LineReader, name, lambda self, *arguments: None)
            for name in ("_dense", "entries"):
                patch.delattr(LineReader, name)
            return read(text)

    return call


def read(text):
    """The text of what is read, or what is wrong."""
    try:
        return to_text(parse(text))
    except Dy2stError as error:
        return f"{type(error).__name__}: {error}"


@MANY
@given(data=st.data())
def test_random_programs_are_read_alike(random_program, by_words, data):
    text = to_text(random_program(data.draw))
    assert read(text) == by_words(text) == text


@MANY
@given(data=st.data())
def test_damaged_texts_are_refused_alike(random_program, by_words, data):
    text = to_text(random_program(data.draw))
    draw = random.Random(data.draw(st.integers(0, 2**32)))
    for _ in range(10):
        words = text.split(" ")
        i, j = draw.randrange(len(words)), draw.randrange(len(words))
        if draw.random() < 0.5:
            words[i], words[j] = words[j], words[i]
        else:
            k = draw.randrange(len(words[i]) + 1)
            words[i] = words[i][:k] + draw.choice('%x0.,:-e"({[]})') + words[i][k + 1 :]
        damaged = " ".join(words)
        assert read(damaged) == by_words(damaged)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (" : (", " :\n  ("),
        (", %", " ,  %"),
        ("(", "( "),
        ("\n", " // a comment\n"),
        (" loc(", "\n  loc("),
        (" loc(", " // a comment\n  loc("),
        (" ->", "\t->"),
    ],
)
def test_text_in_another_layout_is_read_too(trace, old, new):
    weights = np.array([[1, -2.5], [3e-5, 4]], "float32")
    program = trace(
        lambda x: F.sum(F.matmul(x, weights), axis=[0]), x=("float32", (symbol("n"), 2))
    )
    text = to_text(program)
    assert read(text.replace(old, new)) == text != text.replace(old, new)


@pytest.mark.parametrize(
    ("dtype", "digits"),
    [
        ("f32", "[1.5, 1e5]"),
        ("f32", "[1.5, 1.0e5]"),
        ("f32", "[01.5, 2.0]"),
        ("f32", "[1, 2]"),
        ("f32", "[[1, 2]]"),
        ("f32", "[1.0]"),
        ("f32", "[]"),
        ("f32", "[1.0, 2.0"),
        ("f32", "[1.0 2.0]"),
        ("f16", "[1.5, -0.0]"),
        ("i8", "[1.0, 2]"),
        ("i8", "[127, 128]"),
        ("ui8", "[-1, 1]"),
        ("ui64", "[18446744073709551615, 0]"),
        ("i1", "[1, 0]"),
        ("i64", "[-, 1]"),
        ("i64", "7"),
    ],
)
def test_arrays_are_read_alike(trace, by_words, dtype, digits):
    text = to_text(trace(lambda x: F.add(x, np.float32(9)), x=("float32", (2,))), locations=False)
    assert "dense<9.0> : tensor<f32>" in text
    # The type is met before, as it is where reading by lines is possible.
    text = text.replace("%x: tensor<2xf32>", f"%x: tensor<2x{dtype}>")
    text = text.replace("dense<9.0> : tensor<f32>", f"dense<{digits}> : tensor<2x{dtype}>")
    assert read(text) == by_words(text)


def test_operators_of_equal_attributes_do_not_share_them(trace):
    program = trace(lambda x: F.sum(F.sum(x, axis=[0]), axis=[0]), x=("float32", (2, 2)))
    first, second = parse_one(to_text(program)).operators
    first.attributes["axis"] = None
    assert second.attributes["axis"] == (0,)


def test_locations_are_kept(trace):
    program = trace(lambda x: F.exp(F.relu(F.relu(x))), x=("float32", (2, 2)))
    places = [Location("a.py", 3, 4), Location('b"\\.py', 5), None]
    for operator, place in zip(program.operators, places):
        operator.location = place
    assert [o.location for o in parse_one(to_text(program)).operators] == [
        Location("a.py", 3, 4),
        Location(".py", 5),
        None,
    ]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(trace, enabled):
    text = to_text(trace(F.relu, x=("float32", (2,))))
    was_enabled = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        read(text)
        assert gc.isenabled() == enabled
        read(text[:-9])
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
