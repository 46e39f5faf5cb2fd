"""Numbers and sizes that a Program computes are to Python's functions what numbers are."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest

import dy2st
from dy2st import to_static
from dy2st.static import InputSpec
from tests.dy2st.convert.kinds.same import refused, same


class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees

    def __float__(self):
        return float(self.degrees)

    def __int__(self):
        return int(self.degrees)

    def __abs__(self):
        return Celsius(abs(self.degrees))

    def __round__(self, digits=None):
        return round(self.degrees)


def casts(x):
    v = x[0]
    return int(v), float(v), bool(v), int(float(v)), float(int(v)), int("7"), int(True)


def casts_of_sizes(x):
    n = x.shape[0]
    return int(n), float(n), bool(n), int(n > 2), int(n / 2)


def casts_of_objects(x):
    t = Celsius(float(x[0]))
    return int(t), float(t), abs(t).degrees, round(t)


def rounded(x):
    v = float(x[0])
    return round(v), round(v / 3), round(x.shape[0]), round(int(v), 2), round(2.567, 2)


def absolute(x):
    return abs(x[0]), abs(float(x[0])), abs(-x.shape[0]), abs(-3), abs(x.shape[0] - 4)


def divided(x):
    n = x.shape[0]
    return divmod(n, 2), divmod(7, n), divmod(float(x[0]), 2.0), divmod(7, 2)


def powers(x):
    n = x.shape[0]
    return pow(n, 2), pow(2, n), pow(n, 2, 5), pow(float(x[0]), 2), pow(3, 2, 4)


def roots_and_logarithms(x):
    n = x.shape[0]
    v = abs(float(x[0])) + 0.5
    return [f(a) for f in (math.sqrt, math.log, math.log2, math.log10, math.exp) for a in (n, v)]


def logarithm_to_a_base(x):
    return math.log(x.shape[0] + 1, 2), math.log(8, 2), math.pow(x.shape[0], 0.5)


def angles(x):
    v = float(x[0]) / 10
    return [f(v) for f in (math.sin, math.cos, math.tan, math.tanh, math.asin, math.acos)]


def to_whole_numbers(x):
    n, v = x.shape[0], float(x[0]) / 3
    return (
        math.ceil(n / 2),
        math.floor(n / 2),
        math.ceil(v),
        math.floor(v),
        math.trunc(v),
        math.ceil(n),
    )


def products(x):
    return (
        math.prod(x.shape),
        math.prod([float(v) for v in x]),
        math.prod([2, 3]),
        int(np.prod(x.shape)),
    )


def root_of_a_negative_number(x):
    return math.sqrt(float(x[0]))


def floats_asked(x):
    v = float(x[0])
    return math.isnan(v), math.isinf(v), math.isfinite(v), math.isclose(v, 1.0), math.isclose(v, v)


def two_numbers(x):
    v, w = float(x[0]), float(x[-1])
    return math.hypot(v, w), math.atan2(v, w), math.copysign(v, w), math.fsum([v, w]), math.fabs(w)


def numpy_of_sizes(x):
    n = x.shape[0]
    return [float(f(n)) for f in (np.sqrt, np.log2, np.ceil, np.floor, np.exp)]


def numpy_of_two(x):
    n = x.shape[0]
    return int(np.maximum(n, 3)), int(np.minimum(n, 3)), int(np.abs(-n)), float(np.power(n, 2))


def scaled_by_a_root(x):
    return x / math.sqrt(x.shape[0])


def least_and_greatest(x):
    n, v = x.shape[0], float(x[0])
    return min(n, 3), max(n, 3), min(v, 0.5), max(v, 0.5, 2.0), min(x[0], x[-1]), max([n, 2, 5])


def least_and_greatest_by_a_key(x):
    items = [x[0], x[-1], x[0] * 0]
    return max(items, key=lambda v: -v), min(items, key=abs), max("ab", "abc", key=len)


def least_and_greatest_of_a_list(x):
    kept = [v for v in x if v > 0]
    least = min(kept, default=x[0])
    return least, max(kept, default=None), max([v for v in x]), min(x), max(x)


def greatest_of_nothing(x):
    return max([v for v in x if v > 3.5])


def greatest_by_a_key_of_a_list(x):
    pairs = [(i, v) for i, v in enumerate(x) if v > -10]
    return max(pairs, key=lambda pair: pair[1]), min(pairs, key=lambda pair: -pair[0])


def sums(x):
    kept = [v for v in x if v > 0]
    return sum(kept), sum(x), sum([1, 2], 3), sum([[1], [2]], []), sum(kept, x[0])


def sums_of_numbers(x):
    return sum([i for i, v in enumerate(x) if v > 0]), sum(range(x.shape[0]))


def truths(x):
    kept = [v > 1 for v in x if v > 0]
    return any(kept), all(kept), any([x[0] > 0, True]), all([x[0] > 0, x[-1] > 0]), any([]), all([])


def in_order(x):
    kept = [v for v in x if v > 0]
    return sorted(kept), sorted(kept, reverse=True), sorted([3, 1, 2]), sorted("ba", key=ord)


def order_by_a_key(x):
    pairs = [(v * v, i) for i, v in enumerate(x)]
    return [i for _, i in sorted(pairs, key=lambda p: p[0])], sorted([x[0], x[-1]])


def order_of_objects(x):
    class Beam:
        def __init__(self, score):
            self.score = score

        def __lt__(self, other):
            return self.score < other.score

    return [b.score for b in sorted([Beam(3), Beam(1), Beam(2)])]


def tensors_of_lists(x):
    n = x.shape[0]
    kept = [v for v in x if v > -10]
    return (
        dy2st.to_tensor([i * 2 for i in range(n)]),
        dy2st.to_tensor([math.sin(i) for i in range(n)]),
        dy2st.to_tensor(kept),
        x.tolist(),
        [v.tolist() for v in x],
    )


def scaled_by_numpy(x):
    return x * np.sqrt(x.shape[0]), int(np.ceil(x.shape[0] / 2)), x.reshape([np.prod(x.shape)])


FUNCTIONS = (
    scaled_by_numpy,
    *(casts, casts_of_sizes, casts_of_objects, rounded, absolute, divided, powers, two_numbers),
    *(roots_and_logarithms, logarithm_to_a_base, angles, to_whole_numbers, products, sums, truths),
    *(root_of_a_negative_number, floats_asked, numpy_of_sizes, numpy_of_two, scaled_by_a_root),
    *(least_and_greatest, least_and_greatest_by_a_key, least_and_greatest_of_a_list, in_order),
    *(greatest_of_nothing, greatest_by_a_key_of_a_list, sums_of_numbers, order_by_a_key),
    order_of_objects,
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_number_of_a_program_is_one_of_python(function):
    same(function)


def test_tensors_are_made_of_lists_of_a_length_and_lists_of_tensors():
    same(tensors_of_lists, sizes="unknown")


def test_a_cast_leaves_the_tensor_a_tensor():
    def cast(x):
        flag = x[0] > 0
        known = bool(flag)
        return flag, isinstance(flag, dy2st.Tensor), isinstance(known, bool), isinstance(known, int)

    same(cast)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: round(float(x[0]), -1), "to digits"),
        (lambda x: round(float(x[0]), int(x[1])), "to digits"),
        (lambda x: complex(float(x[0])), "complex"),
    ],
)
def test_what_no_program_computes_is_refused(function, words):
    refused(function, words)


HALVES = [
    2.675,
    0.125,
    -0.125,
    1.005,
    0.5,
    1.5,
    -2.5,
    0.05,
    5e-324,
    1e-5,
    8.5e15 / 100,
    1e17,
    1e300,
]
ODD = [
    45035996273704.965,
    90071992547409.9,
    22517998136852.485,
    float("inf"),
    float("-inf"),
    float("nan"),
    -0.001,
]


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_number_is_rounded_to_the_decimals_that_python_gives(engine):
    values = HALVES + ODD + [n / 1000 + sign for n in range(5, 200, 10) for sign in (0, 8, -1e9)]
    values += [step * (n / 200 + 1e4) for n in range(1, 40, 2) for step in (1, 1e-3)]

    def rounded(x):
        return [[round(v, digits) for v in x.tolist()] for digits in (0, 1, 2, 3, 15, 22)]

    x = dy2st.to_tensor(np.array(values))
    spec = [dy2st.static.InputSpec([None], "float64")]
    got = dy2st.jit.to_static(rounded, engine=engine, input_spec=spec)(x)
    assert [[repr(v) for v in row] for row in got] == [[repr(v) for v in row] for row in rounded(x)]


def reduced_by_numpy(x):
    n = np.prod(x.shape)
    return (
        n,
        n + 1,
        -n,
        n // 2,
        n * x,
        np.max(x.shape),
        x.sum() / n,
        int(n),
        np.prod([x.shape[0], 2.5]),
    )


def rooted_by_numpy(x):
    root = np.sqrt(x.shape[0])
    return root, x * root, x.shape[0] ** np.float64(0.5), np.ceil(x.shape[0] / 3), float(root)


def beside_numbers_of_numpy(x):
    n, v = x.shape[0], float(x[0])
    return np.float64(2) * n, np.float64(2) * n * x, np.int64(3) + n, n * np.float32(2), v > np.e


def beside_arrays_of_numpy(x):
    n, v = x.shape[0], float(x[0])
    return np.arange(3) + n, n * np.ones(2), np.ones(2) * v, np.arange(3) < n, np.ones(3) * n * 2


def asked_what_they_are(x):
    n = np.prod(x.shape)
    return isinstance(n, int), isinstance(n, np.integer), type(np.sqrt(x.shape[0])).__name__


@pytest.mark.parametrize(
    "function",
    [
        reduced_by_numpy,
        rooted_by_numpy,
        beside_numbers_of_numpy,
        beside_arrays_of_numpy,
        asked_what_they_are,
    ],
    ids=lambda function: function.__name__,
)
def test_numbers_of_numpy_are_no_numbers_of_python(function):
    same(function)


def test_a_product_of_sizes_by_numpy_is_a_size_to_reshape():
    same(lambda x: x.reshape([x.shape[0], int(np.prod(x.shape[1:]))]), [[[1.0, 2.0]], [[3.0, 4.0]]])
    same(lambda x: x.reshape([np.prod(x.shape)]), [[1.0, 2.0], [3.0, 4.0]], [[5.0]])


@pytest.mark.parametrize("whole", [int, round, math.floor, math.trunc])
def test_a_handler_catches_what_has_no_whole_number(whole):
    def counted(x):
        total, said = 0, []
        for v in x:
            try:
                total += whole(float(v))
            except OverflowError:
                total += 100
            except ValueError as error:
                said.append(str(error))
        return total, said

    x = dy2st.to_tensor([1.5, math.inf, math.nan, -math.inf])
    for specs in ([InputSpec([None])], [InputSpec([4])]):
        assert to_static(counted, input_spec=specs)(x) == counted(x)


@pytest.mark.parametrize("mod", [-7, 0, 1, 8])
def test_a_power_modulo_an_int_is_the_inverse_for_a_negative_exponent(mod):
    def power(n):
        try:
            return pow(int(n[0]), int(n[1]), int(n[2]))
        except ValueError as error:
            return str(error)

    static = to_static(power, input_spec=[InputSpec([3], "int64")])
    for base in (-4, 0, 3):
        for exp in (-3, -1, 0, 5):
            n = dy2st.to_tensor([base, exp, mod])
            assert static(n) == power(n)


def test_an_int_to_a_power_that_turns_out_negative_says_what_to_write_instead():
    @dy2st.to_static
    def scaled(x):
        return x * 2 ** int(x.sum())

    assert scaled(dy2st.to_tensor([3.0])).tolist() == [24.0]
    with pytest.raises(ValueError, match=r"write float\(base\) \*\* exponent"):
        scaled(dy2st.to_tensor([-3.0]))


@pytest.mark.parametrize(
    "use",
    [
        lambda x, n: dy2st.to_tensor([0.1, n], "float64"),
        lambda x, n: dy2st.to_tensor([[n], [x[1]]], "float64"),
        lambda x, n: dy2st.to_tensor([[one, n] for one in x.tolist() if one > 1], "float64"),
        lambda x, n: dy2st.full([2], n, "float64"),
        lambda x, n: dy2st.full_like(x, n),
        lambda x, n: dy2st.linspace(0.0, n, 5, "float64"),
        lambda x, n: dy2st.arange(0.0, 1.0, n, "float64"),
        lambda x, n: dy2st.cast(n, "float64"),
        lambda x, n: dy2st.where(x > 1, x, n),
        lambda x, n: x.clip(max=n),
        lambda x, n: x.masked_fill(x > 1, n),
        lambda x, n: x.clone().fill_(n),
        lambda x, n: operator.setitem(y := x.clone(), 0, n) or y,
    ],
)
def test_a_number_keeps_its_digits_where_the_dtype_has_them(use):
    def f(x):
        return use(x, float(x[0]) / 3)

    x = dy2st.to_tensor(np.array([1.0, 2.0, 3.0]))
    wanted = f(x)
    found = to_static(f)(x)
    assert wanted.dtype == found.dtype == np.float64
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-15)


@pytest.mark.parametrize("number", [lambda x: int(x.sum()), len], ids=["number", "size"])
@pytest.mark.parametrize("divided", [operator.floordiv, operator.mod, operator.truediv, divmod])
def test_a_division_by_zero_raises_on_the_path_alone_that_takes_it(number, divided):
    def halved(x):
        n = number(x)
        return divided(n, 0) if n > 2 else n

    same(halved, [1.0], [1.0, 1.0], [1.0, 1.0, 1.0])


def test_a_character_is_of_an_int_alone():
    same(lambda x: chr(float(x.sum())), [65.0, 1.0])
