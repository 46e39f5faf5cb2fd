"""Small Networks by hand, for tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st.targets.opu.layer import Layer, LayerType
from dy2st.targets.opu.network import Array, Network


class Builder:
    """Adds layers to a Network; sizes follow from their arguments."""

    def __init__(self, *inputs: tuple[int, int, int], seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)
        self.network = Network([], input_sizes=[(1, *size) for size in inputs])
        self.sizes = {-i: size for i, size in enumerate(inputs)}

    def add(
        self, sources: int | Sequence[int], output: tuple[int, int, int], type: int, **facts: Any
    ) -> int:
        """A layer without parameters; its index."""
        sources = [sources] if isinstance(sources, int) else list(sources)
        index = len(self.network.layers) + 1
        h, w, _ = self.sizes[sources[0]]
        channels = [self.sizes[s][2] for s in sources]
        layer = Layer(
            index, int(type), sources, [], [1, h, w, sum(channels)], [1, *output], **facts
        )
        layer.residual = int(bool(layer.residual_source))
        layer.input_channels = channels
        self.network.layers.append(layer)
        self.sizes[index] = output
        for source in [*sources, *layer.residual_source]:
            if source > 0:
                self.network.layer(source).output_layer.append(index)
        return index

    def conv(
        self,
        sources: int | Sequence[int],
        outputs: int,
        kernel: int = 3,
        stride: int = 1,
        padding: int = 0,
        scale: float = 1.0,
        group: int = 1,
        **facts: Any,
    ) -> int:
        """A convolution with random parameters; its index."""
        first = sources if isinstance(sources, int) else sources[0]
        h, w, _ = self.sizes[first]
        listed = [sources] if isinstance(sources, int) else sources
        channels = sum(self.sizes[s][2] for s in listed)
        size = [(n + 2 * padding - kernel) // stride + 1 for n in (h, w)]
        pool = facts.get("pooling_size")
        if pool:
            step = facts["pooling_stride"]
            size = [(n - p) // s + 1 for n, p, s in zip(size, pool[1:], step[1:], strict=True)]
        size = [n * max(facts.get("upsample", 0), 1) for n in size]
        index = self.add(
            sources,
            (size[0], size[1], outputs),
            LayerType.CONVOLUTION,
            ker_size=[1, kernel, kernel],
            ker_stride=[1, stride, stride],
            padding_size=[padding] * 4,
            group=group,
            **facts,
        )
        fan = kernel * kernel * channels // group
        self.parameters(index, (kernel, kernel, channels // group, outputs), scale / fan**0.5)
        return index

    def parameters(self, index: int, shape: tuple[int, ...], scale: float) -> None:
        """Random weights of a shape, and biases a tenth of them."""
        weights = self.random.standard_normal(shape) * scale
        self.network.weights[index] = weights.astype(np.float32)
        biases = self.random.standard_normal(shape[-1]) * scale / 10
        self.network.biases[index] = biases.astype(np.float32)

    def done(self, *outputs: int) -> Network:
        """The Network; without arguments its outputs are the layers that nobody reads."""
        network = self.network
        network.outputs = list(outputs) or [y.index for y in network.layers if not y.output_layer]
        for index in network.outputs:
            network.layer(index).output_layer.append(-1)
        return network

    def inputs(self, count: int = 1) -> list[Array]:
        """One array for every input."""
        sizes = [(count, *size[1:]) for size in self.network.input_sizes]
        return [self.random.standard_normal(s).astype(np.float32) for s in sizes]
