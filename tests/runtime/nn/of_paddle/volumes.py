"""Cases of convolution and pooling along three axes, and of the places of maxima."""

from __future__ import annotations

from tests.runtime.nn.of_paddle.cases import Cases, wave

CASES = Cases("volumes")
X, LAST = wave(2, 2, 4, 5, 6), wave(1, 4, 4, 5, 2)
ALL = ((0, 2, 3, 4),)

CASES.layer("conv", lambda nn: nn.Conv3D(2, 3, 2), X, unknown=ALL)
CASES.layer(
    "conv by position", lambda nn: nn.Conv3D(2, 4, [1, 2, 3], 2, [1, 0, 1], [1, 2, 1], 2), X
)
CASES.layer(
    "conv, channels last",
    lambda nn: nn.Conv3D(2, 3, 2, bias_attr=False, data_format="NDHWC"),
    LAST,
)
CASES.layer("conv with pads by name", lambda nn: nn.Conv3D(2, 1, 3, 2, "SAME"), X)
CASES.layer("transposed conv", lambda nn: nn.Conv3DTranspose(2, 3, 2), X[:1], unknown=ALL)
CASES.layer(
    "transposed conv by position",
    lambda nn: nn.Conv3DTranspose(2, 4, [1, 2, 3], 2, [0, 1, 1], 1, [1, 2, 1], 2),
    X[:1],
)
CASES.layer(
    "transposed conv, channels last",
    lambda nn: nn.Conv3DTranspose(2, 3, 2, 2, bias_attr=False, data_format="NDHWC"),
    LAST,
)
CASES.function(
    "transposed conv by function",
    lambda F, x, w: F.conv3d_transpose(x, w, None, 2, 1, 1, 1),
    X[:1],
    wave(2, 1, 3, 3, 3),
    unknown=((0, 2, 3, 4), ()),
)
CASES.layer("largest", lambda nn: nn.MaxPool3D(2), X, unknown=ALL)
CASES.layer(
    "largest and places", lambda nn: nn.MaxPool3D([2, 3, 2], 2, [1, 1, 0], True), X, unknown=ALL
)
CASES.layer("largest, up", lambda nn: nn.MaxPool3D(2, 2, 0, False, True), X)
CASES.layer("largest, channels last", lambda nn: nn.MaxPool3D(2, data_format="NDHWC"), LAST)
CASES.layer("mean", lambda nn: nn.AvgPool3D(2), X, unknown=ALL)
CASES.layer("mean of padded", lambda nn: nn.AvgPool3D(3, 2, 1), X, unknown=ALL)
CASES.layer("mean with padding", lambda nn: nn.AvgPool3D(3, 2, 1, False, False), X, unknown=ALL)
CASES.layer("mean, up", lambda nn: nn.AvgPool3D(2, 2, 0, True), X)
CASES.layer("mean by a divisor", lambda nn: nn.AvgPool3D(2, divisor_override=3), X)
CASES.layer("mean, channels last", lambda nn: nn.AvgPool3D(2, data_format="NDHWC"), LAST)
CASES.layer("adaptive mean", lambda nn: nn.AdaptiveAvgPool3D([3, None, 4]), X, unknown=ALL)
CASES.layer("adaptive mean, one size", lambda nn: nn.AdaptiveAvgPool3D(2), X)
CASES.layer("adaptive mean, channels last", lambda nn: nn.AdaptiveAvgPool3D(1, "NDHWC"), LAST)
CASES.layer("adaptive largest", lambda nn: nn.AdaptiveMaxPool3D([3, 2, 4]), X, unknown=ALL)
CASES.layer("adaptive largest and places", lambda nn: nn.AdaptiveMaxPool3D(3, True), X)
CASES.layer(
    "adaptive largest of images and places",
    lambda nn: nn.AdaptiveMaxPool2D([3, 4], True),
    wave(2, 2, 5, 7),
)
CASES.layer(
    "adaptive largest of lines and places", lambda nn: nn.AdaptiveMaxPool1D(3, True), wave(2, 2, 7)
)
