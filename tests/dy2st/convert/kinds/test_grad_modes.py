"""`enable_grad()` inside of a function has its say under the caller's `no_grad()`, too."""

from __future__ import annotations

import warnings

import pytest

import dy2st
from dy2st import nn
from dy2st.errors import ConversionError
from dy2st.jit import to_static
from dy2st.static import InputSpec

X = dy2st.to_tensor([1.0, 2.0])


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 1)

    def forward(self, x):
        with dy2st.enable_grad():
            y = self.inner(x)
        return y, y * 2


class Guided(Model):
    def forward(self, x):
        with dy2st.enable_grad():
            y = self.inner(x)
            return x - dy2st.grad(y.sum(), self.inner.weight)[0].sum()


def flags(function):
    return [one.stop_gradient for one in function(X)]


def where_it_is_asked(x):
    def scaled(x):
        return x * 2 if dy2st.is_grad_enabled() else x * 3

    found = scaled(x) + dy2st.no_grad()(scaled)(x)
    return scaled(x) if found.sum() > 0 else found


def test_the_mode_is_that_of_each_call():
    static = to_static(where_it_is_asked)
    for is_on in (True, False, True):
        with dy2st.set_grad_enabled(is_on):
            for x in (X, -X):
                assert static(x).tolist() == where_it_is_asked(x).tolist()
    assert len(static.program_cache) == 2


def test_a_file_has_no_mode(tmp_path):
    static = to_static(where_it_is_asked, input_spec=[InputSpec([2])])
    with pytest.raises(ConversionError, match=r"asks for .* is_grad_enabled\(\)"):
        dy2st.jit.save(static, str(tmp_path / "f"))


@pytest.mark.filterwarnings("ignore:a converted function that calls enable_grad")
@pytest.mark.parametrize("first", [True, False])
def test_flags_are_those_of_python(first):
    model = Model()
    with dy2st.no_grad():
        wanted = flags(model)
    static = to_static(Model())
    for is_on in (first, not first, first):
        with dy2st.set_grad_enabled(is_on):
            assert flags(static) == ([False, False] if is_on else wanted)
    assert wanted == [False, True]


def test_a_warning_says_so():
    static = to_static(Model())
    with dy2st.no_grad(), pytest.warns(UserWarning, match="runs as Python under no_grad"):
        static(X)


def test_nothing_is_said_of_modes_that_the_function_sets_itself():
    def f(x):
        with dy2st.no_grad():
            return x * 2

    with warnings.catch_warnings(), dy2st.no_grad():
        warnings.simplefilter("error")
        assert to_static(f)(X).tolist() == [2.0, 4.0]


@pytest.mark.filterwarnings("ignore:a converted function that calls enable_grad")
def test_gradients_of_guidance_are_those_of_python():
    model = Guided()
    static = to_static(Guided())
    static.set_state_dict(model.state_dict())
    with dy2st.no_grad():
        assert static(X).tolist() == model(X).tolist()
