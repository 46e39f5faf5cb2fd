"""What gradients of results flow through where only the run tells, dtypes, and results that are arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st.static import InputSpec
from dy2st_runtime.trained_program import ProgramNode


def handed_on(x, n):
    """Each turn gives one variable what another one was."""
    h, k, i = dy2st.zeros([2]), x * 2, dy2st.zeros([], "int64")
    while i < n:
        h, k = k, dy2st.ones([2])
        i = i + 1
    return h, k


def exchanged(x, n):
    a, b, c, i = x * 2, dy2st.zeros([2]), x.detach() * 3, dy2st.zeros([], "int64")
    while i < n:
        a, b, c = b, c, a
        i = i + 1
    return a, b, c


def chosen_in_turns(x, n):
    """Both results of an `if` in a loop need what the other one was."""
    h, k, i = dy2st.zeros([2]), x * 2, dy2st.zeros([], "int64")
    while i < n:
        if i < 2:
            h, k = h + 1, k
        else:
            h, k = k, dy2st.ones([2])
        i = i + 1
    return h, k


def in_turns_of_turns(x, n):
    h, k, i = dy2st.zeros([2]), x * 2, dy2st.zeros([], "int64")
    while i < n:
        j = dy2st.zeros([], "int64")
        while j < i:
            h, k = k * 1.0, h
            j = j + 1
        if i > 1:
            k = k.detach() * 0.5
        i = i + 1
    return h, k


def called(function, n):
    """Flags of the results, the gradient of their sum, and the results."""
    x = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)
    results = function(x, dy2st.to_tensor(n))
    flowing = [one for one in results if not one.stop_gradient]
    if flowing:
        sum(one.sum() * (i + 1) for i, one in enumerate(flowing)).backward()
    return [one.stop_gradient for one in results], x.grad, results


@pytest.mark.parametrize("function", [handed_on, exchanged, chosen_in_turns, in_turns_of_turns])
def test_flags_of_what_turns_exchange_are_those_of_the_tape(function):
    static = to_static(function)
    called(static, 1)  # operator by operator
    kinds = set()
    for n in range(6):
        flags, gradient, _ = called(function, n)
        found_flags, found, results = called(static, n)
        assert found_flags == flags, n
        assert (found is None) == (gradient is None)
        if gradient is not None:
            np.testing.assert_allclose(found.numpy(), gradient.numpy())
        kinds |= {type(one.node) for one in results}
    assert ProgramNode in kinds


def test_many_operators_behind_a_branch_that_may_stop_gradients():
    @to_static
    def f(x, w):
        y = x * w if x.sum() > 0 else dy2st.zeros_like(x)
        for _ in range(1500):
            y = (y * 0.5).tanh()
        return y

    w = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)
    for _ in range(2):
        y = f(dy2st.to_tensor([1.0, 2.0]), w)
    assert isinstance(y.node, ProgramNode) and not y.stop_gradient
    assert f(dy2st.to_tensor([-1.0, 0.0]), w).stop_gradient


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("dtype", ["bool", "int64", "float32", "float64"])
def test_a_flag_that_the_code_sets_is_that_of_the_result_in_every_call(dtype, flag):
    def f(x, p):
        b = p.astype(dtype)
        b.stop_gradient = True
        c = b.astype("float32") * x
        b.stop_gradient = flag
        return b, c

    static = to_static(f)
    for stopped in (True, False, False, True):
        x = dy2st.to_tensor([1.0, 2.0], stop_gradient=stopped)
        expected, found = (one(x, dy2st.ones([2])) for one in (f, static))
        for left, right in zip(expected, found, strict=True):
            assert (left.stop_gradient, left.is_leaf) == (right.stop_gradient, right.is_leaf)


# -- dtypes ----------------------------------------------------------------------------------------


NAMES = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"]


def reduced(x: Any) -> Any:
    row = x[0]
    whole = [row.sum(), x.sum(), dy2st.dot(row, row), row.prod(), row.mean(), row.max(), row.any()]
    return [*whole, x.sum(0), dy2st.cumsum(row), x.sum(keepdim=True)]


def multiplied(x: Any) -> Any:
    return x @ x, x @ x[0], x[0] @ x, dy2st.bmm(x[None], x[None])


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("function", [reduced, multiplied])
@pytest.mark.parametrize("name", NAMES)
def test_a_program_gives_the_dtype_that_eager_operators_give(name, function, engine):
    x = dy2st.to_tensor(np.array([[1, 0, 3], [0, 0, 0], [2, 3, 1]], name))
    for shape in ([3, 3], [None, None]):
        static = to_static(function, input_spec=[InputSpec(shape, name)], engine=engine)
        for found, wanted in zip(static(x), function(x), strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-3)


# -- results that are arguments --------------------------------------------------------------------


class Model(nn.Layer):
    """A Layer with a parameter, a buffer, and a forward that is given."""

    def __init__(self, forward):
        super().__init__()
        self.w = self.create_parameter([2], default_initializer=nn.initializer.Constant(1.0))
        self.register_buffer("h", dy2st.zeros([2]))
        self.change = forward

    def forward(self, x, y):
        return self.change(self, x, y)


def both(self, x, y):
    return x, {"y": [y, y]}, (self.w, self.h)


def chosen(self, x, y):
    if x.sum() > 0:
        return x
    return y


def chosen_or_made(self, x, y):
    z = x
    if x.sum() > 0:
        z = x * 1.0
    return z


def after_turns(self, x, y):
    i, z = dy2st.zeros([]), x
    while i < x.sum():
        z, i = z + 1, i + 1
    return z, x


def copied(self, x, y):
    return x.clone(), x.detach(), x.reshape([2]), x.astype("float32")


def copied_or_not(self, x, y):
    z = x
    if x.sum() > 0:
        z = x.clone()
    return z


def detached_in_turns(self, x, y):
    i, z = dy2st.zeros([]), x
    while i < x.sum():
        z, i = z.detach(), i + 1
    return z


def changed(self, x, y):
    self.h[0] = 1.0
    return self.h


def kept(self, x, y):
    old, self.h = self.h, x
    return old, self.h


def twice(self, x, y):
    z = x + y
    return z, [z], x * y


def stopped(self, x, y):
    x.stop_gradient = True
    return x, y


FUNCTIONS = [both, chosen, chosen_or_made, after_turns, copied, copied_or_not]
FUNCTIONS += [detached_in_turns, changed, kept, twice, stopped]


def identities(layer, function, values, needs, recorded):
    """Which of the results are which objects, and whether they stop gradients."""
    x, y, held = dy2st.to_tensor(values), dy2st.to_tensor([3.0, 4.0]), layer.h
    x.stop_gradient = not needs
    with recorded():
        result = function(x, y)
    named = {"x": x, "y": y, "w": layer.w, "h": layer.h, "held": held}
    leaves = leaves_of(result)
    return [
        (
            [name for name, tensor in named.items() if tensor is leaf],
            [leaf is other for other in leaves],
            leaf.stop_gradient,
            leaf.numpy().tolist(),
        )
        for leaf in leaves
    ]


def leaves_of(value):
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (list, tuple)):
        return [value]
    return [leaf for entry in value for leaf in leaves_of(entry)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("specs", [None, [InputSpec([None]), InputSpec([2])]])
def test_a_result_is_the_object_that_python_returns(function, specs):
    for recorded in (dy2st.no_grad, dy2st.enable_grad):
        for needs in (False, True):
            eager, layer = Model(function), Model(function)
            static = to_static(layer, input_spec=specs)
            for values in ([1.0, 0.5], [-1.0, 0.5], [2.0, 1.0]):
                expected = identities(eager, eager, values, needs, recorded)
                assert identities(layer, static, values, needs, recorded) == expected


def test_two_arguments_that_share_an_array_are_told_apart():
    def forward(x, y):
        if x.sum() > 0:
            return x
        return y

    static = to_static(forward)
    for value in (1.0, -1.0):
        x = dy2st.to_tensor([value])
        y = x.detach()
        with dy2st.no_grad():
            assert static(x, y) is (x if value > 0 else y)


def test_a_saved_model_gives_a_tensor_of_its_own(tmp_path):
    dy2st.jit.save(to_static(lambda x: x, input_spec=[InputSpec([2])]), str(tmp_path / "m"))
    x = dy2st.ones([2])
    result = dy2st.jit.load(str(tmp_path / "m"))(x)
    result[0] = 5.0
    assert x.numpy().tolist() == [1.0, 1.0]
