"""Models that take too much are stopped by limits, on every engine; all others run as ever."""

from __future__ import annotations

import random
import resource
import threading
import time

import numpy as np
import pytest

import dy2st
import dy2st_runtime
from dy2st import nn
from dy2st.static import InputSpec
from dy2st_runtime import Limits
from dy2st_runtime.errors import ArgumentError, Dy2stError, FormatError, LimitExceeded

ENGINES = ["numpy", "native"]


def endless(x):
    while x.sum() < 1e30:
        x = x * 1.0
    return x


def endless_number(x):
    n = x.sum()
    while n < 1e30:
        n = n * 1.0
    return n


def endless_nest(x):
    while x.sum() < 1e30:
        while x.mean() < 1e30:
            x = x + 0.0
    return x


def huge(x):
    return dy2st.full([10**6, 10**6], 1.0) * x.sum()


def huge_of_values(x):
    return dy2st.full([int(x.sum()) * 10**11], 1.0) + 1


def huge_range(x):
    return dy2st.arange(int(x.sum()) * 10**11).sum()


def huge_tile(x):
    return x.tile([int(x.sum()) * 10**11]) + 1


def huge_count(x):
    return dy2st.bincount((x * 1e11).astype("int64"))


def doubled(x):
    while x.sum() > 0:
        x = dy2st.concat([x, x])
    return x


def long_sum(x):
    return (dy2st.full([10**7, 10**6], 1.0) * x.sum()).sum()


LONG = [endless, endless_number, endless_nest]
LARGE = [huge, huge_of_values, huge_range, huge_tile, huge_count, doubled]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")

    def save(function):
        path = str(folder / function.__name__)
        spec = [InputSpec([None], "float32", name="x")]
        dy2st.jit.save(dy2st.to_static(function, input_spec=spec), path)
        return path

    return save


X = np.ones(3, "float32")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function", LONG)
def test_a_model_that_does_not_end_is_stopped_by_time(saved, function, engine):
    model = dy2st_runtime.load(saved(function), engine=engine, limits=Limits(seconds=0.5))
    begin = time.monotonic()
    with pytest.raises(LimitExceeded, match=r"0\.5 seconds"):
        model(X)
    assert time.monotonic() - begin < 15


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function", LONG)
def test_a_model_that_does_not_end_is_stopped_by_its_operators(saved, function, engine):
    model = dy2st_runtime.load(saved(function), engine=engine, limits=Limits(operators=5000))
    with pytest.raises(LimitExceeded, match="5000 operators"):
        model(X)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function", LARGE)
def test_what_is_too_large_is_refused_before_it_is_made(saved, function, engine):
    model = dy2st_runtime.load(saved(function), engine=engine, limits=Limits(bytes=10**8))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(LimitExceeded, match="100000000 bytes"):
        model(X)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 600_000


def test_one_long_operator_of_machine_code_is_stopped(saved):
    limits = Limits(seconds=0.5)
    model = dy2st_runtime.load(saved(long_sum), engine="native")
    model = dy2st_runtime.load(saved(long_sum), engine="native", limits=limits)
    begin = time.monotonic()
    with pytest.raises(LimitExceeded):
        model(X)
    assert time.monotonic() - begin < 15


@pytest.mark.parametrize("engine", ENGINES)
def test_other_threads_have_their_own_limits(saved, engine):
    path, found = saved(endless), []

    def call(limits):
        model = dy2st_runtime.load(path, engine=engine, limits=limits)
        begin = time.monotonic()
        with pytest.raises(LimitExceeded):
            model(X)
        found.append((limits.seconds, time.monotonic() - begin))

    threads = [threading.Thread(target=call, args=(Limits(seconds=s),)) for s in (0.2, 0.8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2 and all(taken >= wanted for wanted, taken in found)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 16), nn.Linear(16, 2)

    def forward(self, x):
        y = self.first(x).tanh()
        n = 0
        while y.sum() > 1.0:
            y = y * 0.5
            n = n + 1
        if y.mean() > 0:
            y = y.sort(axis=1)
        else:
            y = dy2st.concat([y[:1], y], axis=0)[1:]
        return self.second(y), n


@pytest.mark.parametrize("engine", ENGINES)
def test_a_model_within_its_limits_gives_what_it_gives_without(tmp_path, engine):
    net = Net()
    spec = [InputSpec([None, 3], "float32", name="x")]
    dy2st.jit.save(dy2st.to_static(net, input_spec=spec), str(tmp_path / "net"))
    free = dy2st_runtime.load(tmp_path / "net", engine=engine)
    limits = Limits(operators=10_000, bytes=10**7, seconds=60)
    held = dy2st_runtime.load(tmp_path / "net", engine=engine, limits=limits)
    for rows in (1, 4, 7):
        x = np.random.default_rng(rows).normal(size=(rows, 3)).astype("float32") * 3
        (one, n), (other, m) = free(x), held(x)
        np.testing.assert_array_equal(one.numpy(), other.numpy())
        assert int(n) == int(m)
    held.save(tmp_path / "again")
    assert (tmp_path / "again.mlir").read_text() == (tmp_path / "net.mlir").read_text()


def test_the_bytes_of_an_iteration_are_given_back_at_its_end(saved):
    def halved(x):
        while x.sum() > 1e-3:
            y = x * dy2st.ones([1000, 1])
            x = y.mean(axis=0) * 0.5
        return x

    path = saved(halved)
    for engine in ENGINES:
        model = dy2st_runtime.load(path, engine=engine, limits=Limits(bytes=100_000))
        assert model(X).numpy().sum() < 1e-3


@pytest.mark.parametrize(
    "given", [{"operators": 0}, {"bytes": -1}, {"seconds": 0}, {"operators": 1.5}, {"seconds": "1"}]
)
def test_what_is_no_limit_is_refused(given):
    with pytest.raises(ArgumentError, match="above 0"):
        Limits(**given)


def test_limits_are_of_their_class(saved):
    with pytest.raises(ArgumentError, match="Limits"):
        dy2st_runtime.load(saved(endless), limits=5)
    assert issubclass(LimitExceeded, Dy2stError) and issubclass(LimitExceeded, RuntimeError)


def test_loading_may_be_limited_too(saved):
    with pytest.raises(LimitExceeded):
        dy2st_runtime.load(saved(endless), limits=Limits(seconds=1e-9))


def equations(size):
    """The text of 40 equations between products of a dozen sizes, which take long to prove."""
    names = [f"s{index}" for index in range(12)]
    draw = random.Random(1)

    def side():
        one, two, three = draw.sample(names, 3)
        return size.format(one, two, three)

    said = [
        f'{{condition = #dy2st.condition<"{side()} == {side()}">, reason = "r"}}' for _ in range(40)
    ]
    symbols = "".join(f"{name} = [0], " for name in names)
    inputs = ", ".join(f'%z{i}: tensor<?xf32, ["{name}"]>' for i, name in enumerate(names))
    return symbols, inputs, said


@pytest.mark.parametrize("size", ["{}*{} + {}", "broadcast({}, {}) + {}"])
def test_equations_that_take_long_to_prove_are_stopped(tmp_path, size):
    function = dy2st.to_static(lambda x: x * 2, input_spec=[InputSpec(["a"], name="x")])
    dy2st.jit.save(function, str(tmp_path / "net"))
    symbols, inputs, said = equations(size)
    text = (tmp_path / "net.mlir").read_text()
    numbers = "".join(f', "z{index}"' for index in range(12))
    text = text.replace("symbols = {", "symbols = {" + symbols)
    text = text.replace(
        'inputs = ["x"]', f'inputs = ["x"{numbers}],\n constraints = [{", ".join(said)}]'
    )
    text = text.replace('["a"]>):', f'["a"]>, {inputs}):')
    (tmp_path / "net.mlir").write_text(text)
    begin = time.process_time()
    with pytest.raises((LimitExceeded, FormatError)):
        dy2st_runtime.load(tmp_path / "net", limits=Limits(seconds=0.1))
    assert time.process_time() - begin < 6


def wide_windows(x):
    """The windows are 2,000 times as large as x, and as the result."""
    image = x.reshape([1, 1, -1])
    return dy2st.nn.functional.conv1d(image, dy2st.ones([1, 1, 2001]), padding=1000)


def wide_filters(x):
    image = x.reshape([1, 1, -1])
    return dy2st.nn.functional.conv1d_transpose(image, dy2st.ones([1, 1, 2001]), stride=2)


def far_pads(x):
    image = x.reshape([1, 1, -1])
    return dy2st.nn.functional.conv1d(
        image, dy2st.ones([1, 1, 1]), padding=10**8, stride=10**8, dilation=1
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function", [wide_windows, wide_filters, far_pads])
def test_what_a_kernel_lays_out_beside_its_result_counts(saved, function, engine):
    x = np.ones(20_000, "float32")
    model = dy2st_runtime.load(saved(function), engine=engine, limits=Limits(bytes=10**8))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(LimitExceeded, match="100000000 bytes"):
        model(x)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000
    enough = dy2st_runtime.load(saved(function), engine=engine, limits=Limits(bytes=10**9))
    plain = dy2st_runtime.load(saved(function), engine=engine)
    np.testing.assert_array_equal(enough(x).numpy(), plain(x).numpy())
