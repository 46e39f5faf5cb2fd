"""Defines a layer, one step of the OPU, with exactly the keys of `OPU_IR.json`.

[concat] [padding] (fully connected | convolution | transposed | scale | none) [bias]
    {residual, activation, pooling, in the order of res_position} [upsample] [post padding]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum


class LayerType(IntEnum):
    """What is multiplied."""

    FULLY_CONNECTED = 0  # a convolution whose kernel is all of the input
    CONVOLUTION = 1  # depthwise too: group == input channels == output channels
    TRANSPOSED = 2
    NONE = 3  # pooling, activation or residual of the input as it is
    SCALE = 4  # every channel times the only pixel that another layer makes of it


class Pooling(IntEnum):
    """How a window becomes a number."""

    NONE = 0
    MAX = 1
    AVERAGE = 2


class Activation(IntEnum):
    """relu with a limit is relu with `activation_limit`."""

    NONE = 0
    RELU = 1
    LEAKY = 2  # x / 8 for negative x
    HARD_SWISH = 4  # x * min(max(x + 3, 0), 6) / 6; 3 is the public number of a hard sigmoid


class Order(IntEnum):
    """`res_position`: the order behind the bias."""

    RESIDUAL_ACTIVATION_POOLING = 0
    ACTIVATION_RESIDUAL_POOLING = 1
    ACTIVATION_POOLING_RESIDUAL = 2
    ACTIVATION_POOLING = 3


@dataclass
class Layer:
    """One line of the file; sizes are (n, h, w, c), paddings (top, bottom, left, right).

    index            from 1 on, producers before consumers.
    input_layer      producers, 0 for the network's input; several are joined along channels.
    output_layer     layers that read it as `input_layer`, and -1 if it is an output of the network;
                     who adds it as a residual is not among them.
    residual_source  producers that are added; they are not put into `input_layer` for that.
    *_fraclen        value = integer * 2 ** -fraclen.
    post_padding_*   zeros that are stored around the output for its consumers: `output_size` and
                     the consumers' `input_size` have them, and their padding_size is then 0.
                     The mode is 1 in a network that is laid out so, in all its layers; else 0.
    pre_remove_*     what of the stored border this layer does not read.
                     The padding of a transposed convolution is cut off its result and stays;
                     a negative number adds to it.
    extra_pre_padding  `input_size` has the border with which the network's input is stored, as far
                     as this layer reads it: its padding_size, which stays. Stored is the widest.

    Of ours, with defaults, after those of the known file:

    name, location   the operator and the source line that it comes from.
    activation_limit the upper limit of a clipped relu, as a real number.
    enhanced         the network's input is stored as columns of the kernel's windows: the
                     convolution runs as 1 x 1 with c * kh * kw channels.
    input_channels   channels of every part of the input.
    scale_source     what a layer that scales multiplies by: its weight_fraclen is that producer's
                     output_fraclen. Like residuals, it is not in `input_layer`.
    """

    index: int
    type: int
    input_layer: list[int]
    output_layer: list[int]
    input_size: list[int]
    output_size: list[int]
    ker_size: list[int] = field(default_factory=lambda: [1, 1, 1])
    ker_stride: list[int] = field(default_factory=lambda: [1, 1, 1])
    pooling_size: list[int] = field(default_factory=lambda: [1, 1, 1])
    pooling_stride: list[int] = field(default_factory=lambda: [1, 1, 1])
    pooling_type: int = Pooling.NONE
    pool_padding_size: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    padding_size: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    activation_type: int = Activation.NONE
    residual: int = 0
    residual_source: list[int] = field(default_factory=list)
    res_position: int = Order.ACTIVATION_POOLING
    output_choice: list[int] = field(default_factory=lambda: [3, -1])
    group: int = 1
    dilation: list[int] = field(default_factory=lambda: [1, 1, 1])
    channel_shuffle: int = 0
    upsample: int = 0
    upsample_method: str = "nearest_neighbor"
    data_layout: str = "NCHW"
    kernel_layout: str = "OIHW"
    input_fraclen: int = 0
    output_fraclen: int = 0
    weight_fraclen: int = 0
    bias_fraclen: int = 0
    post_padding: int = 0
    post_padding_mode: int = 0
    post_padding_size: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    pre_remove_padding_size: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    extra_pre_padding: int = 0
    # -- ours ----------------------------------------------------------------------------------
    name: str = ""
    location: str = ""
    activation_limit: float | None = None
    enhanced: int = 0
    input_channels: list[int] = field(default_factory=list)
    scale_source: list[int] = field(default_factory=list)

    @property
    def has_weights(self) -> bool:
        """Whether there are arrays of weights and biases."""
        return self.type not in (LayerType.NONE, LayerType.SCALE)


__all__ = ["Activation", "Layer", "LayerType", "Order", "Pooling"]
