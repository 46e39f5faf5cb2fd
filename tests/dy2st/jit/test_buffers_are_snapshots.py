"""Reading a buffer gives the tensor of that moment, assigning makes the buffer another one."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
import dy2st_runtime
from dy2st import nn
from dy2st.errors import ConversionError, Dy2stError
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.catalogue.comparing import comparable

INPUTS = ([1.0, 2.0, 3.0], [-1.0, 0.5, 2.0], [3.0, 1.0, -4.0])


class State(nn.Layer):
    """Two buffers, a list with a tensor, and a number in a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("h", dy2st.zeros([3]))
        self.p = dy2st.ones([3])
        self.register_buffer("total", dy2st.zeros([]))
        self.held = [dy2st.zeros([3])]


def with_forward(forward):
    return type("Model", (State,), {"forward": forward})()


def calls(model, state_of):
    found = []
    for values in INPUTS:
        held, before = state_of.h, state_of.h.numpy()
        result = comparable(model(dy2st.to_tensor(values)))
        found.append((result, comparable({**state_of.state_dict()})))
        found.append(held is state_of.h or np.array_equal(held.numpy(), before))
    return found


def agrees(forward):
    """Eager, converted, and (in what it returns) saved and loaded."""
    eager, layer = with_forward(forward), with_forward(forward)
    expected = calls(eager, eager)
    assert calls(to_static(layer), layer) == expected


def agrees_saved(forward, folder):
    eager = with_forward(forward)
    path = str(folder / "model")
    dy2st.jit.save(with_forward(forward), path, [InputSpec([3], "float32", "x")])
    loaded = dy2st_runtime.load(path)
    for values in INPUTS:
        x = dy2st.to_tensor(values)
        assert comparable(loaded(x)) == comparable(eager(x))
        x.stop_gradient = False
        assert comparable(loaded(x)) == comparable(eager(x))


def read_then_assigned(self, x):
    prev = self.h
    self.h = dy2st.tanh(x + prev)
    return self.h - prev


def held_by_a_list(self, x):
    held = [self.p]
    self.p = x
    return held[0]


def exchanged(self, x):
    old, self.h = self.h, x
    return old


def before_a_python_loop(self, x):
    prev = self.h
    for _ in range(3):
        self.h = self.h + x
    return self.h - prev


def before_a_tensor_loop(self, x):
    prev, n = self.h, x.sum()
    while n > 0:
        self.h = self.h + x
        n = n - 2
    return self.h - prev


def before_a_branch(self, x):
    prev = self.h
    if x.sum() > 0:
        self.h = self.h + x
    return self.h - prev


def added_to(self, x):
    prev = self.h
    self.h += x
    return self.h - prev


def swapped(self, x):
    self.h, self.p = self.p, self.h
    return self.h - self.p + x


def both_in_branches(self, x):
    a = self.h
    if x.sum() > 0:
        b = self.h
        self.h = x
        a = b + self.h
    else:
        self.p = self.h + 0
    return a, self.h, self.p


def callee_assigns(self, x):
    def step(h):
        self.h = h + x
        return h * 2

    return step(self.h)


def set_in_a_branch_and_read_there(self, x):
    if x.sum() > 0:
        self.h.set_value(x)
        y = self.h
    else:
        y = x * 2
    return y


def set_in_place(self, x):
    prev = self.h
    self.h[0] = x.sum()
    return prev + self.h


SAME_TYPE = [
    read_then_assigned,
    held_by_a_list,
    exchanged,
    before_a_python_loop,
    before_a_tensor_loop,
    before_a_branch,
    added_to,
    swapped,
    both_in_branches,
    callee_assigns,
    set_in_a_branch_and_read_there,
    set_in_place,
]


@pytest.mark.parametrize("forward", SAME_TYPE, ids=lambda f: f.__name__)
def test_what_was_read_stays_when_the_buffer_is_assigned(forward):
    agrees(forward)


@pytest.mark.parametrize("forward", SAME_TYPE, ids=lambda f: f.__name__)
def test_what_was_read_stays_in_a_saved_model(forward, tmp_path):
    agrees_saved(forward, tmp_path)


def swapped_and_set(self, x):
    self.h, self.p = self.p, self.h
    self.h[0] = 9.0
    return self.h + self.p * 2 + x


def to_float64(self, x):
    self.total = self.total + x.sum().astype("float64")
    return self.total * 2


def to_float64_in_a_branch(self, x):
    if x.sum() > 0:
        self.total = self.total + x.sum().astype("float64")
    return self.total * 2


def to_int64(self, x):
    self.total = (self.total + x.sum()).astype("int64")
    return self.total + 1


def longer(self, x):
    self.p = dy2st.concat([self.p, x])
    return self.p.sum()


OTHER_TYPE = [to_float64, to_float64_in_a_branch, to_int64, longer]


@pytest.mark.parametrize("forward", [*OTHER_TYPE, swapped_and_set], ids=lambda f: f.__name__)
def test_a_buffer_takes_the_type_of_what_is_assigned(forward):
    agrees(forward)


@pytest.mark.parametrize("is_called", [False, True], ids=["at-once", "after-a-call"])
@pytest.mark.parametrize("forward", OTHER_TYPE, ids=lambda f: f.__name__)
def test_a_buffer_that_changes_its_type_goes_on_in_a_saved_model(forward, is_called, tmp_path):
    eager, layer, path = with_forward(forward), with_forward(forward), str(tmp_path / "m")
    if is_called:
        x = dy2st.to_tensor(INPUTS[0])
        eager(x), to_static(layer)(x)
    dy2st.jit.save(layer, path, [InputSpec([3], "float32", "x")])
    loaded = dy2st_runtime.load(path)
    for values in INPUTS:
        assert comparable(loaded(dy2st.to_tensor(values))) == comparable(
            eager(dy2st.to_tensor(values))
        )


def test_two_buffers_that_become_one_tensor_changed_in_place_are_not_saved(tmp_path):
    with pytest.raises(ConversionError, match="something else holds"):
        dy2st.jit.save(with_forward(swapped_and_set), str(tmp_path / "m"), [InputSpec([3])])


def test_a_tensor_that_a_list_holds_too_stays_what_it_was():
    def forward(self, x):
        self.h = self.h + x
        return self.held[0] + self.h

    eager, layer = with_forward(forward), with_forward(forward)
    for model in (eager, layer):
        model.held[0] = model.h
    assert calls(to_static(layer), layer) == calls(eager, eager)


def test_a_result_of_a_branch_that_is_the_buffer_is_out_of_date_after_a_change_in_place():
    def forward(self, x):
        y = self.h if x.sum() > 0 else x * 2
        self.h[0] = 5.0
        return y

    with pytest.raises(ConversionError, match="may have been changed in place"):
        to_static(with_forward(forward))(dy2st.to_tensor(INPUTS[0]))


def test_gradients_flow_through_a_buffer_from_call_to_call():
    def forward(self, x):
        self.h = dy2st.tanh(x * self.h + 1.0)
        return self.h.sum()

    found = []
    for convert in (lambda layer: layer, to_static):
        model = with_forward(forward)
        run = convert(model)
        x = dy2st.to_tensor(INPUTS[0], stop_gradient=False)
        (run(x) + run(x)).backward()
        found.append((comparable(x.grad), model.h.stop_gradient))
    assert found[0] == found[1]


def test_what_set_value_copies_carries_no_gradient():
    def forward(self, x):
        self.h.set_value(x * 2)
        return (self.h * x).sum()

    found = []
    for convert in (lambda layer: layer, to_static):
        x = dy2st.to_tensor(INPUTS[0], stop_gradient=False)
        convert(with_forward(forward))(x).backward()
        found.append(comparable(x.grad))
    assert found[0] == found[1]


def test_set_value_of_another_shape_is_refused_as_in_python():
    def forward(self, x):
        self.h.set_value(x[:1])
        return x

    for convert in (lambda layer: layer, to_static):
        with pytest.raises(ValueError, match="set_value: shape"):
            convert(with_forward(forward))(dy2st.to_tensor(INPUTS[0]))


def test_a_buffer_that_is_assigned_needs_no_new_program():
    static = to_static(with_forward(read_then_assigned))
    for values in INPUTS:
        static(dy2st.to_tensor(values))
    assert len(static.forward.program_cache) == 1


def test_passes_read_the_buffer_of_the_moment():
    eager, layer = with_forward(read_then_assigned), with_forward(read_then_assigned)
    static = to_static(layer, build_strategy="inference")
    assert calls(static, layer) == calls(eager, eager)


def test_a_buffer_that_a_branch_makes_another_one_is_changed_with_it():
    def forward(self, x):
        self.h.set_value(self.h * 2 + 1)
        if x.sum() > 0:
            self.h = self.p
        return x * self.h, self.h

    eager, layer = with_forward(forward), with_forward(forward)
    static = to_static(layer)
    for values in INPUTS:
        x = dy2st.to_tensor(values)
        assert comparable(static(x)) == comparable(eager(x))
        assert comparable(layer.state_dict()) == comparable(eager.state_dict())
    assert layer.h is layer.p


def test_what_a_saved_model_gives_stays_when_its_buffer_changes(tmp_path):
    def forward(self, x):
        old, self.h = self.h, x * 2
        return old

    path = str(tmp_path / "model")
    dy2st.jit.save(with_forward(forward), path, [InputSpec([3], "float32")])
    loaded = dy2st_runtime.load(path)
    results = [loaded(dy2st.to_tensor(v, stop_gradient=False)) for v in INPUTS]
    assert [r.tolist() for r in results] == [[0.0] * 3, [2.0, 4.0, 6.0], [-2.0, 1.0, 4.0]]


def test_two_names_of_one_buffer_are_two_when_one_is_assigned():
    def forward(self, x):
        self.h = self.h + x
        return self.p * 1, self.h

    eager, layer = with_forward(forward), with_forward(forward)
    for model in (eager, layer):
        model.p = model.h
    assert calls(to_static(layer), layer) == calls(eager, eager)


def test_functions_that_share_a_layer_see_what_each_assigns():
    found = []
    for convert in (lambda function: function, to_static):
        net = State()

        def write(x, net=net):
            old = net.h
            net.h = old + x
            return old

        functions = [convert(write), convert(lambda x, net=net: net.h * x), convert(write)]
        results = [f(dy2st.to_tensor(values)) for values in INPUTS for f in functions]
        found.append((comparable(results), comparable(net.h)))
    assert found[0] == found[1]


class Replaced(nn.Layer):
    """A Layer whose buffer a function changes in place and replaces."""

    def __init__(self, change):
        super().__init__()
        self.register_buffer("p", dy2st.zeros([3]))
        self.change = change

    def forward(self, x):
        self.change(self, x)
        return self.p + x


def change_and_replace(layer, x):
    layer.p[0] = x[0]
    layer.p = layer.p * 2


def set_all_and_replace(layer, x):
    layer.p.set_value(x)
    layer.p = x * 2


def change_in_a_branch_and_replace(layer, x):
    if x.sum() > 4:
        layer.p[0] = x[0]
    layer.p = layer.p + 1


def change_and_replace_in_a_branch(layer, x):
    if x.sum() > 4:
        layer.p[0] = x[0]
        layer.p = layer.p * 2


def replace_in_a_branch_and_change(layer, x):
    if x.sum() > 4:
        layer.p = dy2st.zeros([3])
    layer.p[0] = x[0]


def change_and_replace_in_a_loop(layer, x):
    turns = x.sum()
    while turns > 0:
        turns = turns - 3
        layer.p[0] = turns
        layer.p = layer.p * 2


def calls_with_old_tensors(layer, function):
    """What calls give, and what the tensors hold that the buffer was before them."""
    found, held = [], []
    for values in ([1.0, 2.0, 3.0], [1.0, 0.0, 2.0], [-5.0, 2.0, 1.0], [4.0, 5.0, 6.0]):
        held.append(layer.p)
        found.append(comparable((function(dy2st.to_tensor(values)), held)))
    return found


@pytest.mark.parametrize(
    "change",
    [
        change_and_replace,
        set_all_and_replace,
        change_in_a_branch_and_replace,
        change_and_replace_in_a_branch,
    ],
)
def test_who_holds_the_tensor_of_a_buffer_sees_it_change_though_it_is_replaced(change, tmp_path):
    eager, layer = Replaced(change), Replaced(change)
    expected = calls_with_old_tensors(eager, eager)
    assert calls_with_old_tensors(layer, to_static(layer)) == expected
    dy2st.jit.save(Replaced(change), str(tmp_path / "m"), [InputSpec([3], "float32", "x")])
    loaded, fresh = dy2st_runtime.load(str(tmp_path / "m")), Replaced(change)
    for x in (dy2st.ones([3]), dy2st.ones([3]) * 2):
        assert comparable(loaded(x)) == comparable(fresh(x))


def test_a_tensor_that_each_turn_changes_and_replaces_is_refused():
    with pytest.raises(Dy2stError, match="is changed in place after a branch or loop"):
        to_static(Replaced(change_and_replace_in_a_loop))(dy2st.ones([3]))


@pytest.mark.parametrize("change", [replace_in_a_branch_and_change])
def test_a_change_is_refused_that_only_the_run_knows_to_be_of_the_old_tensor(change, tmp_path):
    with pytest.raises(ConversionError, match="may have made it another tensor") as found:
        to_static(Replaced(change))(dy2st.ones([3]))
    assert found.value.at is not None and found.value.hint
    dy2st.jit.save(Replaced(change), str(tmp_path / "m"), [InputSpec([3], "float32", "x")])
    loaded, fresh = dy2st_runtime.load(str(tmp_path / "m")), Replaced(change)
    for x in (dy2st.ones([3]), dy2st.ones([3]) * 2):
        assert comparable(loaded(x)) == comparable(fresh(x))
