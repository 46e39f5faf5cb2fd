"""Classes: methods, properties, operators, `super()`, dataclasses, enums."""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections import UserDict, namedtuple
from typing import Any, NamedTuple

import dy2st
from tests.dy2st.catalogue.entry import construct


class Signed:
    """Its special methods all ask a tensor."""

    def __init__(self, x):
        if x.sum() > 0:
            self.x = x
        else:
            self.x = x - 1

    def doubled(self):
        if self.x.max() > 5:
            return self.x * 2
        return self.x

    @property
    def size(self):
        if self.x.max() > 5:
            return self.x * 3
        return -self.x

    @size.setter
    def size(self, value):
        if value.sum() > 0:
            self.x = value
        else:
            self.x = value * 5

    @functools.cached_property
    def cached(self):
        return self.x if self.x.sum() > 10 else self.x + 3

    @classmethod
    def made(cls, x):
        if x.sum() > 10:
            return cls(x * 2)
        return cls(x)

    @staticmethod
    def plus(x):
        return x + 1 if x.sum() > 0 else x + 2

    def __add__(self, other):
        return self.x + other if other.sum() > 3 else self.x - other

    def __radd__(self, other):
        return self.x * other if other.sum() > 3 else self.x - other

    def __neg__(self):
        return -self.x if self.x.sum() > 0 else self.x * 7

    def __getitem__(self, index):
        if self.x[index] > 2:
            return self.x[index]
        return self.x[index] * 10

    def __setitem__(self, index, value):
        if value.sum() > 0:
            self.x = self.x + value
        else:
            self.x = self.x - value

    def __lt__(self, other):
        if self.x.sum() > 1:
            return self.x.sum() < other.x.sum()
        return self.x.sum() > other.x.sum()

    def __contains__(self, value):
        return bool((self.x == value).any())

    def __call__(self, y):
        return y if self.x.sum() > 0 else y * 4

    def __bool__(self):
        return bool(self.x.sum() > 0)

    def __len__(self):
        return 2 if self.x.sum() > 0 else 5

    def __int__(self):
        return 3 if self.x.sum() > 0 else 2

    def __enter__(self):
        return self.x if self.x.sum() > 2 else self.x + 1

    def __exit__(self, *details):
        return False

    def __iter__(self):
        return Turns(self.x)


class Turns:
    """An iterator that asks a tensor at each turn."""

    def __init__(self, x):
        self.x, self.turn = x, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.turn == 3:
            raise StopIteration
        self.turn += 1
        item = self.x[self.turn - 1]
        return item if item > 2 else -item


@construct("`__init__`", "runs converted, as everything that Python calls by itself")
def init(x):
    return Signed(x).x


@construct("a method", "converted when it is called")
def method(x):
    return Signed(x).doubled()


@construct("`@property`", "its getter runs converted")
def property_getter(x):
    return Signed(x).size


@construct("a property that is set", "its setter runs converted")
def property_setter(x):
    signed = Signed(x)
    signed.size = x * 2
    return signed.x


@construct("a property that is set under an `if`", "what its setter does is kept apart by branch")
def property_setter_in_branch(x):
    signed = Signed(x)
    if x.sum() > 2:
        signed.size = x * 9
    return signed.x


@construct("`functools.cached_property`", "its function runs converted, once")
def cached_property(x):
    signed = Signed(x)
    return signed.cached + signed.cached


@construct("`@classmethod`, `@staticmethod`", "as a method")
def class_and_static_methods(x):
    return Signed.made(x).x + Signed.plus(x)


@construct("`object + tensor`", "`__add__` runs converted")
def operator(x):
    return Signed(x) + x


@construct("`tensor + object`", "a tensor leaves it to `__radd__`")
def reflected_operator(x):
    return x + Signed(x)


@construct("`-object`", "`__neg__` runs converted")
def unary_operator(x):
    return -Signed(x)


@construct("`object < object`", "`__lt__` runs converted, its answer decides")
def comparison(x):
    if Signed(x) < Signed(x + 1):
        return x
    return x * 2


@construct("`object[i]`", "`__getitem__` runs converted")
def item(x):
    return Signed(x)[1]


@construct("`object[i] = value`", "`__setitem__` runs converted")
def item_assignment(x):
    signed = Signed(x)
    signed[0] = x * 2
    return signed.x


@construct("`value in object`", "the answer of `__contains__` may be the Program's")
def membership(x):
    return x if 2.0 in Signed(x) else x * 2


@construct("`value not in object`", "the opposite")
def no_membership(x):
    return x if 2.0 not in Signed(x) else x * 2


@construct("`object(...)`", "`__call__` runs converted")
def callable_object(x):
    return Signed(x)(x)


@construct("`if object`", "the answer of `__bool__` may be the Program's")
def truth(x):
    if Signed(x):
        return x
    return x * 2


@construct("`while object`", "`__bool__` is asked at every iteration")
def truth_in_while(x):
    y = x
    while Signed(y):
        y = y - 20
    return y


@construct("`a and b`, `a or b`, `not a` of objects", "each is asked at most once")
def truth_in_logic(x):
    one = x if Signed(x) and Signed(x - 5) else x * 3
    two = x if Signed(x) or Signed(x + 5) else x * 4
    return one + two + (1 if not Signed(x) else 2)


@construct("`bool(object)`, `len(object)`, `int(object)`", "numbers of the Program")
def numbers_of_an_object(x):
    return x * len(Signed(x)) + int(Signed(x)), bool(Signed(x))


@construct("`with object`", "`__enter__` and `__exit__` run converted")
def context_manager(x):
    with Signed(x) as entered:
        return entered * 2


@construct("`for item in object`", "`__iter__` and `__next__` run converted")
def iterator(x):
    total = x * 0
    for entry in Signed(x):
        total = total + entry
    return total


class Scaled:
    """A descriptor."""

    def __get__(self, owner, kind=None):
        return owner.x if owner.x.sum() > 2 else owner.x + 7


class Child(Signed):
    scaled = Scaled()

    def __init__(self, x):
        super().__init__(x + 1)
        if self.x.sum() > 10:
            self.x = self.x - 1

    def doubled(self):
        y = super().doubled()
        return y if y.sum() > 20 else y * 3

    def __getattr__(self, name):
        if name != "lazy":
            raise AttributeError(name)
        return self.x if self.x.sum() > 0 else self.x * 2

    def __hidden(self):
        return self.x if self.x.sum() > 0 else -self.x

    def shown(self):
        return self.__hidden() + __class__.plus(self.x)


@construct("inheritance, `super()`", "as in Python")
def inheritance(x):
    return Child(x).doubled()


@construct("`__class__`, `__private` names", "as in Python")
def private_names(x):
    return Child(x).shown()


@construct("a descriptor", "`__get__` runs converted")
def descriptor(x):
    return Child(x).scaled


@construct("`__getattr__`", "runs converted")
def missing_attribute(x):
    return Child(x).lazy


class Renewed:
    def __new__(cls, x):
        made = super().__new__(cls)
        if x.sum() > 0:
            made.x = x
        else:
            made.x = x * 2
        return made


@construct("`__new__`", "runs converted")
def new(x):
    return Renewed(x).x


class Meta(type):
    def __call__(cls, x):
        scaled = x if x.sum() > 0 else x * 2
        return super().__call__(scaled)


class WithMeta(metaclass=Meta):
    def __init__(self, x):
        self.x = x


@construct("a metaclass", "its `__call__` runs converted")
def metaclass(x):
    return WithMeta(x).x


@construct("a class defined in the function", "its methods are converted with it")
def local_class(x):
    class Local:
        factor = 2

        def __mul__(self, other):
            return other * self.factor if other.sum() > 0 else other

    return Local() * x


@dataclasses.dataclass
class Point:
    x: Any
    n: int = 3

    def __post_init__(self):
        if self.x.sum() > 0:
            self.x = self.x * 2

    def scaled(self):
        return self.x * self.n if self.x.sum() > 0 else self.x


@dataclasses.dataclass(frozen=True, order=True)
class Frozen:
    n: int
    x: Any = dataclasses.field(compare=False)


@construct("`@dataclass`", "`__post_init__` runs converted")
def dataclass(x):
    return Point(x).scaled()


@construct("`dataclasses.replace` in a branch", "objects are joined field by field")
def dataclass_replace(x):
    point = Point(x)
    if x.sum() > 0:
        point = dataclasses.replace(point, n=5)
    return point.x * point.n


@construct("a frozen, ordered dataclass", "as in Python")
def frozen_dataclass(x):
    small = Frozen(1, x)
    if x.sum() > 0:
        small = Frozen(2, x * 2)
    return small.x * small.n + (1 if Frozen(1, x) < Frozen(2, -x) else 2)


@construct("`dataclasses.replace` in every iteration", "the objects are chosen by the Program")
def replaced_in_turns(x):
    small = Frozen(0, x)
    for turn in range(3):
        if small.x.sum() > turn:
            small = dataclasses.replace(small, x=small.x - 1, n=small.n + 1)
    return small.x, small.n


@construct("another object in each branch", "joined attribute by attribute")
def joined_objects(x):
    if x.sum() > 0:
        turns = Turns(x)
    else:
        turns = Turns(-x * 2)
    turns.turn = turns.turn + 1
    return turns.x * turns.turn


@construct("an object of objects in a loop", "carried attribute by attribute")
def object_in_a_loop(x):
    pair = Frozen(0, Frozen(1, x))
    while pair.x.x.sum() > 3:
        pair = Frozen(pair.n + 1, Frozen(2, pair.x.x - 9))
    return pair.x.x * pair.n


@construct("an old object, changed after the `if` chose another", "whichever it is, is changed")
def changed_after_the_choice(x):
    turns = same = Turns(x)
    if x.sum() > 0:
        turns = Turns(-x)
    turns.x = turns.x + 1
    return same.x


class Counter:
    def __init__(self):
        self.count = 0
        self.last = None

    def add(self, x):
        self.count += 1
        self.last = x


@construct("a method that changes its object in a branch", "the change is kept to that branch")
def change_in_a_branch(x):
    counter = Counter()
    counter.add(x)
    if x.sum() > 0:
        counter.add(x * 2)
    return counter.last * counter.count


@construct(
    "a method that changes its object in a loop on a tensor", "carried from iteration to iteration"
)
def change_in_a_loop(x):
    counter, turn = Counter(), 0
    while x.sum() > turn:
        counter.add(x)
        turn = turn + 1
    return x * counter.count


Plain = namedtuple("Plain", "a b")


class Typed(NamedTuple):
    a: Any
    b: int = 2

    @property
    def product(self):
        return self.a * self.b if self.a.sum() > 0 else self.a


@construct("`namedtuple`", "joined and carried field by field")
def named_tuples(x):
    pair = Plain(x, 1)
    if x.sum() > 0:
        pair = pair._replace(a=x * 2)
    while pair.a.sum() > 5:
        pair = Plain(pair.a - 3, pair.b + 1)
    return pair.a * pair.b


@construct("`NamedTuple` with a property", "as a class")
def typed_named_tuple(x):
    return Typed(x).product


class Named(UserDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value + 1)


@construct(
    "a class of `UserDict`, `UserList`, `ChainMap` or `collections.abc`",
    "what it inherits is converted with it",
)
def inherited_methods(x):
    made = Named(a=1)
    if x.sum() > 0:
        made.update(b=2)
    return x * len(made) + made.get("b", 0)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2

    def paint(self, x):
        if x.sum() > 0:
            return x * self.value
        return x


@construct("`enum`", "a Python value; its methods are converted")
def enumeration(x):
    colour = Colour.BLUE
    if colour is Colour.BLUE:
        return colour.paint(x) + len(list(Colour))
    return x


@construct("another member of an enum in each branch", "whichever it is")
def chosen_member(x):
    if x.sum() > 0:
        colour = Colour.RED
    else:
        colour = Colour.BLUE
    return x * colour.value


GLOBAL = Signed(dy2st.to_tensor([1.0, 2.0, 3.0]))


@construct("an object of the module", "its operators run converted")
def object_of_the_module(x):
    return GLOBAL + x
