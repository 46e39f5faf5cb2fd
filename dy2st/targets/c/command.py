"""`dy2st compile`: a saved Program as object code that C calls, with a header and an example."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path

from dy2st.model_files import STANDARD, BadInput, chosen, read_model, sound
from dy2st_runtime.engine.native.standalone import Standalone, packed, write
from dy2st_runtime.files import naming, replacing
from dy2st_runtime.ir.program import Variable


def compile_files(options: argparse.Namespace) -> int:
    """Write the files, all or none."""
    model = sound(read_model(options.input))
    program = chosen(model, options.program)
    missing = [name for name in program.state if name not in (model.arrays or {})]
    if missing:
        raise BadInput(f"{options.input} has no arrays for {', '.join(missing)}")
    name = identifier("net" if options.input == STANDARD else Path(options.input).stem)
    arrays = model.arrays or {}
    standalone = write(program, name, arrays if options.embed else None)
    parameters, call = packed(program, arrays), Call.of(standalone, options.embed)
    files = {
        f"{name}.o": standalone.code(),
        f"{name}.h": header(call, len(parameters)).encode(),
        f"{name}_example.c": example(call).encode(),
    }
    if call.parameters:
        files[f"{name}.parameters"] = parameters
    write_files(Path(options.output), files)
    return 0


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Write files into a folder, all or none, and say which."""
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with replacing(*(folder / name for name in files)) as places:
        for place, data in zip(places, files.values(), strict=True):
            place.write_bytes(data)
    for name in files:
        print(folder / name)


_TYPES = {"bool": "bool", "float32": "float", "float64": "double"}
_KEYWORDS = {
    *("auto", "bool", "break", "case", "char", "const", "continue", "default", "do", "double"),
    *("else", "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register"),
    *("restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef"),
    *("union", "unsigned", "void", "volatile", "while", "parameters", "workspace", "argument"),
    *("number", "room", "main", "count", "given", "filled"),
}


def identifier(text: str) -> str:
    """A name of C for a name of ours.

    >>> identifier("2nd-net.x"), identifier("float")
    ('_2nd_net_x', 'float_')
    """
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    name = f"_{name}" if not name or name[0].isdigit() else name
    return f"{name}_" if name in _KEYWORDS else name


@dataclass
class Call:
    """The names in a call of a Program.

    parameters   whether they are given, and not part of the code.
    """

    standalone: Standalone
    inputs: list[str]
    sizes: list[str]
    outputs: list[str]
    parameters: bool

    @classmethod
    def of(cls, standalone: Standalone, is_embedded: bool) -> Call:
        """Each thing has a name of its own."""
        program, taken = standalone.program, set[str]()
        sizes = [_new(str(symbol), taken) for symbol in standalone.sizes]
        inputs = [_new(one.name or f"input{i}", taken) for i, one in enumerate(program.inputs)]
        outputs = [_new(f"result{index}", taken) for index in range(len(program.block.yields))]
        return cls(standalone, inputs, sizes, outputs, bool(program.state) and not is_embedded)

    @property
    def name(self) -> str:
        """What the functions begin with."""
        return self.standalone.name

    @property
    def tensors(self) -> list[tuple[str, Variable]]:
        """Inputs and outputs, in the order in which they are numbered."""
        program = self.standalone.program
        variables = [*program.inputs, *program.block.yields]
        return list(zip([*self.inputs, *self.outputs], variables, strict=True))


def header(call: Call, bytes: int) -> str:
    """The header; `bytes` is how many the parameters have."""
    name, sizes = call.name, ", ".join(f"int64_t {size}" for size in call.sizes)
    tensors = call.tensors
    given = [f"const {_type(variable)} *{one}" for one, variable in tensors[: len(call.inputs)]]
    given += ["const void *parameters"] if call.parameters else []
    given += [sizes] if sizes else []
    given += [f"{_type(variable)} *{one}" for one, variable in tensors[len(call.inputs) :]]
    shapes = [
        f"   {one:<12} {_type(variable)}"
        + "".join(f"[{size}]" for size in variable.tensor_type.shape)
        for one, variable in tensors
    ]
    guard = f"{name.upper()}_H"
    constant = [f"#define {name.upper()}_PARAMETER_BYTES {bytes}", ""] if call.parameters else []
    return "\n".join(
        [
            f"/* {call.standalone.program.name!r}, compiled by dy2st. Elements lie row by row:",
            *shapes,
            "   Several threads may call at once, each with a workspace of its own. */",
            *(f"#ifndef {guard}", f"#define {guard}"),
            *("#include <stdbool.h>", "#include <stdint.h>", ""),
            *constant,
            "/* Compute: 0, or the number of an error. */",
            f"int {name}_run({', '.join([*given, 'void *workspace'])});",
            "/* How large the workspace must be; -1 if the sizes do not fit. */",
            f"int64_t {name}_workspace_bytes({sizes or 'void'});",
            "/* How large an input or result is, counted from 0 on; -1 if the sizes do not fit. */",
            f"int64_t {name}_bytes({', '.join(['int argument', *([sizes] if sizes else [])])});",
            "/* What a number says. */",
            f"const char *{name}_error(int number);",
            "/* Give memory back that is kept from call to call; nobody may be in a call. */",
            f"void {name}_free(void);",
            *("#endif", ""),
        ]
    )


_EXAMPLE = """\
/* cc NAME_example.c NAME.o -lm -o NAME_example && ./NAME_example USAGE */
#include <stdio.h>
#include <stdlib.h>
#include "NAME.h"

static void *filled(int64_t bytes, FILE *file) {
    void *memory = malloc(bytes + 1);
    if (!memory || (file && fread(memory, 1, bytes, file) != (size_t)bytes)) exit(2);
    return memory;
}

int main(int count, char **given) {
    if (count != COUNT) return fprintf(stderr, "usage: %s USAGE\\n", given[0]), 2;
BODY
    return 0;
}
"""


def example(call: Call) -> str:
    """A program that reads inputs from standard input, and writes results to standard output."""
    name, sizes = call.name, call.sizes
    lines = [f"int64_t {size} = atoll(given[{i}]);" for i, size in enumerate(sizes, 1)]
    lines += [
        f"int64_t room = {name}_workspace_bytes({', '.join(sizes)});",
        f"if (room < 0) return puts({name}_error(1)), 1;",
    ]
    lines += [
        f"void *{one} = filled({_bytes(call, i)}, stdin);" for i, one in enumerate(call.inputs)
    ]
    if call.parameters:
        lines += [
            f'FILE *file = fopen("{name}.parameters", "rb");',
            f'if (!file) return perror("{name}.parameters"), 2;',
            f"void *parameters = filled({name.upper()}_PARAMETER_BYTES, file);",
        ]
    first = len(call.inputs)
    lines += [
        f"void *{one} = filled({_bytes(call, i)}, NULL);"
        for i, one in enumerate(call.outputs, first)
    ]
    given = [*call.inputs, *(["parameters"] if call.parameters else []), *sizes, *call.outputs]
    lines += [
        f"int number = {name}_run({', '.join([*given, 'filled(room, NULL)'])});",
        f"if (number) return puts({name}_error(number)), 1;",
    ]
    lines += [
        f"fwrite({one}, 1, {_bytes(call, i)}, stdout);" for i, one in enumerate(call.outputs, first)
    ]
    body = "\n".join(f"    {line}" for line in lines)
    text = _EXAMPLE.replace("BODY", body).replace("COUNT", str(1 + len(sizes)))
    usage = " ".join([*(size.upper() for size in sizes), "< inputs > results"])
    return text.replace("USAGE", usage).replace("NAME", name)


def _bytes(call: Call, index: int) -> str:
    return f"{call.name}_bytes({', '.join([str(index), *call.sizes])})"


def _type(variable: Variable) -> str:
    name = variable.dtype.name
    return _TYPES.get(name, f"{name}_t")


def _new(text: str, taken: set[str]) -> str:
    name = identifier(text)
    while name in taken:
        name += "_"
    taken.add(name)
    return name


__all__ = [
    "Call",
    "compile_files",
    "example",
    "header",
    "identifier",
    "write_files",
]
