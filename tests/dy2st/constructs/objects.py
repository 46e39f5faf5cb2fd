"""Objects of which a tensor decides: which one it is, and what it holds."""

from __future__ import annotations

from tests.dy2st.catalogue.entry import construct


class Held:
    def __init__(self, x, n=0):
        self.x, self.n = x, n

    @property
    def double(self):
        return self.x * 2

    @double.setter
    def double(self, value):
        self.x = value / 2

    def __enter__(self):
        self.n += 1
        return self

    def __exit__(self, *_):
        self.n += 10

    def __add__(self, other):
        return Held(self.x + other.x, self.n + other.n)

    def __iter__(self):
        return iter([self.x, self.x * 2])

    def __len__(self):
        return 3

    def add(self, value):
        self.x = self.x + value
        self.n += 1


class Other(Held):
    pass


def chosen(x):
    """Two objects, and one of them."""
    one, two = Held(x), Other(x * 2)
    return one, two, (one if x.sum() > 0 else two)


@construct("one of two objects is changed", "the one that it is")
def change_of_the_chosen(x):
    one, two, either = chosen(x)
    either.double = either.double + 4
    either.add(x)
    return one.x, two.x, one.n, two.n


@construct("`with` one of two objects", "the one that it is")
def with_the_chosen(x):
    one, two, either = chosen(x)
    with either as entered:
        result = entered.x * entered.n
    return result, one.n, two.n


@construct("operators, `len`, `for` with one of two objects", "those of the one that it is")
def operators_of_the_chosen(x):
    one, _, either = chosen(x)
    return (either + one).x, (one + either).n, len(either), [value for value in either]


@construct("`is`, `==`, `isinstance`, `type` of one of two objects", "answers of the Program")
def identity_of_the_chosen(x):
    one, two, either = chosen(x)
    same = either is one, either == two, either is not two, either in [one]
    return (*same, isinstance(either, Other), type(either) is Held)


@construct("`hasattr`, `getattr`, `callable` of one of two objects", "answers of the Program")
def questions_to_the_chosen(x):
    _, two, either = chosen(x)
    two.extra = 5
    return hasattr(either, "extra"), getattr(either, "extra", 3), callable(either)


@construct("`del object.attribute` in one branch", "`hasattr` is an answer of the Program")
def deleted_attribute(x):
    one, two, either = chosen(x)
    del either.n
    return hasattr(one, "n"), hasattr(two, "n")


@construct("an attribute that only one branch sets", "AttributeError when the Program runs")
def attribute_of_one_branch(x):
    one = Held(x)
    if x.sum() > 0:
        one.extra = x
    return one.extra


@construct("a chain of objects in a loop on a tensor", "whichever the loop comes to")
def linked_objects(x):
    last = Held(x)
    last.next = None
    node = Held(x * 2)
    node.next = last
    turn = 0
    while turn < x.sum() and node.next is not None:
        node = node.next
        turn = turn + 1
    return node.x, turn


@construct("a list in an attribute that a loop on a tensor makes longer", "a list of unknown length",)  # fmt: skip
def growing_attribute(x):
    one, turn = Held([]), 0
    while turn < x.sum() and turn < 3:
        one.x.append(x * turn)
        turn = turn + 1
    return len(one.x)


class Showing:
    """Hands out what it holds, and says so."""

    def __init__(self, held):
        self._held, self.count = held, 0

    @property
    def held(self):
        print("asked")
        self.count += 1
        return self._held


class Shown:
    def __init__(self, x):
        self.x = x


@construct("`a.b.c = value` where `b` is a property", "it is asked as often as Python asks it")
def set_through_a_property(x):
    holder = Showing(Shown(x))
    if x.sum() > 0:
        holder.held.x = x + 1
    else:
        holder.held.x = x - 1
    return holder.held.x, holder.count


@construct("`getattr` by one of two names, `__name__` of one of two classes", "of whichever it is")
def chosen_names(x):
    name = "sum" if x.sum() > 0 else "max"
    kind = Showing if x.sum() > 0 else Shown
    return getattr(x, name)(), kind.__name__, type(1 if x.sum() > 0 else "a").__name__


class Counted:
    """Its operators with `=` change it."""

    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Counted(self.x * 100 + other)

    def __iadd__(self, other):
        print("changed")
        self.x = self.x + other
        return self

    def __isub__(self, other):
        self.x = self.x - other * 2
        return self


@construct("`+=`, `-=` with one of two objects", "change the one that it is")
def changed_by_operators(x):
    one, two = Counted(x), Counted(x + 1)
    either = one if x.sum() > 0 else two
    either += x
    either -= 1
    return one.x, two.x, either.x
