"""Cases of beam search."""

from __future__ import annotations

from typing import Any

from tests.runtime.nn.of_paddle.cases import Cases, wave

CASES = Cases("decoding")
STATE = wave(2, 6, phase=0.4)


def search(kind: str, steps: int, **settings: Any) -> Any:
    """A beam search of a cell, of known parameters, from a state."""

    def make(nn: Any) -> Any:
        cell, embedding, output = getattr(nn, kind)(6, 6), nn.Embedding(8, 6), nn.Linear(6, 8)
        for start, layer in ((0.1, cell), (1.3, embedding), (2.2, output)):
            for number, parameter in enumerate(layer.parameters()):
                parameter.set_value(wave(*parameter.shape, phase=start + number, low=-2, high=2))
        decoder = nn.BeamSearchDecoder(cell, 0, 1, 3, embedding, output)

        def decode(state: Any) -> Any:
            inits = (state, state * 0.5) if kind == "LSTMCell" else state
            outputs, last, *lengths = nn.dynamic_decode(decoder, inits, steps, **settings)
            return outputs, last.log_probs, last.finished.astype("int64"), last.lengths, *lengths

        return decode

    return make


for cell in ("GRUCell", "LSTMCell", "SimpleRNNCell"):
    CASES.layer(cell, search(cell, 6, return_length=True), STATE, gradient=False)
CASES.layer("steps first", search("GRUCell", 3, output_time_major=True), STATE, gradient=False)
