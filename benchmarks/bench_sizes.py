"""Symbolic sizes: arithmetic, questions, and the shapes of whole Programs."""

from __future__ import annotations

import statistics
import subprocess
import sys
from functools import partial
from itertools import count
from pathlib import Path

from measuring import median_seconds, seconds, times

import dy2st
from dy2st_runtime.dims import (
    Condition,
    Facts,
    collect,
    simplified,
    symbol,
    using,
)
from dy2st_runtime.ir import Program, TensorType, Tracer
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.tracing.tracer import infer

F = dy2st.nn.functional
_fresh = count()


def new_symbols(number: int, minimum: int = 1):
    """Symbols that nothing was ever asked about."""
    start = next(_fresh)
    return [symbol(f"s{start}_{i}", minimum) for i in range(number)]


def encoder_layer(x, weight, wide, narrow):
    """Attention with four heads and two dense layers: 20 operators."""
    b, t, d = x.shape
    q = dy2st.matmul(x, weight).reshape([b, t, 4, d // 4]).transpose([0, 2, 1, 3])
    k = dy2st.matmul(x, weight).reshape([b, t, 4, d // 4]).transpose([0, 2, 3, 1])
    scores = F.softmax(dy2st.matmul(q, k) * 0.125)
    mixed = dy2st.matmul(scores, q).transpose([0, 2, 1, 3]).reshape([b, t, d])
    x = x + dy2st.matmul(mixed, weight)
    return F.layer_norm(x + dy2st.matmul(F.relu(dy2st.matmul(x, wide)), narrow), [64])


def encoder(layers: int, b, t) -> Program:
    """A traced Program of 20 operators a layer."""
    program = Program()
    shapes = [(b, t, 64), (64, 64), (64, 128), (128, 64)]
    values = [program.block.add_parameter(TensorType("float32", shape)) for shape in shapes]
    program.inputs = values
    x = values[0]
    tracer = Tracer(program)
    with tracer.tracing():
        for _ in range(layers):
            x = encoder_layer(x, *values[1:])
    program.block.yields = [x]
    return program


def infer_again(program: Program) -> None:
    """Ask every shape rule of a Program."""
    with collect():
        for operator in program.operators:
            types = [operand.type for operand in operator.operands]
            infer(lookup(operator.name), types, operator.attributes)


def unet_rules(h, w) -> int:
    """The rules of a small U-Net on sizes; returns how many."""
    program = Program()
    x = program.block.add_parameter(TensorType("float32", (1, 8, h, w)))
    kernel = program.block.add_parameter(TensorType("float32", (8, 8, 3, 3)))
    up = program.block.add_parameter(TensorType("float32", (8, 8, 2, 2)))
    program.inputs = [x, kernel, up]
    tracer = Tracer(program)
    with tracer.tracing():
        skips = []
        for _ in range(4):
            x = F.relu(F.conv2d(x, kernel, padding=1))
            skips.append(x)
            x = F.max_pool2d(x, 2)
        for skip in skips[::-1]:
            x = F.conv2d_transpose(x, up, stride=2)[:, :, : skip.shape[2], : skip.shape[3]]
            x = F.relu(F.conv2d(x, kernel, padding=1))
    return len(program.operators)


def cold_rule_microseconds(rules) -> float:
    """A rule on symbols it never saw, above the same trace on numbers; `rules` says how many."""

    def once(*sizes) -> float:
        found = []
        spent = seconds(lambda: found.append(rules(*sizes)))
        return spent / found[0]

    once(64, 64)
    cold = statistics.median(once(*new_symbols(2, 16)) for _ in range(15))
    static = statistics.median(once(64, 64) for _ in range(15))
    return (cold - static) * 1e6


def encoder_rules(b, t) -> int:
    """The rules of two encoder layers on sizes; returns how many."""
    return len(encoder(2, b, t).operators)


def test_cold_rule(figure):
    what = "shape rule on new symbols (encoder), above tracing it on numbers"
    figure(what, lambda: cold_rule_microseconds(encoder_rules), "us", 15)


def test_cold_rule_with_proofs(figure):
    what = "the same in a U-Net that crops to odd sizes (16 proofs in 28 operators)"
    figure(what, lambda: cold_rule_microseconds(unet_rules), "us", 15)


def test_repeated_rule(figure):
    program = encoder(50, *new_symbols(2))

    def measure():
        return median_seconds(lambda: infer_again(program)) / len(program.operators) * 1e6

    figure("shape rule on sizes seen before", measure, "us", 4)


def test_thousand_operators(figure):
    def measure():
        found = []
        for _ in range(9):
            program = encoder(50, *new_symbols(2))
            infer_again(program)
            found.append(seconds(partial(infer_again, program)))
        return statistics.median(found) * 1e3

    figure("infer all shapes of 1,000 operators", measure, "ms", 15)


def test_symbolic_against_static(figure):
    symbolic, static = encoder(50, *new_symbols(2)), encoder(50, 8, 16)

    def measure():
        return times(lambda: infer_again(symbolic), lambda: infer_again(static))

    figure("infer shapes, symbols against numbers", measure, "times", 1.5)


def test_twenty_thousand_operators(figure):
    large, small = encoder(1000, *new_symbols(2)), encoder(50, *new_symbols(2))

    def measure():
        return times(lambda: infer_again(large), lambda: infer_again(small), rounds=7) / 20

    figure("infer shapes, an operator of 20,000 against one of 1,000", measure, "times", 1.2)


def late_equalities(number: int) -> float:
    """Seconds a size, for sums of pairs of symbols that are found equal one after the other."""
    left, right = new_symbols(number), new_symbols(number)
    sizes = [a * b + a for a, b in zip(left, right, strict=True)]

    def find():
        facts = Facts()
        facts.note(*left, *right)
        with using(facts):
            for a, b, size in zip(left, right, sizes, strict=True):
                facts.assume(Condition("==", a, b))
                assert simplified(size) is not size

    return seconds(find) / number


def test_late_equalities(figure):
    def measure():
        late_equalities(10)
        many = statistics.median(late_equalities(1600) for _ in range(5))
        few = statistics.median(late_equalities(100) for _ in range(15))
        return many / few

    figure("an equality found late, of 1,600 against one of 100", measure, "times", 1.5)


def test_one_late_equality(figure):
    def measure():
        return statistics.median(late_equalities(400) for _ in range(9)) * 1e6

    figure("an equality found late, and a size simplified by it", measure, "us", None)


def test_hard_question(figure):
    def measure():
        found = []
        for _ in range(300):
            i, x, y = new_symbols(3)
            left, right = i * x * y + x, y + i
            found.append(seconds(lambda left=left, right=right: left >= right))
        return statistics.median(found) * 1e6

    figure("prove i*x*y + x >= y + i, never asked before", measure, "us", 50)


def test_floor_and_ceiling(figure):
    def measure():
        found = []
        for _ in range(300):
            (a,) = new_symbols(1)
            left = a // 2 + (a + 1) // 2
            found.append(seconds(lambda left=left, a=a: left == a))
        return statistics.median(found) * 1e6

    figure("prove a//2 + (a + 1)//2 == a, never asked before", measure, "us", 300)


def test_warm_product(figure):
    a, b = new_symbols(2)
    turns = range(10_000)

    def measure():
        return median_seconds(lambda: [a * b for _ in turns]) / len(turns) * 1e6

    figure("a*b, computed before", measure, "us", 0.3)


def test_import_of_dims(figure):
    """With a bare package in place of dy2st_runtime, which imports all else."""
    package = Path(dy2st.ops.__file__).parents[1]
    script = (
        "import sys, time, types, typing, re, threading, dataclasses, functools, numbers\n"
        "bare = types.ModuleType('dy2st_runtime')\n"
        f"bare.__path__ = [{str(package)!r}]\n"
        "sys.modules['dy2st_runtime'] = bare\n"
        "start = time.perf_counter()\n"
        "import dy2st_runtime.dims\n"
        "print(time.perf_counter() - start)\n"
    )

    def once() -> float:
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
        return float(done.stdout)

    def measure():
        return statistics.median(once() for _ in range(9)) * 1e3

    figure("import dims alone", measure, "ms", 15)
