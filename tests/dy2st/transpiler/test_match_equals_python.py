"""`match` on Python values is Python's: which case, what it binds, in which order it looks.

PYTEST_DONT_REWRITE: pytest would rewrite the assertions of the functions compared here.
"""

from __future__ import annotations

import collections
import enum
import re
import traceback
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from tests.dy2st.transpiler.same import traced


@dataclass
class Point:
    x: object
    y: object


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Odd:
    __match_args__ = ("x", 1)
    x = 1


class Listed:
    __match_args__ = ["x"]


class Looks:
    """Notes which attributes are asked for."""

    def __init__(self):
        self.log = []

    def __getattr__(self, name):
        if name.startswith("_") or name == "missing":
            raise AttributeError(name)
        self.log.append(name)
        return len(name)


class NoBool:
    def __eq__(self, other):
        return self

    def __bool__(self):
        raise ValueError("no truth")


SUBJECTS = {
    "0": lambda: 0,
    "1.0": lambda: 1.0,
    "True": lambda: True,
    "None": lambda: None,
    "text": lambda: "ab",
    "bytes": lambda: b"ab",
    "pair": lambda: (1, 2),
    "list": lambda: [1, [2, 3], {"k": 1}],
    "long": lambda: list(range(5)),
    "range": lambda: range(2),
    "deque": lambda: collections.deque([1, 2]),
    "iterator": lambda: iter([1, 2]),
    "empty": lambda: [],
    "dict": lambda: {"k": 1, "l": [2], None: 3},
    "default": lambda: collections.defaultdict(int, a=1),
    "point": lambda: Point(1, 2),
    "nested": lambda: Point(Point(0, 1), [1, 2]),
    "color": lambda: Color.BLUE,
    "looks": Looks,
    "nobool": NoBool,
    "odd": Odd,
}

CASES = {
    "values": ["0", "1 | True", "-1", "1 + 2j", "'ab'", "b'ab'", "None"],
    "singletons": ["True", "None", "False"],
    "capture": ["x if n(x)", "y if n(not x)", "_"],
    "sequences": ["[]", "[x]", "(x, y)", "[1, [y, *z], {'k': x}]", "[x, *y]", "_"],
    "stars": ["[*_, 1]", "[1, *_, x]", "[0, *x, 4] if n(x)", "[*x]"],
    "nested star": ["[x, [*_], *_]", "[_, _]", "[_, *_]"],
    "mappings": ["{'k': 2}", "{'k': 1, 'l': [x], **z}", "{'a': x}", "{None: x}", "{}"],
    "duplicate keys": ["{'k': x, k.key: y}"],
    "classes": ["int(0)", "str(x)", "Point(1, y=y)", "Point(Point(x, 1), [y, _])", "Point()"],
    "builtin classes": ["bool(x)", "float()", "dict(x)", "list([x, *_])", "bytes() | tuple()"],
    "enumeration": ["Color.RED", "Color.BLUE if n(1)", "k.number"],
    "too many parts": ["Point(1, 2, 3)"],
    "too many of a builtin": ["int(1, 2)"],
    "twice": ["Point(1, x=1)"],
    "no names": ["Odd(1, 1)"],
    "no tuple": ["Looks(x)"],
    "no class": ["k(x=1)"],
    "alternatives": ["[x, 2] | [1, x, _] | {'k': x}", "0 | 1.0 as x", "(int() as y) | str(y)"],
    "as": ["[x, *_] as y", "(1 | 2 as x) as y", "str() as z"],
    "asked in order": ["Looks(a=2)", "Looks(bb=2, ccc=4)", "Looks(missing=1, dddd=4)"],
    "guards": ["x if n(0)", "[y, _] if n(y)", "Point(x=y) if n(y) and n(0)", "z if n(z)"],
    "walrus": ["x if (y := n(x))", "z"],
    "many": [f"{k}" for k in range(100, 140)] + ["0", "True"],
}


def source(patterns):
    cases = "".join(
        f"        case {pattern}:\n            out = {k}\n" for k, pattern in enumerate(patterns)
    )
    return (
        "def f(s, n, k):\n    x = y = z = '-'\n    out = None\n"
        f"    match n(s):\n{cases}    return out, x, y, z\n"
    )


@pytest.mark.parametrize("name", sorted(CASES))
def test_match_equals_python(name, define):
    patterns = CASES[name]
    try:
        function = define(source(patterns))
    except SyntaxError:  # a pattern that always fits must be the last
        pytest.fail(f"{name} is no Python")
    function.__globals__.update(
        Point=Point, Color=Color, Odd=Odd, Listed=Listed, Looks=Looks, re=re
    )
    converted = traced(function)
    assert converted is not function
    for subject, make in SUBJECTS.items():
        assert outcome(converted, make()) == outcome(function, make()), subject


def outcome(function, subject):
    seen = []

    def n(value):
        seen.append(repr(value))
        return value

    keys = SimpleNamespace(key="k", number=1.0)
    try:
        result = repr(function(subject, n, keys))
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        file = function.__code__.co_filename
        result = (type(error), str(error), [f.lineno for f in frames if f.filename == file][-1])
    text = re.sub("0x[0-9a-f]+", "", str((result, seen)))
    return text, getattr(subject, "log", None)


def test_a_match_in_a_class_body_stays(define):
    function = define(
        "def f(x):\n"
        "    class C:\n"
        "        match x:\n"
        "            case [0, y] if y:\n"
        "                z = y\n"
        "            case _:\n"
        "                z = x\n"
        "    return sorted(name for name in vars(C) if name[0] != '_'), C.z\n"
    )
    converted = traced(function)
    assert converted([0, 3]) == function([0, 3]) == (["y", "z"], 3)
    assert converted(4) == function(4)


def test_names_are_mangled_in_patterns(define):
    function = define(
        "def f(s):\n"
        "    class C:\n"
        "        __one = 1\n"
        "        def m(self):\n"
        "            match s:\n"
        "                case [self.__one, __rest] if s:\n"
        "                    return __rest\n"
        "                case {'k': __k, **__others}:\n"
        "                    return __k, __others\n"
        "    return C().m()\n"
    )
    for subject in ([1, 2], {"k": 1, "l": 2}, [3]):
        assert traced(function)(subject) == function(subject)
