"""The simplest way to run a layer on the OPU, for tests of the simulator: no search, no memory plan.

    run = HandRun(network, layer, tensors, machine)
    run.words, run.dram, run.regions      # for `simulate`
    run.output(execution.dram)            # int8 (h, w, c), and the border is checked to be 0

Maps are padded and columns of windows made on the host. The tensors are int8 (h, w, c) by producer.
`rows` cuts the map into tiles of so many rows where nothing is pooled. A transposed convolution has
nothing but an activation behind it: `without_post` takes off the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from dy2st.targets.opu.buffers import Region
from dy2st.targets.opu.layer import Activation, LayerType, Pooling
from dy2st.targets.opu.layout import pack_bias, pack_depthwise, pack_features, pack_weights
from dy2st.targets.opu.operations import Compute, Kind, Load, Origin, Pool, Store, Waits
from dy2st.targets.opu.sizes import border, is_depthwise, kernel_size, multiplied_size, pooled_size
from dy2st.targets.opu.timing import engine_of
from dy2st.targets.opu.words import encode

RESIDUAL_BANK = 2


@dataclass
class Phase:
    """Output pixels with the same taps: all but for transposed convolutions."""

    taps: tuple
    weights: np.ndarray | None
    height: int
    width: int
    in_y: int = 0  # where the first pixel's window begins in the padded map
    in_x: int = 0
    out_y: int = 0
    out_x: int = 0


def roomy(machine):
    """A machine on which one tile is enough for small maps, with a bank for residuals."""
    return machine.but(
        fm_rows=8192, fm_banks=3, weight_rows=4096, psum_rows=8192, instruction_words=1 << 22
    )


def without_post(network):
    """The network of one layer, without what a store with steps cannot do."""
    layer = network.layers[0]
    layer.pooling_type, layer.upsample, layer.residual, layer.residual_source = 0, 0, 0, []
    top, bottom, left, right = layer.post_padding_size
    height, width = multiplied_size(network, layer)
    layer.output_size[1:3] = [height + top + bottom, width + left + right]
    return network


class HandRun:
    """One layer: DRAM, operations and words."""

    def __init__(self, network, layer, tensors, machine, rows=None):
        self.network, self.layer, self.machine = network, layer, machine
        self.size = multiplied_size(network, layer)
        self.pooled = pooled_size(network, layer)
        self.outputs = layer.output_size[3]
        self.image, self.regions, self.used = [], [], 0
        self.operations, self.counts = [], [0, 0, 0]
        self.is_pooled = layer.pooling_type != Pooling.NONE
        self.rows = self.size[0] if self.is_pooled or rows is None else rows
        self.steps = (1, 1)
        self.parts, taps, weights = self._what_is_multiplied(tensors)
        if layer.type == LayerType.TRANSPOSED:
            self.steps = tuple(layer.ker_stride[1:])
        else:
            self.phases = [Phase(taps, weights, *self.size)]
        self.residual = tensors[layer.residual_source[0]] if layer.residual_source else None
        self._place()
        for k in range(0, self.outputs, 64):
            for phase in self.phases:
                self.phase, self.taps, self.weights = phase, phase.taps, phase.weights
                for y in range(0, phase.height, self.rows):
                    self._tile(k, y, min(self.rows, phase.height - y))
        self.words = encode(self.operations, machine)
        self.dram = np.concatenate(self.image)
        self.origins = [operation.origin for operation in self.operations]

    def output(self, dram):
        """What was stored."""
        top, bottom, left, right = self.layer.post_padding_size
        height, width = self._stored_size()
        groups = -(-self.outputs // 64)
        words = dram[self.out : self.out + groups * height * width].view(np.int8)
        maps = words.reshape(groups, height, width, 64)[..., ::-1]
        whole = maps.transpose(1, 2, 0, 3).reshape(height, width, -1)
        inside = whole[top : height - bottom, left : width - right]
        frame = whole.copy()
        frame[top : height - bottom, left : width - right] = 0
        assert not frame.any() and not inside[..., self.outputs :].any()
        return inside[..., : self.outputs]

    # -- what is multiplied ------------------------------------------------------------------------
    def _what_is_multiplied(self, tensors):
        """Padded parts, taps as (r, s) of the tile, weights (taps, c, o) or (taps, c)."""
        layer, network = self.layer, self.network
        parts = [tensors[i] for i in layer.input_layer]
        self.stride = tuple(layer.ker_stride[1:]) if layer.type == LayerType.CONVOLUTION else (1, 1)
        self.dilation = (1, 1)
        if layer.type == LayerType.TRANSPOSED:
            return self._transposed(parts)
        top, bottom, left, right = border(network, layer)
        parts = [np.pad(x, ((top, bottom), (left, right), (0, 0))) for x in parts]
        if layer.type == LayerType.NONE:
            return [np.concatenate(parts, axis=2)], ((0, 0),), None
        if layer.type == LayerType.SCALE:
            scale = tensors[layer.scale_source[0]].reshape(1, -1)
            return [np.concatenate(parts, axis=2)], ((0, 0),), scale
        weights = network.int_weights[layer.index]
        if layer.type == LayerType.CONVOLUTION:
            self.dilation = tuple(layer.dilation[1:])
        kernel = kernel_size(network, layer)
        taps = tuple(product(range(kernel[0]), range(kernel[1])))
        if is_depthwise(layer):
            return [np.concatenate(parts, axis=2)], taps, weights.reshape(len(taps), -1)
        if layer.enhanced:
            return self._columns(parts[0], taps, weights)
        return parts, taps, self._dense(weights).reshape(len(taps), -1, self.outputs)

    def _dense(self, weights):
        kh, kw, channels, outputs = weights.shape
        groups = self.layer.group
        dense = np.zeros((kh, kw, channels * groups, outputs), np.int8)
        for k in range(outputs):
            g = k // (outputs // groups)
            dense[:, :, g * channels : (g + 1) * channels, k] = weights[..., k]
        return dense

    def _columns(self, x, taps, weights):
        """Channels c ascending, r and s descending."""
        (height, width), (sy, sx), (dy, dx) = self.size, self.stride, self.dilation
        columns, rows = [], []
        for c in range(x.shape[2]):
            for r, s in taps[::-1]:
                y0, x0 = r * dy, s * dx
                part = x[y0 : y0 + height * sy : sy, x0 : x0 + width * sx : sx, c]
                columns.append(part[:height, :width])
                rows.append(weights[r, s, c])
        self.stride = self.dilation = (1, 1)
        return [np.stack(columns, axis=2)], ((0, 0),), np.stack(rows)[None]

    def _transposed(self, parts):
        """Padded parts; every remainder of the output's places has taps of its own: `phases`."""
        layer = self.layer
        weights = self._dense(self.network.int_weights[layer.index])
        around, axes = [], []
        sizes = zip(parts[0].shape[:2], self.size, weights.shape[:2], layer.ker_stride[1:])
        for (length, made, kernel, stride), cut in zip(sizes, layer.padding_size[::2]):
            before = kernel
            after = max(0, (made - 1 + cut) // stride + 1 - length)
            around.append((before, after))
            axes.append(
                [
                    (first, -(-(made - first) // stride), first + cut, before)
                    for first in range(min(stride, made))
                ]
            )
        self.phases = [self._phase(weights, *y, *x) for y, x in product(*axes)]
        return [np.pad(x, (*around, (0, 0))) for x in parts], None, weights

    def _phase(self, weights, y, height, place_y, before_y, x, width, place_x, before_x):
        """The taps with (y + top - r) divisible by the stride, r and s ascending."""
        (kh, kw), (ty, tx) = weights.shape[:2], self.layer.ker_stride[1:]
        rows = [((place_y - r) // ty, r) for r in range(kh) if (place_y - r) % ty == 0]
        columns = [((place_x - s) // tx, s) for s in range(kw) if (place_x - s) % tx == 0]
        if not rows or not columns:  # the bias alone: a tap of zeros
            zeros = np.zeros((1, *weights.shape[2:]), np.int8)
            return Phase(((0, 0),), zeros, height, width, 0, 0, y, x)
        first_y, first_x = min(rows)[0], min(columns)[0]
        taps = tuple((r[0] - first_y, s[0] - first_x) for r in rows for s in columns)
        own = np.stack([weights[r[1], s[1]] for r in rows for s in columns])
        return Phase(taps, own, height, width, first_y + before_y, first_x + before_x, y, x)

    # -- DRAM --------------------------------------------------------------------------------------
    def _put(self, name, words, is_initial=True):
        first = self.used
        self.image.append(words)
        self.regions.append(Region(name, first, len(words), is_initial, not is_initial))
        self.used += len(words)
        return first

    def _place(self):
        layer = self.layer
        self.inputs = [self._put(f"part {i}", pack_features(x)) for i, x in enumerate(self.parts)]
        if self.residual is not None:
            self.added = self._put("residual", pack_features(self.residual))
        if layer.type != LayerType.NONE:
            zeros = np.zeros(self.outputs, np.int16)
            biases = self.network.int_biases.get(layer.index, zeros)
            self.biases = self._put("bias", pack_bias(biases))
        height, width = self._stored_size()
        words = np.full((-(-self.outputs // 64) * height * width, 64), 0x55, np.uint8)
        self.out = self._put("output", words, is_initial=False)

    def _stored_size(self):
        top, bottom, left, right = self.layer.post_padding_size
        times = max(self.layer.upsample, 1)
        return self.pooled[0] * times + top + bottom, self.pooled[1] * times + left + right

    # -- operations --------------------------------------------------------------------------------
    def _add(self, make, waits, tile, **values):
        operation = make(waits=Waits(*waits), origin=Origin(self.layer.index, tile), **values)
        self.operations.append(operation)
        self.counts[engine_of(operation)] += 1

    def _tile(self, k, y, height):
        """One tile of outputs: for every part and 64 channels of it, loads and a compute."""
        name = f"k{k} y{y}"
        outputs = min(64, self.outputs - k)
        is_first, start = True, 0
        for part, x in enumerate(self.parts):
            channelwise = self.weights is None or self.weights.ndim == 2
            tiles = [k] if channelwise else range(0, x.shape[2], 64)
            for c in tiles:
                self._pass(part, c, start, k, y, height, outputs, is_first, name)
                is_first = False
            start += x.shape[2]
        self._store(k, y, height, outputs, name)

    def _pass(self, part, c, start, k, y, height, outputs, is_first, name):
        x, (_, computes, stores) = self.parts[part], self.counts
        bank = computes % 2
        free = (0, max(0, computes - 1), 0)
        channels = min(64, x.shape[2] - c)
        reach = max(r for r, _ in self.taps) * self.dilation[0]
        first = self.phase.in_y + y * self.stride[0]
        tall = (height - 1) * self.stride[0] + reach + 1
        tall = min(tall, x.shape[0] - first)
        pitch = x.shape[1]
        wide = pitch - self.phase.in_x
        at = self.inputs[part] + (c // 64 * x.shape[0] + first) * pitch + self.phase.in_x
        place = {"height": tall, "width": wide, "pitch": pitch, "bank": bank, "row": 5}
        self._add(Load, free, name, kind=Kind.FEATURES, address=at, **place)
        of_weights = {}
        layer = self.layer
        if self.weights is not None:
            words = self._packed(slice(start + c, start + c + channels), slice(k, k + outputs))
            at = self._put("weights", words)
            flat = {"height": 1, "width": len(words), "pitch": len(words)}
            self._add(Load, free, name, kind=Kind.WEIGHTS, address=at, bank=bank, row=3, **flat)
            position = layer.output_fraclen + 18
            of_weights = {
                "shift_features": position - layer.input_fraclen - layer.weight_fraclen,
                "shift_bias": position - layer.bias_fraclen,
            }
        if self.weights is not None and is_first:
            flat = {"height": 1, "width": 2, "pitch": 2}
            at = self.biases + k // 64 * 2
            self._add(
                Load, free, name, kind=Kind.BIAS, address=at, bank=self.counts[2] % 2, row=0, **flat
            )
        shift = layer.output_fraclen - layer.input_fraclen + 16
        values = of_weights or {"is_weighted": False, "shift_features": shift}
        ready = (self.counts[0], 0, stores if is_first else 0)
        self._add(
            Compute,
            ready,
            name,
            channels=channels,
            outputs=outputs,
            height=height,
            width=self.phase.width,
            in_width=wide,
            stride_y=self.stride[0],
            stride_x=self.stride[1],
            dilation_y=self.dilation[0],
            dilation_x=self.dilation[1],
            taps=self.taps,
            is_first=is_first,
            is_depthwise=self.weights is not None and self.weights.ndim == 2,
            feature_bank=bank,
            feature_row=5,
            weight_bank=bank,
            weight_row=3,
            bias_bank=self.counts[2] % 2,
            psum_row=7,
            **values,
        )

    def _packed(self, channels, outputs):
        if self.weights.ndim == 2:
            return pack_depthwise(self.weights[:, channels], self.machine)
        return pack_weights(self.weights[:, channels, outputs], self.machine)

    def _store(self, k, y, height, outputs, name):
        layer = self.layer
        times = max(layer.upsample, 1)
        stored, pitch = self._stored_size()
        top, bottom, left, right = layer.post_padding_size
        phase, (step_y, step_x) = self.phase, self.steps
        row, column = phase.out_y + y * times * step_y, phase.out_x
        at = self.out + (k // 64 * stored + top + row) * pitch + left + column
        below = phase.out_y + (y + height - 1) * step_y == self.size[0] - 1
        beside = column + (phase.width - 1) * step_x == self.size[1] - 1
        self._load_residual(k, y, height, name)
        self._add(
            Store,
            (self.counts[0], self.counts[1], 0),
            name,
            outputs=outputs,
            height=height,
            width=self.phase.width,
            psum_row=7,
            address=at,
            pitch=pitch,
            order=layer.res_position if layer.residual else 3,
            activation=layer.activation_type,
            limit=self._limit(),
            fraction=layer.output_fraclen if layer.activation_type == 4 else 0,
            pool=self._pool(),
            residual_bank=RESIDUAL_BANK if layer.residual else None,
            residual_row=9 if layer.residual else 0,
            upsample=times,
            step_y=step_y,
            step_x=step_x,
            border=(top * (row == 0), bottom * below, left * (column == 0), right * beside),
        )

    def _load_residual(self, k, y, height, name):
        if self.residual is None:
            return
        tall, wide = self.residual.shape[:2]
        if not self.is_pooled:
            tall = height
        at = self.added + (k // 64 * self.residual.shape[0] + y) * wide
        place = {"height": tall, "width": wide, "pitch": wide, "bank": RESIDUAL_BANK, "row": 9}
        self._add(Load, (0, 0, self.counts[2]), name, kind=Kind.RESIDUAL, address=at, **place)

    def _limit(self):
        layer = self.layer
        if layer.activation_type != Activation.RELU or layer.activation_limit is None:
            return 127
        return int(
            np.clip(np.floor(layer.activation_limit * 2.0**layer.output_fraclen + 0.5), 0, 127)
        )

    def _pool(self):
        layer = self.layer
        if not self.is_pooled:
            return None
        return Pool(
            kind=layer.pooling_type,
            height=layer.pooling_size[1],
            width=layer.pooling_size[2],
            stride_y=layer.pooling_stride[1],
            stride_x=layer.pooling_stride[2],
            padding=tuple(layer.pool_padding_size),
        )
