"""Defines operations: what the OPU's engines do, and what one instruction block says.

Load and Store move rectangles of 64-byte words between DRAM and the buffers, Compute runs the
multipliers over a tile. Each waits until so many operations of every kind, counted from the start
of the program, are done. This is the meaning of a program; `words.py` has its bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

FRACTION = range(-16, 32)
"""Fraction lengths that a store's field holds."""


class Kind(IntEnum):
    """What a Load brings."""

    FEATURES = 0
    WEIGHTS = 1
    BIAS = 2
    RESIDUAL = 3  # features of a residual, beside those that are computed


@dataclass(frozen=True)
class Waits:
    """How many loads, computes and stores must be done before an operation may begin."""

    loads: int = 0
    computes: int = 0
    stores: int = 0


@dataclass(frozen=True)
class Origin:
    """Where an operation comes from: the layer's index and the tile, for reports."""

    layer: int
    tile: str = ""


@dataclass(frozen=True, kw_only=True)
class Load:
    """Bring `height` rows of `width` words, `pitch` words apart, to consecutive rows of a bank.

    A word of features is a row of the bank. Weights and bias are consecutive words (height 1): a
    row of the weight buffer takes macs / 64 of them, one of the bias buffer two.
    """

    kind: Kind
    address: int  # in DRAM words
    height: int
    width: int
    pitch: int
    bank: int
    row: int  # the first row of the bank that is filled
    waits: Waits = Waits()
    origin: Origin | None = None

    @property
    def words(self) -> int:
        """How many words are moved."""
        return self.height * self.width


@dataclass(frozen=True, kw_only=True)
class Compute:
    """Passes over one tile of up to 64 input and 64 output channels, one for every tap.

    The tile of the inputs is `in_width` wide from row `feature_row` on. For every tap (r, s) of
    `taps`, in their order, each pixel (y, x) of height x width outputs takes the input pixel
    (y * stride_y + r * dilation_y, x * stride_x + s * dilation_x) and the tap's weights:

        A = sat26(dot << shift_features)
        B = first pass and `first`: sat26(bias << shift_bias); else psum << 10
        psum = sat16((A + B) >> 10)

    Partial sums are row psum_row + y * width + x. Without `is_weighted` (layers without weights)
    the pass takes psum = sat16(feature << (8 + shift)), shift = output - input fraction length,
    and `shift_features` has shift + 16.
    With `is_depthwise` a pass takes up to macs / 64 taps of every channel at once: one cut for each
    group of that many taps. The weights of a single tap may be a word of features that was loaded
    as weights: channel by channel, they have the same form.
    """

    channels: int  # input channels of this tile
    outputs: int
    height: int
    width: int
    in_width: int
    stride_y: int = 1
    stride_x: int = 1
    dilation_y: int = 1
    dilation_x: int = 1
    taps: tuple[tuple[int, int], ...] = ((0, 0),)
    is_first: bool = True
    is_weighted: bool = True
    is_depthwise: bool = False
    shift_features: int = 0
    shift_bias: int = 0
    feature_bank: int = 0
    feature_row: int = 0
    weight_bank: int = 0
    weight_row: int = 0
    bias_bank: int = 0
    psum_row: int = 0
    waits: Waits = Waits()
    origin: Origin | None = None


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A window; padding (top, bottom, left, right) is at the edges of the layer's map only."""

    kind: int
    height: int
    width: int
    stride_y: int
    stride_x: int
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)


@dataclass(frozen=True, kw_only=True)
class Store:
    """Cut partial sums to int8, post-process them and write them to DRAM.

        y = sat8((psum >> 8) + bit7(psum))
        residual, activation, pooling in the order of `order`; then every pixel `upsample` times

    in each direction. The tile's partial sums are height x width from psum_row on. `pool.padding`
    says how much of the windows of this tile lies outside. The residual's features are in a bank,
    as the pixels that they are added to. The result is written from `address` on, rows `pitch`
    words apart, and pixels `step_y`, `step_x` apart (transposed convolutions). `border` writes so
    many rows and columns of zeros around this tile's part: (top, bottom, left, right), outside.
    A hard swish is of numbers with `fraction` bits behind the point: the output's fraction length.
    A row of partial sums may hold `across` pixels that are side by side, `outputs` lanes for each:
    the map that is post-processed is then height x (width * across).
    """

    outputs: int
    height: int
    width: int
    psum_row: int
    address: int
    pitch: int
    order: int = 3
    activation: int = 0
    limit: int = 127
    fraction: int = 0
    pool: Pool | None = None
    residual_bank: int | None = None
    residual_row: int = 0
    upsample: int = 1
    step_y: int = 1
    step_x: int = 1
    across: int = 1
    border: tuple[int, int, int, int] = (0, 0, 0, 0)
    waits: Waits = Waits()
    origin: Origin | None = None


Operation = Load | Compute | Store


@dataclass
class OpuProgram:
    """Operations in the order in which they are fetched, and the DRAM that they expect.

    initial   arrays of bytes by the DRAM word where they begin: weights, biases.
    inputs    for every network input: its word, and how it is stored (see layout.py).
    outputs   the same for outputs.
    """

    operations: list[Operation] = field(default_factory=list)


__all__ = [
    "FRACTION",
    "Compute",
    "Kind",
    "Load",
    "Operation",
    "OpuProgram",
    "Origin",
    "Pool",
    "Store",
    "Waits",
]
