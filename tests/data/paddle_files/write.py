"""Writes inference models with PaddlePaddle 3.3 for tests/dy2st/importers/paddle, run by hand.

    python write.py FOLDER [NAME ...]                       # .json, of PIR
    FLAGS_enable_pir_api=0 python write.py FOLDER [NAME ...]  # .pdmodel

It needs the package paddlepaddle, and nothing of dy2st, which may not be there in one process with
it. Each model gets its files and `NAME.npz`: the inputs and outputs at two sizes, `x0_0` being input
0 of the first, `y1_2` output 2 of the second. Weights are random, and widths small.
"""

import os
import sys

import numpy as np
import paddle
from paddle import nn
from paddle.nn import functional as F
from paddle.static import InputSpec

IS_PIR = os.environ.get("FLAGS_enable_pir_api", "1") != "0"
MODELS = {}


def model(*specs, sizes):
    """Note a class: the specs of its inputs, and for each size the shapes of the inputs."""

    def note(made):
        MODELS[made.__name__] = made, specs, sizes
        return made

    return note


def floats(*shape):
    return InputSpec([*shape], "float32")


def ints(*shape):
    return InputSpec([*shape], "int64")


def conv_bn(inputs, outputs, kernel=3, stride=1, groups=1, act=nn.ReLU):
    return nn.Sequential(
        nn.Conv2D(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias_attr=False),
        nn.BatchNorm2D(outputs),
        act(),
    )


class SqueezeExcite(nn.Layer):
    def __init__(self, channels):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2D(1)
        self.down = nn.Conv2D(channels, channels // 2, 1)
        self.up = nn.Conv2D(channels // 2, channels, 1)

    def forward(self, x):
        return x * F.hardsigmoid(self.up(F.relu(self.down(self.pool(x)))))


# -- text in images ---------------------------------------------------------------------------


@model(floats(None, 3, None, None), sizes=[[(1, 3, 64, 32)], [(2, 3, 32, 96)]])
class Detector(nn.Layer):
    """A backbone, a pyramid of features, and probability and threshold maps (DB)."""

    def __init__(self):
        super().__init__()
        self.stages = nn.LayerList(
            [conv_bn(3, 6, 3, 2, act=nn.Hardswish), conv_bn(6, 8, 3, 2), conv_bn(8, 10, 3, 2)]
        )
        self.excite = SqueezeExcite(10)
        self.sides = nn.LayerList([nn.Conv2D(n, 8, 1, bias_attr=False) for n in (6, 8, 10)])
        self.smooth = nn.LayerList([nn.Conv2D(8, 4, 3, padding=1) for _ in range(3)])
        self.maps = nn.LayerList([self.head() for _ in range(2)])

    def head(self):
        return nn.Sequential(
            nn.Conv2D(12, 4, 3, padding=1, bias_attr=False), nn.BatchNorm2D(4), nn.ReLU(),
            nn.Conv2DTranspose(4, 4, 2, stride=2), nn.BatchNorm2D(4), nn.ReLU(),
            nn.Conv2DTranspose(4, 1, 2, stride=2), nn.Sigmoid(),
        )  # fmt: skip

    def forward(self, x):
        found = []
        for stage in self.stages:
            x = stage(x)
            found.append(x)
        found[-1] = self.excite(found[-1])
        sides = [side(one) for side, one in zip(self.sides, found)]
        sides[1] = sides[1] + F.upsample(sides[2], scale_factor=2, mode="nearest")
        sides[0] = sides[0] + F.upsample(sides[1], scale_factor=2, mode="nearest")
        parts = [smooth(one) for smooth, one in zip(self.smooth, sides)]
        parts = [
            F.upsample(one, scale_factor=2**place, mode="nearest")
            for place, one in enumerate(parts)
        ]
        both = paddle.concat(parts[::-1], axis=1)
        shrink, threshold = self.maps[0](both), self.maps[1](both)
        binary = paddle.reciprocal(1 + paddle.exp(-50 * (shrink - threshold)))
        return shrink, threshold, binary


@model(floats(None, 3, 32, None), sizes=[[(1, 3, 32, 40)], [(3, 3, 32, 64)]])
class Recogniser(nn.Layer):
    """Convolutions, two layers of LSTMs in both directions, probabilities of signs (CRNN)."""

    def __init__(self):
        super().__init__()
        self.convs = nn.Sequential(
            conv_bn(3, 4), nn.MaxPool2D(2, 2), conv_bn(4, 6), nn.MaxPool2D((2, 1), (2, 1)),
            conv_bn(6, 8), nn.MaxPool2D((8, 1), (8, 1)),
        )  # fmt: skip
        self.lstm = nn.LSTM(8, 6, num_layers=2, direction="bidirectional")
        self.head = nn.Linear(12, 11)

    def forward(self, x):
        x = self.convs(x)
        x = x.squeeze(axis=2).transpose([0, 2, 1])
        x, _ = self.lstm(x)
        return F.softmax(self.head(x), axis=2)


class Mixer(nn.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.qkv, self.proj = nn.Linear(width, width * 3), nn.Linear(width, width)
        self.norms = nn.LayerList([nn.LayerNorm(width, epsilon=1e-6) for _ in range(2)])
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def forward(self, x, mask=None):
        qkv = self.qkv(self.norms[0](x))
        qkv = qkv.reshape((0, -1, 3, self.heads, x.shape[-1] // self.heads))
        qkv = qkv.transpose((2, 0, 3, 1, 4))
        q, k, v = qkv[0] * self.scale, qkv[1], qkv[2]
        attn = q.matmul(k.transpose((0, 1, 3, 2)))
        if mask is not None:
            attn = attn + mask
        out = F.softmax(attn, axis=-1).matmul(v)
        x = x + self.proj(out.transpose((0, 2, 1, 3)).reshape((0, -1, x.shape[-1])))
        return x + self.mlp(self.norms[1](x))


@model(floats(None, 3, 16, None), sizes=[[(1, 3, 16, 24)], [(2, 3, 16, 48)]])
class TextMixer(nn.Layer):
    """Patches, global mixing, pooling of heights, probabilities (SVTR)."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(
            conv_bn(3, 6, 3, 2, act=nn.GELU), conv_bn(6, 8, 3, 2, act=nn.GELU)
        )
        self.blocks = nn.LayerList([Mixer(8, 2) for _ in range(2)])
        self.merge = nn.Conv2D(8, 12, 3, stride=(2, 1), padding=1)
        self.norm = nn.LayerNorm(12)
        self.late = Mixer(12, 2)
        self.last = nn.Conv2D(12, 10, 1, bias_attr=False)
        self.head = nn.Linear(10, 7)

    def forward(self, x):
        x = self.embed(x)
        height, width = x.shape[2], x.shape[3]
        x = x.flatten(2).transpose([0, 2, 1])
        for block in self.blocks:
            x = block(x)
        x = self.merge(x.transpose([0, 2, 1]).reshape([-1, 8, height, width]))
        x = self.late(self.norm(x.flatten(2).transpose([0, 2, 1])))
        x = x.transpose([0, 2, 1]).reshape([0, 12, -1, width])
        x = F.hardswish(self.last(F.adaptive_avg_pool2d(x, [1, 12])))
        x = x.squeeze(2).transpose([0, 2, 1])
        return F.softmax(self.head(x), axis=-1)


# -- pictures ---------------------------------------------------------------------------------


@model(floats(None, 3, None, None), sizes=[[(1, 3, 32, 32)], [(2, 3, 40, 48)]])
class LcNet(nn.Layer):
    """Separable convolutions with hard activations (PP-LCNet)."""

    def __init__(self):
        super().__init__()
        parts, width = [conv_bn(3, 8, 3, 2, act=nn.Hardswish)], 8
        for kernel, outputs, stride, excites in [(3, 12, 2, 0), (5, 16, 2, 1), (5, 16, 1, 1)]:
            parts.append(conv_bn(width, width, kernel, stride, width, nn.Hardswish))
            if excites:
                parts.append(SqueezeExcite(width))
            parts.append(conv_bn(width, outputs, 1, act=nn.Hardswish))
            width = outputs
        self.parts = nn.Sequential(*parts)
        self.pool, self.last = nn.AdaptiveAvgPool2D(1), nn.Conv2D(width, 20, 1, bias_attr=False)
        self.drop = nn.Dropout(0.2, mode="downscale_in_infer")
        self.flat, self.head = nn.Flatten(), nn.Linear(20, 10)

    def forward(self, x):
        x = F.hardswish(self.last(self.pool(self.parts(x))))
        return F.softmax(self.head(self.flat(self.drop(x))))


class Block(nn.Layer):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first, self.second = conv_bn(inputs, outputs, 3, stride), conv_bn(outputs, outputs)
        self.short = None
        if stride != 1 or inputs != outputs:
            self.short = nn.Sequential(
                nn.AvgPool2D(2, 2, ceil_mode=True) if stride == 2 else nn.Identity(),
                nn.Conv2D(inputs, outputs, 1),
            )

    def forward(self, x):
        return F.relu(self.second(self.first(x)) + (x if self.short is None else self.short(x)))


@model(floats(None, 3, None, None), sizes=[[(1, 3, 32, 32)], [(3, 3, 24, 56)]])
class ResNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(conv_bn(3, 6, 7, 2), nn.MaxPool2D(3, 2, 1))
        self.blocks = nn.Sequential(Block(6, 6, 1), Block(6, 10, 2), Block(10, 12, 2))
        self.head = nn.Linear(12, 5)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean([2, 3]))


@model(floats(None, 8, 8, 3), sizes=[[(1, 8, 8, 3)], [(2, 8, 8, 3)]])
class Swin(nn.Layer):
    """Shifted windows: roll, set a mask by slices, split into windows and back."""

    def __init__(self):
        super().__init__()
        self.embed, self.mixers = nn.Linear(3, 8), nn.LayerList([Mixer(8, 2) for _ in range(2)])
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        x, w = self.embed(x), 4
        for shift, mixer in zip((0, 2), self.mixers):
            mask = None
            if shift:
                x = paddle.roll(x, shifts=(-shift, -shift), axis=(1, 2))
                areas = paddle.zeros((1, 8, 8, 1))
                count = 0
                for rows in (slice(0, -w), slice(-w, -shift), slice(-shift, None)):
                    for columns in (slice(0, -w), slice(-w, -shift), slice(-shift, None)):
                        areas[:, rows, columns, :] = count
                        count += 1
                areas = areas.reshape([2, w, 2, w]).transpose([0, 2, 1, 3]).reshape([4, w * w])
                mask = areas.unsqueeze(1) - areas.unsqueeze(2)
                mask = paddle.where(
                    mask != 0, paddle.full_like(mask, -100.0), paddle.zeros_like(mask)
                )
                mask = mask.unsqueeze(1).tile([x.shape[0], 1, 1, 1])
            parts = x.reshape([-1, 2, w, 2, w, 8]).transpose([0, 1, 3, 2, 4, 5])
            parts = mixer(parts.reshape([-1, w * w, 8]), mask)
            parts = parts.reshape([-1, 2, 2, w, w, 8]).transpose([0, 1, 3, 2, 4, 5])
            x = parts.reshape([-1, 8, 8, 8])
            if shift:
                x = paddle.roll(x, shifts=(shift, shift), axis=(1, 2))
        return self.head(x.mean(axis=[1, 2]))


@model(floats(None, 3, None, 8, 8), sizes=[[(1, 3, 4, 8, 8)], [(2, 3, 6, 8, 8)]])
class Video(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv3D(3, 4, 3, padding=1), nn.BatchNorm3D(4)
        self.pool, self.head = nn.MaxPool3D(2, 2), nn.Linear(4, 3)

    def forward(self, x):
        x = self.pool(F.relu(self.norm(self.conv(x))))
        x = F.adaptive_avg_pool3d(x, 1)
        return self.head(x.flatten(1))


@model(floats(None, 3, None, None), sizes=[[(1, 3, 16, 16)], [(2, 3, 20, 12)]])
class Generator(nn.Layer):
    """From picture to picture: padding by reflection, norms of instances, pixel shuffle."""

    def __init__(self):
        super().__init__()
        self.pad, self.conv = nn.Pad2D(3, mode="reflect"), nn.Conv2D(3, 6, 7)
        self.norm, self.down = nn.InstanceNorm2D(6), nn.Conv2D(6, 8, 3, 2, 1)
        self.group = nn.GroupNorm(2, 8)
        self.up = nn.Conv2DTranspose(8, 6, 3, 2, 1, output_padding=1)
        self.shuffle, self.last = nn.Conv2D(6, 12, 3, padding=1), nn.Conv2D(3, 3, 1)
        self.act = nn.PReLU(6)

    def forward(self, x):
        y = self.act(self.norm(self.conv(self.pad(x))))
        y = F.leaky_relu(self.group(self.down(y)), 0.2)
        y = F.pixel_shuffle(self.shuffle(F.elu(self.up(y))), 2)
        big = F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False)
        return paddle.tanh(self.last(y) + big)


# -- parts of pictures ------------------------------------------------------------------------


@model(floats(None, 3, None, None), sizes=[[(1, 3, 32, 48)], [(2, 3, 48, 32)]])
class LiteSeg(nn.Layer):
    """Pooling of the pyramid, attention where features meet (PP-LiteSeg)."""

    def __init__(self):
        super().__init__()
        self.stages = nn.LayerList([conv_bn(3, 6, 3, 2), conv_bn(6, 8, 3, 2), conv_bn(8, 10, 3, 2)])
        self.pools = nn.LayerList([nn.AdaptiveAvgPool2D(n) for n in (1, 2)])
        self.context = nn.LayerList([conv_bn(10, 6, 1) for _ in range(2)])
        self.out, self.side = conv_bn(6, 8, 3), conv_bn(8, 8, 1)
        self.attention = nn.Sequential(conv_bn(4, 2, 3), nn.Conv2D(2, 1, 3, padding=1))
        self.head = nn.Sequential(conv_bn(8, 8), nn.Conv2D(8, 4, 1, bias_attr=False))

    def forward(self, x):
        shape = paddle.shape(x)[2:]
        found = []
        y = x
        for stage in self.stages:
            y = stage(y)
            found.append(y)
        inner = paddle.shape(y)[2:]
        total = None
        for pool, conv in zip(self.pools, self.context):
            part = F.interpolate(conv(pool(y)), inner, mode="bilinear", align_corners=False)
            total = part if total is None else total + part
        low, high = self.side(found[1]), self.out(total)
        high = F.interpolate(high, paddle.shape(low)[2:], mode="bilinear", align_corners=False)
        features = [
            f(one, axis=1, keepdim=True) for one in (low, high) for f in (paddle.mean, paddle.max)
        ]
        weight = F.sigmoid(self.attention(paddle.concat(features, axis=1)))
        y = self.head(low * weight + high * (1 - weight))
        logits = F.interpolate(y, shape, mode="bilinear", align_corners=False)
        return logits, paddle.argmax(logits, axis=1, dtype="int32")


@model(floats(None, 3, None, None), sizes=[[(1, 3, 16, 16)], [(2, 3, 18, 21)]])
class UNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.middle = conv_bn(3, 4), conv_bn(4, 6), conv_bn(6, 8)
        self.up2 = nn.Conv2DTranspose(8, 6, 2, stride=2)
        self.up1, self.join2, self.join1 = conv_bn(6, 4, 1), conv_bn(12, 6), conv_bn(8, 4)
        self.head = nn.Conv2D(4, 3, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2, 2))
        c = self.middle(F.max_pool2d(b, 2, 2))
        c = self.up2(c)
        dy, dx = b.shape[2] - c.shape[2], b.shape[3] - c.shape[3]
        c = F.pad(c, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        b = self.join2(paddle.concat([b, c], axis=1))
        b = F.interpolate(b, a.shape[2:], mode="bilinear", align_corners=True)
        return self.head(self.join1(paddle.concat([a, self.up1(b)], axis=1)))


@model(floats(None, 3, None, None), sizes=[[(1, 3, 24, 24)], [(2, 3, 32, 40)]])
class DeepLab(nn.Layer):
    """Dilated convolutions side by side (ASPP)."""

    def __init__(self):
        super().__init__()
        self.stem = conv_bn(3, 8, 3, 2)
        self.parts = nn.LayerList([nn.Conv2D(8, 6, 3, padding=d, dilation=d) for d in (1, 2, 4)])
        self.image, self.join = conv_bn(8, 6, 1), conv_bn(24, 8, 1)
        self.head = nn.Conv2D(8, 3, 1)

    def forward(self, x):
        y = self.stem(x)
        parts = [part(y) for part in self.parts]
        whole = self.image(F.adaptive_avg_pool2d(y, 1))
        parts.append(F.interpolate(whole, size=y.shape[2:], mode="bilinear", align_corners=False))
        y = self.head(self.join(paddle.concat(parts, axis=1)))
        return F.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=False)


# -- objects ----------------------------------------------------------------------------------


@model(
    floats(None, 3, None, None), floats(None, 2),
    sizes=[[(1, 3, 64, 64), (1, 2)], [(2, 3, 64, 96), (2, 2)]],
)  # fmt: skip
class YoloE(nn.Layer):
    """Points of a grid, distances as distributions, then non-maximum suppression (PP-YOLOE)."""

    def __init__(self):
        super().__init__()
        self.stages = nn.LayerList(
            [conv_bn(3, 8, 3, 4, act=nn.Swish), conv_bn(8, 10, 3, 2, act=nn.Swish)]
        )
        self.scores = nn.LayerList([nn.Conv2D(n, 3, 3, padding=1) for n in (8, 10)])
        self.shifts = nn.LayerList([nn.Conv2D(n, 4 * 5, 3, padding=1) for n in (8, 10)])
        self.register_buffer("steps", paddle.arange(5, dtype="float32"))

    def forward(self, x, scale):
        scores, boxes = [], []
        for stage, to_score, to_shift, stride in zip(self.stages, self.scores, self.shifts, (4, 8)):
            x = stage(x)
            height, width = x.shape[2], x.shape[3]
            ys = (paddle.arange(height, dtype="float32") + 0.5) * stride
            xs = (paddle.arange(width, dtype="float32") + 0.5) * stride
            ys, xs = paddle.meshgrid(ys, xs)
            points = paddle.stack([xs, ys], axis=-1).reshape([-1, 2])
            score = F.sigmoid(to_score(x)).reshape([-1, 3, height * width])
            shift = to_shift(x).reshape([-1, 4, 5, height * width]).transpose([0, 3, 1, 2])
            shift = (F.softmax(shift, axis=-1) * self.steps).sum(-1) * stride
            near, far = paddle.split(shift, 2, axis=-1)
            boxes.append(paddle.concat([points - near, points + far], axis=-1))
            scores.append(score)
        score, box = paddle.concat(scores, axis=-1), paddle.concat(boxes, axis=1)
        y, x = paddle.split(scale, 2, axis=-1)
        box = box / paddle.concat([x, y, x, y], axis=-1).reshape([-1, 1, 4])
        return multiclass_nms(box, score)


def multiclass_nms(boxes, scores, **given):
    how = {"score_threshold": 0.52, "nms_top_k": 60, "keep_top_k": 20, "nms_threshold": 0.5,
           "normalized": True, "nms_eta": 1.0, "background_label": -1, **given}  # fmt: skip
    if IS_PIR:
        out, _, count = (
            paddle._C_ops.multiclass_nms3(boxes, scores, None, *list(how.values()))
            if paddle.in_dynamic_mode()
            else paddle._C_ops.multiclass_nms3(
                boxes,
                scores,
                None,
                how["score_threshold"],
                how["nms_top_k"],
                how["keep_top_k"],
                how["nms_threshold"],
                how["normalized"],
                how["nms_eta"],
                how["background_label"],
            )
        )
        return out, count
    if paddle.in_dynamic_mode():
        out, _, count = paddle._C_ops.multiclass_nms3(boxes, scores, None, *list(how.values()))
        return out, count
    from paddle.base.layer_helper import LayerHelper

    helper = LayerHelper("multiclass_nms3")
    out = helper.create_variable_for_type_inference(boxes.dtype)
    index, count = (helper.create_variable_for_type_inference("int32") for _ in range(2))
    helper.append_op(
        type="multiclass_nms3", inputs={"BBoxes": boxes, "Scores": scores}, attrs=how,
        outputs={"Out": out, "Index": index, "NmsRoisNum": count},
    )  # fmt: skip
    return out, count


@model(
    floats(None, 3, 32, 32), InputSpec([None, 2], "int32"),
    sizes=[[(1, 3, 32, 32), (1, 2)], [(2, 3, 32, 32), (2, 2)]],
)  # fmt: skip
class Yolo3(nn.Layer):
    """Anchors on two grids (YOLOv3)."""

    def __init__(self):
        super().__init__()
        self.stem, self.down = conv_bn(3, 8, 3, 4), conv_bn(8, 10, 3, 2)
        self.heads = nn.LayerList([nn.Conv2D(n, 2 * 8, 1) for n in (8, 10)])

    def forward(self, x, size):
        fine = self.stem(x)
        coarse = self.down(fine)
        boxes, scores = [], []
        for head, y, anchors, ratio in zip(
            self.heads, (fine, coarse), ([4, 5, 8, 7], [12, 14, 20, 18]), (4, 8)
        ):
            box, score = paddle.vision.ops.yolo_box(head(y), size, anchors, 3, 0.01, ratio)
            boxes.append(box)
            scores.append(score.transpose([0, 2, 1]))
        return multiclass_nms(
            paddle.concat(boxes, axis=1), paddle.concat(scores, axis=2), score_threshold=0.1
        )


@model(floats(None, 3, 32, 32), sizes=[[(1, 3, 32, 32)], [(2, 3, 32, 32)]])
class Ssd(nn.Layer):
    """Prior boxes, decoded, and soft suppression by a matrix."""

    def __init__(self):
        super().__init__()
        self.body = conv_bn(3, 8, 3, 4)
        self.shift, self.score = (
            nn.Conv2D(8, 4 * 3, 3, padding=1),
            nn.Conv2D(8, 3 * 3, 3, padding=1),
        )

    def forward(self, x):
        y = self.body(x)
        boxes, variances = paddle.vision.ops.prior_box(
            y, x, [8.0], [16.0], [1.0, 2.0], flip=False, clip=True
        )
        shift = self.shift(y).transpose([0, 2, 3, 1]).reshape([-1, 192, 4])
        score = F.softmax(self.score(y).transpose([0, 2, 3, 1]).reshape([-1, 192, 3]))
        decoded = paddle.vision.ops.box_coder(
            boxes.reshape([-1, 4]), variances.reshape([-1, 4]), shift, "decode_center_size", axis=0
        )
        out, count, index = paddle.vision.ops.matrix_nms(
            decoded, score.transpose([0, 2, 1]), 0.35, 0.1, 50, 20, return_index=True
        )
        return out, count


@model(
    floats(None, 3, None, None), floats(None, 4), InputSpec([None], "int32"),
    sizes=[[(1, 3, 32, 32), (3, 4), (1,)], [(2, 3, 24, 40), (5, 4), (2,)]],
)  # fmt: skip
class Regions(nn.Layer):
    """The second stage of a detector: parts of features, classes and boxes of each."""

    def __init__(self):
        super().__init__()
        self.body, self.conv = conv_bn(3, 6, 3, 2), nn.Conv2D(6, 6, 3, padding=1)
        self.head, self.box = nn.Linear(6 * 9, 4), nn.Linear(6 * 9, 12)

    def forward(self, x, boxes, counts):
        y = self.conv(self.body(x))
        part = paddle.vision.ops.roi_align(y, boxes, counts, 3, 0.5)
        flat = paddle.flatten(F.relu(part), 1)
        return F.softmax(self.head(flat)), self.box(flat)


@model(floats(None, 3, None, None), sizes=[[(1, 3, 12, 12)], [(2, 3, 10, 14)]])
class Deformable(nn.Layer):
    def __init__(self):
        super().__init__()
        self.offset = nn.Conv2D(3, 27, 3, padding=1)
        self.conv = paddle.vision.ops.DeformConv2D(3, 5, 3, padding=1)

    def forward(self, x):
        found = self.offset(x)
        return F.relu(self.conv(x, found[:, :18], F.sigmoid(found[:, 18:])))


# -- language ---------------------------------------------------------------------------------


@model(ints(None, None), ints(None, None), sizes=[[(1, 5), (1, 5)], [(3, 9), (3, 9)]])
class Ernie(nn.Layer):
    """Words, places and kinds of sentences, an encoder with a mask, what the first word says."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(30, 8, padding_idx=0), nn.Embedding(12, 8)
        self.kinds, self.norm = nn.Embedding(2, 8), nn.LayerNorm(8)
        self.drop = nn.Dropout(0.1)
        layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.pool, self.head = nn.Linear(8, 8), nn.Linear(8, 3)

    def forward(self, ids, kinds):
        mask = paddle.unsqueeze((ids == 0).astype("float32") * -1e4, axis=[1, 2])
        ones = paddle.ones_like(ids)
        places = paddle.cumsum(ones, axis=-1) - ones
        x = self.words(ids) + self.places(places) + self.kinds(kinds % 2)
        x = self.encoder(self.drop(self.norm(x)), mask)
        return x, self.head(F.tanh(self.pool(x[:, 0])))


@model(ints(None, None), sizes=[[(1, 4)], [(2, 7)]])
class Bert(nn.Layer):
    """A masked language model whose words are read and written by one matrix."""

    def __init__(self):
        super().__init__()
        self.words, self.norm = nn.Embedding(20, 8), nn.LayerNorm(8)
        self.blocks = nn.LayerList([Mixer(8, 4) for _ in range(2)])
        self.dense, self.bias = nn.Linear(8, 8), self.create_parameter([20], is_bias=True)

    def forward(self, ids):
        x = self.words(ids) + paddle.arange(ids.shape[1]).astype("float32").unsqueeze(-1) * 0.1
        for block in self.blocks:
            x = block(x)
        x = self.norm(F.gelu(self.dense(x), approximate=True))
        return paddle.matmul(x, self.words.weight, transpose_y=True) + self.bias


@model(ints(None, None), sizes=[[(1, 4)], [(2, 7)]])
class Gpt(nn.Layer):
    """Words that see those before them: a triangular mask, rotated places, norms of roots."""

    def __init__(self):
        super().__init__()
        self.words, self.qkv = nn.Embedding(20, 8), nn.Linear(8, 24, bias_attr=False)
        self.up, self.down = nn.Linear(8, 32, bias_attr=False), nn.Linear(16, 8, bias_attr=False)
        self.scale = self.create_parameter([8], default_initializer=nn.initializer.Constant(1.2))

    def rms(self, x):
        return x * paddle.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.scale

    def rotated(self, x, length):
        where = paddle.arange(length, dtype="float32")
        speed = 1.0 / (100.0 ** (paddle.arange(0, 4, 2, dtype="float32") / 4))
        angle = paddle.outer(where, speed)
        angle = paddle.concat([angle, angle], axis=-1)[None, None]
        left, right = paddle.chunk(x, 2, axis=-1)
        return x * paddle.cos(angle) + paddle.concat([-right, left], axis=-1) * paddle.sin(angle)

    def forward(self, ids):
        batch, length = paddle.shape(ids)[0], paddle.shape(ids)[1]
        x = self.words(ids)
        qkv = self.qkv(self.rms(x)).reshape([batch, length, 3, 2, 4]).transpose([2, 0, 3, 1, 4])
        q, k, v = paddle.unstack(qkv, axis=0)
        q, k = self.rotated(q, length), self.rotated(k, length)
        scores = paddle.matmul(q, k, transpose_y=True) / 2.0
        mask = paddle.triu(paddle.full([length, length], -1e9), diagonal=1)
        out = paddle.matmul(F.softmax(scores + mask, axis=-1), v)
        x = x + out.transpose([0, 2, 1, 3]).reshape([batch, length, 8])
        gate, value = paddle.split(self.up(self.rms(x)), 2, axis=-1)
        x = x + self.down(F.silu(gate) * value)
        return paddle.matmul(x, self.words.weight, transpose_y=True)


@model(ints(None, None), sizes=[[(1, 3)], [(2, 6)]])
class Translator(nn.Layer):
    """An encoder, and a decoder that a loop asks for one word after the other."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(16, 8)
        self.net = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0)
        self.head = nn.Linear(8, 16)

    def forward(self, ids):
        memory = self.net.encoder(self.words(ids))
        made = paddle.ones([ids.shape[0], 1], dtype="int64")
        step = paddle.zeros([1], dtype="int64")
        while step < 5:
            out = self.net.decoder(self.words(made), memory)
            word = paddle.argmax(self.head(out[:, -1]), axis=-1, keepdim=True)
            made = paddle.concat([made, word], axis=1)
            step = step + 1
        return made, memory


@model(ints(None, None), sizes=[[(1, 3)], [(2, 6)]])
class BeamSearch(nn.Layer):
    """A GRU that keeps its three best beginnings, in a loop with a list of words."""

    def __init__(self):
        super().__init__()
        self.words, self.cell, self.head = nn.Embedding(12, 6), nn.GRUCell(6, 6), nn.Linear(6, 12)
        self.gru = nn.GRU(6, 6)

    def forward(self, ids):
        beams, count = 3, 12
        batch = paddle.shape(ids)[0]
        _, state = self.gru(self.words(ids))
        state = state[0].unsqueeze(1).tile([1, beams, 1]).reshape([-1, 6])
        word = paddle.ones([batch * beams], dtype="int64")
        total = paddle.to_tensor([[0.0, -1e9, -1e9]]).tile([batch, 1])
        words, parents = [], []
        for i in range(4):
            out, state = self.cell(self.words(word), state)
            scores = F.log_softmax(self.head(out)).reshape([batch, beams, count])
            total, best = paddle.topk((scores + total.unsqueeze(-1)).reshape([batch, -1]), beams)
            parent, word = best // count, (best % count).reshape([-1])
            rows = (paddle.arange(batch).unsqueeze(-1) * beams + parent).reshape([-1])
            state = paddle.gather(state, rows)
            words.append(word.reshape([batch, beams]))
            parents.append(parent)
        found = F.gather_tree(paddle.stack(words), paddle.stack(parents))
        return found.transpose([1, 2, 0]), total


@model(floats(None, None, 5), ints(None), sizes=[[(1, 4, 5), (1,)], [(3, 7, 5), (3,)]])
class Recurrent(nn.Layer):
    """All kinds of recurrent layers, and sequences of their own lengths."""

    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTM(5, 4, direction="bidirect"), nn.GRU(8, 4, num_layers=2)
        self.rnn = nn.SimpleRNN(4, 3, activation="relu")

    def forward(self, x, lengths):
        y, (h, c) = self.lstm(x, sequence_length=lengths)
        y, last = self.gru(y)
        z, _ = self.rnn(y)
        return z, h, c, last


@model(floats(None, 6), floats(1), sizes=[[(2, 6), (1,)], [(5, 6), (1,)]])
class Branches(nn.Layer):
    """Values that decide: branches in branches, a loop of unknown length with one inside."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x, limit):
        if x.mean() > limit:
            y = self.a(x)
            if y.sum() > 0:
                y = y - 1
            else:
                y = y + 2
        else:
            y = self.b(x) * 2
        turns = paddle.zeros([1], dtype="int64")
        while paddle.abs(y).max() > 0.5:
            if turns % 2 == 0:
                y = y * 0.5
            else:
                y = F.tanh(y) * 0.75
            turns = turns + 1
        return y, turns


@model(floats(None, None, 4), sizes=[[(2, 3, 4)], [(3, 6, 4)]])
class Gathered(nn.Layer):
    """A list that a loop over a length that is not known fills."""

    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(8, 4)

    def forward(self, x):
        state = paddle.zeros([x.shape[0], 4])
        outputs = []
        for i in range(x.shape[1]):
            state = F.tanh(self.cell(paddle.concat([x[:, i], state], axis=-1)))
            outputs.append(state)
        return paddle.stack(outputs, axis=1), state


# -- writing ----------------------------------------------------------------------------------


def inputs_of(specs, shapes, random):
    for spec, shape in zip(specs, shapes):
        dtype = str(spec.dtype).removeprefix("paddle.")
        if dtype == "float32":
            values = random.standard_normal(shape)
            if len(shape) == 2 and shape[1] == 4:  # boxes
                values = np.sort(random.uniform(2, 22, (shape[0], 2, 2)), axis=1).reshape(shape)
            elif len(shape) == 2 and shape[1] == 2:  # scales
                values = random.uniform(0.5, 2, shape)
        elif dtype == "int32" and len(shape) == 1:  # regions of each image
            values = [3] if shape[0] == 1 else [2, 3]
        elif dtype == "int32":
            values = random.integers(30, 60, shape)
        elif len(shape) == 1:  # lengths
            values = random.integers(1, 5, shape)
        else:
            values = random.integers(0, 12, shape)
        yield np.asarray(values, dtype)


def write(folder, name):
    made, specs, sizes = MODELS[name]
    paddle.seed(sum(map(ord, name)))
    random = np.random.default_rng(len(name))
    net = made()
    for one in net.parameters():
        # Weights that do something: norms and biases are not those of an untrained net.
        if one.ndim == 1:
            noise = random.standard_normal(one.shape).astype("float32")
            one.set_value(one.numpy() * (1 + 0.1 * noise) + 0.1 * noise)
    for key, one in net.named_buffers():
        if "_mean" in key or "_variance" in key:
            one.set_value(
                np.abs(one.numpy() + 0.2 * random.standard_normal(one.shape)).astype("float32")
            )
    net.eval()
    kept = {}
    for place, shapes in enumerate(sizes):
        given = list(inputs_of(specs, shapes, random))
        outputs = net(*map(paddle.to_tensor, given))
        outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        kept.update({f"x{place}_{i}": one for i, one in enumerate(given)})
        kept.update({f"y{place}_{i}": one.numpy() for i, one in enumerate(outputs)})
    path = os.path.join(folder, name.lower())
    paddle.jit.save(net, path, input_spec=list(specs))
    np.savez_compressed(f"{path}.npz", **kept)
    if not IS_PIR:
        drop_callers(f"{path}.pdmodel")


def drop_callers(file):
    """Take the places in sources that called its operators out of a model."""
    with open(file, "rb") as opened:
        program = paddle.base.core.ProgramDesc(opened.read())
    for number in range(program.num_blocks()):
        block = program.block(number)
        for operator in map(block.op, range(block.op_size())):
            if operator.has_attr("op_callstack"):
                operator.remove_attr("op_callstack")
    with open(file, "wb") as opened:
        opened.write(program.serialize_to_string())


# Functions of 3.3 that take no variables of the older form, as operators of it: inputs and
# attributes in the order of the function's arguments, each attribute with its default.
OLD = """
abs acos acosh asin atanh ceil cos cosh exp expm1 floor isfinite=isfinite_v2 isinf=isinf_v2 \
isnan=isnan_v2 log log10 log1p log2 logical_not round rsqrt sigmoid sign sin sinh sqrt tanh: X
gelu: X | approximate=False
softplus: X | beta=1.0 threshold=20.0
matmul=matmul_v2: X Y | trans_x=False trans_y=False
multiply=elementwise_mul maximum=elementwise_max minimum=elementwise_min greater_than bmm dot \
logical_and logical_or logical_xor: X Y
expand_as=expand_as_v2: X Y
argmax=arg_max argmin=arg_min: X | axis=None keepdims=False dtype="int64"
all=reduce_all any=reduce_any amax=reduce_amax amin=reduce_amin: X | dim=None keep_dim=False
sum=reduce_sum: X | dim=None dtype=None keep_dim=False
logsumexp: X | axis=None keepdim=False
tril=tril_triu triu=tril_triu: X | diagonal=0
roll: X | shifts=None axis=None
diagonal: Input | offset=0 axis1=0 axis2=1
grid_sample=grid_sampler: X Grid | mode="bilinear" padding_mode="zeros" align_corners=True
"""
# What arguments are called there, where that is another name.
NAMES = {"transpose_x": "trans_x", "transpose_y": "trans_y", "keepdim": "keep_dim", "axis": "dim"}


def old_function(name, kind, inputs, attributes, original):
    def function(*args, **kwargs):
        if paddle.in_dynamic_mode():
            return original(*args, **kwargs)
        tensors = [
            one for one in (*args, *kwargs.values()) if isinstance(one, paddle.static.Variable)
        ]
        kwargs.pop("name", None)
        given, values = {}, list(args)
        for place, parameter in enumerate(inputs):
            keys = ("x", "input") if not place else ("y", "grid")
            found = values.pop(0) if values else next(kwargs.pop(k) for k in keys if k in kwargs)
            if not isinstance(found, paddle.static.Variable):
                found = paddle.full([], found, tensors[0].dtype)
            given[parameter] = [found]
        kept = dict(attributes)
        kept.update(zip(attributes, values))
        for key, value in kwargs.items():
            key = key if key in kept else NAMES.get(key, {"keepdim": "keepdims"}.get(key))
            kept["keepdims" if "keepdims" in kept and key == "keep_dim" else key] = value
        return appended(kind, given, kept, name)

    return function


def appended(kind, given, kept, name):
    from paddle.base.layer_helper import LayerHelper

    first = given.get("X", given.get("Input"))[0]
    kinds = {
        "argmax": "int64",
        "argmin": "int64",
        "greater_than": "bool",
        "all": "bool",
        "any": "bool",
    }
    dtype = kinds.get(name, "bool" if name[:3] in ("isn", "isi", "isf", "log") and "og1" not in name
                      and name not in ("log", "log2", "logsumexp") else first.dtype)  # fmt: skip
    if kind == "tril_triu":
        kept["lower"] = name == "tril"
    for key in ("dim", "axis"):
        if key in kept and (
            kept[key] is None or isinstance(kept[key], (list, tuple)) or "reduce" in kind
        ):
            if kind.startswith("reduce") or kind == "logsumexp":
                kept["reduce_all"] = kept[key] in (None, [], ())
            value = kept[key]
            if kind.startswith("arg"):
                kept["flatten"], kept[key] = value is None, value or 0
            else:
                kept[key] = (
                    [] if value is None else list(value) if not isinstance(value, int) else [value]
                )
    if kind == "roll":
        shifts, axis = kept["shifts"], kept["axis"]
        kept["shifts"] = [shifts] if isinstance(shifts, int) else list(shifts)
        kept["axis"] = [axis] if isinstance(axis, int) else list(axis or [])
    if "dtype" in kept:
        wanted = kept.pop("dtype")
        if wanted is not None:
            kept["out_dtype" if kind == "reduce_sum" else "dtype"] = (
                paddle.base.framework.convert_np_dtype_to_dtype_(wanted)
            )
    helper = LayerHelper(kind)
    out = helper.create_variable_for_type_inference(dtype)
    result = "Output" if kind == "grid_sampler" else "Out"
    helper.append_op(type=kind, inputs=given, outputs={result: [out]}, attrs=kept)
    return out


def use_old_functions():
    """Let functions take variables of the older form again."""
    homes = (paddle, paddle.tensor, F, paddle.nn, paddle.tensor.math, paddle.tensor.logic,
             paddle.tensor.linalg, paddle.tensor.search, paddle.tensor.ops, paddle.static.Variable,
             paddle.tensor.manipulation, paddle.tensor.creation, F.activation, F.vision)  # fmt: skip
    for line in OLD.strip().replace("\\\n", "").splitlines():
        names, _, rest = line.partition(": ")
        inputs, _, attributes = rest.partition(" | ")
        kept = eval(f"dict({', '.join(attributes.split())})") if attributes else {}
        for pair in names.split():
            name, _, kind = pair.partition("=")
            for home in homes:
                if hasattr(home, name):
                    original = getattr(home, name)
                    setattr(
                        home, name, old_function(name, kind or name, inputs.split(), kept, original)
                    )


def main(folder, *names):
    if not IS_PIR:
        # Layers of the older form cannot show where an empty tensor of a recurrent layer lies.
        paddle.Tensor.device = property(lambda self: None)
        use_old_functions()
    for name in names or MODELS:
        try:
            write(folder, name)
            print("wrote", name, flush=True)
        except Exception as error:
            print("FAILED", name, type(error).__name__, str(error)[-300:], flush=True)
            if names:
                raise


if __name__ == "__main__":
    main(*sys.argv[1:])
