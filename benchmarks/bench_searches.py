"""Models that search, decode and walk, converted against eager: results, and gradients as well.

python benchmarks/bench_searches.py    # each model, on each engine
"""

from __future__ import annotations

import sys
import time
from functools import cache
from pathlib import Path

import pytest

import dy2st
from dy2st import to_static

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.dy2st.jit.trained.compare import batch, loss_of
from tests.dy2st.jit.trained.searches import SEARCHES

ENGINES = ("numpy", "native")
WHAT = ("results", "gradients")
_TURNS, _ROUNDS = 4, 9


def calls_of(entry, what, engine=None):
    """Calls of a model on several sizes; without an engine it is eager."""
    dy2st.seed(5)
    net = entry.make().to(dtype="float64")
    run = net if engine is None else to_static(net, engine=engine)
    batches = [batch(entry, turn) for turn in range(_TURNS)]

    def calls():
        for x in batches:
            if what == "results":
                with dy2st.no_grad():
                    run(x)
            else:
                loss_of(run(x)).backward()
                net.clear_gradients()

    for _ in range(4):
        calls()
    return calls


def thread_seconds(function):
    start = time.thread_time()
    function()
    return time.thread_time() - start


@cache
def ratio(name, what, engine):
    """Of the fastest rounds, in time of this thread: others may use the machine."""
    subjects = [calls_of(SEARCHES[name], what, one) for one in (engine, None)]
    rounds = [[thread_seconds(subject) for subject in subjects] for _ in range(_ROUNDS)]
    static, eager = map(min, zip(*rounds, strict=True))
    return static / eager


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("what", WHAT)
def test_searches_against_eager(figure, what, engine):
    text = f"{what} of {len(SEARCHES)} models that search, on {engine}, against eager, the slowest"
    figure(text, lambda: max(ratio(name, what, engine) for name in SEARCHES), "times", 1.0)


def main():
    """Print the ratios of each model."""
    for name in SEARCHES:
        found = (f"{what} {ratio(name, what, e):5.2f}" for e in ENGINES for what in WHAT)
        print(f"{name:22s} {'  '.join(found)}")


if __name__ == "__main__":
    main()
