"""The command `dy2st`: run passes on Programs in files, print, verify and compare them.

    dy2st info net
    dy2st run net --input x.npy -o y.npy
    dy2st opt net.mlir -p inference -o better.mlir
    dy2st print net.mlir --elide 16
    dy2st verify net.mlir
    dy2st diff net.mlir better.mlir
    dy2st view net
    dy2st compile net -o build
    dy2st export net --stablehlo -o build
    dy2st opu compile net --calib images.npy -o net.opu
    dy2st import net.onnx -o net
    dy2st port models/ --write

Results go to standard output; errors, notes and what instruments say to standard error. The exit
status is 0, or 1 if a Program is broken or two differ, or 2 if something cannot be read or done;
after Ctrl-C it is 130.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from dy2st.cli.bench import add_bench
from dy2st.cli.doctor import add_doctor
from dy2st.cli.exit_status import BAD, run_to_end, say
from dy2st.cli.measures import add_measures
from dy2st.cli.models import add_models
from dy2st.cli.parsers import Parser, add_command, count
from dy2st.importers import READERS, read_foreign
from dy2st.model_files import STANDARD, BadInput, ModelFile, read_model, sound, write_model
from dy2st.passes import (
    PIPELINES,
    Module,
    Pass,
    PassContext,
    PassInstrument,
    PassPrinting,
    PassStatistics,
    PassTiming,
    Sequential,
    VerifyAfter,
    find,
    pass_names,
)
from dy2st.passes.core.info import PassInfo
from dy2st.targets import find as find_target
from dy2st.targets import target_names
from dy2st.viewer.command import add_view
from dy2st.viewer.model_explorer import as_model_explorer
from dy2st_runtime.errors import ArgumentError, Dy2stError, VerifyError, counted
from dy2st_runtime.io import verified
from dy2st_runtime.ir.text.difference import difference_of_models
from dy2st_runtime.ir.text.printer import to_text
from dy2st_runtime.progress import Progress
from dy2st_runtime.tensor_file import digest_of
from dy2st_runtime.version import VERSION

OK, DIFFERENT = 0, 1

_EXAMPLES = """examples:
  dy2st doctor                        # what is installed here, and works
  dy2st info net                      # what jit.save wrote as net.mlir and net.safetensors
  dy2st run net --input x.npy -o y.npy
  dy2st opt net -p inference -o fast  # passes

`dy2st COMMAND --help` shows the options of a command and an example."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    return run_to_end(lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    options = parser().parse_args(arguments)
    status: int = options.run(options)
    return status


def parser() -> Parser:
    """The parser of all commands."""
    parser = Parser(
        prog="dy2st",
        description="Programs in files: look at them, run them, measure them, change them by "
        "passes, compile them for C or for the OPU; models and sources of other tools.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"dy2st {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_opt(commands)
    usage = "example:\n  dy2st print net.mlir --elide 16"
    show = add_command(commands, "print", _print, "print Programs as dy2st writes them", usage)
    show.add_argument("input", metavar="IN", help="what to read")
    show.add_argument(
        "--elide", type=count, metavar="N", help="leave out constants of more than N elements"
    )
    show.add_argument(
        "--no-locations", action="store_true", help="leave out where operators come from"
    )
    help = "the text form, or JSON that Model Explorer opens (default: mlir)"
    show.add_argument("--format", choices=("mlir", "model-explorer"), default="mlir", help=help)
    usage = "example:\n  dy2st verify net.mlir other.mlir\n\nexit status: 1 if one is broken"
    verify = add_command(commands, "verify", _verify, "check that Programs keep every rule", usage)
    verify.add_argument("inputs", nargs="+", metavar="IN", help="what to read")
    usage = (
        "example:\n  dy2st diff net.mlir better.mlir\n\n"
        "exit status: 0 if they are equal, 1 if they differ, 2 if one cannot be read"
    )
    meaning = "compare Programs, up to locations and the names of values"
    diff = add_command(commands, "diff", _diff, meaning, usage)
    diff.add_argument("left", metavar="IN", help="what to read")
    diff.add_argument("right", metavar="IN", help="what to compare it with")
    usage = "example:\n  dy2st import net.onnx -o net    # net.mlir and net.safetensors"
    meaning = "make Programs of models of other tools"
    about = f"{meaning}: {', '.join(READERS)}."
    foreign = add_command(commands, "import", _import, meaning, usage, about)
    foreign.add_argument("input", metavar="IN", help="the file of the model")
    foreign.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="a saved model's name"
    )
    add_doctor(commands)
    add_models(commands)
    add_bench(commands)
    add_measures(commands)
    # the commands of all targets; one of another package that fails only lacks
    for name in target_names():
        try:
            find_target(name)(commands)
        except ArgumentError as error:
            say(f"note: {error}")
    add_view(commands)
    add_port(commands)
    return parser


# -- opt --------------------------------------------------------------------------------------


def _opt(options: argparse.Namespace) -> int:
    if options.list_passes:
        listed = [name for name in pass_names() if name not in PIPELINES]
        lines = ["Pipelines:", *(f"  {name:<28} {_line(PIPELINES[name])}" for name in PIPELINES)]
        lines += ["", "Passes, each with the --opt-level from which on it runs:"]
        for name in listed:
            found = find(name)
            # What a pass does: its own first line, or that of its file, which names it.
            own, file = _line(type(found)), _line(sys.modules[type(found).__module__])
            named, colon, text = file.partition(": ")
            text = text if colon and named == found.info.name else own.removeprefix("The pass: ")
            meaning = text[:1].upper() + text[1:]
            lines.append(f"  {name:<28} {found.info.opt_level}  {meaning}")
        print("\n".join(lines))
        return OK
    if options.input is None:
        raise BadInput("opt needs a file; `dy2st opt --help` shows how it is called")
    names = [name.strip() for text in options.passes for name in text.split(",")]
    passes = [find(name) for name in names if name]
    printed = [name if name == "all" else find(name).info.name for name in options.print_after]
    model = sound(read_model(options.input))
    module = _optimised(model.module(), passes, printed, options)
    if options.output in (None, STANDARD):
        if module.state:
            shown_names = ", ".join(module.state)
            shown = (
                shown_names if len(shown_names) <= 60 else counted(len(module.state), "parameter")
            )
            say(f"note: the text is without the arrays of {shown}; -o NAME writes them beside it")
        digest = "" if model.arrays is None else digest_of(module.state)
        programs = list(module.programs.values())
        sys.stdout.write(to_text(programs, not options.no_locations, digest=digest))
    else:
        write_model(options.output, module, model.arrays is not None, not options.no_locations)
    return OK


class _Ran(PassInstrument):
    """The names of passes that ran."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def run_after_pass(self, module: Module, info: PassInfo) -> None:
        self.names.add(info.name)


def _optimised(
    module: Module, passes: Sequence[Pass], printed: Sequence[str], options: argparse.Namespace
) -> Module:
    unknown = [n for p in module.programs.values() for n in p.state if n not in module.state]
    ran, timing, statistics = _Ran(), PassTiming(), PassStatistics()
    instruments: list[PassInstrument] = [ran]
    instruments += [timing] * options.timing + [statistics] * options.statistics
    if printed:
        after = None if "all" in printed else printed
        instruments.append(PassPrinting(after=after, file=sys.stderr))
    instruments += [VerifyAfter()] * options.verify_each
    with PassContext(options.opt_level, instruments=instruments):
        module = Sequential(passes, name="all")(module)
    for instrument in (timing, statistics):
        if instrument in instruments:
            print(instrument.render(), file=sys.stderr)
    for entry in passes:
        if entry.info.name not in ran.names:
            why = f"its level {entry.info.opt_level} is above --opt-level {options.opt_level}"
            say(f"note: {entry.info.name} did not run: {why}")
    for name in printed:
        if name not in ran.names:
            say(f"note: nothing is printed after {name}: it did not run")
    for name, entries in module.epilogues.items():
        for index, (operator, attributes) in entries.items():
            said = "".join(f", {key}={value!r}" for key, value in attributes.items())
            say(f"note: {operator}(output {index} of {name!r}{said}) is left to the caller")
    if unknown and "FreezeParameters" in ran.names:
        shown = ", ".join(dict.fromkeys(unknown))
        say(f"note: not built in, because their arrays lie not beside the text: {shown}")
    return module


def _line(subject: Any) -> str:
    return (subject.__doc__ or "").strip().partition("\n")[0]


# -- print, verify, diff ----------------------------------------------------------------------


def _print(options: argparse.Namespace) -> int:
    model = read_model(options.input, with_arrays=False)
    if options.format == "model-explorer":
        sys.stdout.write(as_model_explorer(sound(model).programs, model.name))
    else:
        sys.stdout.write(to_text(model.programs, not options.no_locations, options.elide))
    return OK


def _verify(options: argparse.Namespace) -> int:
    status = OK
    for name in options.inputs:
        try:
            model = read_model(name)
            programs = [verified(program) for program in model.programs]
        except VerifyError as error:
            say(f"{name} is broken: {error}")
            status = max(status, DIFFERENT)
        except (Dy2stError, OSError) as error:
            say(str(error))
            status = max(status, BAD)
        else:
            count = sum(1 for program in programs for _ in program.walk())
            what = [_counted(len(programs), "Program"), _counted(count, "operator")]
            if model.arrays is not None:
                what.append(_counted(len(model.arrays), "array"))
            print(f"{name}: sound, {', '.join(what)}")
    return status


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _diff(options: argparse.Namespace) -> int:
    names = (options.left, options.right)
    if names == (STANDARD, STANDARD):
        raise BadInput("standard input can be compared with a file only")
    left, right = map(read_model, names)
    found = difference_of_models(left.programs, right.programs, names)
    found += "".join(f"{line}\n" for line in _array_differences(left, right))
    sys.stdout.write(found)
    return DIFFERENT if found else OK


def _array_differences(left: ModelFile, right: ModelFile) -> list[str]:
    """What the Programs do not show: other values under a name that both have."""
    if left.arrays is None or right.arrays is None:
        return []
    lines = []
    for name, one in left.arrays.items():
        other = right.arrays.get(name, one)
        # equal in type and bits; nan equals itself, and 0.0 is not -0.0
        is_same = one.dtype == other.dtype and one.shape == other.shape
        if is_same:
            bits, others = (array.reshape(-1).view(np.uint8) for array in (one, other))
            is_same = bool(np.array_equal(bits, others))
        if not is_same:
            lines.append(f"the arrays of {name!r} differ")
    return lines


# -- import -----------------------------------------------------------------------------------


def _import(options: argparse.Namespace) -> int:
    with Progress(f"reading {options.input}"):
        program, arrays = read_foreign(options.input)
    write_model(options.output, Module({program.name: program}, dict(arrays)), True)
    return OK


# -- arguments --------------------------------------------------------------------------------


def _add_opt(commands: Any) -> None:
    example = "example:\n  dy2st opt net.mlir -p fold-constant,inference --timing -o better.mlir"
    parser = add_command(commands, "opt", _opt, "run passes", example)
    parser.add_argument("input", nargs="?", metavar="IN", help="what to read")
    parser.add_argument(
        *("-p", "--passes"),
        action="append",
        default=[],
        metavar="NAMES",
        help="passes and pipelines, with commas between; may be given again",
    )
    parser.add_argument(
        *("-o", "--output"),
        metavar="OUT",
        help="out.mlir, or a saved model's name; parameters go to out.safetensors "
        "(default: the text, to standard output)",
    )
    parser.add_argument(
        "--opt-level",
        type=int,
        default=4,
        choices=range(5),
        metavar="0..4",
        help="passes above this level are left out (default: 4, all)",
    )
    for flag, help in [
        ("--timing", "say how long every pass took"),
        ("--statistics", "say what every pass changed"),
        ("--verify-each", "verify after every pass"),
        ("--no-locations", "leave out where operators come from"),
        ("--list-passes", "list passes and pipelines, and end"),
    ]:
        parser.add_argument(flag, action="store_true", help=help)
    parser.add_argument(
        "--print-after",
        action="append",
        default=[],
        metavar="NAME",
        help="print the Programs after this pass, or after `all`",
    )


_EXAMPLE = """example:
  dy2st port models/                  # which names are missing, where, what to write instead
  dy2st port models/ --write          # and `import paddle` becomes `import dy2st.paddle as paddle`

Sources that import torch are ported to dy2st's own names: `nn.BatchNorm2d(8, eps=1e-3)` becomes
`nn.BatchNorm2D(8, epsilon=1e-3)`, with a comment where something cannot be told.

A script that shall stay as it is runs with `python -m dy2st.paddle script.py`."""


def add_port(commands: Any) -> None:
    """Add the command `port` to those of `dy2st`."""
    parser = commands.add_parser(
        "port",
        help="see what of PaddlePaddle or torch sources use, and make them import dy2st",
        description="Read Python sources, which are not run; list PaddlePaddle's or torch's names "
        "in them that dy2st has not, with places and advice; count all uses.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # What runs it is imported when it is called: to list commands must not take long.
    parser.set_defaults(
        run=lambda options: import_module("dy2st.paddle.porting.command").port(options)
    )
    parser.add_argument("folder", metavar="FOLDER", help="a folder of sources, or one file")
    help = "change the imports, and names and calls of torch; all else stays as it is"
    parser.add_argument("--write", action="store_true", help=help)
    parser.add_argument("--all", action="store_true", help="show every place, not three of a name")


__all__ = ["main"]
