"""Packs pixels side by side into lanes that few output channels leave idle.

A pass then reads a window that is wider by some columns, and `across` times the outputs, with zeros
in the weights where a pixel does not reach. Every pixel adds the same products in the same order,
so nothing changes, if the bias alone in a pass loses nothing that it would not lose otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dy2st.targets.opu.machine import CHANNELS, Machine
from dy2st.targets.opu.network import Array
from dy2st.targets.opu.steps import Lowered, Source, Step, Tensor

MOST = 8
"""Pixels across that a store's field holds."""

STRIDE, KERNEL = 7, 15
"""The largest stride and tap that the fields of a compute hold."""


def pack(lowered: Lowered, machine: Machine) -> None:
    """Pack the pixels of those steps that take fewer cycles so."""
    columns = {entry.tensor: entry for entry in lowered.inputs if entry.columns_of}
    for number, step in enumerate(lowered.steps):
        entry = columns.get(step.sources[0].tensor)
        choices = [step]
        across = 2
        while across <= MOST and step.outputs * across <= CHANNELS and _is_whole(step, across):
            other = _columns(step, across) if entry is not None else _widened(step, across)
            choices += [other] if other is not None else []
            across *= 2
        best = min(choices, key=lambda one: _cost(one, machine))
        lowered.steps[number] = best
        if entry is not None and best.across > 1:
            tensor = best.sources[0].tensor
            packed = replace(entry, tensor=tensor, across=best.across)
            lowered.inputs[lowered.inputs.index(entry)] = packed


def _is_whole(step: Step, across: int) -> bool:
    """Whether pixels can be taken so many at a time, and pooling's windows lie side by side."""
    pool = step.post.pool
    if step.kind != "dense" or step.by != (1, 1) or step.width % across or step.dilation[1] > 1:
        return False
    if pool is None:
        return True
    return pool.width == pool.stride_x and not any(pool.padding) and not step.width % pool.width


def _cost(step: Step, machine: Machine) -> tuple[float, float, int]:
    """Cycles a pixel: the slower of passes and transfers first."""
    outputs = step.output_tiles
    rounds = [machine.rounds(s.channels, k) for s in step.sources for k in outputs]
    busy = len(step.taps) * sum(rounds) / step.across
    loads = len(step.sources) * step.stride[0] * step.stride[1] / step.across
    made = step.made[0] * step.made[1] / (step.height * step.width)
    moved = loads + max(1 / step.across, made) * len(outputs)
    return max(busy, moved), busy + moved, step.across


def _columns(step: Step, across: int) -> Step | None:
    """A layer that reads columns: those of wider windows, still in one pass."""
    tensor = step.sources[0].tensor
    window = step.window
    if window is None or len(step.sources) > 1 or step.weights is None:
        return None
    channels, tall, wide, stride = window
    wider = wide + (across - 1) * stride
    if channels * tall * wider > CHANNELS or stride > wide:
        return None
    whole = step.weights(0, 0, slice(0, 1))[0].reshape(channels, tall, wide, -1)
    spread = np.zeros((channels, tall, wider, across, step.outputs), np.int8)
    for pixel in range(across):  # columns are from right to left
        end = wider - pixel * stride
        spread[:, :, end - wide : end, pixel] = whole
    weights = spread.reshape(1, channels * tall * wider, -1)
    packed = Tensor(tensor.name, tensor.height, tensor.width // across, weights.shape[1])
    return replace(
        step,
        sources=[Source(packed, 0, packed.channels)],
        across=across,
        weights=lambda k, c, taps: weights[taps],
        biases=_repeated(step, across),
    )


def _widened(step: Step, across: int) -> Step | None:
    """A convolution over wider windows."""
    tall, wide = max(r for r, _ in step.taps) + 1, step.reach[1]
    stride = step.stride[1]
    is_box = step.taps == tuple((r, s) for r in range(tall) for s in range(wide))
    if not is_box or stride > wide or step.weights is None or not step.is_exact:
        return None
    wider = wide + (across - 1) * stride
    if stride * across > STRIDE or wider > KERNEL:
        return None
    return replace(
        step,
        taps=tuple((r, s) for r in range(tall) for s in range(wider)),
        stride=(step.stride[0], stride * across),
        across=across,
        weights=_spread(step.weights, (tall, wide), stride, across),
        biases=_repeated(step, across),
    )


def _spread(
    weights: Callable[[int, int, slice], Array], kernel: tuple[int, int], stride: int, across: int
) -> Callable[[int, int, slice], Array]:
    tall, wide = kernel
    wider = wide + (across - 1) * stride

    def tile(k: int, c: int, taps: slice) -> Array:
        whole = weights(0, c, slice(0, tall * wide))
        channels, outputs = whole.shape[1:]
        spread = np.zeros((tall, wider, channels, across, outputs), np.int8)
        for pixel in range(across):
            columns = slice(pixel * stride, pixel * stride + wide)
            spread[:, columns, :, pixel] = whole.reshape(tall, wide, channels, outputs)
        return spread.reshape(tall * wider, channels, -1)[taps]

    return tile


def _repeated(step: Step, across: int) -> Array | None:
    return None if step.biases is None else np.tile(step.biases, across)


__all__ = ["MOST", "pack"]
