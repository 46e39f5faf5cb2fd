"""What is given for flags, numbers, axes and sizes is of their kind, or refused in one way."""

from __future__ import annotations

from inspect import unwrap

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.errors import Dy2stError, WrongKind
from dy2st.nn import functional as F
from dy2st_runtime.ir.dispatch import SPELLED
from dy2st_runtime.ir.spelling import kinds_of
from dy2st_runtime.ops.lazy import load_all

load_all()
WRONG = {
    "True or False": ["a", "", 2, 1.0, [True], {}, object()],
    "a number": ["a", "1", [1.0], (1.0,), {}, object()],
    "an integer": ["a", "1", 1.5, True, np.True_, [1], {}, object()],
}
RIGHT = {
    "True or False": [True, np.False_, 0, 1, dy2st.to_tensor(True), None],
    "a number": [0.5, 1, True, np.float32(1), np.int64(1), dy2st.ones([]), np.ones(())],
    "an integer": [1, np.int64(1), dy2st.to_tensor(1), np.ones((), "int64")],
}
KINDS = [
    (function, name, kind)
    for function in SPELLED
    for name, kind in kinds_of(unwrap(SPELLED[function])).items()
]


@pytest.mark.parametrize(("function", "name", "kind"), KINDS)
def test_every_argument_of_a_wrong_kind_is_named(function, name, kind):
    for value in WRONG[kind.what]:
        with pytest.raises(WrongKind, match=f"`{name}` is {kind.what}, not "):
            SPELLED[function](**{name: value})


@pytest.mark.parametrize(("function", "name", "kind"), KINDS)
def test_every_argument_of_the_right_kind_passes(function, name, kind):
    for value in RIGHT[kind.what]:
        kind.check(function, name, value)


def test_kinds_are_asked_in_every_spelling():
    x = dy2st.ones([2, 3])
    for call in (
        lambda: dy2st.sum(x, 0, None, "a"),
        lambda: F.leaky_relu(x, "0.1"),
        lambda: F.layer_norm(x, 3, eps="1e-5"),
        lambda: x.softmax(dim="a"),
        lambda: F.dropout(x, None),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert isinstance(caught.value, WrongKind) and isinstance(caught.value, ValueError)


def test_kinds_are_asked_in_a_converted_function():
    with pytest.raises(WrongKind, match=r"mean\(\): `keepdim` is True or False, not 'a'"):
        dy2st.to_static(lambda x: x.mean(keepdim="a"))(dy2st.ones([2, 3]))


ALONG = (
    "sum mean max min prod logsumexp std var median squeeze unsqueeze flip sort argsort unbind "
    "norm mode nanmean count_nonzero unique amax amin argmax argmin cumsum softmax"
)


@pytest.mark.parametrize("name", ALONG.split())
@pytest.mark.parametrize("axis", [True, [True], "a", [1.0], 1.0, object()])
def test_an_axis_is_an_integer(name, axis):
    function = getattr(dy2st, name, None) or getattr(F, name)
    with pytest.raises(WrongKind):
        function(dy2st.ones([2, 3]), axis=axis)


ONE = dy2st.ones([1])
OF_SIZES = {
    "zeros": dy2st.zeros,
    "ones": dy2st.ones,
    "empty": dy2st.empty,
    "full": lambda shape: dy2st.full(shape, 1.0),
    "rand": dy2st.rand,
    "randn": dy2st.randn,
    "randint": lambda shape: dy2st.randint(0, 2, shape),
    "uniform": dy2st.uniform,
    "normal": lambda shape: dy2st.normal(shape=shape),
    "reshape": lambda shape: dy2st.reshape(ONE, shape),
    "view": lambda shape: ONE.view(shape),
    "expand": lambda shape: dy2st.expand(ONE, shape),
    "broadcast_to": lambda shape: dy2st.broadcast_to(ONE, shape),
    "tile": lambda shape: dy2st.tile(ONE, shape),
    "crop": lambda shape: dy2st.crop(dy2st.ones([2, 2]), shape),
    "create_parameter": lambda shape: dy2st.create_parameter(shape, "float32"),
}


@pytest.mark.parametrize("name", OF_SIZES)
@pytest.mark.parametrize("shape", [[True, 1], (1, True), [1.0, 1], ["a"], [np.True_, 1], 1.5])
def test_a_size_is_an_integer(name, shape):
    with pytest.raises(Dy2stError) as caught:
        OF_SIZES[name](shape)
    assert isinstance(caught.value, (TypeError, ValueError))
    OF_SIZES[name]([np.int64(1), 1])


def test_what_is_no_tensor_is_refused_with_the_way_out():
    with pytest.raises(Dy2stError, match="to_tensor"):
        dy2st.logsumexp([3.0])
    with pytest.raises(Dy2stError, match="two axes"):
        dy2st.rot90(dy2st.ones([2, 2]), axes=[0])
    with pytest.raises(Dy2stError, match="an entry for each of 2 axes"):
        dy2st.crop(dy2st.ones([2, 2]), [1])


LAYERS = {
    layer
    for layer in map(nn.__dict__.get, dir(nn))
    if isinstance(layer, type) and issubclass(layer, nn.Layer)
}
SETTINGS = [
    (layer, name, kind)
    for layer in sorted(LAYERS, key=lambda layer: layer.__name__)
    for name, kind in kinds_of(layer.__init__).items()
]


@pytest.mark.parametrize(("layer", "name", "kind"), SETTINGS)
def test_every_setting_of_a_layer_of_a_wrong_kind_is_named(layer, name, kind):
    for value in WRONG[kind.what]:
        with pytest.raises(WrongKind, match=rf"\(\): `{name}` is {kind.what}, not "):
            layer(**{name: value})


def test_settings_are_asked_of_layers_derived_from_ours():
    class Mine(nn.Dropout):
        def __init__(self, rate):
            super().__init__(rate)

    assert Mine(0.5).p == 0.5
    with pytest.raises(WrongKind, match=r"Mine\(\): `p` is a number, not '0\.5'"):
        Mine("0.5")
