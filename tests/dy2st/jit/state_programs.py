"""Random Layers that read and assign buffers, run by Python, converted, and saved and loaded.

python -m tests.dy2st.jit.state_programs 3000          # seeds 0 to 2999, with a summary
python -m tests.dy2st.jit.state_programs 1 --from 77   # prints program 77

All numbers are small whole ones, so that every dtype has them and sums are exact in any order.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import dy2st
import dy2st_runtime
from dy2st import nn
from dy2st.errors import Dy2stError
from dy2st.jit import save, to_static
from dy2st.static import InputSpec
from tests.campaign import campaign, define, reason
from tests.dy2st.catalogue.comparing import comparable

Choose = Callable[[Sequence[Any]], Any]

INPUTS = ([1, 2, 3], [-4, 1, -2], [5, 0, 7], [0, 0, 0], [3, -3, 9])
LOCALS = ("a", "b", "c")

PRELUDE = """
class Inner(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("k", dy2st.ones([3]))

    def forward(self, x):
        a, b, c = x, self.k, self.k + 1
        r = [a, self.k]
{inner}
        return a + b

class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("h", dy2st.zeros([3]))
        self.p = dy2st.to_tensor([1.0, 2.0, 3.0])
        self.register_buffer("t", dy2st.zeros([]))
        self.l = [dy2st.ones([3]), {held}]
        self.d = {{"k": dy2st.zeros([3])}}
        self.inner = Inner()

    def step(self, x):
        a, b, c = x, self.h, x * 2
        r = [a, self.p]
{step}
        return a - c

    def forward(self, x):
        a, b, c = x, x + 1, x * 0
        r = [self.h, a]
{forward}
        return a, b, c, r[0], r[1], self.h, self.p, self.t, self.inner.k
"""


class Writer:
    """Writes the text of one program; each method draws what it writes."""

    def __init__(self, choose: Choose):
        """Take all decisions from `choose`."""
        self.choose, self.lines, self.count = choose, list[str](), 0
        self.buffers: tuple[str, ...] = ()
        self.calls: tuple[str, ...] = ()
        self.dtypes = choose([(), (), ("float64",), ("int64", "float64"), ("float32", "int64")])

    def program(self) -> str:
        """The whole text."""
        inner = self.body(("self.k",), (), 3)
        step = self.body(("self.h", "self.p"), ("self.inner",), 4)
        every = ("self.h", "self.h", "self.p", "self.inner.k")
        forward = self.body(every, ("self.inner", "self.step"), 8)
        held = self.choose(["self.p", *["dy2st.zeros([3])"] * 4])
        return PRELUDE.format(inner=inner, step=step, forward=forward, held=held)

    def body(self, buffers: tuple[str, ...], calls: tuple[str, ...], most: int) -> str:
        """Statements on these buffers."""
        self.buffers, self.calls, self.lines = buffers, calls, []
        for _ in range(self.choose(range(1, most))):
            self.statement(0)
        return "\n".join(self.lines)

    def often(self, one_in: int) -> bool:
        """True once in that many times."""
        return bool(self.choose(range(one_in)) == 0)

    def line(self, depth: int, text: str) -> None:
        """Append a line of the function."""
        self.lines.append("    " * (depth + 2) + text)

    def held(self) -> str:
        """A tensor that has a name."""
        held = ["self.l[0]", "self.l[1]", 'self.d["k"]'] if len(self.buffers) > 1 else []
        return str(self.choose([*LOCALS, *self.buffers, *self.buffers, "x", "r[0]", *held]))

    def tensor(self, depth: int = 0) -> str:
        """An expression that is a tensor of three numbers."""
        if depth > 1 or self.often(3):
            return self.held()
        one, two = self.tensor(depth + 1), self.tensor(depth + 1)
        forms = [
            f"(({one} + {two}) % 9)",
            f"(({one} - {two}) % 7)",
            f"dy2st.where({one} > {two}, {one}, {two})",
            f"({one} * 2 % 5)",
            *(f"{call}({one})" for call in self.calls),
            *(f'{one}.astype("{dtype}")' for dtype in self.dtypes),
        ]
        return str(self.choose(forms))

    def statement(self, depth: int) -> None:
        """One statement; simple ones only where it is deep."""
        if depth > 2 or not self.often(3):
            return self.simple(depth)
        head = self.choose(["if", "if", "else", "for", "while"])
        name = f"i{self.count}"
        self.count += 1
        if head == "for":
            self.line(depth, f"for {name} in range(2):")
        elif head == "while":
            self.line(depth, f"{name} = x.sum() % 3")
            self.line(depth, f"while {name} > 0:")
            self.line(depth + 1, f"{name} = {name} - 1")
        else:
            self.line(depth, f"if {self.held()}.sum() > {self.choose([0, 2, 4])}:")
        for _ in range(self.choose([1, 2, 3])):
            self.statement(depth + 1)
        if head == "else":
            self.line(depth, "else:")
            self.statement(depth + 1)

    def simple(self, depth: int) -> None:
        """A statement that reads or writes state."""
        buffer, other = self.choose(self.buffers), self.choose(self.buffers)
        name, value = self.choose(LOCALS), self.tensor()
        if self.often(8):
            return self.stop(depth, name, value)
        if self.often(8):
            return self.line(depth, str(self.choose(self.in_place(buffer, value))))
        forms = [
            *[f"{buffer} = {value}"] * 4,
            *[f"{name} = {buffer}"] * 3,
            f"{name} = {value}",
            f"{buffer} += {value}",
            f"{name}, {buffer} = {buffer}, {value}",
            f"{buffer}, {other} = {other}, {buffer}",
            f"r = [{buffer}, {name}]",
            f"r[{self.choose([0, 1])}] = {value}",
            f"{buffer} = {other}",
            f"{name} = ({buffer} + {name}) % 9",
        ]
        if len(self.buffers) > 1:
            forms += [f"self.t = self.t + {value}.sum() % 4", f"self.t = {self.held()}.max()"]
        return self.line(depth, str(self.choose(forms)))

    def stop(self, depth: int, name: str, value: str) -> None:
        """Statements that set the `stop_gradient` of a new tensor."""
        self.line(depth, f"{name} = {value} * 1")
        self.line(depth, f"{name}.stop_gradient = True")
        if self.often(3):
            self.line(depth, f"c = {name} * x % 3")
            self.line(depth, f"{name}.stop_gradient = False")

    def in_place(self, buffer: str, value: str) -> list[str]:
        """Statements that change a tensor under all of its names."""
        return [
            *[f"{buffer}[{self.choose([0, 1, 2])}] = {self.held()}.max() % 5"] * 2,
            f"{buffer}.set_value({value})",
        ]


def program_of(seed: int) -> str:
    """The text of the program of a seed."""
    return Writer(random.Random(seed).choice).program()


def calls(model: Any, layer: Any = None) -> list[Any]:
    """What calls of a model give, what they leave in the Layer and in the tensors that it held
    before, and the gradients of the inputs."""
    found: list[Any] = []
    held: list[Any] = []
    for number, values in enumerate(INPUTS):
        x = dy2st.to_tensor(values, "float32", stop_gradient=number % 2 == 0)
        if layer is not None:
            held += layer.state_dict().values()
        results = model(x)
        found.append(comparable(results))
        if layer is not None:
            found.append(comparable(dict(layer.state_dict())))
            found.append(comparable([*layer.l, layer.d["k"], *held]))
            found.append([(result.stop_gradient, result.is_leaf) for result in results])
            found.append((gradient(results, x), x.stop_gradient))
    return found


def gradient(results: Sequence[Any], x: Any) -> Any:
    """That of an input, by all results that depend on something."""
    floats = [result for result in results if result.dtype.kind == "f"]
    roots = [r.sum().astype("float64") for r in floats if not r.stop_gradient]
    if roots:
        sum(roots).backward(retain_graph=True)
    return comparable(x.grad)


def compare(text: str, name: str = "<random program>") -> str:
    """Run a program all ways: "equal", or what is refused; AssertionError if two differ."""
    kind = define(text, name, "Model", dy2st=dy2st, nn=nn)
    eager, layer = kind(), kind()
    try:
        expected = calls(eager, eager)
    except RuntimeError as error:  # a leaf that is changed in place
        return f"refused: Python says: {reason(error)}"
    try:
        found = calls(to_static(layer), layer)
    except Dy2stError as error:
        return f"refused: {reason(error)}"
    assert found == expected, f"{text}\n{_difference(expected, found)}"
    with tempfile.TemporaryDirectory() as folder:
        try:
            save(kind(), f"{folder}/m", [InputSpec([3], "float32", "x")])
        except Dy2stError as error:
            return f"equal, not saved: {reason(error)}"
        loaded, results = dy2st_runtime.load(f"{folder}/m"), expected[::5]
        try:
            found = calls(loaded)
        except RuntimeError as error:  # it takes no leaf that it changes on some path
            return f"equal, refused when loaded: {reason(error)}"
    assert found == results, f"{text}\nloaded: {_difference(results, found)}"
    return "equal"


def _difference(expected: list[Any], found: list[Any]) -> str:
    place = next(i for i, (a, b) in enumerate(zip(expected, found, strict=True)) if a != b)
    return f"step {place}: Python {expected[place]}\nProgram {found[place]}"


def main() -> int:
    """Compare many programs; print the first differences and why others were refused."""
    return campaign(__doc__, program_of, lambda seed, text, name: compare(text, name))


if __name__ == "__main__":
    sys.exit(main())
