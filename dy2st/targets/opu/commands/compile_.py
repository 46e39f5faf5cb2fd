"""`dy2st opu compile` and `dy2st opu quantise`."""

from __future__ import annotations

import argparse
import sys

from dy2st.targets.opu.commands.generate import both_ways, quantised, report_on, source_of
from dy2st.targets.opu.commands.said import OK, stage
from dy2st.targets.opu.compiled import compile_network
from dy2st.targets.opu.compiled_file import CompiledFolder, write_compiled
from dy2st.targets.opu.ir_file import NAME as IR_NAME
from dy2st.targets.opu.ir_file import write_ir
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.report import as_table


def compile_(options: argparse.Namespace) -> int:
    """`dy2st opu compile`."""
    source, on = source_of(options), machine(options.machine)
    folder = options.output or f"{source.title}.opu"
    network, quantisation = quantised(options, source, on)
    stage("compiling")
    model = compile_network(network, on, options.mode)
    report = both_ways(model, report_on(model, source.title, quantisation))
    stage("writing")
    compiled = CompiledFolder(source.title, model, source.inputs)
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
        print(f"\nwritten to {options.output}: {IR_NAME}, dump, dump_raw")
    return OK


__all__ = ["compile_", "quantise"]
