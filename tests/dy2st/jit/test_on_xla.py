"""Converted models on the engine `xla`: training, and model code, as on NumPy's engine."""

from __future__ import annotations

import pytest

import dy2st
from dy2st import to_static
from dy2st.static import InputSpec
from tests.dy2st.catalogue.drivers import verdict
from tests.dy2st.catalogue.not_yet import NOT_YET, WRONG
from tests.dy2st.catalogue.themes import CASES
from tests.dy2st.jit.trained import control, layers, objectives  # noqa: F401  they fill the table
from tests.dy2st.jit.trained.compare import MODELS, WAYS, check
from tests.effort import IS_FULL

pytest.importorskip("jax", reason="the engine xla needs jax: pip install 'dy2st[jax]'")

# One of those, as each takes seconds to compile.
TRAINED = sorted(MODELS)[:: 1 if IS_FULL else 12]
PROGRAMS = [
    case for case in CASES if case.way == "program" and case.entry.theme.startswith("model_code.")
]
KNOWN = [c for c in PROGRAMS if c.name not in NOT_YET | {*WRONG} and not c.entry.slow]
CODE = KNOWN[:: 4 if IS_FULL else 60]


@pytest.fixture(autouse=True)
def on_xla(monkeypatch):
    monkeypatch.setenv("DY2ST_ENGINE", "xla")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TRAINED)
def test_losses_and_state_are_those_of_eager_training(name, way):
    check(name, way, "Adam", 4, 4)


@pytest.mark.filterwarnings("ignore:(divide|invalid|overflow|underflow)")
@pytest.mark.parametrize("case", CODE, ids=lambda case: case.name)
def test_model_code_gives_what_python_gives(case):
    assert verdict(case)[:2] == ("equal", "")


def outside_in_order(x, order):
    kept = []
    for row in x:
        if row > 5:
            kept.append(row)
    total = x
    for kind in order:
        if kind == "list":
            total = total + kept[0]
        else:
            total = total + x[x.sum().astype("int64")]
    return total


@pytest.mark.parametrize("order", [("list", "index"), ("index", "list")])
def test_of_two_that_would_raise_the_first_one_does(order):
    static = to_static(outside_in_order)
    x = dy2st.to_tensor([1.0, 2.0, 3.0])
    with pytest.raises(IndexError) as wanted:
        outside_in_order(x, order)
    with pytest.raises(IndexError) as found:
        static(x, order)
    kinds = ["list" in str(error.value) for error in (wanted, found)]
    assert kinds == [order[0] == "list"] * 2


def changed_at_times(x, y):
    for _ in range(y.sum().astype("int64")):
        if y.max() > 1:
            x = x + 1
    return x


@pytest.mark.parametrize(("times", "is_same"), [([0.0], True), ([1.0], True), ([2.0], False)])
def test_what_no_branch_has_changed_is_the_same_tensor(times, is_same):
    static = to_static(changed_at_times)
    x, y = dy2st.to_tensor([1.0, 2.0, 3.0]), dy2st.to_tensor(times)
    assert (static(x, y) is x) == is_same
    assert static(x, y).tolist() == changed_at_times(x, y).tolist()


def sums_of_parts(x):
    queue, sums = [x], []
    while queue:
        part = queue.pop()
        if part.shape[0] > 2 and len(sums) < 2:
            queue.append(part[2:])
        sums.append(part.sum())
    return sums


def test_a_size_that_a_list_has_given_may_decide():
    static = to_static(sums_of_parts, input_spec=[InputSpec([None])])
    x = dy2st.to_tensor([0.0, 3.0, 2.0, 9.0])
    assert [one.item() for one in static(x)] == [one.item() for one in sums_of_parts(x)]
