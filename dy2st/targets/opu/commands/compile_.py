"""`dy2st opu compile` and `dy2st opu quantise`."""

from __future__ import annotations

import argparse
import sys

from dy2st.model_files import BadInput
from dy2st.targets.opu.commands.generate import (
    quantised,
    report_on,
    source_of,
    with_alternatives,
)
from dy2st.targets.opu.commands.layer_files import layer_file_of, signatures
from dy2st.targets.opu.commands.messages import OK, note
from dy2st.targets.opu.compiled import compile_network
from dy2st.targets.opu.compiled_file import CompiledFolder, write_compiled
from dy2st.targets.opu.ir_file import NAME as IR_NAME
from dy2st.targets.opu.ir_file import write_ir
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.report import as_table
from dy2st_runtime.progress import Progress


def compile_(options: argparse.Namespace) -> int:
    """`dy2st opu compile`."""
    on = machine(options.machine)
    layers = layer_file_of(options)
    quantisation = None
    if layers:
        if not (layers.path.parent / "dump").is_dir():
            raise BadInput(
                f"{layers.path} has no dump/ beside it, which holds the integers to compile"
            )
        network = layers.read()
        for text in network.notes:
            note(text)
        title, inputs = layers.title, signatures(network)
    else:
        source = source_of(options)
        network, quantisation = quantised(options, source, on)
        title, inputs = source.title, source.inputs
        _note_uneven_zeros(network)
    folder = options.output or f"{title}.opu"
    with Progress("compiling"):
        model = compile_network(network, on, options.mode)
        report = with_alternatives(model, report_on(model, title, quantisation))
    with Progress("writing"):
        compiled = CompiledFolder(title, model, inputs)
        names = write_compiled(folder, compiled, report, quantisation)
    sys.stdout.write(as_table(report))
    print(f"\nwritten to {folder}: {len(names)} files and folders; report.html shows the figures")
    return OK


def quantise(options: argparse.Namespace) -> int:
    """`dy2st opu quantise`."""
    source, on = source_of(options), machine(options.machine)
    network, report = quantised(options, source, on)
    print(f"{source.title} for {on.name}\n{report}")
    if options.output:
        write_ir(network, options.output)
        _note_uneven_zeros(network)
        print(f"\nwritten to {options.output}: {IR_NAME}, dump, dump_raw")
    # outputs that 8 bits have spoilt
    for text in report.warnings() if report else ():
        note(text)
    return OK


def _note_uneven_zeros(network: Network) -> None:
    """Say which layers the public simulator would stop at."""
    uneven = [
        str(layer.index)
        for layer in network.layers
        if layer.post_padding and len(set(layer.post_padding_size)) > 1
    ]
    if uneven:
        note(
            "the public simulator stops where a layer stores more zeros on one side than on "
            f"another, here layer {', '.join(uneven[:5])}{', ...' * (len(uneven) > 5)}: "
            "--padding symmetric stores as many on all four"
        )


__all__ = ["compile_", "quantise"]
