"""The convolutions of known networks as quantised Networks of any size.

Without a seed weights are zero: for timing. With one they are random.
"""

from __future__ import annotations

import numpy as np

from dy2st.targets.opu import sizes
from dy2st.targets.opu.enhance import enhance
from dy2st.targets.opu.layer import Activation, Layer, LayerType, Pooling
from dy2st.targets.opu.network import Network


class Builder:
    """Adds convolutions; everything has legal fraction lengths."""

    def __init__(self, edge: int, channels: int = 3, seed: int | None = None):
        self.rng = None if seed is None else np.random.default_rng(seed)
        self.network = Network([], input_sizes=[(1, edge, edge, channels)])

    def input(self, edge: int, channels: int) -> int:
        """Another network input."""
        self.network.input_sizes.append((1, edge, edge, channels))
        return 1 - len(self.network.input_sizes)

    def conv(
        self, source, outputs, kernel, stride=1, padding=None, pool=None, residual=None, upsample=0
    ):
        """A convolution; pool is (size, stride, padding)."""
        network = self.network
        layer = Layer(
            index=len(network.layers) + 1,
            type=int(LayerType.CONVOLUTION),
            input_layer=source if isinstance(source, list) else [source],
            output_layer=[],
            input_size=[1, 0, 0, 0],
            output_size=[1, 0, 0, outputs],
            ker_size=[1, kernel, kernel],
            ker_stride=[1, stride, stride],
            padding_size=list(padding or [kernel // 2] * 4),
            activation_type=int(Activation.RELU),
            weight_fraclen=7,
            bias_fraclen=10,
            upsample=upsample,
        )
        if pool:
            size, step, sides = pool
            layer.pooling_type = int(Pooling.MAX)
            layer.pooling_size, layer.pooling_stride = [1, size, size], [1, step, step]
            layer.pool_padding_size = [sides] * 4
        if residual is not None:
            layer.residual, layer.residual_source, layer.res_position = 1, [residual], 0
        layer.input_size = [1, *sizes.input_size(network, layer)]
        layer.output_size = [1, *sizes.made_size(network, layer)]
        channels = layer.input_size[3]
        network.int_weights[layer.index] = self.integers("int8", kernel, kernel, channels, outputs)
        network.int_biases[layer.index] = self.integers("int16", outputs)
        network.layers.append(layer)
        return layer.index

    def integers(self, dtype, *shape):
        """Zeros, or small random numbers."""
        if self.rng is None:
            return np.zeros(shape, dtype)
        return self.rng.integers(-6, 7, shape).astype(dtype)

    def pool(self, source):
        """2 x 2 of a map that somebody else reads as it is."""
        network = self.network
        size = sizes.tensor_size(network, source)
        layer = Layer(
            index=len(network.layers) + 1,
            type=int(LayerType.NONE),
            input_layer=[source],
            output_layer=[],
            input_size=[1, *size],
            output_size=[1, size[0] // 2, size[1] // 2, size[2]],
            pooling_type=int(Pooling.MAX),
            pooling_size=[1, 2, 2],
            pooling_stride=[1, 2, 2],
        )
        network.layers.append(layer)
        return layer.index

    def done(self) -> Network:
        """The network; the first layer is stored as columns where that is faster."""
        network = self.network
        for layer in network.layers:
            readers = [
                other.index
                for other in network.layers
                if layer.index in other.input_layer + other.residual_source
            ]
            layer.output_layer = readers or [-1]
        network.outputs = [layer.index for layer in network.layers if layer.output_layer == [-1]]
        enhance(network)
        return network


def tiny_yolo(edge: int = 416, seed: int | None = None) -> Network:
    """9 convolutions."""
    build, x = Builder(edge, seed=seed), 0
    for outputs in (16, 32, 64, 128, 256):
        x = build.conv(x, outputs, 3, pool=(2, 2, 0))
    x = build.conv(x, 512, 3, padding=(1, 2, 1, 2), pool=(2, 1, 0))
    x = build.conv(build.conv(x, 1024, 3), 1024, 3)
    build.conv(x, 30, 1)
    return build.done()


def vgg16(edge: int = 224, seed: int | None = None) -> Network:
    """13 convolutions."""
    build, x = Builder(edge, seed=seed), 0
    for outputs, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for number in range(count):
            x = build.conv(x, outputs, 3, pool=(2, 2, 0) if number == count - 1 else None)
    return build.done()


def resnet50(edge: int = 224, seed: int | None = None) -> Network:
    """53 convolutions."""
    build = Builder(edge, seed=seed)
    x = build.conv(0, 64, 7, 2, pool=(3, 2, 1))
    for middle, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            stride = 2 if block == 0 and middle > 64 else 1
            skip = build.conv(x, middle * 4, 1, stride) if block == 0 else x
            y = build.conv(build.conv(x, middle, 1), middle, 3, stride)
            x = build.conv(y, middle * 4, 1, residual=skip)
    return build.done()


def yolov2(edge: int = 416, seed: int | None = None) -> Network:
    """23 convolutions; the rearranged map of the 21st comes in as another input."""
    build = Builder(edge, seed=seed)
    rearranged = build.input(edge // 32, 256)
    x = build.conv(build.conv(0, 32, 3, pool=(2, 2, 0)), 64, 3, pool=(2, 2, 0))
    before = 0
    for channels, blocks in ((64, 3), (128, 3), (256, 5), (512, 5)):
        for block in range(blocks):
            is_last = block == blocks - 1 and channels < 512
            if block % 2 == 0:
                if is_last and channels == 256:  # read as it is by the 21st, pooled by the 14th
                    before = build.conv(x, channels * 2, 3)
                    x = build.pool(before)
                    continue
                x = build.conv(x, channels * 2, 3, pool=(2, 2, 0) if is_last else None)
            else:
                x = build.conv(x, channels, 1)
    x = build.conv(build.conv(x, 1024, 3), 1024, 3)
    build.conv(before, 64, 1)
    x = build.conv([rearranged, x], 1024, 3)
    build.conv(x, 425, 1)
    return build.done()


def yolov3(edge: int = 416, seed: int | None = None) -> Network:
    """75 convolutions."""
    build = Builder(edge, seed=seed)
    x, channels, kept = build.conv(0, 32, 3), 32, []
    for blocks in (1, 2, 8, 8, 4):
        channels *= 2
        x = build.conv(x, channels, 3, 2, padding=(1, 0, 1, 0))
        for _ in range(blocks):
            x = build.conv(build.conv(x, channels // 2, 1), channels, 3, residual=x)
        kept.append(x)
    source = x
    for channels, skip in ((1024, kept[3]), (512, kept[2]), (256, 0)):
        x = source
        for number in range(3):
            y = build.conv(x, channels // 2, 1)
            x = build.conv(y, channels, 3)
        build.conv(x, 255, 1)
        if skip:
            source = [build.conv(y, channels // 4, 1, upsample=2), skip]
    return build.done()
