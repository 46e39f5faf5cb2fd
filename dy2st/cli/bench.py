"""`dy2st bench`: how long a saved model takes, on several engines side by side.

Engines take turns, so what slows the machine down for a while slows all of them down.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from dy2st.cli.exit_status import say
from dy2st.cli.models import add_inputs, add_model, inputs_of, program_of
from dy2st.cli.parsers import add_command
from dy2st.model_files import BadInput
from dy2st.static.freezing import named_sizes, numbers_for
from dy2st_runtime import engine as engines
from dy2st_runtime.dims import evaluate
from dy2st_runtime.errors import Dy2stError
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.types import ArrayType

_SECONDS, _LEAST, _MOST = 1.0, 5, 1000
_SIZE = 8
AUTO = "auto"  # numpy at first, and native where that pays


def add_bench(commands: Any) -> None:
    """Add the command to those of `dy2st`."""
    usage = (
        "examples:\n"
        "  dy2st bench net                        # every engine that is installed\n"
        "  dy2st bench net --sizes batch=1,8,64 --engine numpy --engine native\n"
        "  dy2st bench net --input x.npy"
    )
    meaning = "measure a saved model, engines side by side"
    parser = add_command(commands, "bench", bench, meaning, usage)
    add_model(parser)
    add_inputs(parser, "an array for each input, as `run` takes them (default: random numbers)")
    parser.add_argument(
        "--sizes",
        action="append",
        default=[],
        type=_sizes,
        metavar="NAME=A,B,C",
        help=f"numbers for an unknown size (default: {_SIZE}, or the nearest that it may have); "
        "may be given again",
    )
    parser.add_argument(
        "--engine",
        action="append",
        default=[],
        metavar="NAME",
        help="what to measure; may be given again (default: all that are installed)",
    )


def bench(options: argparse.Namespace) -> int:
    """`dy2st bench`."""
    names = [engines.check_name(name) or name for name in options.engine] or usable()
    program, arrays = program_of(options)
    state = [np.asarray(arrays[name]) for name in program.state]
    if options.arrays and options.sizes:
        raise BadInput("--input has its sizes: --sizes goes with random numbers")
    for sizes in combinations(program, options.sizes):
        inputs = (
            inputs_of(options.arrays, program) if options.arrays else random_inputs(program, sizes)
        )
        shapes = ", ".join(f"{v.name} {list(a.shape)}" for v, a in zip(program.inputs, inputs))
        print(f"{program.name}({shapes})")
        print(table(measured(program, inputs, state, names)), end="")
    return 0


def usable() -> list[str]:
    """The engines that can run something here, NumPy's first."""
    known = [name for name in engines.names() if name != AUTO]
    return sorted(filter(engines.is_installed, known), key=lambda name: (name != "numpy", name))


def combinations(program: Program, given: Sequence[tuple[str, list[int]]]) -> list[dict[str, int]]:
    """Every combination of the sizes that were given, with a number for each of the others."""
    found: list[dict[str, int]] = [{}]
    for name, numbers in given:
        found = [{**one, name: number} for one in found for number in numbers]
    for one in found:
        numbers_for(program, one)  # SpecError for a name or number that it has not
        for name, symbol in named_sizes(program).items():
            most = _SIZE if symbol.maximum is None else min(_SIZE, symbol.maximum)
            one.setdefault(name, max(most, symbol.minimum))
    return found


def random_inputs(program: Program, sizes: Mapping[str, int]) -> list[Any]:
    """Inputs of these sizes, the same each time: normal numbers; whole ones are 0 or 1."""
    numbers, values = np.random.default_rng(0), numbers_for(program, dict(sizes))
    found = []
    for variable in program.inputs:
        if isinstance(variable.type, ArrayType):
            raise BadInput(f"`{variable.name}` is a list of tensors: no numbers are drawn for it")
        shape = [int(evaluate(size, values)) for size in variable.tensor_type.shape]
        dtype = variable.tensor_type.dtype
        is_whole = dtype.kind in "biu"
        drawn = numbers.integers(0, 2, shape) if is_whole else numbers.standard_normal(shape)
        found.append(np.asarray(drawn).astype(dtype))
    return found


@dataclass
class Figures:
    """What was measured of an engine, in seconds, or why it was not."""

    engine: str
    refusal: str = ""
    first: float = 0.0
    calls: list[float] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)


def measured(
    program: Program, inputs: Sequence[Any], state: Sequence[Any], names: Sequence[str]
) -> list[Figures]:
    """The first call of each engine, with compiling, then calls in turns for a second each."""
    figures, runs = (
        [Figures(name) for name in dict.fromkeys(names)],
        list[tuple[Figures, Callable[[], Any]]](),
    )
    for one in figures:
        start = time.perf_counter()
        try:
            executable = engines.compile(program, one.engine)
            wait = getattr(executable, "wait", None)
            if wait is not None:  # compiled in the background
                wait()
            call = partial(executable.run, inputs, state)
            one.results = list(call())
        except MemoryError:
            raise
        except Exception as error:  # a refusal, or what the model raises on its own
            kind = "" if isinstance(error, Dy2stError) else f"{type(error).__name__}: "
            one.refusal = f"{kind}{error}".partition("\n")[0]
            continue
        one.first = time.perf_counter() - start
        runs.append((one, call))
    while runs:
        for one, run in runs:
            start = time.perf_counter()
            run()
            one.calls.append(time.perf_counter() - start)
        # for a second, five calls at least, a thousand at most
        enough = {
            one.engine: len(one.calls) >= (_LEAST if sum(one.calls) >= _SECONDS else _MOST)
            for one, _ in runs
        }
        runs = [(one, call) for one, call in runs if not enough[one.engine]]
    for one in figures:
        if one.refusal:
            say(f"note: {one.engine}: {one.refusal}")
    return figures


def table(figures: Sequence[Figures]) -> str:
    """The figures side by side; differences are from the first engine that ran."""
    ran = [one for one in figures if one.calls]
    rows = [("engine", "median ms", "least ms", "calls", "first call ms", "largest difference")]
    for one in figures:
        if one.refusal:
            rows.append((one.engine, "-", "-", "-", "-", "refused"))
            continue
        times = f"{1e3 * median(one.calls):.3f}", f"{1e3 * min(one.calls):.3f}"
        apart = "" if one is ran[0] else f"{_difference(ran[0].results, one.results):.3g}"
        rows.append((one.engine, *times, str(len(one.calls)), f"{1e3 * one.first:.1f}", apart))
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = []
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(["  " + row[0].ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines) + "\n"


def _difference(left: Sequence[Any], right: Sequence[Any]) -> float:
    """The largest difference of two lists of results; that of lists of tensors is not looked at."""
    found = [0.0]
    for one, other in zip(left, right):
        if isinstance(one, np.ndarray) and one.size:
            both_nan = (one != one) & (other != other)
            apart = np.where(both_nan, 0, np.abs(np.subtract(one, other, dtype=np.complex128)))
            found.append(float(apart.max()))
    return max(found)


def _sizes(text: str) -> tuple[str, list[int]]:
    name, _, values = text.partition("=")
    numbers = values.split(",")
    if not name or not all(number.isascii() and number.isdigit() for number in numbers):
        shown = " ".join(f"--sizes {one}" for one in numbers if "=" in one)
        several = f"; for several sizes write --sizes {name}={numbers[0]} {shown}" if shown else ""
        raise argparse.ArgumentTypeError(f"NAME=A,B,C, as batch=1,8, not {text!r}{several}")
    return name, [int(number) for number in numbers]


__all__ = ["AUTO", "add_bench", "combinations", "measured", "random_inputs", "usable"]
