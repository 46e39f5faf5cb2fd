"""One element of a layer's output with Python's integers and loops, straight from the rules."""

from fractions import Fraction
from math import floor


def saturate(bits, value):
    return max(-(2 ** (bits - 1)), min(2 ** (bits - 1) - 1, value))


def element(network, layer, tensors, place, taps_a_pass=16):
    """The output of a layer at (image, y, x, channel); `tensors` has what it reads, by producer."""
    return _Element(network, layer, tensors, place, taps_a_pass).value()


class _Element:
    def __init__(self, network, layer, tensors, place, taps_a_pass):
        self.network, self.layer, self.taps_a_pass = network, layer, taps_a_pass
        self.image, self.y, self.x, self.channel = place
        self.parts = [tensors[i] for i in layer.input_layer]
        self.residual = tensors[layer.residual_source[0]] if layer.residual else None
        self.sides = list(layer.padding_size)
        producer = layer.input_layer[0]
        if producer > 0 and layer.type != 2:  # what reads an input of the network has it all
            stored = network.layer(producer).post_padding_size
            for side in range(4):
                self.sides[side] += stored[side] - layer.pre_remove_padding_size[side]
        self.scale = tensors[layer.scale_source[0]] if layer.scale_source else None
        self.weights = network.int_weights.get(layer.index)
        self.channels = sum(part.shape[3] for part in self.parts)

    # -- behind the cut ------------------------------------------------------------------------

    def value(self):
        times = self.layer.upsample or 1
        y, x = self.y // times, self.x // times
        value = self.pooled(y, x)
        if self.layer.residual and self.layer.res_position == 2:
            value = self.added(value, y, x)
        return value

    def pooled(self, y, x):
        layer = self.layer
        if not layer.pooling_type:
            return self.in_front_of_pooling(y, x)
        _, tall, wide = layer.pooling_size
        height, width = self.multiplied_size()
        inside = []
        for r in range(tall):
            for s in range(wide):
                row = y * layer.pooling_stride[1] + r - layer.pool_padding_size[0]
                column = x * layer.pooling_stride[2] + s - layer.pool_padding_size[2]
                if 0 <= row < height and 0 <= column < width:
                    inside.append(self.in_front_of_pooling(row, column))
        if layer.pooling_type == 1:
            return max(inside)
        factor = floor(Fraction(65536, tall * wide) + Fraction(1, 2))
        return saturate(8, (sum(inside) * factor + 32768) // 65536)

    def multiplied_size(self):
        """Of the map that is pooled, from the sizes of its residual or of what is read."""
        layer, (_, height, width, _) = self.layer, self.parts[0].shape
        top, bottom, left, right = self.sides
        if layer.type == 0:
            return 1, 1
        if layer.type in (3, 4):
            return height + top + bottom, width + left + right
        (_, kh, kw), (_, sy, sx), (_, dy, dx) = layer.ker_size, layer.ker_stride, layer.dilation
        if layer.type == 2:
            return (height - 1) * sy + kh - top - bottom, (width - 1) * sx + kw - left - right
        tall = height + top + bottom - dy * (kh - 1)
        return -(-tall // sy), -(-(width + left + right - dx * (kw - 1)) // sx)

    def in_front_of_pooling(self, y, x):
        value = self.cut(y, x)
        order = self.layer.res_position if self.layer.residual else None
        if order == 0:
            value = self.added(value, y, x)
        value = self.activated(value)
        if order == 1:
            value = self.added(value, y, x)
        return value

    def added(self, value, y, x):
        return saturate(8, value + int(self.residual[self.image, y, x, self.channel]))

    def activated(self, value):
        layer = self.layer
        if layer.activation_type == 1:
            value = max(value, 0)
            if layer.activation_limit is not None:
                limit = Fraction(layer.activation_limit) * Fraction(2) ** layer.output_fraclen
                value = min(value, max(0, min(127, floor(limit + Fraction(1, 2)))))
        if layer.activation_type == 2 and value < 0:
            value = floor(Fraction(value, 8) + Fraction(1, 2))
        if layer.activation_type == 4:
            real = value * Fraction(2) ** -layer.output_fraclen
            gate = min(max(real + 3, 0), 6) * Fraction(10923, 65536)  # about a sixth
            value = saturate(8, floor(value * gate + Fraction(1, 2)))
        return value

    def cut(self, y, x):
        return saturate(8, floor(Fraction(self.sum(y, x), 256) + Fraction(1, 2)))

    # -- partial sums --------------------------------------------------------------------------

    def sum(self, y, x):
        layer = self.layer
        if layer.type == 3:
            value = self.feature(self.channel, y - self.sides[0], x - self.sides[2])
            scale = Fraction(2) ** (8 + layer.output_fraclen - layer.input_fraclen)
            return saturate(16, floor(value * scale))
        position = 26 - (8 - layer.output_fraclen)
        shift = position - layer.input_fraclen - layer.weight_fraclen
        if layer.type == 4:
            feature = self.feature(self.channel, y - self.sides[0], x - self.sides[2])
            dot = feature * int(self.scale[self.image, 0, 0, self.channel])
            return saturate(16, saturate(26, dot << shift) >> 10)
        bias = int(self.network.int_biases[layer.index][self.channel])
        bias = saturate(26, bias << (position - layer.bias_fraclen))
        value = None
        for dot in self.dots(y, x):
            other = bias if value is None else value << 10
            value = saturate(16, (saturate(26, dot << shift) + other) >> 10)
        return saturate(16, bias >> 10) if value is None else value

    def dots(self, y, x):
        """The dot of every pass, in order."""
        layer = self.layer
        if layer.type == 1 and layer.group == self.channels == layer.output_size[3] > 1:
            return self.depthwise_dots(y, x)
        if layer.enhanced:
            return self.enhanced_dots(y, x)
        return self.dense_dots(y, x)

    def dense_dots(self, y, x):
        start = 0
        for part in self.parts:
            for first in range(0, part.shape[3], 64):
                tile = range(start + first, start + min(first + 64, part.shape[3]))
                for r, row in self.taps(y, 0):
                    for s, column in self.taps(x, 1):
                        yield sum(self.feature(c, row, column) * self.weight(r, s, c) for c in tile)
            start += part.shape[3]

    def taps(self, y, axis):
        """(kernel index, input coordinate) along an axis, in order."""
        layer, first = self.layer, self.sides[2 * axis]
        kernel = self.weights.shape[axis]
        stride, dilation = layer.ker_stride[1 + axis], layer.dilation[1 + axis]
        if layer.type == 0:
            return [(r, y + r - first) for r in range(kernel)]
        if layer.type == 2:
            places = [(r, y + first - r) for r in range(kernel)]
            return [(r, place // stride) for r, place in places if place % stride == 0]
        return [(r, y * stride + r * dilation - first) for r in range(kernel)]

    def depthwise_dots(self, y, x):
        terms = [
            self.feature(self.channel, row, column) * int(self.weights[r, s, 0, self.channel])
            for r, row in self.taps(y, 0)
            for s, column in self.taps(x, 1)
        ]
        for first in range(0, len(terms), self.taps_a_pass):
            yield sum(terms[first : first + self.taps_a_pass])

    def enhanced_dots(self, y, x):
        terms = [
            self.feature(c, row, column) * self.weight(r, s, c)
            for c in range(self.channels)
            for r, row in reversed(self.taps(y, 0))
            for s, column in reversed(self.taps(x, 1))
        ]
        for first in range(0, len(terms), 64):
            yield sum(terms[first : first + 64])

    def weight(self, r, s, channel):
        a_group = self.channels // self.layer.group
        group = self.channel // (self.layer.output_size[3] // self.layer.group)
        if channel // a_group != group:
            return 0
        return int(self.weights[r, s, channel % a_group, self.channel])

    def feature(self, channel, y, x):
        for part in self.parts:
            if channel < part.shape[3]:
                break
            channel -= part.shape[3]
        is_inside = 0 <= y < part.shape[1] and 0 <= x < part.shape[2]
        return int(part[self.image, y, x, channel]) if is_inside else 0
