"""Models of ONNX: what writing one costs, and a call of the engine above onnxruntime itself."""

from __future__ import annotations

import numpy as np
import pytest
from measuring import median_seconds, seconds_above, times

import dy2st
import dy2st.paddle
from dy2st import nn
from dy2st.jit.save_load import programs_to_save
from dy2st.static import InputSpec
from dy2st_runtime import engine

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from dy2st_runtime.engine.onnx.model import write_model  # noqa: E402

WIDTH, CALLS = 384, 50


class Encoder(nn.Layer):
    """As `examples/sentence_embeddings.py` has it: six layers, and a mean of unit length."""

    def __init__(self):
        super().__init__()
        self.words, self.positions = nn.Embedding(30522, WIDTH), nn.Embedding(512, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 12, 4 * WIDTH, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, 6)

    def forward(self, tokens, mask):
        mask = mask.astype("float32")
        x = self.words(tokens) + self.positions(dy2st.arange(tokens.shape[1]))
        y = self.layers(x, ((1.0 - mask) * -1e4).unsqueeze([1, 2]))
        mean = (y * mask.unsqueeze(-1)).sum(axis=1) / mask.sum(axis=1, keepdim=True)
        return mean / mean.square().sum(axis=-1, keepdim=True).sqrt()


def test_writing_an_encoder(figure):
    spec = [InputSpec(["batch", "length"], "int64", name) for name in ("tokens", "mask")]
    net = Encoder()
    net.eval()

    def export():
        programs, _ = programs_to_save(net, spec)
        write_model(programs["forward"], None)

    figure("export of a sentence encoder", lambda: median_seconds(export, 5), "s", 1.0)


def test_a_call_of_the_engine(figure, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # of which the session has as many
    net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(12)])
    static = dy2st.to_static(net, [InputSpec(["n", 8])])
    concrete = static.forward.concrete_program
    program, state = concrete.main_program, [one.array for one in concrete.state.values()]
    x = np.ones((4, 8), "float32")
    executable = engine.compile(program, "onnxruntime")
    for _ in range(4):
        executable.run([x], state)
    model = write_model(program, dict(zip(concrete.state, state)))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

    def measure():
        return (
            1e6
            / CALLS
            * seconds_above(
                lambda: [executable.run([x], state) for _ in range(CALLS)],
                lambda: [session.run(None, {model.inputs[0]: x}) for _ in range(CALLS)],
            )
        )

    figure("a call of the engine `onnxruntime` above one of the session", measure, "us", 20.0)


def resnet50():
    return dy2st.paddle.vision.models.resnet50(), [InputSpec(["n", 3, 224, 224])]


def mobilenet():
    return dy2st.paddle.vision.models.mobilenet_v2(), [InputSpec(["n", 3, 224, 224])]


def encoder():
    return Encoder(), [InputSpec(["batch", "length"], "int64", name) for name in ("tokens", "mask")]


SIZES = {"n": 1, "batch": 1, "length": 128}


@pytest.mark.parametrize("network", [resnet50, mobilenet, encoder], ids=lambda one: one.__name__)
def test_an_imported_network(figure, monkeypatch, tmp_path, network):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    dy2st.seed(0)
    net, spec = network()
    net.eval()
    [file] = dy2st.onnx.export(net, tmp_path / "net", spec, verify=False)
    model = dy2st.to_static(dy2st.onnx.load(file), build_strategy="inference", engine="native")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    inputs = [np.ones([SIZES.get(size, size) for size in one.shape], one.dtype) for one in spec]
    tensors = [dy2st.to_tensor(one) for one in inputs]
    feed = {one.name: array for one, array in zip(session.get_inputs(), inputs)}
    figure(
        f"{network.__name__} out of a file of ONNX, engine `native`, by onnxruntime's time",
        lambda: times(lambda: model(*tensors), lambda: session.run(None, feed)),
        "x",
        1.05,
    )
