"""A tensor with two names that is changed in place changes under both, or is refused."""

from __future__ import annotations

from types import MappingProxyType, SimpleNamespace

import pytest

import dy2st
from dy2st import nn
from dy2st.errors import EscapedVariable
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.catalogue.comparing import comparable

INPUTS = ([1.0, 2.0], [-1.0, -2.0])


def named_twice_in_a_branch(x):
    b, u = x * 1, x * 2
    if x.sum() > 0:
        u = b
    b[0] = 9.0
    return u, b


def named_twice_and_changed_by_the_new_name(x):
    b, u = x * 1, x * 2
    if x.sum() > 0:
        u = b
    u[0] = 9.0
    return b


def named_twice_before_a_loop(x):
    b = x * 1
    u, k = b, x.sum() * 0
    while k < 2:
        u[0] = u[0] + 1
        b = b * 1
        k = k + 1
    return u, b


def read_under_its_other_name_in_a_loop(x):
    b = x * 1
    u, k, s = b, x.sum() * 0, x.sum() * 0
    while k < 2:
        s = s + b.sum()
        u[0] = u[0] + 1
        k = k + 1
    return u, s


def named_twice_by_a_turn(x):
    b, u, k = x * 1, x * 2, x.sum() * 0
    while k < 2:
        u[0] = u[0] + 1
        u = b
        k = k + 1
    return u, b


def made_with_two_names_in_a_branch(x):
    b, u = x * 1, x * 2
    if x.sum() > 0:
        b = x + 1
        u = b
    b[0] = 9.0
    return u, b


def handed_on_by_two_branches(x):
    b, u = x * 1, x * 2
    if x.sum() > 0:
        b = b + 1
        if x.max() > 1:
            b = u
    b[0] = 9.0
    return u, b


def iterated_while_it_changes(x):
    b = x * 1
    for v in b:
        if v > 0:
            b = b + 0
        b[1] = v
    return b


def named_twice_and_changed_in_a_branch(x):
    b, u = x * 1, x * 2
    if x.sum() > 0:
        u = b
        b[0] = 9.0
    return u, b


def named_twice_and_changed_in_a_turn(x):
    b, u, k = x * 1, x * 2, x.sum() * 0
    while k < 2:
        u = b
        b[0] = k
        k = k + 1
    return u, b


def iterated_while_a_loop_in_a_branch_changes_it(x):
    b, s = x * 1, x.sum()
    for v in b:
        s = s + v
        if s > 0:
            k = x.sum() * 0
            while k < 2:
                k = k + 1
                b[1] = s
    return s


def changed_by_a_loop_in_a_loop(x):
    kept, k = x * 1, x.sum() * 0
    b = x * 2
    while k < 2:
        k = k + 1
        b = kept if x.max() > 1 else b + 0
        for _ in range(int(k)):
            b[1] = k
    return b, kept


@pytest.mark.parametrize(
    "function",
    [
        changed_by_a_loop_in_a_loop,
        named_twice_in_a_branch,
        named_twice_and_changed_by_the_new_name,
        named_twice_before_a_loop,
        named_twice_by_a_turn,
        made_with_two_names_in_a_branch,
        handed_on_by_two_branches,
        iterated_while_it_changes,
        named_twice_and_changed_in_a_turn,
    ],
    ids=lambda function: function.__name__,
)
def test_a_second_name_of_a_changed_tensor_is_refused(function):
    with pytest.raises(EscapedVariable, match="changed in place"):
        to_static(function)(dy2st.to_tensor(INPUTS[0]))


def changed_after_a_branch(x):
    b = x * 1
    if x.sum() > 0:
        b = b + 1
    b[0] = 9.0
    return b


def changed_in_a_loop(x):
    b, k = x * 1, x.sum() * 0
    while k < 2:
        b[0] = b[0] + 1
        k = k + 1
    b[1] = 3.0
    return b


def cloned_before_it_changes(x):
    b, u = x * 1, x * 2
    if x.sum() > 0:
        u = b.clone()
    b[0] = 9.0
    return u


def changed_in_a_loop_of_a_branch(x):
    b, k = x * 1, x.sum() * 0
    if x.sum() > -9:
        while k < 2:
            b[0] = b[0] + 1
            k = k + 1
    b[1] = b[1] + 3
    return b


def named_twice_and_changed(x):
    y = x * 1
    z = y
    y[0] = 100.0
    return z


def changed_in_a_list_of_lists(x):
    rows = [[x * 1, x * 2]]
    kept = rows[0][1]
    rows[0][1][1] = 7.0
    return kept


def given_a_value_under_its_other_name(x):
    b = x * 1
    kept = [b]
    if x.sum() > 0:
        b.set_value(x * 3)
    return kept[0]


@pytest.mark.parametrize(
    "function",
    [
        changed_after_a_branch,
        changed_in_a_loop,
        changed_in_a_loop_of_a_branch,
        cloned_before_it_changes,
        named_twice_and_changed,
        named_twice_and_changed_in_a_branch,
        changed_in_a_list_of_lists,
        given_a_value_under_its_other_name,
        read_under_its_other_name_in_a_loop,
        iterated_while_a_loop_in_a_branch_changes_it,
    ],
    ids=lambda function: function.__name__,
)
def test_a_tensor_is_changed_under_its_names_as_in_python(function):
    static = to_static(function)
    for values in INPUTS:
        expected = comparable(function(dy2st.to_tensor(values)))
        assert comparable(static(dy2st.to_tensor(values))) == expected


def test_a_second_name_that_only_some_paths_give_in_a_try_is_noticed():
    def f(x):
        b = x * 2
        if x.sum() > 0:
            other = b
        kept = None
        try:
            if x.sum() > 1:
                kept = other
        finally:
            b[0] = 0
        return kept

    with pytest.raises(EscapedVariable, match="changed in place"):
        to_static(f)(dy2st.ones([2]))


def test_a_second_name_that_a_branch_of_a_turn_gives_is_noticed_in_the_next():
    def f(x):
        b = x * 2
        turns = x.sum() * 0
        while turns < 2:
            turns = turns + 1
            b[1] = 0
            if b.sum() < 100:
                b = x
            else:
                b = b - 1
        return x

    with pytest.raises(EscapedVariable, match="changed in place in a loop"):
        to_static(f)(dy2st.ones([2]))


def test_a_tensor_in_a_list_of_the_program_that_changes_in_place_is_noticed():
    def f(x):
        b, items = x * 2, [x]
        turns = x.sum() * 0
        while turns < 2:
            turns = turns + 1
            items.append(b)
        b[0] = 0
        return items

    with pytest.raises(EscapedVariable, match="changed in place"):
        to_static(f)(dy2st.ones([2]))


def given_by_default(tensor):
    def give(value=tensor):
        return value

    return give


def put_past_the_layer(tensor):
    layer = nn.Layer()
    layer.__dict__["held"] = tensor
    return layer


HOLDERS = {
    "a tuple": (lambda tensor: (1, (tensor,)), lambda held: held[1][0]),
    "a list that is gone through": (lambda tensor: [tensor], lambda held: sum(held)),
    "the values of a dict": (lambda tensor: {"a": tensor}, lambda held: [*held.values()][0]),
    "a read-only dict": (lambda tensor: MappingProxyType({"a": tensor}), lambda held: held["a"]),
    "a default": (given_by_default, lambda held: held()),
    "the dict of a Layer": (put_past_the_layer, lambda held: held.held),
}


class HoldsItsBufferTwice(nn.Layer):
    def __init__(self, put, get):
        super().__init__()
        self.hidden = dy2st.ones([])
        self.first, self.get = put(self.hidden), get

    def forward(self, x):
        first = self.get(self.first)
        if first % 2 == 0:
            return x + 100
        self.hidden = (self.hidden + first) % 9
        return x + first


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_buffer_that_something_else_holds_too_is_told_from_it_once_it_is_another(holder):
    eager = HoldsItsBufferTwice(*HOLDERS[holder])
    static = HoldsItsBufferTwice(*HOLDERS[holder])
    to_static(static)
    for number in range(4):
        x = dy2st.to_tensor([float(number)])
        assert static(x).tolist() == eager(x).tolist()
        assert static.hidden.item() == eager.hidden.item()


def holds_its_state_twice(put, get):
    start = dy2st.ones([])
    state, other = SimpleNamespace(hidden=start), put(start)

    def step(x):
        first = get(other)
        if first % 2 == 0:
            return x + 100
        state.hidden = (state.hidden + first) % 9
        return x + first

    return step, state, start


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_place_that_differs_at_each_call_is_told_from_what_it_held_once(holder):
    eager, state, start = holds_its_state_twice(*HOLDERS[holder])
    step, other_state, other_start = holds_its_state_twice(*HOLDERS[holder])
    static = to_static(step)
    for numbers in ([1.0], [2.0], [3.0], None, [1.0, 2.0], [1.0, 3.0], [2.0, 2.0]):
        if numbers is None:
            state.hidden, other_state.hidden = start, other_start
            continue
        x = dy2st.to_tensor(numbers)
        assert static(x).tolist() == eager(x).tolist()
        assert other_state.hidden.item() == state.hidden.item()


class AddsToItsBuffer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.total = dy2st.ones([2])

    def forward(self, x):
        self.total.add_(x)
        return x * 2


def test_a_buffer_that_is_changed_in_place_may_be_an_argument():
    layer, eager = to_static(AddsToItsBuffer()), AddsToItsBuffer()
    for _ in range(3):
        assert layer(dy2st.ones([2])).tolist() == eager(dy2st.ones([2])).tolist()
        assert layer(layer.total).tolist() == eager(eager.total).tolist()
        assert layer.total.tolist() == eager.total.tolist()
    assert len(layer.forward.program_cache) == 2


def test_a_buffer_that_takes_the_value_of_an_argument_is_not_that_argument():
    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("held", dy2st.ones([2]))

        def forward(self, x):
            chosen, other = x, self.held
            if x.sum() > 2:
                chosen = x * 2
            self.held.set_value(x)
            if x.sum() < 0:
                other = x
            return chosen, other

    layer = Model()
    static = to_static(layer)
    for number, values in enumerate([[1.0, 2.0], [-4.0, 1.0], [1.0, 1.0], [-4.0, 1.0]] * 2):
        x = dy2st.to_tensor(values, stop_gradient=number % 3 == 0)
        chosen, other = static(x)
        assert (chosen is x) == (sum(values) <= 2)
        assert other is (x if sum(values) < 0 else layer.held)


def appended_twice(x):
    kept, one = [], x * 2
    if x.sum() > 2:
        kept += [one, one]
    return kept


def appended_in_each_iteration(x):
    kept, one, i = [], x * 2, x.sum()
    while i > 0:
        i = i - 1
        kept.append(one)
    return kept


def appended_until_there_is_another(x):
    best, kept = x * 0, []
    for t in x:
        if t > 1:
            best = x * t
        kept.append(best)
    return kept


def repeated(x):
    kept = [t * 2 for t in x]
    return kept * 2 + kept[:1]


def made_anew_in_each_iteration(x):
    kept, i = [x * 1], x.sum()
    while i > 0:
        i = i - 1
        kept += [x * i, x + i]
    return kept[1:]


LISTS = {
    appended_twice: True,
    appended_in_each_iteration: True,
    appended_until_there_is_another: True,
    repeated: True,
    made_anew_in_each_iteration: False,
}


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("f", LISTS, ids=lambda f: f.__name__)
def test_a_tensor_that_stands_in_a_list_twice_is_one_tensor(f, engine):
    static = to_static(f, input_spec=[InputSpec([None], "float32")], engine=engine)
    for values in ([1.0, 2.0, 3.0], [0.0, 0.5], [1.0, 1.0, 1.0, 2.0]):
        expected, found = f(dy2st.to_tensor(values)), static(dy2st.to_tensor(values))
        same = lambda ones: [[one is other for other in ones] for one in ones]  # noqa: E731
        assert comparable(found) == comparable(expected)
        assert same(found) == same(expected)
    aliasing = static.concrete_program.aliasing
    assert bool(aliasing and aliasing.merged) == LISTS[f]


def test_a_value_is_kept_though_what_it_was_taken_from_changes_later():
    held = dy2st.to_tensor([1.0, 0.0])

    def f(x, box, rows):
        double = x * 2
        held.set_value(x)
        if x.sum() > 0:
            rows.append(rows[0])
            box.held.set_value(double)

    static = to_static(f)
    for _ in range(2):
        x = dy2st.to_tensor([1.0, 2.0])
        static(x, SimpleNamespace(held=x), [x])
        assert held.tolist() == [1.0, 2.0] and x.tolist() == [2.0, 4.0]


def test_an_element_of_a_list_that_gets_another_shape_is_still_what_it_may_be():
    def f(x):
        y = x * 1
        row = y.unbind(0)[0]
        corner = row[0, 1]
        row.reshape_([3, 2])
        y.zero_()
        row[0] = 8.0
        return y, row, corner

    x = dy2st.ones([2, 2, 3])
    known = to_static(f)(x)
    assert [one.tolist() for one in known] == [one.tolist() for one in f(x)]
    with pytest.raises(EscapedVariable, match="may have been changed in place"):
        to_static(f, input_spec=[InputSpec([None, None, None])])(x)


def rows_of_what_changes_before_them(x):
    whole, rows = x * 1, []
    for place in range(x.shape[0]):
        whole[0] += 1
        rows.append(whole[place])
    return rows


def test_a_list_of_views_whose_base_the_next_turn_changes_is_refused():
    static = to_static(rows_of_what_changes_before_them, input_spec=[InputSpec([None], "float32")])
    with pytest.raises(EscapedVariable, match="items.append"):
        static(dy2st.to_tensor([1.0, 2.0]))


def test_a_list_of_clones_of_views_is_what_it_was():
    def function(x):
        whole, rows = x * 1, []
        for place in range(x.shape[0]):
            whole[0] += 1
            rows.append(whole[place].clone())
        return [float(row) for row in rows]

    static = to_static(function, input_spec=[InputSpec([None], "float32")])
    assert static(dy2st.to_tensor([1.0, 2.0])) == function(dy2st.to_tensor([1.0, 2.0])) == [2, 2]


def chosen_twice_between_views(x):
    other, whole = x + 1, x * 1
    part = whole[0]
    if x[1] > 0:
        part = other[1]
    if x[1] > 0:
        other[0] = 7
        part = other[1]
    whole[0] = 19
    return part


def test_what_was_chosen_twice_is_out_of_date_after_a_change_of_the_first():
    for x in ([5.0, 0.0], [5.0, 1.0]):
        with pytest.raises(EscapedVariable, match="may have been changed in place"):
            to_static(chosen_twice_between_views)(dy2st.to_tensor(x)).numpy()


def a_view_chosen_by_some_turns(x):
    part, turns = x[1:] * 2, x.sum() * 0
    while turns < 3:
        x[1] += 2
        if turns < x[0]:
            part = x[1:]
        turns += 1
    return part


def test_a_view_that_an_earlier_turn_has_chosen_is_refused_where_its_base_changes():
    with pytest.raises(EscapedVariable, match="may have another name"):
        to_static(a_view_chosen_by_some_turns)(dy2st.to_tensor([1.0, 2.0]))
