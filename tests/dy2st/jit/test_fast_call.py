"""Calls after the first one: they give what the first gave, made anew."""

from __future__ import annotations

import gc
import sys
import traceback
import weakref
from collections import OrderedDict

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static
from dy2st.static import InputSpec

MORE_THAN_ARE_NAMED = 20


def ones(*shape):
    return dy2st.ones(shape)


def shown(value):
    """A value with lists of numbers for tensors."""
    if isinstance(value, dy2st.Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return type(value)((key, shown(entry)) for key, entry in value.items())
    return type(value)(map(shown, value)) if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize(
    "give",
    [
        lambda x: (x + 1, x - 1),
        lambda x: [x + 1],
        lambda x: (x + 1,),
        lambda x: {"a": x + 1, 3: [x - 1, None, "text"]},
        lambda x: OrderedDict(b=x + 1, a=()),
        lambda x: {"none": {}, "empty": []},
        lambda x: ({x.sum().item()}, frozenset((1, 2))),
        lambda x: (x.shape[0], int(x.sum()), float(x.sum()), bool(x.sum() > 0)),
        lambda x: [x * i for i in range(int(x.sum()))],
        lambda x: None,
    ],
)
def test_every_call_gives_what_python_gives(give):
    static = to_static(give)
    for x in [ones(2)] * 3 + [ones(3)] * 3:
        found, wanted = static(x), give(x)
        assert shown(found) == shown(wanted)
        assert type(found) is type(wanted)


def test_what_is_one_object_is_one_at_every_call():
    def twice(x):
        held = [x + 1]
        return held, held, {"again": held[0]}

    static = to_static(twice)
    for _ in range(3):
        left, right, others = static(ones(2))
        assert left is right and others["again"] is left[0]


def test_every_call_gives_new_containers():
    static = to_static(lambda x: {"held": [x + 1]})
    results = [static(ones(2)) for _ in range(3)]
    results[1]["held"].clear()
    assert [len(one["held"]) for one in results] == [1, 0, 1]


def test_an_object_of_the_users_is_given_back_itself():
    held = object()
    static = to_static(lambda x: (x + 1, held))
    assert [static(ones(2))[1] is held for _ in range(3)] == [True] * 3


def test_gradients_are_recorded_where_the_next_call_wants_them():
    static, x = to_static(lambda x: x * x), dy2st.to_tensor([3.0])
    for _ in range(3):
        assert static(x).stop_gradient
    x.stop_gradient = False
    for _ in range(3):
        static(x).backward()
    assert x.grad.tolist() == [18.0]
    with dy2st.no_grad():
        assert static(x).stop_gradient


@pytest.mark.parametrize("layers", [1, MORE_THAN_ARE_NAMED])
def test_parameters_are_read_at_every_call(layers):
    net = nn.Sequential(*[nn.Linear(2, 2) for _ in range(layers)])
    static, x = to_static(nn.Sequential(*net)), ones(1, 2)
    with dy2st.no_grad():
        for _ in range(3):
            np.testing.assert_allclose(static(x).numpy(), net(x).numpy(), rtol=1e-5)
            net[0].weight.set_value(net[0].weight.numpy() + 1)
    static(x).backward()
    assert net[0].weight.grad is not None


@pytest.mark.parametrize("layers", [1, MORE_THAN_ARE_NAMED])
def test_parameters_that_are_frozen_and_let_go(layers):
    net = to_static(nn.Sequential(*[nn.Linear(2, 2) for _ in range(layers)]))
    for is_frozen in (True, True, False, True):
        for parameter in net.parameters():
            parameter.stop_gradient = is_frozen
        assert net(ones(1, 2)).stop_gradient is is_frozen


def test_a_buffer_is_the_one_of_the_call():
    class Shifted(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("by", dy2st.zeros([2]))

        def forward(self, x):
            return x + self.by

    net = to_static(Shifted())
    found = []
    for _ in range(4):
        found.append(net(ones(2)).tolist())
        net.by = net.by + 1
    assert found == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]]


def test_arguments_of_any_size():
    static = to_static(lambda x: x + 1, input_spec=[InputSpec([None])])
    assert [static(ones(n)).shape for n in (1, 2, 2, 5, 0)] == [[1], [2], [2], [5], [0]]


def test_no_arguments():
    weight = dy2st.to_tensor([2.0])
    static = to_static(lambda: weight * 2)
    assert [static().tolist() for _ in range(3)] == [[4.0]] * 3


def check(x):
    if x.sum() > 3:
        raise ValueError("too much")
    return x + 1


def test_an_error_shows_the_lines_of_the_user_alone():
    static = to_static(check)
    for _ in range(3):
        static(ones(2))
    with pytest.raises(ValueError, match="too much") as caught:
        static(ones(2) * 5)
    found = [entry.name for entry in traceback.extract_tb(caught.value.__traceback__)]
    ours = ["__call__"] if sys.version_info < (3, 11) else []  # the frame that 3.10 adds
    assert found[1:] == [*ours, "check"]


def test_a_program_goes_without_a_search_for_garbage():
    static = to_static(lambda x: x + 1)
    for _ in range(3):
        static(ones(1))
    program = weakref.ref(static.concrete_program)
    gc.disable()
    try:
        del static
        assert program() is None
    finally:
        gc.enable()


# -- tensors of the call that are handed on -------------------------------------------------------


def first_or_second(x, y):
    return x if x.sum() > y.sum() else y


def clipped(x):
    while x.sum() > 4:
        x = x - 1
    return x, x


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_an_argument_that_is_given_back_is_the_argument(engine):
    static = to_static(lambda x, y: (x + y, y, [y], x), engine=engine)
    for _ in range(3):
        x, y = ones(2), ones(2)
        _, second, (third,), first = static(x, y)
        assert first is x and second is y and third is y


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_branch_gives_the_argument_itself(engine):
    static = to_static(first_or_second, engine=engine)
    for _ in range(3):
        less, more = ones(2), ones(2) * 2
        assert static(less, more) is more
        assert static(more, less) is more


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_two_tensors_with_one_array_are_two(engine):
    static, x = to_static(first_or_second, engine=engine), ones(2)
    for _ in range(3):
        static(x, ones(2))
    other = dy2st.to_tensor([0.0])
    other.array = x.array
    assert static(x, other) is other
    assert static(other, x) is x
    assert static(x, x) is x


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_loop_without_turns_gives_the_argument_itself(engine):
    static = to_static(clipped, engine=engine)
    for _ in range(3):
        less, more = ones(2), ones(2) * 8
        left, right = static(less)
        assert left is less and right is less
        left, right = static(more)
        assert left is right and left is not more
        assert left.tolist() == [2.0, 2.0] and more.tolist() == [8.0, 8.0]


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_parameter_that_is_given_back_is_the_parameter(engine):
    weight = dy2st.to_tensor([2.0])
    static = to_static(lambda x: (x * weight, weight), engine=engine)
    assert [static(ones(1))[1] is weight for _ in range(3)] == [True] * 3


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_what_is_made_by_a_view_shares_nothing(engine):
    static = to_static(lambda x: (x.reshape([2, 1]), x.flatten(), x[1:], x), engine=engine)
    for _ in range(3):
        x = ones(2)
        *made, same = static(x)
        assert same is x
        assert not any(np.shares_memory(one.array, x.array) for one in made)


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_arrays_that_lie_in_another_order_are_taken(engine):
    weight = dy2st.to_tensor(np.arange(6.0).reshape(2, 3))
    static = to_static(lambda x: x @ weight, engine=engine)
    turned = dy2st.tensor.from_numpy(np.arange(8.0).reshape(2, 4).T)
    plain = dy2st.to_tensor(np.ascontiguousarray(turned.numpy()))
    for x in [plain] * 3 + [turned] * 3:
        assert static(x).tolist() == (plain.numpy() @ weight.numpy()).tolist()


def test_a_profile_sees_later_calls():
    static = to_static(lambda x: x + 1, engine="native")
    for _ in range(3):
        static(ones(4))
    executable = static.concrete_program.executable
    executable.profile()
    static(ones(4))
    assert any("add" in line and " 1 " in line for line in executable.explain(True).splitlines())
