"""Conversion and tracing: from source to Program."""

from __future__ import annotations

import gc
import linecache
import statistics
import time

import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.jit.growing_idioms import GROWING, growing

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

FOUR_HUNDRED_IFS = (
    "def f{n}(x):\n"
    + "".join(f"    if x.sum() > {i}.0:\n        x = x + 1.0\n" for i in range(400))
    + "    return x\n"
)

GREEDY_DECODER = """
def f{n}(h, token, table, w, out):
    tokens = []
    for _ in range({steps}):
        h = dy2st.tanh(dy2st.matmul(h, w) + table[token])
        token = dy2st.argmax(dy2st.matmul(h, out), axis=-1)
        tokens.append(token)
        if token == 0:
            break
    return dy2st.stack(tokens)
"""

SHRINKING = """
def f{n}(x):
    out = []
    for _ in range({steps}):
        x = x * 0.9
        out.append(x)
        if x.sum() < 0.5:
            break
    return out[-1], len(out)
"""

APPENDING = """
def f{n}(x):
    out = []
    for i in range({steps}):
        if x.sum() > i:
            out.append(x * i)
    return dy2st.stack(out)
"""

HELPERS = (
    "".join(f"def h{i}_{{n}}(x):\n    y = x + {i}.0\n    return y * 0.5\n\n" for i in range(200))
    + "def f{n}(x):\n"
    + "".join(f"    x = h{i}_{{n}}(x)\n" for i in range(200))
    + "    return x\n"
)


def fresh(template: str, n: int):
    """A function that no cache knows, from a file that exists for linecache alone."""
    text = template.replace("{n}", str(n))
    filename = f"<benchmark {len(template)} {n}>.py"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {"dy2st": dy2st, "F": dy2st.nn.functional}
    exec(compile(text, filename, "exec"), namespace)
    return namespace[f"f{n}"]


def convert(function, specs, clock=time.perf_counter) -> float:
    """Seconds to convert and trace, with no garbage of others to collect."""
    static = to_static(function, input_spec=specs)
    gc.collect()
    start = clock()
    assert static.concrete_program
    return clock() - start


def milliseconds(template: str, specs, rounds: int = 9) -> float:
    """The median over functions that are new; the first two warm up."""
    found = [convert(fresh(template, n), specs) for n in range(rounds + 2)]
    return statistics.median(found[2:]) * 1e3


def spec(shape, name):
    return InputSpec(shape, "float32", name)


def again(template: str, specs, rounds: int = 9) -> float:
    """The median over traces of one function, whose source is rewritten by the first."""
    function = fresh(template, 1_000)
    found = [convert(function, specs) for _ in range(rounds + 2)]
    return statistics.median(found[2:]) * 1e3


def test_function_of_twenty_lines(figure):
    specs = [spec(["batch", 8], "x"), spec(["batch", 8], "y")]
    what = "convert 20 lines with an if and a while"
    figure(what, lambda: milliseconds(TWENTY_LINES, specs), "ms", 8)


def test_twenty_lines_again(figure):
    specs = [spec(["batch", 8], "x"), spec(["batch", 8], "y")]
    what = "trace these 20 lines again"
    figure(what, lambda: again(TWENTY_LINES, specs), "ms", 2.5)


def test_two_batches_that_must_fit(figure):
    specs = [spec([None, 8], "x"), spec([None, 8], "y")]
    what = "the same, with two unknown sizes that must fit each other"
    figure(what, lambda: again(TWENTY_LINES, specs), "ms", None)


def test_fifty_layers(figure):
    specs = [spec([None, 8], "x"), spec([8, 8], "w"), spec([8], "b")]
    figure("convert 50 layers", lambda: milliseconds(FIFTY_LAYERS, specs), "ms", 12)


def test_four_hundred_ifs(figure):
    def measure():
        return milliseconds(FOUR_HUNDRED_IFS, [spec([4], "x")], rounds=3)

    figure("convert 400 ifs in a row", measure, "ms", 400)


def of_steps(template: str, steps: int) -> str:
    """A template for so many steps."""
    return template.replace("{steps}", str(steps))


def test_greedy_decoder(figure):
    shapes = {"h": [8], "table": [32, 8], "w": [8, 8], "out": [8, 32]}
    specs = {name: spec(shape, name) for name, shape in shapes.items()}
    token = InputSpec([], "int64", "token")
    given = [specs["h"], token, specs["table"], specs["w"], specs["out"]]

    def measure():
        return milliseconds(of_steps(GREEDY_DECODER, 40), given, rounds=3)

    figure("convert greedy decoding of 40 steps", measure, "ms", 300)


@pytest.mark.parametrize("template", [SHRINKING, APPENDING], ids=["shrinking", "appending"])
def test_operators_grow_with_the_source(figure, template):
    def operators(steps: int) -> int:
        function = fresh(of_steps(template, steps), steps)
        static = to_static(function, input_spec=[spec([4], "x")])
        return len(str(static.main_program).splitlines())

    name = "a list before a `break`" if template is SHRINKING else "appending in an `if`"
    what = f"lines of the Program of 40 steps against 20, {name}"
    figure(what, lambda: operators(40) / operators(20), "times", 2.1)


@pytest.mark.parametrize("name", GROWING)
def test_time_grows_with_the_source(figure, name):
    def least(count: int) -> float:
        clock = time.process_time  # what else the machine does counts for one of them alone
        return min(convert(growing(name, count, n), [spec([4], "x")], clock) for n in range(4))

    # The 1.3th power of 2
    figure(f"time of 200 {name} against 100", lambda: least(200) / least(100), "times", 2.46)


def test_two_hundred_helpers(figure):
    def measure():
        return milliseconds(HELPERS, [spec([4], "x")], rounds=3) / 200

    figure("convert a small helper (of 200)", measure, "ms", 1.5)


CHOSEN = (
    "def f{n}_0(x):\n    return (x * 2.0 + 1.0) / (x * x + 3.0)\n\n"
    + "".join(
        f"def f{{n}}_{k}(x):\n    if x.sum() > {k}:\n        return f{{n}}_{k - 1}(x)\n"
        f"    return f{{n}}_{k - 1}(x - 1.0)\n\n"
        for k in range(1, 13)
    )
    + "def f{n}(x):\n    return f{n}_{steps}(x)\n"
)


def test_a_helper_in_both_branches_grows_with_the_source(figure):
    def operators(steps: int) -> int:
        static = to_static(fresh(of_steps(CHOSEN, steps), steps), input_spec=[spec([4], "x")])
        return sum(1 for _ in static.main_program.walk())

    what = "operators of a helper in both branches, 12 levels deep against 6"
    figure(what, lambda: operators(12) / operators(6), "times", 2.1)


def tracing(count: int) -> float:
    """Microseconds an operator: x + 1.0 is two, the constant and the sum."""

    def chain(x):
        for _ in range(count // 2):
            x = x + 1.0
        return x

    chain.__dy2st_ignore__ = True
    return convert(chain, [spec([None, 8], "x")]) / count * 1e6


def test_tracing_of_1000_operators(figure):
    tracing(100)
    measure = lambda: statistics.median(tracing(1_000) for _ in range(9))  # noqa: E731
    figure("trace an operator (of 1,000)", measure, "us", 60)


def test_tracing_of_20000_operators(figure):
    tracing(100)
    measure = lambda: statistics.median(tracing(20_000) for _ in range(3))  # noqa: E731
    figure("trace an operator (of 20,000)", measure, "us", 60)


def test_tracing_is_linear(figure):
    tracing(100)

    def measure():
        return statistics.median(tracing(20_000) / tracing(1_000) for _ in range(3))

    figure("an operator of 20,000 against one of 1,000", measure, "times", 1.2)
