"""Random small models, for comparing layers with what the model computes eagerly."""

from __future__ import annotations

import numpy as np

import dy2st
from dy2st import nn

F = nn.functional
KINDS = (
    "conv conv conv grouped depthwise norm relu relu6 leaky max mean add concat up pad transposed "
    "slice split scale swish gate"
).split()


class Gate(nn.Layer):
    """An image times a hard sigmoid of its mean."""

    def __init__(self, channels):
        super().__init__()
        self.mix = nn.Conv2D(channels, channels, 1)

    def forward(self, x):
        return x * F.hardsigmoid(self.mix(F.adaptive_avg_pool2d(x, 1)))


class RandomModel(nn.Layer):
    """A graph of up to 8 steps on images of 3 x 8 x 8; the same for the same seed."""

    def __init__(self, seed):
        super().__init__()
        self.draw = np.random.default_rng(seed)
        self.plan, self.maps, self.parts = [], [(3, 8, 8)], []
        self.extend("conv")
        for _ in range(self.number(2, 9)):
            self.extend(str(self.draw.choice(KINDS)))
        self.wanted = sorted({1, len(self.maps) - 1, self.number(1, len(self.maps))}, reverse=True)
        for value in self.parameters():
            value.set_value(self.draw.standard_normal(value.shape).astype("float32") * 0.5)
        for value in self.buffers():
            value.set_value((self.draw.random(value.shape) + 0.5).astype("float32"))
        self.eval()

    def number(self, low, high):
        return int(self.draw.integers(low, high))

    def extend(self, kind):
        """One step more on one of the latest maps, if it fits."""
        place = self.number(max(0, len(self.maps) - 3), len(self.maps))
        step = getattr(self, f"_{kind}")(place, *self.maps[place])
        if step is not None:
            self.plan.append((*step[:1], place, *step[1:-1]))
            self.maps.append(step[-1])

    def layer(self, part, size):
        self.parts.append(part)
        self.add_sublayer(f"part{len(self.parts)}", part)
        return "layer", len(self.parts) - 1, size

    def _conv(self, place, c, h, w, groups=1):
        kernel, stride, outputs = self.number(1, 4), self.number(1, 3), 2 * self.number(1, 5)
        top, bottom, left, right = (self.number(0, 2) for _ in range(4))
        high, wide = h + top + bottom - kernel, w + left + right - kernel
        if min(high, wide) < 0:
            return None
        pads = [(top, bottom), (left, right)]
        part = nn.Conv2D(c, outputs, kernel, stride, pads, groups=groups)
        return self.layer(part, (outputs, high // stride + 1, wide // stride + 1))

    def _grouped(self, place, c, h, w):
        return self._conv(place, c, h, w, groups=2) if c % 2 == 0 else None

    def _depthwise(self, place, c, h, w):
        return self.layer(nn.Conv2D(c, c, 3, padding=1, groups=c), (c, h, w))

    def _norm(self, place, c, h, w):
        return self.layer(nn.BatchNorm2D(c), (c, h, w))

    def _transposed(self, place, c, h, w):
        stride, padding, outputs = self.number(1, 3), self.number(0, 2), self.number(1, 6)
        extra = self.number(0, stride)
        size = [(n - 1) * stride + 3 - 2 * padding + extra for n in (h, w)]
        if max(h, w) > 12 or min(size) < 1:
            return None
        part = nn.Conv2DTranspose(c, outputs, 3, stride, padding, output_padding=extra)
        return self.layer(part, (outputs, *size))

    def _relu(self, place, c, h, w):
        return "call", F.relu, (c, h, w)

    def _relu6(self, place, c, h, w):
        return "call", F.relu6, (c, h, w)

    def _leaky(self, place, c, h, w):
        return "call", lambda x: F.leaky_relu(x, 0.125), (c, h, w)

    def _swish(self, place, c, h, w):
        return "call", F.hardswish, (c, h, w)

    def _gate(self, place, c, h, w):
        return self.layer(Gate(c), (c, h, w)) if max(h, w) <= 15 else None

    def _scale(self, place, c, h, w):
        return "call", lambda x: x * 1.5 - 0.25, (c, h, w)

    def _max(self, place, c, h, w, pooling=F.max_pool2d):
        kernel, stride, padding = self.number(2, 4), self.number(1, 3), self.number(0, 2)
        size = [(n + 2 * padding - kernel) // stride + 1 for n in (h, w)]
        if min(size) < 1:
            return None
        return "call", lambda x: pooling(x, kernel, stride, padding), (c, *size)

    def _mean(self, place, c, h, w):
        return self._max(
            place, c, h, w, lambda x, *window: F.avg_pool2d(x, *window, exclusive=False)
        )

    def _up(self, place, c, h, w):
        if max(h, w) > 10:
            return None
        return "call", lambda x: F.interpolate(x, scale_factor=2), (c, 2 * h, 2 * w)

    def _pad(self, place, c, h, w):
        pads = [self.number(0, 3) for _ in range(4)]
        size = (c, h + pads[2] + pads[3], w + pads[0] + pads[1])
        return "call", lambda x: F.pad(x, pads), size

    def _slice(self, place, c, h, w):
        first = self.number(0, c)
        last = self.number(first, c) + 1
        return "call", lambda x: x[:, first:last], (last - first, h, w)

    def _split(self, place, c, h, w):
        if c % 2:
            return None
        return "call", lambda x: dy2st.split(x, 2, axis=1)[1], (c // 2, h, w)

    def _add(self, place, c, h, w):
        return "add", self.of_size(lambda size: size == (c, h, w)), (c, h, w)

    def _concat(self, place, c, h, w):
        other = self.of_size(lambda size: size[1:] == (h, w))
        channels = c + self.maps[other][0]
        return None if channels > 40 else ("concat", other, (channels, h, w))

    def of_size(self, fits):
        return int(self.draw.choice([i for i, size in enumerate(self.maps) if fits(size)]))

    def forward(self, x):
        maps = [x]
        for kind, place, what in self.plan:
            if kind == "layer":
                maps.append(self.parts[what](maps[place]))
            elif kind == "call":
                maps.append(what(maps[place]))
            elif kind == "add":
                maps.append(maps[place] + maps[what])
            else:
                maps.append(dy2st.concat([maps[place], maps[what]], axis=1))
        return [maps[place] for place in self.wanted]
