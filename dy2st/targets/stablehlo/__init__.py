"""Programs as StableHLO, which jax, IREE and others read.

Here are the arguments of `dy2st export`; `command.py` does the work, loaded when it is called.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

_EXAMPLE = """example:
  dy2st export net --stablehlo -o build  # net.stablehlo, net.stablehlo.mlir, net.stablehlo.json
  python -c "import jax.export as e; net = e.deserialize(open('build/net.stablehlo', 'rb').read())"

`net.call(...)` takes inputs, parameters and buffers in the order that the .json file names, with
`jax.enable_x64`. Unknown sizes stay unknown, from 1 on. Needs jax: pip install 'dy2st[jax]'."""


def add_export(commands: Any) -> None:
    """Add the command `export` to those of `dy2st`."""
    parser = commands.add_parser(
        "export",
        help="write StableHLO, which jax and other compilers read",
        description="Write a saved Program as a portable artifact. IN is the name of a saved "
        "model, or a text file.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # What runs it is imported when it is called: to list commands must not take long.
    parser.set_defaults(
        run=lambda options: import_module("dy2st.targets.stablehlo.command").export_files(options)
    )
    parser.add_argument("input", metavar="IN", help="what to read")
    help = "as jax.export writes it, with StableHLO's text beside it"
    parser.add_argument("--stablehlo", action="store_true", required=True, help=help)
    parser.add_argument("-o", "--output", metavar="FOLDER", required=True, help="where to write")
    parser.add_argument("--program", metavar="NAME", help="which Program, if there are several")


__all__ = ["add_export"]
