"""Training that stops and goes on: five steps and five more are ten, bit for bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dy2st
import dy2st_runtime
from dy2st import amp, nn, to_static
from dy2st import optimizer as o
from tests.dy2st.jit.training_steps import MODELS, batch, loss_of, model_of

ROOT = Path(__file__).parents[3]


class Training:
    """A model, and all that moves with it."""

    def __init__(self, model, is_converted=True):
        self.model = model_of(MODELS[model])
        self.rate = o.lr.StepDecay(0.1, 2, 0.5)
        self.optimizer = o.AdamW(self.rate, parameters=self.model.parameters())
        self.scaler = amp.GradScaler(init_loss_scaling=8.0, incr_every_n_steps=3)
        self.step = to_static(self._step) if is_converted else self._step
        dy2st.seed(9)

    def _step(self, x, y):
        loss = loss_of(self.model, x, y)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.clear_grad()
        self.rate.step()
        return loss

    def run(self, start, stop):
        return [self.step(*batch(turn)).item() for turn in range(start, stop)]

    def save(self, path):
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "random": dy2st.get_rng_state(),
        }
        dy2st.save(state, path)

    def load(self, path):
        state = dy2st.load(path)
        self.model.set_state_dict(state["model"])
        self.optimizer.set_state_dict(state["optimizer"])
        self.scaler.load_state_dict(state["scaler"])
        dy2st.set_rng_state(state["random"])


@pytest.mark.parametrize("is_converted", [False, True])
@pytest.mark.parametrize("model", ["dropping", "convolutional"])
def test_a_checkpoint_goes_on_bit_for_bit(model, is_converted, tmp_path):
    wanted = Training(model, is_converted).run(0, 10)
    first = Training(model, is_converted)
    found = first.run(0, 5)
    first.save(str(tmp_path / "state.pdparams"))
    second = Training(model, is_converted)
    second.load(str(tmp_path / "state.pdparams"))
    assert found + second.run(5, 10) == wanted


def test_eager_goes_on_where_a_converted_step_has_stopped(tmp_path):
    wanted = Training("mlp").run(0, 10)
    first = Training("mlp")
    found = first.run(0, 5)
    first.save(str(tmp_path / "state.pdparams"))
    second = Training("mlp", is_converted=False)
    second.load(str(tmp_path / "state.pdparams"))
    np.testing.assert_allclose(found + second.run(5, 10), wanted, 1e-10)


def test_a_saved_step_goes_on_with_all_that_it_remembers(tmp_path):
    wanted = Training("dropping").run(0, 10)
    training = Training("dropping")
    training.run(0, 5)
    dy2st.jit.save(training.step, str(tmp_path / "step"))
    step = dy2st.jit.load(str(tmp_path / "step"))
    assert [step(*batch(turn)).item() for turn in range(5, 10)] == wanted[5:]
    assert len(step.parameters()) == 4


ALONE = """
import json, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("dy2st", "gast", "astor"):
            raise ImportError(f"{name} is not on this device")

sys.meta_path.insert(0, Blocked())
import numpy as np
import dy2st_runtime as rt

folder = sys.argv[1]
step = rt.load(f"{folder}/step")
rt.ops.set_rng_state(json.load(open(f"{folder}/random.json")))
losses = []
for turn in range(5, 10):
    if turn == 8:  # stop, and go on from what was written
        step.save(f"{folder}/later")
        step = rt.load(f"{folder}/later")
    data = np.load(f"{folder}/batch{turn}.npz")
    losses.append(step(data["x"], data["y"]).item())
print(json.dumps(losses))
"""


def test_a_saved_step_is_run_by_the_runtime_alone(tmp_path):
    wanted = Training("dropping").run(0, 10)
    training = Training("dropping")
    training.run(0, 5)
    dy2st.jit.save(training.step, str(tmp_path / "step"))
    (tmp_path / "random.json").write_text(json.dumps(dy2st.get_rng_state()))
    for turn in range(5, 10):
        x, y = batch(turn)
        np.savez(tmp_path / f"batch{turn}.npz", x=x.numpy(), y=y.numpy())
    command = [sys.executable, "-c", ALONE, str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "runtime")}  # BLAS is set there
    shown = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    assert json.loads(shown.stdout) == wanted[5:]


def test_a_step_of_a_layer_is_saved_under_the_names_of_its_tensors(tmp_path):
    class Trainer(nn.Layer):
        def __init__(self):
            super().__init__()
            self.model = model_of()
            self.optimizer = o.SGD(0.1, self.model.parameters())

        @to_static
        def forward(self, x, y):
            loss = loss_of(self.model, x, y)
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()
            return loss

    trainer = Trainer()
    for turn in range(3):
        trainer(*batch(turn))
    dy2st.jit.save(trainer, str(tmp_path / "trainer"))
    loaded = dy2st_runtime.load(str(tmp_path / "trainer"))
    loaded(*batch(3))
    trainer(*batch(3))
    for name, tensor in trainer.model.state_dict().items():
        assert np.array_equal(loaded.state_dict()[f"model.{name}"].numpy(), tensor.numpy())


def test_a_step_is_saved_after_its_first_call(tmp_path):
    wanted = Training("mlp")
    losses = [wanted.step(*batch(0)).item() for _ in range(6)]
    training = Training("mlp")
    training.run(0, 1)
    dy2st.jit.save(training.step, str(tmp_path / "step"))
    step = dy2st.jit.load(str(tmp_path / "step"))
    assert [step(*batch(0)).item() for _ in range(5)] == losses[1:]


def test_a_step_that_was_never_called_begins_in_a_loaded_model(tmp_path):
    specs = [dy2st.static.InputSpec.from_tensor(one) for one in batch(0)]
    for spec in specs:
        spec.stop_gradient = True
    dy2st.jit.save(Training("mlp").step, str(tmp_path / "step"), specs)
    step, wanted = dy2st.jit.load(str(tmp_path / "step")), Training("mlp")
    for _ in range(4):
        assert step(*batch(0)).item() == wanted.step(*batch(0)).item()


def test_a_loaded_model_is_a_layer_that_is_trained_on(tmp_path):
    def trained(model, turns):
        optimizer = o.Momentum(0.1, parameters=model.parameters())
        losses = []
        for turn in turns:
            loss = loss_of(model, *batch(turn))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss.item())
        return losses

    model = model_of()
    model[0].weight.stop_gradient = True
    trained(model, range(2))
    spec = dy2st.static.InputSpec([None, 4], "float64")
    dy2st.jit.save(model, str(tmp_path / "net"), [spec])
    loaded = dy2st.jit.load(str(tmp_path / "net"))
    assert isinstance(loaded, nn.Layer) and all(p.stop_gradient for p in loaded.parameters())
    loaded.train()
    names = {name for name, one in loaded.named_parameters() if one.stop_gradient}
    assert names == {"0.weight"}
    assert trained(loaded, range(2, 7)) == trained(model, range(2, 7))
    other = nn.Sequential(loaded, nn.Linear(3, 1))
    assert len(other.parameters()) == 6 and "0.2.weight" in other.state_dict()
    assert loaded.eval().training is False
