"""Models of other tools become Programs: ONNX, PaddlePaddle's inference models, torch's graphs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Program

READERS = {
    ".json": "dy2st.importers.paddle:imported",
    ".onnx": "dy2st.importers.onnx:program_of",
    ".pdmodel": "dy2st.importers.paddle:imported",
}
"""What reads a file, by its ending: a function from its path to a Program and its arrays."""


def read_foreign(path: str) -> tuple[Program, Mapping[str, Any]]:
    """The Program of another tool's file, and its arrays; ArgumentError for an unknown ending."""
    ending = os.path.splitext(path)[1]
    if ending not in READERS:
        known = ", ".join(READERS)
        raise ArgumentError(f"{path}: models that are read end in {known}")
    module, _, name = READERS[ending].partition(":")
    found: tuple[Program, Mapping[str, Any]] = getattr(import_module(module), name)(path)
    return found
