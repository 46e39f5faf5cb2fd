"""`dy2st opu estimate`."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from dy2st.model_files import BadInput
from dy2st.targets.opu.commands.generate import (
    generated,
    report_on,
    samples_of,
    source_of,
    with_alternatives,
)
from dy2st.targets.opu.commands.inputs import Source
from dy2st.targets.opu.commands.layer_files import LayerFile, layer_file_of
from dy2st.targets.opu.commands.messages import OK, note, table
from dy2st.targets.opu.compiled import CompiledModel, compile_network
from dy2st.targets.opu.compiled_file import write_report
from dy2st.targets.opu.layer import LayerType
from dy2st.targets.opu.machine import Machine, machine
from dy2st.targets.opu.packing import pack
from dy2st.targets.opu.report import Report, as_table
from dy2st.targets.opu.steps import lower
from dy2st.targets.opu.validate import weight_shape
from dy2st_runtime.progress import shown


def estimate(options: argparse.Namespace) -> int:
    """`dy2st opu estimate`."""
    on = machine(options.machine)
    layers = layer_file_of(options)
    source = layers or source_of(options, needs_arrays=False)
    axes = [[(name, value) for value in values] for name, values in options.sweep]
    names = [name for name, _ in options.sweep]
    if len(set(names)) != len(names):
        raise BadInput("--sweep names something twice: give all its values at once")
    is_calibrated = options.calib or options.random_calib
    samples = samples_of(options, source) if is_calibrated and isinstance(source, Source) else []
    options.notes = set()
    if not axes:
        report = with_alternatives(*_estimated(source, on, options, samples))
        sys.stdout.write(as_table(report))
        if options.output:
            names = write_report(options.output, report)
            print(f"\nwritten to {options.output}: {', '.join(names)}")
        _say_notes(options)
        return OK
    if options.output:
        raise BadInput("-o writes the report of one machine: leave out --sweep, or it")
    points = list(itertools.product(*axes))
    rows = [
        _sweep_row(source, on, dict(point), options, samples)
        for point in shown(points, "estimating")
    ]
    heads = (*names, "cycles", "ms", "frames/s", "GOPS", "of", "RME", "GB/s", "words")
    print(f"{source.title} on {on.name}, {options.mode} mode")
    sys.stdout.write(table([heads, *rows]))
    if "macs" in names and "weight_rows" not in names:
        options.notes.add(
            "a bank of weights keeps its bytes: weight_rows goes down as macs goes up"
        )
    _say_notes(options)
    return OK


def _say_notes(options: argparse.Namespace) -> None:
    for text in sorted(options.notes):
        note(text)


def _estimated(
    source: Source | LayerFile, on: Machine, options: argparse.Namespace, samples: Sequence[Any]
) -> tuple[CompiledModel, Report]:
    """A program and its figures, with numbers that are made up without samples."""
    if isinstance(source, LayerFile):
        network = source.read(arrays=False)
        options.notes.update(network.notes)
    else:
        network, _ = generated(options, source, on, samples)
    if not samples:
        # integers with which pixels do not go side by side: no other number changes times
        for layer in network.layers:
            if not isinstance(source, LayerFile):
                layer.input_fraclen = layer.output_fraclen = 4
                layer.weight_fraclen = 4 if layer.type == LayerType.SCALE else 9
                layer.bias_fraclen = 15
            if layer.has_weights:
                shape = weight_shape(layer)
                network.int_weights[layer.index] = np.zeros(shape, np.int8)
                network.int_biases[layer.index] = np.ones(shape[3], np.int16)
    model = compile_network(network, on, options.mode)
    if not samples and options.mode == "own":
        # whether other biases would let more pixels go side by side
        zeros = {index: 0 * biases for index, biases in model.network.int_biases.items()}
        other = lower(replace(model.network, int_biases=zeros))
        pack(other, model.machine)
        pairs = zip(other.steps, model.lowered.steps, strict=True)
        if any(one.across != own.across for one, own in pairs):
            options.notes.add(_PACKED + _DECIDED * isinstance(source, Source))
    return model, report_on(model, source.title)


_PACKED = (
    "fraction lengths and biases are assumed: with others, pixels of layers with few output "
    "channels may go side by side, which is faster"
)
_DECIDED = "; --calib or --random-calib 1 decides it as compile does"


def _sweep_row(
    source: Source | LayerFile,
    on: Machine,
    changes: dict[str, float],
    options: argparse.Namespace,
    samples: Sequence[Any],
) -> tuple[str, ...]:
    kinds = {entry.name: str(entry.type) for entry in fields(Machine) if entry.name != "name"}
    values: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in kinds:
            known = ", ".join(kinds)
            raise BadInput(f"--sweep {name}: a machine has no such number; it has {known}")
        if kinds[name] == "int" and value != int(value):
            raise BadInput(f"--sweep {name}: {value:g} is no whole number")
        values[name] = int(value) if kinds[name] == "int" else value
    if values.get("macs") and "weight_rows" not in values:
        values["weight_rows"] = max(1, on.weight_rows * on.macs // values["macs"])
    totals = _estimated(source, replace(on, **values), options, samples)[1].totals
    figures = (
        str(totals.cycles),
        f"{totals.milliseconds:.3f}",
        f"{totals.frames_per_second:.2f}",
        f"{totals.gops:.1f}",
        f"{totals.peak_gops:.1f}",
        f"{totals.efficiency:.3f}",
        f"{totals.bandwidth:.2f}",
        str(totals.words),
    )
    return (*(f"{value:g}" for value in changes.values()), *figures)


__all__ = ["estimate"]
