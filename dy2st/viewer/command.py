"""The command `dy2st view`: writes a page that shows the Programs of a saved model."""

from __future__ import annotations

import argparse
from typing import Any

from dy2st.model_files import STANDARD, BadInput, read_model, sound
from dy2st.viewer.page import view

_EXAMPLE = """examples:
  dy2st view saved/net                                  # saved/net.html, for any browser
  dy2st view net.mlir --compare better.mlir -o page.html
  dy2st view net --size batch=8 --sources src/

The page is one file, which needs no network, and holds no numbers of arrays."""


def add_view(commands: Any) -> None:
    """Add the command `view` to those of `dy2st`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "view",
        help="show Programs on a page of HTML",
        description="Write a page that shows the Programs of a model: as a graph with layers, "
        "branches and loops to open, with lines of source, sizes and memory. IN is a text file, "
        "`-` for standard input, or the name of a saved model.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_view)
    parser.add_argument("input", metavar="IN", help="what to read")
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="the page (default: the name of IN and .html)"
    )
    parser.add_argument(
        "--compare", metavar="OTHER", help="mark what differs in another model, as after passes"
    )
    parser.add_argument(
        "--size",
        action="append",
        default=[],
        type=_size,
        metavar="NAME=N",
        help="a number for an unknown size, for the plan of memory; may be given again",
    )
    parser.add_argument(
        "--sources", metavar="FOLDER", help="where the source files lie that operators come from"
    )


def _size(text: str) -> tuple[str, int]:
    name, equals, number = text.partition("=")
    if not (name and equals and number.isascii() and number.isdigit()):
        raise argparse.ArgumentTypeError(f"a name and a number, as batch=8, not {text!r}")
    return name, int(number)


def _view(options: argparse.Namespace) -> int:
    names = [options.input] if options.compare is None else [options.input, options.compare]
    if names == [STANDARD, STANDARD]:
        raise BadInput("standard input can be compared with a file only")
    models = [sound(read_model(name, with_arrays=False)).programs for name in names]
    name = "program" if options.input == STANDARD else options.input.removesuffix(".mlir")
    page = view(
        *models, sizes=dict(options.size), sources=options.sources, title=" and ".join(names)
    )
    print(page.save(options.output or f"{name}.html"))
    return 0


__all__ = ["add_view"]
