"""`dy2st opu disasm`."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from dy2st.model_files import BadInput
from dy2st.passes.core.module import Array
from dy2st.targets.opu.commands.said import OK
from dy2st.targets.opu.compiled_file import read_compiled
from dy2st.targets.opu.debug_map import DebugMap
from dy2st.targets.opu.disassemble import disassemble
from dy2st.targets.opu.machine import machine
from dy2st_runtime.errors import FormatError


def disasm(options: argparse.Namespace) -> int:
    """`dy2st opu disasm`."""
    path = Path(options.program)
    if path.is_dir():
        compiled = read_compiled(path)
        words, on, debug = compiled.model.words, compiled.model.machine, compiled.debug
    else:
        words, on, debug = _words(path), machine(options.machine), None
    try:
        lines = disassemble(words, on, debug).splitlines()
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    if options.layer is not None:
        lines = _of_layer(lines, debug, options.layer)
    print("\n".join(lines))
    return OK


def _of_layer(lines: list[str], debug: DebugMap | None, layer: int) -> list[str]:
    """The lines of a layer; the first line is a title."""
    if debug is None:
        raise BadInput("--layer needs a compiled folder: a file of words knows no layers")
    own = debug.of_layer(layer)
    if not own:
        raise BadInput(f"the program has no operations of layer {layer}")
    return [lines[entry.block + 1] for entry in own]


def _words(path: Path) -> Array:
    if not path.is_file():
        raise BadInput(f"there is no file {path}")
    data = path.read_bytes()
    if len(data) % 4:
        raise FormatError(f"{path} has {len(data)} bytes: no whole number of 32-bit words")
    return np.frombuffer(data, "<u4").astype(np.uint32)


__all__ = ["disasm"]
