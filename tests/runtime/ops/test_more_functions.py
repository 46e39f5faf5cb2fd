"""Functions that few models use, against NumPy: eagerly, and in a Program with unknown sizes."""

from __future__ import annotations

import importlib.util
from itertools import combinations

import numpy as np
import pytest

import dy2st
import dy2st as P
from dy2st.static import InputSpec
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError

RNG = np.random.default_rng(3)
A, B = RNG.normal(size=(2, 3, 4)).astype("float32")
V, W = RNG.normal(size=(2, 5)).astype("float32")
T = RNG.normal(size=(2, 3, 4)).astype("float32")
N = np.where(RNG.random((3, 4)) < 0.3, np.float32(np.nan), A)
N[0, 0] = np.nan
INTS, MORE = RNG.integers(1, 7, (2, 3, 4))
ENDS = np.array([1.0, np.inf, -np.inf, np.nan, 0.0, -0.0], "float32")
PLACES = RNG.integers(0, 3, (3, 4))


def joined(ufunc, start):
    def reference(x, places, values):
        made = np.full_like(x, start) if start is not None else x.copy()
        ufunc.at(made, (places, np.arange(4)[None].repeat(3, 0)), values)
        return made

    return reference


def windows(x):
    return np.lib.stride_tricks.sliding_window_view(x, 3, 1)[:, ::2]


def rows_searched(side):
    return np.vectorize(lambda row, x: np.searchsorted(row, x, side), signature="(n),(m)->(m)")


# What is written of x, y, z; what NumPy says; the arrays.
ROWS = [
    ("p.signbit(x)", np.signbit, ENDS),
    ("p.copysign(x, y)", np.copysign, A, B),
    ("p.frexp(x)[0]", lambda x: np.frexp(x)[0], A),
    ("p.gcd(x, y)", np.gcd, INTS, MORE),
    ("p.lcm(x, y)", np.lcm, INTS, MORE),
    ("p.bitwise_left_shift(x, y)", np.left_shift, INTS, MORE),
    ("p.bitwise_right_shift(x, y)", np.right_shift, -INTS, MORE),
    ("p.nextafter(x, y)", np.nextafter, A, B),
    ("p.heaviside(x, y)", np.heaviside, ENDS, np.full(6, 2, "float32")),
    ("p.hypot(x, y)", np.hypot, A, B),
    ("p.ldexp(x, y)", np.ldexp, A, INTS.astype("int32")),
    ("p.fmax(x, y)", np.fmax, N, B),
    ("p.fmin(x, y)", np.fmin, N, B),
    ("p.nan_to_num(x)", np.nan_to_num, ENDS),
    ("p.isposinf(x)", np.isposinf, ENDS),
    ("p.isneginf(x)", np.isneginf, ENDS),
    ("p.isin(x, y)", np.isin, INTS, MORE[0]),
    ("p.equal_all(x, y)", lambda x, y: np.array(False), A, B),
    ("p.is_empty(x)", lambda x: np.array(False), A),
    ("p.add_n([x, y])", np.add, A, B),
    ("p.dist(x, y, 3)", lambda x, y: (np.abs(x - y) ** 3).sum() ** (1 / 3), A, B),
    ("p.atleast_3d(x)", np.atleast_3d, V),
    ("p.column_stack([x, y])", lambda *xs: np.column_stack(xs), V, W),
    ("p.dstack([x, y])", lambda *xs: np.dstack(xs), A, B),
    ("p.block_diag([x, y])", lambda x, y: np.block([[x, x * 0], [y * 0, y]]), A, B),
    ("p.cartesian_prod([x, y])", lambda x, y: np.array([(a, b) for a in x for b in y]), V, W),
    ("p.narrow(x, 1, 1, 2)", lambda x: x[:, 1:3], A),
    ("p.unfold(x, 1, 3, 2)", windows, RNG.normal(size=(3, 8)).astype("float32")),
    ("x.permute(2, 0, 1)", lambda x: x.transpose(2, 0, 1), T),
    ("p.matrix_transpose(x)", lambda x: x.swapaxes(1, 2), T),
    ("p.ravel(x)", np.ravel, T),
    ("x.view_as(y)", lambda x, y: x.reshape(y.shape), A, A.reshape(4, 3)),
    ("p.crop(x, [-1, 2], [1, 1])", lambda x: x[1:, 1:3], A),
    ("p.msort(x)", lambda x: np.sort(x, 0), A),
    ("p.vander(x)", np.vander, V),
    ("p.argwhere(x)", np.argwhere, INTS % 2),
    ("p.tensordot(x, y, 2)", np.tensordot, T, A),
    ("p.tensordot(x, y, [[0], [0]])", lambda x, y: np.tensordot(x, y, [[0], [0]]), A, B),
    ("p.inner(x, y)", np.inner, T, A),
    ("p.kron(x, y)", np.kron, A, B),
    ("p.diagonal(x, 1, 2, 0)", lambda x: np.diagonal(x, 1, 2, 0), T),
    ("p.trace(x, -1, 1, 2)", lambda x: np.trace(x, -1, 1, 2), T),
    ("p.diagflat(x, 1)", lambda x: np.diagflat(x, 1), V),
    ("p.diag_embed(x)", lambda x: np.stack([np.diag(row) for row in x]), A),
    ("p.scatter_add(x, 0, y, z)", joined(np.add, None), A, PLACES, B),
    ("p.scatter_reduce(x, 0, y, z, 'prod')", joined(np.multiply, None), A, PLACES, B),
    ("p.scatter_reduce(x, 0, y, z, 'amax')", joined(np.maximum, None), A, PLACES, B),
    ("p.nansum(x, 1)", lambda x: np.nansum(x, 1), N),
    ("p.nanmean(x, 1)", lambda x: np.nanmean(x, 1), N),
    ("p.quantile(x, 0.3, 1)", lambda x: np.quantile(x, 0.3, 1), A),
    ("p.quantile(x, [0.1, 0.6])", lambda x: np.quantile(x, [0.1, 0.6]), A),
    ("p.nanquantile(x, 0.3, 1)", lambda x: np.nanquantile(x, 0.3, 1), N),
    ("p.median(x, 0)", lambda x: np.median(x, 0), A),
    ("p.nanmedian(x, 1)", lambda x: np.nanmedian(x, 1), N),
    ("p.kthvalue(x, 2)[0]", lambda x: np.sort(x, 1)[:, 1], A),
    ("p.cummax(x, 1)[0]", lambda x: np.maximum.accumulate(x, 1), A),
    ("p.cummin(x, 0)[0]", lambda x: np.minimum.accumulate(x, 0), A),
    ("p.logcumsumexp(x, 1)", lambda x: np.log(np.cumsum(np.exp(x), 1)), A),
    ("p.trapezoid(x, y)", lambda x, y: ((x[:, 1:] + x[:, :-1]) * np.diff(y)).sum(1) / 2, A, V[:4]),
    ("p.diff(x, 2, 0)", lambda x: np.diff(x, 2, 0), A),
    ("p.bincount(x, minlength=9)", lambda x: np.bincount(x, minlength=9), INTS[0]),
    ("p.histogram(x, 4, -1, 2)", lambda x: np.histogram(x, 4, (-1, 2))[0], A),
    ("p.searchsorted(x, y)", rows_searched("left"), np.sort(A), B),
    ("p.searchsorted(x, y, right=True)", rows_searched("right"), np.sort(INTS), MORE),
    ("p.bucketize(x, y)", lambda x, y: np.searchsorted(y, x), A, np.sort(V)),
    ("p.cdist(x, y)", lambda x, y: np.sqrt(((x[:, None] - y) ** 2).sum(-1)), A, B),
    ("p.linalg.cov(x)", np.cov, A),
    ("p.linalg.corrcoef(x)", np.corrcoef, A),
    ("p.take_along_dim(x, y, 0)", lambda x, y: np.take_along_axis(x, y, 0), A, PLACES),
    ("p.reduce_as(x, y)", lambda x, y: x.sum(0), T, A),
]


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    """A function of a file for every row, as Programs are made of code."""
    path = tmp_path_factory.mktemp("rows") / "rows.py"
    lines = ["import dy2st as p"]
    for number, (text, _, *arrays) in enumerate(ROWS):
        lines += [f"def f{number}({', '.join('xyz'[: len(arrays)])}):", f"    return {text}"]
    path.write_text("\n".join(lines))
    spec = importlib.util.spec_from_file_location("rows", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("number", range(len(ROWS)), ids=[row[0] for row in ROWS])
def test_what_numpy_says_is_computed_eagerly_and_in_a_program(functions, number):
    _, reference, *arrays = ROWS[number]
    function, expected = getattr(functions, f"f{number}"), np.asarray(reference(*arrays))
    found = function(*map(dy2st.to_tensor, arrays))
    assert (found.shape, found.dtype.kind) == ([*expected.shape], expected.dtype.kind)
    np.testing.assert_allclose(found.numpy(), expected, rtol=2e-5, atol=1e-5)
    specs = [InputSpec([None] * array.ndim, str(array.dtype)) for array in arrays]
    traced = dy2st.to_static(function, input_spec=specs)(*map(dy2st.to_tensor, arrays))
    assert traced.dtype == found.dtype
    np.testing.assert_allclose(traced.numpy(), found.numpy(), rtol=1e-6, atol=1e-6)


DIFFERENTIABLE = [
    "p.copysign(x, y)", "p.hypot(x, y)", "p.fmax(x, y)", "p.sinc(x)", "p.dist(x, y, 3)",
    "p.unfold(x, 1, 3, 1)", "p.tensordot(x, y, [[0], [0]])", "p.kron(x, y)", "p.diagonal(x, 1)",
    "p.diag_embed(x, -1)", "p.cummax(x, 1)[0]", "p.logcumsumexp(x, 1)", "p.cdist(x, y)",
    "p.quantile(x, 0.3, 1)", "p.median(x, 0)", "p.trapezoid(x, y)", "p.linalg.corrcoef(x)",
    "p.renorm(x, 2.0, 0, 1.0)", "p.scatter_reduce(x, 0, z, y, 'prod')", "p.nanmean(x, 1)",
    "p.scatter_reduce(x, 0, z, y, 'mean', include_self=False)", "p.block_diag([x, y])",
    "p.scatter_reduce(x, 0, z, y, 'amin')", "p.as_strided(x, [2, 2], [1, 2], 8)",
]  # fmt: skip


@pytest.mark.parametrize("text", DIFFERENTIABLE)
def test_gradients_are_the_slopes(text):
    code = compile(text, text, "eval")
    places = dy2st.to_tensor(PLACES)

    def value(x, y):
        made = eval(code, {"p": dy2st, "x": x, "y": y, "z": places})
        return (made * dy2st.arange(1, made.size + 1, dtype="float64").reshape(made.shape)).sum()

    x, y = A.astype("float64"), B.astype("float64")
    tensors = [dy2st.to_tensor(array, stop_gradient=False) for array in (x, y)]
    value(*tensors).backward()
    direction = RNG.normal(size=(2, *x.shape))
    step = 1e-6
    ends = [
        value(*(dy2st.to_tensor(a + s * d) for a, d in zip((x, y), direction, strict=True))).item()
        for s in (step, -step)
    ]
    parts = [t.grad.numpy() for t in tensors if t.grad is not None]
    slope = sum((g * d).sum() for g, d in zip(parts, direction, strict=False))
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=1e-4, atol=1e-5)


def test_choices_and_splits_follow_known_sizes():
    x = dy2st.to_tensor(V)
    wanted = np.array([*combinations(V, 2)])
    np.testing.assert_array_equal(dy2st.combinations(x).numpy(), wanted)
    np.testing.assert_allclose(
        dy2st.pdist(dy2st.to_tensor(A)).numpy(),
        [np.linalg.norm(A[i] - A[j]) for i, j in combinations(range(3), 2)],
        rtol=1e-5,
    )
    for given in (3, [1, 3], [4, 2]):
        parts = [part.tolist() for part in dy2st.tensor_split(x, given)]
        assert parts == [part.tolist() for part in np.array_split(V, given)]
    y = dy2st.to_tensor(T)
    assert [p.shape for p in dy2st.hsplit(y, 3)] == [[2, 1, 4]] * 3
    assert [p.shape for p in dy2st.vsplit(y, 2)] == [[1, 3, 4]] * 2
    assert [p.shape for p in dy2st.dsplit(y, [1])] == [[2, 3, 1], [2, 3, 3]]


def test_of_no_elements_there_is_no_choice():
    x = dy2st.to_tensor(V)
    assert (dy2st.combinations(x, 0).shape, dy2st.combinations(x, 9).shape) == ([0], [0, 9])
    with pytest.raises(ArgumentError, match="cannot be chosen"):
        dy2st.combinations(x, -1)


def test_places_come_with_values():
    x = dy2st.to_tensor([[3, 1, 1, 2, 2], [5, 5, 4, 4, 4]])
    values, places = dy2st.mode(x)
    assert (values.tolist(), places.tolist()) == ([1, 4], [2, 4])
    values, places = dy2st.cummax(x, 1)
    assert places.tolist() == [[0, 0, 0, 0, 0], [0, 1, 1, 1, 1]]
    values, places = dy2st.median(x.astype("float32"), 1, mode="min")
    assert (values.tolist(), places.tolist()) == ([2.0, 4.0], [3, 2])
    runs = dy2st.unique_consecutive(x[0], return_inverse=True, return_counts=True)
    assert [run.tolist() for run in runs] == [[3, 1, 2], [0, 1, 1, 2, 2], [1, 2, 2]]


def test_parts_are_replaced():
    x = dy2st.zeros([2, 3])
    assert dy2st.select_scatter(x, dy2st.ones([2]), 1, 2).tolist() == [[0, 0, 1], [0, 0, 1]]
    value = dy2st.full([2, 2], 5.0)
    assert dy2st.slice_scatter(x, value, [1], [0], [3], [2]).tolist() == [[5, 0, 5], [5, 0, 5]]
    assert dy2st.diagonal_scatter(x, dy2st.ones([2])).tolist() == [[1, 0, 0], [0, 1, 0]]
    mask = dy2st.to_tensor([[True, False, True], [False, True, False]])
    taken = dy2st.masked_scatter(x, mask, dy2st.arange(1.0, 7.0))
    assert taken.tolist() == [[1, 0, 2], [0, 3, 0]]
    assert x.sum() == 0 and x.fill_diagonal_tensor_(dy2st.ones([2])).tolist() == [
        [1, 0, 0],
        [0, 1, 0],
    ]


def test_small_facts():
    assert dy2st.broadcast_shape([2, 1, 3], [4, 1]) == [2, 4, 3]
    assert dy2st.tril_indices(3, 2).tolist() == [[0, 1, 1, 2, 2], [0, 0, 1, 0, 1]]
    strided = dy2st.as_strided(dy2st.arange(12.0), [2, 2], [1, 2], 4)
    assert strided.tolist() == [[1.0, 3.0], [2.0, 4.0]]  # 4 bytes are one element
    assert dy2st.triu_indices(2).tolist() == [[0, 0, 1], [0, 1, 1]]
    x = dy2st.to_tensor(INTS)
    assert dy2st.is_integer(x) and not dy2st.is_floating_point(x) and not dy2st.is_complex(x)
    shard = dy2st.shard_index(dy2st.to_tensor([[16], [1]]), 20, 2, 0)
    assert shard.tolist() == [[-1], [1]]
    chosen = dy2st.multiplex([x, x + 10], dy2st.to_tensor([[1], [0], [1]]))
    assert chosen.tolist() == (INTS + [[10], [0], [10]]).tolist()


def test_what_does_not_fit_is_refused():
    with pytest.raises(DTypeError, match="integers"):
        dy2st.gcd(dy2st.ones([2]), 2)
    with pytest.raises(ArgumentError, match="interpolation"):
        dy2st.quantile(dy2st.ones([2]), 0.5, interpolation="no")
    with pytest.raises(ArgumentError, match="reduce is one of"):
        dy2st.put_along_axis(dy2st.ones([2]), dy2st.to_tensor([0]), 1.0, 0, "no")
    with pytest.raises(ArgumentError, match="bytes"):
        dy2st.as_strided(dy2st.ones([4]), [2], [1], 1)
    with pytest.raises(ArgumentError, match="bits"):
        dy2st.ones([2]).view("int32")


@pytest.mark.parametrize(
    "equation, shape",
    [
        ("i->ii", [3]),
        ("ij->iij", [2, 3]),
        ("ij->jij", [2, 3]),
        ("i->iii", [2]),
        ("...i->...ii", [4, 2]),
    ],
)
def test_a_letter_that_stands_twice_in_a_result_lies_on_its_diagonal(equation, shape):
    x = np.arange(1.0, np.prod(shape) + 1).reshape(shape)
    given, result = equation.replace("...", "z" * ("..." in equation)).split("->")
    letters = dict.fromkeys(result)
    sizes = dict(zip(given, shape, strict=True))
    expected = np.zeros([sizes[letter] for letter in result])
    for place in np.ndindex(*shape):
        at = dict(zip(given, place, strict=True))
        expected[tuple(at[letter] for letter in result)] = x[place]
    assert set(letters) <= set(given)
    found = dy2st.einsum(equation, dy2st.to_tensor(x))
    assert found.tolist() == expected.tolist()
    converted = dy2st.to_static(lambda x: dy2st.einsum(equation, x))
    assert converted(dy2st.to_tensor(x)).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "axes, full",
    [
        ([[3, 2], [3]], ([3, 2], [3, 2])),
        ([[1], [1, 0]], ([1, 0], [1, 0])),
        ([[2], [2]], ([2], [2])),
        ([1, 2], ([1, 2], [1, 2])),
        (([0],), ([0], [0])),
    ],
)
def test_the_shorter_list_of_axes_goes_on_as_the_other(axes, full):
    x = np.arange(48.0).reshape(2, 2, 3, 4)
    y = x[::-1] + 1
    found = dy2st.tensordot(dy2st.to_tensor(x), dy2st.to_tensor(y), axes)
    assert found.numpy() == pytest.approx(np.tensordot(x, y, full))


def test_axes_of_other_sizes_are_refused_though_the_numbers_of_elements_are_equal():
    x, y = dy2st.ones([5, 2, 3]), dy2st.ones([4, 3, 2])
    with pytest.raises(ShapeError, match="axis 1 of x has the size 2, axis 1 of y has 3"):
        dy2st.tensordot(x, y, [1, 2])


def test_an_axis_of_size_one_meets_each_element():
    x, y = np.arange(3.0).reshape(3, 1), np.arange(8.0).reshape(4, 2)
    found = dy2st.tensordot(dy2st.to_tensor(x), dy2st.to_tensor(y), [[1], [0]])
    assert found.tolist() == (x * y.sum(0)).tolist()


# -- ranges of integers, and between ends that only the run tells ----------------------------------


# Ends, number and what PaddlePaddle 3.3.1 gives for int64.
SPACED = [
    ((4.3, -3, 10), [4, 3, 2, 1, 0, 0, 0, -1, -2, -3]),
    ((0, 7.9, 8), [0, 1, 2, 3, 4, 5, 6, 7]),
    ((-3.7, 2.2, 6), [-3, -2, -1, 0, 1, 2]),
    ((0.9, 5, 9), [0, 0, 1, 1, 2, 3, 3, 4, 5]),
    ((2.5, 7.5, 1), [2]),
]
POWERS = [
    ((0, 1.2, 4), 10.0, [1, 2, 4, 10]),
    ((0.5, 3.7, 5), 10.0, [1, 5, 31, 177, 1000]),
    ((-1, 2, 7), 2.7, [0, 0, 1, 1, 2, 2, 4]),
]


@pytest.mark.parametrize(("ends", "wanted"), SPACED)
def test_linspace_of_integers_cuts_its_ends_first(ends, wanted):
    assert P.linspace(*ends, dtype="int64").tolist() == wanted


@pytest.mark.parametrize(("ends", "base", "wanted"), POWERS)
def test_logspace_of_integers_cuts_its_ends_and_base_first(ends, base, wanted):
    assert P.logspace(*ends, base=base, dtype="int64").tolist() == wanted


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize(("ends", "wanted"), SPACED)
def test_linspace_between_tensors_is_that_between_numbers(ends, wanted, engine):
    first, last, count = ends
    traced = P.to_static(lambda a, b: P.linspace(a, b, count, "int64"), engine=engine)
    assert traced(P.to_tensor(first), P.to_tensor(last)).tolist() == wanted


@pytest.mark.parametrize("count", range(8))
def test_linspace_of_floats_is_that_of_numpy(count):
    made = P.linspace(-1.25, 3.5, count, "float64")
    np.testing.assert_allclose(made.numpy(), np.linspace(-1.25, 3.5, count), rtol=1e-15)
