"""`dy2st profile` and `dy2st compare`: where a saved model takes its time, and what goes wrong."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from dy2st.cli.bench import combinations, random_inputs
from dy2st.cli.models import add_inputs, add_model, inputs_of, program_of
from dy2st.cli.parsers import add_command, count
from dy2st.diagnostics.comparing import compare
from dy2st.diagnostics.profiling import profile
from dy2st.passes import Module
from dy2st_runtime.engine import check_name
from dy2st_runtime.tensor import to_tensor

_INPUTS = "an array for each input, as `run` takes them (default: random numbers)"


def add_measures(commands: Any) -> None:
    """Add the commands to those of `dy2st`."""
    usage = (
        "examples:\n"
        "  dy2st profile net --input x.npy\n"
        "  dy2st profile net --engine native --trace trace.json --page profile.html"
    )
    meaning = "show how long each line, layer and operator of a saved model takes"
    parser = add_command(commands, "profile", _profile, meaning, usage)
    add_model(parser)
    add_inputs(parser, _INPUTS)
    parser.add_argument("--engine", metavar="NAME", help="what runs it (default: the fastest here)")
    parser.add_argument(
        "--repeat", type=count, default=10, metavar="N", help="how many calls (default: 10)"
    )
    parser.add_argument("--trace", metavar="FILE", help="write a trace, for Perfetto")
    parser.add_argument("--page", metavar="FILE", help="write a page, for a browser")
    usage = (
        "examples:\n"
        "  dy2st compare net --engine native      # NumPy's kernels, and machine code\n"
        "  dy2st compare net -p inference --input x.npy\n\n"
        "exit status: 0 if all results are equal, 1 if they differ"
    )
    meaning = "find the first operator that an engine or passes let differ"
    parser = add_command(commands, "compare", _compare, meaning, usage)
    add_model(parser)
    add_inputs(parser, _INPUTS)
    parser.add_argument("--engine", metavar="NAME", help="the engine (default: the fastest here)")
    parser.add_argument("-p", "--passes", metavar="NAMES", help="passes and pipelines")


def _given(options: argparse.Namespace) -> tuple[Module, list[Any], str | None, str]:
    """The model, the inputs, the engine, and the file, with the sizes of inputs that were drawn."""
    engine = check_name(options.engine)
    program, arrays = program_of(options)
    if options.arrays:
        given, name = inputs_of(options.arrays, program), options.input
    else:
        given = random_inputs(program, combinations(program, [])[0])
        pairs = zip(program.inputs, given, strict=True)
        shown = ", ".join(f"{one.name} {list(array.shape)}" for one, array in pairs)
        name = f"{options.input}, on random {shown}" if given else options.input
    held = {name: arrays[name] for name in program.state}
    return Module({program.name: program}, held), list(map(to_tensor, given)), engine, name


def _profile(options: argparse.Namespace) -> int:
    module, given, engine, name = _given(options)
    found = profile(module, *given, repeat=options.repeat, engine=engine)
    found.name = name
    print(found)
    if options.trace:
        found.save(options.trace)
    if options.page:
        found.page(options.page)
    return 0


def _compare(options: argparse.Namespace) -> int:
    module, given, engine, name = _given(options)
    found = compare(module, *given, engine=engine, pipeline=options.passes)
    print(replace(found, name=name))
    return 0 if found.is_equal else 1


__all__ = ["add_measures"]
