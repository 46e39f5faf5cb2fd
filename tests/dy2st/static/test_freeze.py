"""freeze makes a Program for one size."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st.errors import ShapeError, SpecError
from dy2st.static import Dim, InputSpec, freeze
from dy2st_runtime import engine
from dy2st_runtime.ir.checks.verifier import verify


class Encoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(9, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)

    def forward(self, ids):
        return self.layer(self.tokens(ids)).mean(axis=1)


def encoder():
    dy2st.seed(0)
    layer = Encoder()
    layer.eval()
    sizes = [Dim("batch", min=1, max=64), Dim("length", multiple=2)]
    return layer, to_static(type(layer).forward.__get__(layer), [InputSpec(sizes, "int64")])


def test_a_frozen_program_has_no_symbols_and_the_same_results():
    layer, static = encoder()
    program = static.main_program
    ids = np.random.default_rng(0).integers(0, 9, (3, 6))
    state = [tensor.array for tensor in static.concrete_program.state.values()]
    frozen = verify(freeze(program, batch=3, length=6))
    assert "#dy2st.dim" not in str(frozen) and "symbols" not in str(frozen)
    (found,) = engine.compile(frozen).run([ids], state)
    np.testing.assert_allclose(found, layer(dy2st.to_tensor(ids)).numpy(), rtol=1e-5, atol=1e-6)


def test_sizes_that_are_not_named_stay_unknown():
    _, static = encoder()
    frozen = verify(freeze(static.main_program, batch=3))
    assert [str(size) for size in frozen.inputs[0].shape] == ["3", "length"]
    assert [str(c.constraint.condition) for c in frozen.constraints] == ["length % 2 == 0"]


@pytest.mark.parametrize(
    ("sizes", "error", "message"),
    [
        ({"bach": 3}, SpecError, "no size 'bach': do you mean 'batch'?"),
        ({"zzz": 3}, SpecError, "no size 'zzz': it has batch, length"),
        ({"batch": 65}, SpecError, "the size batch is from 1 to 64, not 65"),
        ({"batch": 0}, SpecError, "the size batch is from 1 to 64, not 0"),
        ({"batch": 2.5}, SpecError, "the size batch is an int, not 2.5"),
        ({"length": 5}, ShapeError, "these sizes break length % 2 == 0: declared in InputSpec"),
    ],
)
def test_sizes_that_do_not_fit_are_one_clear_error(sizes, error, message):
    _, static = encoder()
    with pytest.raises(error) as caught:
        freeze(static.main_program, **sizes)
    assert message in str(caught.value)


def test_a_converted_function_is_refused_with_what_to_give():
    function = to_static(lambda x: x * 2.0, [InputSpec(["batch", 4])])
    with pytest.raises(TypeError, match="freeze takes a Program, not .*: give its main_program"):
        freeze(function, batch=2)
