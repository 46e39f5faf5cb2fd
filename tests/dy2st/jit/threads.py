"""Eight threads that convert, call, run plainly and `ast.parse` at once.

python -m tests.dy2st.jit.threads 120   # for two minutes
"""

from __future__ import annotations

import ast
import gc
import linecache
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

import dy2st

TEXT = """\
class Scale:
    def __init__(self, by):
        self.by = by
    def __mul__(self, x):
        if x.sum() > 0:
            return x * self.by
        return x

def helper(x):
    for i in range(3):
        if x.sum() > 5:
            x = x + i
    return x

def f(x):
    while x.sum() < 100:
        x = helper(Scale(2) * x)
    return x

class Net(nn.Layer):
    def forward(self, x):
        return f(x) + 1
"""
FILE = "<functions of threads>.py"
FILES = sorted(Path(ast.__file__).parent.glob("*.py"))
X = np.array([1.0, 2.0], "float32")


def made():
    """The functions and classes anew."""
    namespace = {"nn": dy2st.nn, "__name__": "made_by_threads"}
    exec(compile(TEXT, FILE, "exec"), namespace)
    return namespace


SHARED = made()
EXPECTED = SHARED["f"](dy2st.to_tensor(X)).numpy()
shared = dy2st.to_static(SHARED["f"])
own_codes = [SHARED["Scale"].__mul__.__code__, SHARED["helper"].__code__]


def convert(turn):
    return dy2st.to_static(made()["f"])(X)


def convert_a_layer(turn):
    return dy2st.to_static(made()["Net"]())(dy2st.to_tensor(X)) - 1


def call_shared(turn):
    if turn % 20 == 0:
        shared.program_cache.clear()
    return shared(X)


def trace_the_same(turn):
    return dy2st.to_static(SHARED["f"])(X)


def run_plainly(turn):
    return SHARED["f"](dy2st.to_tensor(X))


def parse(turn):
    ast.parse(FILES[turn % len(FILES)].read_bytes())


WAYS = (
    *(convert, parse, call_shared, run_plainly),
    *(trace_the_same, parse, convert_a_layer, run_plainly),
)


class Threads:
    """Runs all ways at once; gathers what goes wrong."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds
        self.errors = []
        self.turns = [0] * len(WAYS)
        self.filters = list(warnings.filters)

    def run(self):
        threads = [threading.Thread(target=self._repeat, args=(n,)) for n in range(len(WAYS))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        codes = [SHARED["Scale"].__mul__.__code__, SHARED["helper"].__code__]
        if any(now is not own for now, own in zip(codes, own_codes)):
            self.errors.append("a function is not the user's own any more")
        if warnings.filters != self.filters:
            self.errors.append(f"the filters of warnings are {warnings.filters}")
        return self.errors

    def _repeat(self, number):
        while time.monotonic() < self.end and not self.errors:
            try:
                result = WAYS[number](self.turns[number])
            except BaseException:
                self.errors.append(traceback.format_exc())
                return
            if result is not None and not np.array_equal(result.numpy(), EXPECTED):
                self.errors.append(f"{WAYS[number].__name__} gives {result!r}")
            self.turns[number] += 1


def know_text():
    linecache.cache[FILE] = (len(TEXT), None, TEXT.splitlines(True), FILE)


if __name__ == "__main__":
    know_text()
    threads = Threads(float(sys.argv[1]))
    found = threads.run()
    print(*found, sep="\n")
    print({f"{n}: {way.__name__}": t for n, (way, t) in enumerate(zip(WAYS, threads.turns))})
    print(f"{len(found)} errors, {len(gc.garbage)} objects that cannot be freed")
    sys.exit(bool(found))
    sys.exit(int(bool(found)))
