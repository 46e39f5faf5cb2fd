"""Saved models: `name.mlir` holds the Programs, `name.safetensors` parameters and buffers.

Loading and running needs this package alone. Nothing in the files is executed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dy2st_runtime import engine
from dy2st_runtime.errors import ArgumentError, FormatError, ParameterMismatch, ParseError, SpecError
from dy2st_runtime.ir.parser import parse
from dy2st_runtime.ir.printer import to_text
from dy2st_runtime.ir.program import Program
from dy2st_runtime.ir.structure import rebuild
from dy2st_runtime.ir.verifier import findings
from dy2st_runtime.tensor import EagerTensor
from dy2st_runtime.tensor_file import read_arrays, write_arrays, write_bytes

Array = np.ndarray[Any, Any]


def save_programs(
    path: str | os.PathLike[str], programs: Mapping[str, Program], state: Mapping[str, Array]
) -> None:
    """Write Programs by the name of their method, and the arrays that they read.

    The same Programs and arrays give the same bytes, whatever the process or folder.
    """
    text_file, array_file = _files(path)
    text_file.parent.mkdir(parents=True, exist_ok=True)
    named = []
    for name, program in programs.items():
        own = program.name
        program.name = name
        named.append(to_text(program))
        program.name = own
    write_arrays(array_file, state)
    write_bytes(text_file, _joined(named).encode("utf-8"))


def _joined(texts: list[str]) -> str:
    """Modules of one Program each as one module of all."""
    if len(texts) == 1:
        return texts[0]
    head, _, _ = texts[0].partition("\n")
    tail = texts[0].rstrip("\n").rpartition("\n")[2]
    bodies = [text.partition("\n")[2].rstrip("\n").rpartition("\n")[0] for text in texts]
    return "\n".join([head, *bodies, tail]) + "\n"


def load(path: str | os.PathLike[str]) -> LoadedModel:
    """The model saved as `path.mlir` and `path.safetensors`.

    Raises FileNotFoundError if a file is missing, FormatError if one is damaged, foreign or too
    new, ParameterMismatch if the files do not belong together.
    """
    text_file, array_file = _files(path)
    for file in (text_file, array_file):
        if not file.is_file():
            raise FileNotFoundError(f"a saved model is {text_file} and {array_file}: no {file}")
    try:
        programs = parse(text_file.read_bytes().decode("utf-8"))
    except UnicodeDecodeError:
        raise FormatError(f"{text_file}: it is no text") from None
    except FormatError as error:
        raise FormatError(f"{text_file}: {error}") from None
    except ParseError as error:
        raise FormatError(f"{text_file}: {error}") from None
    for program in programs:
        found = findings(program)
        if found:
            raise FormatError(f"{text_file}: the Program {program.name!r} is wrong: {found[0]}")
    state = read_arrays(array_file)
    _check_state(programs, state, array_file)
    return LoadedModel(programs, state)


def _files(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    text = os.fspath(path)
    if not text or text.endswith(("/", os.sep)):
        raise ArgumentError(f"a saved model is named like folder/name, not {text!r}")
    return Path(text + ".mlir"), Path(text + ".safetensors")


def _check_state(programs: list[Program], state: Mapping[str, Array], file: Path) -> None:
    wanted = {name: variable for program in programs for name, variable in program.state.items()}
    missing = [name for name in wanted if name not in state]
    unknown = [name for name in state if name not in wanted]
    if missing or unknown:
        parts = [f"missing: {', '.join(missing)}"] if missing else []
        parts += [f"unknown: {', '.join(unknown)}"] if unknown else []
        raise ParameterMismatch(f"{file} does not fit the Program; {'; '.join(parts)}")
    for name, variable in wanted.items():
        type, array = variable.tensor_type, state[name]
        if type.dtype != array.dtype or list(type.shape) != list(array.shape):
            raise ParameterMismatch(
                f"{file}: {name!r} has dtype {array.dtype} and shape {list(array.shape)}, the "
                f"Program takes {type.dtype} and {list(type.shape)}"
            )


class Method:
    """One saved method: call it with tensors or arrays, by position or by the inputs' names."""

    def __init__(self, program: Program, state: dict[str, Array]):
        """Use the arrays of the model, which its other methods share."""
        self.program = program
        self._state = state
        self._executable: engine.Executable | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs as tensors, nested as the original function returned them."""
        program = self.program
        inputs = [_as_array(value) for value in self._ordered(args, kwargs)]
        if self._executable is None:
            self._executable = engine.compile(program)
        results = self._executable.run(inputs, [self._state[name] for name in program.state])
        count = len(program.outputs)
        for name, array in zip(program.updates, results[count:], strict=True):
            self._state[name] = array
        return rebuild(program.structure, [EagerTensor(array) for array in results[:count]])

    def _ordered(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        names = [variable.name for variable in self.program.inputs]
        takes = f"{self.program.name}() takes {', '.join(f'`{name}`' for name in names)}"
        if len(args) > len(names):
            raise SpecError(f"{takes}: {len(args)} tensors are given")
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names or name in given:
                raise SpecError(f"{takes}: `{name}` is unknown or given twice")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise SpecError(f"{takes}: `{missing[0]}` is missing")
        return [given[name] for name in names]


class LoadedModel:
    """A saved Layer or function: call it as the original; other methods are attributes."""

    def __init__(self, programs: list[Program], state: dict[str, Array]):
        """Keep the Programs by name, and the arrays they share."""
        self.programs = {program.name: program for program in programs}
        self._state = state
        self._methods = {name: Method(program, state) for name, program in self.programs.items()}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`."""
        return self._methods["forward"](*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """A saved method by name."""
        methods = self.__dict__.get("_methods", {})
        if name in methods:
            return methods[name]
        raise AttributeError(f"the saved model has the methods {', '.join(methods)}, no {name!r}")

    def program(self, method_name: str = "forward") -> Program:
        """The Program of a method."""
        return self.programs[method_name]

    def state_dict(self) -> dict[str, EagerTensor]:
        """Parameters and buffers by name."""
        return {name: EagerTensor(array) for name, array in self._state.items()}

    def parameters(self) -> list[EagerTensor]:
        """The parameters of all methods."""
        names = dict.fromkeys(n for p in self.programs.values() for n in p.parameters)
        return [EagerTensor(self._state[name]) for name in names]

    def eval(self) -> LoadedModel:
        """Nothing to switch: the Program was saved in one mode."""
        return self

    def __repr__(self) -> str:
        """The methods and what they take."""
        lines = [
            f"{name}({', '.join(f'{v.name}: {v.type}' for v in program.inputs)})"
            for name, program in self.programs.items()
        ]
        return f"LoadedModel({'; '.join(lines)})"


def _as_array(value: Any) -> Array:
    if isinstance(value, EagerTensor):
        return value.array
    return np.asarray(value)
