"""Parsers of the command line: they correct what is nearly right, and show an example.

argparse lists all that there is, where one letter is wrong.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from dy2st_runtime.errors import did_you_mean

FILES = (
    "IN is a text file, `-` for standard input, or the name of a saved model: `net` for net.mlir "
    "and net.safetensors."
)


class Parser(argparse.ArgumentParser):
    """A parser whose commands, and values from a list, are corrected; so are those of its commands.

    >>> parser = Parser(prog="dy2st", exit_on_error=False)
    >>> _ = parser.add_argument("--mode", choices=["own", "compat"])
    >>> parser.parse_args(["--mode", "compatt"])
    Traceback (most recent call last):
    argparse.ArgumentError: argument --mode: there is no 'compatt'; did you mean 'compat'?
    """

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            near = did_you_mean(str(value), map(str, action.choices))
            raise argparse.ArgumentError(action, f"there is no {value!r}{near}")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuse what a command does not know itself: its options are known here alone."""
        options, rest = super().parse_known_args(args, namespace)
        for word in rest:
            if word.startswith("-"):
                near = did_you_mean(word.partition("=")[0], self._option_string_actions)
                self.error(f"there is no option {word}{near}")
            self.error(f"there is nothing to do with {word!r}: it is one argument too many")
        return options, rest


def add_command(
    commands: Any, name: str, run: Any, help: str, epilog: str, description: str = ""
) -> argparse.ArgumentParser:
    """Add a command that `run` does, with its options; without a description it is about files."""
    text = description or f"{help}. {FILES}"
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=f"{text[0].upper()}{text[1:]}",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def count(text: str) -> int:
    """A number from 0 on, for argparse.

    >>> count("16")
    16
    """
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"a number from 0 on, not {text!r}")
    return int(text)


__all__ = ["FILES", "Parser", "add_command", "count"]
