"""A classifier of sentences: stacked LSTM cells in a Python loop over the words."""

from __future__ import annotations

import dy2st
from dy2st import Tensor, nn


class LSTMClassifier(nn.Layer):
    """Tokens (n, length), any length -> logits (n, classes)."""

    def __init__(
        self,
        words: int = 10000,
        width: int = 256,
        depth: int = 2,
        classes: int = 2,
    ):
        super().__init__()
        self.width = width
        self.words = nn.Embedding(words, width)
        self.cells = nn.LayerList(nn.LSTMCell(width, width) for _ in range(depth))
        self.dropout = nn.Dropout(0.5)
        self.classify = nn.Linear(width, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        empty = dy2st.zeros([tokens.shape[0], self.width])
        states = [(empty, empty) for _ in self.cells]
        last = empty
        for word in self.words(tokens).transpose([1, 0, 2]):
            last = word
            for place, cell in enumerate(self.cells):
                last, states[place] = cell(last, states[place])
        return self.classify(self.dropout(last))
