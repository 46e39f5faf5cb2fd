"""Writes Layers, functions, loaded models and Programs as files of ONNX."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.jit.save_load import programs_to_save
from dy2st.model_files import STANDARD, BadInput, read_model, sound
from dy2st.model_files import chosen as chosen_program
from dy2st.targets.onnx.verify import Examples, verify_model
from dy2st_runtime.engine.onnx.library import onnx
from dy2st_runtime.engine.onnx.model import DEFAULT, check_opset, write_model
from dy2st_runtime.errors import ArgumentError, WrongKind
from dy2st_runtime.files import named, naming, replacing
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.checks.verifier import verify as verify_program
from dy2st_runtime.ir.functions import without_functions
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.kept_inputs import kept_inputs
from dy2st_runtime.progress import Progress

Array = np.ndarray[Any, Any]
ENDING = ".onnx"
# PaddlePaddle's options, with the values that say what is done here.
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "clip_extra": (True, False),
    "enable_onnx_checker": (True,),
    "output_spec": (None,),
}
_OF_TORCH = ("dynamic_axes", "dynamic_shapes", "input_names")
_NAMES_AND_SIZES = "names and sizes stand in the input_spec, as InputSpec(['batch', 4], name='x')"
_MOST = 1_900_000_000
"""So many bytes one file has: protobuf ends at 2 GB."""
_SMALL = 1024
"""Arrays of fewer bytes stay in the model."""
_PAGE = 4096


@without_own_frames
def export(
    layer: Any,
    path: str | os.PathLike[str],
    input_spec: Sequence[Any] | None = None,
    opset_version: int = DEFAULT,
    *,
    program: str | None = None,
    state: Mapping[str, Any] | None = None,
    verify: bool | Examples = True,
    checks: bool = True,
    functions: bool = False,
    external_data: bool = False,
    **configs: Any,
) -> list[str]:
    """Write a Layer, function, loaded model or Program as `path.onnx`; the names of the files.

    Unknown sizes stay unknown, under their names. The model is run by onnx.reference, and by
    onnxruntime if that is installed, with each unknown size 1 and another odd number, and must give
    what the Program gives; `verify` may be lists of arrays to run it with, too, or False.

    New values of buffers are outputs called `name.new`, and the buffers inputs that may be left
    out. Raises ArgumentError with all operators that ONNX lacks, and EngineError with the first one
    that computes something else; then nothing is written.

    Parameters
    ----------
    input_spec
        as of `jit.save`.
    opset_version
        from 13 to the newest that the package onnx knows.
    program
        which one, of a Layer or model that has several: `forward` if not said.
    state
        arrays of parameters and buffers by name, for a Program; without it they are inputs.
    checks
        whether the model fails where the Program raises, as for an assertion.
    functions
        whether functions of the Program are functions of the model, which some readers do not know;
        else the model has their operators for each call.
    external_data
        parameters in a file of their own, `path.onnx.data`; always beyond 2 GB.

    Examples
    --------
    >>> import os, tempfile
    >>> net = dy2st.to_static(dy2st.nn.Linear(4, 2), [dy2st.static.InputSpec(["n", 4])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = dy2st.onnx.export(net, f"{folder}/net")
    ...     print(os.listdir(folder))
    ['net.onnx']
    """
    for name, value in configs.items():
        if name not in _OPTIONS:
            hint = f": {_NAMES_AND_SIZES}" if name in _OF_TORCH else ""
            raise TypeError(f"export() got an unexpected keyword argument {name!r}{hint}")
        if value not in _OPTIONS[name]:
            raise ArgumentError(f"onnx.export: {name}={value!r} is not here")
    if not isinstance(path, (str, os.PathLike)):
        raise WrongKind(
            f"onnx.export writes to a path, not to a {type(path).__name__}: "
            "write export(layer, path, input_spec=[...])"
        )
    opset = check_opset(opset_version)
    chosen, arrays = _program_and_state(layer, input_spec, program, state)
    inlined = without_functions(chosen, "ONNX")
    model = write_model(chosen if functions else inlined, arrays, opset, checks)
    chosen = inlined
    file = _file(path)
    with naming(file.parent):
        file.parent.mkdir(parents=True, exist_ok=True)
    size = sum(len(one.raw_data) for one in model.proto.graph.initializer)
    examples = verify if isinstance(verify, (list, tuple)) else []
    is_split = external_data or size > _MOST
    if verify is not False and not is_split:
        with Progress(f"verifying {file.name}"):
            verify_model(model, chosen, arrays, opset, checks, examples)
    if not is_split:
        with replacing(file) as (temporary,), naming(file):
            temporary.write_bytes(model.proto.SerializeToString(deterministic=True))
        return [str(file)]
    if verify is not False:
        # onnxruntime reads the weights from the arrays that the model has in memory.
        verify_model(model, chosen, arrays, opset, checks, examples, is_large=size > _MOST)
    beside = file.with_name(f"{file.name}.data")
    with replacing(beside, file) as (data, text):
        with naming(beside), data.open("wb") as stream:
            _move_out(model.proto, stream, beside.name)
        with naming(file):
            text.write_bytes(model.proto.SerializeToString(deterministic=True))
    return [str(file), str(beside)]


def _file(path: str | os.PathLike[str]) -> Path:
    text = os.fspath(path)
    if not text or text.endswith(("/", os.sep)):
        raise ArgumentError(f"a model is named like folder/name, not {text!r}")
    return named(text if text.endswith(ENDING) else text + ENDING)


def _program_and_state(
    layer: Any,
    input_spec: Sequence[Any] | None,
    name: str | None,
    state: Mapping[str, Any] | None,
) -> tuple[Program, Mapping[str, Array] | None]:
    if isinstance(layer, Program):
        if input_spec is not None or name is not None:
            raise ArgumentError("a Program has its inputs: no input_spec, and no name of a Program")
        verify_program(layer)
        if state is None:
            return layer, ({} if not layer.state else None)
        missing = [key for key in layer.state if key not in state]
        if missing:
            raise ArgumentError(f"state has no arrays for {', '.join(missing)}")
        return layer, {key: np.asarray(state[key]) for key in layer.state}
    if state is not None:
        raise ArgumentError("state is for a Program: a Layer has its own")
    programs, arrays = programs_to_save(layer, input_spec, has_inputs=False)
    name = name or ("forward" if "forward" in programs else next(iter(programs)))
    if name not in programs:
        raise ArgumentError(f"there is no Program {name!r}; there are {', '.join(programs)}")
    kept = ", ".join(
        variable.name for variable in kept_inputs(programs[name], arrays, programs.values())
    )
    if kept:
        raise ArgumentError(
            f"{name} keeps {kept} from call to call, which a model of ONNX cannot: export a "
            "function that takes and returns it"
        )
    return programs[name], {key: np.asarray(arrays[key]) for key in programs[name].state}


def _move_out(proto: Any, stream: Any, name: str) -> None:
    """Write the arrays of a model behind each other, each from a page of its own."""
    for tensor in proto.graph.initializer:
        size = len(tensor.raw_data)
        if size < _SMALL:
            continue
        stream.write(b"\0" * (-stream.tell() % _PAGE))
        facts = {"location": name, "offset": str(stream.tell()), "length": str(size)}
        stream.write(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in facts.items():
            tensor.external_data.add(key=key, value=value)


def export_files(options: argparse.Namespace) -> int:
    """`dy2st export --onnx`: write the model, and the file of its parameters if it has one."""
    model = sound(read_model(options.input))
    program = chosen_program(model, options.program)
    arrays = model.arrays or {}
    missing = [name for name in program.state if name not in arrays]
    if missing:
        raise BadInput(f"{options.input} has no arrays for {', '.join(missing)}")
    folder = Path(options.output)
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
    name = "net" if options.input == STANDARD else Path(options.input).stem
    files = export(
        program,
        folder / name,
        opset_version=DEFAULT if options.opset is None else options.opset,
        state=arrays,
        verify=not options.no_verify,
        external_data=options.external_data,
    )
    for file in files:
        print(file)
    return 0


__all__ = ["DEFAULT", "export", "export_files"]
