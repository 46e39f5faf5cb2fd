"""Programs and their arrays for the command line: read from files, and written back.

A name is that of a text file (`net.mlir`), `-` for standard input or output, or that of a saved
model (`net`, for `net.mlir` and `net.safetensors`). Arrays are read wherever they lie beside the
text.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.passes.core.module import Array, Module
from dy2st_runtime.errors import Dy2stError, FormatError, ParseError, VerifyError
from dy2st_runtime.files import meant_file, naming, replacing
from dy2st_runtime.io import check_pair, check_state, read_pair, verified, write_pair
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.text.parser import parse
from dy2st_runtime.ir.text.printer import to_text

STANDARD = "-"
_ENDING = ".mlir"
_SHOWN = 100
_HEAD = 1000  # bytes, of the line that names format and writer


class BadInput(Dy2stError):
    """What was given cannot be read or written; the message is for the user as it stands."""


@dataclass(frozen=True)
class ModelFile:
    """What was read: Programs in order, and the arrays beside them, None without a file of them.

    files   where it was read from, none for standard input.
    head    how the text begins: its format, and who wrote it.
    """

    name: str
    programs: list[Program]
    arrays: Mapping[str, Array] | None
    files: tuple[Path, ...] = ()
    head: str = ""

    def module(self) -> Module:
        """For passes."""
        return Module({program.name: program for program in self.programs}, dict(self.arrays or {}))


# -- reading ----------------------------------------------------------------------------------


def read_model(name: str, with_arrays: bool = True) -> ModelFile:
    """The Programs of a name, and their arrays; BadInput if something is wrong with either."""
    if name == STANDARD:
        data = sys.stdin.buffer.read()
        return ModelFile("standard input", _parsed("standard input", data), None, (), _head(data))
    file = _text_file(name)
    array_file = file.with_suffix(".safetensors")
    if not (with_arrays and array_file.is_file()):
        with naming(file):
            data = file.read_bytes()
        return ModelFile(name, _parsed(str(file), data), None, (file,), _head(data))
    text, stored = read_pair(file, array_file)
    data = text.encode("utf-8")
    programs = _parsed(str(file), data)
    check_state(programs, stored.arrays, array_file)
    check_pair(file, array_file, text, stored)
    return ModelFile(name, programs, stored.arrays, (file, array_file), _head(data))


def sound(model: ModelFile) -> ModelFile:
    """The model with verified Programs; BadInput shows what is wrong with one."""
    try:
        return replace(model, programs=[verified(p) for p in model.programs])
    except VerifyError as error:
        raise BadInput(f"{model.name} is broken: {error}") from None


def _head(data: bytes) -> str:
    return data[:_HEAD].decode("utf-8", "replace").partition("\n")[0]


def _text_file(name: str) -> Path:
    """The file that a name means."""
    file, saved = Path(name), Path(name + _ENDING)
    if file.exists() and not file.is_dir():  # a pipe, too, as shells make it for `<(...)`
        return file
    if saved.is_file():
        return saved
    if file.is_dir():
        raise BadInput(f"{name} is a folder; give a file in it")
    tried = f" and no {saved}" if not name.endswith(_ENDING) else ""
    raise BadInput(f"there is no file {name}{tried}{meant_file(file, _ENDING)}")


def _parsed(shown: str, data: bytes) -> list[Program]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{shown} is no text: it is damaged, or no Program") from None
    try:
        programs = parse(text)
    except ParseError as error:
        raise BadInput(_marked(shown, text, error)) from None
    except FormatError as error:  # a newer version
        raise BadInput(f"{shown}: {error}") from None
    names = [program.name for program in programs]
    if not names or len(set(names)) != len(names):
        raise BadInput(f"{shown} has no Program, or two of one name: {', '.join(names)}")
    return programs


def _marked(shown: str, text: str, error: ParseError) -> str:
    """`file:line:column: what`, and that part of the line with a mark below."""
    what = str(error).removeprefix(f"line {error.line}, column {error.column}: ")
    head = f"{shown}:{error.line}:{error.column}: {what}"
    line = text.split("\n")[error.line - 1]
    if not line.strip():
        return head
    start = max(0, error.column - 1 - _SHOWN // 2)
    before, after = line[start : error.column - 1], line[error.column - 1 : start + _SHOWN]
    space = "".join("\t" if character == "\t" else " " for character in before)
    return f"{head}\n  {before}{after.rstrip()}\n  {space}^"


def chosen(model: ModelFile, name: str | None) -> Program:
    """The Program of that name, or the only one."""
    programs = {program.name: program for program in model.programs}
    if name is None and len(programs) == 1:
        return model.programs[0]
    if name not in programs:
        shown = ", ".join(programs)
        wrong = "it has several Programs" if name is None else f"it has no Program {name!r}"
        raise BadInput(f"{model.name}: {wrong}: --program is one of {shown}")
    return programs[name]


def read_array_file(name: str) -> Any:
    """The array of an .npy, or a dict of those of an .npz; BadInput if it is neither."""
    if not Path(name).exists():
        raise BadInput(f"there is no file {name}{meant_file(Path(name))}")
    try:
        with Path(name).open("rb") as file:
            found = np.load(file, allow_pickle=False)
            return found if isinstance(found, np.ndarray) else dict(found)
    except Exception as error:  # what NumPy, zlib and the parser of its header have for bad bytes
        first = str(error).partition("\n")[0]
        raise BadInput(f"{name} is no .npy or .npz with plain numbers: {first}") from None


# -- writing ----------------------------------------------------------------------------------


def write_model(name: str, module: Module, has_arrays: bool, locations: bool = True) -> list[str]:
    """Write a Module, whole or not at all; the names of the files.

    `net.mlir` is the text, and `net.safetensors` the arrays if the Programs have any, or
    `has_arrays`. Raises BadInput if a folder is missing or only some of the arrays are known.
    """
    if Path(name).is_dir() or name.endswith(("/", os.sep)):
        raise BadInput(f"{name} is a folder; give the name of a file in it")
    is_text = name.endswith(_ENDING)
    text_file = Path(name if is_text else name + _ENDING)
    if not text_file.parent.is_dir():
        raise BadInput(f"there is no folder {text_file.parent}")
    programs = list(module.programs.values())
    files = [text_file]
    if module.state or has_arrays or not is_text:
        array_file = text_file.with_suffix(".safetensors")
        missing = [
            name for program in programs for name in program.state if name not in module.state
        ]
        if missing:
            names = ", ".join(dict.fromkeys(missing))
            raise BadInput(
                f"{array_file} cannot be written: the arrays of {names} are not known, because "
                "none lay beside the input"
            )
        write_pair(text_file, array_file, programs, module.state, locations)
        files.append(array_file)
    else:
        with replacing(text_file) as (temporary,), naming(text_file):
            temporary.write_bytes(to_text(programs, locations).encode("utf-8"))
    return [str(file) for file in files]


__all__ = [
    "STANDARD",
    "BadInput",
    "ModelFile",
    "chosen",
    "read_array_file",
    "read_model",
    "sound",
    "write_model",
]
