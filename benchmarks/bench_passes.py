"""Graph passes: operators a second, how cost grows, and a long convolutional network folded."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from measuring import median_seconds

from dy2st.passes import (
    PIPELINES,
    FoldBias,
    FoldConstant,
    FoldScaleAxis,
    FreezeParameters,
    Module,
    Sequential,
    SimplifyInference,
    find,
    pass_names,
    pipeline,
)
from dy2st_runtime.ir import F, Program, TensorType, Tracer, apply

PASSES = sorted(set(pass_names()) - {*PIPELINES, "PrintIR", "Peephole", "FoldScaleAxis", "GenIR"})


def program_of(function, shape):
    program = Program("main")
    program.inputs = [program.block.add_parameter(TensorType("float32", shape), "x")]
    tracer = Tracer(program)
    with tracer.tracing():
        program.block.yields = [function(tracer, program.inputs[0])]
    return program


@functools.cache
def chain(count):
    """So many operators, and half as many constants: products, folds, duplicates, sums."""
    weight = np.random.default_rng(0).standard_normal((8, 8)).astype("float32") / 8

    def model(tracer, x):
        for _ in range(count // 6):
            shift = tracer.constant(np.full(8, 1.5, "f")) * tracer.constant(np.full(8, 0.5, "f"))
            y = F.matmul(x, weight) + shift
            x = F.relu(y) + F.relu(y)
        return x

    return program_of(model, (4, 8))


def convolutions(count):
    """Convolution, batch norm, relu, so many times."""
    rng = np.random.default_rng(0)

    def draw(*shape):
        return rng.standard_normal(shape).astype("float32")

    def model(_, x):
        for _ in range(count):
            x = F.conv2d(x, draw(8, 8, 3, 3) / 8, padding=1)
            statistics = draw(8), np.abs(draw(8)) + 1, draw(8), draw(8)
            x = F.relu(apply("batch_norm", x, *statistics, axis=1, epsilon=1e-5))
        return x

    return Module({"main": program_of(model, (1, 8, 4, 4))})


def microseconds(name, count):
    program, applied = chain(count), find(name)
    rounds = 5 if count <= 5_000 else 1
    seconds = median_seconds(lambda: applied(program), rounds)
    return seconds * 1e6 / len(program.operators)


@pytest.mark.parametrize("name", PASSES)
def test_a_pass(figure, name):
    what = f"{name}, an operator of a chain of 5,000"
    figure(what, lambda: microseconds(name, 5_000), "us", 1e6 / 150_000)


@pytest.mark.parametrize(("name", "goal"), [("inference", 15), ("training", None), ("opu", None)])
def test_a_pipeline(figure, name, goal):
    what = f"pipeline {name}, an operator of a chain of 5,000"
    figure(what, lambda: microseconds(name, 5_000), "us", goal)


@pytest.mark.parametrize("names", [PASSES, sorted(PIPELINES)], ids=["passes", "pipelines"])
def test_growth(figure, names):
    def worst():
        sizes = len(chain(5_000).operators) / len(chain(1_000).operators)
        return max(microseconds(n, 5_000) / microseconds(n, 1_000) * sizes for n in names)

    kind = "a pass" if names is PASSES else "a pipeline"
    figure(f"{kind}, 5,000 operators against 1,000, the worst", worst, "times", 6)


def test_fifty_thousand(figure):
    what = "pipeline inference, 50,000 operators against 5,000, an operator"

    def ratio():
        return microseconds("inference", 50_000) / microseconds("inference", 5_000)

    figure(what, ratio, "times", 1.5)


def test_folding(figure):
    module = convolutions(200)
    folds = [FreezeParameters(), SimplifyInference(), FoldConstant(), FoldScaleAxis(), FoldBias()]
    applied = Sequential(folds)
    assert [o.name for o in applied(module).programs["main"].operators if o.name != "constant"] == (
        ["conv", "relu"] * 200
    )
    what = "200 convolutions with batch norm and relu, folded (TVM: 33.6 s)"
    figure(what, lambda: median_seconds(lambda: applied(module), 5), "s", 0.15)


def test_inference_on_convolutions(figure):
    module, applied = convolutions(200), pipeline("inference")
    what = "the same through the whole pipeline inference"
    figure(what, lambda: median_seconds(lambda: applied(module), 5), "s", None)
