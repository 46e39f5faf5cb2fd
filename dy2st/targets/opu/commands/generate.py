"""Generates a network of layers from what a command was given, quantised or not."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dy2st.model_files import BadInput
from dy2st.targets.opu.commands.inputs import (
    Source,
    one_by_one,
    random_samples,
    read_samples,
    read_source,
)
from dy2st.targets.opu.commands.messages import note
from dy2st.targets.opu.compiled import CompiledModel, compile_network
from dy2st.targets.opu.gen_ir import Generated, gen_ir
from dy2st.targets.opu.machine import Machine
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.quantiser import QuantisationReport
from dy2st.targets.opu.report import Report, Totals, report_of
from dy2st.targets.opu.unmapped import UnmappedError
from dy2st.targets.opu.words import fetch_times
from dy2st_runtime.errors import counted

_FIGURES = ("own_snr", "snr", "cosine")


def source_of(options: argparse.Namespace, needs_arrays: bool = True) -> Source:
    """The model that was named; what was decided about its sizes is noted."""
    source = read_source(options.model, options.program, options.dim, needs_arrays)
    for text in source.notes:
        note(text)
    return source


def samples_of(options: argparse.Namespace, source: Source) -> list[Any]:
    """Calibration data, an image an entry. Raises BadInput without any, or with two kinds."""
    if bool(options.calib) == bool(options.random_calib):
        raise BadInput(
            f"{options.command} needs calibration data: --calib images.npy, or --random-calib 4 "
            "where only times are of interest; not both"
        )
    if options.calib:
        rows = one_by_one(read_samples(options.calib, source.inputs))
    else:
        rows = random_samples(source.inputs, options.random_calib)
        images = counted(options.random_calib, "image")
        note(
            f"calibrated with {images} of random numbers: times are right, "
            "accuracy on real data is not; --calib takes real ones"
        )
    return [tuple(row) for row in rows]


def quantised(options: argparse.Namespace, source: Source, on: Machine) -> Generated:
    """The network in integers, with its notes said."""
    made = generated(options, source, on, samples_of(options, source))
    for text in made.network.notes:
        note(text)
    return made


def generated(
    options: argparse.Namespace, source: Source, on: Machine, samples: Sequence[Any]
) -> Generated:
    """The network; without samples it is not quantised."""
    how: dict[str, Any] = {"unmapped": options.unmapped, "leaky": options.leaky, "on": on}
    how["columns"] = options.columns
    how["symmetric"] = getattr(options, "padding", "exact") == "symmetric"
    if samples:
        how |= {"mode": options.calib_mode, "keep": options.measure}
    try:
        return gen_ir(source.module(), samples, quantize=bool(samples), **how)
    except UnmappedError as error:
        raise BadInput(str(error).replace("unmapped='host'", "--unmapped host")) from None


def report_on(
    model: CompiledModel, title: str, quantisation: QuantisationReport | None = None
) -> Report:
    """Times of a compiled model, layer by layer, with what 8 bits cost where it is known."""
    ready = model.prepared
    figures = {
        layer.index: {
            name: float(getattr(layer, name))
            for name in _FIGURES
            if np.isfinite(getattr(layer, name))
        }
        for layer in (quantisation.layers if quantisation else [])
    }
    report = report_of(
        model.network,
        model.machine,
        model.operations,
        ready.timeline,
        fetch_times(ready.blocks),
        figures,
        title,
        sum(entry.tensor.words for entry in model.lowered.inputs if entry.columns_of),
    )
    return report


def with_alternatives(model: CompiledModel, report: Report) -> Report:
    """With the totals of the other `psum_waits`, and of the network without columns.

    The public tool chain's schedule always waits: it has no other.
    """
    network, on = model.network, model.machine
    other = plain = None
    if model.mode == "own":
        other = _totals(network, on.but(psum_waits=1 - on.psum_waits), model.mode)
    if report.totals.host_words:
        layers = [replace(layer, enhanced=0) for layer in network.layers]
        plain = _totals(replace(network, layers=layers), on, model.mode)
    return replace(report, other=other, without_columns=plain)


def _totals(network: Network, on: Machine, mode: str) -> Totals:
    return report_on(compile_network(network, on, mode), "").totals


__all__ = [
    "generated",
    "quantised",
    "report_on",
    "samples_of",
    "source_of",
    "with_alternatives",
]
