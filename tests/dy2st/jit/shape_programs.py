"""Random programs that change shapes: traced with unknown sizes, verified, saved, loaded and run.

python -m tests.dy2st.jit.shape_programs 2000          # seeds 0 to 1999, with a summary
python -m tests.dy2st.jit.shape_programs 1 --from 77   # prints program 77

Every step is tried eagerly on one choice of sizes when it is written, so each program runs for
those. For other sizes the Program must do what eager operators do: give the same, or refuse.
"""

from __future__ import annotations

import linecache
import random
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import dy2st
import dy2st.nn.functional as F
from dy2st.errors import Dy2stError, PassError, ShapeError, VerifyError
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.rebuild import rebuild
from dy2st_runtime.ir.sizes import input_sizes
from tests.campaign import campaign, reason

SIZES = ("n", "m", "k")
VALUES = (1, 2, 3, 4, 5, 6, 8, 9)
CHANNELS = 4
LARGEST = 4000

REFUSED = (Dy2stError, IndexError, ZeroDivisionError, RuntimeError)
"""What eager operators, Python, and a branch of a Program say of sizes that do not fit."""


OTHERWISE = re.compile(r"must not be 0|from the (end|start)|a window of \d+ must fit")
"""What a Program refuses where eager operators mean something else by it: a size that is 0, a
position below 0, or `-n` that is 0, a window that is larger than the image."""


class Writer:
    """Writes one program, and runs it eagerly as it does."""

    def __init__(self, seed: int):
        """Draw the inputs: how many, which sizes, which of them are told beforehand."""
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0
        self.sizes = {name: self.random.choice(VALUES) for name in SIZES}
        self.inputs = [self._input(rank) for rank in self._ranks()]
        self.specs = [self._spec(shape) for shape in self.inputs]
        self.scope: dict[str, Any] = {"P": dy2st, "F": F, "table": table()}
        for name, value in zip("xyz", arrays(self.inputs, self.sizes), strict=False):
            self.scope[name] = dy2st.to_tensor(value)

    def _ranks(self) -> list[int]:
        return [self.random.choice([1, 2, 2, 3, 3, 4]) for _ in range(self.random.choice([1, 2]))]

    def _input(self, rank: int) -> list[Any]:
        shape: list[Any] = [self.random.choice([*SIZES, *SIZES, 2, 3]) for _ in range(rank)]
        if rank == 4:
            shape[1] = CHANNELS
        return shape

    def _spec(self, shape: list[Any]) -> list[Any]:
        kind = self.random.choice(["unknown", "unknown", "named", "some"])
        if kind == "named":
            return list(shape)
        known = [isinstance(s, int) or (kind == "some" and self.chance(3)) for s in shape]
        return [self.value(s) if k else None for s, k in zip(shape, known, strict=True)]

    def value(self, size: Any) -> int:
        """The number of a size in the run that goes along."""
        return size if isinstance(size, int) else self.sizes[size]

    def chance(self, one_in: int) -> bool:
        """True once in that many times."""
        return self.random.randrange(one_in) == 0

    # -- what is there -----------------------------------------------------------------------

    def tensors(self, *ranks: int) -> list[str]:
        """The names of tensors so far, newest last; of these ranks, if any are given."""
        return [
            name
            for name, value in self.scope.items()
            if isinstance(value, dy2st.Tensor) and (not ranks or value.ndim in ranks)
        ]

    def tensor(self, *ranks: int) -> str:
        """One of them, a new one rather than an old one."""
        names = self.tensors(*ranks)[-4:] if not self.chance(4) else self.tensors(*ranks)
        if not names:
            raise LookupError
        return self.random.choice(names)

    def axis(self, name: str) -> int:
        """An axis of a tensor, at times from the end."""
        rank = self.scope[name].ndim
        if not rank:
            raise LookupError
        return self.random.choice([self.random.randrange(rank), self.random.randrange(-rank, 0)])

    def size(self, name: str) -> str:
        """A size, or a number made of sizes."""
        one = f"{name}.shape[{self.axis(name)}]"
        other = self.tensor(1, 2, 3, 4)
        two = f"{other}.shape[{self.axis(other)}]"
        forms = [one, one, one, f"{one} // 2", f"({one} + 1) // 2", f"{one} * 2", f"{one} - 1"]
        forms += [f"{one} % 3 + 1", f"min({one}, 3)", f"max({one}, {two})", f"{one} + {two}"]
        return self.random.choice([*forms, f"min({one}, {two})", f"{one} // {two}", "2", "3"])

    # -- writing -----------------------------------------------------------------------------

    def program(self) -> str:
        """The whole text, with the function `f` in it."""
        wanted = self.random.choice([2, 3, 4, 5, 6, 8, 12])
        for _ in range(12 * wanted):
            if self.count >= wanted:
                break
            self.step()
        names = [name for name in self.tensors() if name not in ("x", "y", "table")]
        results = names[-3:] if self.chance(2) or not names else names
        arguments = ", ".join("xyz"[: len(self.inputs)])
        head = [f"def f({arguments}):"]
        return "\n".join([*head, *self.lines, f"    return [{', '.join(results or ['x'])}]"]) + "\n"

    def step(self) -> None:
        """One more line, if what is drawn fits."""
        kind = self.random.choice(KINDS)
        try:
            text = kind(self)
        except LookupError:
            return
        name = f"a{self.count}"
        lines = [line.replace("<>", name) for line in text.split("\n")]
        if len(lines) == 1:
            lines = self.around(f"{name} = {text}", name)
        trial = dict(self.scope)
        try:
            exec("\n".join(lines), trial)
        except (*REFUSED, TypeError):
            return
        if "while i < 2:" in lines and self._rank_after(lines[0], name) != trial[name].ndim:
            return  # a Program refuses a variable whose rank a turn changes
        if isinstance(trial[name], dy2st.Tensor) and 0 < trial[name].size <= LARGEST:
            self.scope[name] = trial[name]
            self.lines += [f"    {line}" for line in lines]
            self.count += 1

    def _rank_after(self, line: str, name: str) -> int:
        """The rank of a tensor that a line makes."""
        scope = dict(self.scope)
        exec(line, scope)
        return int(scope[name].ndim)

    def around(self, line: str, name: str) -> list[str]:
        """The line, at times under an `if` or in a loop."""
        if not self.chance(6):
            return [line]
        test = self.random.choice(
            [f"{self.tensor()}.sum() > 20", f"{self.size(self.tensor(1, 2, 3, 4))} > 2"]
        )
        if self.chance(2):
            return [
                line,
                f"if {test}:",
                f"    {name} = {name} + 1",
                "else:",
                f"    {name} = {name} * 2",
            ]
        other = self.tensor(self.scope[self.tensor()].ndim)
        lines = [line, "i = P.zeros([], 'int64')", "while i < 2:", "    i = i + 1"]
        grown = [f"    {name} = {name} + 1", f"    {name} = P.concat([{name}, {other}])"]
        return [*lines, self.random.choice(grown)]


# -- the steps: expressions of one tensor each ---------------------------------------------------


def reshape(w: Writer) -> str:
    """To known sizes, -1, 0, and sizes of others."""
    name = w.tensor()
    rank = w.scope[name].ndim
    entries = [
        w.random.choice(["0", "2", "3", w.size(name), f"{name}.shape[{w.axis(name)}]"])
        for _ in range(w.random.choice([0, 1, 1, 2]))
    ]
    entries = [e if e != "0" or i < rank else "1" for i, e in enumerate(entries)]
    entries.insert(w.random.randint(0, len(entries)), "-1")
    return f"{name}.reshape([{', '.join(entries)}])"


def flatten(w: Writer) -> str:
    """Some axes as one."""
    name = w.tensor(2, 3, 4)
    first, last = sorted(w.random.sample(range(w.scope[name].ndim), 2))
    return f"{name}.flatten({first}, {w.random.choice([last, -1])})"


def split(w: Writer) -> str:
    """One part of several."""
    name, count = w.tensor(1, 2, 3, 4), w.random.choice([2, 2, 3])
    function = w.random.choice(["split", "split", "chunk"])
    return f"P.{function}({name}, {count}, axis={w.axis(name)})[{w.random.randrange(count)}]"


def sections(w: Writer) -> str:
    """One of two parts of given sizes, one of which may be open."""
    name = w.tensor(1, 2, 3, 4)
    parts = w.random.choice([f"[{w.size(name)}, -1]", "[-1, 1]", f"[1, {w.size(name)}]"])
    return f"P.split({name}, {parts}, axis={w.axis(name)})[{w.random.randrange(2)}]"


def concat(w: Writer) -> str:
    """Two of one rank."""
    one = w.tensor(1, 2, 3, 4)
    other = w.tensor(w.scope[one].ndim)
    return f"P.concat([{one}, {other}], axis={w.axis(one)})"


def stack(w: Writer) -> str:
    """Two of one rank, and so hopefully of one shape."""
    one = w.tensor(0, 1, 2, 3)
    return f"P.stack([{one}, {w.tensor(w.scope[one].ndim)}], axis={w.random.choice([0, -1])})"


def squeeze(w: Writer) -> str:
    """An axis more, or less."""
    name = w.tensor(0, 1, 2, 3)
    axis = w.random.choice([0, -1, w.scope[name].ndim])
    forms = [f"{name}.unsqueeze({axis})", f"{name}[None]"]
    return w.random.choice([*forms, f"{name}.unsqueeze({axis}).squeeze({axis})"])


def transpose(w: Writer) -> str:
    """Axes in another order."""
    name = w.tensor(2, 3, 4)
    order = list(range(w.scope[name].ndim))
    w.random.shuffle(order)
    return f"{name}.transpose({order})"


def cut(w: Writer) -> str:
    """A slice whose ends are numbers or sizes."""
    name = w.tensor(1, 2, 3, 4)
    ends = ["", "1", "2", "-1", "-2", w.size(name), w.size(name)]
    step = w.random.choice(["", "", "", ":2", ":-1", ":3"])
    part = f"{w.random.choice(ends)}:{w.random.choice(ends)}{step}"
    return f"{name}[{':, ' * w.random.randrange(w.scope[name].ndim)}{part}]"


def position(w: Writer) -> str:
    """The rows of a table for the positions of a sequence, added."""
    name = w.tensor(2, 3)
    return f"{name} + table[:{name}.shape[{w.axis(name)}], :{name}.shape[-1]]"


def pool(w: Writer) -> str:
    """A window over images."""
    size, stride, padding = (w.random.choice(c) for c in ([2, 3], [None, 1, 2, 3], [0, 0, 1]))
    function = w.random.choice(["max_pool2d", "avg_pool2d"])
    options = f"stride={stride}, padding={padding}, ceil_mode={w.chance(2)}"
    return f"F.{function}({w.tensor(4)}, {size}, {options})"


def conv(w: Writer) -> str:
    """A convolution with weights of ones."""
    size, stride, padding = (w.random.choice(c) for c in ([1, 2, 3], [1, 2, 3], [0, 1, "'SAME'"]))
    weight = f"P.ones([{CHANNELS}, {CHANNELS}, {size}, {size}])"
    if w.chance(4):
        return f"F.conv2d_transpose({w.tensor(4)}, {weight}, stride={stride}) * 0.125"
    dilation = w.random.choice([1, 1, 2])
    return (
        f"F.conv2d({w.tensor(4)}, {weight}, stride={stride}, padding={padding}, "
        f"dilation={dilation}) * 0.125"
    )


def resize(w: Writer) -> str:
    """An image of another size."""
    name = w.tensor(4)
    if w.chance(2):
        return f"F.interpolate({name}, scale_factor={w.random.choice([2, 3])})"
    return f"F.adaptive_avg_pool2d({name}, {w.random.choice([1, 2])})"


def matmul(w: Writer) -> str:
    """A product of matrices."""
    one, other = w.tensor(1, 2, 3, 4), w.tensor(1, 2, 3, 4)
    turned = w.random.choice(["", "", ", transpose_y=True", ", transpose_x=True"])
    return f"P.matmul({one}, {other}{turned}) * 0.125"


def add(w: Writer) -> str:
    """Broadcasting."""
    operation = w.random.choice(
        ["{} + {}", "{} * {} % 7", "P.maximum({}, {})", "P.where({0} > 2, {0}, {1})"]
    )
    return operation.format(w.tensor(), w.tensor())


def pad(w: Writer) -> str:
    """More on both sides."""
    name = w.tensor(1, 2, 3, 4)
    amounts = [w.random.choice(["0", "0", "1", "2"]) for _ in range(2 * w.scope[name].ndim)]
    if w.chance(2):
        amounts[w.random.randrange(len(amounts))] = w.size(name)
    return f"F.pad({name}, [{', '.join(amounts)}], value=1.0)"


def tile(w: Writer) -> str:
    """Copies."""
    name = w.tensor(1, 2, 3)
    times = [w.random.choice(["1", "1", "2", w.size(name)]) for _ in range(w.scope[name].ndim)]
    return f"P.tile({name}, [{', '.join(times)}])"


def expand(w: Writer) -> str:
    """Axes of size 1 stretched."""
    name, other = w.tensor(0, 1, 2, 3), w.tensor(1, 2, 3, 4)
    sizes = [f"{other}.shape[{axis}]" for axis in range(w.scope[other].ndim)]
    forms = [f"{name}.expand([{', '.join(sizes)}])", f"{name}.expand_as({other})"]
    return w.random.choice(
        [*forms, f"{name}.expand([{w.size(other)}{', -1' * w.scope[name].ndim}])"]
    )


def gather(w: Writer) -> str:
    """Rows by their numbers."""
    name, other = w.tensor(1, 2, 3), w.tensor(1, 2, 3, 4)
    axis, size = w.axis(name), f"{other}.shape[{w.axis(other)}]"
    index = f"P.arange({size}) % {name}.shape[{axis}]"
    return w.random.choice(
        [f"P.gather({name}, {index}, axis={axis})", f"{name}.index_select({index}, {axis})"]
    )


def reduce(w: Writer) -> str:
    """An axis less, or all of them."""
    name, function = w.tensor(), w.random.choice(["sum", "max", "mean", "min", "prod"])
    if w.chance(6) or not w.scope[name].ndim:
        return f"{name}.{function}() % 7"
    keep = w.random.choice(["", ", keepdim=True"])
    return f"{name}.{function}({w.axis(name)}{keep}) % 7"


def number(w: Writer) -> str:
    """A size as a value."""
    name = w.tensor()
    return f"{name} + {w.size(w.tensor(1, 2, 3, 4))}"


def made(w: Writer) -> str:
    """A tensor of a shape made of sizes."""
    name = w.tensor(1, 2, 3, 4)
    return w.random.choice(
        [
            f"P.ones([{w.size(name)}, {w.size(name)}])",
            f"P.arange({w.size(name)}).astype('float32')",
            f"P.full([2, {w.size(name)}], 2.0)",
            f"P.diag({name})",
            f"P.ones({name}.shape)",
        ]
    )


def spread(w: Writer) -> str:
    """Others that change shapes."""
    name, axis = (one := w.tensor(1, 2, 3, 4)), w.axis(one)
    return w.random.choice(
        [
            f"P.roll({name}, {w.size(name)}, axis={axis})",
            f"P.repeat_interleave({name}, 2, axis={axis})",
            f"P.unbind({name}, axis={axis})[0]",
            f"P.flip({name}, axis={axis})",
            f"P.cumsum({name}, axis={axis}) % 7",
            f"P.topk({name}, 1, axis={axis})[0]",
            f"P.tril({name})",
            f"F.scaled_dot_product_attention({name}, {name}, {name})",
        ]
    )


def branches(w: Writer) -> str:
    """Two shapes, of which a tensor or a size decides."""
    name = w.tensor(1, 2, 3, 4)
    test = w.random.choice([f"{name}.sum() > 20", f"{w.size(name)} > 2"])
    return f"if {test}:\n    <> = {cut(w)}\nelse:\n    <> = {name} + 1"


KINDS: tuple[Callable[[Writer], str], ...] = (
    *(reshape, reshape, flatten, split, sections, concat, stack, squeeze, transpose, cut, cut),
    *(position, pool, pool, conv, resize, matmul, add, add, add, pad, tile, expand, gather),
    *(reduce, reduce, number, made, spread, branches),
)


# -- running -------------------------------------------------------------------------------------


def table() -> Any:
    """A tensor from outside, as positions have it."""
    return dy2st.to_tensor(np.arange(96, dtype="float32").reshape(12, 8) % 5)


def arrays(shapes: list[list[Any]], sizes: dict[str, int]) -> list[np.ndarray]:
    """Inputs of small whole numbers for some sizes."""
    result = []
    for place, shape in enumerate(shapes):
        known = [size if isinstance(size, int) else sizes[size] for size in shape]
        count = int(np.prod(known))
        result.append((np.arange(count) * (3 + place) % 11).astype("float32").reshape(known))
    return result


def compare(seed: int) -> str:
    """Make, save, load and run program `seed`: "equal", or "refused: why"; else AssertionError."""
    writer = Writer(seed)
    text, name = writer.program(), f"<shapes {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"P": dy2st, "F": F, "table": table(), "__name__": "random_program"}
    exec(compile(text, name, "exec"), scope)
    try:
        return _compared(writer, scope["f"], text)
    finally:
        linecache.cache.pop(name, None)


def _compared(writer: Writer, function: Callable[..., Any], text: str) -> str:
    specs = [InputSpec(shape) for shape in writer.specs]
    strategy = {} if writer.chance(3) else {"build_strategy": "inference"}
    static = to_static(function, input_spec=specs, **strategy)
    try:
        static.main_program  # noqa: B018
    except (VerifyError, PassError):
        raise
    except Dy2stError as error:
        return f"refused: {type(error).__name__}: {reason(error)}"
    _rebuilt(writer, static.main_program)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        dy2st.jit.save(static, path)
        loaded = dy2st.jit.load(path)
        runs = 0
        for sizes in _choices(writer):
            inputs = arrays(writer.inputs, sizes)
            if not _fits(inputs, writer.specs):
                continue
            wanted = _outcome(function, inputs)
            for runner in (static, loaded):
                got = _outcome(runner, inputs)
                shown = (
                    f"{text}{writer.specs}\n{sizes}: eager {_short(wanted)}\nProgram {_short(got)}"
                )
                assert _same(wanted, got), shown
            runs += isinstance(wanted, list)
    assert runs, text
    return "equal"


def _rebuilt(writer: Writer, program: Program) -> None:
    """Verify the Program made anew: as it is, and with numbers for some or all sizes."""
    shapes = [array.shape for array in arrays(writer.inputs, writer.sizes)]
    sizes = input_sizes(program, shapes)
    some = {symbol: number for symbol, number in sizes.items() if writer.chance(2)}
    for values in ({}, some, sizes):
        try:
            again = rebuild(program, values)
        except ShapeError:  # a branch that no run takes does not fit these sizes
            continue
        verify(again)


def _fits(inputs: list[np.ndarray], specs: list[list[Any]]) -> bool:
    pairs = [p for a, s in zip(inputs, specs, strict=True) for p in zip(a.shape, s, strict=True)]
    return all(size == spec for size, spec in pairs if isinstance(spec, int))


def _choices(writer: Writer) -> list[dict[str, int]]:
    """The sizes that the program was made for, and others."""
    others = [
        {name: writer.random.choice([0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16]) for name in SIZES}
        for _ in range(4)
    ]
    scaled = {name: 2 * size for name, size in writer.sizes.items()}
    return [writer.sizes, scaled, *others]


def _outcome(function: Callable[..., Any], inputs: list[np.ndarray]) -> Any:
    try:
        return [np.asarray(r) for r in function(*[dy2st.to_tensor(value) for value in inputs])]
    except REFUSED as error:
        return error


def _same(wanted: Any, got: Any) -> bool:
    if not isinstance(wanted, list) or not isinstance(got, list):
        is_other = isinstance(got, ShapeError) and OTHERWISE.search(str(got))
        return bool(is_other) or not (isinstance(wanted, list) or isinstance(got, list))
    return len(wanted) == len(got) and all(
        a.shape == b.shape and np.allclose(a, b, 1e-4, 1e-4, equal_nan=True)
        for a, b in zip(wanted, got, strict=True)
    )


def _short(outcome: Any) -> str:
    if isinstance(outcome, list):
        return f"{[a.shape for a in outcome]} {outcome}"[:1200]
    return f"{type(outcome).__name__}: {outcome}"[:600]


def main() -> int:
    """Run many programs; print what was rejected or different, and why others were refused."""
    return campaign(__doc__, _shown, lambda seed, text, name: compare(seed))


def _shown(seed: int) -> str:
    writer = Writer(seed)
    return f"{writer.program()}{writer.specs} {writer.sizes}"


if __name__ == "__main__":
    sys.exit(main())
