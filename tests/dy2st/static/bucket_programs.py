"""Random programs over sizes: padded by `bucket`, run as they are, and run by Python.

python -m tests.dy2st.static.bucket_programs 2000         # seeds 0 to 1999, with a summary
python -m tests.dy2st.static.bucket_programs 1 --from 77  # prints program 77

Numbers are small and whole as long as something discrete is made of them: then sums are exact in
any order. What has been rounded is only returned, and compared with a tolerance.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

import dy2st
from dy2st import to_static
from dy2st.errors import Dy2stError, ShapeError, SpecError
from dy2st.static import Dim, InputSpec, bucket
from tests.campaign import campaign, define

LARGEST = {"n": 6, "t": 5}
"""The one bucket of each size."""

SIZES = ((6, 5), (4, 5), (6, 2), (3, 4), (5, 1), (0, 3))
"""Real sizes of n and t; the first pair is not padded."""

ROWS = 12
"""Rows of the table: as many as anything in these programs may ask for."""

PRELUDE = """\
import dy2st
from dy2st.nn import functional as F
"""

Shape = tuple[Any, ...]


@dataclass(frozen=True)
class Value:
    """A variable of a program: its shape in sizes "n", "t" and numbers, and what it holds."""

    name: str
    shape: Shape
    is_exact: bool = True
    is_place: bool = False  # integers that are places in the table

    @property
    def rank(self) -> int:
        """The number of its axes."""
        return len(self.shape)


X = Value("x", ("n", 4))
H = Value("h", ("n", "t", 4))
IDS = Value("ids", ("n", "t"), is_place=True)
TABLE = Value("table", (ROWS, 4))
WEIGHT = Value("weight", (4, 3))


class Writer:
    """Writes the text of one program."""

    def __init__(self, random_numbers: random.Random):
        """Draw everything from one generator."""
        self.random = random_numbers
        self.lines = ["def f(x, h, ids, table, weight):", "    n, t = x.shape[0], h.shape[1]"]
        self.values = [X, H, X, H, IDS]
        self.count = 0

    def choose(self, options: Any) -> Any:
        """One of some things."""
        return self.random.choice(list(options))

    def program(self) -> str:
        """The whole text, with the function `f` in it."""
        for _ in range(self.random.randint(1, 5)):
            self.choose(STATEMENTS)(self)
        names = [v.name for v in self.values[-self.random.randint(1, 2) :]]
        if self.random.random() < 0.05:
            names.append(self.choose(["n", "n * 2 + 1", "t"]))
        self.lines.append(f"    return {', '.join(names)}")
        return PRELUDE + "\n".join(self.lines) + "\n"

    def pick(self, *, exact: bool = False, least_rank: int = 0, place: bool = False) -> Value:
        """A value that there is, the later ones more often."""
        fits = [v for v in self.values if v.rank >= least_rank]
        fits = [v for v in fits if (v.is_exact or not exact) and v.is_place == place]
        fits = fits or [IDS if place else H]
        return self.choose([*fits, *fits[-2:], *fits[-1:]])

    def number(self) -> str:
        """A number made of sizes, from 1 to 11."""
        size = self.choose(["n", "n", "t"])
        return str(self.choose([size, f"{size} + 1", f"{size} * 2 - 1", f"11 - {size}", "n + t"]))

    def put(self, text: str, shape: Shape, of: Value | None = None, **facts: Any) -> Value:
        """Assign an expression to a new variable."""
        self.count += 1
        facts.setdefault("is_exact", of is None or of.is_exact)
        value = Value(f"v{self.count}", shape, **facts)
        self.lines.append(f"    {value.name} = {text}")
        self.values.append(value)
        return value

    def small(self, value: Value) -> str:
        """The value, such that products of a few stay exact."""
        return f"{value.name} % 7" if value.is_exact else value.name


# -- statements -----------------------------------------------------------------------------------


def elementwise(w: Writer) -> None:
    v = w.pick()
    forms = ["F.relu({0})", "{0} * 2 - 1", "dy2st.abs({0})", "-{0}", "dy2st.floor({0} / 2)"]
    forms += ["F.relu6({0})", "dy2st.clip({0}, -1, 3)", "dy2st.square({1})", "{0} + {0}"]
    w.put(w.choose(forms).format(v.name, f"({w.small(v)})"), v.shape, v)


def rounded(w: Writer) -> None:
    v = w.pick()
    forms = [
        "F.sigmoid({0})",
        "dy2st.tanh({0})",
        "F.gelu({0})",
        "F.softplus({0})",
        "dy2st.sin({0})",
    ]
    forms += ["F.silu({0})", "dy2st.exp(-dy2st.abs({0}))", "{0} / 3"]
    w.put(w.choose(forms).format(v.name), v.shape, is_exact=False)


def pairwise(w: Writer) -> None:
    v = w.pick()
    u = w.choose([u for u in w.values if u.shape == v.shape] or [v])
    forms = ["{0} + {1}", "{0} - {1}", "dy2st.maximum({0}, {1})", "({2}) * ({3})"]
    forms += ["dy2st.where({0} > {1}, {0}, {1})"] * (v.is_exact and u.is_exact)
    text = w.choose(forms).format(v.name, u.name, w.small(v), w.small(u))
    w.put(text, v.shape, is_exact=v.is_exact and u.is_exact)


def size_as_value(w: Writer) -> None:
    v, k = w.pick(), w.number()
    forms = [f"{v.name} + {k}", f"{v.name} * ({k})", f"{v.name} + dy2st.full([1], {k}, 'float32')"]
    forms += [f"{v.name} + dy2st.full_like({v.name}, {k})", f"dy2st.where({v.name} > {k}, 0, 1)"]
    if v.shape:
        forms.append(f"dy2st.roll({v.name}, {k}, {w.random.randrange(v.rank)})")
    w.put(w.choose(forms), v.shape, v)


def divided(w: Writer) -> None:
    v = w.pick(least_rank=1)
    axis = w.random.randrange(v.rank)
    shape = (*v.shape[:axis], *v.shape[axis + 1 :])
    count = w.choose(["n", "t", f"{v.name}.shape[{axis}]"])
    w.put(f"{v.name}.sum({axis}) / {count}", shape, is_exact=False)


def reduced(w: Writer) -> None:
    v = w.pick(least_rank=1)
    axis, keep = w.random.randrange(v.rank), w.choose([True, False])
    shape = (*v.shape[:axis], *[1] * keep, *v.shape[axis + 1 :])
    name = w.choose(["sum", "max", "min", "mean"])
    text = f"{v.name}.{name}(axis={axis}, keepdim={keep})"
    w.put(text, shape, is_exact=v.is_exact and name != "mean")


def along_axis(w: Writer) -> None:
    v = w.pick(least_rank=1)
    axis = w.choose([v.rank - 1, w.random.randrange(v.rank)])
    forms = [f"F.softmax({v.name}, axis={axis})", f"F.log_softmax({v.name}, axis={axis})"]
    if v.shape[-1] == 4:
        forms += [f"F.layer_norm({v.name}, [4])"] * 2
    w.put(w.choose(forms), v.shape, is_exact=False)


def ordered(w: Writer) -> None:
    v = w.pick(least_rank=1, exact=True)
    axis = w.choose([v.rank - 1, w.random.randrange(v.rank)])
    forms = [f"dy2st.sort({v.name}, {axis})", f"dy2st.argsort({v.name}, {axis}).astype('float32')"]
    forms += [f"dy2st.flip({v.name}, [{axis}])", f"dy2st.cumsum({v.name}, {axis})"] * 2
    forms += [f"dy2st.flip(dy2st.cumsum(dy2st.flip({v.name}, [{axis}]), {axis}), [{axis}])"]
    w.put(w.choose(forms), v.shape)


def largest(w: Writer) -> None:
    v = w.pick(least_rank=1, exact=True)
    axis = w.choose([v.rank - 1, w.random.randrange(v.rank)])
    shape = (*v.shape[:axis], *v.shape[axis + 1 :])
    w.put(f"dy2st.{w.choose(['argmax', 'argmin'])}({v.name}, {axis})", shape, is_place=True)


def moved(w: Writer) -> None:
    v = w.pick(least_rank=1)
    order = list(range(v.rank))
    w.random.shuffle(order)
    w.put(f"dy2st.transpose({v.name}, {order})", tuple(v.shape[a] for a in order), v)


def reshaped(w: Writer) -> None:
    v = w.pick(least_rank=1)
    axis = w.random.randrange(v.rank + 1)
    shape = (*v.shape[:axis], 1, *v.shape[axis:])
    forms = [(f"{v.name}.unsqueeze({axis})", shape)]
    if v.shape[-1] == 4:
        sizes = ", ".join(map(str, v.shape[:-1]))
        forms.append(
            (f"{v.name}.reshape([{sizes}{', ' if sizes else ''}2, 2])", (*v.shape[:-1], 2, 2))
        )
    if v.shape[-2:] == (4, 4) or v.shape[-2:] == (2, 2):
        product = v.shape[-1] ** 2
        forms.append((f"{v.name}.flatten({v.rank - 2})", (*v.shape[:-2], product)))
    if v.shape[0] == "n" and v.rank > 1:
        w.values.append(v)
        text = f"{v.name}.reshape([n, -1]).sum(1)"
        forms.append((text, ("n",)))
    text, shape = w.choose(forms)
    w.put(text, shape, v)


def merged(w: Writer) -> None:
    w.put(f"{H.name}.reshape([-1, 4]).sum(1).reshape([n, t])", ("n", "t"))


def joined(w: Writer) -> None:
    v = w.pick(least_rank=1)
    axis = w.random.randrange(v.rank)
    if isinstance(v.shape[axis], str):
        w.put(
            f"dy2st.concat([{v.name}, {v.name}], {axis}).sum({axis})",
            (*v.shape[:axis], *v.shape[axis + 1 :]),
            v,
        )
        return
    shape = (*v.shape[:axis], 2 * v.shape[axis], *v.shape[axis + 1 :])
    w.put(f"dy2st.concat([{v.name}, {v.name} * 2], {axis})", shape, v)


def stacked(w: Writer) -> None:
    v = w.pick()
    axis = w.random.randrange(v.rank + 1)
    w.put(f"dy2st.stack([{v.name}, -{v.name}], {axis})", (*v.shape[:axis], 2, *v.shape[axis:]), v)


def cut(w: Writer) -> None:
    v = w.pick(least_rank=1)
    axis = w.random.randrange(v.rank)
    head, rest = ":, " * axis, v.shape[axis + 1 :]
    forms = [("0", ()), ("-1", ()), (":1", (1,))]
    if v.shape[axis] in ("n", "t"):
        size = v.shape[axis]
        forms += [
            ("::-1", (size,)),
            (f"{size} - 1", ()),
            (f"{size} // 2", ()),
            (f"0:{size}", (size,)),
        ]
    elif isinstance(v.shape[axis], int) and v.shape[axis] >= 4:
        forms += [("1:3", (2,)), ("::2", ((v.shape[axis] + 1) // 2,))]
    index, shape = w.choose(forms)
    w.put(f"{v.name}[{head}{index}]", (*v.shape[:axis], *shape, *rest), v)


def of_table(w: Writer) -> None:
    forms = [
        ("table[n - 1]", (4,)),
        ("table[n // 2]", (4,)),
        ("table[9 - n]", (4,)),
        ("table[n:n + 3].sum(0)", (4,)),
        ("table[:n].sum(0)", (4,)),
        ("table[n - 3:n].sum(0)", (4,)),
        ("table[max(n, t)]", (4,)),
        *[("table[:n]", ("n", 4)), ("table[:t]", ("t", 4)), ("table[2:n + 2]", ("n", 4))] * 2,
        *[("table[:t, :2]", ("t", 2)), ("table[::2][:n]", ("n", 4))],
        ("table[:2 * n:2]", ("n", 4)),
        ("dy2st.flip(table, [0])[:n]", ("n", 4)),
    ]
    text, shape = w.choose(forms)
    part = w.put(text, shape)
    if shape == ("n", 4):
        w.put(f"x + {part.name}", ("n", 4))
    elif shape in (("t", 4), (4,)):
        w.put(f"h + {part.name}", ("n", "t", 4))


def picked(w: Writer) -> None:
    forms = [
        ("dy2st.topk(h, 2)[0]", ("n", "t", 2)),
        ("dy2st.topk(x, 1, 0)[0].sum(0)", (4,)),
        ("dy2st.take_along_axis(x, dy2st.argsort(x, 1), 1)", ("n", 4)),
        ("dy2st.take_along_axis(h, ids.unsqueeze(2) % 4, 2)", ("n", "t", 1)),
        ("x[dy2st.arange(n), ids[:, 0] % 4]", ("n",)),
        ("x[dy2st.arange(n) // 2]", ("n", 4)),
        ("h[dy2st.arange(n), 0]", ("n", 4)),
        ("F.cross_entropy(x, ids[:, 0] % 4, reduction='none') * 0 + ids[:, 0]", ("n",)),
        ("dy2st.matmul(x, dy2st.transpose(x, [1, 0]))[dy2st.arange(n), dy2st.arange(n)]", ("n",)),
        ("x[dy2st.flip(dy2st.arange(n), [0])]", ("n", 4)),
        ("table[dy2st.arange(n), ids[:, 0] % 4]", ("n",)),
        ("table[dy2st.topk(h, 2)[1]]", ("n", "t", 2, 4)),
    ]
    text, shape = w.choose(forms)
    w.put(text, shape, is_exact="entropy" not in text)


def gathered(w: Writer) -> None:
    v = w.pick(place=True)
    forms = ["table[{0}]", "F.embedding({0}, table)", "table[{0} // 2]", "table[{0} * 2]"]
    text = w.choose(forms).format(v.name)
    if w.random.random() < 0.3:
        axis = w.random.randrange(max(v.rank, 1)) if v.rank else 0
        sums = f"dy2st.cumsum({v.name}, {axis})" if v.rank else v.name
        text = w.choose([f"table[{sums} // 6]", f"table[{sums} % {ROWS}]"])
    w.put(text, (*v.shape, 4))


def counted(w: Writer) -> None:
    size = w.choose(["n", "t"])
    forms = [
        (f"dy2st.arange({size}, dtype='float32')", (size,)),
        (f"table[dy2st.arange({size})]", (size, 4)),
        (f"dy2st.arange({size}).astype('float32') * 2", (size,)),
        (f"dy2st.linspace(0, 1, {size})", (size,)),
        (f"dy2st.arange({size} - 1, -1, -1, dtype='float32')", (size,)),
        (f"dy2st.ones([{size}, 3])", (size, 3)),
        (f"dy2st.tril(dy2st.ones([{size}, {size}]))", (size, size)),
        (f"dy2st.triu(dy2st.full([{size}, {size}], 2.0), 1)", (size, size)),
        (f"dy2st.eye({size})", (size, size)),
        (f"F.one_hot(ids[:, 0] % 3, {size} + 3)[:, :3]", ("n", 3)),
    ]
    text, shape = w.choose(forms)
    w.put(text, shape, is_exact="linspace" not in text)


def masked(w: Writer) -> None:
    forms = [
        "(dy2st.arange(t) < ids.max(1, keepdim=True)).astype('float32')",
        "dy2st.where(dy2st.arange(t) < 3, h.sum(2), dy2st.zeros([n, t]))",
        "(ids > 3).astype('float32') * h.sum(2)",
        "dy2st.where(dy2st.arange(t) < t - 1, h.sum(2), dy2st.zeros([n, t]))",
        "F.sequence_mask(ids[:, 0], t).astype('float32')"
        if hasattr(dy2st.nn.functional, "sequence_mask")
        else "h.sum(2)",
    ]
    w.put(w.choose(forms), ("n", "t"))


def multiplied(w: Writer) -> None:
    v = w.pick(least_rank=1)
    if v.shape[-1] == 4:
        forms = [(f"dy2st.matmul({w.small(v)}, weight)", (*v.shape[:-1], 3))]
        forms.append((f"dy2st.matmul({w.small(v)}, weight[:, 0])", v.shape[:-1]))
        if v.rank > 1:
            axes = [*range(v.rank - 2), v.rank - 1, v.rank - 2]
            turned = f"dy2st.transpose({w.small(v)}, {axes})"
            whole = f"dy2st.matmul({w.small(v)}, {turned})"
            forms.append((whole, (*v.shape[:-1], v.shape[-2])))
            forms.append((f"dy2st.matmul({turned}, {w.small(v)})", (*v.shape[:-2], 4, 4)))
        text, shape = w.choose(forms)
        w.put(text, shape, v)
    else:
        w.put(
            "dy2st.matmul(F.softmax(dy2st.matmul(h, dy2st.transpose(h, [0, 2, 1]))), h)",
            H.shape,
            is_exact=False,
        )


def windowed(w: Writer) -> None:
    forms = [
        ("F.max_pool1d(h, 2)", ("n", "t", 2), True),
        ("F.avg_pool1d(h, 2)", ("n", "t", 2), False),
        ("F.conv1d(x.unsqueeze(1), weight[:2].reshape([3, 1, 2]))", ("n", 3, 3), True),
        ("F.pad(h, [0, 0, 0, 0, 1, 2])", ("n", "t", 7), True),
        ("F.pad(x, [0, 0, 1, t])[:, :4]", ("n", 4), True),
        ("F.pad(x, [0, 0, t, 0])[:, -4:]", ("n", 4), True),
        ("F.pad(x, [1, 1, 0, 0]).sum(0)", (4,), True),
        ("F.max_pool1d(dy2st.transpose(h, [0, 2, 1]), 1)", ("n", 4, "t"), True),
    ]
    text, shape, is_exact = w.choose(forms)
    w.put(text, shape, is_exact=is_exact)


def written(w: Writer) -> None:
    v = w.choose([X, H])
    name = w.put(f"{v.name}.clone()", v.shape).name
    forms = ["[:, 0] = 2.0", "[0] = 1.0", "[:, 0] += 1.0", "[..., 1:3] = 0.0", "[n - 1] = 5.0"]
    forms += ["[:, :1] = 3.0", "[:, n // 9] = 1.0", "[ids[0, 0] % 2] = 4.0"]
    w.lines.append(f"    {name}{w.choose(forms)}")


def expanded(w: Writer) -> None:
    v = w.pick()
    size = w.choose(["n", "t", 3])
    sizes = ", ".join(map(str, (size, *v.shape)))
    w.put(f"{v.name}.unsqueeze(0).expand([{sizes}])", (size, *v.shape), v)


def branch_on_size(w: Writer) -> None:
    v = w.pick()
    name = w.put(v.name, v.shape, v).name
    test = w.choose(["n > 4", "t == 2", "n == t", "n * t > 9", "n % 2 == 0"])
    w.lines += [f"    if {test}:", f"        {name} = {name} * 2"]


def branch(w: Writer) -> None:
    v = w.pick()
    name = w.put(v.name, v.shape, v).name
    tests = ["weight.sum() > 2", "table[0, 0] > 0", "x.sum() > 0", "x[0, 0] > 0", "ids.max() > 7"]
    w.lines += [f"    if {w.choose(tests)}:", f"        {name} = {name} * 2 + 1"]
    w.lines += ["    else:", f"        {name} = -{name}"] * w.choose([0, 1])


def loop(w: Writer) -> None:
    v = w.pick()
    name, index = w.put(v.name, v.shape, v).name, f"i{w.count}"
    ends = ["3", "int(weight[0, 0]) % 3 + 1", "n", "t - 1", "int(ids.max()) % 3"]
    bodies = [f"F.relu({name}) + 1", f"{name} + {index}", f"{name} - {name}.sum()"]
    bodies += [f"{name} + n"] + [f"dy2st.cumsum({name}, 0) % 5"] * (v.rank > 0 and v.is_exact)
    w.lines += [
        f"    for {index} in range({w.choose(ends)}):",
        f"        {name} = {w.choose(bodies)}",
    ]


def list_loop(w: Writer) -> None:
    v = w.pick(least_rank=1)
    w.count += 1
    name, item = f"l{w.count}", w.choose([f"{v.name} * 2", f"{v.name} + i", f"{v.name}.sum(0)"])
    iterations = w.choose(["int(weight[0, 0]) % 2 + 2", "n + 2", "2"])
    w.lines += [
        f"    {name} = []",
        f"    for i in range({iterations}):",
        f"        {name}.append({item})",
    ]
    shape = v.shape[1:] if ".sum" in item else v.shape
    if w.random.random() < 0.5:
        w.put(f"dy2st.stack({name}).sum(0)", shape, v)
    else:
        w.put(f"{name}[1]", shape, v)


def written_in_a_loop(w: Writer) -> None:
    name = w.put("h.clone()", H.shape).name
    staged = "int(weight[0, 0]) % 2 + 1"
    forms = [("t", "[:, i]"), ("2", "[:, :, i]"), (staged, "[:, :, i]"), (staged, "[:, 0 * i]")]
    iterations, place = w.choose(forms)
    w.lines.append(f"    for i in range({iterations}):")
    w.lines.append(f"        {name}{place} = {name}{place} * 2 + 1")


def gathering_loop(w: Writer) -> None:
    place = w.put("ids", IDS.shape, is_place=True).name
    bodies = [f"(table[{place}].sum(2) % 9).astype('int64')", f"dy2st.cumsum({place}, 0) % 9"]
    iterations = w.choose(["int(weight[0, 0]) % 2 + 1", "2"])
    w.lines += [
        f"    for i{w.count} in range({iterations}):",
        f"        {place} = {w.choose(bodies)}",
    ]


STATEMENTS = (
    *(elementwise, rounded, pairwise, reduced, along_axis, ordered, largest, moved, reshaped) * 2,
    *(cut, of_table, gathered, counted, multiplied, joined, stacked, expanded, windowed) * 2,
    *(size_as_value, divided, merged, masked, written, branch, loop, branch_on_size),
    *(gathering_loop, picked, list_loop, written_in_a_loop),
)


# -- running --------------------------------------------------------------------------------------


def program_of(seed: int) -> str:
    """The text of the program of a seed."""
    return Writer(random.Random(seed)).program()


def inputs_of(n: int, t: int, seed: int = 0) -> list[Any]:
    """Small whole numbers of these sizes."""
    rng = np.random.default_rng([n, t, seed])

    def floats(*shape: int) -> Any:
        return dy2st.to_tensor(rng.integers(-4, 5, shape).astype("float32"))

    ids = dy2st.to_tensor(rng.integers(0, 6, (n, t)))
    fixed = np.random.default_rng(seed)
    table = dy2st.to_tensor(fixed.integers(-9, 10, (ROWS, 4)).astype("float32"))
    weight = dy2st.to_tensor(fixed.integers(-2, 3, (4, 3)).astype("float32"))
    return [floats(n, 4), floats(n, t, 4), ids, table, weight]


def outcome(function: Any, inputs: list[Any]) -> Any:
    """The results as arrays, or the class of what is raised."""
    try:
        results = function(*inputs)
    except Exception as error:
        return error
    results = results if isinstance(results, (tuple, list)) else (results,)
    return [np.asarray(r.numpy() if hasattr(r, "numpy") else r) for r in results]


def is_same(one: Any, other: Any) -> bool:
    """Whether two outcomes are equal, up to rounding."""
    if isinstance(one, Exception) or isinstance(other, Exception):
        return isinstance(one, Exception) and isinstance(other, Exception)
    return len(one) == len(other) and all(
        a.shape == b.shape and a.dtype == b.dtype and np.allclose(a, b, 1e-4, 1e-4, equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )


def is_refusal(found: Any) -> bool:
    """Whether `bucket` says that it does not pad, or that the real sizes break a constraint."""
    if isinstance(found, SpecError):
        return "cannot be padded" in str(found)
    return isinstance(found, ShapeError) and "the sizes of this call break" in str(found)


def compare(text: str, name: str = "<random program>") -> str:
    """Run a program at all sizes: "padded", "padded at times", or why not.

    AssertionError if what is padded differs from what is not, or that from Python.
    """
    function = define(text, name)
    n_size, t_size = Dim("n", max=9), Dim("t", max=9)
    specs = [InputSpec([n_size, 4]), InputSpec([n_size, t_size, 4])]
    specs.append(InputSpec([n_size, t_size], "int64"))
    static = to_static(function, [*specs, InputSpec([ROWS, 4]), InputSpec([4, 3])])
    try:
        program = static.main_program
    except Dy2stError as error:
        return f"not converted: {type(error).__name__}"
    assert program is not None
    padded, reasons = 0, set()
    fast = bucket(
        static, **{name: [top] for name, top in LARGEST.items() if name in _sizes(program)}
    )
    for n, t in SIZES:
        inputs = inputs_of(n, t)
        found = outcome(fast, inputs)
        if is_refusal(found):
            reasons.add(str(found))
            continue
        padded += (n, t) != SIZES[0]
        python, whole = outcome(function, inputs), outcome(static, inputs)
        assert is_same(whole, found), f"{text}\nn, t = {n}, {t}\nwhole {whole}\nfound {found!r}"
        assert is_same(python, found), f"{text}\nn, t = {n}, {t}\nPython {python}\nfound {found!r}"
    if not reasons:
        return "padded"
    return "padded at times" if padded else "not padded"


def _sizes(program: Any) -> set[str]:
    return {str(size) for variable in program.inputs for size in variable.shape}


def main() -> int:
    """Compare many programs; print the first differences and how many were padded."""
    return campaign(
        __doc__, program_of, lambda seed, text, name: compare(text, name), ("padded", "not")
    )


if __name__ == "__main__":
    sys.exit(main())
