"""Random programs of views that are changed in place, run by NumPy and by dy2st.

python -m tests.dy2st.jit.view_programs 2000        # seeds 0 to 1999, with a summary
python -m tests.dy2st.jit.view_programs 1 --from 7  # prints program 7

Each program is written twice: with NumPy's arrays, whose views are the reference, and with tensors.
All numbers are whole.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import dy2st
from dy2st.errors import Dy2stError
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.campaign import campaign, define

SHAPES = ((2, 3), (3, 4), (4,), (2, 2, 3), (4, 2))
_CUT = "\n# with NumPy\n"


class Writer:
    """Writes one program in both ways, and keeps the shapes of its variables."""

    def __init__(self, seed: int):
        """Take all decisions from the seed."""
        self.random = random.Random(seed)
        self.shape = self.random.choice(SHAPES)
        self.ours: list[str] = []
        self.numpys: list[str] = []
        self.known: dict[str, Any] = {}
        self.count = 0

    def program(self) -> str:
        """The texts of both functions, one behind the other."""
        self.both(0, "def f(x, n):")
        self.line(1, "x = x.clone()", "x = x.copy()")
        self.known["x"] = np.zeros(self.shape, np.int64)
        self.line(1, "s = x.sum()", "s = x.sum()")
        for _ in range(self.random.randint(4, 12)):
            self.statement(1, 2)
        names = ", ".join(self.known)
        self.both(1, f"return {names}, s")
        return "\n".join(self.ours) + "\n" + _CUT + "\n".join(self.numpys) + "\n"

    def line(self, depth: int, ours: str, numpys: str) -> None:
        """One line of each."""
        self.ours.append("    " * depth + ours)
        self.numpys.append("    " * depth + numpys)

    def both(self, depth: int, text: str) -> None:
        """One line that both have."""
        self.line(depth, text, text)

    def pick(self, least: int = 0) -> str:
        """A variable with so many axes; often the newest."""
        names = [name for name, array in self.known.items() if array.ndim >= least]
        if not names:
            return ""
        return names[-1] if self.random.random() < 0.4 else self.random.choice(names)

    def statement(self, depth: int, nesting: int) -> None:
        """One statement; `nesting` levels of branches and loops may stand in each other."""
        kinds: list[Callable[[int, int], None]] = [
            self.view,
            self.view,
            self.view,
            self.change,
            self.change,
            self.change,
        ]
        kinds += [self.read, self.value, self.reshape_in_place]
        if nesting:
            kinds += [self.branch, self.loop, self.rows, self.counted]
        kind = self.random.choice(kinds)
        kind(depth, nesting)

    def block(self, depth: int, nesting: int) -> None:
        """A nested block, whose variables are its own."""
        known = dict(self.known)
        for _ in range(self.random.randint(1, 4)):
            self.statement(depth, nesting - 1)
        self.known = known

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def view(self, depth: int, nesting: int = 0) -> None:
        """A new name for a part of a variable, or for all of it."""
        old, new = self.pick(), self.fresh()
        ours, numpys = self.view_of(old)
        self.line(depth, f"{new} = {ours}", f"{new} = {numpys}")
        self.known[new] = eval(numpys, {"np": np, **self.known})

    def view_of(self, name: str) -> tuple[str, str]:
        """An expression for a view of a variable."""
        array, draw = self.known[name], self.random
        ways = [(f"{name}.detach()", f"{name}[...]"), self.index(name), self.index(name)]
        ways += [(f"{name}.unsqueeze(0)", f"{name}[None]"), self.index(name)]
        flat = f"{name}.reshape([-1])"
        ways += [(f"{name}.flatten()", flat) if array.ndim else (flat, flat)]
        if array.ndim > 1:
            order = draw.sample(range(array.ndim), array.ndim)
            ways += [(f"{name}.transpose({order})",) * 2, (f"{name}.T",) * 2]
            ways += [(f"{name}.squeeze()",) * 2]
            turned = list(array.shape[::-1])
            ways += [(f"{name}.reshape({turned})",) * 2]
        if array.ndim > 1 and array.shape[0]:
            place = draw.randrange(array.shape[0])
            ways += [(f"{name}.unbind(0)[{place}]", f"{name}[{place}, ...]")]
        if array.ndim and array.shape[0] % 2 == 0 and array.shape[0]:
            ways += [(f"{name}.chunk(2)[1]", f"np.split({name}, 2)[1].copy()")]
        return draw.choice(ways)

    def index(self, name: str) -> tuple[str, str]:
        """A basic index, as both write it."""
        parts = self.places(self.known[name].shape)
        return f"{name}[{', '.join(parts)}]", f"{name}[{', '.join([*parts, '...'])}]"

    def places(self, shape: Sequence[int]) -> list[str]:
        """The parts of an index."""
        draw, parts = self.random, []
        for size in shape[: draw.randint(0, len(shape))]:
            ways = [":", "::-1", "::2", "1:", ":-1"]
            ways += [str(draw.randrange(-size, size))] * 4 if size else []
            parts.append(draw.choice(ways))
        if draw.random() < 0.15:
            parts.insert(draw.randint(0, len(parts)), "None")
        return parts or [":"] if shape else ["None"]

    def change(self, depth: int, nesting: int = 0) -> None:
        """A change in place of a variable, or of a part of one."""
        name, number = self.pick(), self.random.randint(-3, 9)
        array = self.known[name]
        index = f"[{', '.join(self.places(array.shape))}]" if array.ndim else "[...]"
        other = self.pick()
        value = f"{other}.sum() % 7 + {number}"
        row = [one for one, have in self.known.items() if have.shape == array.shape]
        same = self.random.choice(row)
        ways = [
            (f"{name}{index} = {number}",) * 2,
            (f"{name}{index} = {value}",) * 2,
            (f"{name}{index} += {number}",) * 2,
            (f"{name}[...] = {same} * 2 % 11",) * 2,
            (f"{name}.add_({same})", f"{name} += {same}.copy()"),
            (f"{name}.fill_({number})", f"{name}[...] = {number}"),
            (f"{name}.zero_()", f"{name}[...] = 0"),
            (f"{name}.set_value({same} % 5)", f"{name}[...] = {same} % 5"),
        ]
        self.line(depth, *self.random.choice(ways))

    def read(self, depth: int, nesting: int = 0) -> None:
        """A number that depends on a variable as it is now."""
        self.both(depth, f"s = (s * 3 + {self.pick()}.sum()) % 101")

    def value(self, depth: int, nesting: int = 0) -> None:
        """A tensor of its own."""
        old, new = self.pick(), self.fresh()
        text = self.random.choice([f"{old} + 1", f"{old} * 3 % 13"])
        self.line(depth, f"{new} = {text}", f"{new} = np.array({text}, order='C')")
        self.known[new] = np.array(self.known[old])

    def reshape_in_place(self, depth: int, nesting: int = 0) -> None:
        """Another shape for a variable of the outermost block."""
        name = self.pick(2)
        if depth > 1 or not name or not self.known[name].flags.c_contiguous:
            return self.read(depth)
        array = self.known[name]
        shape = list(array.shape[::-1])
        self.line(depth, f"{name}.reshape_({shape})", f"{name} = {name}.reshape({shape})")
        self.known[name] = array.reshape(shape)
        return None

    def branch(self, depth: int, nesting: int) -> None:
        """Both sides of what a tensor decides."""
        self.both(depth, f"if {self.random.choice(['s', self.pick() + '.sum()'])} % 2 > 0:")
        self.block(depth + 1, nesting)
        if self.random.random() < 0.6:
            self.both(depth, "else:")
            self.block(depth + 1, nesting)

    def loop(self, depth: int, nesting: int) -> None:
        """A loop that a tensor ends, over the first places of a variable."""
        name, index, row = self.pick(1), self.fresh(), self.fresh()
        if not name or self.known[name].shape[0] < 2:
            return self.read(depth)
        self.line(depth, f"{index} = dy2st.zeros([], 'int64')", f"{index} = 0")
        self.both(depth, f"while {index} < n:")
        known = dict(self.known)
        if self.random.random() < 0.7:
            self.line(depth + 1, f"{row} = {name}[{index}]", f"{row} = {name}[{index}, ...]")
            self.known[row] = self.known[name][0, ...]
        self.block(depth + 1, nesting)
        self.known = known
        return self.both(depth + 1, f"{index} = {index} + 1")

    def counted(self, depth: int, nesting: int) -> None:
        """A loop over a range that a tensor ends."""
        index = self.fresh()
        self.line(depth, f"for {index} in range(n):", f"for {index} in range(int(n)):")
        self.block(depth + 1, nesting)

    def rows(self, depth: int, nesting: int) -> None:
        """A loop over the rows of a variable."""
        name, row = self.pick(2), self.fresh()
        if not name or not self.known[name].shape[0]:
            return self.read(depth)
        self.both(depth, f"for {row} in {name}:")
        known = dict(self.known)
        self.known[row] = self.known[name][0]
        self.block(depth + 1, nesting)
        self.known = known
        return None


def program_of(seed: int) -> str:
    """The text of the program of a seed, in both ways."""
    return Writer(seed).program()


def inputs_of(shape: Sequence[int]) -> list[tuple[Any, Any]]:
    """Some arrays, each with how often loops run."""
    count = int(np.prod(shape))
    values = np.arange(count).reshape(shape)
    return [(values, 1), ((values * 7 + 3) % 10, 2), (-values, 0)]


def numbers(results: Sequence[Any]) -> list[Any]:
    """Results as nested lists."""
    return [np.asarray(one).tolist() for one in results]


ALL = ("numpy", "native", "saved")
"""By which engines programs are run, and whether as saved ones, too."""


def compare(seed: int, text: str, name: str, ways: Sequence[str] = ("numpy",)) -> str:
    """Run a program in all ways: "equal", or "refused: why"; AssertionError if they differ."""
    ours, _, numpys = text.partition(_CUT)
    function = define("import dy2st\n" + ours, name)
    reference = define("import numpy as np\n" + numpys, name + " with NumPy")
    shape = Writer(seed).shape
    calls = inputs_of(shape)
    expected = [numbers(reference(values, np.array(n))) for values, n in calls]
    check(text, "eagerly", expected, function, calls)
    try:
        for way in [way for way in ways if way != "saved"]:
            for sizes in (list(shape), [None] * len(shape)):
                specs = [InputSpec(sizes, "int64", "x"), InputSpec([], "int64", "n")]
                static = to_static(function, input_spec=specs, engine=way)
                check(text, f"{way} {sizes}", expected, static, calls)
        if "saved" in ways:
            check_saved(text, expected, function, shape, calls)
    except Dy2stError as error:
        return f"refused: {type(error).__name__}: {str(error).splitlines()[0].split(': ', 1)[-1]}"
    return "equal"


def check(text: str, way: str, expected: Any, function: Any, calls: Any) -> None:
    """AssertionError if a function answers otherwise."""
    for (values, n), wanted in zip(calls, expected, strict=True):
        got = numbers(function(dy2st.to_tensor(values), dy2st.to_tensor(n)))
        assert got == wanted, f"{text}\n{values.tolist()}, {n}, {way}:\n{got}\nNumPy: {wanted}"


def check_saved(text: str, expected: Any, function: Any, shape: Any, calls: Any) -> None:
    """The same for the program once it was saved."""
    specs = [InputSpec(list(shape), "int64", "x"), InputSpec([], "int64", "n")]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "program")
        dy2st.jit.save(to_static(function, input_spec=specs), path)
        check(text, "saved", expected, dy2st.jit.load(path), calls)


def main() -> int:
    """Compare many programs; print the first differences and why others were refused."""
    return campaign(__doc__, program_of, lambda *program: compare(*program, ALL))


if __name__ == "__main__":
    sys.exit(main())
