"""Does with a network what everybody does: converts it as it is, calls it, saves and loads it.

`python -m tests.dy2st.ordinary.driver [start of a name] [--networks]` tries every way of each, and
says how many seconds each took: a layer some ten, a network some hundreds.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

import dy2st
from dy2st import nn
from dy2st.jit import trace as tracing
from dy2st.static import InputSpec
from dy2st_runtime.engine.native.convolution import regions
from dy2st_runtime.errors import Dy2stError
from tests.dy2st.ordinary.layers import NETWORKS, ROWS, Row

WITHOUT = "native without oneDNN"
ENGINES = ("numpy", "native", WITHOUT)
SIZES = ((2, 0), (2, 0), (2, 0), (3, 0), (1, 2))
# No row, one row, and images of no or few pixels, for which many a layer has no result.
EDGES = ((0, 0), (1, 0), (3, -7), (2, 0), (2, -9), (0, -8), (5, 1))
# How far numbers may be from those of eager calls, beside how far those in float32 may be.
CLOSE = {"float64": 1e-5, "float32": 1.0, "float16": 20.0, "bfloat16": 150.0}


@dataclass(frozen=True)
class Way:
    """One way in which people use a network."""

    engine: str = "numpy"
    spec: bool = False
    training: bool = False
    strategy: str | None = None
    chained: bool = False
    dtype: str = "float32"
    edges: bool = False

    def __str__(self) -> str:
        """What is special about it."""
        words = [self.engine, "InputSpec" if self.spec else "", "train" if self.training else ""]
        words += [self.strategy or "", "Sequential" if self.chained else ""]
        words += ["" if self.dtype == "float32" else self.dtype, "edges" if self.edges else ""]
        return ", ".join(word for word in words if word)

    def sizes_for(self, row: Row) -> tuple[tuple[int, int], ...]:
        """The sizes of its calls."""
        sizes = EDGES if self.edges else SIZES
        return sizes if row.grows else tuple((n, more) for n, more in sizes if more == 0)


def ways_of(row: Row) -> list[Way]:
    """All that can be done with a row; who wants inference does not train a dropout."""
    both = (False, True)
    chained = both if row.chains else (False,)
    choices = itertools.product(ENGINES, both, both, (None, "inference"), chained)
    ways = [Way(*choice) for choice in choices]
    for engine, spec, training in itertools.product(ENGINES, both, both):
        plain = Way(engine, spec, training)
        ways.append(replace(plain, edges=True))
        if engine != WITHOUT:  # the library takes float32 alone
            ways += [replace(plain, dtype=dtype) for dtype in row.dtypes]
    is_dropout = "Dropout" in row.name
    return [way for way in ways if not (is_dropout and way.training and way.strategy)]


def check(row: Row, way: Way) -> None:
    """Raise AssertionError where a way does not give what eager calls give, by one Program."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, DY2ST_NATIVE_BACKGROUND="off"))
        if way.engine == WITHOUT:
            stack.enter_context(mock.patch.object(regions, "find", lambda: None))
        _check(row, way)


def _check(row: Row, way: Way) -> None:
    sizes = way.sizes_for(row)
    dy2st.seed(11)
    eager = row.make()
    eager = nn.Sequential(eager) if way.chained else eager
    if way.dtype != "float32":
        eager.to(dtype=way.dtype)
    eager.train() if way.training else eager.eval()
    specs = _specs(row, way, sizes) if way.spec else None
    engine = way.engine.split()[0]
    net = dy2st.to_static(deepcopy(eager), specs, way.strategy, engine=engine)
    with _counted_traces() as traces, dy2st.set_grad_enabled(way.training):
        fits = [_compare(row, way, eager, net, size) for size in sizes]
    if all(fits):
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
                _compare(row, way, eager, loaded, size)


def _arrays(row: Row, way: Way, size: tuple[int, int]) -> list[np.ndarray]:
    arrays = [make(*size) for make in row.inputs]
    return [
        array.astype(np.dtype(way.dtype)) if array.dtype.kind == "f" else array for array in arrays
    ]


def _specs(row: Row, way: Way, sizes: Sequence[tuple[int, int]]) -> list[InputSpec]:
    """A size is unknown that differs from call to call."""
    calls = zip(*(_arrays(row, way, size) for size in sizes), strict=True)
    return [
        InputSpec(
            [n if len({n, *others}) == 1 else None for n, *others in zip(*shapes, strict=True)],
            arrays[0].dtype,
        )
        for arrays in calls
        for shapes in [[array.shape for array in arrays]]
    ]


def _compare(row: Row, way: Way, eager: Any, net: Any, size: tuple[int, int]) -> bool:
    """Results, buffers and, where it learns, gradients of two networks are alike; so are errors.

    Returns whether there are results.
    """
    arrays = _arrays(row, way, size)
    wanted, found = (_outcome(one, arrays, way.training) for one in (eager, net))
    if isinstance(wanted, Dy2stError) or isinstance(found, Dy2stError):
        assert type(found) is type(wanted), f"{size}: {found!r:.300}, and eagerly {wanted!r:.300}"
        return False
    for what, ones, others in zip(Outcome._fields, wanted, found, strict=True):
        close = row.slopes if what == "gradients" else row.close
        close *= CLOSE[way.dtype]
        for one, other in zip(ones, others, strict=True):
            assert other.shape == one.shape and other.dtype == one.dtype
            one, other = (array.astype("float64") for array in (one, other))
            scale = max(1.0, float(np.abs(one[np.isfinite(one)]).max(initial=0.0)))
            np.testing.assert_allclose(
                other, one, rtol=close, atol=close * scale, err_msg=f"{what} of {size}"
            )
    return True


class Outcome(NamedTuple):
    """What a call gives, and leaves."""

    results: list[np.ndarray]
    gradients: list[np.ndarray]
    buffers: list[np.ndarray]


def _outcome(net: Any, arrays: list[np.ndarray], training: bool) -> Outcome | Dy2stError:
    try:
        with np.errstate(all="ignore"):  # numbers of nothing
            return _call(net, arrays, training)
    except Dy2stError as error:
        return error


def _call(net: Any, arrays: list[np.ndarray], training: bool) -> Outcome:
    dy2st.seed(5)
    tensors = [dy2st.to_tensor(array) for array in arrays]
    for tensor in tensors:
        tensor.stop_gradient = not training or not tensor.is_floating_point()
    results = _flat(net(*tensors))
    gradients = []
    floats = [one for one in results if one.is_floating_point() and not one.stop_gradient]
    if training and floats:
        sum((one * one).sum() for one in floats).backward()
        wanted = [*(t for t in tensors if not t.stop_gradient), *net.parameters()]
        gradients = [np.zeros(t.shape) if t.grad is None else t.grad.numpy() for t in wanted]
        net.clear_gradients()
    buffers = [buffer.numpy() for buffer in net.buffers()]
    return Outcome([result.numpy() for result in results], gradients, buffers)


def _flat(results: Any) -> list[Any]:
    if isinstance(results, (list, tuple)):
        return [tensor for part in results for tensor in _flat(part)]
    return [] if results is None else [results]


@contextmanager
def _counted_traces() -> Iterator[list[str]]:
    """An entry for each trace that is made meanwhile."""
    traces: list[str] = []
    trace = tracing._traced

    def noted(*args: Any) -> Any:
        traces.append(args[0].static.__name__)
        return trace(*args)

    with mock.patch.object(tracing, "_traced", noted):
        yield traces


def main(*words: str) -> None:
    """Try all; print what fails."""
    rows = NETWORKS if "--networks" in words else ROWS
    start = next((word for word in words if not word.startswith("-")), "")
    tried = failed = 0
    for row in (row for name, row in rows.items() if name.startswith(start)):
        ways, begin = ways_of(row), time.process_time()
        tried += len(ways)
        for way in ways:
            try:
                check(row, way)
            except Exception as error:
                failed += 1
                text = " | ".join(line for line in str(error).splitlines() if line.strip())
                print(f"{row.name} [{way}] {type(error).__name__}: {text:.300}", flush=True)
        seconds = time.process_time() - begin
        print(f"{row.name}: {len(ways)} ways, {seconds:.1f} s", flush=True)
    if not tried:
        sys.exit(f"no row begins with {start!r}")
    print(f"{tried} tried, {failed} failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
