"""Random quantised networks of the OPU, the same for the same seed: for property tests of everybody.

    network = random_layer(7)                   # one layer, any kind
    network = random_layer(7, "depthwise")      # one of KINDS
    network = random_network(7)                 # a few layers with concats, residuals, many users
    inputs = random_inputs(network, 7)          # int8 (1, h, w, c) for every network input

They are small: every layer has at most `MULTIPLICATIONS`.
"""

from __future__ import annotations

import math

import numpy as np

from dy2st.targets.opu.layer import Activation, Layer, LayerType, Order, Pooling
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.operations import FRACTION
from dy2st.targets.opu.sizes import (
    border,
    input_size,
    kernel_size,
    made_size,
    multiplied_size,
    pooled_size,
    tensor_size,
)

KINDS = (
    "convolution",
    "pointwise",
    "grouped",
    "depthwise",
    "transposed",
    "fully connected",
    "none",
    "enhanced",
    "scaled",
)
MULTIPLICATIONS = 2_000_000
TYPES = {
    "transposed": LayerType.TRANSPOSED,
    "fully connected": LayerType.FULLY_CONNECTED,
    "none": LayerType.NONE,
    "scaled": LayerType.SCALE,
}
PLAIN = ("none", "scaled")


def random_layer(seed, kind=None):
    """A network of one layer, whose output may have a stored border; all kinds by turns."""
    rng = np.random.default_rng([seed, 1])
    kind = kind or KINDS[:-1][seed % (len(KINDS) - 1)]
    channels = int(rng.integers(1, 9)) if kind == "enhanced" else _channels(rng)
    size = rng.integers(1, 8, 2).tolist() if kind == "fully connected" else _map(rng)
    network = Network(layers=[], input_sizes=[(1, *size, channels)])
    if kind == "scaled":
        network.input_sizes.append((1, 1, 1, channels))
    drawer = _Drawer(rng, network, fraction=int(rng.integers(-3, 10)))
    layer = drawer.add(kind, [0])
    if _chance(rng, 0.2):
        drawer.with_residual_of_an_input(layer)
    _swish(network, seed)
    _finish(network)
    if _chance(rng, 0.3):
        _store_border(layer, [int(n) for n in rng.integers(0, 4, 4)])
    elif _chance(rng, 0.3) and layer.type not in (LayerType.TRANSPOSED, LayerType.NONE):
        _with_stored_input(network, layer)
    return network


def random_network(seed):
    """A few layers over one or two inputs."""
    rng = np.random.default_rng([seed, 2])
    height, width = _map(rng)
    count = int(rng.integers(1, 3))
    network = Network(layers=[])
    network.input_sizes = [(1, height, width, _channels(rng)) for _ in range(count)]
    drawer = _Drawer(rng, network, fraction=int(rng.integers(-2, 8)))
    for _ in range(int(rng.integers(2, 7))):
        drawer.add_somewhere()
    if seed % 2:
        drawer.add_scaled()
    _swish(network, seed)
    _finish(network)
    if _chance(rng, 0.6):
        use_post_padding(network)
    return network


def random_inputs(network, seed, batch=1):
    """int8 arrays for the network's inputs."""
    rng = np.random.default_rng([seed, 3])
    return [_integers(rng, (batch, *size[1:])) for size in network.input_sizes]


class _Drawer:
    """Adds layers whose inputs are tensors that are there."""

    def __init__(self, rng, network, fraction):
        self.rng, self.network, self.fraction = rng, network, fraction
        self.fractions = {-i: fraction for i in range(len(network.input_sizes))}

    def add_somewhere(self):
        """A layer of any kind on any tensors; a residual where one fits."""
        rng = self.rng
        kinds = [k for k in KINDS if k not in ("enhanced", "scaled")]
        kind = str(rng.choice(kinds, p=[0.3, 0.2, 0.1, 0.1, 0.08, 0.04, 0.18]))
        parts = self._parts()
        if kind in ("convolution", "none", "depthwise") and _chance(rng, 0.5):
            self._add_with_residual(kind, parts)
        else:
            self.add(kind, parts)

    def add_scaled(self):
        """A layer that scales what was made last by what a fully connected layer makes of it."""
        source = max(self.fractions)
        height, width, channels = tensor_size(self.network, source)
        if max(height, width) > 7 or height * width * channels**2 > MULTIPLICATIONS:
            return
        scale = self.add("fully connected", [source], outputs=channels, pooled=False)
        scale.upsample, scale.output_size = 0, [1, 1, 1, channels]
        self.add("scaled", [source], scale=scale.index)

    def _parts(self):
        """Tensors of one size and fraction length, mostly one, mostly a late one."""
        producers = sorted(self.fractions)
        last = len(producers) - 1
        start = producers[max(last - int(self.rng.integers(0, 3)), 0)]
        parts = [start]
        for other in self.rng.permutation(producers).tolist():
            if len(parts) < 4 and self._joins(start, other) and _chance(self.rng, 0.3):
                parts.append(other)
        return parts

    def _joins(self, one, other):
        sizes = [tensor_size(self.network, tensor)[:2] for tensor in (one, other)]
        return (
            one != other and sizes[0] == sizes[1] and self.fractions[one] == self.fractions[other]
        )

    def add(self, kind, parts, *, outputs=None, same=False, pooled=None, scale=-1):
        """A layer of this kind; `same` keeps the size of the map, `scale` scales a "scaled" one."""
        if kind == "fully connected" and max(tensor_size(self.network, parts[0])[:2]) > 7:
            kind = "pointwise"
        layer = Layer(
            index=len(self.network.layers) + 1,
            type=int(TYPES.get(kind, LayerType.CONVOLUTION)),
            input_layer=parts,
            output_layer=[],
            input_size=[1, 0, 0, 0],
            output_size=[1, 0, 0, 0],
            input_fraclen=self.fractions[parts[0]],
        )
        layer.input_size = [1, *input_size(self.network, layer)]
        layer.enhanced = int(kind == "enhanced")
        layer.scale_source = [scale] if kind == "scaled" else []
        self._shape_of_kernel(layer, kind, same)
        self._outputs(layer, kind, outputs)
        self._fraction_lengths(layer, keep=outputs is not None)
        self._parameters(layer)
        self._behind_the_cut(layer, _chance(self.rng, 0.5) if pooled is None else pooled)
        layer.output_size = [1, *made_size(self.network, layer)]
        self.network.layers.append(layer)
        self.fractions[layer.index] = layer.output_fraclen
        return layer

    def _shape_of_kernel(self, layer, kind, same):
        rng, (height, width, _) = self.rng, layer.input_size[1:]
        if kind == "fully connected":
            layer.ker_size = [1, height, width]
        if kind in PLAIN and not same and _chance(rng, 0.3):
            layer.padding_size = [int(n) for n in rng.integers(0, 4, 4)]
        if kind in (*PLAIN, "fully connected"):
            return
        largest = 1 if kind == "pointwise" else 5 if kind == "transposed" else 3 if same else 7
        smallest = 2 if kind == "enhanced" else 1
        tall, wide = (int(n) for n in rng.integers(smallest, largest + 1, 2))
        if same:
            tall, wide = tall | 1, wide | 1
        steps = [1, 1, 1] if same else [1, *(int(n) for n in _mostly_one(rng, 2))]
        layer.ker_size, layer.ker_stride = [1, tall, wide], steps
        if kind == "transposed":
            layer.padding_size = _cuts(rng, layer)
            return
        layer.dilation = [1, *(int(n) for n in _mostly_one(rng, 2))]
        reach = [(k - 1) * d + 1 for k, d in zip(layer.ker_size[1:], layer.dilation[1:])]
        layer.padding_size = _paddings(rng, reach, (height, width), same)

    def _outputs(self, layer, kind, outputs):
        rng, channels = self.rng, layer.input_size[3]
        if kind in (*PLAIN, "depthwise"):
            layer.group = channels if kind == "depthwise" else 1
            layer.output_size[3] = channels
            return
        wanted = outputs or _channels(rng)
        if kind == "grouped":
            divisors = [g for g in range(1, channels + 1) if channels % g == 0]
            layer.group = int(rng.choice(divisors[1:] or [1]))
            wanted = layer.group * max(1, round(wanted / layer.group))
        layer.output_size[3] = wanted
        cost = channels * math.prod(kernel_size(self.network, layer))
        cost *= math.prod(multiplied_size(self.network, layer))
        if cost * wanted > MULTIPLICATIONS and outputs is None:
            fewer = max(1, MULTIPLICATIONS // cost)
            layer.group = layer.group if layer.group <= fewer else 1
            layer.output_size[3] = max(layer.group, fewer - fewer % layer.group)

    def _fraction_lengths(self, layer, keep):
        rng = self.rng
        layer.output_fraclen = self.fraction
        if not keep and _chance(rng, 0.2):
            layer.output_fraclen += int(rng.integers(-3, 4))
        if layer.type == LayerType.NONE:
            if keep or _chance(rng, 0.8):
                layer.output_fraclen = layer.input_fraclen
            layer.weight_fraclen, layer.bias_fraclen = 7, 7
            return
        position = layer.output_fraclen + 18
        shift = int(rng.integers(1, 13) if _chance(rng, 0.7) else rng.integers(1, 32))
        layer.weight_fraclen = position - shift - layer.input_fraclen
        for source in layer.scale_source:  # its own fraction length: the output's follows
            layer.weight_fraclen = self.fractions[source]
            layer.output_fraclen = layer.input_fraclen + layer.weight_fraclen + shift - 18
            position = layer.output_fraclen + 18
        shift = int(rng.integers(0, 13) if _chance(rng, 0.7) else rng.integers(0, 32))
        layer.bias_fraclen = position - shift

    def _parameters(self, layer):
        if not layer.has_weights:
            return
        network, index, outputs = self.network, layer.index, layer.output_size[3]
        shape = (*kernel_size(network, layer), layer.input_size[3] // layer.group, outputs)
        network.int_weights[index] = _integers(self.rng, shape)
        scale = 2 ** self.rng.integers(0, 16) if _chance(self.rng, 0.8) else 0
        network.int_biases[index] = (
            self.rng.integers(-scale, scale + 1, outputs).clip(-(2**15), 2**15 - 1).astype("int16")
        )
        real = 2.0**-layer.weight_fraclen, 2.0**-layer.bias_fraclen
        network.weights[index] = (network.int_weights[index] * real[0]).astype("float32")
        network.biases[index] = (network.int_biases[index] * real[1]).astype("float32")

    def _behind_the_cut(self, layer, pooled):
        rng = self.rng
        layer.activation_type = int(rng.integers(0, 3))
        if layer.activation_type == Activation.RELU and _chance(rng, 0.5):
            layer.activation_limit = float(
                rng.choice([6.0, 1.0, 2.0**-layer.output_fraclen * 70.5])
            )
        if pooled:
            _with_pooling(rng, layer, multiplied_size(self.network, layer))
        tall, wide = pooled_size(self.network, layer)
        if _chance(rng, 0.15) and tall * wide <= 100:
            layer.upsample = int(rng.choice([2, 2, 3]))

    def _add_with_residual(self, kind, parts):
        """Residual, then activation and so on: as large as the map at that point."""
        rng, network = self.rng, self.network
        wanted = [t for t in self.fractions if t not in parts and self._fits(kind, t, parts)]
        if not wanted:
            return self.add(kind, parts)
        source = int(rng.choice(wanted))
        outputs = tensor_size(network, source)[2]
        fraction, self.fraction = self.fraction, self.fractions[source]
        order = int(rng.integers(0, 3))
        pooled = order < 2 and _chance(rng, 0.5)
        layer = self.add(kind, parts, outputs=outputs, same=True, pooled=pooled)
        self.fraction = fraction
        layer.residual, layer.residual_source, layer.res_position = 1, [source], order
        return layer

    def _fits(self, kind, source, parts):
        """Whether a layer of this kind over these parts can make what the source is."""
        *size, outputs = tensor_size(self.network, source)
        channels = sum(tensor_size(self.network, part)[2] for part in parts)
        if tuple(size) != tensor_size(self.network, parts[0])[:2]:
            return False
        if kind == "convolution":
            return math.prod(size) * 9 * channels * outputs <= MULTIPLICATIONS
        is_kept = kind == "depthwise" or self.fractions[source] == self.fractions[parts[0]]
        return outputs == channels and is_kept

    def with_residual_of_an_input(self, layer):
        """A second network input of the right size is added, at any place."""
        order = int(self.rng.integers(0, 3))
        behind = order == Order.ACTIVATION_POOLING_RESIDUAL
        size = (pooled_size if behind else multiplied_size)(self.network, layer)
        self.network.input_sizes.append((1, *size, layer.output_size[3]))
        source = 1 - len(self.network.input_sizes)
        layer.residual, layer.residual_source, layer.res_position = 1, [source], order


def _swish(network, seed):
    """Hard swishes in place of some activations."""
    rng = np.random.default_rng([seed, 4])
    for layer in network.layers:
        if _chance(rng, 0.2) and layer.output_fraclen in FRACTION:
            layer.activation_type, layer.activation_limit = int(Activation.HARD_SWISH), None


def _with_pooling(rng, layer, size):
    kinds = [Pooling.MAX, Pooling.AVERAGE]
    is_global = max(size) <= 15 and _chance(rng, 0.2)
    window = list(size) if is_global else [int(min(n, rng.integers(1, 5))) for n in size]
    layer.pooling_type = int(rng.choice(kinds))
    layer.pooling_size = [1, *window]
    layer.pooling_stride = [1, *(int(n) for n in rng.integers(1, 4, 2))]
    if not is_global and _chance(rng, 0.4):
        sides = [rng.integers(0, min(edge, 4)) for edge in window for _ in range(2)]
        layer.pool_padding_size = [int(n) for n in sides]


def _paddings(rng, reach, size, same):
    if same:
        return [n for edge in reach for n in (edge // 2, edge // 2)]
    paddings = []
    for edge, length in zip(reach, size):
        first, last = (int(n) for n in rng.integers(0, min(edge, 4), 2))
        paddings += [first, max(last, edge - length - first)]
    return paddings


def _cuts(rng, layer):
    cuts = []
    for length, kernel, step in zip(
        layer.input_size[1:3], layer.ker_size[1:], layer.ker_stride[1:]
    ):
        full = (length - 1) * step + kernel
        first = int(rng.integers(0, min(kernel, full)))
        last = int(rng.integers(0, min(kernel, full - first))) - int(rng.integers(0, step))
        cuts += [first, last]
    return cuts


def _finish(network):
    """Say who reads what: whatever nobody reads is an output."""
    for layer in network.layers:
        readers = [x.index for x in network.layers if layer.index in x.input_layer]
        is_added = any(layer.index in other.residual_source for other in network.layers)
        is_read = is_added or any(layer.index in other.scale_source for other in network.layers)
        is_output = not readers and not is_read
        layer.output_layer = [-1] if is_output else readers
        layer.output_choice = [3, 3 if is_added else -1]
        layer.input_channels = [tensor_size(network, part)[2] for part in layer.input_layer]
    network.outputs = [layer.index for layer in network.layers if layer.output_layer == [-1]]


def use_post_padding(network):
    """Producers store the padding of their consumers; parts that are joined store the same.

    What reads an input of the network keeps its padding, and says that it is stored.
    """
    for producers, readers in _joined(network):
        wanted = [border(network, layer) for layer in readers if _is_padded(layer)]
        sides = [max(column) for column in zip(*wanted, (0, 0, 0, 0))]
        own = [_own_border(layer) for layer in readers]
        for producer in producers:
            if producer > 0:
                _store_border(network.layer(producer), sides)
        for layer, border_ in zip(readers, own):
            layer.pre_remove_padding_size = [a - b for a, b in zip(sides, border_)]
            layer.input_size[1] += sides[0] + sides[1]
            layer.input_size[2] += sides[2] + sides[3]
            if layer.input_layer[0] <= 0:
                layer.extra_pre_padding = int(any(sides))
            elif _is_padded(layer):
                layer.padding_size = [0, 0, 0, 0]


def _own_border(layer):
    return list(layer.padding_size) if _is_padded(layer) else [0, 0, 0, 0]


def _is_padded(layer):
    return layer.type != LayerType.TRANSPOSED


def _joined(network):
    """Groups of producers that are read together, with the readers."""
    groups = []
    for layer in network.layers:
        parts, readers = set(layer.input_layer), [layer]
        for other in [g for g in groups if g[0] & parts]:
            groups.remove(other)
            parts, readers = parts | other[0], other[1] + readers
        groups.append((parts, readers))
    return [(sorted(parts), readers) for parts, readers in groups]


def _store_border(layer, sides):
    layer.post_padding, layer.post_padding_size = int(any(sides)), list(sides)
    layer.output_size[1] += sides[0] + sides[1]
    layer.output_size[2] += sides[2] + sides[3]


def _with_stored_input(network, layer):
    """The network's input is stored with its padding, which the layer's input size then counts."""
    top, bottom, left, right = layer.padding_size
    layer.extra_pre_padding = int(any(layer.padding_size))
    layer.input_size[1] += top + bottom
    layer.input_size[2] += left + right


def _map(rng):
    """Height and width: mostly small, sometimes a long strip."""
    if _chance(rng, 0.1):
        edges = [int(rng.integers(1, 4)), int(rng.integers(20, 60))]
        return edges if _chance(rng, 0.5) else edges[::-1]
    return [int(n) for n in rng.integers(1, 15, 2)]


def _channels(rng):
    """1 to 300, mostly few, often around what the hardware takes at once."""
    choice = rng.integers(0, 4)
    if choice == 0:
        return int(rng.choice([1, 3, 15, 16, 17, 31, 32, 33, 36, 48, 63, 64, 65, 127, 128, 129]))
    return int(rng.integers(1, {1: 33, 2: 100, 3: 301}[int(choice)]))


def _mostly_one(rng, count):
    return rng.choice([1, 1, 1, 2, 2, 3], count)


def _integers(rng, shape):
    """int8: small, or all of the range, or at its ends."""
    choice = rng.integers(0, 4)
    if choice == 0:
        return rng.integers(-128, 128, shape).astype("int8")
    if choice == 1:
        return rng.choice(np.array([-128, 127, 127, -128, 0, 1], "int8"), shape)
    spread = 8 if choice == 2 else 40
    return rng.normal(0, spread, shape).round().clip(-128, 127).astype("int8")


def _chance(rng, share):
    return bool(rng.random() < share)
