"""Lists whose length the data decides are lists for every function of the library, never tensors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import dy2st as P
from dy2st import to_static
from dy2st.errors import ConversionError, NoTensor, ShapeError, UndecidedDim
from dy2st.static import InputSpec
from dy2st_runtime.ir.tracing.traced_list import TracedList
from tests.dy2st.convert.kinds.same import same

X = np.array([[1, 2], [3, 4]], np.float32) / 8
SPECS = [InputSpec([], "int64"), InputSpec([None, 2])]
# What sets something of the process, draws at random, or is no function of values.
LEFT_OUT = {"print_", "promotion", "lazy_names", "array_of", "array_empty", "from_numpy", "shuffle"}
SETS = (
    "set_",
    "disable_",
    "enable_",
    "save",
    "load",
    "seed",
    "summary",
    "flops",
    "get_",
    "assert_",
)
RANDOM = {"bernoulli", "multinomial", "poisson", "standard_gamma", "dropout", "rrelu", "gumbel"}
SPACES = {"dy2st": P, "functional": P.nn.functional, "linalg": P.linalg, "fft": P.fft}


def vectors(n, x):
    made = []
    for place in range(n):
        made.append(x[place] * 2)
    return made


def scalars(n, x):
    made = []
    for place in range(n):
        made.append(x[place, 0])
    return made


def matrices(n, x):
    made = []
    for place in range(n):
        made.append(x * place)
    return made


def images(n, x):
    made = []
    for place in range(n):
        made.append(x.unsqueeze(0) + place)
    return made


def places(n, x):
    made = []
    for place in range(n):
        made.append(place)
    return made


def halves(n, x):
    made = []
    for place in range(n):
        made.append(place * 0.5)
    return made


def said(value):
    """What tells values apart: kinds, dtypes, and numbers to some digits."""
    if isinstance(value, P.Tensor):
        return str(value.dtype), np.round(np.nan_to_num(value.numpy() * 1.0), 4).tolist()
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [said(one) for one in value]
    return repr(value)


def functions():
    for space, module in SPACES.items():
        for name in dir(module):
            one = getattr(module, name)
            is_other = name[0] == "_" or isinstance(one, type) or name.startswith(SETS)
            if callable(one) and not is_other and name not in LEFT_OUT | RANDOM:
                yield f"{space}.{name}", one


def eagerly(function):
    try:
        return said(function(2, P.to_tensor(X)))
    except Exception:
        return None


@pytest.mark.filterwarnings("ignore")
def test_every_function_that_takes_a_list_takes_it_or_is_refused():
    taken, refused, wrong = set(), set(), {}
    for name, function in functions():
        wanted = eagerly(lambda n, x, function=function: function(vectors(n, x)))
        if wanted is None:
            continue

        def given(n, x, function=function):
            return function(vectors(n, x))

        try:
            found = said(to_static(given, input_spec=SPECS)(P.to_tensor(2), P.to_tensor(X)))
        except (ConversionError, UndecidedDim, ShapeError):
            refused.add(name.partition(".")[2])
            continue
        except Exception as error:
            found = repr(error)
        taken.add(name)
        if found != wanted:
            wrong[name] = (wanted, found)
    assert not wrong
    assert len(taken) > 150
    assert refused <= {
        *("atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_tensors"),
        *("cartesian_prod", "clamp", "clip", "meshgrid", "multi_dot", "squeeze", "with_floats"),
    }


@pytest.mark.parametrize("make", [scalars, vectors, matrices, images, places, halves])
@pytest.mark.parametrize(
    "name",
    ["stack", "concat", "hstack", "vstack", "dstack", "column_stack", "row_stack", "add_n"],
)
def test_tensors_of_every_rank_are_put_together(name, make):
    def f(n, x):
        return getattr(P, name)(make(n, x))

    static = to_static(f, input_spec=SPECS)
    for count in (1, 2):
        given = P.to_tensor(count), P.to_tensor(X)
        assert said(static(*given)) == said(f(*given))


USES = {
    "x + list": lambda n, x: x + vectors(n, x),
    "list * x": lambda n, x: vectors(n, x) * x,
    "x < list": lambda n, x: x < vectors(n, x),
    "x == list": lambda n, x: x == vectors(n, x),
    "x @ list": lambda n, x: x @ vectors(n, x),
    "x[list]": lambda n, x: x[places(n, x)],
    "x[:, list]": lambda n, x: x[:, places(n, x)],
    "where": lambda n, x: P.where(x > 0.2, x, vectors(n, x)),
    "gather": lambda n, x: P.gather(x, places(n, x)),
    "to_tensor": lambda n, x: P.to_tensor(halves(n, x)),
    "as_tensor": lambda n, x: P.as_tensor(halves(n, x)),
    "tanh of numbers": lambda n, x: P.tanh(halves(n, x)),
    "is_tensor": lambda n, x: P.is_tensor(vectors(n, x)),
    "clone": lambda n, x: P.clone(vectors(n, x)),
    "shape": lambda n, x: P.shape(vectors(n, x)),
}


@pytest.mark.parametrize("name", USES)
def test_a_tensor_computes_with_it(name):
    function = USES[name]
    given = P.to_tensor(2), P.to_tensor(X)
    found = to_static(lambda n, x: function(n, x), input_spec=SPECS)(*given)
    assert said(found) == said(function(*given))


def test_it_is_saved(tmp_path):
    def f(n, x):
        return P.add_n(vectors(n, x)), P.tanh(vectors(n, x))

    P.jit.save(to_static(f, input_spec=SPECS), str(tmp_path / "model"))
    given = P.to_tensor(2), P.to_tensor(X)
    assert said(tuple(P.jit.load(str(tmp_path / "model"))(*given))) == said(f(*given))


ASKS = {
    "len": len,
    "list": list,
    "bool": bool,
    "array": np.asarray,
    "sum": np.sum,
    "[1] + list": lambda one: [1] + one,
    "list + [1]": lambda one: one + [1],
    "[*list]": lambda one: [*one],
    "list * 2": lambda one: one * 2,
    "2 * list": lambda one: 2 * one,
    "in": lambda one: 1 in one,
    "==": lambda one: one == [1],
    "[1] ==": lambda one: [1] == one,
    "a part": lambda one: one[:2],
    "append": lambda one: one.append(1),
    "extend": lambda one: [].extend(one),
    "text": lambda one: f"{one}",
}


@pytest.mark.parametrize("name", ASKS)
def test_code_that_asks_for_its_items_is_refused(name):
    with pytest.raises(ConversionError, match="a list whose length depends on a tensor"):
        ASKS[name](TracedList([None]))


def some(n, x):
    return [x[place] if x[place].sum() > 0.5 else None for place in range(n)]


def kept_by_append(n, x):
    kept = []
    for one in some(n, x):
        if one is None:
            continue
        kept.append(one)
    return P.stack(kept)


KEPT = {
    "append": kept_by_append,
    "comprehension": lambda n, x: P.concat([one for one in some(n, x) if one is not None]),
    "filter": lambda n, x: P.stack(list(filter(lambda one: one is not None, some(n, x)))),
    "isinstance": lambda n, x: P.stack([one for one in some(n, x) if isinstance(one, P.Tensor)]),
}


@pytest.mark.parametrize("way", KEPT)
def test_what_is_left_of_a_list_with_none_in_it_is_put_together(way):
    static = to_static(lambda n, x: KEPT[way](n, x), input_spec=SPECS)
    for x in (X, X + 1, X[::-1].copy()):
        given = P.to_tensor(2), P.to_tensor(x)
        assert said(static(*given)) == said(KEPT[way](*given))


@pytest.mark.parametrize("scale", [lambda x: 1, lambda x: x.max()], ids=["number", "tensor"])
def test_sums_of_lists_that_may_be_empty_are_put_together_where_all_are_tensors(scale):
    def sums(n, x):
        made = [sum(one for one in x if one.sum() > limit * 0.4) for limit in range(n)]
        return P.stack([one * scale(x) for one in made])

    static = to_static(sums, input_spec=SPECS)
    given = P.to_tensor(2), P.to_tensor(X)
    assert said(static(*given)) == said(sums(*given))
    with pytest.raises(NoTensor, match="holds a number"):
        static(P.to_tensor(1), P.to_tensor(-X))


@pytest.mark.parametrize("function", [P.split, P.chunk])
def test_a_list_that_an_operator_gives_in_a_branch_is_one_of_the_branch(function):
    def f(x):
        if x.sum() > 0:
            parts = function(x, 2)
        else:
            parts = function(x * 2, 2)
        parts.append(x)
        chosen = x if x.max() > 1 else x.reshape([2, 2])
        return parts, function(chosen, 2)[1]

    same(f, [1.0, 2.0, 3.0, 4.0], [-1.0, -2.0, -3.0, -4.0], sizes="known")


class Peak(NamedTuple):
    place: int
    height: float


ROWS = {
    "pairs of one kind": lambda x: [(i, i + 1) for i, v in enumerate(x) if v > 0],
    "numbers of two kinds": lambda x: [[i, float(v)] for i, v in enumerate(x) if v > 0],
    "bools": lambda x: [[True, bool(v > 1)] for v in x if v > 0],
    "named": lambda x: [Peak(i, float(v)) for i, v in enumerate(x) if v > 0],
    "of one number": lambda x: [(i,) for i, v in enumerate(x) if v > 0],
    "or None": lambda x: [(i, None if v > 5 else i + 1) for i, v in enumerate(x) if v > 0],
    "in order": lambda x: sorted((float(v), 1.0) for v in x if v > 0),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_numbers_become_a_tensor_of_two_axes(name):
    def f(x):
        rows = ROWS[name](x)
        return P.to_tensor(rows), P.to_tensor(rows, dtype="float64"), P.sum(rows, 0)

    same(f, [0.5, -1.0, 2.25], [1.0])


def test_rows_of_numbers_are_an_index():
    same(lambda x: x[[(i, 0) for i, v in enumerate(x) if v > 0]], [0.5, -1.0, 2.25], [1.0])


def test_rows_of_numbers_that_are_put_together_want_a_tensor_first():
    def f(x):
        return P.stack([(i, 2) for i, v in enumerate(x) if v > 0])

    with pytest.raises(ConversionError, match=r"instead: make a tensor of it first: to_tensor"):
        to_static(f)(P.to_tensor([1.0]))


def test_sums_that_are_an_int_where_they_are_empty_become_a_tensor():
    def f(x):
        sums = [sum(float(w) for w in x[: i + 1]) for i, v in enumerate(x) if v > 0]
        return P.to_tensor(sums), P.to_tensor([(i, one) for i, one in enumerate(sums)])

    same(f, [0.5, -1.0, 2.25], [1.0])
    none = to_static(lambda x: P.to_tensor([sum(float(v) for v in x if v > 0) for _ in x]))
    assert none(P.to_tensor([1.0, 2.0])).tolist() == [3.0, 3.0]
    with pytest.raises(NoTensor, match="a list of numbers holds None, or one of another kind"):
        none(P.to_tensor([-1.0, -2.0]))


def test_numbers_among_which_some_path_has_none_become_a_tensor():
    def f(x):
        best, found = None, []
        for i, v in enumerate(x):
            if v > 0:
                best = i
            found.append(best)
        return P.to_tensor(found)

    static = to_static(f, input_spec=[InputSpec([None])])
    assert static(P.to_tensor([0.5, -1.0])).tolist() == [0, 0]
    with pytest.raises(NoTensor, match="a list of numbers holds None"):
        static(P.to_tensor([-1.0, 0.5]))
