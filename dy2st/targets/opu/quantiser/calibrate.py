"""Calibrates: runs the float forward of every input, and keeps what it shows of tensors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field, replace

import numpy as np

from dy2st.targets.opu.float_network import Stages, input_values, layer_stages, named, steps
from dy2st.targets.opu.layer import Activation, Layer, Pooling
from dy2st.targets.opu.network import Array, Network
from dy2st.targets.opu.post_processing import post_process
from dy2st.targets.opu.quantiser.fraction_lengths import (
    FEATURES,
    FIRST,
    LAST,
    SEED_LAST,
    Statistics,
)
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError
from dy2st_runtime.progress import shown

Inputs = Array | Iterable[Array] | Iterable[Sequence[Array]]
"""Samples: (h, w, c) or (n, h, w, c), or one such array for every input of the network."""

_NO_ERRORS = np.zeros(LAST - FIRST + 1)
_LOWEST = -(1 << (FEATURES - 1))


@dataclass
class Calibration:
    """What all inputs together show.

    tensors   of every producer's output, by its number.
    made      the same where rounding the output is not the whole error, by layer: behind a leaky
              relu or a hard swish, with a residual, with a mean.
    within    extremes of what such a layer has in 8 bits on the way, by the step that follows.
    kept      the first inputs themselves, for what needs them again.
    count     how many images there were.
    """

    tensors: dict[int, Statistics] = field(default_factory=dict)
    made: dict[int, Statistics] = field(default_factory=dict)
    within: dict[tuple[int, str], Statistics] = field(default_factory=dict)
    kept: list[list[Array]] = field(default_factory=list)
    count: int = 0
    kept_count: int = 0


def calibrate(network: Network, inputs: Inputs, keep: int = 2) -> Calibration:
    """Run the network in real numbers over all inputs; `keep` is how many are kept.

    Raises ArgumentError, ShapeError or DTypeError with the number of the input that is wrong, and
    ArgumentError if all numbers of an input are the same one.
    """
    check_parameters(network)
    found = Calibration(
        tensors={-number: Statistics() for number in range(len(network.input_sizes))}
    )
    for layer in network.layers:
        found.tensors[layer.index] = Statistics()
        if inner_steps(layer) or layer.activation_type == Activation.LEAKY:
            found.made[layer.index] = Statistics(lowest=_lowest(layer, None))
        for step in inner_steps(layer):
            found.within[layer.index, step] = Statistics(lowest=_lowest(layer, step))
    extremes = [(np.inf, -np.inf)] * len(network.input_sizes)
    total = len(inputs) if isinstance(inputs, Sized) else None
    checked = shown(samples(network, inputs), "calibrating", total)
    for number, arrays in enumerate(checked):
        _observe(network, found, arrays, number)
        extremes = [
            (float(array.min(initial=low)), float(array.max(initial=high)))
            for array, (low, high) in zip(arrays, extremes, strict=True)
        ]
        found.count += arrays[0].shape[0]
        if len(found.kept) < keep:
            found.kept.append([array.copy() for array in arrays])
            found.kept_count = found.count
    if not found.count:
        raise ArgumentError("there is no calibration input: give at least one")
    for place, (low, high) in enumerate(extremes):
        if low == high:
            images = f"{found.count} image{'s' if found.count > 1 else ''}"
            raise ArgumentError(
                f"all numbers of calibration input {place} are {low:g}, in {images}: neither "
                "fraction lengths nor figures follow from that; give images as the model is to "
                "see them"
            )
    return found


def check_parameters(network: Network) -> None:
    """ArgumentError if weights or biases are missing, have a wrong shape, or are no numbers."""
    for layer in network.layers:
        if layer.has_weights:
            channels = layer.input_size[3] // layer.group, layer.output_size[3]
            _check_array(layer, network.weights.get(layer.index), "weight", channels)
            _check_array(layer, network.biases.get(layer.index), "bias", channels[1:])


def _check_array(layer: Layer, array: Array | None, what: str, channels: tuple[int, ...]) -> None:
    if array is None:
        raise ArgumentError(f"{named(layer)} has no {what}")
    kernel = 2 if what == "weight" else 0
    if array.ndim != kernel + len(channels) or array.shape[kernel:] != channels:
        wanted = [*["height", "width"][:kernel], *channels]
        raise ArgumentError(
            f"{named(layer)}: its {what} has the shape {list(array.shape)}; "
            f"[{', '.join(map(str, wanted))}] is wanted"
        )
    if not np.isfinite(array).all():
        place, value = _first_bad(array)
        raise ArgumentError(f"{named(layer)}: its {what} at {place} is {value}")


def samples(network: Network, inputs: Inputs) -> Iterator[list[Array]]:
    """Every calibration input, checked: for each of the network's inputs (n, h, w, c)."""
    if isinstance(inputs, np.ndarray) and inputs.ndim < 4:
        raise ShapeError(
            f"calibration inputs of shape {list(inputs.shape)}: images, height, width and channels "
            "are wanted; for a single image put it into a list"
        )
    for number, sample in enumerate(inputs):
        if not isinstance(sample, (np.ndarray, list, tuple)):
            raise DTypeError(f"calibration input {number} is a {type(sample).__name__}, no array")
        arrays = [sample] if isinstance(sample, np.ndarray) else list(sample)
        whole = [x[None] if isinstance(x, np.ndarray) and x.ndim == 3 else x for x in arrays]
        try:
            values = input_values(network, whole)
        except (ArgumentError, DTypeError, ShapeError) as error:
            raise type(error)(f"calibration input {number}: {error}") from None
        checked = [values[-i] for i in range(len(whole))]
        for position, array in enumerate(checked):
            if not np.isfinite(array).all():
                place, value = _first_bad(array)
                which = f", array {position}," if len(checked) > 1 else ""
                raise ArgumentError(f"calibration input {number}{which} has {value} at {place}")
        if len({array.shape[0] for array in checked}) > 1:
            raise ShapeError(f"calibration input {number}: its arrays have different batch sizes")
        yield checked


def _first_bad(array: Array) -> tuple[list[int], float]:
    place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
    return list(place), float(array[place])


def _lowest(layer: Layer, end: str | None) -> int:
    """The smallest integer in front of a step, or of the output: a leaky relu divides by 8."""
    lowest = _LOWEST
    for step in steps(layer):
        if step == end:
            break
        if step == "residual":
            lowest = _LOWEST
        elif step == "activation" and layer.activation_type == Activation.LEAKY:
            lowest //= 8
    return lowest


def inner_steps(layer: Layer) -> list[str]:
    """The steps in front of which 8 bits matter: a residual, a mean and a hard swish."""
    matters = {
        "residual": True,
        "pooling": layer.pooling_type == Pooling.AVERAGE,
        "activation": layer.activation_type == Activation.HARD_SWISH,
    }
    return [step for step in steps(layer) if matters[step]]


def before(stages: Stages, step: str) -> Array:
    """What goes into a step."""
    names = [name for name, _ in stages]
    return stages[names.index(step) - 1][1]


def _observe(network: Network, found: Calibration, arrays: list[Array], number: int) -> None:
    values = {-i: array for i, array in enumerate(arrays)}
    for producer, array in values.items():
        found.tensors[producer].add(array)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
        for layer in network.layers:
            stages = layer_stages(network, layer, values)
            values[layer.index] = stages[-1][1]
            if not np.isfinite(stages[-1][1]).all():
                raise ArgumentError(
                    f"{named(layer)} overflows {stages[-1][1].dtype} on calibration input {number}"
                )
            found.tensors[layer.index].add(_unrepeated(stages))
            if layer.index not in found.made:
                continue
            inner, errors = inner_steps(layer), None
            if inner:
                residual = values[layer.residual_source[0]] if layer.residual_source else None
                errors = simulated_errors(layer, stages[0][1], residual, _unrepeated(stages))
            found.made[layer.index].add(_unrepeated(stages), errors)
            for step in inner:
                found.within[layer.index, step].add(before(stages, step), _NO_ERRORS)


def _unrepeated(stages: Stages) -> Array:
    """The output, without the copies of an upsampling."""
    return stages[-2][1] if stages[-1][0] == "upsample" else stages[-1][1]


def simulated_errors(layer: Layer, cut: Array, residual: Array | None, wanted: Array) -> Array:
    """Sums of squared errors of all candidates for the output `wanted`, before any upsampling.

    cut       the real numbers that are cut to 8 bits.
    residual  what is added; it has the output's fraction length.

    Infinite beyond SEED_LAST, which no feature has.
    """
    real = wanted.astype(np.float64).reshape(-1)
    errors = np.full(LAST - FIRST + 1, float(real @ real))  # where all is rounded to zero
    errors[SEED_LAST + 1 - FIRST :] = np.inf
    size = max(float(np.abs(x).max(initial=0)) for x in (cut, residual) if x is not None)
    if not size:
        return errors
    for fraclen in range(max(FIRST, -1 - math.frexp(size)[1]), SEED_LAST + 1):
        probe = replace(layer, output_fraclen=fraclen, upsample=0)
        added = None if residual is None else _rounded(residual, fraclen)
        made, _ = post_process(probe, _rounded(cut, fraclen), added)
        off = made.reshape(-1) * 2.0**-fraclen - real
        errors[fraclen - FIRST] = float(off @ off)
    return errors


def _rounded(x: Array, fraclen: int) -> Array:
    """As `quantised`, but for halves, whose error is the same in either direction: faster."""
    scaled: Array = x * x.dtype.type(2.0**fraclen)
    np.rint(scaled, out=scaled)
    np.clip(scaled, -128, 127, out=scaled)
    integers: Array = scaled.astype(np.int8)
    return integers


__all__ = [
    "Calibration",
    "Inputs",
    "before",
    "calibrate",
    "check_parameters",
    "inner_steps",
    "samples",
    "simulated_errors",
]
