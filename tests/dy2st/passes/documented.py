"""The examples of docs/passes.md: one small Program a pass, written again by running this file.

python tests/dy2st/passes/documented.py
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.passes import Module, find
from dy2st_runtime.dims import symbol
from dy2st_runtime.ir import F, Program, TensorType, Tracer, apply
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ops.control_flow import call, cond, function, while_loop

PAGE = Path(__file__).parents[3] / "docs" / "passes.md"
IMAGE = ("n", 2, 8, 8)


@dataclass(frozen=True)
class Example:
    """What is recorded, the types of its inputs, and the arrays of those that are state."""

    function: Callable[..., Any]
    inputs: dict[str, TensorType]
    state: dict[str, Any] = field(default_factory=dict)
    is_trainable: bool = True

    def program(self) -> Program:
        """The Program before the pass."""
        program = Program("main")
        variables = [program.block.add_parameter(t, name) for name, t in self.inputs.items()]
        tracer = Tracer(program)
        with tracer.tracing():
            results = self.function(*variables)
            results = results if isinstance(results, (list, tuple)) else [results]
            program.block.yields = [tracer.variable(result) for result in results]
        for name, variable in zip(self.inputs, variables, strict=True):
            if name in self.state:
                table = program.parameters if self.is_trainable else program.buffers
                table[name] = variable
                program.trainable[name] = self.is_trainable
            else:
                program.inputs.append(variable)
        return verify(program)


def tensor(*shape: Any, dtype: str = "float32") -> TensorType:
    """A type; sizes given by name are symbols."""
    return TensorType(dtype, [symbol(s) if isinstance(s, str) else s for s in shape])


def floats(*numbers: Any) -> Any:
    """A constant of float32."""
    return np.array(numbers, "float32")


def weight(*numbers: Any) -> Any:
    """A 1 x 1 kernel of as many output channels as rows are given."""
    rows = np.array(numbers, "float32")
    return rows.reshape(*rows.shape, 1, 1)


def channel(*numbers: Any) -> Any:
    """One number a channel."""
    return floats(*numbers).reshape(-1, 1, 1)


W = weight((1, 2), (3, 4))
X = {"x": tensor(*IMAGE)}
ROWS = {"x": tensor("n", 2)}


def _loop(x: Any) -> Any:
    def body(i: Any, y: Any) -> list[Any]:
        return [i + 1, y + F.exp(x)]

    return while_loop(lambda i, y: i < F.cast(F.sum(x), "int64"), body, [np.int64(0), x])[1]


def _three_turns(x: Any) -> Any:
    def body(i: Any, y: Any) -> list[Any]:
        return [i + 1, F.tanh(y)]

    return while_loop(lambda i, y: i < 3, body, [np.int64(0), x])[1]


def _batch_norm(x: Any) -> Any:
    statistics = [floats(0.5, 1), floats(3, 8), floats(2, 3), floats(1, 1)]
    return apply("batch_norm", F.conv2d(x, W), *statistics, axis=1, epsilon=1.0)


def _calls(x: Any) -> Any:
    operands = function("double", lambda v: [v * 2.0], [x])
    (y,) = call("double", operands)
    return call("double", [y])[0]


def _dead(x: Any) -> Any:
    (y,) = cond(F.sum(x) > 0, lambda: [F.exp(x)], lambda: [x])
    F.log(y)
    return F.tanh(x)


EXAMPLES: dict[str, Example] = {
    "FreezeParameters": Example(
        lambda x, w: x @ w, {**ROWS, "w": tensor(2, 1)}, {"w": floats([0.5], [2])}
    ),
    "LiftConstants": Example(
        lambda x: x + floats([1, 2, 3, 4, 5, 6, 7, 8, 9], [9, 8, 7, 6, 5, 4, 3, 2, 1]),
        {"x": tensor("n", 2, 9)},
    ),
    "DynamicToStatic": Example(
        lambda x, y: apply("dynamic_reshape", x, apply("shape", y)),
        {"x": tensor("n", 6), "y": tensor("n", 2, 3)},
    ),
    "FoldConstant": Example(lambda x: x * F.exp(F.full([2], 0.0)), ROWS),
    "EliminateCommonSubexpr": Example(lambda x: (x + 1.0) * (1.0 + x), ROWS),
    "InlineFunctions": Example(_calls, ROWS),
    "EliminateDeadCode": Example(_dead, ROWS),
    "SimplifyAlgebra": Example(lambda x: F.relu(F.relu((x * 1.0) * (x * 1.0))), ROWS),
    "CancelMoves": Example(
        lambda x: F.transpose(F.relu(F.transpose(F.transpose(x, [1, 0, 2]), [1, 2, 0])), [0, 1, 2]),
        {"x": tensor("n", 2, 3)},
    ),
    "SimplifyControlFlow": Example(_three_turns, ROWS),
    "HoistLoopInvariants": Example(_loop, ROWS),
    "SimplifyInference": Example(_batch_norm, X),
    "DecomposeOps": Example(_batch_norm, X),
    "MutateOpsForTraining": Example(
        lambda x, mean, variance: apply("batch_norm", x, mean, variance, axis=1, epsilon=1.0),
        {**ROWS, "mean": tensor(2), "variance": tensor(2)},
        {"mean": floats(0, 0), "variance": floats(1, 1)},
        is_trainable=False,
    ),
    "BackwardFoldScaleAxis": Example(
        lambda x: F.relu(F.conv2d(x, W) + channel(1, 2)) * channel(2, 0.5), X
    ),
    "ForwardFoldScaleAxis": Example(
        lambda x: F.conv2d(F.relu(x * channel(2, 0.5)) + channel(1, 2), W), X
    ),
    "FoldBias": Example(lambda x: F.conv2d(x, W) + channel(1, 2), X),
    "CanonicalizeOps": Example(
        lambda x: apply(
            "conv", x, W, floats(1, 2), strides=(1, 1), pads=((0, 0), (0, 0)), dilations=(1, 1), groups=1
        ),
        X,
    ),
    "CombineParallelConv2D": Example(
        lambda x: [F.relu(F.conv2d(x, weight((1, number)))) for number in (2, 3, 4)], X
    ),
    "CombineParallelDense": Example(
        lambda x: [x @ floats([1], [number]) + floats(number) for number in (2, 3, 4)], ROWS
    ),
    "CombineParallelBatchMatmul": Example(
        lambda x: [x @ floats([[1], [number]]) for number in (2, 3, 4)], {"x": tensor(1, 3, 2)}
    ),
    "ToNCHWLayout": Example(
        lambda x: F.transpose(
            F.conv2d(
                F.relu(F.transpose(F.conv2d(F.transpose(x, [0, 3, 1, 2]), W), [0, 2, 3, 1])) + floats(1, 2),
                W,
                data_format="NHWC",
            ),
            [0, 1, 2, 3],
        ),
        {"x": tensor("n", 8, 8, 2)},
    ),
    "ToNHWCLayout": Example(
        lambda x: F.relu(F.conv2d(F.relu(F.conv2d(x, W) + channel(1, 2)), W)), X
    ),
    "Peephole1": Example(lambda x: (F.conv2d(x, W) + channel(1, 2)) * channel(2, 0.5), X),
    "Peephole2": Example(
        lambda x: (x + np.array([1, 2])) + np.array([3, 4]), {"x": tensor("n", 2, dtype="int64")}
    ),
    "Peephole3": Example(
        lambda x, y, z: F.concat([x, y], axis=1) + z,
        {"x": tensor("n", 1), "y": tensor("n", 1), "z": tensor("n", 2)},
    ),
    "Peephole4": Example(
        lambda x: F.reshape(F.transpose(x, [0, 2, 1]), [-1, 4]) @ floats([1], [2], [3], [4]),
        {"x": tensor("n", 2, 2)},
    ),
    "Peephole5": Example(
        lambda x: F.reshape(F.mean(x, axis=[2, 3], keepdim=True), [-1, 2]) @ floats([1], [2]), X
    ),
    "SkipOutputSoftmax": Example(lambda x: F.softmax(x @ floats([1, 2], [3, 4]), axis=1), ROWS),
    "CanonicalizeConcatPos": Example(
        lambda x, y: F.relu(F.concat([x, y], axis=1) + channel(1, 2, 3, 4)),
        {"x": tensor(*IMAGE), "y": tensor(*IMAGE)},
    ),
    "CanonicalizeCast": Example(
        lambda x: (lambda wide: (wide + 1) * (wide - 1))(F.cast(x, "int32")),
        {"x": tensor("n", dtype="int8")},
    ),
    "ToMixedPrecision": Example(
        lambda x: F.softmax(F.relu(x @ floats([1, 2], [3, 4])), axis=1), ROWS
    ),
    "Legalize": Example(lambda x: F.gelu(x, approximate=True), ROWS),
}  # fmt: skip
"""Pass -> the Program that the page shows before and after it."""

WITHOUT = {"FoldScaleAxis", "Peephole", "PrintIR", "inference", "training", "opu"}
"""What is made of other passes, or changes nothing."""


def before_and_after(name: str) -> tuple[str, str]:
    """The bodies of both Programs."""
    example = EXAMPLES[name]
    program = example.program()
    module = find(name)(Module({"main": program}, dict(example.state)))
    return body(program), body(verify(module.programs["main"]))


def body(program: Program) -> str:
    """The lines of the Program's Block, from its parameters to what it returns."""
    lines = str(program).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("  ^bb0"))
    last = max(i for i, line in enumerate(lines) if '"dy2st.return"' in line)
    return "\n".join(line[2:] for line in lines[first : last + 1])


def with_texts(page: str) -> str:
    """The page with the texts of now under every heading of a pass."""
    for name in EXAMPLES:
        before, after = before_and_after(name)
        text, block = r"(?:(?!\n##).)*?", r"```mlir\n.*?```"  # of this section, not of the next
        section = re.compile(rf"(### {name}\n{text}){block}({text}){block}", re.DOTALL)
        assert section.search(page), f"docs/passes.md has no two blocks under ### {name}"
        page = section.sub(
            lambda m, b=before, a=after: f"{m[1]}```mlir\n{b}\n```{m[2]}```mlir\n{a}\n```",
            page,
            count=1,
        )
    return page


if __name__ == "__main__":
    PAGE.write_text(with_texts(PAGE.read_text()))
