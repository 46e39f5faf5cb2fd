"""Measures what quantising costs, layer by layer: integers beside the float forward."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from dy2st.targets.opu.float_network import input_values, layer_stages, run_float
from dy2st.targets.opu.interpreter import Saturation, interpret
from dy2st.targets.opu.machine import Machine
from dy2st.targets.opu.network import Array, Network
from dy2st.targets.opu.quantiser.fraction_lengths import (
    DEFAULT,
    dequantised,
    quantised,
    shift_bias,
    shift_features,
)


@dataclass(frozen=True)
class LayerFigures:
    """One layer; the counts and ratios are of the measured inputs.

    accumulator, partial_sum  how often 26 and 16 bits were too few, out of `passes` sums.
    cut, residual             how often 8 bits were, behind the last pass and behind the addition,
                              out of `values`.
    peak                      the largest partial sum; 32768 and more are clamped.
    own_snr                   decibels of the output against the float layer on the same integers.
    snr, cosine               against the float network: all errors so far.
    """

    index: int
    name: str
    location: str
    input_fraclen: int
    weight_fraclen: int
    bias_fraclen: int
    output_fraclen: int
    shift_features: int
    shift_bias: int
    accumulator: int
    partial_sum: int
    passes: int
    peak: int
    cut: int
    residual: int
    values: int
    own_snr: float
    snr: float
    cosine: float


LITTLE = 10.0
"""Decibels of an output below which classes and boxes mostly are others than in real numbers."""


@dataclass(frozen=True)
class OutputFigures:
    """One output of the network, made by the layer `index`.

    vectors  measured images for which the output is one vector, and not a map.
    same     of these, how many have their largest element where real numbers have it.
    """

    index: int
    snr: float
    vectors: int
    same: int


@dataclass
class QuantisationReport:
    """mode, how many images were calibrated with, how many were measured, layers and outputs."""

    mode: str
    calibrated: int
    measured: int
    layers: list[LayerFigures] = field(default_factory=list)
    outputs: list[OutputFigures] = field(default_factory=list)

    def warnings(self) -> list[str]:
        """What is wrong with outputs that are hardly those in real numbers, and where it begins."""
        found = []
        for output in self.outputs:
            reasons = []
            if output.snr < LITTLE:
                said = f"is {output.snr:.1f} dB from that in real numbers, {LITTLE:g} is little"
                reasons.append(said)
            if output.vectors and not output.same:
                reasons.append("has its largest element at another place in all measured images")
            if reasons:
                found.append(f"the output of layer {output.index} {' and '.join(reasons)}")
        if found:
            worst = sorted(self.layers, key=lambda layer: layer.own_snr)[:3]
            names = ", ".join(f"{y.index} {y.name} ({_decibels(y.own_snr)} dB)" for y in worst)
            found.append(
                f"layers that lose most by themselves: {names}. More real images to calibrate with "
                "and the other --calib-mode may help; a network with random weights never does well"
            )
        return found

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; a ratio without noise (or without a signal) is None."""
        rows = [
            {name: _plain(value) for name, value in asdict(layer).items()} for layer in self.layers
        ]
        return {
            "mode": self.mode,
            "calibrated": self.calibrated,
            "measured": self.measured,
            "layers": rows,
            "outputs": [
                {name: _plain(value) for name, value in asdict(output).items()}
                for output in self.outputs
            ],
        }

    def as_csv(self) -> str:
        """A line of names, then a line for every layer."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([field.name for field in fields(LayerFigures)])
        writer.writerows(asdict(layer).values() for layer in self.layers)
        return text.getvalue()

    def as_table(self) -> str:
        """The figures for a terminal."""
        rows = [_TITLES, *map(_row, self.layers)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                text.ljust(width) if place == 1 else text.rjust(width)
                for place, (text, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        head = f"mode {self.mode}: {self.calibrated} calibrated, {self.measured} measured"
        return "\n".join([head, *lines])

    def __str__(self) -> str:
        return self.as_table()


_TITLES = (
    "layer",
    "name",
    "in",
    "weights",
    "bias",
    "out",
    "shift",
    "bias shift",
    "acc. sat.",
    "sums sat.",
    "out sat.",
    "own dB",
    "dB",
    "cosine",
)


def _row(layer: LayerFigures) -> tuple[str, ...]:
    numbers = (
        layer.input_fraclen,
        layer.weight_fraclen,
        layer.bias_fraclen,
        layer.output_fraclen,
        layer.shift_features,
        layer.shift_bias,
        layer.accumulator,
        layer.partial_sum,
        layer.cut + layer.residual,
    )
    ratios = (_decibels(layer.own_snr), _decibels(layer.snr), f"{layer.cosine:.4f}")
    return (str(layer.index), layer.name, *map(str, numbers), *ratios)


def _decibels(ratio: float) -> str:
    return "exact" if ratio == math.inf else f"{ratio:.1f}"


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


# -- measuring --------------------------------------------------------------------------------


@dataclass
class _Sums:
    """Of a wanted and a got array: what ratios are made of."""

    signal: float = 0.0
    noise: float = 0.0
    got: float = 0.0
    both: float = 0.0

    def add(self, wanted: Array, got: Array) -> None:
        a, b = (x.astype(np.float64).reshape(-1) for x in (wanted, got))
        self.signal += float(a @ a)
        self.got += float(b @ b)
        self.both += float(a @ b)
        self.noise += float((a - b) @ (a - b))

    @property
    def decibels(self) -> float:
        if not self.noise:
            return math.inf
        return 10 * math.log10(self.signal / self.noise) if self.signal else -math.inf

    @property
    def cosine(self) -> float:
        size = math.sqrt(self.signal) * math.sqrt(self.got)
        return self.both / size if size else float(self.signal == self.got)


def measured(
    network: Network, inputs: Sequence[Sequence[Array]], mode: str, calibrated: int, on: Machine
) -> QuantisationReport:
    """Figures of a quantised Network on some float inputs, (n, h, w, c) for each of its inputs."""
    own = {layer.index: _Sums() for layer in network.layers}
    total = {layer.index: _Sums() for layer in network.layers}
    saturation: dict[int, Saturation] = {}
    agreement = {index: [0, 0] for index in network.outputs}
    for arrays in inputs:
        integers = quantised_inputs(network, arrays)
        made = interpret(network, integers, machine=on, saturation=saturation)
        real = {-i: dequantised(x, input_fraclen(network, i)) for i, x in enumerate(integers)}
        for layer in network.layers:
            real[layer.index] = dequantised(made[layer.index], layer.output_fraclen)
        wanted = run_float(network, arrays)
        for layer in network.layers:
            got = real[layer.index]
            own[layer.index].add(layer_stages(network, layer, real)[-1][1], got)
            total[layer.index].add(wanted[layer.index], got)
        for index, votes in agreement.items():
            n, high, wide, channels = wanted[index].shape
            if high * wide != 1 or channels < 2:
                continue
            # Of images that are one vector: how many, and in how many the largest stays in place.
            one, two = (array.reshape(n, channels) for array in (wanted[index], real[index]))
            # Of several integers that are the largest any may be the one.
            chosen = np.take_along_axis(two, one.argmax(1)[:, None], 1)[:, 0]
            votes[0] += n
            votes[1] += int((chosen == two.max(1)).sum())
    report = QuantisationReport(mode, calibrated, sum(arrays[0].shape[0] for arrays in inputs))
    for layer in network.layers:
        counts, index = saturation[layer.index], layer.index
        facts = {name: getattr(layer, name) for name in _FROM_LAYER}
        facts |= {name: getattr(counts, name) for name in _FROM_COUNTS}
        facts |= {"shift_features": shift_features(layer), "shift_bias": shift_bias(layer)}
        facts |= {"own_snr": own[index].decibels}
        facts |= {"snr": total[index].decibels, "cosine": total[index].cosine}
        report.layers.append(LayerFigures(**facts))
    for index, (vectors, same) in agreement.items():
        report.outputs.append(OutputFigures(index, total[index].decibels, vectors, same))
    return report


_FROM_LAYER = (
    "index",
    "name",
    "location",
    "input_fraclen",
    "weight_fraclen",
    "bias_fraclen",
    "output_fraclen",
)
_FROM_COUNTS = ("accumulator", "partial_sum", "passes", "peak", "cut", "residual", "values")


def quantised_inputs(network: Network, inputs: Array | Sequence[Array]) -> list[Array]:
    """The int8 arrays that a quantised Network reads, of real ones (n, h, w, c).

    >>> from dy2st.targets.opu.gen_ir import gen_ir
    >>> net = dy2st.nn.Sequential(dy2st.nn.Conv2D(3, 4, 3, padding=1), dy2st.nn.ReLU()).eval()
    >>> traced = dy2st.to_static(net, [dy2st.static.InputSpec([1, 3, 8, 8])])
    >>> image = np.random.default_rng(0).random((1, 3, 8, 8), "float32")
    >>> network, _ = gen_ir(traced, [image], on="opu1024")
    >>> [integers] = quantised_inputs(network, np.ones((1, 8, 8, 3), "float32"))
    >>> integers.dtype, integers.shape
    (dtype('int8'), (1, 8, 8, 3))
    """
    values = input_values(network, inputs)
    return [quantised(values[-i], input_fraclen(network, i)) for i in range(len(values))]


def input_fraclen(network: Network, number: int) -> int:
    """The fraction length of a network's input: that of the layers which read it."""
    for layer in network.layers:
        if -number in layer.input_layer:
            return layer.input_fraclen
        if -number in layer.residual_source:
            return layer.output_fraclen
    return DEFAULT


__all__ = [
    "LITTLE",
    "LayerFigures",
    "OutputFigures",
    "QuantisationReport",
    "input_fraclen",
    "measured",
    "quantised_inputs",
]
