"""Reads a model of PaddlePaddle's from its two files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.importers.paddle.building import build
from dy2st.importers.paddle.graph import Graph
from dy2st.importers.paddle.parameters import read_parameters
from dy2st.importers.paddle.pir import is_pir, read_pir
from dy2st.importers.paddle.program_desc import read_program_desc
from dy2st_runtime.errors import Dy2stError, FormatError, MissingFile
from dy2st_runtime.files import naming
from dy2st_runtime.ir.program import Program

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class PaddleModel:
    """The Program of a model, its arrays by name, and what it calls its inputs and outputs."""

    program: Program
    arrays: Mapping[str, Array]
    inputs: list[str]
    outputs: list[str]


def read(model_file: Path, params_file: Path | None, name: str = "forward") -> PaddleModel:
    """The model of two files: a Program of this name, with symbolic sizes, and its parameters.

    Nothing that stands in the files is run or opened. Raises MissingFile if the model is not there,
    FormatError if a file is damaged or foreign, ParameterMismatch if the two do not belong
    together, UnknownOperators (a NotImplementedError) with the names of all operators that are not
    read.
    """
    if not model_file.is_file():
        raise MissingFile(f"there is no {model_file}")
    with naming(model_file):
        data = model_file.read_bytes()
    try:
        graph = _graph(data)
    except FormatError as error:
        raise FormatError(f"{model_file}: {error}") from None
    kept = [one for one in graph.parameters if one.name]
    arrays = read_parameters(params_file, kept)
    try:
        program = build(graph, name, arrays)
    except FormatError as error:
        raise FormatError(f"{model_file}: {error}") from error.__cause__
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        if isinstance(error, Dy2stError):
            raise
        raise FormatError(f"{model_file}: it is damaged: {error!r:.200}") from error
    state = {key: arrays[key] for key in program.state}
    return PaddleModel(program, state, [one.name for one in graph.inputs], graph.outputs)


def imported(path: str) -> tuple[Program, Mapping[str, Array]]:
    """The Program of a file, and the arrays of the file of parameters beside it."""
    model = read(Path(path), Path(path).with_suffix(".pdiparams"))
    return model.program, model.arrays


def _graph(data: bytes) -> Graph:
    """The graph of a file's bytes; FormatError for all that is no such file."""
    try:
        return _parsed(data)
    except FormatError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise FormatError(f"it is damaged: {error!r:.200}") from None
    except RecursionError:
        raise FormatError("it is damaged: what it holds is nested too deep") from None


def _parsed(data: bytes) -> Graph:
    if data.lstrip()[:1] == b"{":
        if not is_pir(data):
            raise FormatError("it is a JSON of something else than PIR")
        return read_pir(data)
    return read_program_desc(data)


__all__ = ["PaddleModel", "imported", "read"]
