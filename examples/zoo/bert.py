"""BERT (Devlin et al. 2018): embeddings, transformer encoder and pooler; defaults are base."""

from __future__ import annotations

import math

import dy2st
from dy2st import Tensor, nn
from dy2st.nn import functional as F


class Embeddings(nn.Layer):
    """The sum of what the word, its place and its segment are worth."""

    def __init__(self, words: int, places: int, segments: int, width: int, dropout: float):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(places, width)
        self.segments = nn.Embedding(segments, width)
        self.norm = nn.LayerNorm(width, 1e-12)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, segments: Tensor) -> Tensor:
        places = dy2st.arange(tokens.shape[1])
        x = self.words(tokens) + self.places(places) + self.segments(segments)
        return self.dropout(self.norm(x))


class Attention(nn.Layer):
    """Every head attends to where the additive mask is not far below zero."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.heads, self.scale = heads, 1.0 / math.sqrt(width // heads)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def split(self, x: Tensor) -> Tensor:
        """(n, length, width) -> (n, heads, length, width / heads)."""
        n, length, width = x.shape
        return x.reshape([n, length, self.heads, width // self.heads]).transpose([0, 2, 1, 3])

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = dy2st.matmul(q, k, transpose_y=True) * self.scale + mask
        mixed = dy2st.matmul(self.dropout(F.softmax(scores, axis=-1)), v)
        return self.out(mixed.transpose([0, 2, 1, 3]).reshape(x.shape))


class Block(nn.Layer):
    """Attention and a two-layer network, each with a residual and a norm behind it."""

    def __init__(self, width: int, heads: int, inner: int, dropout: float):
        super().__init__()
        self.attention = Attention(width, heads, dropout)
        self.norm1 = nn.LayerNorm(width, 1e-12)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm2 = nn.LayerNorm(width, 1e-12)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.norm1(x + self.dropout(self.attention(x, mask)))
        return self.norm2(x + self.dropout(self.down(F.gelu(self.up(x)))))


class Bert(nn.Layer):
    """Tokens, segments, mask (n, length) -> states (n, length, width) and their pool (n, width)."""

    def __init__(
        self,
        words: int = 30522,
        places: int = 512,
        segments: int = 2,
        width: int = 768,
        depth: int = 12,
        heads: int = 12,
        inner: int = 3072,
        dropout: float = 0.1,
    ):
        super().__init__()
        self.embeddings = Embeddings(words, places, segments, width, dropout)
        self.blocks = nn.LayerList(Block(width, heads, inner, dropout) for _ in range(depth))
        self.pooler = nn.Linear(width, width)

    def forward(self, tokens: Tensor, segments: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        hidden = (1.0 - mask.astype("float32")) * -10000.0
        hidden = hidden.unsqueeze([1, 2])  # (n, 1, 1, length)
        x = self.embeddings(tokens, segments)
        for block in self.blocks:
            x = block(x, hidden)
        return x, F.tanh(self.pooler(x[:, 0]))
