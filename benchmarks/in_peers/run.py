"""What becomes of each program in one tool, against plain calls: python run.py TOOL.

Run it by a Python that has the tool. docs/other_tools.md has what the versions named there said.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"


@dataclass
class Tool:
    """How a tool makes tensors, and converts a function."""

    package: str
    tensor: str
    names: tuple[str, str, str]  # of the largest, the sum, and stack
    convert: Callable[[Any, Callable[..., Any]], Callable[..., Any]]


def exported(torch: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """By torch.export, on the first input."""

    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return function(x)

    return at_first_call(lambda x: torch.export.export(Module(), (x,)).module())


def at_first_call(make: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
    """What an example makes, once."""
    made: list[Callable[..., Any]] = []

    def call(x: Any) -> Any:
        if not made:
            made.append(make(x))
        return made[0](x)

    return call


TORCH = ("torch", "tensor", ("max", "sum", "stack"))
TOOLS = {
    "dy2st": Tool("dy2st", "to_tensor", ("max", "sum", "stack"), lambda m, f: m.to_static(f)),
    "torch.export": Tool(*TORCH, exported),
    "torch.compile": Tool(*TORCH, lambda m, f: m.compile(f, fullgraph=True, dynamic=True)),
    "torch.jit.script": Tool(*TORCH, lambda m, f: m.jit.script(f)),
    "torch.jit.trace": Tool(*TORCH, lambda m, f: at_first_call(lambda x: m.jit.trace(f, (x,)))),
    "jax.jit": Tool(
        "jax.numpy",
        "array",
        ("max", "sum", "stack"),
        lambda _, f: importlib.import_module("jax").jit(f),
    ),
    "tf.function": Tool(
        "tensorflow",
        "constant",
        ("reduce_max", "reduce_sum", "stack"),
        lambda m, f: m.function(f),
    ),
    "paddle": Tool(
        "paddle",
        "to_tensor",
        ("max", "sum", "stack"),
        lambda m, f: m.jit.to_static(f, full_graph=True),
    ),
}


def main() -> None:
    """A line for each program."""
    tool = TOOLS[sys.argv[1]]
    warnings.simplefilter("ignore")
    module = importlib.import_module(tool.package)
    shim = types.ModuleType("ops")
    for name, theirs in zip(("top", "total", "stack"), tool.names, strict=True):
        setattr(shim, name, getattr(module, theirs))
    sys.modules["ops"] = shim
    programs = importlib.import_module("programs")
    tensor = getattr(module, tool.tensor)
    for name, (function, inputs) in programs.PROGRAMS.items():
        print(name, *outcome(tool, module, function, [tensor(one) for one in inputs]))


def outcome(tool: Tool, module: Any, function: Any, inputs: list[Any]) -> tuple[str, str]:
    """`right`, `wrong` or `refused`, and what was said."""
    try:
        wanted = [leaves(function(one)) for one in inputs]
        call = tool.convert(module, function)
        for one, plain in zip(inputs, wanted, strict=True):
            found = leaves(call(one))
            if not same(found, plain):
                return "wrong", f"{leaves(one)} gives {found}, Python {plain}"
    except BaseException as error:  # whatever a tool raises
        return "refused", f"{type(error).__name__}: {error}"
    return "right", ""


def leaves(value: Any) -> list[Any]:
    """The arrays in a result."""
    if isinstance(value, (tuple, list)):
        return [leaf for one in value for leaf in leaves(one)]
    return [value.numpy() if hasattr(value, "numpy") else np.asarray(value)]


def same(found: list[Any], plain: list[Any]) -> bool:
    """Whether both have the same shapes and, to rounding, values."""
    return len(found) == len(plain) and all(
        np.shape(a) == np.shape(b) and np.allclose(a, b, 1e-5)
        for a, b in zip(found, plain, strict=True)
    )


if __name__ == "__main__":
    main()
