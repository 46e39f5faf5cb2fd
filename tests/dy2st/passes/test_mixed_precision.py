"""ToMixedPrecision: where the short type begins and ends, and what must not be computed in it."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import FreezeParameters, Sequential, ToMixedPrecision
from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ops.control_flow import cond, while_loop
from tests.dy2st.passes.scales import w

IMAGE = ("n", 4, 6, 6)
SHORT = {"float16": 2e-2, "bfloat16": 2e-1}


@pytest.fixture(params=SHORT)
def short(request):
    """The name of a short type, which must be there."""
    if request.param == "bfloat16":
        pytest.importorskip("ml_dtypes")
    return request.param


def conv(x, out=6, seed=0):
    return F.conv2d(x, w(out, x.shape[1], 3, 3, seed=seed), padding=1)


def steps(program):
    """Operators with the dtype of their first result: `conv:float16`."""
    return [
        f"{o.name}:{o.results[0].tensor_type.dtype}"
        for o in program.block.walk()
        if o.name != "constant" and o.results
    ]


def mixed(t, build, *types, short="float16", rtol=2e-2):
    """What the pass makes: checked, and the dtypes of inputs and outputs as they were."""
    program = t.program_of(build, *types or [t.floats(*IMAGE)])
    after = t.check(ToMixedPrecision(short), program, rtol=rtol)
    for old, new in zip(program.outputs, after.outputs, strict=True):
        assert old.tensor_type == new.tensor_type
    assert str(t.check.again) == str(after)
    return after


def test_the_text_is_that_of_the_description(t, short):
    after = mixed(t, lambda x: F.softmax(F.relu(conv(x)), 1), short=short, rtol=SHORT[short])
    expected = ["cast", "conv", "relu", "cast"]
    assert [step.split(":")[0] for step in steps(after)][:4] == expected
    assert [step.split(":")[1] for step in steps(after)][:4] == [short] * 3 + ["float32"]
    assert not {s for s in steps(after)[4:] if short in s}


ALWAYS = {
    "conv": lambda x: conv(x),
    "conv_transpose": lambda x: F.conv2d_transpose(x, w(4, 6, 3, 3)),
    "conv with bias": lambda x: apply(
        "conv", x, w(6, 4, 3, 3), w(6), strides=(1, 1), pads=((0, 0),) * 2, dilations=(1, 1)
    ),
    "depthwise": lambda x: F.conv2d(x, w(4, 1, 3, 3), groups=4),
    "matmul": lambda x: F.matmul(x, w(6, 5)),
    "matmul of two values": lambda x: F.matmul(x, F.exp(x)),
}


@pytest.mark.parametrize("build", ALWAYS.values(), ids=ALWAYS)
def test_products_are_computed_in_the_short_type(t, build, short):
    after = mixed(t, build, short=short, rtol=SHORT[short])
    (product,) = [
        s for s in steps(after) if s.split(":")[0] in ("conv", "conv_transpose", "matmul")
    ]
    assert product.endswith(short) and steps(after)[-1] == "cast:float32"


def test_weights_are_short_constants(t):
    after = mixed(t, conv)
    (weights,) = [o.attributes["value"] for o in after.operators if o.name == "constant"]
    np.testing.assert_array_equal(weights, w(6, 4, 3, 3).astype(np.float16))


FOLLOWS = {
    "relu": F.relu,
    "neg": F.neg,
    "abs": F.abs,
    "add": lambda y: y + w(6, 1, 1),
    "subtract": lambda y: w(6, 1, 1) - y,
    "multiply": lambda y: y * 0.5,
    "maximum": lambda y: F.maximum(y, 0.25),
    "minimum": lambda y: F.minimum(y, 0.25),
    "where": lambda y: F.where(F.full([], True, "bool"), y, 1.0),
    "infinite": lambda y: F.where(F.full([], True, "bool"), y, float("-inf")),
    "max_pool": lambda y: F.max_pool2d(y, 2),
    "pad": lambda y: F.pad(y, [1, 1, 1, 1], value=0.5),
    "reshape": lambda y: F.reshape(y, [-1, 36]),
    "transpose": lambda y: F.transpose(y, [0, 2, 3, 1]),
    "concat": lambda y: F.concat([y, y], axis=1),
    "split": lambda y: F.split(y, 2, axis=1)[1],
    "slice": lambda y: y[:, 1:3],
    "broadcast_to": lambda y: F.broadcast_to(F.unsqueeze(y, [0]), [2, *y.shape]),
    "stack": lambda y: F.stack([y, y]),
    "flip": lambda y: F.flip(y, [1]),
}


@pytest.mark.parametrize("function", FOLLOWS.values(), ids=FOLLOWS)
def test_cheap_operators_follow_a_product(t, function, short):
    after = mixed(t, lambda x: function(conv(x)), short=short, rtol=SHORT[short])
    assert [s for s in steps(after) if s.endswith("float32")] == ["cast:float32"]
    assert steps(after)[-1] == "cast:float32"


def test_products_of_products_need_no_cast_between(t, short):
    def build(x):
        y = F.relu(conv(x))
        return F.matmul(F.matmul(y, F.transpose(y, [0, 1, 3, 2])), w(6, 2))

    after = mixed(t, build, short=short, rtol=SHORT[short] * 2)
    assert [s for s in steps(after) if s.startswith("cast")] == [f"cast:{short}", "cast:float32"]


NEVER = {
    "softmax": lambda y: F.softmax(y, 1),
    "exp": F.exp,
    "mean": lambda y: F.mean(y, axis=1),
    "sum": F.sum,
    "sigmoid": F.sigmoid,
    "sqrt of the square": lambda y: F.sqrt(F.square(y) + 1.0),
    "batch_norm": lambda y: apply("batch_norm", y, w(6), np.abs(w(6)), axis=1, epsilon=1e-5),
    "layer_norm": lambda y: F.layer_norm(y, 6),
    "avg_pool": lambda y: F.avg_pool2d(y, 2),
    "divide": lambda y: y / 3.0,
    "argmax": lambda y: F.argmax(F.exp(y) * 0.0, 1),
}


@pytest.mark.parametrize("function", NEVER.values(), ids=NEVER)
def test_all_others_are_computed_in_float32(t, function):
    after = mixed(t, lambda x: function(conv(x)))
    assert [s for s in steps(after) if s.endswith("float16")] == ["cast:float16", "conv:float16"]


def test_cheap_operators_of_float32_values_stay(t):
    """Also where the short form of a value exists for a product: a residual keeps its digits."""

    def build(x):
        y = conv(x, 4)
        return F.relu(x), x + y, F.concat([x, y], 1)

    after = mixed(t, build)
    assert {"relu:float32", "add:float32", "concat:float32"} <= set(steps(after))


def test_what_is_made_of_constants_alone_stays_exact(t):
    def build(x):
        return conv(x), x * F.relu(apply("constant", value=w(6)))

    assert "relu:float32" in steps(mixed(t, build))


def test_nothing_to_shorten_is_nothing_changed(t):
    program = t.program_of(lambda x: F.softmax(F.relu(x) + 1.0, 1), t.floats(*IMAGE))
    assert str(ToMixedPrecision()(program)) == str(program)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32"])
def test_other_dtypes_stay(t, dtype):
    program = t.program_of(
        lambda x: F.matmul(x, np.ones((6, 5), dtype)), t.floats("n", 6, dtype=dtype)
    )
    assert str(ToMixedPrecision()(program)) == str(program)


def test_a_value_for_two_products_is_cast_once(t):
    after = mixed(t, lambda x: [F.exp(conv(x)), F.exp(conv(x, seed=1))])
    assert steps(after).count("cast:float16") == 1


def test_a_value_that_is_read_long_twice_is_cast_once(t):
    def build(x):
        y = conv(x)
        return [F.exp(y), F.tanh(y), y, F.relu(y)]

    assert steps(mixed(t, build)).count("cast:float32") == 2


@pytest.mark.parametrize(
    "function",
    [
        lambda y: y + np.float32(-1e9),
        lambda y: F.where(y > 0, y, 1e30),
        lambda y: F.maximum(y, -1e6),
        lambda y: F.relu(y) * 1e-9,
        lambda y: F.abs(y) + 1e-12,
        lambda y: F.pad(y, [1, 1, 1, 1], value=-1e9),
    ],
    ids=["mask", "where", "maximum", "factor", "epsilon", "pad"],
)
def test_constants_that_the_short_type_cannot_hold_keep_an_operator_long(t, function):
    """-1e9 would become -inf, and an epsilon 0."""
    after = mixed(t, lambda x: function(conv(x)))
    assert steps(after)[-1].endswith("float32") and not steps(after)[-1].startswith("cast")


def test_weights_beyond_the_short_type_keep_a_product_long(t):
    weights = w(6, 5)
    weights[0, 0] = 1e5
    after = mixed(t, lambda x: F.matmul(x, weights))
    assert steps(after) == ["matmul:float32"]


def test_weights_near_zero_may_vanish(t):
    weights = w(6, 5)
    weights[0, 0] = 1e-12
    assert "matmul:float16" in steps(mixed(t, lambda x: F.matmul(x, weights)))


def test_branches_and_loops_take_and_give_float32(t, short):
    def build(x):
        def body(i, y):
            return [i + 1, F.tanh(F.relu(conv(y, 4)))]

        y = while_loop(lambda i, y: i < 2, body, [F.full([], 0, "int64"), conv(x, 4)])[1]
        return cond(F.sum(x) > 0, lambda: [F.relu(conv(y))], lambda: [F.exp(conv(y))])

    after = mixed(t, build, short=short, rtol=SHORT[short] * 2)
    assert steps(after).count(f"conv:{short}") == 4
    assert {v.tensor_type.dtype.name for o in after.block.walk() if o.blocks for v in o.operands} <= {
        "int64", "bool", "float32",
    }  # fmt: skip


def test_the_state_keeps_its_type_and_constants_are_shortened(t):
    program = t.program_of(lambda x, p: F.matmul(x, p), t.floats("n", 6), t.floats(6, 5))
    program.parameters["p"] = program.inputs.pop()
    program.trainable["p"] = True
    state = {"p": w(6, 5)}
    after = t.check(ToMixedPrecision(), verify(program), state, rtol=2e-2)
    assert after.parameters["p"].tensor_type.dtype == np.float32
    assert steps(after).count("cast:float16") == 2
    frozen = Sequential([FreezeParameters(), ToMixedPrecision()])
    assert steps(t.check(frozen, program, state, rtol=2e-2)).count("cast:float16") == 1


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "half"])
def test_another_type_is_refused(dtype):
    with pytest.raises(DTypeError, match=f"not {dtype}"):
        ToMixedPrecision(dtype)


def test_a_numpy_dtype_is_a_name_too():
    assert ToMixedPrecision(np.dtype("float16")).dtype == np.float16


def test_it_is_of_level_four(t):
    program = t.program_of(conv, t.floats(*IMAGE))
    chain = Sequential([ToMixedPrecision()])
    assert str(t.check(chain, program, opt_level=3)) == str(program)
    assert "conv:float16" in steps(t.check(chain, program, opt_level=4, rtol=2e-2))


@pytest.mark.parametrize("dtype", ["float16", np.float16, np.dtype("float16")])
def test_a_short_type_is_given_as_a_name_a_type_or_a_dtype(dtype):
    assert ToMixedPrecision(dtype).dtype == np.float16
