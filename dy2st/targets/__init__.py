"""Targets: what Programs are lowered to, one folder each.

A target adds its command to those of `dy2st`. Another package offers one through an entry point of
the group `dy2st.targets`, which is a function like `add_compile` in `c/__init__.py`:

    [project.entry-points."dy2st.targets"]
    mine = "my_package.commands:add_mine"
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, TypeAlias

from dy2st.errors import ArgumentError

GROUP = "dy2st.targets"
# Where the functions are that add the commands of our own targets: `module:name`.
TARGETS: dict[str, str] = {
    "c": "dy2st.targets.c:add_compile",
    "onnx": "dy2st.targets.onnx:add_export",
    "opu": "dy2st.targets.opu.commands.arguments:add_opu",
    "stablehlo": "dy2st.targets.stablehlo:add_export",
}

AddCommand: TypeAlias = Callable[[Any], None]


def target_names() -> list[str]:
    """The names of all targets: dy2st's own, then those of other packages.

    >>> target_names()[:2]
    ['c', 'onnx']
    """
    return list(dict.fromkeys([*TARGETS, *sorted(_of_packages())]))


def find(name: str) -> AddCommand:
    """The function that adds the command of a target to the parsers of argparse.

    Raises ArgumentError if there is no such target, or it cannot be imported.

    >>> import argparse
    >>> parser = argparse.ArgumentParser("dy2st")
    >>> find("c")(parser.add_subparsers())
    >>> parser.parse_args(["compile", "net", "-o", "build"]).output
    'build'
    """
    place = TARGETS.get(name) or _of_packages().get(name)
    if place is None:
        raise ArgumentError(f"there is no target {name!r}; known: {', '.join(target_names())}")
    module, _, attribute = place.partition(":")
    try:
        added: AddCommand = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ArgumentError(f"the target {name!r} cannot be loaded from {place}: {error}") from None
    return added


def _of_packages() -> dict[str, str]:
    return {entry.name: entry.value for entry in entry_points(group=GROUP)}


# -- the command `export`, whose formats are several targets -------------------------------------

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

    >>> import argparse
    >>> commands = argparse.ArgumentParser("dy2st").add_subparsers()
    >>> parser, formats = add_format(commands)
    >>> _ = formats.add_argument("--mine", dest="run_format", action="store_const", const=print)
    >>> parser.parse_args(["net", "--mine", "-o", "build"]).run_format is print
    True
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


__all__ = ["GROUP", "TARGETS", "AddCommand", "add_format", "find", "target_names"]
