"""Networks against PaddlePaddle's: names and shapes of parameters, outputs, Programs of any size."""

import hashlib
import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import dy2st
from dy2st import vision
from dy2st.errors import ArgumentError
from dy2st.paddle.vision import models
from dy2st.static import InputSpec
from tests.dy2st.paddle.vision.fixed_weights import fill, fixed_picture

DATA = Path(__file__).parents[3] / "data" / "vision"
# sha256 of the sorted names and shapes of PaddlePaddle 3's state_dict, by a call
DIGESTS = json.loads((DATA / "state_digests.json").read_text())
# PaddlePaddle 3's outputs for the weights and pictures of fixed_weights.py, means of fifths
OUTPUTS = json.loads((DATA / "outputs.json").read_text())
QUICK = ("LeNet", "mobilenet", "resnet18", "shufflenet", "squeezenet")


def made(call):
    name, _, settings = call.partition(" ")
    return getattr(models, name)(**(json.loads(settings) if settings else {}))


def marked(names):
    slow = pytest.mark.slow
    return [n if n.startswith(QUICK) else pytest.param(n, marks=slow) for n in names]


def test_every_network_is_compared():
    assert {call.partition(" ")[0] for call in DIGESTS} == {
        name for name in models.__all__ if name.islower() or name == "LeNet"
    }


@pytest.mark.parametrize("call", marked(DIGESTS))
def test_parameters_have_paddlepaddles_names_and_shapes(call):
    state = made(call).state_dict()
    lines = [f"{name} {list(value.shape)}" for name, value in state.items()]
    rows = sorted((line.split(" ", 1)[0], line) for line in lines)
    text = "\n".join(line for _, line in rows)
    assert hashlib.sha256(text.encode()).hexdigest() == DIGESTS[call]


@pytest.mark.parametrize("name", marked(OUTPUTS))
def test_outputs_are_paddlepaddles(name):
    row = OUTPUTS[name]
    model = getattr(models, name)(**row["settings"])
    fill(model, dy2st.to_tensor)
    picture = fixed_picture([1, 1 if name == "LeNet" else 3, row["size"], row["size"]])
    y = model(dy2st.to_tensor(picture))
    for ours, wanted in zip(y if isinstance(y, list) else [y], row["outputs"], strict=True):
        parts = np.array_split(ours.numpy().reshape(-1).astype("float64"), 5)
        means = [part.mean() for part in parts]
        np.testing.assert_allclose(means, wanted, rtol=1e-4, atol=1e-4 * np.abs(wanted).max())


@pytest.mark.parametrize("name", marked(OUTPUTS))
def test_one_program_is_for_all_sizes(name):
    row = OUTPUTS[name]
    model = getattr(models, name)(**row["settings"])
    fill(model, dy2st.to_tensor)
    channels, size = (1, 28) if name == "LeNet" else (3, row["size"])
    sizes = [size, size] if name in ("LeNet", "googlenet") else [None, None]
    spec = InputSpec([None, channels, *sizes])
    static = dy2st.jit.to_static(model.forward, input_spec=[spec])
    for batch in (1, 2):
        wider = 0 if sizes[0] else 8 * batch
        x = dy2st.to_tensor(fixed_picture([batch, channels, size, size + wider]))
        ours, wanted = static(x), model(x)
        for one, other in zip(
            ours if isinstance(ours, list) else [ours],
            wanted if isinstance(wanted, list) else [wanted],
            strict=True,
        ):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-5)


def test_weights_are_not_fetched():
    with pytest.raises(ArgumentError, match=r"dy2st\.load\('resnet18\.pdparams'\)"):
        models.resnet18(pretrained=True)


def test_networks_without_classes_give_features():
    x = dy2st.ones([2, 3, 64, 64])
    assert models.mobilenet_v2(scale=0.35, num_classes=0)(x).shape == [2, 1280, 1, 1]
    body = models.mobilenet_v1(scale=0.25, num_classes=0, with_pool=False)
    assert body(x).shape == [2, 256, 2, 2]
    assert models.squeezenet1_1(num_classes=0)(x).shape == [2, 512]


def test_blocks_make_other_networks():
    from_blocks = models.resnet.ResNet(models.resnet.BottleneckBlock, 50, num_classes=0)
    assert from_blocks._make_layer(models.resnet.BottleneckBlock, 64, 2)[1].conv2.weight.shape == [
        64,
        64,
        3,
        3,
    ]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: models.DenseNet(99), "not 99"),
        (lambda: models.SqueezeNet("2"), "not '2'"),
        (lambda: models.ShuffleNetV2(0.7), "not 0.7"),
        (lambda: models.ShuffleNetV2(act="gelu"), "'gelu'"),
    ],
)
def test_unknown_variants_are_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_functions_stand_before_modules_of_their_name():
    module = import_module("dy2st.vision.models.alexnet")
    assert models.alexnet is vision.alexnet is module.alexnet
    assert models.googlenet is vision.googlenet and callable(models.googlenet)
    assert models.mobilenetv3.MobileNetV3Small is models.MobileNetV3Small


def test_names_stand_in_vision_too():
    for module, names in vision._TOO.items():
        for name in names.split():
            assert getattr(vision, name) is getattr(import_module(module), name)
