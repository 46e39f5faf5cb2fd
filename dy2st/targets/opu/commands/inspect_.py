"""`dy2st opu inspect` shows the layers of a network, `dy2st opu disasm` the words of a program."""

from __future__ import annotations

import argparse
import sys
from math import prod
from pathlib import Path

import numpy as np

from dy2st.model_files import BadInput
from dy2st.targets.opu.commands.generate import source_of
from dy2st.targets.opu.commands.layer_files import place_of_layers
from dy2st.targets.opu.commands.messages import DIFFERENT, OK, table
from dy2st.targets.opu.compiled_file import NAME, read_compiled
from dy2st.targets.opu.disassemble import disassemble
from dy2st.targets.opu.gen_ir import gen_ir
from dy2st.targets.opu.ir_file import read_ir
from dy2st.targets.opu.layer import LayerType
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.report.shapes import described, products
from dy2st.targets.opu.report.tables import shape_text, shortened
from dy2st.targets.opu.sizes import input_size, tensor_size
from dy2st.targets.opu.unmapped import UnmappedError
from dy2st.targets.opu.validate import weight_shape
from dy2st_runtime.errors import FormatError, counted
from dy2st_runtime.files import meant_file


def inspect(options: argparse.Namespace) -> int:
    """`dy2st opu inspect`."""
    path, folder = place_of_layers(options.model), Path(options.model)
    if path is not None and (folder / NAME).exists():
        compiled = read_compiled(folder)
        model, words = compiled.model, len(compiled.model.words)
        _print_layers(compiled.title, model.network)
        print(
            f"for {model.machine.name}, {model.mode} mode: {len(model.operations)} operations "
            f"in {words} words, {model.prepared.timeline.cycles} cycles"
        )
        return OK
    if path is not None:  # the arrays need not be there
        title = folder.absolute().name if folder.is_dir() else path.stem
        _print_layers(title, read_ir(path, arrays=False))
        return OK
    source = source_of(options, needs_arrays=False)
    how = {"quantize": False, "on": machine(options.machine), "leaky": options.leaky}
    unmapped: list[str] = []
    try:
        network, _ = gen_ir(source.module(), unmapped="refuse", **how)
    except UnmappedError as error:
        unmapped = [str(entry) for entry in error.entries]
        print(f"{counted(len(unmapped), 'operator')} that no layer computes:")
        print("".join(f"  {text}\n" for text in unmapped))
        network, _ = gen_ir(source.module(), unmapped="host", **how)
        print("With --unmapped host they, and what follows, run on the host, and the layers are:\n")
    _print_layers(source.title, network)
    return DIFFERENT if unmapped else OK


def _print_layers(title: str, network: Network) -> None:
    heads = ("#", "layer", "operation", "from", "input", "output", "MMAC", *_LENGTHS, "line")
    rows = [heads, *(_layer_row(network, index) for index in range(1, len(network.layers) + 1))]
    empty = [p for p, column in enumerate(zip(*rows, strict=True)) if not any(column[1:])]
    kept = [tuple(c for p, c in enumerate(row) if p not in empty) for row in rows]
    left = [kept[0].index(name) for name in ("layer", "operation", "line") if name in kept[0]]
    sys.stdout.write(table(kept, left))
    total = sum(products(network, layer) for layer in network.layers)
    weights = sum(prod(weight_shape(layer)) for layer in network.layers if layer.has_weights)
    outputs = f"layer{'s' * (len(network.outputs) > 1)} {', '.join(map(str, network.outputs))}"
    print(
        f"\n{title}: {counted(len(network.layers), 'layer')}, {total / 1e6:.2f} MMAC, "
        f"{weights} weights, outputs of {outputs}"
    )
    for text in network.notes:
        print(f"note: {text}")
    if network.tail and network.tail.program.operators:
        names = [operator.name for operator in network.tail.program.operators]
        print(f"on the host: {', '.join(names)}")
    for place, (name, _) in network.epilogues.items():
        print(f"on the host, on output {place}: {name}")


_LENGTHS = ("in fl", "w fl", "b fl", "out fl")


def _layer_row(network: Network, index: int) -> tuple[str, ...]:
    layer = network.layer(index)
    lengths: tuple[str, ...] = ("", "", "", "")
    if network.int_weights or any(other.output_fraclen for other in network.layers):
        own = (layer.weight_fraclen, layer.bias_fraclen)
        inner = ("", "") if layer.type == LayerType.NONE else tuple(map(str, own))
        lengths = (str(layer.input_fraclen), *inner, str(layer.output_fraclen))
    sources = [_producer(i) for i in layer.input_layer]
    sources += [f"+{_producer(i)}" for i in layer.residual_source]
    return (
        str(index),
        shortened(layer.name),
        shortened(described(layer) + " (columns)" * bool(layer.enhanced)),
        " ".join(sources),
        shape_text(input_size(network, layer)),
        shape_text(tensor_size(network, index)),
        f"{products(network, layer) / 1e6:.2f}",
        *lengths,
        layer.location,
    )


def _producer(index: int) -> str:
    return str(index) if index > 0 else f"in{-index}"


def disasm(options: argparse.Namespace) -> int:
    """`dy2st opu disasm`."""
    path = Path(options.program)
    if path.is_dir():
        compiled = read_compiled(path)
        words, on, debug = compiled.model.words, compiled.model.machine, compiled.debug
    else:
        if not path.is_file():
            raise BadInput(f"there is no file {path}{meant_file(path)}")
        data = path.read_bytes()
        if len(data) % 4:
            raise FormatError(f"{path} has {len(data)} bytes: no whole number of 32-bit words")
        words = np.frombuffer(data, "<u4").astype(np.uint32)
        on, debug = machine(options.machine), None
    try:
        lines = disassemble(words, on, debug).splitlines()
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    if options.layer is not None:
        # the first line is a title
        if debug is None:
            raise BadInput("--layer needs a compiled folder: a file of words knows no layers")
        own = debug.of_layer(options.layer)
        if not own:
            raise BadInput(f"the program has no operations of layer {options.layer}")
        lines = [lines[entry.block + 1] for entry in own]
    print("\n".join(lines))
    return OK


__all__ = ["disasm", "inspect"]
