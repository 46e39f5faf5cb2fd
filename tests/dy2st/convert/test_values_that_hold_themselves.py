"""Objects, lists and dicts that hold themselves, alone or through others."""

import random

import pytest

import dy2st
from dy2st import nn
from dy2st.errors import ConversionError, Dy2stError
from dy2st.jit import to_static
from tests.dy2st.jit.tensor_programs import define
from tests.effort import effort


class Me:
    def __init__(self, value):
        self.value, self.me = value, self


class Node:
    def __init__(self, value, parent=None):
        self.value, self.parent, self.children = value, parent, []
        if parent is not None:
            parent.children.append(self)


INPUTS = [(dy2st.to_tensor([[1.0, 2.0], [3.0, 4.0]]), dy2st.to_tensor(n)) for n in (2, 0)]
INPUTS += [(-x, n) for x, n in INPUTS]


def answers(function):
    return [dy2st.stack([*function(*call)]).tolist() for call in INPUTS]


def changed_in_a_branch(x, n):
    one = Me(x)
    if x.sum() > 0:
        one.value = x * 2
    return one.value, one.me.value


def changed_in_a_loop(x, n):
    one = Me(x)
    for _ in range(n):
        one.me.value = one.value + 1
    return one.value, one.me.me.value


def one_of_two_that_know_each_other(x, n):
    one, other = Node(x), Node(x * 2)
    one.parent, other.parent = other, one
    chosen = one if x.sum() > 0 else other
    return chosen.value, chosen.parent.value


def a_list_that_holds_itself(x, n):
    one, other = [x], [x * 2]
    one.append(one)
    other.append(other)
    chosen = one if x.sum() > 0 else other
    chosen[0] = x * 3
    return chosen[1][0], one[0]


def a_child_of_a_branch(x, n):
    root = Node(x)
    child = Node(x * 2, root)
    if x.sum() > 0:
        child = Node(x * 3, root)
    return child.value, child.parent.value


def made_in_a_branch(x, n):
    one = Me(x) if x.sum() > 0 else Me(x * 2)
    return one.value, one.me.value


def made_on_one_path(x, n):
    one = None
    if x.sum() > 0:
        one = Me(x)
    return x, x if one is None else one.value


def made_in_a_loop(x, n):
    one = Me(x)
    for _ in range(n):
        one = Me(one.value + 1)
    return one.value, x


def kept_in_a_list(x, n):
    kept = []
    for i in range(n):
        kept.append(Me(x[i]))
    return x, x


EQUAL = [
    changed_in_a_branch,
    changed_in_a_loop,
    one_of_two_that_know_each_other,
    a_list_that_holds_itself,
    a_child_of_a_branch,
    made_in_a_branch,
    made_on_one_path,
    made_in_a_loop,
    kept_in_a_list,
]


@pytest.mark.parametrize("function", EQUAL, ids=lambda one: one.__name__)
def test_what_holds_itself_is_changed_and_chosen(function):
    assert answers(to_static(function)) == answers(function)


def a_list_of_a_branch(x, n):
    one = [x]
    if x.sum() > 0:
        one = [x * 2]
        one.append(one)
    return one[0], x


def a_dict_of_a_branch(x, n):
    one = {"value": x}
    one["me"] = one
    if x.sum() > 0:
        one = {"value": x * 2}
        one["me"] = one
    return one["value"], x


@pytest.mark.parametrize(
    "function",
    [
        a_list_of_a_branch,
        a_dict_of_a_branch,
    ],
    ids=lambda one: one.__name__,
)
def test_what_holds_itself_and_is_made_in_a_branch_or_loop_is_refused(function):
    with pytest.raises(ConversionError, match=r"a \w+ that holds itself is made in a branch"):
        to_static(function)(*INPUTS[0])


class Another(Me):
    pass


def chosen_and_given_to_itself(x, n):
    one = Me(x) if x.sum() > 0 else Another(x * 2)
    one.me = one
    return one.value, one.me.me.value


def given_to_itself_and_changed_in_a_branch(x, n):
    one = Me(x) if x.sum() > 0 else Another(x * 2)
    one.me = one
    if n > 1:
        one.me = None
    return x, x


def given_to_itself_in_a_tuple(x, n):
    one = Me(x) if x.sum() > 0 else None
    if one is not None:
        one.me = (one, n)
    return x, x if one is None else one.me[0].value


def given_to_itself_in_a_loop(x, n):
    one = Me(x) if x.sum() > 0 else Another(x * 2)
    for _ in range(n):
        one.me = one
    return x, x


def given_to_itself_and_kept_in_a_list(x, n):
    one, kept = Me(x) if x.sum() > 0 else Another(x * 2), []
    one.me = one
    for _ in range(n):
        kept.append(one)
    return x, x


def a_list_or_a_dict_that_is_given_to_itself(x, n):
    one = [x] if x.sum() > 0 else {0: x}
    if type(one) is list:
        one.append(one)
    else:
        one[1] = one
    if n > 1:
        one[0] = x * 2
    return x, x


@pytest.mark.parametrize(
    "function",
    [
        chosen_and_given_to_itself,
        given_to_itself_and_changed_in_a_branch,
        given_to_itself_in_a_tuple,
        given_to_itself_in_a_loop,
        given_to_itself_and_kept_in_a_list,
    ],
    ids=lambda one: one.__name__,
)
def test_an_object_is_given_to_itself_after_a_tensor_has_chosen_it(function):
    assert answers(to_static(function)) == answers(function)


def test_a_list_is_given_to_itself_after_a_tensor_has_chosen_it():
    function = a_list_or_a_dict_that_is_given_to_itself
    assert answers(to_static(function)) == answers(function)


def chosen_of_two_that_hold_themselves(x, n):
    one, other = Me(x), Another(x * 2)
    chosen = one if x.sum() > 0 else other
    if n > 1:
        chosen.me.value = x * 3
    return chosen.value, chosen.me.me.value


def test_what_holds_itself_before_a_tensor_chooses_it_is_right():
    function = chosen_of_two_that_hold_themselves
    assert answers(to_static(function)) == answers(function)


class Child(nn.Layer):
    def __init__(self, parent):
        super().__init__()
        object.__setattr__(self, "parent", parent)

    def forward(self, x):
        return x * self.parent.scale


class Parent(nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale, self.last = 2.0, None
        self.child = Child(self)

    def forward(self, x, n):
        if x.sum() > 0:
            self.last = self.child(x)
        else:
            self.last = x
        return self.last, self.last


def test_a_layer_knows_its_parent():
    assert answers(to_static(Parent())) == answers(Parent())


STATEMENTS = (
    "a.other = b",
    "b.other = a",
    "a.other = a",
    "a = b",
    "a, b = b, a",
    "a = Me(a.value + 1)",
    "b = Me(x)",
    "kept.append(a)",
    "kept.append(kept)",
    "names['a'] = a",
    "names['me'] = names",
    "a.value = b.value * 2",
    "a.kept = kept",
    "a.names = names",
    "t = (a, kept)",
    "a.other = lambda: a",
)


def program_of(seed):
    draw = random.Random(seed)
    lines = ["a, b, kept, names, t = Me(x), Me(x * 2), [], {}, ()"]
    for _ in range(draw.randint(2, 4)):
        lines += [draw.choice(STATEMENTS)]
        head = draw.choice(["if x.sum() > 0:", "for _ in range(n):", "if n > 1:"])
        lines += [head, *("    " + draw.choice(STATEMENTS) for _ in range(draw.randint(1, 3)))]
    lines += ["return (a.value,)"]
    return "def f(x, n):\n" + "".join(f"    {line}\n" for line in lines)


def outcome(function, call):
    try:
        return function(*call)[0].tolist()
    except Dy2stError:
        return "refused"


@pytest.mark.parametrize("seed", range(effort(12, 600)))
def test_a_random_program_gives_what_python_gives_or_is_refused(seed):
    text = "from tests.dy2st.convert.test_values_that_hold_themselves import Me\n"
    function = define(text + program_of(seed), f"<themselves {seed}>")
    static = to_static(function)
    for call in INPUTS:
        found = outcome(static, call)
        assert found in ("refused", outcome(function, call)), program_of(seed)
