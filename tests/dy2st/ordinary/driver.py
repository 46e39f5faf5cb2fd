"""Does with a network what everybody does: converts it as it is, calls it, saves and loads it.

`python -m tests.dy2st.ordinary.driver [start of a name] [--networks]` tries every way of each.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import dy2st
from dy2st import nn
from dy2st.jit import trace as tracing
from dy2st.static import InputSpec
from dy2st_runtime.engine.native.convolution import regions
from tests.dy2st.ordinary.layers import NETWORKS, ROWS, Row

WITHOUT = "native without oneDNN"
ENGINES = ("numpy", "native", WITHOUT)
SIZES = ((2, 0), (2, 0), (2, 0), (3, 0), (1, 2))


@dataclass(frozen=True)
class Way:
    """One way in which people use a network."""

    engine: str = "numpy"
    spec: bool = False
    training: bool = False
    strategy: str | None = None
    chained: bool = False

    def __str__(self) -> str:
        """What is special about it."""
        words = [self.engine, "InputSpec" if self.spec else "", "train" if self.training else ""]
        words += [self.strategy or "", "Sequential" if self.chained else ""]
        return ", ".join(word for word in words if word)


def ways_of(row: Row) -> list[Way]:
    """All that can be done with a row; who wants inference does not train a dropout."""
    both = (False, True)
    chained = both if row.chains else (False,)
    choices = itertools.product(ENGINES, both, both, (None, "inference"), chained)
    ways = [Way(*choice) for choice in choices]
    is_dropout = "Dropout" in row.name
    return [way for way in ways if not (is_dropout and way.training and way.strategy)]


def check(row: Row, way: Way) -> None:
    """Raise AssertionError where a way does not give what eager calls give, by one Program."""
    if way.engine != WITHOUT:
        _check(row, way)
        return
    with mock.patch.object(regions, "find", lambda: None):
        _check(row, way)


def _check(row: Row, way: Way) -> None:
    sizes = SIZES if row.grows else SIZES[:-1]
    dy2st.seed(11)
    eager = row.make()
    eager = nn.Sequential(eager) if way.chained else eager
    eager.train() if way.training else eager.eval()
    specs = _specs(row, sizes) if way.spec else None
    engine = way.engine.split()[0]
    net = dy2st.to_static(deepcopy(eager), specs, way.strategy, engine=engine)
    with _counted_traces() as traces, dy2st.set_grad_enabled(way.training):
        for size in sizes:
            _compare(row, eager, net, size, way.training)
    programs = len(net.forward.program_cache)
    most = 1 if way.spec else len(set(sizes))
    assert programs <= most, f"{programs} Programs"
    assert len(traces) <= most, f"{len(traces)} traces"
    if way.spec and not way.training:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "net")
            dy2st.jit.save(net, path)
            loaded = dy2st.jit.load(path, engine=engine)
            for size in sizes[-2:]:
                _compare(row, eager, loaded, size, training=False)


def _arrays(row: Row, size: tuple[int, int]) -> list[np.ndarray]:
    return [make(*size) for make in row.inputs]


def _specs(row: Row, sizes: Sequence[tuple[int, int]]) -> list[InputSpec]:
    """A size is unknown that differs from call to call."""
    calls = zip(*(_arrays(row, size) for size in sizes), strict=True)
    return [
        InputSpec(
            [n if len({n, *others}) == 1 else None for n, *others in zip(*shapes, strict=True)],
            arrays[0].dtype,
        )
        for arrays in calls
        for shapes in [[array.shape for array in arrays]]
    ]


def _compare(row: Row, eager: Any, net: Any, size: tuple[int, int], training: bool) -> None:
    """Results, buffers and, where it learns, gradients of two networks are alike."""
    arrays = _arrays(row, size)
    for wanted, found in zip(
        _call(eager, arrays, training), _call(net, arrays, training), strict=True
    ):
        assert found.shape == wanted.shape and found.dtype == wanted.dtype
        scale = max(1.0, float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)))
        np.testing.assert_allclose(found, wanted, rtol=row.close, atol=row.close * scale)


def _call(net: Any, arrays: list[np.ndarray], training: bool) -> list[np.ndarray]:
    dy2st.seed(5)
    tensors = [dy2st.to_tensor(array) for array in arrays]
    for tensor in tensors:
        tensor.stop_gradient = not training or not tensor.is_floating_point()
    results = _flat(net(*tensors))
    found = [result.numpy() for result in results]
    floats = [one for one in results if one.is_floating_point() and not one.stop_gradient]
    if training and floats:
        sum((one * one).sum() for one in floats).backward()
        wanted = [*(t for t in tensors if not t.stop_gradient), *net.parameters()]
        found += [np.zeros(t.shape) if t.grad is None else t.grad.numpy() for t in wanted]
        net.clear_gradients()
    return found + [buffer.numpy() for buffer in net.buffers()]


def _flat(results: Any) -> list[Any]:
    if isinstance(results, (list, tuple)):
        return [tensor for part in results for tensor in _flat(part)]
    return [] if results is None else [results]


@contextmanager
def _counted_traces() -> Iterator[list[str]]:
    """An entry for each trace that is made meanwhile."""
    traces: list[str] = []
    trace = tracing._trace

    def noted(*args: Any) -> Any:
        traces.append(args[4])
        return trace(*args)

    with mock.patch.object(tracing, "_trace", noted):
        yield traces


def main(*words: str) -> None:
    """Try all; print what fails."""
    rows = NETWORKS if "--networks" in words else ROWS
    start = next((word for word in words if not word.startswith("-")), "")
    tried = failed = 0
    for row in (row for name, row in rows.items() if name.startswith(start)):
        for way in ways_of(row):
            tried += 1
            try:
                check(row, way)
            except Exception as error:
                failed += 1
                text = " | ".join(line for line in str(error).splitlines() if line.strip())
                print(f"{row.name} [{way}] {type(error).__name__}: {text:.300}", flush=True)
    print(f"{tried} tried, {failed} failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
