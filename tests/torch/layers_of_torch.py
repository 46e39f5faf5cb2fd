# ruff: noqa: E501
"""All layers of torch.nn with arguments and inputs, and networks made of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import nn

F = nn.functional


class Case(NamedTuple):
    """A module and its inputs for a size of the batch and of a length, with the axes of these."""

    make: Any
    inputs: Any
    axes: Any = None
    """For each input the axes that are unknown; the first of each by default."""
    mode: str = "train"
    error: float = 1e-4


def rows(*shape: int) -> Any:
    """One input of floats: n samples of a shape."""
    return lambda n, length: (torch.randn(n, *shape),)


def pairs(*shape: int) -> Any:
    return lambda n, length: (torch.randn(n, *shape), torch.randn(n, *shape))


def sequences(size: int, is_first: bool = True) -> Any:
    return lambda n, length: (torch.randn(*((n, length) if is_first else (length, n)), size),)


def logits(count: int = 5) -> Any:
    return lambda n, length: (torch.randn(n, count), torch.randint(0, count, (n,)))


def positive(*shape: int) -> Any:
    return lambda n, length: (torch.rand(n, *shape) + 0.1, torch.rand(n, *shape) * 0.8 + 0.1)


def signs(*shape: int) -> Any:
    return lambda n, length: (torch.randn(n, *shape), torch.randint(0, 2, (n, *shape)) * 2 - 1)


class Unpooled(nn.Module):
    def __init__(self, pool: Any, unpool: Any):
        super().__init__()
        self.pool, self.unpool = pool, unpool

    def forward(self, x: Any) -> Any:
        values, places = self.pool(x)
        return self.unpool(values * 2, places)


class Tuples(nn.Module):
    """A module whose inputs are given as a tuple."""

    def __init__(self, inner: Any):
        super().__init__()
        self.inner = inner

    def forward(self, x: Any, h: Any, c: Any) -> Any:
        return self.inner(x, (h, c))


class Attention(nn.Module):
    def __init__(self, **named: Any):
        super().__init__()
        self.inner = nn.MultiheadAttention(8, 2, batch_first=True, **named)

    def forward(self, x: Any) -> Any:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.inner(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)[0]


BOTH = ((0, 1),)
LAYERS: dict[str, Case] = {
    **{
        name: Case(lambda name=name: getattr(nn, name)(), rows(3, 4))
        for name in (
            "ELU Hardshrink Hardsigmoid Hardtanh Hardswish LeakyReLU LogSigmoid ReLU ReLU6 SELU CELU GELU Sigmoid "
            "SiLU Mish Softplus Softshrink Softsign Tanh Tanhshrink Identity Flatten"
        ).split()
    },
    "PReLU": Case(lambda: nn.PReLU(3), rows(3, 4)),
    "RReLU": Case(lambda: nn.RReLU(), rows(3, 4), mode="eval"),
    "GELU tanh": Case(lambda: nn.GELU("tanh"), rows(3, 4)),
    "Threshold": Case(lambda: nn.Threshold(0.1, 20), rows(3, 4)),
    "GLU": Case(lambda: nn.GLU(1), rows(4, 3)),
    "Softmin": Case(lambda: nn.Softmin(1), rows(4, 3)),
    "Softmax": Case(lambda: nn.Softmax(1), rows(4, 3)),
    "Softmax2d": Case(lambda: nn.Softmax2d(), rows(4, 3, 3)),
    "LogSoftmax": Case(lambda: nn.LogSoftmax(1), rows(4, 3)),
    "Conv1d": Case(
        lambda: nn.Conv1d(4, 6, 3, padding=1),
        lambda n, length: (torch.randn(n, 4, length),),
        ((0, 2),),
    ),
    "Conv1d same": Case(
        lambda: nn.Conv1d(4, 6, 4, padding="same", dilation=2),
        lambda n, length: (torch.randn(n, 4, length),),
        ((0, 2),),
    ),
    "Conv2d": Case(
        lambda: nn.Conv2d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2), rows(4, 9, 8)
    ),
    "Conv2d reflect": Case(
        lambda: nn.Conv2d(4, 6, 3, padding=1, padding_mode="reflect"), rows(4, 9, 8)
    ),
    "Conv2d circular": Case(
        lambda: nn.Conv2d(4, 6, 3, padding=1, padding_mode="circular"), rows(4, 9, 8)
    ),
    "Conv3d": Case(lambda: nn.Conv3d(2, 4, 3), rows(2, 5, 6, 5)),
    "ConvTranspose1d": Case(lambda: nn.ConvTranspose1d(4, 6, 3, stride=2), rows(4, 7)),
    "ConvTranspose2d": Case(
        lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2),
        rows(4, 5, 6),
    ),
    "ConvTranspose3d": Case(lambda: nn.ConvTranspose3d(2, 4, 2, stride=2), rows(2, 3, 4, 3)),
    "Unfold": Case(lambda: nn.Unfold((2, 3), padding=1), rows(2, 5, 6)),
    "Fold": Case(lambda: nn.Fold((4, 5), (2, 2)), rows(3 * 4, 12)),
    "MaxPool1d": Case(lambda: nn.MaxPool1d(3, 2), rows(3, 9)),
    "MaxPool2d": Case(lambda: nn.MaxPool2d(3, 2, padding=1, ceil_mode=True), rows(3, 8, 9)),
    "MaxPool2d dilation": Case(lambda: nn.MaxPool2d(2, 1, dilation=2), rows(3, 8, 9)),
    "MaxPool3d": Case(lambda: nn.MaxPool3d(2), rows(3, 4, 6, 4)),
    "MaxUnpool1d": Case(
        lambda: Unpooled(nn.MaxPool1d(2, return_indices=True), nn.MaxUnpool1d(2)), rows(3, 8)
    ),
    "MaxUnpool2d": Case(
        lambda: Unpooled(nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)), rows(3, 6, 8)
    ),
    "MaxUnpool3d": Case(
        lambda: Unpooled(nn.MaxPool3d(2, return_indices=True), nn.MaxUnpool3d(2)), rows(2, 4, 4, 4)
    ),
    "AvgPool1d": Case(lambda: nn.AvgPool1d(3, 2, padding=1), rows(3, 9)),
    "AvgPool2d": Case(
        lambda: nn.AvgPool2d(3, 2, padding=1, ceil_mode=True, count_include_pad=False),
        rows(3, 8, 9),
    ),
    "AvgPool3d": Case(lambda: nn.AvgPool3d(2), rows(3, 4, 6, 4)),
    "LPPool1d": Case(lambda: nn.LPPool1d(2, 3), lambda n, _: (torch.rand(n, 3, 9) + 0.1,)),
    "LPPool2d": Case(lambda: nn.LPPool2d(2, 3), lambda n, _: (torch.rand(n, 3, 9, 8) + 0.1,)),
    "LPPool3d": Case(lambda: nn.LPPool3d(2, 2), lambda n, _: (torch.rand(n, 2, 4, 4, 4) + 0.1,)),
    "AdaptiveMaxPool1d": Case(lambda: nn.AdaptiveMaxPool1d(3), rows(3, 10)),
    "AdaptiveMaxPool2d": Case(lambda: nn.AdaptiveMaxPool2d((3, 2)), rows(3, 10, 7)),
    "AdaptiveMaxPool3d": Case(lambda: nn.AdaptiveMaxPool3d(2), rows(2, 5, 4, 3)),
    "AdaptiveAvgPool1d": Case(lambda: nn.AdaptiveAvgPool1d(3), rows(3, 10)),
    "AdaptiveAvgPool2d": Case(lambda: nn.AdaptiveAvgPool2d((3, None)), rows(3, 10, 7)),
    "AdaptiveAvgPool3d": Case(lambda: nn.AdaptiveAvgPool3d(2), rows(2, 5, 4, 3)),
    **{
        f"{kind}Pad{n}d": Case(
            lambda kind=kind, n=n: getattr(nn, f"{kind}Pad{n}d")((1, 2) * n), rows(2, *[5] * n)
        )
        for kind in ("Reflection", "Replication", "Zero", "Circular")
        for n in (1, 2, 3)
    },
    **{
        f"ConstantPad{n}d": Case(
            lambda n=n: getattr(nn, f"ConstantPad{n}d")(1, 3.5), rows(2, *[4] * n)
        )
        for n in (1, 2, 3)
    },
    "BatchNorm1d": Case(lambda: nn.BatchNorm1d(4), rows(4)),
    "BatchNorm2d": Case(lambda: nn.BatchNorm2d(4), rows(4, 3, 3)),
    "BatchNorm2d eval": Case(lambda: nn.BatchNorm2d(4), rows(4, 3, 3), mode="eval"),
    "BatchNorm2d bare": Case(
        lambda: nn.BatchNorm2d(4, affine=False, track_running_stats=False), rows(4, 3, 3)
    ),
    "BatchNorm3d": Case(lambda: nn.BatchNorm3d(4), rows(4, 2, 3, 2)),
    "GroupNorm": Case(lambda: nn.GroupNorm(2, 6), rows(6, 3, 4)),
    "InstanceNorm1d": Case(lambda: nn.InstanceNorm1d(4, affine=True), rows(4, 6)),
    "InstanceNorm2d": Case(lambda: nn.InstanceNorm2d(4), rows(4, 3, 5)),
    "InstanceNorm3d": Case(lambda: nn.InstanceNorm3d(4), rows(4, 2, 3, 2)),
    "LayerNorm": Case(lambda: nn.LayerNorm(6), sequences(6), BOTH),
    "LayerNorm two axes": Case(lambda: nn.LayerNorm((3, 6)), rows(3, 6)),
    "RMSNorm": Case(lambda: nn.RMSNorm(6), sequences(6), BOTH),
    "LocalResponseNorm": Case(lambda: nn.LocalResponseNorm(2), rows(4, 5, 5)),
    "RNN": Case(lambda: nn.RNN(5, 6, 2, nonlinearity="relu"), sequences(5, False), BOTH),
    "RNN bidirectional": Case(
        lambda: nn.RNN(5, 6, bidirectional=True, batch_first=True), sequences(5), BOTH
    ),
    "LSTM": Case(
        lambda: nn.LSTM(5, 6, 2, batch_first=True, bidirectional=True), sequences(5), BOTH
    ),
    "LSTM projected": Case(lambda: nn.LSTM(5, 6, proj_size=3), sequences(5, False), BOTH),
    "LSTM with states": Case(
        lambda: Tuples(nn.LSTM(5, 6)),
        lambda n, length: (torch.randn(length, n, 5), torch.randn(1, n, 6), torch.randn(1, n, 6)),
        ((0, 1), (1,), (1,)),
    ),
    "GRU": Case(lambda: nn.GRU(5, 6, 2, bias=False, batch_first=True), sequences(5), BOTH),
    "RNNCell": Case(lambda: nn.RNNCell(5, 6), lambda n, _: (torch.randn(n, 5), torch.randn(n, 6))),
    "LSTMCell": Case(
        lambda: Tuples(nn.LSTMCell(5, 6)),
        lambda n, _: (torch.randn(n, 5), torch.randn(n, 6), torch.randn(n, 6)),
    ),
    "GRUCell": Case(lambda: nn.GRUCell(5, 6), lambda n, _: (torch.randn(n, 5), torch.randn(n, 6))),
    "MultiheadAttention causal": Case(Attention, sequences(8), BOTH),
    "MultiheadAttention bare": Case(lambda: Attention(bias=False), sequences(8), BOTH),
    "TransformerEncoderLayer": Case(
        lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), sequences(8), BOTH
    ),
    "TransformerEncoder eval": Case(
        lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True),
            2,
            enable_nested_tensor=False,
        ),
        sequences(8),
        BOTH,
        "eval",
    ),
    "TransformerDecoderLayer": Case(
        lambda: nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True, norm_first=True),
        lambda n, length: (torch.randn(n, length, 8), torch.randn(n, 5, 8)),
        ((0, 1), (0,)),
    ),
    "Linear": Case(lambda: nn.Linear(5, 3), sequences(5), BOTH),
    "Bilinear": Case(
        lambda: nn.Bilinear(4, 3, 5), lambda n, _: (torch.randn(n, 4), torch.randn(n, 3))
    ),
    "Dropout eval": Case(lambda: nn.Dropout(), rows(5), mode="eval"),
    "Dropout2d eval": Case(lambda: nn.Dropout2d(), rows(5, 2, 2), mode="eval"),
    "AlphaDropout eval": Case(lambda: nn.AlphaDropout(), rows(5), mode="eval"),
    "Embedding": Case(
        lambda: nn.Embedding(9, 4, padding_idx=2),
        lambda n, length: (torch.randint(0, 9, (n, length)),),
        BOTH,
    ),
    "EmbeddingBag": Case(
        lambda: nn.EmbeddingBag(9, 4, mode="mean"), lambda n, _: (torch.randint(0, 9, (n, 6)),)
    ),
    "EmbeddingBag max": Case(
        lambda: nn.EmbeddingBag(9, 4, mode="max"), lambda n, _: (torch.randint(0, 9, (n, 6)),)
    ),
    "CosineSimilarity": Case(lambda: nn.CosineSimilarity(), pairs(5)),
    "PairwiseDistance": Case(lambda: nn.PairwiseDistance(), pairs(5)),
    "PixelShuffle": Case(lambda: nn.PixelShuffle(2), rows(8, 3, 4)),
    "PixelUnshuffle": Case(lambda: nn.PixelUnshuffle(2), rows(2, 4, 6)),
    "ChannelShuffle": Case(lambda: nn.ChannelShuffle(2), rows(4, 3, 3)),
    "Upsample nearest": Case(lambda: nn.Upsample(scale_factor=2), rows(2, 3, 4)),
    "Upsample bilinear": Case(
        lambda: nn.Upsample(scale_factor=1.5, mode="bilinear"), rows(2, 4, 6)
    ),
    "Upsample bicubic": Case(
        lambda: nn.Upsample((7, 9), mode="bicubic", align_corners=True), rows(2, 4, 6)
    ),
    "Upsample trilinear": Case(
        lambda: nn.Upsample(scale_factor=2, mode="trilinear"), rows(2, 2, 3, 2)
    ),
    "UpsamplingNearest2d": Case(lambda: nn.UpsamplingNearest2d((5, 7)), rows(2, 3, 4)),
    "UpsamplingBilinear2d": Case(lambda: nn.UpsamplingBilinear2d(scale_factor=2), rows(2, 3, 4)),
    "Unflatten": Case(lambda: nn.Unflatten(1, (2, 3)), rows(6)),
    "weight_norm": Case(lambda: nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)), rows(4)),
    "spectral_norm eval": Case(
        lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3)), rows(4), mode="eval"
    ),
    "L1Loss": Case(lambda: nn.L1Loss(), pairs(4)),
    "MSELoss": Case(lambda: nn.MSELoss(reduction="sum"), pairs(4)),
    "HuberLoss": Case(lambda: nn.HuberLoss(delta=0.7), pairs(4)),
    "SmoothL1Loss": Case(lambda: nn.SmoothL1Loss(beta=0.5), pairs(4)),
    "CrossEntropyLoss": Case(
        lambda: nn.CrossEntropyLoss(label_smoothing=0.1, weight=torch.rand(5) + 0.5), logits()
    ),
    "NLLLoss": Case(lambda: nn.NLLLoss(), logits()),
    "PoissonNLLLoss": Case(lambda: nn.PoissonNLLLoss(full=True), positive(4)),
    "KLDivLoss": Case(lambda: nn.KLDivLoss(reduction="batchmean"), positive(4)),
    "BCELoss": Case(
        lambda: nn.BCELoss(), lambda n, _: (torch.rand(n, 3) * 0.8 + 0.1, torch.rand(n, 3))
    ),
    "BCEWithLogitsLoss": Case(
        lambda: nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.0, 2.0, 3.0])),
        lambda n, _: (torch.randn(n, 3), torch.rand(n, 3)),
    ),
    "SoftMarginLoss": Case(lambda: nn.SoftMarginLoss(), signs(4)),
    "HingeEmbeddingLoss": Case(lambda: nn.HingeEmbeddingLoss(), signs(4)),
    "MarginRankingLoss": Case(
        lambda: nn.MarginRankingLoss(0.1),
        lambda n, _: (torch.randn(n), torch.randn(n), torch.sign(torch.randn(n))),
    ),
    "MultiMarginLoss": Case(lambda: nn.MultiMarginLoss(), logits()),
    "MultiLabelMarginLoss": Case(
        lambda: nn.MultiLabelMarginLoss(),
        lambda n, _: (torch.randn(n, 4), torch.tensor([[3, 0, -1, 1]]).repeat(n, 1)),
    ),
    "MultiLabelSoftMarginLoss": Case(
        lambda: nn.MultiLabelSoftMarginLoss(),
        lambda n, _: (torch.randn(n, 4), torch.randint(0, 2, (n, 4)).float()),
    ),
    "CosineEmbeddingLoss": Case(
        lambda: nn.CosineEmbeddingLoss(),
        lambda n, _: (torch.randn(n, 4), torch.randn(n, 4), torch.sign(torch.randn(n))),
    ),
    "TripletMarginLoss": Case(
        lambda: nn.TripletMarginLoss(),
        lambda n, _: (torch.randn(n, 4), torch.randn(n, 4), torch.randn(n, 4)),
    ),
    "TripletMarginWithDistanceLoss": Case(
        lambda: nn.TripletMarginWithDistanceLoss(),
        lambda n, _: (torch.randn(n, 4), torch.randn(n, 4), torch.randn(n, 4)),
    ),
}


# -- networks ---------------------------------------------------------------------------------


class Block(nn.Module):
    def __init__(self, before: int, after: int, stride: int = 1):
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.norm = nn.BatchNorm2d(after)
        self.second = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(after)
        self.down = (
            nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))
            if stride > 1 or before != after
            else None
        )

    def forward(self, x: Any) -> Any:
        kept = x if self.down is None else self.down(x)
        x = F.relu_(self.norm(self.first(x)))
        x = self.norm2(self.second(x))
        x += kept
        return F.relu(x)


class ResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 7, 2, 3, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1),
        )
        self.body = nn.Sequential(Block(8, 8), Block(8, 16, 2), Block(16, 32, 2))
        self.pool, self.head = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(32, 10)

    def forward(self, x: Any) -> Any:
        return self.head(torch.flatten(self.pool(self.body(self.stem(x))), 1))


class ViT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 4, 4)
        self.token = nn.Parameter(torch.randn(1, 1, 16))
        self.place = nn.Parameter(torch.randn(1, 17, 16))
        layer = nn.TransformerEncoderLayer(
            16, 4, 32, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 10)

    def forward(self, x: Any) -> Any:
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.place
        return self.head(self.norm(self.body(x))[:, 0])


class GPTBlock(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width)
        )
        self.heads = heads

    def forward(self, x: Any) -> Any:
        n, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).split(width, dim=2)
        q, k, v = (
            one.view(n, length, self.heads, width // self.heads).transpose(1, 2)
            for one in (q, k, v)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).contiguous().view(n, length, width))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """With the weight of the embedding as that of the head."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.place = nn.Embedding(20, 16), nn.Embedding(32, 16)
        self.body = nn.ModuleList([GPTBlock(16, 4) for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 20, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens: Any) -> Any:
        x = self.embed(tokens) + self.place(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.body:
            x = block(x)
        return self.head(self.norm(x))


class Llama(nn.Module):
    """Rotary places, grouped heads, a gated MLP."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.norm = nn.Embedding(20, 16), nn.RMSNorm(16)
        self.q, self.kv, self.out = (
            nn.Linear(16, 16, False),
            nn.Linear(16, 16, False),
            nn.Linear(16, 16, False),
        )
        self.gate, self.up, self.down = (
            nn.Linear(16, 24, False),
            nn.Linear(16, 24, False),
            nn.Linear(24, 16, False),
        )
        self.register_buffer("rate", 10000.0 ** (-torch.arange(0, 4, 2) / 4), persistent=False)

    def turned(self, x: Any) -> Any:
        angle = torch.outer(torch.arange(x.shape[2]).float(), self.rate)
        angle = torch.cat([angle, angle], -1)
        half = torch.cat([-x[..., 2:], x[..., :2]], -1)
        return x * angle.cos() + half * angle.sin()

    def forward(self, tokens: Any) -> Any:
        x = self.embed(tokens)
        n, length, _ = x.shape
        y = self.norm(x)
        q = self.turned(self.q(y).view(n, length, 4, 4).transpose(1, 2))
        k, v = self.kv(y).view(n, length, 2, 2, 4).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, self.turned(k), v, is_causal=True, enable_gqa=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, length, 16))
        return x + self.down(F.silu(self.gate(x)) * self.up(x))


class Tagger(nn.Module):
    """A recurrent network over words."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(30, 8)
        self.body = nn.LSTM(8, 6, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(12, 4)

    def forward(self, words: Any) -> Any:
        made, (h, _) = self.body(self.embed(words))
        return {"tags": self.head(made), "last": h[-1]}


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = (self._twice(*one) for one in ((3, 8), (8, 16), (16 + 8, 8)))
        self.up, self.head = nn.ConvTranspose2d(16, 16, 2, 2), nn.Conv2d(8, 2, 1)

    @staticmethod
    def _twice(before: int, after: int) -> Any:
        return nn.Sequential(
            nn.Conv2d(before, after, 3, padding=1),
            nn.GroupNorm(2, after),
            nn.SiLU(),
            nn.Conv2d(after, after, 3, padding=1),
            nn.SiLU(),
        )

    def forward(self, x: Any) -> Any:
        first = self.a(x)
        low = self.up(self.b(F.max_pool2d(first, 2)))
        return self.head(self.c(torch.cat([first, F.interpolate(low, size=first.shape[-2:])], 1)))


class Head(nn.Module):
    """A detector's: boxes from distances at each place, and scores."""

    def __init__(self) -> None:
        super().__init__()
        self.boxes, self.scores = nn.Conv2d(8, 4 * 8, 1), nn.Conv2d(8, 3, 1)

    def forward(self, x: Any) -> Any:
        n, _, height, width = x.shape
        ys, xs = torch.meshgrid(
            torch.arange(height) + 0.5, torch.arange(width) + 0.5, indexing="ij"
        )
        places = torch.stack([xs, ys]).view(1, 2, -1)
        sides = self.boxes(x).view(n, 4, 8, -1).softmax(2)
        sides = (sides * torch.arange(8.0).view(1, 1, 8, 1)).sum(2)
        near, far = sides.chunk(2, 1)
        boxes = torch.cat([places - near, places + far], 1).transpose(1, 2)
        scores = self.scores(x).flatten(2).transpose(1, 2).sigmoid()
        best, kind = scores.max(2)
        top, index = best.topk(3, dim=1)
        return boxes.gather(1, index.unsqueeze(-1).expand(-1, -1, 4)), top, kind.gather(1, index)


class Translator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Transformer(16, 4, 2, 2, 32, 0.0, batch_first=True)

    def forward(self, source: Any, target: Any) -> Any:
        mask = self.body.generate_square_subsequent_mask(target.shape[1])
        return self.body(source, target, tgt_mask=mask, tgt_is_causal=True)


class Counter(nn.Module):
    """Buffers that change, and a write into a part."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("n", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(4))
        self.head = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        self.n += 1
        self.mean.mul_(0.9).add_(x.detach().mean(0), alpha=0.1)
        y = self.head(x - self.mean)
        y[:, 0] = 0.5
        y[:, 1:3] *= 2
        return y / self.n


class Choosing(nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda x: x.exp(), lambda x: x * 2 + 1, (x,))


class Looping(nn.Module):
    def forward(self, x: Any) -> Any:
        def more(n: Any, x: Any) -> Any:
            return n < 5

        def step(n: Any, x: Any) -> Any:
            return n + 1, x * 1.5 + 1

        return torch.ops.higher_order.while_loop(
            more, step, (torch.zeros((), dtype=torch.int64), x), ()
        )[1]


NETWORKS: dict[str, Case] = {
    "ResNet": Case(ResNet, rows(3, 32, 32), error=3e-4),
    "ResNet eval": Case(ResNet, rows(3, 32, 32), mode="eval"),
    "ViT": Case(ViT, rows(3, 16, 16)),
    "GPT": Case(GPT, lambda n, length: (torch.randint(0, 20, (n, length)),), BOTH),
    "Llama": Case(Llama, lambda n, length: (torch.randint(0, 20, (n, length)),), BOTH),
    "Tagger": Case(Tagger, lambda n, length: (torch.randint(0, 30, (n, length)),), BOTH),
    "UNet": Case(UNet, rows(3, 16, 16)),
    "UNet of any size": Case(
        UNet, lambda n, length: (torch.randn(n, 3, 2 * length, 16),), ((0, 2),)
    ),
    "Head": Case(Head, rows(8, 4, 5)),
    "Transformer": Case(
        Translator,
        lambda n, length: (torch.randn(n, length, 16), torch.randn(n, length + 1, 16)),
        ((0, 1), (0, 1)),
    ),
    "Counter": Case(Counter, rows(4)),
    "cond": Case(Choosing, rows(4)),
    "while_loop": Case(Looping, rows(4)),
}
