"""FoldConstant: the bits that the Program would have had, and nothing that must wait for the run."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import FoldConstant, PassContext, Sequential, explain
from dy2st.passes.fold_constant import LARGEST_CREATED
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ops.control_flow import cond, while_loop
from tests.dy2st.passes.scales import w


def known(values, dtype="float32"):
    """A constant of the Program."""
    return apply("constant", value=np.asarray(values, dtype))


def softmax_of_two(x):
    return F.softmax(known(w(2, 3)), -1) + F.layer_norm(known(w(2, 3)), 3)


FOLDS = {
    "a chain": lambda x: F.exp(F.transpose(known(w(2, 3)), [1, 0])) * 2.0,
    "two constants": lambda x: known(w(3)) + known(w(3, seed=1)),
    "concat": lambda x: F.concat([known(w(2, 3)), known(w(1, 3))], axis=0),
    "several results": lambda x: F.split(known(w(6)), 3),
    "places and values": lambda x: F.topk(known(w(6)), 2),
    "decomposed": softmax_of_two,
    "a size": lambda x: apply("shape", known(w(4, 5))),
    "a number's shape": lambda x: apply("shape", known(3.0)),
    "integers": lambda x: known([7, 5], "int32") // known([2, -2], "int32"),
    "comparison": lambda x: F.where(known([1, 2]) > 1.5, known([1, 2]), known([3, 4])),
    "gather": lambda x: F.gather(known(w(4, 2)), known([2, 0], "int64")),
    "one_hot": lambda x: F.one_hot(known([2, 0], "int64"), 3),
    "cast": lambda x: F.cast(known([1.5, -2.5]), "int32"),
    "conv": lambda x: F.conv2d(known(w(1, 2, 4, 4)), known(w(3, 2, 3, 3))),
    "created": lambda x: F.zeros([3, 4]) + F.arange(4),
    "complex": lambda x: F.mean(known(w(3, 4)), axis=0) / F.max(known(w(3, 4))),
}


@pytest.mark.parametrize("build", FOLDS.values(), ids=FOLDS)
def test_what_is_made_of_constants_is_computed(t, build):
    """With the very bits that the run would have given."""
    program = t.program_of(build, t.floats("n", 3))
    after = t.check(FoldConstant(), program, rtol=0)
    assert t.names(after) == [] and str(t.check.again) == str(after)


def test_the_rest_stays_as_it_is(t):
    def build(x):
        total = (known(w(3)) + known(w(3, seed=1))) * 2.0
        return [x + total, x * F.exp(total), total]

    program = t.program_of(build, t.floats("n", 3))
    after = t.check(FoldConstant(), program, rtol=0)
    assert t.names(after) == ["add", "multiply"]
    assert t.names(after, constants=True).count("constant") == 2


def test_the_text_is_that_of_the_description(t):
    after = FoldConstant()(t.program_of(lambda x: x * (known(2.0) * known(3.0)), t.floats(2)))
    lines = [line.split(" loc(")[0].strip() for line in str(after).splitlines()]
    assert lines[6:8] == [
        '%0 = "dy2st.constant"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>',
        '%1 = "dy2st.multiply"(%x0, %0) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>',
    ]


def test_only_what_has_sizes_that_are_known_is_folded(t):
    def build(x):
        wide = F.broadcast_to(known(w(1, 3)), x.shape)
        return [wide + 1.0, F.full([2], x.shape[0], "int64") * 2, F.exp(known(w(3))) + x]

    after = t.check(FoldConstant(), t.program_of(build, t.floats("n", 3)), rtol=0)
    assert t.names(after) == ["broadcast_to", "add", "full", "multiply", "add"]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int64"])
def test_every_step_is_rounded_in_its_own_dtype(t, dtype):
    def build(x):
        value = known([100, 3, 7], dtype)
        return (value * known(2, dtype) + known(1, dtype)) * value

    after = t.check(FoldConstant(), t.program_of(build, t.floats(2)), rtol=0)
    assert t.names(after) == [] and after.outputs[0].tensor_type.dtype == dtype


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: known(100, "int8") * known(2, "int8"), "-56"),
        (lambda: known(-0.0) + known(0.0), "0.0"),
        (lambda: known(-0.0) * known(1.0), "-0.0"),
        (lambda: (known(1e8) + known(-1e8)) + known(1.0), "1.0"),
        (lambda: known(1e8) + (known(-1e8) + known(1.0)), "0.0"),
        (lambda: known(1.0) / known(0.0), "inf"),
        (lambda: known(0.0) / known(0.0), "nan"),
        (lambda: F.sqrt(known(-1.0)), "nan"),
        (lambda: known(6e4, "float16") * known(2, "float16"), "inf"),
        (lambda: F.log(known(0.0)), "-inf"),
    ],
)
def test_hand_vectors(t, build, expected):
    after = FoldConstant()(t.program_of(lambda x: build(), t.floats(2)))
    assert t.names(after) == []
    assert str(t.run(after, [w(2)])[0]) == expected


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: apply("shape", known(3.0)), []),
        (lambda: F.prod(apply("shape", known(3.0))), 1),
        (lambda: F.prod(known([1 << 20, 1 << 20], "int64")), 1 << 40),
    ],
)
def test_sizes_of_numbers_and_of_large_tensors(t, build, expected):
    """The shape of a number is empty, its size 1, and products of sizes are int64."""
    after = FoldConstant()(t.program_of(lambda x: build(), t.floats(2)))
    (found,) = t.run(after, [w(2)])
    assert t.names(after) == [] and found.dtype == np.int64 and found.tolist() == expected


# -- what must not be folded ------------------------------------------------------------------------

STAYS = {
    "random": lambda x: F.bernoulli(known([0.5, 0.5])),
    "dropout": lambda x: x * F.dropout(known(np.ones(3)), 0.5),
    "normal": lambda x: F.randn([3]),
    "an input": lambda x: F.exp(x),
    "division by zero": lambda x: known([1, 2], "int64") // known([1, 0], "int64"),
    "remainder of zero": lambda x: known(1, "int64") % known(0, "int64"),
    "an index too large": lambda x: F.gather(known(w(3)), known([1, 5], "int64")),
}


@pytest.mark.parametrize("build", STAYS.values(), ids=STAYS)
def test_what_the_run_has_to_do_stays(t, build):
    program = t.program_of(build, t.floats("n", 3))
    after = FoldConstant()(program)
    kept = [name for name in t.names(program) if name not in ("full", "divide")]
    assert [name for name in t.names(after) if name not in ("full", "divide")] == kept


def test_a_parameter_is_no_constant(t):
    program = t.program_of(lambda x, p: x + F.exp(p), t.floats(3), t.floats(3))
    program.parameters["p"] = program.inputs.pop()
    program.trainable["p"] = True
    after = t.check(FoldConstant(), program, {"p": w(3)}, rtol=0)
    assert str(after) == str(program)


def test_printing_stays(t):
    def build(x):
        apply("print", known([1.0]) + 1.0, pieces=("y: ", 0, "\n"))
        return x

    assert t.names(FoldConstant()(t.program_of(build, t.floats(2)))) == ["print"]


@pytest.mark.parametrize("count", [LARGEST_CREATED, LARGEST_CREATED + 1])
def test_large_created_tensors_stay_operators(t, count):
    after = FoldConstant()(t.program_of(lambda x: F.zeros([count]), t.floats(2)))
    assert (t.names(after) == []) == (count == 1024)


@pytest.mark.parametrize("count", [1 << 20, (1 << 20) + 1])
def test_what_grows_beyond_a_million_elements_stays(t, count):
    program = t.program_of(lambda x: F.broadcast_to(known(1.0), [count]), t.floats(2))
    assert (t.names(FoldConstant()(program)) == []) == (count == 1_048_576)


@pytest.mark.parametrize(
    ("most", "count", "is_folded"),
    [(8, 8, True), (7, 8, False), (7, 4, True), (1, 4, True), (1, 5, False)],
)
def test_the_bound_is_an_option_and_four_times_the_operands_at_least(t, most, count, is_folded):
    program = t.program_of(lambda x: F.broadcast_to(known([1.0]), [count]), t.floats(2))
    after = t.check(FoldConstant(), program, config={"fold_constant.most_elements": most})
    assert (t.names(after) == []) == is_folded


def test_it_says_why_an_operator_stays(t):
    program = t.program_of(
        lambda x: F.broadcast_to(known(1.0), [3, 4]) + known(2, "int64") // known(0, "int64"),
        t.floats(2),
    )
    with PassContext(config={"fold_constant.most_elements": 10}):
        reasons = [entry.reason for entry in explain(FoldConstant(), program)]
    assert reasons == [
        "its result has 12 elements, more than 10",
        "it fails for these constants, when the Program runs",
    ]


# -- Blocks, names, sharing -------------------------------------------------------------------------


def test_constants_fold_inside_branches_and_loops(t):
    def build(x):
        outer = known(w(3))

        def body(i, y):
            return [i + 1, y + F.exp(outer * 2.0)]

        y = while_loop(lambda i, y: i < known(1, "int64") + 1, body, [F.full([], 0, "int64"), x])
        return cond(F.sum(x) > 0, lambda: [y[1] * F.neg(outer)], lambda: [y[1] + F.tanh(outer)])

    after = t.check(FoldConstant(), t.program_of(build, t.floats("n", 3)), rtol=0)
    assert not {"exp", "neg", "tanh"} & set(t.names(after))
    assert str(t.check.again) == str(after)


def test_a_loop_variable_that_begins_as_a_constant_is_none(t):
    def build(x):
        first = [known(0, "int64"), known(1.0)]
        return while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, F.exp(y) * 0.5], first)

    program = t.program_of(build, t.floats(2))
    after = t.check(FoldConstant(), program, rtol=0)
    assert sorted(t.names(after)) == sorted(t.names(program))


def test_operators_that_hold_blocks_stay(t):
    def build(x):
        return cond(known(1.0) > 0, lambda: [known(2.0)], lambda: [known(3.0)])

    after = t.check(FoldConstant(), t.program_of(build, t.floats(2)), rtol=0)
    assert t.names(after) == ["cond"]


def test_a_folded_value_keeps_its_place_in_the_source(t):
    program = t.program_of(lambda x: x + F.exp(known(w(3))), t.floats(3))
    (old,) = [o.location for o in program.operators if o.name == "exp"]
    (new,) = [o.location for o in FoldConstant()(program).operators if o.name == "constant"]
    assert old is not None and new == old


def test_a_result_may_be_an_output_twice(t):
    program = t.program_of(lambda x: [F.exp(known(1.0))] * 2, t.floats(2))
    after = t.check(FoldConstant(), program, rtol=0)
    assert t.names(after, constants=True) == ["constant"]


def test_one_value_for_many_readers_stays_one_value(t):
    def build(x):
        shared = F.exp(known(w(3)))
        return [x + shared, x * shared, x - shared]

    after = t.check(FoldConstant(), t.program_of(build, t.floats("n", 3)), rtol=0)
    assert t.names(after, constants=True).count("constant") == 1


def test_a_result_whose_size_is_a_symbol_stays(t):
    """The size of nonzero follows from the data; others may have been recorded with its symbol."""
    program = t.program_of(lambda x: F.nonzero(known([1.0, 0.0, 2.0])), t.floats(2))
    assert str(t.check(FoldConstant(), program, rtol=0)) == str(program)


def test_the_constants_of_the_given_program_are_not_touched(t):
    array = w(3)
    program = t.program_of(lambda x: x + F.relu(apply("constant", value=array)), t.floats(3))
    before = array.copy()
    FoldConstant()(program)
    np.testing.assert_array_equal(array, before)


def test_a_chain_of_thousands_of_constants_is_folded(t):
    def build(x):
        value = known(1.0)
        for _ in range(3_000):
            value = F.neg(value)
        return x + value

    program = t.program_of(build, t.floats(2))
    after = FoldConstant()(program)
    assert t.names(after) == ["add"] and t.names(after, constants=True)[0] == "constant"


def test_it_is_of_level_two(t):
    program = t.program_of(FOLDS["a chain"], t.floats(2))
    chain = Sequential([FoldConstant()])
    assert str(t.check(chain, program, opt_level=1)) == str(program)
    assert t.names(t.check(chain, program, opt_level=2)) == []
