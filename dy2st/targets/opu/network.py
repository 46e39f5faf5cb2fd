"""Defines a Network: the layers of a Program, their parameters, and what goes in and comes out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dy2st.targets.opu.layer import Layer
from dy2st_runtime.ir import Program

Array = np.ndarray[Any, Any]


@dataclass
class Tail:
    """What the host computes: a Program from what `Network.outputs` make to the model's outputs.

    state    the arrays of its buffers.
    inputs   places of the model's inputs that it takes besides, behind the others.
    """

    program: Program
    state: dict[str, Array] = field(default_factory=dict)
    inputs: list[int] = field(default_factory=list)


@dataclass
class Network:
    """Layers by `index` - 1, and arrays by layer index.

    weights       float32 (kh, kw, c / group, o); of a fully connected layer (h, w, c, o), its
                  input's size; of a transposed one (kh, kw, c, o): tap (r, s) adds an input pixel
                  (y, x) to (y * stride + r - top, x * stride + s - left).
    biases        float32 (o,); zeros where there is none.
    int_weights   int8, value = integer * 2 ** -weight_fraclen; there once it is quantised.
    int_biases    int16.
    input_sizes   (n, h, w, c) of every network input, without padding. Layers name input i as
                  producer -i: 0 is the first, -1 the second. Zeros: no layer reads that input.
    outputs       for every network output: the layer's index.
    epilogues     what the host computes on outputs, as `Module.epilogues` has it for a Program.
    tail          what the host computes before the epilogues; None of a network from a file.
    input_orders  how the model's inputs become images: "NCHW", "NHWC", "NCL" or "NC".
    notes         what the user should know: where a layer is not just what the model says.
    """

    layers: list[Layer]
    weights: dict[int, Array] = field(default_factory=dict)
    biases: dict[int, Array] = field(default_factory=dict)
    int_weights: dict[int, Array] = field(default_factory=dict)
    int_biases: dict[int, Array] = field(default_factory=dict)
    input_sizes: list[tuple[int, int, int, int]] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    epilogues: dict[int, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    tail: Tail | None = None
    input_orders: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def layer(self, index: int) -> Layer:
        """The layer of an index, which counts from 1."""
        return self.layers[index - 1]


__all__ = ["Array", "Network", "Tail"]
