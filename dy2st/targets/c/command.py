"""`dy2st compile`: a saved Program as object code that C calls, with a header and an example."""

from __future__ import annotations

import argparse
from pathlib import Path

from dy2st.model_files import STANDARD, BadInput, ModelFile, read_model, sound
from dy2st.targets.c.texts import Call, example, header, identifier
from dy2st_runtime.engine.native.standalone import packed, write
from dy2st_runtime.files import naming, replacing
from dy2st_runtime.ir import Program


def compile_files(options: argparse.Namespace) -> int:
    """Write the files, all or none."""
    model = sound(read_model(options.input))
    program = _chosen(model, options.program)
    missing = [name for name in program.state if name not in (model.arrays or {})]
    if missing:
        raise BadInput(f"{options.input} has no arrays for {', '.join(missing)}")
    name = identifier("net" if options.input == STANDARD else Path(options.input).stem)
    arrays = model.arrays or {}
    standalone = write(program, name, arrays if options.embed else None)
    parameters, call = packed(program, arrays), Call.of(standalone, options.embed)
    files = {
        f"{name}.o": standalone.code(),
        f"{name}.h": header(call, len(parameters)).encode(),
        f"{name}_example.c": example(call).encode(),
    }
    if call.parameters:
        files[f"{name}.parameters"] = parameters
    _write(Path(options.output), files)
    return 0


def _chosen(model: ModelFile, name: str | None) -> Program:
    programs = {program.name: program for program in model.programs}
    if name is None and len(programs) == 1:
        return model.programs[0]
    if name not in programs:
        shown = ", ".join(programs)
        wrong = "it has several Programs" if name is None else f"it has no Program {name!r}"
        raise BadInput(f"{model.name}: {wrong}: --program is one of {shown}")
    return programs[name]


def _write(folder: Path, files: dict[str, bytes]) -> None:
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with replacing(*(folder / name for name in files)) as places:
        for place, data in zip(places, files.values(), strict=True):
            place.write_bytes(data)
    for name in files:
        print(folder / name)


__all__ = ["compile_files"]
