"""Lists what a name that both have does otherwise here, on purpose; and arguments that differ.

`expression` shows it, in the words of the tests that compare with PaddlePaddle: P is the package, F
its functional, X(2, 3) a random tensor, T([1]) a tensor of an array.
"""

from __future__ import annotations

from typing import NamedTuple


class Difference(NamedTuple):
    """One difference: what is computed here and there, why, and what makes it the same."""

    name: str
    ours: str
    theirs: str
    why: str
    switch: str = ""
    expression: str = ""


DIFFERENCES = (
    Difference(
        "integers that become floats",
        "float64 for int64 and int32, as NumPy has it",
        "float32",
        "int64 has more digits than float32; a model that was written for NumPy keeps them",
        'dy2st.set_promotion("paddle"), which `python -m dy2st.paddle` turns on',
    ),
    Difference(
        "an integer tensor beside a float tensor",
        "a float",
        "an error, but for numbers of Python",
        "what it means is clear",
        expression="T([1, 2]) + T([0.5, 1.5])",
    ),
    Difference(
        "integer tensors of two dtypes",
        "the dtype that holds both",
        "an error",
        "what it means is clear",
        expression="T([1, 2]) + T([1, 2], 'int32')",
    ),
    Difference(
        "mean, var of integers",
        "a float",
        "the integers' dtype, with the fraction cut off",
        "a mean is no integer",
        expression="P.mean(T([1, 2]))",
    ),
    Difference(
        "sum of int8, int16, uint8",
        "int64",
        "the same dtype: it overflows without a word",
        "silent wrong numbers",
        "x.sum().astype(x.dtype)",
        expression="P.sum(T([100, 100], 'int8'))",
    ),
    Difference(
        "prod, cumprod of int32",
        "int64",
        "int32: it overflows without a word",
        "silent wrong numbers",
        "dtype='int32'",
        expression="P.prod(T([2, 3], 'int32'))",
    ),
    Difference(
        "division of bools",
        "a float",
        "bool",
        "as in Python",
        expression="T([True]) / T([True])",
    ),
    Difference(
        "atan2 of integers",
        "float32 with promotion as PaddlePaddle's",
        "float64, unlike all other functions",
        "one rule for all functions",
        expression="P.atan2(T([1, 2]), T([2, 1]))",
    ),
    Difference(
        "argmax, argmin with NaN",
        "the first NaN, as max and min give NaN",
        "NaN is passed over",
        "the element at argmax is the max",
        expression="P.argmax(T([1.0, float('nan'), 3.0]))",
    ),
    Difference(
        "conv, padding='SAME' with a dilation",
        "the dilation that was given",
        "dilation 1",
        "an argument that is dropped without a word",
        "dilation=1",
        expression="F.conv2d(X(1, 3, 5, 5), X(2, 3, 3, 3), padding='SAME', dilation=2)",
    ),
    Difference(
        "pooling: a window that is larger than the image by less than a stride, where the "
        "InputSpec leaves the size open",
        "such a size is refused at the call; one that the InputSpec has as a number is taken",
        "one window",
        "shapes of all pools would be formulas with max",
    ),
    Difference(
        "pooling, ceil_mode: windows that begin in the padding behind the image",
        "are left out",
        "are there: NaN, 0 or -3.4e38",
        "they hold no element",
        expression="F.max_pool2d(X(1, 1, 5, 5), 2, padding=1, ceil_mode=True)",
    ),
    Difference(
        "avg_pool, exclusive=False, other padding before than behind",
        "counts the padding that is there",
        "takes the padding before for both",
        "the mean of a window",
        expression="F.avg_pool2d(X(1, 1, 3, 3), 5, stride=4, "
        "padding=[[0, 0], [0, 0], [1, 0], [0, 0]], exclusive=False)",
    ),
    Difference(
        "cross_entropy, label_smoothing with ignore_index from 0 on",
        "the mean over the labels that count",
        "divides by the number of probabilities that are not ignore_index",
        "it compares probabilities with a class number",
        expression="F.cross_entropy(X(3, 4), T([1, 2, 0]), ignore_index=0, label_smoothing=0.1)",
    ),
    Difference(
        "cross_entropy, label_smoothing with labels (n, 1)",
        "as for labels (n,)",
        "an error",
        "what it means is clear",
        expression="F.cross_entropy(X(3, 4), T([[1], [2], [0]]), label_smoothing=0.1)",
    ),
    Difference(
        "sort, argsort",
        "always stable",
        "only with stable=True",
        "one order, on every machine",
    ),
    Difference("unique", "always in order", "only with sorted=True", "one order"),
    Difference(
        "hardsigmoid, the default slope",
        "1 / 6",
        "0.1666667",
        "it is 1 / 6 in the paper; they differ by 3e-8",
        "slope=0.1666667",
    ),
    Difference(
        "embedding, max_norm",
        "scales what is looked up",
        "changes the table, too",
        "a Program changes no parameter by looking at it",
    ),
    Difference(
        "interpolate of (n, c, l), mode='nearest', 'bilinear'",
        "works",
        "an error",
        "what it means is clear",
        expression="F.interpolate(X(1, 1, 3), size=[5])",
    ),
    Difference(
        "max_pool2d, return_mask with data_format='NHWC'",
        "gives the places in one channel",
        "an error",
        "what it means is clear",
        expression="F.max_pool2d(X(1, 3, 3, 1), 2, return_mask=True, data_format='NHWC')",
    ),
    Difference(
        "the gradient of group_norm without weight",
        "what its definition gives: it does not change if a group is shifted",
        "another one",
        "finite differences say so; with a weight both are equal",
    ),
    Difference(
        "vision.ops.nms, top_k without categories",
        "keeps the best k",
        "keeps all",
        "that is what it is for",
    ),
    Difference(
        "the gradient of vision.ops.roi_align, aligned, for boxes of less than a pixel",
        "what its definition gives",
        "that of a box of one pixel",
        "finite differences say so",
    ),
    Difference(
        "vision.ops.roi_align without sampling_ratio, a box that ends before it begins",
        "0",
        "NaN",
        "there are no points in it, as in an empty part of roi_pool",
    ),
    Difference(
        "the divergence of distribution.Geometric",
        "that of the whole distribution",
        "that of one trial: too small by the factor `probs`",
        "it is the sum that it stands for",
    ),
    Difference(
        "the draws of distribution.LKJCholesky by 'onion'",
        "follow its density",
        "are too long from the third row on",
        "the correlations are beta distributed, as those by 'cvine' are",
    ),
    Difference(
        "vision.models, pretrained=True",
        "refused: model.set_state_dict(dy2st.load('resnet18.pdparams'))",
        "downloads the weights",
        "nothing is ever downloaded; names and shapes of the parameters are the same",
    ),
    Difference(
        "files of distributed.save_state_dict",
        "safetensors, and an index that takes the old one's place when all processes have written",
        "`.distcp` files by default, beside those of the time before",
        "a process that is killed leaves a checkpoint that is whole; no pickle is read",
    ),
    Difference(
        "random numbers",
        "NumPy's generator: a seed gives other numbers",
        "its own generator",
        "the distributions are the same, the numbers cannot be",
    ),
    Difference(
        "concat of tensors without axes",
        "each is a vector of one element",
        "an error",
        "what it means is clear",
        expression="P.concat([T(1), T([2, 3])])",
    ),
    Difference(
        "an integer tensor without axes // a number",
        "has no axes",
        "has one axis, of one element",
        "operators keep the axes",
        expression="T(5) // 2",
    ),
    Difference(
        "index_put with a mask without True, values that do not fit",
        "refused, as with any mask",
        "nothing is put",
        "whether a shape fits does not depend on the data",
    ),
    Difference(
        "out=",
        "no gradient flows through what is written into it",
        "the result itself",
        "`y = f(x)` says the same",
    ),
)

_OTHER_NAMES = "input, other, dim are other names of the arguments"
_BY_NAME = "bias, device, dtype, affine, elementwise_affine are taken by name only"
_FORMAT = "no data_format means the first one of the class"
_TWO_AXES = "two axes; PaddlePaddle shows one and takes two"
_APART = "sizes or axes may be given one by one"

ARGUMENTS = {
    **dict.fromkeys(("paddle.softmax", "Tensor.softmax"), _OTHER_NAMES),
    **dict.fromkeys(("paddle.trunc", "Tensor.trunc"), _OTHER_NAMES),
    **dict.fromkeys(("paddle.true_divide", "Tensor.true_divide"), _OTHER_NAMES),
    **dict.fromkeys(("paddle.swapaxes", "Tensor.swapaxes"), _TWO_AXES),
    **dict.fromkeys(("paddle.swapdims", "Tensor.swapdims"), _TWO_AXES),
    **dict.fromkeys(("paddle.transpose", "Tensor.transpose"), "takes dim0 and dim1 by name too"),
    **dict.fromkeys(("paddle.std", "Tensor.std"), "takes correction too, as var does"),
    **dict.fromkeys(("paddle.permute", "Tensor.permute", "Tensor.repeat"), _APART),
    **dict.fromkeys(("Tensor.new_empty", "Tensor.new_ones", "Tensor.new_zeros"), _APART),
    **{f"nn.Conv{n}{d}": _BY_NAME for n in (1, 2, 3) for d in "Dd"},
    **{f"nn.{name}Norm": _BY_NAME for name in ("Group", "Layer")},
    **{f"nn.{name}Norm{n}D": _FORMAT for name in ("Batch", "Instance") for n in (1, 2, 3)},
    **{
        f"{place}.bitwise_{side}_shift": "takes out by position"
        for place in ("paddle", "Tensor")
        for side in ("left", "right")
    },
    **dict.fromkeys(("paddle.cdist", "Tensor.cdist"), "compute_mode says nothing"),
    **dict.fromkeys(("nn.GRUCell", "nn.LSTMCell"), "no name, no proj_size"),
    **{f"{p}.view_as_{k}": _OTHER_NAMES for p in ("paddle", "Tensor") for k in ("real", "complex")},
    "initializer.UniformInitializer": "is Uniform: diag_num, diag_step, diag_val are not here",
    "vision.ops.ConvNormActivation": "its defaults are layers of dy2st",
    "static.Variable": "is made by a trace, not by users",
    "paddle.asarray": "takes device by position",
    "paddle.from_dlpack": "takes device by position",
    "paddle.autocast": "is amp.auto_cast; PaddlePaddle has a function of its own for torch's order",
    "optimizer.Optimizer": "the base class has a default learning rate, and settings of a class",
    "jit.TranslatedLayer": "is made by jit.load, not by users",
}
"""Names whose arguments `inspect.signature` shows otherwise, and why."""
