"""Questions that compilers are asked about unknown sizes, one test each.

Each traces a function once, says what the symbolic shape must be, and runs the Program on several
sizes against NumPy-sized execution of the same function.
"""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import to_static
from dy2st.static import InputSpec
from dy2st_runtime.errors import Dy2stError, ShapeError
from dy2st_runtime.ir.checks.verifier import verify

F = dy2st.nn.functional


def spec(*shape, dtype="float32"):
    return InputSpec(list(shape), dtype)


class Traced:
    """A function traced once; `shape` is its first result's, as text."""

    def __init__(self, function, *specs):
        self.function = function
        self.static = to_static(function, input_spec=list(specs))
        self.program = verify(self.static.main_program)
        self.specs = specs

    @property
    def shapes(self):
        return [[str(size) for size in v.tensor_type.shape] for v in self.program.outputs]

    @property
    def shape(self):
        return self.shapes[0]

    @property
    def needs(self):
        return [str(located.constraint.condition) for located in self.program.constraints]

    def runs(self, *shapes):
        """The Program gives what the function gives, on inputs of these shapes."""
        rng = np.random.default_rng(0)
        arrays = []
        for shape, given in zip(shapes, self.specs, strict=True):
            array = rng.standard_normal(shape)
            array = array if given.dtype == "float32" else rng.integers(0, 3, shape)
            arrays.append(dy2st.to_tensor(array.astype(given.dtype)))
        expected = self.function(*arrays)
        found = self.static(*arrays)
        for one, other in zip(_flat(expected), _flat(found), strict=True):
            np.testing.assert_allclose(other.numpy(), one.numpy(), rtol=1e-5, atol=1e-5)
        return found

    def refuses(self, *shapes):
        with pytest.raises(Dy2stError) as caught:
            self.static(*[dy2st.zeros(list(shape), "float32") for shape in shapes])
        return str(caught.value)


def _flat(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def test_01_reshaping_a_concat_needs_divisibility():
    traced = Traced(
        lambda x, y: dy2st.concat([x, y]).reshape([-1, 4]), spec("a", "b"), spec("c", "b")
    )
    assert traced.shape == ["(a*b + b*c)//4", "4"]
    assert traced.needs == ["(a*b + b*c) % 4 == 0"]
    traced.runs((2, 4), (3, 4))
    traced.runs((3, 2), (1, 2))
    traced.refuses((1, 3), (1, 3))


def test_02_merging_and_splitting_axes_needs_nothing():
    def model(x):
        b, t, d = x.shape
        return x.reshape([-1, 64]).reshape([b, t, 64]) + x

    traced = Traced(model, spec("b", "t", 64))
    assert traced.shape == ["b", "t", "64"] and traced.needs == []
    traced.runs((2, 3, 64))


def test_03_concat_adds_sizes():
    traced = Traced(lambda x, y: dy2st.concat([x, y]), spec("a", 2), spec("b", 2))
    assert traced.shape == ["a + b", "2"] and traced.needs == []
    traced.runs((0, 2), (3, 2))


def weights(*shape):
    return dy2st.to_tensor(np.random.default_rng(1).standard_normal(shape).astype("float32"))


W3, W2 = weights(1, 1, 3, 3), weights(1, 1, 2, 2)


def test_04_a_strided_convolution_halves():
    traced = Traced(lambda x: F.conv2d(x, W3, stride=2, padding=1), spec(1, 1, "h", 8))
    assert traced.shape[2] == "(h + 1)//2"
    traced.runs((1, 1, 7, 8))
    traced.runs((1, 1, 1, 8))


def down_and_up(x):
    return F.conv2d_transpose(F.conv2d(x, W2, stride=2), W2, stride=2) + x


def test_05_a_skip_connection_needs_an_even_size():
    traced = Traced(down_and_up, spec(1, 1, "h", 8))
    traced.runs((1, 1, 8, 8))
    traced.runs((1, 1, 2, 8))
    traced.refuses((1, 1, 7, 8))


def test_06_a_declared_multiple_needs_nothing():
    traced = Traced(
        down_and_up, spec(1, 1, 2 * dy2st.dims.symbol("H", 1), 2 * dy2st.dims.symbol("W", 1))
    )
    assert traced.shape[2:] == ["2*H", "2*W"] and traced.needs == []
    traced.runs((1, 1, 4, 6))


def test_07_a_size_of_one_broadcasts():
    traced = Traced(lambda x, y: x + y, spec("a", 3), spec(1, 3))
    assert traced.shape == ["a", "3"] and traced.needs == []
    traced.runs((5, 3), (1, 3))


def test_08_two_unknown_sizes_broadcast_when_it_runs():
    traced = Traced(lambda x, y: x + y, spec("a", 3), spec("b", 3))
    assert traced.shape == ["broadcast(a, b)", "3"]
    for a, b in ((4, 4), (1, 4), (4, 1), (0, 1)):
        traced.runs((a, 3), (b, 3))
    traced.refuses((2, 3), (4, 3))


def test_09_an_unknown_size_beside_five_is_one_or_five():
    traced = Traced(lambda x, y: x + y, spec("a", 3), spec(5, 3))
    assert traced.shape == ["5", "3"] and traced.needs == ["a in (1, 5)"]
    traced.runs((1, 3), (5, 3))
    traced.runs((5, 3), (5, 3))
    assert "1 or 5" in traced.refuses((4, 3), (5, 3))


def test_10_dropping_the_first_or_the_last():
    traced = Traced(lambda x: (x[:, 1:], x[:, :-1]), InputSpec([2, "b"], "float32"))
    for size in (0, 1, 2, 5):
        traced.runs((2, size))
    one = Traced(lambda x: x[:, 1:], spec(2, dy2st.dims.symbol("b", 1)))
    assert one.shape == ["2", "b - 1"]


SLICES = {
    "11": (lambda x: x[:, 2:5], "min(5, b) - min(2, b)"),
    "12": (lambda x: x[:, -3:-1], None),
    "14": (lambda x: x[:, ::2], "(b + 1)//2"),
    "reversed": (lambda x: x[:, ::-1], "b"),
    "reversed by two": (lambda x: x[:, ::-2], "(b + 1)//2"),
    "from the end": (lambda x: x[:, -2:], "min(2, b)"),
}


@pytest.mark.parametrize("name", SLICES)
def test_11_to_14_slices_stop_at_the_ends(name):
    function, text = SLICES[name]
    traced = Traced(function, spec(2, "b"))
    assert text is None or traced.shape == ["2", text]
    assert traced.needs == []
    for size in (0, 1, 2, 3, 4, 5, 9):
        traced.runs((2, size))


def test_13_a_slice_up_to_another_size():
    traced = Traced(lambda x, y: x[:, : y.shape[0]], spec(2, "b"), spec("n"))
    assert traced.shape == ["2", "min(b, n)"] and traced.needs == []
    traced.runs((2, 3), (5,))
    traced.runs((2, 5), (3,))


OF_ANOTHER = {
    "the last": lambda x, y: x[:, -y.shape[0] :],
    "all but the last": lambda x, y: x[:, : -y.shape[0]],
    "one": lambda x, y: x[:, -y.shape[0]] if x.shape[1] >= y.shape[0] else x[:, 0],
    "between": lambda x, y: x[:, -y.shape[0] : -1],
    "backwards": lambda x, y: x[:, -y.shape[0] :: -1],
    "half": lambda x, y: x[:, -(y.shape[0] - y.shape[0] // 2) :],
}


@pytest.mark.parametrize("name", OF_ANOTHER)
def test_a_slice_counts_as_many_from_the_end_as_another_size_says(name):
    traced = Traced(OF_ANOTHER[name], spec(2, "b"), spec("n"))
    for size, count in ((3, 1), (3, 2), (3, 3), (5, 7), (1, 1), (0, 2)):
        if name != "one" or size:
            traced.runs((2, size), (count,))
    with pytest.raises(ShapeError, match="is 0: it would count from the start"):
        traced.static(dy2st.ones([2, 3]), dy2st.ones([0]))


def test_what_is_set_from_the_end_on_is_as_long_as_another_size():
    def model(x, y):
        x = x.clone()
        x[:, -y.shape[0] :] = 5.0
        x[:, : -y.shape[0]] += 1.0
        return x

    traced = Traced(model, spec(2, "b"), spec("n"))
    for size, count in ((3, 1), (3, 3), (5, 7)):
        traced.runs((2, size), (count,))


def test_15_an_embedding_appends_its_width():
    table = weights(7, 4)
    traced = Traced(lambda i: F.embedding(i, table), spec("a", "b", dtype="int64"))
    assert traced.shape == ["a", "b", "4"]
    traced.runs((2, 3))


def test_16_nonzero_has_a_bounded_size():
    traced = Traced(lambda x: dy2st.nonzero(x > 0), spec("a", 3))
    rows, columns = traced.shape
    assert columns == "2" and f"{rows} <= 3*a" in traced.needs
    traced.runs((4, 3))
    traced.runs((0, 3))


def test_17_what_a_mask_leaves_is_checked_where_it_is_reshaped():
    traced = Traced(lambda x: x[x > 0].reshape([-1, 4]), spec("n"))
    assert any("% 4 == 0" in need for need in traced.needs)
    ones = dy2st.ones([8])
    assert traced.static(ones).shape == [2, 4]
    with pytest.raises(ShapeError):
        traced.static(dy2st.ones([6]))


def test_18_half_of_a_product_from_shape_tensors():
    def model(x):
        n, m = dy2st.shape(x)[0], dy2st.shape(x)[1]
        return x.reshape([n * m // 2, 2])

    traced = Traced(model, spec("n", "m"))
    assert traced.shape == ["(m*n)//2", "2"] and traced.needs == ["(m*n) % 2 == 0"]
    traced.runs((4, 3))
    traced.refuses((3, 3))


def test_19_the_same_through_numel():
    traced = Traced(lambda x: x.reshape([dy2st.numel(x) // 2, 2]), spec("n", "m"))
    assert traced.shape == ["(m*n)//2", "2"]
    traced.runs((4, 3))


def grow(x, y, n):
    for _ in range(n):
        x = dy2st.concat([x, y])
    return x


def test_20_a_carry_that_grows():
    traced = Traced(grow, spec("a", 2), spec("b", 2), spec(dtype="int64"))
    size = traced.shape[0]
    assert f"{size} >= a" in traced.needs
    for turns in (0, 1, 4):
        x, y = dy2st.ones([2, 2]), dy2st.ones([3, 2])
        assert traced.static(x, y, dy2st.to_tensor(turns)).shape == [2 + 3 * turns, 2]


def test_21_a_carry_that_stays():
    def model(x, n):
        for _ in range(n):
            x = x + 1.0
        return x

    assert Traced(model, spec("a", 2), spec(dtype="int64")).shape == ["a", "2"]


def test_22_branches_of_other_sizes():
    def model(flag, x, y):
        if flag:
            z = x
        else:
            z = y
        return z

    traced = Traced(model, spec(dtype="bool"), spec("a", 2), spec("b", 2))
    size = traced.shape[0]
    assert traced.needs == [f"{size} >= min(a, b)", f"{size} <= max(a, b)"]
    for flag in (True, False):
        found = traced.static(dy2st.to_tensor(flag), dy2st.ones([3, 2]), dy2st.ones([5, 2]))
        assert found.shape == [3 if flag else 5, 2]


def test_23_an_equality_found_later_simplifies_what_came_before():
    def model(x, y):
        first = dy2st.concat([x, y])
        return first, dy2st.concat([x, y], axis=1)

    traced = Traced(model, spec("a", 2), spec("c", 2))
    assert traced.shapes == [["2*a", "2"], ["a", "4"]]


def test_24_splitting_in_two_and_back():
    traced = Traced(lambda x: x.reshape([2, -1]).reshape([-1]) + x, spec("n"))
    assert traced.shape == ["n"] and traced.needs == ["n % 2 == 0"]
    traced.runs((6,))


def test_25_a_range_decides_a_minimum():
    traced = Traced(lambda x: x[:256], spec(dy2st.dims.symbol("n", 1, 128)))
    assert traced.shape == ["n"] and traced.needs == []


def test_26_padding_and_cropping_gives_the_size_back():
    traced = Traced(lambda x: F.pad(x, [2, 3])[2:-3] + x, spec("n"))
    assert traced.shape == ["n"]
    traced.runs((4,))
    traced.runs((0,))


def test_27_batches_of_a_product_broadcast():
    traced = Traced(lambda x, y: dy2st.matmul(x, y), spec("a", 2, 3), spec("c", 3, 2))
    assert traced.shape == ["broadcast(a, c)", "2", "2"]
    traced.runs((4, 2, 3), (1, 3, 2))


def test_28_einsum():
    traced = Traced(lambda x, y: dy2st.einsum("ij,jk", x, y), spec("i", "j"), spec("k", "l"))
    assert traced.shape == ["i", "l"] and traced.needs == ["j == k"]
    traced.runs((2, 3), (3, 4))


def test_29_three_chunks_add_up_to_the_whole():
    def model(x):
        step = (x.shape[0] + 2) // 3
        parts = [x[:step], x[step : 2 * step], x[2 * step :]]
        return (dy2st.concat(parts) + x, *parts)

    traced = Traced(model, spec("n"))
    assert traced.shape == ["n"]
    for size in (0, 1, 2, 3, 4, 5, 7, 9):
        traced.runs((size,))


def test_30_pooling_upwards_and_doubling():
    def model(x):
        return F.max_pool2d(x, 2, ceil_mode=True), F.interpolate(x, scale_factor=2)

    traced = Traced(model, spec(1, 1, dy2st.dims.symbol("h", 1), 8))
    assert traced.shapes[0][2] == "(h + 1)//2" and traced.shapes[1][2] == "2*h"
    traced.runs((1, 1, 5, 8))


def test_31_a_number_of_the_data_makes_a_range():
    traced = Traced(lambda n: dy2st.arange(n), spec(dtype="int64"))
    assert traced.static(dy2st.to_tensor(5)).numpy().tolist() == [0, 1, 2, 3, 4]
    assert traced.static(dy2st.to_tensor(0)).shape == [0]


def test_32_two_unknown_results_broadcast_when_it_runs():
    def model(x, y):
        return x[x > 0] + y[y > 0]

    traced = Traced(model, spec("n"), spec("m"))
    assert traced.shape[0].startswith("broadcast(")
    x, y = dy2st.ones([3]), dy2st.to_tensor(np.array([1, -1, 2, 3], "float32"))
    assert traced.static(x, y).numpy().tolist() == [2, 3, 4]
    with pytest.raises(ShapeError):
        traced.static(dy2st.ones([2]), y)


def test_33_zero_and_one_are_sizes_like_others():
    def model(x):
        return dy2st.concat([x, x]).sum(axis=1), x * 2.0

    traced = Traced(model, spec("n", "m"))
    assert traced.needs == []
    for n in (0, 1, 2):
        for m in (0, 1, 3):
            traced.runs((n, m))


def test_the_larger_and_the_smaller_of_two_sizes():
    def model(x, y):
        n, m = x.shape[0], y.shape[0]
        return dy2st.zeros([max(n, m)]), x[: min(n, m)] + y[: min(n, m)], dy2st.zeros([abs(n - m)])

    traced = Traced(model, spec("n"), spec("m"))
    assert traced.shapes[:2] == [["max(m, n)"], ["min(m, n)"]] and traced.needs == []
    traced.runs((4,), (6,))
    traced.runs((6,), (4,))


def test_adaptive_pools_take_any_size():
    traced = Traced(lambda x: F.adaptive_avg_pool2d(x, [3, None]), spec(1, 2, "h", "w"))
    assert traced.shape == ["1", "2", "3", "w"]
    for h in (1, 2, 3, 5, 8):
        traced.runs((1, 2, h, 4))


def test_a_fractional_factor_rounds_down():
    traced = Traced(lambda x: F.interpolate(x, scale_factor=1.5), spec(1, 1, "h", 4))
    for h in (1, 2, 3, 5):
        traced.runs((1, 1, h, 4))
    with pytest.raises(Dy2stError, match="fraction by a power of two"):
        Traced(lambda x: F.interpolate(x, scale_factor=0.7), spec(1, 1, "h", 4))


def test_a_size_in_a_computation_is_a_number():
    def model(x):
        n = x.shape[0]
        return x / (n / 2), x * n**0.5, x + 0.5 * n, x - n, x * (7 // (n + 1)), x * (1.0 / (n + 1))

    traced = Traced(model, spec("n", 2))
    for n in (1, 2, 5):
        traced.runs((n, 2))


def test_a_size_compared_with_a_float_is_what_python_says():
    def model(x):
        n = x.shape[0]
        if n == 4.0:
            y = x + 1.0
        elif n < 2.5:
            y = x + 2.0
        else:
            y = x
        return y

    traced = Traced(model, spec("n"))
    for n in (2, 3, 4):
        traced.runs((n,))


def test_p_over_a_quarter_of_p_is_four():
    p = dy2st.dims.symbol("p", 1) * dy2st.dims.symbol("q", 1)
    facts = dy2st.dims.Facts()
    facts.assume(dy2st.dims.Condition("==", p % 4, 0))
    with dy2st.dims.using(facts):
        assert dy2st.dims.simplified(p // (p // 4)) == 4
