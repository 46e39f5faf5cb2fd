"""The models of the examples as ONNX: verified as they are written, and equal at a third size."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st

pytest.importorskip("onnx", reason="ONNX needs onnx: pip install 'dy2st[onnx]'")
onnxruntime = pytest.importorskip("onnxruntime", reason="ONNX needs the extra onnx")

from examples.networks.models import MODELS as NETWORKS  # noqa: E402
from examples.zoo.models import MODELS as ZOO  # noqa: E402
from tests.effort import effort  # noqa: E402


def outputs(result):
    return [result.numpy()] if isinstance(result, dy2st.Tensor) else [r.numpy() for r in result]


def check(net, specs, inputs, folder):
    net.eval()
    (file,) = dy2st.onnx.export(net, folder / "net", specs)
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]
    found = session.run(None, dict(zip(names, inputs, strict=True)))
    with dy2st.no_grad():
        wanted = outputs(net(*map(dy2st.to_tensor, inputs)))
    for have, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-4 * np.abs(want).max())


@pytest.mark.parametrize("name", [*ZOO][:: effort(4, 1)])
def test_a_model_of_the_zoo_is_written(name, tmp_path):
    model = ZOO[name]
    inputs = model.inputs(np.random.default_rng(5), 5, True)
    check(model.tiny(), model.tiny_specs, inputs, tmp_path)


@pytest.mark.parametrize("name", [*NETWORKS][:: effort(5, 1)])
def test_a_network_for_the_opu_is_written(name, tmp_path):
    model = NETWORKS[name]
    inputs = model.inputs(np.random.default_rng(5), small=True)
    check(model.make(small=True), model.specs(small=True), inputs[:1], tmp_path)
