"""Running Programs, against the same NumPy calls written by hand."""

from __future__ import annotations

import statistics
import time

import numpy as np

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec


def best(function, rounds: int = 15) -> float:
    """The median of several rounds, in seconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def grow(x, c):
    while x.mean() < c:
        x = x * 1.01 + 0.1
    return x


def grow_by_hand(x, c):
    while np.mean(x) < c:
        x = x * np.float32(1.01) + np.float32(0.1)
    return x


def ten_ifs(x):
    for i in range(10):
        if x.mean() > i:
            x = x - 1.0
        else:
            x = x + 2.0
    return x


def ten_ifs_by_hand(x):
    for i in range(10):
        if np.mean(x) > np.float32(i):
            x = x - np.float32(1.0)
        else:
            x = x + np.float32(2.0)
    return x


def runner(function, *shapes):
    specs = [InputSpec(shape, "float32", f"x{i}") for i, shape in enumerate(shapes)]
    executable = to_static(function, input_spec=specs).concrete_program.executable
    return lambda *arrays: executable.run(arrays, [])[0]


def test_loop_of_1000_turns(benchmark):
    def measure():
        static = runner(grow, [64], [])
        x = np.zeros(64, "float32")
        # x grows to (1.01**n - 1) * 10: 1,000 turns
        limit = np.float32((1.01**1000 - 1) * 10 * 0.999)
        np.testing.assert_allclose(static(x, limit), grow_by_hand(x, limit), rtol=1e-5)
        ratio = best(lambda: static(x, limit)) / best(lambda: grow_by_hand(x, limit))
        benchmark.extra_info["loop of 1,000 turns on (64,), against NumPy by hand"] = (
            f"{ratio:.2f} times",
            "1.3 times",
        )

    benchmark.pedantic(measure, rounds=1)


def test_ten_tensor_ifs(benchmark):
    def measure():
        static = runner(ten_ifs, [64])
        x = np.ones(64, "float32")
        np.testing.assert_array_equal(static(x), ten_ifs_by_hand(x))

        def many(function):
            return best(lambda: [function(x) for _ in range(200)])

        ratio = many(static) / many(ten_ifs_by_hand)
        benchmark.extra_info["ten tensor ifs on (64,), against NumPy by hand"] = (
            f"{ratio:.2f} times",
            "1.3 times",
        )

    benchmark.pedantic(measure, rounds=1)


def test_engine_overhead(benchmark):
    def measure():
        def chain(x):
            for _ in range(1000):
                x = x.tanh()
            return x

        chain.__dy2st_ignore__ = True
        static = runner(chain, [8])
        x = np.ones(8, "float32")

        def by_hand():
            y = x
            for _ in range(1000):
                y = np.tanh(y)
            return y

        overhead = (best(lambda: static(x)) - best(by_hand)) / 1000 * 1e6
        benchmark.extra_info["engine, above the NumPy call of an operator"] = (
            f"{overhead:.2f} us",
            "1 us",
        )

    benchmark.pedantic(measure, rounds=1)


def test_calling_a_converted_function(benchmark):
    def measure():
        static = to_static(lambda_free)
        x = dy2st.ones([8])
        static(x)
        cost = best(lambda: [static(x) for _ in range(200)]) / 200 * 1e6
        benchmark.extra_info["call of a converted function (x + 1)"] = (f"{cost:.1f} us", "")

    benchmark.pedantic(measure, rounds=1)


def lambda_free(x):
    return x + 1.0
