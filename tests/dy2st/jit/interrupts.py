"""Ctrl-C at any moment of converting, tracing, calling, optimising and saving.

python -m tests.dy2st.jit.interrupts 300           # moments 0 to 299
python -m tests.dy2st.jit.interrupts 1 --from 77   # moment 77 alone, with its traceback
python -m tests.dy2st.jit.interrupts 300 --signals # at 300 times, by a real signal

A moment is a call of a Python function, or the end of one of C: where Python looks for signals.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

import dy2st
from dy2st.static import InputSpec
from dy2st.transpiler import lower as traced
from dy2st_runtime import thread_state
from dy2st_runtime.dims import Dim
from dy2st_runtime.ir import Variable

X = np.array([1.0, 2.0, 3.0], "float32")
count = 0


class Scale:
    def __init__(self, by):
        self.by = by

    @property
    def twice(self):
        if self.by > 1:
            return self.by * 2
        return self.by

    def __mul__(self, x):
        if x.sum() > 0:
            return x * self.twice
        return -x


class Box:
    """What the function changes, and C code looks at, while it is traced."""

    items = [3, 1, 2]


def helper(x):
    found = []
    Box.items.append(len(found))
    x = x + len(json.dumps(Box.items)) * 0
    Box.items.pop()
    for i in range(3):
        if x.sum() > 5:
            found.append(x)
        x = x + i
    return x * len(found)


def function(x):
    global count
    count = x.sum()
    x = helper(Scale(2) * x)
    while x.sum() < 100:
        x = x * 2
    pairs = {"a": x, "b": [x + 1 for _ in range(2)]}
    try:
        if x.sum() > 10000:
            raise ValueError("too large")
    except ValueError:
        x = x * 0
    return x + pairs["b"][0]


class Net(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale = Scale(3)
        self.register_buffer("seen", dy2st.zeros([]))
        self.turns = [1, 2]

    def forward(self, x):
        for turn in self.turns:
            if x.sum() > 2:
                x = self.scale * x + turn
        return x


def convert(folder):
    traced._forms.clear()
    return dy2st.to_static(function)(X)


def convert_unknown_sizes(folder):
    static = dy2st.to_static(function, input_spec=[InputSpec([None], name="x")])
    return static(X)


def optimise(folder):
    return dy2st.to_static(function, build_strategy="inference")(X)


def call_a_layer(folder):
    return dy2st.to_static(Net())(dy2st.to_tensor(X))


def save(folder):
    net = Net()
    dy2st.jit.save(net, str(folder / "net"), input_spec=[InputSpec([None], name="x")])
    return dy2st.jit.load(str(folder / "net"))(X)


known = dy2st.to_static(function)


def call(folder):
    return known(X)


WAYS = (convert, convert_unknown_sizes, optimise, call_a_layer, save, call)
FUNCTIONS = (Scale.__init__, Scale.twice.fget, Scale.__mul__, helper, function, Net.forward)


def state():
    """All that must be as before."""
    return {
        "code": [f.__code__ for f in FUNCTIONS],
        "threads": [dict(vars(s)) for s in thread_state._states if set(vars(s)) - {"facts"}],
        "facts": [vars(s).get("facts") for s in thread_state._states],
        "cells": [[c.cell_contents for c in f.__closure__ or ()] for f in FUNCTIONS],
        "box": list(Box.items),
        "methods": (Dim.__hash__, Dim.__repr__, Dim.__str__, Variable.__hash__),
        "tracer": dy2st.ones([1]).__class__,
        "collects": gc.isenabled(),
        "warnings": list(warnings.filters),
        "grad": dy2st.is_grad_enabled(),
    }


class Interrupt:
    """Raises KeyboardInterrupt at the n-th moment."""

    def __init__(self, moment):
        self.left = moment

    def __call__(self, frame, event, argument):
        if event in ("call", "c_return"):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt

    def run(self, way, folder):
        """What the way gives; None if it was interrupted."""
        sys.setprofile(self)
        try:
            return way(folder)
        finally:
            sys.setprofile(None)


class Alarm:
    """Raises KeyboardInterrupt by a signal, after so many seconds."""

    def __init__(self, seconds):
        self.seconds = seconds

    def run(self, way, folder):
        """What the way gives."""
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        try:
            return way(folder)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, number, frame):
        raise KeyboardInterrupt


def moments(way, folder):
    """How many moments there are."""
    counter = Interrupt(0)
    counter.run(way, folder)
    return -counter.left


def seconds(way, folder):
    """How long it takes, about."""
    start = time.perf_counter()
    way(folder)
    return time.perf_counter() - start


class Interrupts:
    """Interrupts ways at random moments; says what is not as before."""

    def __init__(self, folder):
        self.folder = folder
        self.expected = {way: way(folder).numpy() for way in WAYS}
        self.moments = {way: moments(way, folder) for way in WAYS}
        self.seconds = {way: seconds(way, folder) for way in WAYS}
        self.before = state()
        self.count = 0

    def wrong(self, seed, shows=False, by_signal=False):
        """What is wrong after the interrupt of this number; empty if nothing is."""
        draw = random.Random(seed)
        way = WAYS[seed % len(WAYS)]
        moment = draw.randint(1, self.moments[way])
        if way is call and draw.random() < 0.5:
            known.program_cache.clear()
            moment = draw.randint(1, self.moments[convert_unknown_sizes])
        interrupt = Alarm(draw.random() * self.seconds[way]) if by_signal else Interrupt(moment)
        try:
            interrupt.run(way, self.folder)
        except KeyboardInterrupt:
            self.count += 1
            if shows:
                traceback.print_exc()
        now = state()
        found = [name for name in now if now[name] != self.before[name]]
        if found:
            self.before = now
        try:
            right = all(
                np.array_equal(w(self.folder).numpy(), self.expected[w]) for w in (way, call)
            )
        except Exception as error:
            return [*found, f"{way.__name__} at {moment}: {type(error).__name__}: {error}"]
        return [*found, *([] if right else [f"{way.__name__} at {moment}: another number"])]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--signals", action="store_true", help="by a timer, at any time")
    parser.add_argument("--from", type=int, default=0, dest="first")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        interrupts = Interrupts(Path(folder))
        print({way.__name__: n for way, n in interrupts.moments.items()})
        bad = 0
        for seed in range(wanted.first, wanted.first + wanted.count):
            found = interrupts.wrong(seed, wanted.count == 1, wanted.signals)
            if found:
                bad += 1
                print(seed, WAYS[seed % len(WAYS)].__name__, *found, flush=True)
    print(f"{wanted.count} moments, {interrupts.count} interrupts, {bad} left something behind")
    sys.exit(bool(bad))
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
