"""The command `export`, whose formats are several targets."""

from __future__ import annotations

import argparse
from typing import Any

_EXAMPLE = """examples:
  dy2st export net --onnx -o build       # net.onnx
  dy2st export net --stablehlo -o build  # net.stablehlo, net.stablehlo.mlir, net.stablehlo.json
  python -c "import jax.export as e; net = e.deserialize(open('build/net.stablehlo', 'rb').read())"

Unknown sizes stay unknown. ONNX needs onnx: pip install 'dy2st[onnx]'. Of StableHLO `net.call(...)`
takes inputs, parameters and buffers in the order that the .json file names, with
`jax.enable_x64`; sizes are from 1 on. It needs jax: pip install 'dy2st[jax]'."""


def add_format(commands: Any) -> tuple[argparse.ArgumentParser, Any]:
    """The parser of `export`, and the group to which a format adds its flag.

    The flag stores as `run_format` what runs it.
    """
    known: argparse.ArgumentParser | None = commands.choices.get("export")
    if known is not None:
        return known, known.get_default("formats")
    parser: argparse.ArgumentParser = commands.add_parser(
        "export",
        help="write ONNX or StableHLO, which other tools read",
        description="Write a saved Program as a portable artifact. IN is the name of a saved "
        "model, or a text file.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    formats = parser.add_mutually_exclusive_group(required=True)
    parser.set_defaults(run=lambda options: options.run_format(options), formats=formats)
    parser.add_argument("input", metavar="IN", help="what to read")
    parser.add_argument("-o", "--output", metavar="FOLDER", required=True, help="where to write")
    parser.add_argument("--program", metavar="NAME", help="which Program, if there are several")
    return parser, formats


__all__ = ["add_format"]
