"""Random numbers that the device draws: of the right distributions, the same for a seed."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static
from dy2st.nn import functional as F
from dy2st.paddle import distributed as dist
from dy2st_runtime.engine.xla.executable import compile_program
from dy2st_runtime.errors import ArgumentError

jax = pytest.importorskip("jax", reason="the engine xla needs jax: pip install 'dy2st[jax]'")

MANY = 20_000
WEIGHTS = dy2st.to_tensor([0.2, 0.0, 0.8])
# What draws, and the mean and the variance of the distribution.
DRAWS = {
    "uniform": (lambda: dy2st.uniform([MANY], min=-1.0, max=3.0), 1.0, 16 / 12),
    "uniform_float64": (lambda: dy2st.uniform([MANY], "float64"), 0.5, 1 / 12),
    "gaussian": (lambda: dy2st.normal(2.0, 3.0, [MANY]), 2.0, 9.0),
    "randint": (lambda: dy2st.randint(-3, 7, [MANY]), 1.5, 99 / 12),
    "bernoulli": (lambda: dy2st.bernoulli(dy2st.full([MANY], 0.3)), 0.3, 0.21),
    "poisson": (lambda: dy2st.poisson(dy2st.full([MANY], 4.0)), 4.0, 4.0),
    "standard_gamma": (lambda: dy2st.standard_gamma(dy2st.full([MANY], 2.5)), 2.5, 2.5),
    "binomial": (lambda: dy2st.binomial(dy2st.full([MANY], 10), dy2st.full([MANY], 0.3)), 3, 2.1),
    "multinomial": (lambda: dy2st.multinomial(WEIGHTS, MANY, replacement=True), 1.6, 0.64),
}


@pytest.fixture(autouse=True)
def on_device(monkeypatch):
    monkeypatch.setenv("DY2ST_XLA_RANDOM", "device")
    dy2st.seed(7)


def on_xla(function):
    return to_static(function, engine="xla")


@pytest.mark.parametrize("name", DRAWS)
def test_numbers_have_the_mean_the_variance_and_the_dtype(name):
    draw, mean, variance = DRAWS[name]
    static = on_xla(lambda: draw())
    found, again = static(), static()
    assert found.dtype == draw().dtype
    numbers = found.numpy().astype("float64")
    assert abs(numbers.mean() - mean) < 5 * np.sqrt(variance / MANY)
    assert abs(numbers.var() / variance - 1) < 0.1
    assert not np.array_equal(found.numpy(), again.numpy())


def test_the_seed_decides_all_numbers():
    static = on_xla(lambda: dy2st.randn([3, 4]))
    first = static().numpy()
    dy2st.seed(7)
    assert np.array_equal(static().numpy(), first)
    dy2st.seed(8)
    assert not np.array_equal(static().numpy(), first)


def test_two_draws_of_one_call_are_independent():
    a, b = on_xla(lambda: (dy2st.randn([MANY]), dy2st.randn([MANY])))()
    assert abs(float((a * b).mean())) < 5 / np.sqrt(MANY)


def test_a_permutation_has_each_number_once():
    found = on_xla(lambda: dy2st.randperm(100))().numpy()
    assert sorted(found) == list(range(100)) and list(found) != list(range(100))


def test_what_is_drawn_without_replacement_comes_once():
    weights = dy2st.to_tensor([[1.0, 2.0, 0.0, 3.0]] * 50)
    found = on_xla(lambda: dy2st.multinomial(weights, 3))().numpy()
    assert (np.sort(found) == [0, 1, 3]).all()


def test_each_iteration_and_each_branch_draws_numbers_of_its_own():
    def walk(x):
        total, steps = dy2st.zeros([4]), dy2st.zeros([6, 4])
        n = dy2st.zeros([], "int64")
        while n < x.sum():
            if n % 2 == 0:
                step = dy2st.rand([4])
            else:
                step = dy2st.rand([4]) - 1
            steps[n] = step
            total = total + step
            n = n + 1
        return total, steps

    static = on_xla(walk)
    total, steps = static(dy2st.to_tensor([2, 4]))
    rows = steps.numpy()
    np.testing.assert_allclose(total.numpy(), rows.sum(0), rtol=1e-5)
    assert len(np.unique(np.abs(rows))) == rows.size
    assert (rows[::2] > 0).all() and (rows[1::2] < 0).all()


def test_a_loop_may_go_on_by_chance():
    def tries(x):
        n = dy2st.zeros([], "int64")
        while dy2st.rand([]) < x:
            n = n + 1
        return n

    static = on_xla(tries)
    counts = [int(static(dy2st.to_tensor(0.8))) for _ in range(300)]
    assert 3.0 < np.mean(counts) < 5.0


def test_weights_that_are_none_are_refused_with_the_line():
    static = on_xla(lambda w: dy2st.multinomial(w, 2))
    with pytest.raises(ArgumentError, match="fewer than 2 probabilities"):
        static(dy2st.to_tensor([1.0, 0.0]))


@pytest.mark.parametrize(
    ("draw", "error"),
    [
        (lambda n: dy2st.randint(5, n, [3]), ArgumentError),
        (lambda n: dy2st.normal(0.0, -1.0, [3]), ValueError),
    ],
)
def test_what_numpy_draws_nothing_of_is_refused_too(draw, error):
    static = to_static(
        lambda x: draw(x.shape[0]) + x.shape[0],
        input_spec=[dy2st.static.InputSpec([None], "float32")],
        engine="xla",
    )
    with pytest.raises(error):
        static(dy2st.ones([3]))


def test_nothing_of_it_is_run_by_the_host():
    static = on_xla(lambda x: F.dropout(x, 0.5) * dy2st.rand([300]))
    static(dy2st.ones([200, 300]))
    assert "numpy" not in compile_program(static.main_program).explain()


def test_without_a_mesh_the_numbers_are_numpys_unless_asked_for(monkeypatch):
    monkeypatch.delenv("DY2ST_XLA_RANDOM")
    found = on_xla(lambda: dy2st.rand([5]))().numpy()
    dy2st.seed(7)
    assert np.array_equal(found, dy2st.rand([5]).numpy())


def test_another_word_is_refused(monkeypatch):
    monkeypatch.setenv("DY2ST_XLA_RANDOM", "dice")
    with pytest.raises(ArgumentError, match="numpy or device, not 'dice'"):
        on_xla(lambda: dy2st.rand([5]))()


@pytest.mark.skipif(jax.device_count() < 8, reason="jax was loaded with fewer devices")
def test_dropout_is_the_same_for_any_number_of_devices(monkeypatch):
    def trained(count):
        dy2st.seed(3)
        net = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.Linear(16, 3))
        mesh = dist.ProcessMesh(list(range(count)), dim_names=["dp"])
        dist.shard_layer(net, mesh)
        sgd = dy2st.optimizer.SGD(0.1, parameters=net.parameters())
        model = dist.to_static(net, None, nn.CrossEntropyLoss(), dist.shard_optimizer(sgd))
        rng = np.random.default_rng(1)
        losses = []
        for _ in range(4):
            x = dy2st.to_tensor(rng.standard_normal((16, 8)).astype("float32"))
            y = dy2st.to_tensor(rng.integers(0, 3, 16))
            given = (dist.shard_tensor(one, mesh, [dist.Shard(0)]) for one in (x, y))
            losses.append(float(model(*given)))
        return losses

    on_one = trained(1)
    monkeypatch.delenv("DY2ST_XLA_RANDOM")  # on a mesh it is so by itself
    assert on_one[3] != on_one[0]
    for count in (2, 8):
        np.testing.assert_allclose(trained(count), on_one, rtol=1e-5)
