"""Random sequences of what one does with state that lies on the devices, beside converted steps.

`python -m tests.runtime.engine.xla.kept_programs COUNT [--from SEED]` says which differ from the
same sequences on NumPy's engine.
"""

from __future__ import annotations

import argparse
import copy
import pickle
import tempfile
from pathlib import Path

import numpy as np

import dy2st
from dy2st import nn, optimizer, to_static

ENGINES = ("numpy", "native")
XS = np.random.default_rng(1).standard_normal((4, 8, 4))


class Player:
    """Two Layers that share a weight, an optimizer, and Programs that use them."""

    def __init__(self, engine):
        """Everything as it is at the beginning."""
        dy2st.seed(2)
        self.first = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1D(4), nn.Tanh(), nn.Linear(4, 4))
        self.second = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
        self.second[0].weight = self.first[0].weight
        for one in (self.first, self.second):
            one.to(dtype="float64")
        tensors = {id(p): p for p in [*self.first.parameters(), *self.second.parameters()]}
        self.adam = optimizer.Adam(0.05, parameters=[*tensors.values()])
        self.engine, self.functions, self.held = engine, {}, []

    def step(self, x):
        """Both networks learn."""
        loss = (self.first(x) ** 2).mean() + (self.second(x) - 0.5).abs().mean()
        loss.backward()
        self.adam.step()
        self.adam.clear_grad()
        return loss

    def one_learns(self, x):
        """The second learns; where the batch is strange, an assertion fails."""
        loss = (self.second(x) ** 2).mean()
        assert x.abs().max() < 1e6, "too large"
        loss.backward()
        self.adam.step()
        self.adam.clear_grad()
        return loss

    def counts(self, x):
        """A buffer moves, nothing learns."""
        with dy2st.no_grad():
            self.first[1]._mean.add_(x.mean(axis=0))
            return self.second(x).sum() + self.first[1]._mean.sum()

    def call(self, name, x, engine=""):
        """A Program of an engine, or eagerly."""
        if engine == "eager":
            return getattr(self, name)(x)
        key = name, engine or self.engine
        if key not in self.functions:
            self.functions[key] = to_static(getattr(self, name), engine=key[1])
        return self.functions[key](x)

    @property
    def tensors(self):
        """All state of the networks."""
        return [*self.first.state_dict().values(), *self.second.state_dict().values()]

    def do(self, action, random):
        """Do one thing; what is seen of it."""
        tensor = self.tensors[random.integers(len(self.tensors))]
        x = dy2st.to_tensor(XS[random.integers(len(XS))])
        name = ("step", "one_learns", "counts")[random.integers(3)]
        return getattr(self, f"_{action}")(tensor, x, name, random)

    def _run(self, _, x, name, random):
        return [self.call(name, x)]

    def _run_again(self, _, x, name, random):
        return [self.call(name, x) for _ in range(3)]

    def _elsewhere(self, _, x, name, random):
        return [self.call(name, x, (*ENGINES, "eager")[random.integers(3)])]

    def _raise(self, _, x, name, random):
        try:
            self.call("one_learns", x * 1e9)
        except AssertionError:
            return []
        raise ValueError("no assertion")

    def _look(self, tensor, *_):
        return [tensor]

    def _hold(self, tensor, *_):
        self.held.append(tensor.detach())
        return []

    def _hold_data(self, tensor, *_):
        self.held.append(tensor.data)
        return []

    def _hold_numpy(self, tensor, *_):
        self.held.append(tensor.numpy())
        return []

    def _view(self, tensor, *_):
        with dy2st.no_grad():
            self.held.append(tensor.reshape([-1])[:2])
        return []

    def _set(self, tensor, x, name, random):
        tensor.set_value(random.standard_normal(tensor.shape))
        return []

    def _set_from(self, tensor, x, name, random):
        tensor.set_value(tensor * 0.5)
        return []

    def _change(self, tensor, *_):
        with dy2st.no_grad():
            tensor.add_(dy2st.full_like(tensor, 0.25))
        return []

    def _set_item(self, tensor, *_):
        with dy2st.no_grad():
            tensor[0] = 0.5
        return []

    def _change_held(self, tensor, x, name, random):
        if not self.held:
            return []
        one = self.held[random.integers(len(self.held))]
        if isinstance(one, np.ndarray):
            one += 1.0
        else:
            with dy2st.no_grad():
                one.multiply_(dy2st.full_like(one, 0.5))
        return []

    def _deepcopy(self, *_):
        made = copy.deepcopy(self.second)
        return [made(dy2st.to_tensor(XS[0]))]

    def _become_a_copy(self, *_):
        made = copy.deepcopy((self.first, self.second, self.adam))
        self.first, self.second, self.adam = made
        self.functions.clear()
        return []

    def _pickle(self, tensor, *_):
        return [pickle.loads(pickle.dumps(tensor))]

    def _save_and_load(self, *_):
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "net")
            dy2st.save(self.first.state_dict(), path)
            self.first.set_state_dict(dy2st.load(path))
            self.adam.set_state_dict(self.adam.state_dict())
        return []

    def _swap(self, *_):
        ours, theirs = self.first[3].weight, self.first[0].weight
        ours.set_value(theirs)
        return []

    def _infer(self, _, x, name, random):
        with dy2st.no_grad():
            return [self.second(x)]


ACTIONS = [name[1:] for name in vars(Player) if name[0] == "_" and name[1] != "_"]


def numbers(values):
    """Their arrays."""
    return [np.array(one.numpy() if isinstance(one, dy2st.Tensor) else one) for one in values]


def played(engine, seed, length=14):
    """What is seen at each action of a sequence, and at the end."""
    random, player, seen = np.random.default_rng(seed), Player(engine), []
    actions = ["run", *random.choice(ACTIONS + ["run", "run_again"] * 3, length)]
    for action in actions:
        seen.append((action, numbers(player.do(action, random))))
    state = [one for one in player.adam.state_dict().values() if isinstance(one, dy2st.Tensor)]
    seen.append(("end", numbers([*player.tensors, *player.held, *state])))
    return seen


def check(seed):
    """Raise AssertionError where the engine xla differs from NumPy's."""
    wanted, found = played("numpy", seed), played("xla", seed)
    done = []
    for (action, ones), (_, others) in zip(wanted, found, strict=True):
        done.append(action)
        for one, other in zip(ones, others, strict=True):
            np.testing.assert_allclose(other, one, 1e-7, 1e-8, err_msg=str(done))


def main():
    """Check so many sequences."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--from", type=int, default=0, dest="start")
    given = parser.parse_args()
    failed = 0
    for seed in range(given.start, given.start + given.count):
        try:
            check(seed)
        except Exception as error:  # said, and counted
            failed += 1
            print(f"{seed}: {type(error).__name__}: {str(error)[:600]}", flush=True)
    print(f"{given.count - failed} of {given.count} sequences are equal")
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
