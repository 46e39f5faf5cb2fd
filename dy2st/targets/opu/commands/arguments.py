"""The arguments of `dy2st opu`; what a command does is loaded when it is called."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

_MODEL = "a saved model: `net` for net.mlir and net.safetensors, as dy2st.jit.save writes them"
_OVERVIEW = """example:
  dy2st opu inspect net                          # does the OPU have everything it needs?
  dy2st opu estimate net --sweep macs=512,1024   # how fast, on which machine?
  dy2st opu compile net --calib images.npy -o net.opu
  dy2st opu run net.opu --input test.npy --check ir --check float"""

# The file and the function of each command. Its name may be a keyword, or Python's own function.
_COMMANDS = {
    "compile": ("compile_", "compile_"),
    "run": ("run", "run"),
    "estimate": ("estimate", "estimate"),
    "inspect": ("inspect_", "inspect"),
    "disasm": ("inspect_", "disasm"),
    "quantise": ("compile_", "quantise"),
}


def add_opu(commands: Any) -> None:
    """Add the command `opu` with its own commands to those of `dy2st`."""
    parser = commands.add_parser(
        "opu",
        help="compile for the OPU, a processor for convolutional networks, and run it simulated",
        description="Quantise, compile, time and run networks on the OPU, an overlay processor for "
        "convolutional networks in FPGAs; nothing but this package is needed.",
        epilog=_OVERVIEW,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command")
    _add_compile(own)
    _add_run(own)
    _add_estimate(own)
    _add_inspect(own)
    _add_disasm(own)
    _add_quantise(own)


def _called(options: argparse.Namespace) -> int:
    module, function = _COMMANDS[options.command]
    status: int = getattr(import_module(f"dy2st.targets.opu.commands.{module}"), function)(options)
    return status


def _add(commands: Any, name: str, help: str, example: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=f"{help[0].upper()}{help[1:]}.",
        epilog=f"example:\n{example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_called)
    return parser


# -- commands -------------------------------------------------------------------------------------


def _add_compile(commands: Any) -> None:
    example = (
        "  dy2st opu compile net --calib images.npy --machine opu1024 -o net.opu\n"
        "  dy2st opu compile published -o published.opu"
    )
    parser = _add(commands, "compile", "quantise and compile a saved model into a folder", example)
    _model(parser, f"{_MODEL}; or a folder with OPU_IR.json and dump/, which is quantised already")
    _machine(parser)
    _mode(parser)
    _calibration(parser)
    _mapping(parser)
    _padding(parser)
    help = "the folder (default: the model's name with .opu, here)"
    parser.add_argument(*("-o", "--output"), metavar="FOLDER", help=help)


def _add_run(commands: Any) -> None:
    example = "  dy2st opu run net.opu --input test.npy --check ir --check float -o results"
    help = "execute a compiled folder's binary on inputs, in the simulator"
    parser = _add(commands, "run", help, example)
    help = "what `dy2st opu compile` wrote, or a folder with OPU_IR.json and dump/"
    parser.add_argument("folder", metavar="FOLDER", help=help)
    _machine(parser, "; of layers alone: what is compiled knows its own")
    parser.add_argument(
        "--input",
        action="append",
        required=True,
        metavar="FILE",
        help="images as the model takes them, .npy (n, ...), or .npz; may be given again",
    )
    parser.add_argument(
        "--check",
        action="append",
        default=[],
        choices=["ir", "float"],
        help="ir: is it, bit for bit, what the interpreter of OPU_IR.json says (status 1 if not)? "
        "float: how far is it from real numbers? may be given again",
    )
    help = "where outputs go as .npy (default: outputs, in FOLDER)"
    parser.add_argument(*("-o", "--output"), metavar="PLACE", help=help)
    help = "write the layers' integers (n, h, w, c) too"
    parser.add_argument("--raw", action="store_true", help=help)


def _add_estimate(commands: Any) -> None:
    example = (
        "  dy2st opu estimate net\n"
        "  dy2st opu estimate OPU_IR.json -o report\n"
        "  dy2st opu estimate net --sweep macs=512,1024,2048 --sweep dram_latency=0,20"
    )
    help = "say how fast a saved model would be; calibration data is not needed"
    parser = _add(commands, "estimate", help, example)
    _model(parser, f"{_MODEL}; or a folder with OPU_IR.json, or that file, without arrays too")
    _machine(parser)
    _mode(parser)
    _calibration(parser)
    _mapping(parser)
    parser.add_argument(
        "--sweep",
        action="append",
        default=[],
        type=_sweep,
        metavar="NAME=A,B,C",
        help="a row for each of these values of a number in the machine's file; given again: for "
        "each combination",
    )
    help = "write report.html, .json, .csv and trace.json there"
    parser.add_argument(*("-o", "--output"), metavar="FOLDER", help=help)


def _add_inspect(commands: Any) -> None:
    help = "show layers, shapes, fraction lengths, and what no layer computes"
    example = (
        "  dy2st opu inspect net\n  dy2st opu inspect net.opu\n\n"
        "exit status: 1 if there are operators that no layer computes"
    )
    parser = _add(commands, "inspect", help, example)
    _model(parser, f"{_MODEL}; or a folder with OPU_IR.json, or that file")
    _machine(parser)
    _leaky(parser)


def _add_disasm(commands: Any) -> None:
    help = "print a program, a line for every operation"
    example = "  dy2st opu disasm net.opu --layer 3\n  dy2st opu disasm program.bin"
    parser = _add(commands, "disasm", help, example)
    help = "a compiled folder, or a file of little-endian 32-bit words"
    parser.add_argument("program", metavar="PROGRAM", help=help)
    _machine(parser, "; of a file of words: a folder knows its own")
    parser.add_argument("--layer", type=int, metavar="N", help="only the operations of a layer")


def _add_quantise(commands: Any) -> None:
    example = "  dy2st opu quantise net --calib images.npy --calib-mode mse -o ir"
    help = "show fraction lengths and what 8 bits cost, layer by layer"
    parser = _add(commands, "quantise", help, example)
    _model(parser)
    _machine(parser)
    _calibration(parser)
    _mapping(parser)
    _padding(parser)
    help = "write OPU_IR.json, dump/ and dump_raw/ there"
    parser.add_argument(*("-o", "--output"), metavar="FOLDER", help=help)


# -- arguments that several have ------------------------------------------------------------------


def _model(parser: argparse.ArgumentParser, help: str = _MODEL) -> None:
    parser.add_argument("model", metavar="MODEL", help=help)
    help = "which Program of the model (default: forward, or the only one)"
    parser.add_argument("--program", metavar="NAME", help=help)
    parser.add_argument(
        "--dim",
        action="append",
        default=[],
        type=_dim,
        metavar="NAME=N",
        help="a number for an open size of the inputs; an open batch is 1",
    )


def _machine(parser: argparse.ArgumentParser, more: str = "") -> None:
    parser.add_argument(
        "--machine",
        default="opu1024",
        metavar="NAME",
        help="opu512, opu1024, opu1024-realistic, opu2048, opu4096, or file.toml "
        f"(default: opu1024){more}",
    )


def _mode(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mode",
        default="own",
        choices=["own", "compat"],
        help="own: everything overlaps; compat: tiles and order of the public tool chain "
        "(default: own)",
    )


def _calibration(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--calib",
        action="append",
        default=[],
        metavar="FILE",
        help="images as the model takes them, .npy (n, ...), or .npz; may be given again",
    )
    parser.add_argument(
        "--random-calib",
        type=_positive,
        metavar="N",
        help="N images of random numbers instead: good for times, not for accuracy",
    )
    parser.add_argument(
        "--calib-mode",
        default="mse",
        choices=["mse", "max", "seed"],
        help="mse: least squared error; max: nothing is clamped; seed: the rule of the public tool "
        "chain (default: mse)",
    )
    help = "how many of the images the figures are measured on (default: 4)"
    parser.add_argument("--measure", type=_positive, default=4, metavar="N", help=help)


def _mapping(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--unmapped",
        default="refuse",
        choices=["refuse", "host"],
        help="what no layer computes: refuse the model, or run it, and what follows, on the host "
        "(default: refuse)",
    )
    parser.add_argument(
        "--columns",
        default="host",
        choices=["host", "none"],
        help="host: where it is faster, the host stores the windows of a first layer as channels "
        "(im2col); none: layers read the image as it is (default: host)",
    )
    _leaky(parser)


def _padding(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--padding",
        default="exact",
        choices=["exact", "symmetric"],
        help="zeros that layers store for those that read them: exact, what these want; symmetric, "
        "as many on all four sides, as the public tool chain has it. Results and times stay the "
        "same (default: exact)",
    )


def _leaky(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--leaky",
        default="approximate",
        choices=["approximate", "refuse"],
        help="slopes of leaky relus other than 1/8: take 1/8 and say so, or refuse "
        "(default: approximate)",
    )


# -- texts ----------------------------------------------------------------------------------------


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"a number from 1 on, not {text!r}")
    return int(text)


def _dim(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if not name or not number.isascii() or not number.isdigit():
        raise argparse.ArgumentTypeError(f"NAME=N, as height=224, not {text!r}")
    return name, int(number)


def _sweep(text: str) -> tuple[str, list[float]]:
    name, _, values = text.partition("=")
    try:
        numbers = [float(value) for value in values.split(",")]
    except ValueError:
        numbers = []
    if not name or not numbers or not all(0 <= number < 1e18 for number in numbers):
        raise argparse.ArgumentTypeError(f"NAME=A,B,C, as macs=512,1024, not {text!r}")
    return name, numbers


__all__ = ["add_opu"]
