"""`dy2st export`: a saved Program as StableHLO."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from dy2st.model_files import STANDARD, chosen, read_model, sound
from dy2st.targets.c.command import write_files
from dy2st_runtime.engine.xla.export import exported


def export_files(options: argparse.Namespace) -> int:
    """Write the files, all or none."""
    program = chosen(sound(read_model(options.input)), options.program)
    name = "net" if options.input == STANDARD else Path(options.input).stem
    artifact = exported(program)
    files = {
        f"{name}.stablehlo": artifact.data,
        f"{name}.stablehlo.mlir": artifact.text.encode(),
        f"{name}.stablehlo.json": (
            # What a call takes and gives, in order.
            json.dumps(
                {
                    "inputs": [variable.name for variable in program.inputs],
                    "state": list(program.state),
                    "outputs": len(program.outputs),
                    "updates": program.updates,
                    "has_check": artifact.has_check,
                },
                indent=1,
            )
            + "\n"
        ).encode(),
    }
    write_files(Path(options.output), files)
    return 0


__all__ = ["export_files"]
