"""`dy2st export --onnx`: a saved Program as a model of ONNX."""

from __future__ import annotations

import argparse
from pathlib import Path

from dy2st.model_files import STANDARD, BadInput, read_model, sound
from dy2st.targets.c.command import chosen
from dy2st.targets.onnx.export import DEFAULT, export
from dy2st_runtime.files import naming


def export_files(options: argparse.Namespace) -> int:
    """Write the model, and the file of its parameters if it has one."""
    model = sound(read_model(options.input))
    program = chosen(model, options.program)
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


__all__ = ["export_files"]
