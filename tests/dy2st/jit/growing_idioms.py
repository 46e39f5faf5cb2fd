"""Functions of many statements of one kind, whose conversion must take time in proportion."""

from __future__ import annotations

import linecache
from typing import Any

import dy2st

# What stands before the statements, and the statement of each step.
GROWING = {
    "branches": ("y = x", "if x.sum() > {i}.0:\n        x, y = x + 1.0, y - x"),
    "loops": ("y = x", "while x.sum() < {i}.0:\n        x = x + 1.0"),
    "branches that raise": (
        "y = x",
        "if x.sum() > {i}.0:\n        raise ValueError\n    x = x * 2.0",
    ),
    "changes in place": ("y = x * 1.0", "y[{i} % 4] = x[0]"),
    "changes in place in branches": ("y = x * 1.0", "if x.sum() > {i}.0:\n        y[0] = x.sum()"),
    "lists that branches join": ("y = []", "if x.sum() > {i}.0:\n        y = y + [x]"),
    "lists that nested branches join": (
        "y = []",
        "if x.sum() > {i}.0:\n        if x.max() > 0.0:\n            y = y + [x]\n        x = x + 1.0",
    ),
    "entries of a dict": ("y = dict()", "if x.sum() > {i}.0:\n        y[{i}] = x * 2.0"),
    "numbers in a set": ("y = set()", "if x.sum() > {i}.0:\n        y.add({i} % 7)"),
    "handlers": (
        "y = x",
        "try:\n        if x.sum() > {i}.0:\n            raise ValueError\n        x = x + 1.0\n"
        "    except ValueError:\n        y = y - x",
    ),
    "generators": ("y = x.sum()", "for one in given(x):\n        y = y + one"),
    "helpers in branches": ("y = x", "if x.sum() > {i}.0:\n        y = helper(y)"),
    "objects that branches change": ("y = Box(x)", "if x.sum() > {i}.0:\n        y.add(x)"),
    "the best by a key that asks for the best": (
        "y = [v * 1.0 for v in x.tolist() if v > 0]",
        "y[0] = y[0] + max(y, key=lambda v: v / max(1.0, y[0])) * {i}",
    ),
    "numbers drawn in branches": (
        "import random\n    r, y = random.Random(3), x.sum()",
        "if y > {i}.0:\n        y = y + r.random()",
    ),
    "early returns": ("y = x", "if x.sum() > {i}.0:\n        return x, y\n    y = y + x"),
}
NEEDED = """\
def given(x):
    for i in range(3):
        if x.sum() > i:
            yield x.sum() * i

def helper(x):
    if x.sum() > 0.0:
        return x + 1.0
    return x * 2.0

class Box:
    def __init__(self, held):
        self.held = held

    def add(self, x):
        self.held = self.held + x

"""


def growing(name: str, count: int, n: int = 0) -> Any:
    """A new function of so many statements, from a file that exists for linecache alone."""
    before, step = GROWING[name]
    steps = "".join(f"    {step}\n".replace("{i}", str(i)) for i in range(count))
    text = f"{NEEDED}def f(x):\n    {before}\n{steps}    return x, y\n"
    filename = f"<growing {name} {count} {n}>.py"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace: dict[str, Any] = {"dy2st": dy2st}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]
