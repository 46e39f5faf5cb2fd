"""Programs as StableHLO, which jax, IREE and others read.

Here are the arguments of `dy2st export`; `command.py` does the work, loaded when it is called.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dy2st.targets import add_format


def add_export(commands: Any) -> None:
    """Add the format to the command `export` of `dy2st`.

    >>> import argparse
    >>> parser = argparse.ArgumentParser("dy2st")
    >>> add_export(parser.add_subparsers())
    >>> parser.parse_args(["export", "net", "--stablehlo", "-o", "build"]).input
    'net'
    """
    _, formats = add_format(commands)
    formats.add_argument(
        "--stablehlo",
        dest="run_format",
        action="store_const",
        # What runs it is imported when it is called: to list commands must not take long.
        const=lambda options: import_module("dy2st.targets.stablehlo.command").export_files(
            options
        ),
        help="as jax.export writes it, with StableHLO's text beside it",
    )


__all__ = ["add_export"]
