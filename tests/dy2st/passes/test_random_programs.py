"""Random Programs through passes in random orders compute the same."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st import passes
from dy2st.passes import PassContext
from dy2st_runtime.dims import symbol
from dy2st_runtime.ir import F, TensorType, apply
from dy2st_runtime.ops.control_flow import cond, while_loop
from tests.effort import effort

EXACT = (
    passes.FreezeParameters,
    passes.DynamicToStatic,
    passes.FoldConstant,
    passes.EliminateCommonSubexpr,
    passes.EliminateDeadCode,
    passes.SimplifyAlgebra,
    passes.CancelMoves,
    passes.CanonicalizeCast,
    passes.CanonicalizeConcatPos,
    passes.HoistLoopInvariants,
    passes.SimplifyControlFlow,
    passes.LiftConstants,
    passes.ToNCHWLayout,
    passes.ToNHWCLayout,
)
ROUNDED = (
    passes.SimplifyInference,
    passes.DecomposeOps,
    passes.BackwardFoldScaleAxis,
    passes.ForwardFoldScaleAxis,
    passes.FoldScaleAxis,
    passes.FoldBias,
    passes.CanonicalizeOps,
    lambda: passes.CombineParallelConv2D(2),
    lambda: passes.CombineParallelDense(2),
    lambda: passes.CombineParallelBatchMatmul(2),
    passes.Peephole,
    passes.Peephole1,
    lambda: passes.Peephole2(reassociate=True),
    passes.Peephole3,
    passes.Peephole4,
    passes.Peephole5,
    passes.Legalize,
)


class Draw:
    """Values so far, and steps that make others of them."""

    def __init__(self, rng, images, rows):
        self.rng, self.images, self.rows = rng, list(images), list(rows)

    def image(self):
        return self.images[self.rng.integers(max(0, len(self.images) - 4), len(self.images))]

    def row(self):
        return self.rows[self.rng.integers(max(0, len(self.rows) - 4), len(self.rows))]

    def weights(self, *shape, positive=False):
        numbers = self.rng.standard_normal(shape) * 0.5
        return (np.abs(numbers) + 0.5 if positive else numbers).astype(np.float32)

    def scale(self, channels):
        shape = [(1, channels, 1, 1), (channels, 1, 1), (), (1,)][self.rng.integers(4)]
        return self.weights(*shape, positive=bool(self.rng.integers(2)))

    def step(self):
        steps = [s for s in dir(self) if s.startswith("do_")]
        getattr(self, steps[self.rng.integers(len(steps))])()

    def do_conv(self):
        x = self.image()
        c, groups = x.shape[1], 1
        out = int(self.rng.integers(1, 4)) * 2
        if self.rng.integers(3) == 0 and c % 2 == 0:
            groups = 2
        w = self.weights(out, c // groups, 3, 3)
        self.images.append(F.conv2d(x, w, padding=1, groups=groups))

    def do_parallel_convs(self):
        x = self.image()
        parts = [F.conv2d(x, self.weights(int(n), x.shape[1], 1, 1)) for n in (2, 1, 3)]
        parts = [F.relu(p + self.weights(1, p.shape[1], 1, 1)) for p in parts]
        self.images.append(F.concat(parts, axis=1))

    def do_scale(self):
        x = self.image()
        self.images.append(x * self.scale(x.shape[1]))

    def do_scale_again(self):
        x = self.image()
        self.images.append(F.relu(x) * self.scale(x.shape[1]))

    def do_bias(self):
        x = self.image()
        self.images.append(x + self.scale(x.shape[1]))

    def do_residual(self):
        x = self.image()
        for y in self.images[::-1]:
            if y is not x and y.shape[1] == x.shape[1]:
                self.images.append(x + y)
                return

    def do_relu(self):
        self.images.append(F.relu(self.image()))

    def do_leaky(self):
        self.images.append(F.leaky_relu(self.image(), 0.1))

    def do_batch_norm(self):
        x = self.image()
        c = x.shape[1]
        statistics = [self.weights(c), self.weights(c, positive=True)]
        statistics += [self.weights(c), self.weights(c)]
        self.images.append(apply("batch_norm", x, *statistics, axis=1, epsilon=1e-5))

    def do_concat(self):
        self.images.append(F.relu(F.concat([self.image(), self.image()], axis=1)))

    def do_pool(self):
        x = self.image()
        self.images.append(F.max_pool2d(x, 3, stride=1, padding=1))

    def do_channels_last(self):
        x = F.transpose(self.image(), [0, 2, 3, 1])
        x = F.relu(x) + self.weights(x.shape[3])
        self.images.append(F.transpose(x, [0, 3, 1, 2]))

    def do_flatten(self):
        x = self.image()
        self.rows.append(F.reshape(F.mean(x, axis=[2, 3])[:, :2], [x.shape[0], 2]))

    def do_dense(self):
        x = self.row()
        self.rows.append(F.matmul(x, self.weights(x.shape[1], 3)) + self.weights(3))

    def do_heads(self):
        x = self.row()
        parts = [F.matmul(x, self.weights(x.shape[1], n)) * self.weights(n) for n in (1, 2, 3)]
        self.rows.append(F.concat(parts, axis=1))

    def do_same_twice(self):
        x = self.row()
        self.rows.append(F.exp(F.tanh(x)) * F.exp(F.tanh(x)))

    def do_identity(self):
        x = self.row()
        self.rows.append(F.reshape(F.reshape(x * 1.0, [-1, 1]), [x.shape[0], x.shape[1]]))

    def do_cond(self):
        x = self.row()
        w = self.weights(x.shape[1], 2)

        def true():
            return [F.matmul(F.tanh(x), w) * 2.0]

        self.rows.append(cond(F.sum(x) > 0, true, lambda: [F.matmul(F.tanh(x), w) + 1.0])[0])

    def do_known_cond(self):
        x = self.row()
        truth = F.cast(F.full([], int(self.rng.integers(2)), "int64"), "bool")
        self.rows.append(cond(truth, lambda: [F.relu(x)], lambda: [F.neg(x)])[0])

    def do_loop(self):
        x, iterations = self.row(), int(self.rng.integers(0, 4))
        limit = F.full([], iterations, "int64") if self.rng.integers(2) else iterations

        def body(i, y):
            return [i + 1, F.tanh(y) + F.exp(F.tanh(x))]

        first = [F.full([], 0, "int64"), x]
        self.rows.append(while_loop(lambda i, y: i < limit, body, first)[1])


def random_program(t, seed, steps=14):
    rng = np.random.default_rng(seed)
    batch = "n" if rng.integers(2) else 2

    def build(x, rows):
        draw = Draw(rng, [x], [rows])
        for _ in range(steps):
            draw.step()
        return [draw.images[-1], draw.rows[-1], draw.image(), draw.row()]

    size = symbol("n") if batch == "n" else 2
    image = TensorType("float32", (size, 4, 5, 5))
    return t.program_of(build, image, TensorType("float32", (size, 3)))


@pytest.mark.parametrize("seed", range(effort(20, 60)))
def test_passes_in_any_order_keep_the_numbers(t, seed):
    program = random_program(t, seed)
    rng = np.random.default_rng(seed + 1_000)
    chosen = [(*EXACT, *ROUNDED)[i]() for i in rng.permutation(len(EXACT) + len(ROUNDED))]
    t.check(passes.Sequential(chosen), program, rtol=2e-4)


@pytest.mark.parametrize("seed", range(effort(15, 40)))
def test_exact_passes_keep_every_bit(t, seed):
    program = random_program(t, seed + 500)
    rng = np.random.default_rng(seed)
    chosen = [EXACT[i]() for i in rng.permutation(len(EXACT))]
    t.check(passes.Sequential(chosen), program, rtol=0)


@pytest.mark.parametrize("seed", range(effort(6, 20)))
@pytest.mark.parametrize("name", sorted(passes.PIPELINES))
def test_pipelines_keep_the_numbers(t, seed, name):
    program = random_program(t, seed + 900)
    t.check(passes.pipeline(name), program, rtol=2e-4)


@pytest.mark.parametrize("made", [*EXACT, *ROUNDED])
def test_a_pass_on_its_own_result_changes_nothing(t, made):
    for seed in range(3):
        program = random_program(t, seed + 700)
        with PassContext():
            once = made()(passes.Module({"main": program}))
            twice = made()(once)
        assert str(twice.programs["main"]) == str(once.programs["main"])
