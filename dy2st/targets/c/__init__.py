"""Programs for C: an object file, a header, and an example of how they are called.

Here are the arguments of `dy2st compile`; `command.py` does the work, loaded when it is called.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

_EXAMPLE = """example:
  dy2st compile net -o build          # net.o, net.h, net.parameters, net_example.c
  cd build && cc net_example.c net.o -lm -o net_example
  ./net_example 2 < inputs > results  # each unknown size is an argument, tensors are raw bytes

A Program that asks NumPy for something is refused, with a list of what and where. Code is made for
this machine's processor; DY2ST_NATIVE_CPU=haswell makes it for all that have AVX2. Needs llvmlite:
pip install 'dy2st[native]'."""


def add_compile(commands: Any) -> None:
    """Add the command `compile` to those of `dy2st`.

    >>> parser = argparse.ArgumentParser("dy2st")
    >>> add_compile(parser.add_subparsers())
    >>> parser.parse_args(["compile", "net", "-o", "build", "--embed"]).embed
    True
    """
    parser = commands.add_parser(
        "compile",
        help="compile for C: an object file that needs neither Python nor NumPy",
        description="Compile a saved Program to object code, and write a header and an example in "
        "C. IN is the name of a saved model, or a text file beside whose text its arrays lie.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # What runs it is imported when it is called: to list commands must not take long.
    parser.set_defaults(
        run=lambda options: import_module("dy2st.targets.c.command").compile_files(options)
    )
    parser.add_argument("input", metavar="IN", help="what to read")
    parser.add_argument("-o", "--output", metavar="FOLDER", required=True, help="where to write")
    parser.add_argument("--program", metavar="NAME", help="which Program, if there are several")
    help = "make the parameters a part of the object file, not a file beside it"
    parser.add_argument("--embed", action="store_true", help=help)


__all__ = ["add_compile"]
