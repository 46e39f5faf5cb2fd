"""Saved models at work: `dy2st info` says what is in one, `dy2st run` runs it on arrays."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.cli.parsers import add_command
from dy2st.model_files import BadInput, ModelFile, chosen, read_array_file, read_model, sound
from dy2st_runtime.dims import symbols
from dy2st_runtime.engine import check_name
from dy2st_runtime.errors import Dy2stError, counted
from dy2st_runtime.files import naming, replacing
from dy2st_runtime.io import LoadedModel
from dy2st_runtime.ir import Program, Tensor
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.structure import flatten
from dy2st_runtime.ir.types import ArrayType
from dy2st_runtime.kept_inputs import kept_inputs

MAIN = "forward"
_HEAD = re.compile(r'format = (\d+) : i64, producer = "([^"]*)"')


def add_models(commands: Any) -> None:
    """Add the commands to those of `dy2st`."""
    usage = "example:\n  dy2st info net"
    meaning = "say what a saved model takes, gives and consists of"
    parser = add_command(commands, "info", info, meaning, usage)
    parser.add_argument("input", metavar="IN", help="what to read")
    usage = (
        "examples:\n"
        "  dy2st run net --input x.npy                       # shapes and ranges of the results\n"
        "  dy2st run net --input x.npy -o y.npy\n"
        "  dy2st run net --input ids=ids.npy --input mask=mask.npy -o results.npz --engine native"
    )
    parser = add_command(commands, "run", run, "run a saved model on arrays in files", usage)
    add_model(parser)
    add_inputs(parser, "an array for each input, in order or by name; .npz has several by name")
    parser.add_argument(
        *("-o", "--output"), metavar="FILE", help="an .npy for one result, an .npz for several"
    )
    parser.add_argument("--engine", metavar="NAME", help="what runs it (default: the fastest here)")


def add_model(parser: argparse.ArgumentParser) -> None:
    """The arguments that name a Program."""
    parser.add_argument("input", metavar="IN", help="what to read")
    help = "which Program, if there are several (default: forward)"
    parser.add_argument("--program", metavar="NAME", help=help)


def add_inputs(parser: argparse.ArgumentParser, help: str) -> None:
    """The arguments that name arrays."""
    parser.add_argument(
        "--input",
        dest="arrays",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help=f"{help}; may be given again",
    )


# -- run --------------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> int:
    """`dy2st run`."""
    engine = check_name(options.engine)
    program, arrays = program_of(options)
    given = inputs_of(options.arrays, program, kept_inputs(program, arrays))
    if options.output is not None:  # refused now, and not when the model has run for an hour
        _place(options.output, len(program.outputs))
    model = LoadedModel([program], arrays, engine)
    try:
        made = model(*given)
    except (Dy2stError, MemoryError):
        raise
    except Exception as error:  # what the model raises on its own
        raise BadInput(f"{program.name} raises {type(error).__name__}: {error}") from None
    leaves, _ = flatten(made, lambda value: isinstance(value, Tensor))
    results = [leaf.numpy() for leaf in leaves]
    with_name = [] if options.output is None else [_place(options.output, len(results))]
    for index, array in enumerate(results):
        print(f"result {index}: {_described(array)}")
    for place in with_name:
        with replacing(place) as (temporary,), naming(place), temporary.open("wb") as opened:
            if place.suffix == ".npy":
                np.save(opened, results[0])
            else:
                np.savez(opened, **{f"result_{i}": array for i, array in enumerate(results)})
        print(f"written to {place}")
    return 0


def program_of(options: argparse.Namespace) -> tuple[Program, Mapping[str, Any]]:
    """The Program that was named, with its arrays; BadInput if one of them is missing."""
    model = sound(read_model(options.input))
    is_named = options.program is not None or MAIN not in {one.name for one in model.programs}
    program = chosen(model, options.program if is_named else MAIN)
    arrays = model.arrays or {}
    missing = [name for name in program.state if name not in arrays]
    if missing:
        shown = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        raise BadInput(
            f"{options.input} lacks the arrays of {shown}: they stand in the file .safetensors "
            "that dy2st.jit.save writes beside the text"
        )
    # Those of other Programs are none of an input that is called like them.
    others = {name for one in model.programs for name in one.state if name not in program.state}
    return program, {name: array for name, array in arrays.items() if name not in others}


def inputs_of(names: Sequence[str], program: Program, kept: Collection[Variable] = ()) -> list[Any]:
    """The arrays of files, in the order of the inputs; BadInput if one is missing or unknown.

    `kept` are the inputs of which the model has the values.
    """
    own = {variable.name for variable in kept}
    inputs = [variable for variable in program.inputs if variable.name not in own]
    wanted = [variable.name or f"input_{i}" for i, variable in enumerate(inputs)]
    for variable in inputs:
        if isinstance(variable.type, ArrayType):
            raise BadInput(f"`{variable.name}` is a list of tensors, which no file of arrays has")
    found: dict[str, Any] = {}
    for text in names:
        name, equals, file = text.partition("=")
        if not equals or Path(text).exists():  # a file may have a `=` in its name
            name, file = "", text
        loaded = read_array_file(file)
        if not isinstance(loaded, dict):
            # An array without a name goes to the first input that has none yet.
            free = [one for one in wanted if one not in found]
            loaded = {name or (free[0] if free else Path(file).name): loaded}
        for key, array in loaded.items():
            if key not in wanted or key in found:
                wrong = "is given twice" if key in found else "is no input"
                raise BadInput(f"{file}: `{key}` {wrong}; the inputs are {', '.join(wanted)}")
            found[key] = array
    missing = [name for name in wanted if name not in found]
    if missing:
        raise BadInput(
            f"{program.name} takes {', '.join(map(_typed, inputs))}; --input is missing "
            f"for {', '.join(missing)}"
        )
    return [found[name] for name in wanted]


def _place(name: str, count: int) -> Path:
    """Where results go; BadInput if they cannot."""
    place = Path(name)
    if place.suffix not in (".npy", ".npz") or (place.suffix == ".npy" and count != 1):
        wanted = "an .npy or .npz" if count == 1 else f"an .npz: there are {count} results"
        raise BadInput(f"{name} should be {wanted}")
    if not place.parent.is_dir():
        raise BadInput(f"there is no folder {place.parent}")
    return place


def _described(array: Any) -> str:
    shape = f"{array.dtype} {list(array.shape)}"
    if array.size <= 8:
        return f"{shape}  {np.array2string(array, precision=6)}".replace("\n", " ")
    if array.dtype.kind not in "fiub":
        return shape
    return f"{shape}  {array.min():.6g} to {array.max():.6g}"


def _typed(variable: Variable) -> str:
    return f"{variable.name}: {variable.type}"


# -- info -------------------------------------------------------------------------------------


def info(options: argparse.Namespace) -> int:
    """`dy2st info`."""
    model = sound(read_model(options.input))
    head = _HEAD.search(model.head)
    written = f"format {head[1]}, written by {head[2]}" if head else "a text of another tool"
    print(f"{options.input}: {written}")
    for file in model.files:
        print(f"  {file}  {in_bytes(file.stat().st_size)}")
    for program in model.programs:
        print(f"\n{program.name}")
        width = 11
        for title, rows in _facts(program, model).items():
            for number, row in enumerate(rows):
                print(f"  {'' if number else title:<{width}} {row}")
    return 0


_AT_LEAST = re.compile(r"(\w+) >= ([0-9]+)")


def _facts(program: Program, model: ModelFile) -> dict[str, list[str]]:
    """What is said of a Program: lines under a title."""
    operators = Counter(operator.name for operator in program.walk())
    numbers = [f"{name} {count}" for name, count in operators.most_common()] or ["none"]
    arrays = {name: variable.tensor_type for name, variable in program.state.items()}
    frozen = [name for name in program.parameters if not program.trainable.get(name, True)]
    layers = Counter(name.rpartition(".")[0] or "(itself)" for name in program.parameters)
    tensors = [v.tensor_type for v in program.inputs if not isinstance(v.type, ArrayType)]
    sizes = symbols(tuple(type.shape for type in tensors))
    conditions = [entry.constraint.condition for entry in program.constraints]
    # Conditions such as `h >= 8` of a pooling say from where on a size may be.
    least = Counter({str(one): one.minimum for one in sizes})
    bounds = [found for one in conditions if (found := _AT_LEAST.fullmatch(str(one)))]
    for bound in bounds:
        least[bound[1]] = max(least[bound[1]], int(bound[2]))
    ranges = [
        f"{one}: {least[str(one)]} {'or more' if one.maximum is None else f'to {one.maximum}'}"
        for one in sizes
    ]
    said = {bound[0] for bound in bounds}
    facts = {
        "inputs": [_typed(variable) for variable in program.inputs] or ["none"],
        "sizes": ranges,
        "outputs": [str(variable.type) for variable in program.outputs] or ["none"],
        "parameters": [_counted(arrays, program.parameters)],
        "frozen": _wrapped(frozen),
        "buffers": [_counted(arrays, program.buffers)] * bool(program.buffers),
        "arrays": ["not beside the text"] * bool(arrays and model.arrays is None),
        "layers": _wrapped([*layers]),
        "operators": _wrapped([f"{sum(operators.values())}: {numbers[0]}", *numbers[1:]]),
        # Conditions on sizes that the data decide are nothing that a caller could keep.
        "requires": [
            str(one) for one in conditions if {*symbols(one)} <= {*sizes} and str(one) not in said
        ],
    }
    return {title: rows for title, rows in facts.items() if rows}


def _counted(types: Mapping[str, Any], names: Mapping[str, Any]) -> str:
    numbers = sum(int(np.prod(types[name].shape)) for name in names)
    size = sum(int(np.prod(types[name].shape)) * types[name].dtype.itemsize for name in names)
    return f"{numbers:,} in {counted(len(names), 'array')}, {in_bytes(size)}" if names else "none"


def _wrapped(words: Sequence[str], width: int = 80) -> list[str]:
    """Words with commas between, in lines."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(word) + 2 <= width:
            lines[-1] += f", {word}"
        else:
            lines.append(word)
    return lines


def in_bytes(size: int) -> str:
    """A size in the unit in which it is a short number.

    >>> in_bytes(512), in_bytes(2_500_000)
    ('512 bytes', '2.5 MB')
    """
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "KB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"


__all__ = [
    "add_inputs",
    "add_model",
    "add_models",
    "in_bytes",
    "inputs_of",
    "program_of",
]
