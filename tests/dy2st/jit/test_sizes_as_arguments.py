"""Sizes that are not known as ordinary arguments, on both engines: what eager operators give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import dy2st
import dy2st.nn.functional as F
from dy2st.errors import ArgumentError, TensorAsPython, UndecidedDim
from dy2st.jit import to_static
from dy2st.static import InputSpec

ENGINES = ("numpy", "native")


class Case(NamedTuple):
    """A function, and for each call the shapes of its tensors."""

    function: Callable[..., Any]
    calls: tuple[tuple[tuple[int, ...], ...], ...]
    dtypes: tuple[str, ...] = ("float32", "float32")


def causal(q: Any, k: Any) -> Any:
    t, past = q.shape[0], k.shape[0]
    return dy2st.tril(dy2st.ones([t, past]), diagonal=past - t) * k[:, 0]


def future(q: Any, k: Any) -> Any:
    return dy2st.triu(q, k.shape[0] - q.shape[0]), dy2st.triu(q, diagonal=1 - k.shape[0])


def counts(x: Any, y: Any) -> Any:
    return dy2st.bincount(x, minlength=y.shape[0]), dy2st.bincount(x, x * 0.5, y.shape[0])


def on_a_diagonal(x: Any, y: Any) -> Any:
    n = x.shape[0]
    return dy2st.diag(x, n - 1), dy2st.diag(x, n - y.shape[0], padding_value=3)


def beside_the_diagonal(x: Any) -> Any:
    n = x.shape[0] // 2
    return dy2st.diagonal(x, n), dy2st.diagonal(x, -n), dy2st.trace(x, n), dy2st.diag(x, n)


def written_beside_the_diagonal(x: Any) -> Any:
    n = x.shape[0]
    row = dy2st.ones([n])
    return dy2st.diag_embed(x, n - 1), dy2st.diagonal_scatter(dy2st.zeros([n, 2 * n]), row, n)


def parts(x: Any) -> Any:
    places = [x.shape[0] // 2, -1]
    return [*dy2st.tensor_split(x, 3), *dy2st.tensor_split(x, places), *dy2st.vsplit(x, 2)]


def choices(x: Any) -> Any:
    return dy2st.combinations(x), dy2st.combinations(x, 3), dy2st.combinations(x, 2, True)


def few_choices(x: Any) -> Any:
    return dy2st.combinations(x, 1), dy2st.combinations(x, 0)


def all_drawn(x: Any) -> Any:
    return dy2st.sort(dy2st.multinomial(dy2st.abs(x) + 1, x.shape[0]))


def half_as_wide(x: Any) -> Any:
    n = x.shape[2] // 2 + 1
    return F.adaptive_avg_pool1d(x, n), F.adaptive_max_pool1d(x, n)


def half_as_high(x: Any) -> Any:
    wanted = [x.shape[2] // 2 + 1, 2]
    return F.adaptive_avg_pool2d(x, wanted), F.adaptive_max_pool2d(x, wanted)


def prefix_sums(x: Any) -> Any:
    span = 1
    while span < x.shape[0]:
        x = x + dy2st.roll(x, span, 0)
        span *= 2
    return x


def rolled_twice(x: Any) -> Any:
    span = x.shape[0]
    while span > 2:
        x = dy2st.roll(x, [span, 1, -span], [0, 1, 1])
        span = span // 2
    return x


def by_a_loop(x: Any) -> Any:
    made, step = dy2st.zeros(x.shape), 0
    while step < x.shape[0]:
        made = made + dy2st.tril(x, step) - dy2st.triu(x, diagonal=-step)
        step += 1
    return made


def points(x: Any) -> Any:
    n = x.shape[0]
    ends = dy2st.linspace(0, n - 1, n), dy2st.linspace(0.5, n - 0.5, n, dtype=x.dtype)
    return *ends, dy2st.linspace(x[0], x[-1], 4), dy2st.linspace(1 / n, x[0], n - 1, "float64")


def drawn_below(x: Any) -> Any:
    return dy2st.randint(x.shape[0], shape=[x.shape[0]]), dy2st.randint(-x.shape[0], 1, [4])


MANY = ("int64", "float32")
CASES = {
    "the mask of a decoder": Case(causal, (((2, 3), (5, 3)), ((4, 3), (4, 3)), ((1, 3), (6, 3)))),
    "a triangle": Case(future, (((3, 4), (4, 1)), ((4, 3), (2, 1)), ((2, 2), (5, 1)))),
    "least numbers of bins": Case(counts, (((4,), (9,)), ((3,), (1,))), MANY),
    "matrices of vectors": Case(on_a_diagonal, (((3,), (5,)), ((1,), (1,)), ((4,), (2,)))),
    "diagonals": Case(beside_the_diagonal, (((4, 4),), ((5, 3),), ((3, 7),), ((6, 2),))),
    "parts": Case(parts, (((7, 2),), ((5, 1),), ((3, 3),), ((1, 2),))),
    "choices": Case(choices, (((4,),), ((2,),), ((1,),), ((3,),))),
    "choices of few": Case(few_choices, (((4,),), ((1,),))),
    "drawn": Case(all_drawn, (((4,),), ((2,),))),
    "integers drawn": Case(drawn_below, (((4,),), ((20,),))),
    "points of a line": Case(points, (((4,),), ((1,),), ((2,),))),
    "parts of a line": Case(half_as_wide, (((1, 2, 7),), ((2, 1, 4),), ((1, 1, 1),))),
    "parts of an image": Case(half_as_high, (((1, 2, 7, 3),), ((2, 1, 4, 2),))),
    "a shift that a loop carries": Case(prefix_sums, (((7, 2),), ((1, 3),), ((4, 1),))),
    "some shifts that a loop carries": Case(rolled_twice, (((7, 2),), ((2, 3),), ((9, 4),))),
    "a diagonal that a loop carries": Case(by_a_loop, (((4, 3),), ((2, 5),), ((1, 1),))),
    "written diagonals": Case(written_beside_the_diagonal, (((3,),), ((1,),), ((5,),))),
}


def tensors(shapes: tuple[tuple[int, ...], ...], dtypes: tuple[str, ...]) -> list[Any]:
    """Whole numbers, none of them negative, of which sums are exact."""
    rng = np.random.default_rng(3)
    pairs = zip(shapes, dtypes, strict=False)
    return [dy2st.to_tensor(rng.integers(0, 6, shape).astype(dtype)) for shape, dtype in pairs]


def converted(case: Case, engine: str) -> Any:
    pairs = zip(case.calls[0], case.dtypes, strict=False)
    specs = [InputSpec([None] * len(shape), dtype) for shape, dtype in pairs]
    return to_static(case.function, input_spec=specs, engine=engine)


def seeded(function: Callable[..., Any], given: list[Any]) -> Any:
    dy2st.seed(3)
    return function(*given)


def assert_same(found: Any, wanted: Any) -> None:
    several = isinstance(wanted, (list, tuple))
    for mine, other in zip(*((found, wanted) if several else ([found], [wanted])), strict=True):
        assert (mine.shape, mine.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(np.asarray(mine), np.asarray(other), rtol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CASES)
def test_one_program_gives_what_eager_operators_give(name, engine):
    case = CASES[name]
    static = converted(case, engine)
    for shapes in case.calls:
        given = tensors(shapes, case.dtypes)
        assert_same(seeded(static, given), seeded(case.function, given))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CASES)
def test_a_saved_program_gives_it_too(name, engine, tmp_path):
    case = CASES[name]
    dy2st.jit.save(converted(case, engine), str(tmp_path / "model"))
    loaded = dy2st.jit.load(str(tmp_path / "model"), engine=engine)
    for shapes in case.calls:
        given = tensors(shapes, case.dtypes)
        assert_same(seeded(loaded, given), seeded(case.function, given))


DIFFERENTIABLE = [
    *("the mask of a decoder", "a triangle", "matrices of vectors", "diagonals", "parts"),
    *("choices", "parts of a line", "parts of an image", "a shift that a loop carries"),
    *("some shifts that a loop carries", "a diagonal that a loop carries", "written diagonals"),
]


def gradients(function: Callable[..., Any], given: list[Any]) -> list[Any]:
    """Of the sum of all results, each element with a weight of its own."""
    leaves = [dy2st.to_tensor(np.asarray(x), stop_gradient=False) for x in given]
    made = function(*leaves)
    made = made if isinstance(made, (list, tuple)) else [made]
    weighted = [(x * dy2st.arange(x.size).reshape(x.shape).astype(x.dtype)).sum() for x in made]
    dy2st.add_n(weighted).backward()
    return [None if leaf.grad is None else np.asarray(leaf.grad) for leaf in leaves]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_are_those_of_eager_operators(name, engine):
    case = CASES[name]
    static = converted(case, engine)
    for shapes in case.calls:
        given = tensors(shapes, case.dtypes)
        pairs = zip(gradients(static, given), gradients(case.function, given), strict=True)
        for found, wanted in pairs:
            if wanted is None:
                assert found is None or not found.any()
            else:
                np.testing.assert_allclose(found, wanted, rtol=1e-5)


REFUSED = {
    "the step": lambda x: x[:: x.shape[2]],
    "the number of parts": lambda x: dy2st.tensor_split(x, x.shape[2]),
    "the output size": lambda x: F.adaptive_max_pool1d(x, x.shape[2] // 2, return_mask=True),
}


@pytest.mark.parametrize("what", REFUSED)
def test_where_a_number_is_needed_the_refusal_names_the_line_the_size_and_a_way_out(what):
    static = to_static(REFUSED[what], input_spec=[InputSpec([None, None, None])])
    with pytest.raises(UndecidedDim) as refused:
        static(dy2st.ones([2, 2, 4]))
    said = str(refused.value)
    assert "test_sizes_as_arguments.py:" in said
    assert f"{what} of" in said or f"{what}, with" in said
    assert "x_axis2" in said and "give the size a number in the InputSpec" in said


def test_bins_are_known_to_be_as_many_as_were_asked_for():
    def padded(x: Any, y: Any) -> Any:
        return dy2st.bincount(x, minlength=y.shape[0])[: y.shape[0]] + y

    case = Case(padded, (((3,), (8,)), ((5,), (1,)), ((2,), (4,))), MANY)
    static = converted(case, "numpy")
    conditions = [str(one.constraint.condition) for one in static.main_program.constraints]
    assert conditions == ["bins_0 >= y_axis0"]
    for shapes in case.calls:
        given = tensors(shapes, case.dtypes)
        assert_same(static(*given), padded(*given))


@pytest.mark.parametrize("engine", ENGINES)
def test_less_than_no_bins_are_refused_as_eager_operators_do(engine):
    def fewer(x: Any, y: Any) -> Any:
        return dy2st.bincount(x, minlength=y.shape[0] - 3)

    given = tensors(((3,), (2,)), MANY)
    static = converted(Case(fewer, (((3,), (2,)),), MANY), engine)
    for function in (fewer, static):
        with pytest.raises(ArgumentError, match="no -1 bins"):
            function(*given)


@pytest.mark.parametrize("function", [dy2st.tril, dy2st.roll])
def test_a_place_that_a_tensor_tells_is_an_integer(function):
    def moved(x: Any, place: Any) -> Any:
        return function(x, place)

    given = dy2st.ones([2, 2]), dy2st.to_tensor(1.0)
    for one in (moved, to_static(moved)):
        with pytest.raises(ArgumentError, match="is an integer"):
            one(*given)


def test_a_size_that_a_tensor_tells_is_named_where_it_is_refused():
    def embedded(x: Any, offset: Any) -> Any:
        return dy2st.diag(x, offset)

    with pytest.raises(TensorAsPython, match="offset is a traced tensor"):
        to_static(embedded)(dy2st.ones([2]), dy2st.to_tensor(1))


@pytest.mark.parametrize("engine", ENGINES)
def test_where_there_is_no_integer_to_draw_the_call_is_refused(engine):
    def drawn(x: Any) -> Any:
        return dy2st.randint(3, x.shape[0], [2])

    static = to_static(drawn, input_spec=[InputSpec([None])], engine=engine)
    for function in (drawn, static):
        with pytest.raises(ArgumentError, match="no integers from 3 to 3 - 1"):
            function(dy2st.ones([3]))


def test_no_gradient_flows_to_the_ends_of_a_range():
    def spread(x: Any) -> Any:
        return dy2st.linspace(x[0], x[1], 3) * x[0]

    for function in (spread, to_static(spread)):
        x = dy2st.to_tensor([1.0, 3.0], stop_gradient=False)
        function(x).sum().backward()
        assert x.grad.tolist() == [6.0, 0.0]
