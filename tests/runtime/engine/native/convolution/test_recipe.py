"""A region as primitives: what is one with the convolution in front of it."""

from __future__ import annotations

from dy2st_runtime import ops
from dy2st_runtime.engine.native.convolution.recipe import nodes_of
from tests.recorded import program_of as traced

X, W, C = ("float32", (2, 4, 8, 8)), ("float32", (4, 4, 3, 3)), ("float32", (4,))


def nodes(function, *types):
    block = traced(function, *types).block
    operators = [one for one in block.operators if one.name != "constant"]
    return nodes_of(operators, block.yields)


def _regional(function, *types):
    """The operators, without views of vectors: they run before the region."""
    operators = traced(function, *types).block.operators
    return [one for one in operators if one.name not in ("constant", "reshape")]


def words(found):
    return [" ".join([node.kind, *(post_op.name for post_op in node.post_ops)]) for node in found]


def conv(x, w):
    return ops.conv2d(x, w, padding=1)


def test_normalisation_and_activation_are_part_of_a_convolution():
    (node,) = nodes(lambda x, w, *s: ops.relu(ops.batch_norm(conv(x, w), *s)), X, W, *[C] * 4)
    assert (node.kind, len(node.scalings), words([node])) == ("conv", 1, ["conv relu"])


def test_a_bias_before_a_normalisation_is_part_of_the_weights():
    def run(x, w, b, *s):
        return ops.relu(ops.batch_norm(ops.conv2d(x, w, b, padding=1), *s))

    (node,) = nodes_of(_regional(run, X, W, *[C] * 5), ())
    assert (len(node.scalings), words([node])) == (2, ["conv relu"])


def test_a_vector_of_a_region_is_no_bias():
    def run(x, w):
        y = conv(x, w)
        return y + ops.mean(y, axis=[2, 3], keepdim=True)

    assert words(nodes(run, X, W)) == ["conv", "mean", "pair add"]


def test_a_sum_is_part_of_the_later_convolution():
    found = nodes(lambda x, w: ops.relu(conv(x, w) + conv(x, w)), X, W)
    assert words(found) == ["conv", "conv add relu"]


def test_what_two_read_is_made_alone():
    def run(x, w):
        y = conv(x, w)
        return ops.relu(y) + conv(y, w)

    assert words(nodes(run, X, W)) == ["conv", "each relu", "conv add"]


def test_what_leaves_is_made_alone():
    def run(x, w):
        y = conv(x, w)
        return y, ops.relu(y)

    assert words(nodes(run, X, W)) == ["conv", "each relu"]


def test_a_hard_swish_is_one_thing():
    assert words(nodes(lambda x, w: ops.hardswish(conv(x, w)), X, W)) == ["conv hardswish"]


def test_so_is_one_that_divides_at_the_end():
    def run(x, w):
        y = conv(x, w)
        return y * ops.relu6(y + 3.0) / 6.0

    assert words(nodes(run, X, W)) == ["conv hardswish linear linear"]


def test_a_product_of_another_shape_is_not_one():
    def run(x, w):
        y = conv(x, w)
        return y * ops.relu6(y + 2.0)

    assert words(nodes(run, X, W)) == ["conv", "each linear clip multiply"]


def test_a_normalisation_of_what_was_activated_is_a_step():
    found = nodes(lambda x, w, *s: ops.batch_norm(ops.relu(conv(x, w)), *s), X, W, *[C] * 4)
    assert words(found) == ["conv relu", "scale"]


def test_rows_and_columns_are_picked_at_once():
    def run(x, w):
        y = ops.interpolate(conv(x, w), scale_factor=2)
        return conv(y, w), conv(ops.interpolate(y, scale_factor=3), w) * 2.0

    block = traced(run, X, W).block
    chosen = [one for one in block.operators if one.name in ("conv", "index", "multiply")]
    operators = [one for one in chosen if one.operands[0].dtype == "float32"]
    operators = [one for one in operators if len(one.results[0].tensor_type.shape) == 4]
    found = nodes_of(operators, block.yields)
    assert words(found) == ["conv", "pick", "conv", "pick", "conv linear"]
    assert [[axis for axis, _ in node.picks] for node in found if node.picks] == [[2, 3]] * 2
