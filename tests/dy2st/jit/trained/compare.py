"""Models that are trained eagerly and converted, and what compares losses and state after each step.

A model is a function that makes a Layer and says what a batch is: `@model` puts it into the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import dy2st
from dy2st import nn, optimizer, to_static

STEPS = 10
WAYS = ("layer", "step")
"""What is converted: the Layer alone, or a whole step with it."""

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: optimizer.SGD(0.05, p),
    "Momentum": lambda p: optimizer.Momentum(0.02, 0.9, p, weight_decay=0.01),
    "Adam": lambda p: optimizer.Adam(0.01, parameters=p),
    "AdamW": lambda p: optimizer.AdamW(0.01, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.5)),
    "RMSProp": lambda p: optimizer.RMSProp(0.01, parameters=p, momentum=0.3),
}


class Entry(NamedTuple):
    """A model of the table; `shape` are the sizes of a batch, `None` where they change."""

    make: Callable[[], nn.Layer]
    shape: tuple[int | None, ...]
    kind: str
    shift: float


MODELS: dict[str, Entry] = {}


def model(
    *shape: int | None,
    kind: str = "normal",
    shift: float = 0.0,
    table: dict[str, Entry] = MODELS,
) -> Any:
    """Put a function that makes a Layer, or its class, into a table.

    kind: `normal` numbers, or integers of a `code`; shift: what is added to them.
    """

    def note(make: Any) -> Any:
        assert make.__name__ not in table, make.__name__
        table[make.__name__] = Entry(make, shape, kind, shift)
        return make

    return note


def batch(entry: Entry, turn: int) -> Any:
    """The input of a step: unknown sizes go round."""
    random = np.random.default_rng(turn)
    pairs = enumerate(entry.shape)
    sizes = [2 + (turn + axis) % 3 if size is None else size for axis, size in pairs]
    if entry.kind == "code":
        return dy2st.to_tensor(random.integers(0, 7, sizes))
    return dy2st.to_tensor(random.normal(size=sizes) + entry.shift)


def loss_of(found: Any) -> Any:
    """A number that every tensor of a result moves."""
    entries = found if isinstance(found, (tuple, list)) else [found]
    return sum(((one - 0.3) ** 2).mean() for one in entries)


def trained(entry: Entry, name: str, way: str, steps: int) -> tuple[list[Any], list[Any], int]:
    """Losses, state at the end, and how many Programs it took; `way` is empty for eager training."""
    dy2st.seed(5)
    net = entry.make().to(dtype="float64")
    made = OPTIMIZERS[name](net.parameters())
    called = to_static(net) if way == "layer" else net

    def step(x: Any) -> Any:
        loss = loss_of(called(x))
        loss.backward()
        made.step()
        made.clear_grad()
        return loss

    run = to_static(step) if way == "step" else step
    dy2st.seed(3)
    losses = [run(batch(entry, turn)).item() for turn in range(steps)]
    state = [one.numpy() for one in net.state_dict().values()]
    state += [one.numpy() for one in made.state_dict().values() if hasattr(one, "numpy")]
    cache = {"layer": lambda: net.forward, "step": lambda: run}.get(way)
    return losses, state, len(cache().program_cache) if cache else 0


def check(name: str, way: str, by: str, steps: int = STEPS, most: int = 2) -> None:
    """Raise AssertionError where converted training differs from eager, or takes more Programs."""
    check_entry(MODELS[name], way, by, steps, most)


def check_entry(entry: Entry, way: str, by: str, steps: int = STEPS, most: int = 2) -> None:
    """The same of a model of another table."""
    losses, state, _ = trained(entry, by, "", steps)
    found, after, programs = trained(entry, by, way, steps)
    np.testing.assert_allclose(found, losses, 1e-10, 1e-12)
    for left, right in zip(state, after, strict=True):
        np.testing.assert_allclose(right, left, 1e-10, 1e-12)
    assert 1 <= programs <= most, f"{programs} Programs"  # the first has numbers for sizes
