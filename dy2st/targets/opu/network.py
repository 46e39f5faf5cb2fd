"""Network: the layers of a Program, their parameters, and what goes in and comes out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dy2st.targets.opu.layer import Layer

Array = np.ndarray[Any, Any]


@dataclass
class Network:
    """Layers by `index` - 1, and arrays by layer index.

    weights       float32 (kh, kw, c / group, o); of a fully connected layer (h, w, c, o), its
                  input's size; of a transposed one (kh, kw, c, o), not turned.
    biases        float32 (o,); zeros where there is none.
    int_weights   int8, value = integer * 2 ** -weight_fraclen; there once it is quantised.
    int_biases    int16.
    input_sizes   (n, h, w, c) of every network input, without padding. Layers name input i as
                  producer -i: 0 is the first, -1 the second.
    outputs       for every network output: the layer's index.
    epilogues     what the host computes on outputs, as `Module.epilogues` has it for a Program.
    """

    layers: list[Layer]
    weights: dict[int, Array] = field(default_factory=dict)
    biases: dict[int, Array] = field(default_factory=dict)
    int_weights: dict[int, Array] = field(default_factory=dict)
    int_biases: dict[int, Array] = field(default_factory=dict)
    input_sizes: list[tuple[int, int, int, int]] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    epilogues: dict[int, tuple[str, dict[str, Any]]] = field(default_factory=dict)

    def layer(self, index: int) -> Layer:
        """The layer of an index, which counts from 1."""
        return self.layers[index - 1]


__all__ = ["Array", "Network"]
