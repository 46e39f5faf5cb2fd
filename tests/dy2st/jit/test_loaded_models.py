"""Models out of files, given to `to_static`: passes and engines, or a refusal."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st_runtime import Limits, LoadedModel


@pytest.fixture
def model(tmp_path):
    dy2st.seed(0)
    net = nn.Sequential(nn.Conv2D(3, 8, 3, bias_attr=False), nn.BatchNorm2D(8), nn.ReLU())
    net[1].weight.set_value(np.linspace(0.5, 2.0, 8, dtype="float32"))
    dy2st.jit.save(net.eval(), str(tmp_path / "net"), [InputSpec(["n", 3, 8, 8])])
    return dy2st.jit.load(str(tmp_path / "net"))


@pytest.mark.parametrize("engine", [None, "numpy", "native"])
def test_passes_make_another_model_that_computes_the_same(model, engine):
    fast = to_static(model, build_strategy="inference", engine=engine)
    x = dy2st.randn([2, 3, 8, 8])
    np.testing.assert_allclose(fast(x).numpy(), model(x).numpy(), rtol=1e-5, atol=1e-6)
    names = [operator.name for operator in fast.programs["forward"].operators]
    assert "batch_norm" not in names
    assert "batch_norm" in [one.name for one in model.programs["forward"].operators]


def test_an_engine_alone_keeps_the_program(model):
    fast = to_static(model, engine="native")
    x = dy2st.randn([2, 3, 8, 8])
    np.testing.assert_allclose(fast(x).numpy(), model(x).numpy(), rtol=1e-5, atol=1e-6)
    assert fast.forward.engine == "native"


def test_weights_have_dtypes_that_engines_know_by_identity(model):
    file = model.state_dict()
    program = model.programs["forward"]
    own = {n: np.frombuffer(t.numpy().tobytes(), "<f4").reshape(t.shape) for n, t in file.items()}
    other = LoadedModel([program], {n: pickle.loads(pickle.dumps(a)) for n, a in own.items()})
    dtypes = [tensor.dtype for tensor in other.state_dict().values()]
    assert all(dtype is np.dtype("float32") for dtype in dtypes)


def test_without_settings_it_is_the_model_itself(model):
    assert to_static(model) is model


def test_specs_of_inputs_are_refused(model):
    with pytest.raises(dy2st.errors.ArgumentError, match="has Programs"):
        to_static(model, [InputSpec([1, 3, 8, 8])])


def test_limits_stay(model, tmp_path):
    model.save(str(tmp_path / "again"))
    limits = Limits(operators=10_000)
    limited = dy2st.jit.load(str(tmp_path / "again"), limits=limits)
    assert to_static(limited, engine="numpy").limits is limits


@pytest.mark.parametrize(
    ("layer", "done"),
    [(nn.Dropout(0.5), "drops values at random"), (nn.BatchNorm1D(3), "normalises by each batch")],
)
def test_eval_warns_of_a_program_that_was_saved_in_training_mode(layer, done, tmp_path):
    def loaded():
        dy2st.jit.save(layer, str(tmp_path / "net"), [InputSpec([None, 3])])
        return dy2st.jit.load(str(tmp_path / "net"))

    layer.train()
    with pytest.warns(UserWarning, match=rf"eval\(\) leaves.* forward\(\).*{done}.*its own eval"):
        loaded().train().eval()
    layer.eval()
    assert not loaded().eval().training
