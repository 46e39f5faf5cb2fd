# ruff: noqa: UP030, UP031, UP032
"""State outside of a function that changes after the first call: the Program follows, however the
state is read. One row a way of reading."""

from __future__ import annotations

import abc
import collections
import copy
import dataclasses
import functools
import importlib
import operator
import os
import sys
import types
import weakref

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static

X = dy2st.to_tensor([1.0, 2.0])
NAMES = ["scale"]
BARE = "module_without_a_file"
LEVEL = 2.0


class Settings:
    scale = 2.0

    def __init__(self):
        self.scale = 2.0
        self.other = 5.0


class Named:
    """A descriptor that reads the attribute of a name that it holds."""

    def __init__(self, name):
        self.name = name

    def __get__(self, owner, kind):
        return getattr(owner, self.name)


class Described:
    value = Named("_value")
    name = "_value"

    def __init__(self):
        self._value = 2.0

    @property
    def computed(self):
        return getattr(self, self.name)


class Answering:
    def __init__(self):
        self.__dict__["kept"] = {"level": 2.0}

    def __getattr__(self, name):
        return self.__dict__["kept"][name]


class Two:
    def factor(self):
        return 2.0


class Three(Two):
    def factor(self):
        return 3.0


class Registering(abc.ABC):  # noqa: B024
    pass


@dataclasses.dataclass
class Pair:
    left: float = 2.0
    right: float = 3.0


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def forward(self, x):
        return self.inner(x)


def set_scale(held):
    held.scale = 9.0


def with_parts(make):
    """What `make` gives for new Settings, beside them."""
    settings = Settings()
    return make(settings), settings


def beside(value, make):
    return value, make(value)


def by_loop(x, held):
    for name in ["scale", "other"]:
        x = x * getattr(held, name)
    return x


def by_tuple(x, held):
    for name in ("scale",):
        x = x * getattr(held, name)
    return x


def by_import(x, held):
    import module_without_a_file

    return x * module_without_a_file.scale


def by_from_import(x, held):
    from module_without_a_file import scale

    return x * scale


def replaced_entry(held):
    other = Settings()
    other.scale = 9.0
    held[0]["a"] = other
    KEPT.append(other)


KEPT: list = []
# What is made, how it is read, how it changes.
WAYS = {
    "getattr, names in a list": (Settings, by_loop, set_scale),
    "getattr, names in a tuple": (Settings, by_tuple, set_scale),
    "getattr, a name of a global list": (
        Settings,
        lambda x, h: x * getattr(h, NAMES[0]),
        set_scale,
    ),
    "getattr, a computed name": (
        Settings,
        lambda x, h: x * getattr(h, "sc" + NAMES[0][2:]),
        set_scale,
    ),
    "getattr with a default": (
        Settings,
        lambda x, h: x * getattr(h, "mis" + "sing", 3.0),
        lambda h: setattr(h, "missing", 9.0),
    ),
    "getattr in map": (
        Settings,
        lambda x, h: x * sum(map(lambda k: getattr(h, k), NAMES)),
        set_scale,
    ),
    "getattr of a method": (
        Two,
        lambda x, h: x * getattr(h, "fac" + "tor")(),
        lambda h: setattr(h, "factor", lambda: 9.0),
    ),
    "hasattr": (
        Settings,
        lambda x, h: x * (2 if hasattr(h, "mis" + "sing") else 3),
        lambda h: setattr(h, "missing", 9.0),
    ),
    "a descriptor": (Described, lambda x, h: x * h.value, lambda h: setattr(h, "_value", 9.0)),
    "a property": (Described, lambda x, h: x * h.computed, lambda h: setattr(h, "_value", 9.0)),
    "__getattr__": (
        Answering,
        lambda x, h: x * h.level,
        lambda h: h.__dict__["kept"].__setitem__("level", 9.0),
    ),
    "attrgetter": (Settings, lambda x, h: x * operator.attrgetter("scale")(h), set_scale),
    "attrgetter, a path": (
        lambda: types.SimpleNamespace(inner=Settings()),
        lambda x, h: x * operator.attrgetter("inner.scale")(h),
        lambda h: set_scale(h.inner),
    ),
    "attrgetter made before": (
        lambda: (Settings(), operator.attrgetter("sca" + "le")),
        lambda x, h: x * h[1](h[0]),
        lambda h: set_scale(h[0]),
    ),
    "methodcaller": (
        Two,
        lambda x, h: x * operator.methodcaller("factor")(h),
        lambda h: setattr(h, "factor", lambda: 9.0),
    ),
    "itemgetter": (
        lambda: {"a": 2.0},
        lambda x, h: x * operator.itemgetter("a")(h),
        lambda h: h.__setitem__("a", 9.0),
    ),
    "str.format": (Settings, lambda x, h: x * float("{0.scale}".format(h)), set_scale),
    "str.format by name": (Settings, lambda x, h: x * float("{h.scale}".format(h=h)), set_scale),
    "an f-string": (Pair, lambda x, h: x * len(f"{h}"), lambda h: setattr(h, "left", 1234.0)),
    "%": (Pair, lambda x, h: x * len("%s" % h), lambda h: setattr(h, "left", 1234.0)),
    "repr": (
        lambda: types.SimpleNamespace(a=1),
        lambda x, h: x * len(repr(h)),
        lambda h: setattr(h, "a", 12345),
    ),
    "str": (Pair, lambda x, h: x * len(str(h)), lambda h: setattr(h, "left", 1234.0)),
    "vars": (Settings, lambda x, h: x * vars(h)["sca" + "le"], set_scale),
    "__dict__": (Settings, lambda x, h: x * h.__dict__["sca" + "le"], set_scale),
    "the values of __dict__": (Settings, lambda x, h: x * sum(h.__dict__.values()), set_scale),
    "dir": (
        Settings,
        lambda x, h: x * len([n for n in dir(h) if n[0] != "_"]),
        lambda h: setattr(h, "extra", 1),
    ),
    "asdict": (
        Pair,
        lambda x, h: x * dataclasses.asdict(h)["le" + "ft"],
        lambda h: setattr(h, "left", 9.0),
    ),
    "fields": (
        Pair,
        lambda x, h: x * sum(getattr(h, f.name) for f in dataclasses.fields(h)),
        lambda h: setattr(h, "left", 9.0),
    ),
    "copy": (Settings, lambda x, h: x * copy.copy(h).__dict__["sca" + "le"], set_scale),
    "equality of dataclasses": (
        lambda: (Pair(), Pair()),
        lambda x, h: x * (2 if h[0] == h[1] else 3),
        lambda h: setattr(h[0], "left", 9.0),
    ),
    "a made dataclass": (
        lambda: dataclasses.make_dataclass("Made", ["item"])(2),
        lambda x, h: x * len(str(h)),
        lambda h: setattr(h, "item", 1234),
    ),
    "a hook after": (
        Net,
        lambda x, h: h(x),
        lambda h: h.inner.register_forward_post_hook(lambda layer, given, out: out * 10),
    ),
    "a hook before": (
        Net,
        lambda x, h: h(x),
        lambda h: h.inner.register_forward_pre_hook(lambda layer, given: given[0] * 10),
    ),
    "the keywords of a partial": (
        lambda: functools.partial(lambda x, by: x * by, by=2.0),
        lambda x, h: h(x),
        lambda h: h.keywords.__setitem__("by", 9.0),
    ),
    "the class of an object": (
        Two,
        lambda x, h: x * h.factor(),
        lambda h: setattr(h, "__class__", Three),
    ),
    "a registered class": (
        lambda: type("Local", (), {}),
        lambda x, h: x * (3 if issubclass(h, Registering) else 2),
        lambda h: Registering.register(h),
    ),
    "a view of values": (
        lambda: beside({"a": 2.0}, dict.values),
        lambda x, h: x * sum(h[1]),
        lambda h: h[0].__setitem__("a", 9.0),
    ),
    "a view of items": (
        lambda: beside({"a": 2.0}, dict.items),
        lambda x, h: x * dict(h[1])["a"],
        lambda h: h[0].__setitem__("a", 9.0),
    ),
    "a view of keys": (
        lambda: beside({"a": 2.0}, dict.keys),
        lambda x, h: x * len(h[1]),
        lambda h: h[0].__setitem__("b", 9.0),
    ),
    "a proxy": (
        lambda: beside({"a": 2.0}, types.MappingProxyType),
        lambda x, h: x * h[1]["a"],
        lambda h: h[0].__setitem__("a", 9.0),
    ),
    "an entry of a WeakValueDictionary": (
        lambda: with_parts(lambda s: weakref.WeakValueDictionary(a=s)),
        lambda x, h: x * h[0]["a"].scale,
        replaced_entry,
    ),
    "what such an entry holds": (
        lambda: with_parts(lambda s: weakref.WeakValueDictionary(a=s)),
        lambda x, h: x * h[0]["a"].scale,
        lambda h: set_scale(h[1]),
    ),
    "an entry of a WeakKeyDictionary": (
        lambda: with_parts(lambda s: weakref.WeakKeyDictionary({s: 2.0})),
        lambda x, h: x * h[0][h[1]],
        lambda h: h[0].__setitem__(h[1], 9.0),
    ),
    "a WeakSet": (
        lambda: with_parts(lambda s: weakref.WeakSet([s])),
        lambda x, h: x * len(h[0]),
        lambda h: h[0].discard(h[1]),
    ),
    "a ChainMap": (
        lambda: collections.ChainMap({}, {"a": 2.0}),
        lambda x, h: x * h["a"],
        lambda h: h.__setitem__("a", 9.0),
    ),
    "a UserDict": (
        lambda: collections.UserDict(a=2.0),
        lambda x, h: x * h["a"],
        lambda h: h.__setitem__("a", 9.0),
    ),
    "a Counter": (
        lambda: collections.Counter("aab"),
        lambda x, h: x * h.most_common(1)[0][1],
        lambda h: h.update("bbbb"),
    ),
    "a defaultdict": (
        lambda: collections.defaultdict(float),
        lambda x, h: x * h.get("a", 2.0),
        lambda h: h.__setitem__("a", 9.0),
    ),
    "a memoryview": (
        lambda: beside(bytearray(b"ab"), memoryview),
        lambda x, h: x * h[1][0],
        lambda h: h[0].__setitem__(0, 3),
    ),
    "a closure": (
        lambda: (lambda one: (lambda: one[0], one))([2.0]),
        lambda x, h: x * h[0](),
        lambda h: h[1].__setitem__(0, 9.0),
    ),
    "the limit of recursions": (
        Settings,
        lambda x, h: x * sys.getrecursionlimit(),
        lambda h: sys.setrecursionlimit(sys.getrecursionlimit() + 7),
    ),
    "sys.path": (Settings, lambda x, h: x * len(sys.path), lambda h: sys.path.append("/nowhere")),
    "the environment": (
        Settings,
        lambda x, h: x * len(os.environ.get("OUTSIDE", "a")),
        lambda h: os.environ.__setitem__("OUTSIDE", "abc"),
    ),
    "globals()": (
        Settings,
        lambda x, h: x * globals()["LEV" + "EL"],
        lambda h: globals().__setitem__("LEVEL", 9.0),
    ),
    "an import inside": (Settings, by_import, lambda h: setattr(sys.modules[BARE], "scale", 9.0)),
    "a name imported inside": (
        Settings,
        by_from_import,
        lambda h: setattr(sys.modules[BARE], "scale", 9.0),
    ),
    "sys.modules": (
        Settings,
        lambda x, h: x * sys.modules[BARE].scale,
        lambda h: setattr(sys.modules[BARE], "scale", 9.0),
    ),
    "import_module": (
        Settings,
        lambda x, h: x * importlib.import_module(BARE).scale,
        lambda h: setattr(sys.modules[BARE], "scale", 9.0),
    ),
    "a large array": (
        lambda: np.ones(150_000),
        lambda x, h: x * float(h[5]),
        lambda h: h.__setitem__(5, 9.0),
    ),
    "a large view": (
        lambda: np.ones((2, 150_000))[:, ::2],
        lambda x, h: x * float(h[1, 5]),
        lambda h: h.__setitem__((1, 5), 9.0),
    ),
    "a large list": (
        lambda: [2.0] * 2_000,
        lambda x, h: x * h[5],
        lambda h: h.__setitem__(5, 9.0),
    ),
    "a large list, equal": (
        lambda: [2.0] * 2_000,
        lambda x, h: x * (3 if type(h[5]) is int else 2),
        lambda h: h.__setitem__(5, 2),
    ),
    "a large dict": (
        lambda: dict.fromkeys(range(2_000), 2.0),
        lambda x, h: x * h[5],
        lambda h: h.__setitem__(5, 9.0),
    ),
    "a large set": (
        lambda: set(range(2_000)),
        lambda x, h: x * (1 if 5 in h else 2),
        lambda h: (h.discard(5), h.add(-1)),
    ),
    "a large deque": (
        lambda: collections.deque([2.0] * 2_000),
        lambda x, h: x * h[5],
        lambda h: h.__setitem__(5, 9.0),
    ),
    "large bytes": (
        lambda: bytearray(b"\2" * 2_000_000),
        lambda x, h: x * h[5],
        lambda h: h.__setitem__(5, 9),
    ),
    "a large tuple of dicts": (
        lambda: tuple({"a": 2.0} for _ in range(1_100)),
        lambda x, h: x * h[5]["a"],
        lambda h: h[5].__setitem__("a", 9.0),
    ),
    "very many objects": (
        lambda: [[[2.0] for _ in range(30)] for _ in range(40)],
        lambda x, h: x * h[1][5][0],
        lambda h: h[1][5].__setitem__(0, 9.0),
    ),
}


@pytest.fixture
def as_before(monkeypatch):
    module = types.ModuleType(BARE)
    module.scale = 2.0
    monkeypatch.setitem(sys.modules, BARE, module)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delenv("OUTSIDE", raising=False)
    limit = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(limit)
    os.environ.pop("OUTSIDE", None)
    globals()["LEVEL"] = 2.0


@pytest.mark.filterwarnings("ignore:.*traced anew for every call")
@pytest.mark.parametrize("way", WAYS)
def test_the_program_follows_what_changes_outside(way, as_before):
    make, use, change = WAYS[way]
    held = make()
    function = to_static(lambda x: use(x, held))
    before = [function(X).tolist() for _ in range(2)]
    assert before == [use(X, held).tolist()] * 2
    change(held)
    after = [function(X).tolist() for _ in range(2)]
    assert after == [use(X, held).tolist()] * 2
    assert after != before


def test_what_nobody_asks_for_may_change():
    held = Settings()
    traces = []
    function = to_static(lambda x: x * getattr(held, NAMES[0]) + len(traces) * 0)
    first = function.get_concrete_program(X)
    held.other = 7.0
    assert function.get_concrete_program(X) is first


def test_an_entry_that_only_a_loop_sets_stays_what_the_last_call_left():
    def function(x, held):
        held["calls"] += 1
        turn = 0
        while turn < 3 and x.sum() > 2:
            turn += 1
            held["last"] = [turn]
        return held["last"][0]

    held, wanted = {"calls": 0, "last": [9]}, {"calls": 0, "last": [9]}
    function_of_held = to_static(lambda x: function(x, held))
    for sign in (1, -1, 1, -1):
        x = dy2st.to_tensor([3.0 * sign])
        assert function_of_held(x) == function(x, wanted)
        assert held == wanted


ITEMS_OF_WHAT_GROWS = {
    "the first": lambda held, x: (held.append(x.sum()), held[0])[1],
    "the second": lambda held, x: (held.extend([x.sum(), x.max()]), held[1])[1],
    "the last": lambda held, x: (held.append(x.sum()), held[-1])[1],
    "a number in the first": lambda held, x: (
        (held.append([0.0]), held[0].append(x.sum())) and len(held[0])
    ),
}


@pytest.mark.parametrize("kind", [list, collections.deque])
@pytest.mark.parametrize("name", ITEMS_OF_WHAT_GROWS)
def test_an_item_by_index_is_that_of_the_list_as_it_has_grown(name, kind):
    use, eager, static = ITEMS_OF_WHAT_GROWS[name], kind(), kind()
    converted = to_static(lambda x: x * use(static, x))
    for number in range(4):
        x = X + number
        assert converted(x).tolist() == (x * use(eager, x)).tolist()
    assert repr(static) == repr(eager)
