"""Ask PaddlePaddle for the answers of all cases: `python -m tests.runtime.nn.paddle.record`."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tests.runtime.nn.paddle import families
from tests.runtime.nn.paddle.cases import answer

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


def main(names: list[str]) -> None:
    """Write one file a family."""
    package = import_module("paddle")
    ANSWERS.mkdir(exist_ok=True)
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
        path = ANSWERS / f"{cases.family}.json"
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
