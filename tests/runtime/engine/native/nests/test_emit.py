"""Loop nests as machine code, against NumPy."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dy2st as P
from dy2st.static import InputSpec
from dy2st_runtime import ops
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.nests.stages import schedule
from dy2st_runtime.ir import F
from tests.recorded import program_of as traced
from tests.runtime.engine.native.running_nests import compiled, run

SIZES = (0, 1, 2, 7, 16, 17, 33, 1000)


@pytest.fixture(params=["host", "haswell"])
def processor(request, monkeypatch):
    """Code for this machine, and for one with shorter vectors."""
    if request.param == "haswell":
        monkeypatch.setenv("DY2ST_NATIVE_CPU", "haswell")
    return Processor.host()


def numbers(*shape, seed=0):
    """Random float32."""
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def results(code, *arrays):
    """The outputs as arrays."""
    return [value.array for value in run(code, *arrays)]


def both(function, *types):
    """The code of a function with symbols for sizes."""
    return compiled(traced(function, *types))


@pytest.mark.parametrize("known", [True, False])
def test_elementwise_operators_broadcast(known, processor):
    def function(x, y, z):
        return x * y + z, F.maximum(x, z)

    for n in SIZES:
        size = n if known else "n"
        shapes = (("float32", (3, size)), ("float32", (size,)), ("float32", (3, 1)))
        code = compiled(traced(function, *shapes), processor)
        x, y, z = numbers(3, n), numbers(n, seed=1), numbers(3, 1, seed=2)
        one, two = results(code, x, y, z)
        np.testing.assert_allclose(one, x * y + z, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(two, np.maximum(x, z))


REDUCTIONS = {
    "sum": np.sum,
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
    "prod": np.prod,
    "any": np.any,
    "all": np.all,
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [(1,), (0,), (0, 1), (0, 2), (1, 2), (2,), (0, 1, 2)])
def test_reductions_take_any_axes(name, axis):
    reduce = getattr(F, name)
    code = both(
        lambda x: (reduce(x, axis=list(axis)), reduce(x, axis=list(axis), keepdim=True)),
        ("float32", (3, 7, 33)),
    )
    x = 1 + 0.1 * numbers(3, 7, 33)
    x[0, :, 3] = 0
    one, two = results(code, x)
    wanted = REDUCTIONS[name](x, axis=axis)
    np.testing.assert_allclose(one, wanted, rtol=1e-5)
    np.testing.assert_allclose(two.reshape(one.shape), wanted, rtol=1e-5)


@pytest.mark.parametrize("axis", [0, 1])
def test_reductions_take_any_size(axis, processor):
    def function(x):
        return F.sum(x, axis=axis), F.any(x > 1.0, axis=axis)

    code = compiled(traced(function, ("float32", ("m", "n"))), processor)
    for m in (0, 1, 5):
        for n in SIZES:
            x = numbers(m, n)
            total, any_ = results(code, x)
            np.testing.assert_allclose(total, x.sum(axis), rtol=1e-4, atol=1e-5)
            np.testing.assert_array_equal(any_, (x > 1).any(axis))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_place_of_an_extreme_is_the_first_one(name, axis):
    code = both(lambda x: getattr(F, name)(x, axis=axis), ("float32", (65, 77)))
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 3, (65, 77)).astype("float32")
    x[5, 70] = x[9, 70] = x[60, 2] = np.nan
    (found,) = results(code, x)
    np.testing.assert_array_equal(found, getattr(np, name)(x, axis=axis))


def test_nan_is_the_largest_and_the_least():
    code = both(lambda x: (F.max(x, axis=1), F.min(x, axis=1)), ("float32", (80, 77)))
    x = numbers(80, 77)
    x[np.arange(77), np.arange(77)] = np.nan
    for found, wanted in zip(results(code, x), (x.max(1), x.min(1))):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "bool", "float64"])
def test_reductions_take_other_dtypes(dtype):
    code = both(lambda x: (F.sum(x, axis=1), F.max(x, axis=1), F.mean(x, axis=0)), (dtype, (5, 77)))
    x = np.random.default_rng(0).integers(0, 100, (5, 77)).astype(dtype)
    total, most, mean = results(code, x)
    np.testing.assert_allclose(total, x.sum(1))
    np.testing.assert_array_equal(most, x.max(1))
    np.testing.assert_allclose(mean, x.mean(0))


@pytest.mark.parametrize("n", [3, 40, 1025, 5000])
@pytest.mark.parametrize("known", [True, False])
def test_stages_of_a_row_keep_what_costs_much(n, known):
    def function(x):
        y = F.exp(F.tanh(x) * 0.5)
        e = F.exp(y - F.max(y, axis=1, keepdim=True))
        return e / F.sum(e, axis=1, keepdim=True)

    x = numbers(6, n)
    code = both(function, ("float32", (6, n if known else "n")))
    y = np.exp(np.tanh(x.astype("float64")) * 0.5)
    e = np.exp(y - y.max(1, keepdims=True))
    (found,) = results(code, x)
    np.testing.assert_allclose(found, e / e.sum(1, keepdims=True), rtol=2e-6)


@pytest.mark.parametrize("n", [1, 511, 512, 1500, 2048, 5000])
@pytest.mark.parametrize("known", [True, False])
def test_long_chains_run_in_tiles(n, known):
    def function(x):
        first = F.tanh(x)
        for _ in range(6):
            x = F.exp(F.tanh(x) * 0.5) + first
        return x

    x = numbers(n)
    (found,) = results(both(function, ("float32", (n if known else "n",))), x)
    x = x.astype("float64")
    first = np.tanh(x)
    for _ in range(6):
        x = np.exp(np.tanh(x) * 0.5) + first
    np.testing.assert_allclose(found, x, rtol=1e-5, atol=1e-6)


def test_which_sizes_are_repeated_is_asked_in_front_of_all_loops():
    sizes = ("float32", ("n", "m")), ("float32", ("k", "l"))
    source = Executable(traced(lambda x, y: x + y, *sizes)).source
    (nest,) = re.findall(r"^define internal void @nest_.*?^}", source, re.DOTALL | re.MULTILINE)
    start, loops = nest.split("\n  br label", 1)
    assert "icmp ne i64 %size" in start and "icmp ne" not in loops


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_many_costly_operators_are_functions_that_compute_the_same(dtype):
    def function(x):
        y = x
        for _ in range(4):
            y = ops.where(ops.tanh(y) > 0.1, ops.gelu(y, approximate=True), ops.gelu(y))
            y = ops.sin(y) + ops.atan2(y, x) - ops.sigmoid(y) * ops.pow(ops.abs(x), y)
            y = ops.softplus(y, beta=2.0) - ops.softplus(y, beta=3.0) + ops.erf(x)
        return y

    executable = Executable(traced(function, (dtype, ("n",))))
    text = executable.source
    names = re.findall(r"define internal <.* @nest_\w+\.(\w+)\.", text)
    costly = ["atan2", "erf", "gelu", "pow", "sigmoid", "sin", "softplus", "tanh"]
    assert sorted(names) == sorted([*costly, "gelu", "softplus"])
    rtol = {"float32": 1e-4, "float64": 1e-11}[dtype]
    for size in (0, 1, 17, 700):
        x = np.random.default_rng(0).normal(size=size).astype(dtype)
        (want,) = executable.reference.run([x], [])
        np.testing.assert_allclose(executable.run([x], [])[0], want, rtol=rtol, atol=rtol)


def test_parts_of_vectors_are_stored_once_a_row_where_that_is_slow(monkeypatch):
    monkeypatch.setenv("DY2ST_NATIVE_CPU", "haswell")
    text = Executable(traced(lambda x: ops.add(x, 1.0), ("float32", ("m", "n")))).source
    loops = re.findall(r"store <(\d+) x float>|masked.store.v(\d+)f32.*ptr align", text)
    assert loops == [("32", ""), ("8", ""), ("", "8")]


def test_rows_of_any_length_are_reduced_and_kept_whole(processor):
    def function(x):
        softmax = ops.softmax(x, axis=-1)
        return [softmax, ops.sum(ops.exp(x), axis=[1]), ops.argmax(ops.tanh(x), axis=1)]

    executable = Executable(traced(function, ("float32", ("m", "n"))))
    for size in (*range(1, 42), 63, 64, 65, 100):
        x = np.random.default_rng(size).normal(size=(3, size)).astype("float32")
        for found, want in zip(
            executable.run([x], []), executable.reference.run([x], []), strict=True
        ):
            np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)


# -- operands of checks ----------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("row", [3, 7])
def test_a_program_of_any_sizes_names_the_row_that_is_none(row, engine):
    spec = [InputSpec([None, 3], "float32"), InputSpec([None], "int64")]
    traced = P.to_static(
        lambda w, i: P.nn.functional.embedding(i, w), engine=engine, input_spec=spec
    )
    with pytest.raises(IndexError, match=f" {row} "):
        traced(P.ones([3, 3]), P.to_tensor([0, 1, row]))


# -- in which loop a node is computed --------------------------------------------------------------


def stages_of(function, *types):
    """The stages of the only nest of a function."""
    (nest,) = compiled(traced(function, *types)).nests
    return nest.parts[0], schedule(nest.parts[0])


def test_a_long_chain_is_computed_in_many_short_stages():
    def chain(x):
        for _ in range(20):
            x = F.exp(F.tanh(x * 1.1))
        return x

    _, found = stages_of(chain, ("float32", ("n",)))
    assert len(found.stages) >= 20
    assert all(stage.computed for stage in found.stages)
    assert max(stage.cost for stage in found.stages) < 100


def test_what_costs_much_is_kept_and_what_is_cheap_is_computed_again():
    def softened(x):
        y = x - F.mean(x, axis=1, keepdim=True)
        e = F.exp(y - F.max(y, axis=1, keepdim=True))
        return e / F.sum(e, axis=1, keepdim=True)

    part, found = stages_of(softened, ("float32", ("n", 64)))
    texts = [node.words() for node in part.nodes]
    times = [sum(index in stage.computed for stage in found.stages) for index in range(len(texts))]
    assert times[next(i for i, text in enumerate(texts) if "exp" in text)] == 1
    assert times[next(i for i, text in enumerate(texts) if "subtract" in text)] == 2
    assert len(set(found.buffers.values())) == 1


def test_what_is_not_needed_any_more_makes_room():
    def chain(x):
        for _ in range(8):
            x = F.exp(F.tanh(x * 1.1))
        return x

    _, found = stages_of(chain, ("float32", ("n",)))
    assert len(set(found.buffers.values())) <= 2 < len(found.buffers)
