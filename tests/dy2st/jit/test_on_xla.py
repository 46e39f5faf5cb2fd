"""What is converted gives on the engine `xla` what Python gives."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st.static import InputSpec
from tests.dy2st.catalogue.drivers import verdict
from tests.dy2st.catalogue.not_yet import WRONG
from tests.dy2st.catalogue.test_catalogue import is_refused
from tests.dy2st.catalogue.themes import CASES
from tests.dy2st.jit import gradient_programs, shape_programs, state_programs, tensor_programs
from tests.dy2st.jit.trained import control, layers, objectives  # noqa: F401  they fill the table
from tests.dy2st.jit.trained.compare import MODELS, WAYS, check
from tests.dy2st.ordinary.driver import Way
from tests.dy2st.ordinary.driver import check as check_layer
from tests.dy2st.ordinary.layers import ROWS, Row
from tests.dy2st.static import bucket_programs
from tests.dy2st.targets.onnx.not_in_onnx import NOT_IN_ONNX
from tests.effort import IS_FULL, effort

pytest.importorskip("jax", reason="the engine xla needs jax: pip install 'dy2st[jax]'")

# Of those a share, as each takes a second to compile.
TRAINED = sorted(MODELS)[:: 1 if IS_FULL else 12]
CASES_OF_XLA = [
    case for case in CASES if case.way == "on_xla" and not is_refused(case) and not case.entry.slow
]
MODEL_CODE = [case for case in CASES_OF_XLA if case.entry.theme.startswith("model_code.")]
THEMES = [case for case in CASES_OF_XLA if case not in MODEL_CODE and case.name not in WRONG]

RECURSION = "functions that call themselves"  # which XLA has not, either

# Gradients near 0, which Adam divides by their own size, are rounding there.
BY_SGD = ("CausalAttention", "Decoder", "Encoder", "batch_norm_of_rows")
PROGRAMS: dict[str, Callable[[int], str]] = {
    "tensors": lambda seed: tensor_programs.compare(tensor_programs.program_of(seed)),
    "state": lambda seed: state_programs.compare(state_programs.program_of(seed)),
    "shapes": shape_programs.compare,
    "gradients": lambda seed: gradient_programs.compare(
        seed, gradient_programs.program_of(seed), f"<gradients {seed}>"
    ),
    "buckets": lambda seed: bucket_programs.compare(bucket_programs.program_of(seed)),
}

# Gradients of gradients take many seconds to compile.
MANY = {kind: effort(1, 10 if kind == "gradients" else 30) for kind in PROGRAMS}


@pytest.fixture(autouse=True)
def on_xla(monkeypatch):
    monkeypatch.setenv("DY2ST_ENGINE", "xla")
    monkeypatch.setenv("DY2ST_XLA_BACKGROUND", "off")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TRAINED)
def test_losses_and_state_are_those_of_eager_training(name, way):
    check(name, way, "SGD" if name in BY_SGD else "Adam", 4, 4)


@pytest.mark.filterwarnings("ignore:(divide|invalid|overflow|underflow)")
@pytest.mark.parametrize(
    "case",
    [*MODEL_CODE[:: effort(120, 5)], *THEMES[:: effort(80, 5)]],
    ids=lambda case: case.name,
)
def test_an_entry_of_the_catalogue_gives_what_python_gives(case):
    kind, says, error = verdict(case)
    if case.name.removesuffix(" on_xla") in NOT_IN_ONNX[RECURSION]:
        assert kind == "refused" and RECURSION in str(error)
    else:
        assert (kind, says) == ("equal", ""), error


@pytest.mark.filterwarnings("ignore:(divide|invalid|overflow|underflow|Mean|Degrees)")
@pytest.mark.filterwarnings("ignore:Out of bound index found:DeprecationWarning")
@pytest.mark.parametrize(
    ("kind", "seed"), [(kind, seed) for kind, many in MANY.items() for seed in range(many)]
)
def test_a_random_program_gives_what_python_gives(kind, seed):
    found = PROGRAMS[kind](seed)
    assert found.startswith(("equal", "refused", "padded", "not ")), found


USES = [
    Way("xla", spec=True, edges=True),  # which are saved and loaded, too
    Way("xla", training=True, edges=True),
    *(Way("xla", True, True, dtype=dtype) for dtype in ("float64", "float16", "bfloat16")),
]
LAYERS = [
    (row, way)
    for row in ROWS.values()
    for way in USES
    if way.dtype == "float32" or way.dtype in row.dtypes
]


@pytest.mark.parametrize(
    ("row", "way"),
    LAYERS[:: effort(60, 3)],
    ids=lambda one: one.name if isinstance(one, Row) else str(one),
)
def test_a_layer_gives_what_its_eager_calls_give(row, way):
    if way.dtype in ("float16", "bfloat16"):  # XLA rounds to 16 bits less often
        row = replace(row, slopes=3 * row.slopes)
    check_layer(row, way)


def test_threads_call_one_layer_with_many_sizes():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    static = to_static(deepcopy(net), input_spec=[InputSpec([None, 3])])
    batches = [dy2st.ones([1 + number % 5, 3]) * number for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(static, batches))
    for one, x in zip(found, batches, strict=True):
        np.testing.assert_allclose(one.numpy(), net(x).numpy(), rtol=1e-5, atol=1e-6)


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
