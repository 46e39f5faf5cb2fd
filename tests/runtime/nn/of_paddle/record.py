"""Ask PaddlePaddle for the answers of all cases: `python -m tests.runtime.nn.of_paddle.record`."""

from __future__ import annotations

import inspect
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from dy2st_runtime.nn.lazy import FUNCTIONALS, LAYERS
from tests.runtime.nn.of_paddle.cases import answer
from tests.runtime.nn.of_paddle.families import families

ANSWERS = Path(__file__).parents[3] / "data" / "paddle"


def as_text(array: np.ndarray) -> dict[str, Any]:
    """Dtype, shape and numbers of an array, six digits of each."""
    numbers = array.ravel().tolist()
    if array.dtype.kind == "f":
        numbers = [float(f"{number:.6g}") for number in numbers]
    return {"dtype": str(array.dtype), "shape": list(array.shape), "numbers": numbers}


def as_array(text: dict[str, Any]) -> np.ndarray:
    """The array that `as_text` was given."""
    return np.array(text["numbers"], text["dtype"]).reshape(text["shape"])


OWN = ("dy2st_runtime.nn.functions.", "dy2st_runtime.nn.layers.", "dy2st_runtime.ops.volumes:")
# These take torch's keywords besides PaddlePaddle's order, or have a default that says the same.
OTHERWISE = {"Conv3D", "Conv3d", "BatchNorm3D", "InstanceNorm1D", "InstanceNorm3D"}


def signature_of(called: Any) -> list[str]:
    """The parameters of a function or class, as they are written; `name` means nothing."""
    parameters = inspect.signature(called).parameters.values()
    plain = (p.replace(annotation=p.empty) for p in parameters if p.name != "name")
    return [str(parameter) for parameter in plain]


def signatures(package: Any) -> dict[str, list[str]]:
    """The signatures of the layers and functions that are loaded late and made of others."""
    spaces = ((package.nn, LAYERS), (package.nn.functional, FUNCTIONALS))
    return {
        name: signature_of(getattr(space, name))
        for space, names in spaces
        for name, place in names.items()
        if place.startswith(OWN) and name not in OTHERWISE
    }


def main(names: list[str]) -> None:
    """Write one file a family."""
    package = import_module("paddle")
    ANSWERS.mkdir(exist_ok=True)
    if not names or "signatures" in names:
        lines = [f"{json.dumps(n)}: {json.dumps(s)}" for n, s in signatures(package).items()]
        write("signatures", lines)
    for cases in families():
        if names and cases.family not in names:
            continue
        answers = {}
        for name, case in cases.cases.items():
            given = answer(package, case)
            answers[name] = {
                "results": [as_text(array) for array in given["results"]],
                "parameters": given["parameters"],
                "gradients": [as_text(array) for array in given["gradients"]],
            }
        lines = [
            f"{json.dumps(name)}: {json.dumps(answers[name], separators=(',', ':'))}"
            for name in answers
        ]
        write(cases.family, lines)


def write(name: str, lines: list[str]) -> None:
    """Write a file with one entry a line."""
    path = ANSWERS / f"{name}.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
