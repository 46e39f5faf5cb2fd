"""Conversion and tracing: from source to Program."""

from __future__ import annotations

import gc
import linecache
import statistics
import time

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec

TWENTY_LINES = """
def f{n}(x, y):
    a = x * 2.0
    b = y + 1.0
    c = a + b
    if c.mean() > 0.0:
        c = c - 1.0
        d = c * 2.0
    else:
        c = c + 1.0
        d = c / 2.0
    e = d * d
    i = 0
    while e.mean() < 10.0:
        e = e * 1.5 + 0.1
        i = i + 1
    g = e - a
    h = g * b
    k = h + c
    m = k * 0.5
    return m, i
"""

LAYER = "    x = F.relu(dy2st.matmul(x, w) + b)\n"
FIFTY_LAYERS = "def f{n}(x, w, b):\n" + LAYER * 50 + "    return x\n"

HELPERS = (
    "".join(f"def h{i}_{{n}}(x):\n    y = x + {i}.0\n    return y * 0.5\n\n" for i in range(200))
    + "def f{n}(x):\n"
    + "".join(f"    x = h{i}_{{n}}(x)\n" for i in range(200))
    + "    return x\n"
)


def fresh(template: str, n: int):
    """A function that no cache knows, from a file that exists for linecache alone."""
    text = template.replace("{n}", str(n))
    filename = f"<benchmark {hash(template)} {n}>.py"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {"dy2st": dy2st, "F": dy2st.nn.functional}
    exec(compile(text, filename, "exec"), namespace)
    return namespace[f"f{n}"]


def milliseconds(template: str, specs, rounds: int = 9) -> float:
    times = []
    for n in range(rounds + 2):
        static = to_static(fresh(template, n), input_spec=specs)
        gc.collect()
        start = time.perf_counter()
        static.concrete_program  # noqa: B018
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:]) * 1e3


def spec(shape, name):
    return InputSpec(shape, "float32", name)


def test_conversion(benchmark):
    def measure():
        info = benchmark.extra_info
        two = [spec([None, 8], "x"), spec([None, 8], "y")]
        info["convert 20 lines with an if and a while"] = (
            f"{milliseconds(TWENTY_LINES, two):.1f} ms",
            "20 ms",
        )
        three = [spec([None, 8], "x"), spec([8, 8], "w"), spec([8], "b")]
        info["convert 50 layers"] = (f"{milliseconds(FIFTY_LAYERS, three):.1f} ms", "40 ms")
        helpers = milliseconds(HELPERS, [spec([4], "x")], rounds=3) / 200
        info["convert a small helper (of 200)"] = (f"{helpers:.2f} ms", "2 ms")

    benchmark.pedantic(measure, rounds=1)


def trace_seconds(count: int) -> float:
    def chain(x):
        for _ in range(count):
            x = x + 1.0
        return x

    chain.__dy2st_ignore__ = True
    static = to_static(chain, input_spec=[spec([None, 8], "x")])
    start = time.perf_counter()
    static.concrete_program  # noqa: B018
    return time.perf_counter() - start


def test_tracing(benchmark):
    def measure():
        trace_seconds(100)
        info = benchmark.extra_info
        # x + 1.0 is two operators: the constant and the sum.
        small = statistics.median(trace_seconds(500) for _ in range(5)) / 1000 * 1e6
        large = trace_seconds(10_000) / 20_000 * 1e6
        info["trace an operator (of 1,000)"] = (f"{small:.1f} us", "60 us")
        info["trace an operator (of 20,000)"] = (f"{large:.1f} us", "60 us, linear")

    benchmark.pedantic(measure, rounds=1)
