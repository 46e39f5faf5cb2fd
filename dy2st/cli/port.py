"""The arguments of `dy2st port`; what it does is in `dy2st.paddle.porting`, loaded when called."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

_EXAMPLE = """example:
  dy2st port models/                  # which names are missing, where, what to write instead
  dy2st port models/ --write          # and `import paddle` becomes `import dy2st.paddle as paddle`

A script that shall stay as it is runs with `python -m dy2st.paddle script.py`."""


def add_port(commands: Any) -> None:
    """Add the command `port` to those of `dy2st`."""
    parser = commands.add_parser(
        "port",
        help="see what of PaddlePaddle sources use, and make them import dy2st",
        description="Read Python sources, which are not run; list PaddlePaddle's names in them "
        "that dy2st has not, with places and advice; count all uses.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_called)
    parser.add_argument("folder", metavar="FOLDER", help="a folder of sources, or one file")
    help = "change the imports; every other byte of the files stays as it is"
    parser.add_argument("--write", action="store_true", help=help)
    parser.add_argument("--all", action="store_true", help="show every place, not three of a name")


def _called(options: argparse.Namespace) -> int:
    status: int = import_module("dy2st.paddle.porting.command").port(options)
    return status
