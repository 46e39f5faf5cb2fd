"""Dataclasses, namedtuples and copies are in a trace what they are in Python."""

from __future__ import annotations

import copy
import copyreg
import dataclasses
import functools
import types
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.convert.kinds.same import refused, same


@dataclass
class Box:
    low: Any
    high: Any = 1
    parts: list = field(default_factory=list)

    def __post_init__(self):
        self.width = self.high - self.low


@dataclass(frozen=True)
class Fixed:
    score: Any
    name: str = "a"


@dataclass(order=True)
class Ranked:
    rank: int
    value: Any = field(compare=False, default=None)


Point = namedtuple("Point", "x y", defaults=[2])


class Pair(NamedTuple):
    left: Any
    right: Any = 0


def dataclasses_made(x):
    box = Box(x, high=x * 2)
    box.parts.append(x)
    return box.width, box.parts, box.low, Box(1).width, Fixed(x).score


def dataclass_with_a_list_of_a_length(x):
    kept = [v for v in x if v > 0]
    box = Box(0, 1, kept)
    box.parts.append(x[0])
    return len(kept), box.parts


def dataclass_in_a_branch(x):
    best = Fixed(x[0], "first")
    for v in x:
        if v > best.score:
            best = Fixed(v, "first")
    return best.score, best.name


def frozen_stays(x):
    Fixed(x).score = 1


def compared(x):
    return (
        Fixed(1) == Fixed(1),
        Fixed(1) == Fixed(2),
        Ranked(1, x) < Ranked(2),
        sorted([Ranked(2), Ranked(1)])[0].rank,
    )


def shown(x):
    n = x.shape[0]
    return repr(Fixed(n)), f"{Fixed(1, 'b')}"


def replaced(x):
    one = Fixed(x, "a")
    two = dataclasses.replace(one, score=x * 2)
    return two.score, two.name, one.score, [f.name for f in dataclasses.fields(one)]


def as_dict_and_tuple(x):
    one = Fixed([x, 1], "a")
    return dataclasses.asdict(one), dataclasses.astuple(one)


def namedtuples(x):
    p = Point(x)
    q = p._replace(y=x * 3)
    a, b = q
    return p.x, p.y, q._asdict(), a, b, Pair(x).right, Point._make([1, 2]), q._fields


def namedtuple_in_a_branch(x):
    p = Point(x[0], 1)
    if x.sum() > 3:
        p = p._replace(x=x[0] * 2)
    return p


def namedtuple_of_a_list(x):
    kept = [v for v in x if v > 0]
    p = Point(kept, 1)
    p.x.append(x[0])
    return len(kept), p.x


def namedtuple_replaced(x):
    p = Point((), 0)
    for v in x:
        p = p._replace(x=(*p.x, v), y=p.y + 1)
    try:
        return sum(p.x), p.y, p._replace(z=1)
    except (TypeError, ValueError) as error:
        return sum(p.x), p.y, "unexpected" in str(error)


def copies(x):
    rows = [[x], {"a": [x]}]
    shallow, deep = copy.copy(rows), copy.deepcopy(rows)
    rows[0].append(1)
    rows[1]["a"].append(2)
    return len(shallow[0]), len(deep[0]), deep[1], shallow[1]


def copies_of_tuples_of_a_length(x):
    places = tuple(place for place, v in enumerate(x) if v > 0)
    rows = tuple((v, place) for place, v in enumerate(x) if v > 0)
    point = Point(places, rows)
    return copy.deepcopy(places), copy.deepcopy([places, rows]), dataclasses.astuple(point)


def copies_of_objects(x):
    box = Box(x, 5)
    other, deep = copy.copy(box), copy.deepcopy(box)
    box.parts.append(1)
    other.low = 3
    return len(other.parts), len(deep.parts), box.low, deep.low


def copies_of_lists_of_a_length(x):
    kept = [v for v in x if v > 0]
    other = copy.deepcopy(kept)
    other.append(x[0])
    return kept, other, copy.copy(kept)


def copies_of_tensors(x):
    y = copy.copy(x)
    y[0] = 7.0
    z = copy.deepcopy(x)
    z[0] = 8.0
    return x + 0, y, z


def namespaces(x):
    out = SimpleNamespace(scores=x, best=x.max())
    out.count = x.shape[0]
    if x.sum() > 3:
        out.best = out.best * 2
    return out


def _decided(x):
    """A Box whose attributes are one of several values, and may be missing."""
    box = Box(x.sum())
    box.note, best = "none", None
    if x.sum() > 3:
        box.parts, box.note, best = [x.max(), 1], "many", [x[0], {"top": x.max()}]
        box.extra = 3
    return box, best


def copies_of_what_a_tensor_decides(x):
    box, best = _decided(x)
    other, second = copy.deepcopy(box), copy.deepcopy(best)
    return other.note, best, second, second is best, getattr(other, "extra", 5)


def apart_what_a_tensor_decides(x):
    box, best = _decided(x)
    one = Fixed(best, box.note)
    return dataclasses.asdict(one), dataclasses.astuple(one)


class Turn(Enum):
    LEFT = 1
    RIGHT = 2
    BACK = 4


class Level(IntEnum):
    LOW = 1
    HIGH = 3


def members_by_value(x):
    try:
        turn = Turn(int(x.max()))
    except ValueError as error:
        return str(error)
    return turn.name, turn is Turn.BACK, {Turn.LEFT: "l", Turn.BACK: "b"}.get(turn, "-")


def numbers_beside_members(x):
    number = int(x.max())
    found = [number == Level.HIGH, Level.LOW < number, number + Level.LOW, Level.HIGH * number]
    return found, isinstance(found[0], bool), isinstance(found[2], int)


def members_gone_through_in_a_branch(x):
    total = 0.0
    for v in x:
        if v > 0:
            total = total + sum(turn.value * v for turn in Turn)
            total = total + [turn.value for turn in reversed(Turn)][0]
    return total


def members_of_a_class_made_here_in_a_list(x):
    class State(Enum):
        NEW = "n"
        DONE = "d"

    states = [State.NEW for _ in x]
    for place, v in enumerate(x):
        if v > 0:
            states[place] = State.DONE
    return [state.value for state in states], states.count(State.NEW), states[0] is State.DONE


FUNCTIONS = (
    *(members_by_value, numbers_beside_members),
    *(members_gone_through_in_a_branch, members_of_a_class_made_here_in_a_list),
    *(copies_of_what_a_tensor_decides, apart_what_a_tensor_decides),
    *(dataclasses_made, dataclass_with_a_list_of_a_length, dataclass_in_a_branch, compared),
    *(shown, replaced, as_dict_and_tuple, namedtuples, namedtuple_in_a_branch, copies, namespaces),
    *(
        copies_of_tuples_of_a_length,
        copies_of_objects,
        copies_of_lists_of_a_length,
        copies_of_tensors,
        namedtuple_of_a_list,
        namedtuple_replaced,
    ),
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_an_object_is_in_a_trace_what_it_is_in_python(function):
    same(function)


def test_a_copy_does_not_forget_that_two_hold_one_thing_that_a_tensor_decides():
    def two(x):
        box = Box(0, 1, None)
        box.width = None
        if x.sum() > 3:
            box.width = box.parts = x * 2
        other = copy.deepcopy(box)
        if other.parts is not None:
            other.parts[0] = 9.0
        return other.width

    refused(two, "one of several values is given to code that is not converted")


def test_a_frozen_dataclass_stays_frozen():
    same(frozen_stays)


class Stats:
    def __init__(self):
        self.count, self.total, self.largest = 0, 0, None

    def add(self, value):
        self.count += 1
        self.total = self.total + value
        if self.largest is None or value > self.largest:
            self.largest = value


def test_an_object_that_a_loop_returns_early_may_be_another_behind_it():
    def f(x):
        for v in x:
            if v > 4 or not []:
                return Stats()
        stats = Stats()
        for v in x[::2]:
            if v > 1:
                stats.add(v)
        return stats

    static = to_static(f, input_spec=[InputSpec([None], "float32")])
    for row in ([1.0, 5.0, 2.0], [0.0]):
        found, wanted = (vars(g(dy2st.to_tensor(row))) for g in (static, f))
        assert [None if v is None else float(v) for v in found.values()] == [*wanted.values()]


class Bound:
    def get(self):
        return self


def test_a_deep_copy_holds_methods_of_itself():
    def run():
        held = Bound()
        held.method = held.get
        copied = copy.deepcopy(held)
        return copied.method() is copied, copied.get == copied.method, copied is held

    assert to_static(run)() == run() == (True, True, False)


class Whole(int):
    pass


class Row(tuple):
    pass


def _told(value):
    return type(value).__name__, repr(value), dict(vars(value))


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("kind", [Whole, Row])
def test_a_copy_of_what_is_derived_from_a_value_is_another_object_like_it(kind, how):
    def run():
        one = kind((1, 2)) if kind is Row else kind(3)
        one.note = [4]
        made = how(one)
        return made is one, made.note is one.note, _told(made)

    assert to_static(run)() == run()


def test_a_copy_is_made_as_the_registry_says():
    class Counted:
        def __init__(self, count):
            self.count = count

    copyreg.pickle(Counted, lambda one: (Counted, (one.count + 1,)))

    def run():
        return copy.copy(Counted(1)).count, copy.deepcopy(Counted(5)).count

    assert to_static(run)() == run() == (2, 6)


def test_a_deep_copy_holds_itself_where_the_object_does():
    def run():
        inner = []
        outer = (inner,)
        inner.append(outer)
        made = copy.deepcopy(outer)
        return made[0][0] is made, made is outer

    assert to_static(run)() == run() == (True, False)


def test_the_memo_of_a_deep_copy_is_written_like_any_dict():
    memo = {}

    def run(keeps):
        held = [1]
        made = copy.deepcopy(held, memo)
        return memo[id(held)] is made, memo[id(memo)][0] is held

    assert to_static(run)(1) == (True, True)
    assert len(memo) == 2


@dataclass
class Scored:
    place: int
    score: object


@dataclass
class Rows:
    rows: list
    by_place: dict


@pytest.mark.parametrize("take", [dataclasses.asdict, dataclasses.astuple])
def test_dataclasses_in_lists_and_dicts_that_the_data_decides_are_taken_apart(take):
    def run(x):
        rows, by_place, place = [], {}, 0
        while place < x.sum():
            rows.append((place, Scored(place, x[0] + place)))
            by_place[place * 2] = Scored(place, x[0] - place)
            place += 1
        return take(Rows(rows, by_place))

    x = dy2st.to_tensor([1.0, 2.0])
    assert repr(to_static(run)(x)) == repr(run(x))


def test_dataclasses_are_taken_apart_in_all_that_holds_them():
    def run():
        pair = Pair(Fixed(1), OrderedDict(a=Fixed(2)))
        box = Box(0, 1, [pair, {"b": [Fixed(3)]}])
        return dataclasses.asdict(box), dataclasses.astuple(box)

    assert to_static(run)() == (
        {
            "low": 0,
            "high": 1,
            "parts": [
                Pair({"score": 1, "name": "a"}, OrderedDict(a={"score": 2, "name": "a"})),
                {"b": [{"score": 3, "name": "a"}]},
            ],
        },
        (0, 1, [Pair((1, "a"), OrderedDict(a=(2, "a"))), {"b": [(3, "a")]}]),
    )


def test_a_defaultdict_in_a_dataclass_is_taken_apart_as_this_version_of_python_does():
    def run():
        return dataclasses.asdict(Box(0, 1, defaultdict(list, b=[Fixed(3)])))

    def answer(function):
        try:
            return function()
        except TypeError as error:  # before Python 3.12
            return str(error)

    assert answer(to_static(run)) == answer(run)


@pytest.mark.parametrize("take", [dataclasses.asdict, dataclasses.astuple, dataclasses.replace])
def test_a_class_is_no_object_of_a_dataclass(take):
    def run():
        return take(Fixed)

    with pytest.raises(TypeError, match="should be called on dataclass instances"):
        to_static(run)()


def test_a_class_that_a_library_makes_is_one_of_the_function():
    def run(x):
        kind = types.new_class("Made", (), {}, lambda space: space.update(count=3))
        kind.__mro__  # noqa: B018  it was looked at
        kind.__init__ = lambda self, first: setattr(self, "first", first)
        made = dataclasses.make_dataclass("Point", ["x", ("y", int, 2)])
        return kind(x).first, kind.count, made(x).y, type("T", (), {"a": 1}).a

    assert to_static(run)(1) == run(1) == (1, 3, 2, 1)


class Plain:
    pass


def test_what_is_set_as_the_init_of_a_class_makes_its_objects():
    def run(x):
        Plain.__init__ = lambda self, first: setattr(self, "first", first)
        return Plain(x).first

    assert to_static(run)(1) == 1
    assert Plain(2).first == 2


class Hashed(list):
    __slots__ = ("known",)

    def __init__(self, items):
        self[:] = items
        self.known = len(self)


def test_a_list_of_a_class_with_slots_is_given_back_anew():
    def run(x):
        return Hashed([x, x + 1])

    static = to_static(run)
    first, second = static(dy2st.to_tensor(1.0)), static(dy2st.to_tensor(2.0))
    assert type(first) is Hashed and first.known == 2
    assert ([float(one) for one in first], [float(one) for one in second]) == ([1, 2], [2, 3])


class Alike:
    def __init__(self, held):
        self.held = held

    def __eq__(self, other):
        return isinstance(other, Alike) and self.held == other.held

    __hash__ = None


def test_objects_differ_where_their_own_comparison_says_so():
    def run(x):
        one, other, box = Alike([1]), Alike([1]), Box(0, 1, [])
        if x[0] > 0:
            one.held.append(2)
            box.parts.append(1)
        tensors = Alike(x.sum()) != Alike(x.max()), Box(0, 1, [x.sum()]) != Box(0, 1, [x.max()])
        return one != other, one == other, one != 3, 3 != one, box != Box(0, 1, [1]), *tensors

    same(run)


@functools.total_ordering
class Ordered(Alike):
    def __lt__(self, other):
        return self.held < other.held


def test_the_operators_of_total_ordering_see_what_the_trace_has_changed():
    def run(x):
        one, other = Ordered([1]), Ordered([2])
        if x[0] > 0:
            one.held[0] = 3
        tensors = Ordered(x.sum()) >= Ordered(x.max())
        return one > other, one >= other, one <= other, max(one, other).held, tensors

    same(run)


def test_namedtuples_are_compared_as_tuples():
    def run(x):
        point = Point(1, [1] if x[0] > 0 else [])
        same_items = point == (1, [1]), point != Point(1, []), (1, []) == point
        return *same_items, point < (1, [0]), point in [(1, [1])], point + (x.sum(),), point == 3

    same(run)


def test_a_member_beside_a_tensor_is_a_number():
    def with_members(x):
        return x * Level.HIGH, x.astype("int32") + Level.LOW, Level.LOW - x

    same(with_members)
    found = with_members(dy2st.ones([2]))
    assert [one.dtype for one in found] == [dy2st.float32, dy2st.int32, dy2st.float32]


def test_what_only_some_paths_have_set_is_asked_of_getattr_on_the_others():
    class Asked:
        def __init__(self):
            self.names = []

        def __getattr__(self, name):
            self.names.append(name)
            if name == "other":
                raise AttributeError(name)
            return 7

    def run(x):
        one = Asked()
        one.deleted = 1
        if x.sum() > 0:
            one.value, one.other = 2, 3
            del one.deleted
        found = one.value, one.deleted, getattr(one, "other", 5), hasattr(one, "other")
        return found, one.names

    same(run)


def test_an_attribute_that_a_path_sets_and_deletes_is_missing_on_all():
    class Held:
        pass

    def run(x):
        one, other = SimpleNamespace(), Held()
        if x.sum() > 0:
            one.value = 2
            other.value = 3
            for name in list(vars(one)):
                delattr(one, name)
            del other.value
        found = hasattr(one, "value"), hasattr(other, "value"), vars(one)
        other.value = 4
        return found, other.value

    same(run)


def test_entries_of_the_attributes_of_an_object_are_attributes():
    def run(x):
        one = SimpleNamespace(total=0)
        for value in x:
            if value > 0:
                one.__dict__.setdefault("found", []).append(float(value))
                vars(one)["total"] += 1
        return one.total, one.found if hasattr(one, "found") else None

    same(run)
