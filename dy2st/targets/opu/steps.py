"""Makes steps of layers: what the engines sweep over, one or a few for every layer.

A convolution, a fully connected layer, a depthwise one and one without weights are a step each. A
transposed convolution is one for each phase of its stride; where pooling, a residual or upsampling
follows, a copying step does that. Parts of a concat that do not fill whole words are joined first,
where channels must stay in their lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from dy2st.targets.opu import sizes
from dy2st.targets.opu.layer import Activation, Layer, LayerType, Order, Pooling
from dy2st.targets.opu.machine import CHANNELS, channel_tiles
from dy2st.targets.opu.network import Array, Network
from dy2st.targets.opu.operations import Pool
from dy2st_runtime.errors import ArgumentError

CUT = 10
"""Bits of the accumulator below a partial sum's last one."""

Pair = tuple[int, int]
Taps = tuple[Pair, ...]
Tile = Callable[[int, int, slice], Array]
"""int8 weights (taps, channels, outputs) of output tile k, channel tile c and some taps."""


@dataclass(eq=False)
class Tensor:
    """A map in DRAM: ceil(channels / 64) groups of rows x pitch words, the map with its border."""

    name: str
    height: int
    width: int
    channels: int
    border: tuple[int, int, int, int] = (0, 0, 0, 0)
    address: int = 0

    @property
    def groups(self) -> int:
        """Words of a pixel."""
        return -(-self.channels // CHANNELS)

    @property
    def rows(self) -> int:
        """Rows with the border."""
        return self.height + self.border[0] + self.border[1]

    @property
    def pitch(self) -> int:
        """Columns with the border."""
        return self.width + self.border[2] + self.border[3]

    @property
    def words(self) -> int:
        """Words of all groups."""
        return self.groups * self.rows * self.pitch

    def word(self, group: int, y: int, x: int) -> int:
        """Address of a pixel of the map."""
        row = group * self.rows + y + self.border[0]
        return self.address + row * self.pitch + x + self.border[2]

    def need(self, top: int, bottom: int, left: int, right: int) -> None:
        """Have at least so much border."""
        sides = (top, bottom, left, right)
        a, b, c, d = (max(mine, other) for mine, other in zip(self.border, sides, strict=True))
        self.border = (a, b, c, d)


@dataclass(frozen=True)
class Source:
    """One channel tile of an input: a group of a tensor."""

    tensor: Tensor
    group: int
    channels: int


@dataclass(frozen=True)
class Post:
    """What happens behind the cut."""

    order: int = Order.ACTIVATION_POOLING
    activation: int = Activation.NONE
    limit: int = 127
    fraction: int = 0
    pool: Pool | None = None
    residual: Tensor | None = None
    upsample: int = 1


@dataclass(eq=False)
class Step:
    """One sweep over a map of height x width partial sums.

    kind     "dense", "depthwise" or "copy"; of the last two output tile k reads source k only.
    taps     (r, s) in units of the dilation, in the order of the passes.
    across   so many pixels side by side are lanes of one partial sum, which `taps` and `stride`
             are of.
    offset   the input pixel of output (0, 0) and tap (0, 0); below 0 in the border.
    window   of columns: input channels, kernel's height and width, horizontal stride.
    blocks   the sources of every output tile, None: all of them.
    scale    a map of one pixel, whose words are the weights of a depthwise step of one tap.
    at, by   where output (0, 0) goes in the target, and how far apart outputs are.
    """

    layer: int
    kind: str
    sources: list[Source]
    target: Tensor
    outputs: int
    height: int
    width: int
    taps: Taps = ((0, 0),)
    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    offset: Pair = (0, 0)
    shift_features: int = 0
    shift_bias: int = 0
    post: Post = Post()
    at: Pair = (0, 0)
    by: Pair = (1, 1)
    weights: Tile | None = None
    biases: Array | None = None
    phase: int = 0
    macs: int = 0
    across: int = 1
    window: tuple[int, int, int, int] | None = None
    blocks: list[list[int]] | None = None
    scale: Tensor | None = None

    @property
    def reach(self) -> Pair:
        """Input rows and columns under a window."""
        tall = max(r for r, _ in self.taps) * self.dilation[0] + 1
        return tall, max(s for _, s in self.taps) * self.dilation[1] + 1

    @property
    def output_tiles(self) -> list[int]:
        """Output channels of every tile."""
        if self.kind == "dense":
            return channel_tiles(self.outputs * self.across)
        return [source.channels for source in self.sources]

    def sources_of(self, output_tile: int) -> list[int]:
        """Which sources a tile of outputs sums over: of groups, those that are not all zeros."""
        if self.kind != "dense":
            return [output_tile]
        return self.blocks[output_tile] if self.blocks else list(range(len(self.sources)))

    @property
    def is_exact(self) -> bool:
        """Whether the bias may have a pass of its own: it or products end with a sum's last bit."""
        if self.shift_features >= CUT or self.biases is None:
            return True
        shifted = self.biases.astype(np.int64) << self.shift_bias
        accumulated = np.clip(shifted, -(1 << 25), (1 << 25) - 1)
        return not (accumulated % (1 << CUT)).any()

    @property
    def made(self) -> Pair:
        """Height and width behind pooling."""
        pool = self.post.pool
        if pool is None:
            return self.height, self.width
        top, bottom, left, right = pool.padding
        tall = (self.height + top + bottom - pool.height) // pool.stride_y + 1
        return tall, (self.width + left + right - pool.width) // pool.stride_x + 1

    @property
    def shape(self) -> tuple[object, ...]:
        """Equal for steps that are scheduled alike."""
        post = replace(self.post, residual=None)
        is_added = self.post.residual is not None
        channels = tuple(source.channels for source in self.sources)
        size = (self.height, self.width, self.across, self.taps, self.stride, self.dilation)
        blocks = tuple(tuple(self.sources_of(k)) for k in range(len(self.output_tiles)))
        is_scaled = self.scale is not None
        return (self.kind, channels, blocks, *size, post, is_added, is_scaled, self.target.border)

    def reads(self) -> list[Tensor]:
        """Tensors that must be there."""
        tensors = list(dict.fromkeys(source.tensor for source in self.sources))
        return tensors + [x for x in (self.post.residual, self.scale) if x is not None]


@dataclass(frozen=True)
class Input:
    """A tensor that the host writes: network input `index` as it is, or columns for a layer.

    Columns are the windows of `across` pixels side by side.
    """

    index: int
    tensor: Tensor
    columns_of: int = 0
    across: int = 1


@dataclass
class Lowered:
    """The steps of a network in order, what the host writes, and the layers' tensors."""

    steps: list[Step] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    tensors: dict[int, Tensor] = field(default_factory=dict)
    outputs: list[int] = field(default_factory=list)


def lower(network: Network) -> Lowered:
    """The steps of a quantised network; `need_borders` comes when they stay as they are."""
    lowered = Lowered(outputs=list(network.outputs))
    plain: set[int] = set()
    for layer in network.layers:
        parts = [] if layer.enhanced else layer.input_layer
        plain.update((*parts, *layer.residual_source, *layer.scale_source))
    for number, (_, height, width, channels) in enumerate(network.input_sizes):
        tensor = Tensor(f"input {number}", height, width, channels)
        lowered.tensors[-number] = tensor
        if -number in plain:
            lowered.inputs.append(Input(number, tensor))
    for layer in network.layers:
        _Lowering(network, layer, lowered).run()
    return lowered


def need_borders(lowered: Lowered) -> None:
    """Give tensors the borders that the windows of their readers reach."""
    for step in lowered.steps:
        tall, wide = step.reach
        top, left = step.offset
        bottom = top + (step.height - 1) * step.stride[0] + tall
        right = left + (step.width // step.across - 1) * step.stride[1] + wide
        for tensor in {source.tensor for source in step.sources}:
            tensor.need(
                max(0, -top),
                max(0, bottom - tensor.height),
                max(0, -left),
                max(0, right - tensor.width),
            )


class _Lowering:
    """One layer to steps."""

    def __init__(self, network: Network, layer: Layer, lowered: Lowered):
        self.network = network
        self.layer = layer
        self.lowered = lowered
        height, width, channels = sizes.made_size(network, layer)
        self.target = Tensor(f"layer {layer.index}", height, width, channels)
        self.parts = [lowered.tensors[producer] for producer in layer.input_layer]
        self.height, self.width = sizes.multiplied_size(network, layer)

    def run(self) -> None:
        """Append the layer's steps."""
        layer = self.layer
        if len(layer.residual_source) > 1:
            raise ArgumentError(f"layer {layer.index} {layer.name} adds more than one residual")
        if layer.enhanced and (len(layer.input_layer) > 1 or layer.input_layer[0] > 0):
            raise ArgumentError(
                f"layer {layer.index} {layer.name}: only an input is stored as columns"
            )
        self.lowered.tensors[layer.index] = self.target
        if layer.type == LayerType.TRANSPOSED:
            # A step for each phase of the stride, and a copy for what cannot be done by phases.
            step = self._step("dense", tiles_of(self.parts), macs=self._macs())
            post = step.post
            if post.pool or post.residual or post.upsample > 1:
                step.target = Tensor(
                    f"sums {self.layer.index}", self.height, self.width, step.outputs
                )
                step.post = Post()
            for phase_y in range(min(self.layer.ker_stride[1], self.height)):
                for phase_x in range(min(self.layer.ker_stride[2], self.width)):
                    self._add(self._phase(step, phase_y, phase_x))
            if step.target is not self.target:
                sources = tiles_of([step.target])
                self._add(self._step("copy", sources, shift_features=16, biases=None))
        elif not layer.has_weights or sizes.is_depthwise(layer):
            self._lane_by_lane()
        else:
            self._dense()

    def _add(self, step: Step) -> None:
        self.lowered.steps.append(step)

    def _step(self, kind: str, sources: list[Source], **more: object) -> Step:
        layer = self.layer
        position = layer.output_fraclen + 18
        pool = None
        if layer.pooling_type != Pooling.NONE:
            (_, tall, wide), (_, step_y, step_x) = layer.pooling_size, layer.pooling_stride
            a, b, c, d = layer.pool_padding_size
            pool = Pool(
                kind=int(layer.pooling_type),
                height=tall,
                width=wide,
                stride_y=step_y,
                stride_x=step_x,
                padding=(a, b, c, d),
            )
        residual = self.lowered.tensors[layer.residual_source[0]] if layer.residual else None
        order = layer.res_position if residual else Order.ACTIVATION_POOLING
        is_swish = layer.activation_type == Activation.HARD_SWISH
        limit = 127
        if layer.activation_limit is not None and layer.activation_type == Activation.RELU:
            scaled = layer.activation_limit * 2.0**layer.output_fraclen
            limit = int(min(127, max(0, np.floor(scaled + 0.5))))
        step = Step(
            layer.index,
            kind,
            sources,
            self.target,
            layer.output_size[3],
            self.height,
            self.width,
            shift_features=position - layer.input_fraclen - layer.weight_fraclen,
            shift_bias=position - layer.bias_fraclen,
            post=Post(
                order=int(order),
                activation=int(layer.activation_type),
                limit=limit,
                fraction=layer.output_fraclen if is_swish else 0,
                pool=pool,
                residual=residual,
                upsample=max(1, layer.upsample),
            ),
            biases=self.network.int_biases.get(layer.index),
        )
        return replace(step, **more)  # type: ignore[arg-type]

    def _dense(self) -> None:
        layer = self.layer
        if layer.enhanced:
            self._columns()
            return
        top, _, left, _ = sizes.border(self.network, layer)
        tall, wide = sizes.kernel_size(self.network, layer)
        is_conv = layer.type == LayerType.CONVOLUTION
        step = self._step(
            "dense",
            tiles_of(self.parts),
            taps=tuple((r, s) for r in range(tall) for s in range(wide)),
            stride=(layer.ker_stride[1], layer.ker_stride[2]) if is_conv else (1, 1),
            dilation=(layer.dilation[1], layer.dilation[2]),
            offset=(-top, -left),
            weights=self._tiles(self._grouped if layer.group > 1 else self._plain),
            macs=self._macs(),
        )
        self._add(replace(step, blocks=self._blocks(step)) if layer.group > 1 else step)

    def _blocks(self, step: Step) -> list[list[int]]:
        """The sources that groups read; the first stays where the bias needs its pass."""
        starts, group = _starts(step.sources), self.layer.group
        each, every = starts[-1] // group, step.outputs // group
        found = []
        for k in range(len(step.output_tiles)):
            first = k * CHANNELS // every * each
            last = ((min(step.outputs, (k + 1) * CHANNELS) - 1) // every + 1) * each
            reads = [
                c for c in range(len(step.sources)) if starts[c] < last and first < starts[c + 1]
            ]
            found.append(reads if step.is_exact or not reads[0] else [0, *reads])
        return found

    def _columns(self) -> None:
        layer = self.layer
        tall, wide = sizes.kernel_size(self.network, layer)
        columns = layer.input_size[3] * tall * wide
        tensor = Tensor(f"columns {layer.index}", self.height, self.width, columns)
        self.lowered.inputs.append(Input(-layer.input_layer[0], tensor, layer.index))
        weights = self._whole()[::-1, ::-1].transpose(2, 0, 1, 3).reshape(1, columns, -1)
        sources = tiles_of([tensor])

        def tile(k: int, c: int, taps: slice) -> Array:
            return weights[taps, c * CHANNELS :][:, :CHANNELS, k * CHANNELS :][..., :CHANNELS]

        window = (layer.input_size[3], tall, wide, layer.ker_stride[2])
        is_plain = layer.dilation[2] == 1
        step = self._step("dense", sources, weights=tile, macs=self._macs())
        self._add(replace(step, window=window if is_plain else None))

    def _lane_by_lane(self) -> None:
        layer = self.layer
        top, _, left, _ = sizes.border(self.network, layer)
        sources = tiles_of(self.parts)
        if any(source.channels < CHANNELS for source in sources[:-1]):
            sources = tiles_of([self._joined()])
        if layer.type == LayerType.NONE:
            shift = 16 + layer.output_fraclen - layer.input_fraclen
            if not 0 <= shift < 32:
                raise ArgumentError(f"layer {layer.index} {layer.name}: shift {shift - 16}")
            step = self._step("copy", sources, shift_features=shift, biases=None)
            self._add(replace(step, offset=(-top, -left)))
            return
        if layer.type == LayerType.SCALE:
            scale = self.lowered.tensors[layer.scale_source[0]]
            step = self._step("depthwise", sources, scale=scale, macs=self._macs())
            zeros = np.zeros(layer.output_size[3], np.int16)
            self._add(replace(step, offset=(-top, -left), biases=zeros))
            return
        tall, wide = layer.ker_size[1:]
        weights = self._whole().reshape(tall * wide, -1)

        def tile(k: int, c: int, taps: slice) -> Array:
            return weights[taps, k * CHANNELS :][:, :CHANNELS, None]

        self._add(
            self._step(
                "depthwise",
                sources,
                taps=tuple((r, s) for r in range(tall) for s in range(wide)),
                stride=(layer.ker_stride[1], layer.ker_stride[2]),
                dilation=(layer.dilation[1], layer.dilation[2]),
                offset=(-top, -left),
                weights=tile,
                macs=self._macs(),
            )
        )

    def _joined(self) -> Tensor:
        """The parts of the concat in one tensor, by a convolution that moves lanes: 64 is one."""
        height, width, channels = sizes.input_size(self.network, self.layer)
        joined = Tensor(f"joined {self.layer.index}", height, width, channels)
        identity = np.eye(channels, dtype=np.int8) * np.int8(64)
        starts = _starts(tiles_of(self.parts))

        def tile(k: int, c: int, taps: slice) -> Array:
            return identity[None, starts[c] : starts[c + 1], k * CHANNELS :][..., :CHANNELS]

        self._add(
            Step(
                self.layer.index,
                "dense",
                tiles_of(self.parts),
                joined,
                channels,
                height,
                width,
                shift_features=12,
                weights=tile,
                biases=np.zeros(channels, np.int16),
                phase=-1,
            )
        )
        return joined

    def _phase(self, step: Step, phase_y: int, phase_x: int) -> Step:
        layer = self.layer
        top, _, left, _ = sizes.border(self.network, layer)
        _, stride_y, stride_x = layer.ker_stride
        rows = _phase_taps(layer.ker_size[1], stride_y, phase_y + top)
        columns = _phase_taps(layer.ker_size[2], stride_x, phase_x + left)
        first_y = min((at for _, at in rows), default=0)
        first_x = min((at for _, at in columns), default=0)
        taps = tuple((y - first_y, x - first_x) for _, y in rows for _, x in columns)
        chosen = [(r, s) for r, _ in rows for s, _ in columns]
        whole = self._whole()
        picked = np.zeros((max(1, len(chosen)), *whole.shape[2:]), np.int8)
        for number, (r, s) in enumerate(chosen):
            picked[number] = whole[r, s]
        return replace(
            step,
            height=-(-(self.height - phase_y) // stride_y),
            width=-(-(self.width - phase_x) // stride_x),
            taps=taps or ((0, 0),),
            offset=(first_y, first_x) if taps else (0, 0),
            at=(phase_y, phase_x),
            by=(stride_y, stride_x),
            weights=self._tiles(lambda k, c, taps: picked[taps][:, c, k]),
            phase=phase_y * stride_x + phase_x,
            macs=step.macs if phase_y == phase_x == 0 else 0,
        )

    def _whole(self) -> Array:
        index = self.layer.index
        if index not in self.network.int_weights:
            raise ArgumentError(
                f"layer {index} {self.layer.name} has no integer weights: quantise the "
                "network first"
            )
        return self.network.int_weights[index]

    def _tiles(self, cut: Callable[[slice, slice, slice], Array]) -> Tile:
        starts = _starts(tiles_of(self.parts))

        def tile(k: int, c: int, taps: slice) -> Array:
            outputs = slice(k * CHANNELS, (k + 1) * CHANNELS)
            return cut(outputs, slice(starts[c], starts[c + 1]), taps)

        return tile

    def _plain(self, outputs: slice, channels: slice, taps: slice) -> Array:
        whole = self._whole()
        return whole.reshape(-1, *whole.shape[2:])[taps, channels, outputs]

    def _grouped(self, outputs: slice, channels: slice, taps: slice) -> Array:
        """A dense tile of a grouped convolution: zeros but for the blocks."""
        whole = self._whole()
        whole = whole.reshape(-1, *whole.shape[2:])[taps]
        each, every = whole.shape[1], whole.shape[2] // self.layer.group
        to = np.arange(whole.shape[2])[outputs]
        reads = np.arange(channels.start, channels.stop)
        inside = reads[:, None] - (to // every * each)[None]
        is_read = (inside >= 0) & (inside < each)
        tile: Array = whole[:, np.clip(inside, 0, each - 1), to[None]] * is_read
        return tile

    def _macs(self) -> int:
        """Useful multiplications."""
        layer = self.layer
        tall, wide = sizes.kernel_size(self.network, layer)
        if layer.type == LayerType.SCALE:
            return self.height * self.width * layer.output_size[3]
        each = tall * wide * (sum(p.channels for p in self.parts) // layer.group)
        if layer.type == LayerType.TRANSPOSED:
            height, width, _ = sizes.input_size(self.network, layer)
            return height * width * each * layer.output_size[3]
        return self.height * self.width * each * layer.output_size[3]


def _phase_taps(kernel: int, stride: int, first: int) -> list[Pair]:
    """Taps of a phase, and the input pixel of each beside output 0."""
    return [(r, (first - r) // stride) for r in range(kernel) if (first - r) % stride == 0]


def tiles_of(tensors: list[Tensor]) -> list[Source]:
    """Channel tiles of joined tensors; each is cut for itself."""
    return [
        Source(tensor, group, channels)
        for tensor in tensors
        for group, channels in enumerate(channel_tiles(tensor.channels))
    ]


def _starts(sources: list[Source]) -> list[int]:
    starts = [0]
    for source in sources:
        starts.append(starts[-1] + source.channels)
    return starts


__all__ = [
    "Input",
    "Lowered",
    "Post",
    "Source",
    "Step",
    "Tensor",
    "lower",
    "need_borders",
    "tiles_of",
]
