"""Cases of windows, grids, pads, and pixels that move."""

from __future__ import annotations

from tests.runtime.nn.of_paddle.cases import Cases, wave

CASES = Cases("images")
IMAGE, VOLUME = wave(2, 4, 5, 6), wave(2, 3, 3, 4, 4)
ALL = ((0, 2, 3),)

CASES.layer("unfold", lambda nn: nn.Unfold(3), IMAGE, unknown=ALL)
CASES.layer("unfold by position", lambda nn: nn.Unfold([2, 3], [1, 2], [1, 0], 2), IMAGE)
CASES.function(
    "unfold with four pads",
    lambda F, x: F.unfold(x, 2, strides=[2, 1], paddings=[1, 0, 2, 1], dilations=2),
    IMAGE,
    unknown=ALL,
)
CASES.layer("fold", lambda nn: nn.Fold([4, 5], 2), wave(2, 8, 12))
CASES.layer("fold by position", lambda nn: nn.Fold([5, 6], [2, 3], 1, [1, 0], 2), wave(2, 12, 6))
CASES.function(
    "fold with four pads",
    lambda F, x: F.fold(x, [4, 4], 2, strides=2, paddings=[1, 0, 1, 0], dilations=1),
    wave(1, 4, 6),
)
CASES.layer("pixel shuffle", lambda nn: nn.PixelShuffle(2), IMAGE, unknown=ALL)
CASES.layer("pixel shuffle, channels last", lambda nn: nn.PixelShuffle(2, "NHWC"), wave(1, 2, 3, 8))
CASES.layer("pixel unshuffle", lambda nn: nn.PixelUnshuffle(2), wave(2, 3, 4, 6))
CASES.layer(
    "pixel unshuffle, channels last", lambda nn: nn.PixelUnshuffle(2, "NHWC"), wave(1, 4, 6, 2)
)
CASES.layer("channel shuffle", lambda nn: nn.ChannelShuffle(2), IMAGE, unknown=ALL)
CASES.layer(
    "channel shuffle, channels last", lambda nn: nn.ChannelShuffle(3, "NHWC"), wave(1, 2, 2, 6)
)
CASES.function(
    "temporal shift", lambda F, x: F.temporal_shift(x, 3, 0.3), wave(6, 4, 2, 2), unknown=((2, 3),)
)
CASES.function(
    "temporal shift, channels last",
    lambda F, x: F.temporal_shift(x, 2, data_format="NHWC"),
    wave(4, 2, 2, 8),
    unknown=((1, 2),),
)
CASES.layer("unflatten", lambda nn: nn.Unflatten(1, [2, -1]), IMAGE)
CASES.layer("upsampling, bilinear", lambda nn: nn.UpsamplingBilinear2D([7, 9]), IMAGE)
CASES.layer(
    "upsampling, bilinear, by a factor",
    lambda nn: nn.UpsamplingBilinear2D(scale_factor=2),
    IMAGE,
    unknown=ALL,
)
CASES.layer(
    "upsampling, nearest", lambda nn: nn.UpsamplingNearest2D(scale_factor=2), IMAGE, unknown=ALL
)
CASES.layer(
    "upsampling, channels last",
    lambda nn: nn.UpsamplingNearest2D([6, 4], data_format="NHWC"),
    wave(1, 3, 2, 2),
)

for axes, shape in enumerate([(2, 3, 4), (2, 3, 4, 5), (1, 2, 3, 4, 4)], 1):
    x, back = wave(*shape), wave(shape[0], *shape[2:], shape[1])
    last = {1: "NLC", 2: "NHWC", 3: "NDHWC"}[axes]
    sides = list(range(1, 2 * axes + 1)) if axes < 3 else [1, 0, 2, 1, 0, 2]
    spatial = (tuple(range(2, 2 + axes)),)
    for kind in ("Zero", "Reflection", "Replication", "Circular"):
        name = f"{kind}Pad{axes}D"
        CASES.layer(name, lambda nn, n=name: getattr(nn, n)(2), x)
        if kind != "Reflection":
            CASES.layer(f"{name} by sides", lambda nn, n=name, s=sides: getattr(nn, n)(s), x)
        CASES.layer(f"{name}, channels last", lambda nn, n=name, f=last: getattr(nn, n)(1, f), back)
    name = f"ConstantPad{axes}D"
    CASES.layer(name, lambda nn, n=name, s=sides: getattr(nn, n)(s, 3.5), x, unknown=spatial)
for mode in ("constant", "reflect", "replicate", "circular"):
    CASES.layer(f"Pad1D, {mode}", lambda nn, m=mode: nn.Pad1D([1, 2], m), wave(2, 3, 4))
    CASES.layer(f"Pad3D, {mode}", lambda nn, m=mode: nn.Pad3D(1, m, 2.0), wave(1, 2, 3, 3, 4))
CASES.function("zeropad2d", lambda F, x: F.zeropad2d(x, [1, 0, 2, 3]), IMAGE, unknown=ALL)

for corners in (True, False):
    CASES.function(
        f"affine grid, {corners}",
        lambda F, t, c=corners: F.affine_grid(t, [2, 3, 3, 4], align_corners=c),
        wave(2, 2, 3),
    )
    CASES.function(
        f"affine grid of volumes, {corners}",
        lambda F, t, c=corners: F.affine_grid(t, [1, 3, 2, 3, 2], c),
        wave(1, 3, 4),
    )
    for padding in ("zeros", "border", "reflection"):
        for mode in ("bilinear", "nearest"):
            CASES.function(
                f"grid sample, {mode}, {padding}, {corners}",
                lambda F, x, g, m=mode, p=padding, c=corners: F.grid_sample(x, g, m, p, c),
                IMAGE,
                wave(2, 3, 4, 2, phase=0.3, low=-1.6, high=1.7),
                unknown=((0, 2, 3), (0, 1, 2)),
            )
        CASES.function(
            f"grid sample of volumes, {padding}, {corners}",
            lambda F, x, g, p=padding, c=corners: F.grid_sample(
                x, g, padding_mode=p, align_corners=c
            ),
            VOLUME,
            wave(2, 2, 2, 3, 3, phase=0.3, low=-1.6, high=1.7),
        )
