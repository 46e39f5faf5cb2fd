"""Random functions of smooth arithmetic in branches, loops and lists: four ways to their gradients.

python -m tests.dy2st.jit.gradient_programs 2000         # seeds 0 to 1999, with a summary
python -m tests.dy2st.jit.gradient_programs 1 --from 77  # prints program 77

By the tape, by quotients of differences in float64, by `static.gradients`, and by a converted call
that takes part in training; of some functions the second derivatives too.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import dy2st
from dy2st.errors import Dy2stError, VerifyError
from dy2st.jit import to_static
from dy2st.static import InputSpec, gradients
from dy2st_runtime import engine
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.clone import clone
from dy2st_runtime.trained_program import ProgramNode
from tests.campaign import campaign, define

SPECS = [InputSpec([None, 3], "float64", "x"), InputSpec([3, 3], "float64", "w")]
PRELUDE = """import dy2st
import dy2st.nn.functional as F

class Box:
    pass

def helper(v, w):
    if v.mean() > 0.1:
        return (v @ w).tanh()
    return v * 0.7 + 0.1

"""
MATRICES, VECTORS, SCALARS = ("a", "b", "c"), ("p", "q"), ("s", "t")
STOPS = ("detach", "no_grad", "stop_gradient")
"""What the tape does not see and differences do, in the text of a program."""


class Writer:
    """Writes the text of one program; all decisions are drawn from `random`."""

    def __init__(self, seed: int) -> None:
        """Begin; one in three programs may stop gradients."""
        self.random = random.Random(seed)
        self.may_stop = self.random.random() < 0.35
        self.budget, self.count = self.random.randrange(4, 14), 0
        self.lines: list[str] = []

    def program(self) -> str:
        """The whole text, with the function `f` in it."""
        self.line(0, "def f(x, w):")
        start = self.one(["w[0]", "w[2] * 1.0"] + ["dy2st.zeros([3], 'float64')"] * self.may_stop)
        self.line(1, "a, b, c = x, x * 0.5, (x @ w).tanh()")
        self.line(1, f"p, q = w[1], {start}")
        self.line(1, "s, t = x.mean(), w.sum().tanh()")
        self.line(1, "rows, o = [w[0], p * 2.0], Box()")
        self.line(1, "o.v = b")
        for _ in range(self.random.randrange(2, 6)):
            self.statement(1, in_loop=False)
        self.line(1, f"return {self.results()}")
        return PRELUDE + "\n".join(self.lines) + "\n"

    def results(self) -> str:
        """What the program gives: always as many, of the same shapes."""
        return f"{self.matrix(1)}, {self.vector(1)}, s * 1.0, dy2st.stack(rows).mean(0), o.v * p"

    def line(self, depth: int, text: str) -> None:
        """One line."""
        self.lines.append("    " * depth + text)

    def one(self, of: Sequence[Any]) -> Any:
        """One entry."""
        return self.random.choice(of)

    def often(self, one_in: int) -> bool:
        """True once in that many times."""
        return self.random.randrange(one_in) == 0

    def fresh(self, stem: str) -> str:
        """A new name."""
        self.count += 1
        return f"{stem}{self.count}"

    # -- expressions: of n rows of three, of three, of no axes ---------------------------------

    def matrix(self, depth: int = 0) -> str:
        """A tensor as large as x, none of whose elements grow."""
        if depth > 2 or self.often(4):
            return str(self.one([*MATRICES, *MATRICES, "x", "o.v"]))
        forms: list[Callable[[], str]] = [
            lambda: f"({self.matrix(depth + 1)} @ w).tanh()",
            lambda: f"dy2st.sin({self.matrix(depth + 1)})",
            lambda: f"({self.matrix(depth + 1)} * {self.vector(depth + 1)}).tanh()",
            lambda: f"(({self.matrix(depth + 1)} + {self.matrix(depth + 1)}) * 0.5)",
            lambda: f"(({self.matrix(depth + 1)} - {self.scalar(depth + 1)}) * 0.5)",
            lambda: f"F.softmax({self.matrix(depth + 1)})",
            lambda: f"F.gelu({self.matrix(depth + 1)})",
            lambda: f"F.relu({self.matrix(depth + 1)} - 0.01)",
            lambda: f"F.layer_norm({self.matrix(depth + 1)}, [3], epsilon=0.1)",
            lambda: f"dy2st.maximum({self.matrix(depth + 1)}, {self.vector(depth + 1)})",
            lambda: (
                f"dy2st.where({self.matrix(depth + 1)} > 0.03, {self.matrix(depth + 1)},"
                f" {self.matrix(depth + 1)})"
            ),
            lambda: f"({self.matrix(depth + 1)} / (1.5 + {self.one(MATRICES)} ** 2))",
            lambda: f"dy2st.exp(-{self.one(MATRICES)} * {self.one(MATRICES)}).tanh()",
            lambda: (
                f"dy2st.concat([{self.one(MATRICES)}[1:], {self.matrix(depth + 1)}[:1]]).tanh()"
            ),
            lambda: f"{self.one(MATRICES)}[::-1]",
            lambda: f"dy2st.cumsum({self.matrix(depth + 1)}, 0).tanh()",
            lambda: f"helper({self.matrix(depth + 1)}, w)",
            lambda: f"({self.matrix(depth + 1)} if {self.test()} else {self.matrix(depth + 1)})",
        ]
        if self.may_stop:
            forms += [
                lambda: f"{self.matrix(depth + 1)}.detach()",
                lambda: f"dy2st.zeros_like({self.one(MATRICES)})",
                lambda: f"dy2st.ones_like({self.one(MATRICES)})",
                lambda: f"dy2st.sign({self.one(MATRICES)})",
            ]
        return str(self.one(forms)())

    def vector(self, depth: int = 0) -> str:
        """A tensor of three numbers."""
        if depth > 2 or self.often(3):
            return str(self.one([*VECTORS, *VECTORS, "w[0]", "rows[0]", "rows[-1]"]))
        forms: list[Callable[[], str]] = [
            lambda: f"{self.matrix(depth + 1)}.mean(axis=0)",
            lambda: f"({self.matrix(depth + 1)} ** 2).sum(axis=0).tanh()",
            lambda: f"{self.one(MATRICES)}[{self.one([0, -1])}]",
            lambda: f"({self.vector(depth + 1)} @ w).tanh()",
            lambda: f"({self.vector(depth + 1)} * {self.vector(depth + 1)}).tanh()",
            lambda: f"(({self.vector(depth + 1)} + {self.scalar(depth + 1)}) * 0.5)",
            lambda: f"({self.vector(depth + 1)} if {self.test()} else {self.one(VECTORS)})",
        ]
        if self.may_stop:
            forms += [lambda: f"{self.one(VECTORS)}.detach()", lambda: "dy2st.ones([3], 'float64')"]
        return str(self.one(forms)())

    def scalar(self, depth: int = 0) -> str:
        """A tensor of no axes."""
        if depth > 2 or self.often(3):
            return str(self.one(SCALARS))
        forms = [
            f"{self.matrix(depth + 1)}.mean()",
            f"{self.vector(depth + 1)}.sum().tanh()",
            f"dy2st.sin({self.scalar(depth + 1)} * 2.0)",
            f"({self.one(SCALARS)} * {self.one(SCALARS)}).tanh()",
        ]
        return str(self.one(forms))

    def test(self) -> str:
        """What a tensor decides; thresholds that no value has."""
        limit = self.one(["0.0137", "-0.0731", "0.2719", "-0.3143"])
        forms = [
            f"{self.one(SCALARS)} > {limit}",
            f"{self.one(MATRICES)}.mean() < {limit}",
            f"({self.one(VECTORS)} > {limit}).any()",
            f"len(x) > {self.one([1, 2, 3])}",
            f"({self.one(SCALARS)} > {limit} and {self.one(VECTORS)}.sum() > {limit})",
        ]
        return str(self.one(forms))

    # -- statements ----------------------------------------------------------------------------

    def block(self, depth: int, in_loop: bool) -> None:
        """One to three statements."""
        for _ in range(self.one([1, 1, 2, 3])):
            self.statement(depth, in_loop)

    def statement(self, depth: int, in_loop: bool) -> None:
        """One of them; a short one where the program is long or deep."""
        self.budget -= 1
        if self.budget < 0 or depth > 3 or self.often(2):
            self.simple(depth)
            return
        kinds = [self.branch, self.branch, self.turns, self.turns, self.rows, self.leave]
        self.one(kinds)(depth, in_loop)

    def simple(self, depth: int) -> None:
        """An assignment, or a change of a list or an object."""
        forms: list[Callable[[], str]] = [
            *[lambda: f"{self.one(MATRICES)} = {self.matrix()}"] * 4,
            *[lambda: f"{self.one(VECTORS)} = {self.vector()}"] * 2,
            lambda: f"{self.one(SCALARS)} = {self.scalar()}",
            lambda: f"a, b, c = b, {self.one(MATRICES)}, a",
            lambda: f"p, q = q, {self.vector(1)}",
            lambda: f"s, t = t, {self.scalar(1)}",
            lambda: f"rows.append({self.vector(1)})",
            lambda: f"rows[{self.one([0, -1])}] = {self.vector(1)}",
            lambda: f"o.v = {self.matrix(1)}",
            lambda: f"{self.one(MATRICES)} = {self.one(MATRICES)} + 0.1; b = b * p",
        ]
        if self.may_stop:
            stopped = self.one(MATRICES)
            forms += [
                lambda: f"with dy2st.no_grad(): {self.one(MATRICES)} = {self.matrix(1)} * 1.0",
                lambda: f"{stopped} = {self.matrix(1)} * 1.0; {stopped}.stop_gradient = True",
            ]
        self.line(depth, self.one(forms)())

    def branch(self, depth: int, in_loop: bool) -> None:
        """`if`, at times with `elif` and `else`."""
        self.line(depth, f"if {self.test()}:")
        self.block(depth + 1, in_loop)
        if self.often(4):
            self.line(depth, f"elif {self.test()}:")
            self.block(depth + 1, in_loop)
        if self.often(2):
            self.line(depth, "else:")
            self.block(depth + 1, in_loop)

    def turns(self, depth: int, in_loop: bool) -> None:
        """A loop that a tensor ends after a few turns."""
        name = self.fresh("k")
        head = self.one(
            [
                f"while {name} < (s > 0.0137).astype('int64') * 2 + 1:",
                f"while {name} < len(x):",
                f"while {name} < 3 and {self.test()}:",
                f"while {name} < (p.sum() > 0.2719).astype('int64') * 3:",
            ]
        )
        self.line(depth, f"{name} = dy2st.zeros([], 'int64')")
        self.line(depth, head)
        self.line(depth + 1, f"{name} = {name} + 1")
        self.block(depth + 1, in_loop=True)

    def rows(self, depth: int, in_loop: bool) -> None:
        """A loop over rows, a list, or a range of Python's."""
        name = self.fresh("r")
        head, first = self.one(
            [
                (f"for {name} in {self.one(MATRICES)}:", f"p = ({name} + p) * 0.5"),
                (f"for {name} in list(rows):", f"q = ({name} * q).tanh()"),
                (f"for {name} in range(2):", f"s = (s + {name}).tanh()"),
                (f"for {name}, z in enumerate(x):", f"t = (t + z.sum() * {name}).tanh()"),
            ]
        )
        self.line(depth, head)
        self.line(depth + 1, first)
        self.block(depth + 1, in_loop=True)

    def leave(self, depth: int, in_loop: bool) -> None:
        """A jump under a condition."""
        self.line(depth, f"if {self.test()}:")
        if self.often(2):
            self.simple(depth + 1)
        jump = self.one(["break", "continue"]) if in_loop else f"return {self.results()}"
        self.line(depth + 1, jump)


def program_of(seed: int) -> str:
    """The text of the program of a seed."""
    return Writer(seed).program()


# -- the four ways -----------------------------------------------------------------------------


def inputs_of(seed: int) -> list[tuple[Any, Any]]:
    """Arrays of calls that take different branches, in which sizes differ."""
    rng = np.random.default_rng(seed)
    shifts = (0.0, 0.6, -0.6, 0.1)
    return [
        (rng.standard_normal((rows, 3)) * 0.7 + shift, rng.standard_normal((3, 3)) * 0.6)
        for rows, shift in zip((2, 1, 4, 3), shifts, strict=True)
    ]


def total_of(results: Sequence[Any]) -> Any:
    """The sum of all elements of all results through which gradients flow; None if there is none."""
    flowing = [one.sum() for one in results if not one.stop_gradient]
    return sum(flowing[1:], flowing[0]) if flowing else None


def leaves_of(arrays: Sequence[Any]) -> list[Any]:
    """Tensors that need gradients."""
    return [dy2st.to_tensor(array, stop_gradient=False) for array in arrays]


def taped(function: Callable[..., Any], arrays: Sequence[Any]) -> tuple[Any, Any, Any, bool]:
    """Values, flags, gradients by the tape, and whether the call was one Node of a Program."""
    leaves = leaves_of(arrays)
    results = function(*leaves)
    total = total_of(results)
    if total is not None:
        total.backward()
    found = [None if leaf.grad is None else leaf.grad.numpy() for leaf in leaves]
    flags = [one.stop_gradient for one in results]
    is_one = any(isinstance(one.node, ProgramNode) for one in results)
    return [one.numpy() for one in results], flags, found, is_one


def check_differences(function: Callable[..., Any], arrays: Any, found: Any, rng: Any) -> bool:
    """Compare with a quotient along a random direction; False where the function has a kink."""
    directions = [rng.standard_normal(array.shape) for array in arrays]

    def value(step: float) -> float:
        moved = [a + step * d for a, d in zip(arrays, directions, strict=True)]
        with dy2st.no_grad():
            return float(sum(one.numpy().sum() for one in function(*map(dy2st.to_tensor, moved))))

    wide, narrow = ((value(h) - value(-h)) / (2 * h) for h in (2e-5, 1e-5))
    ahead, behind = (value(1e-5) - value(0.0)) / 1e-5, (value(0.0) - value(-1e-5)) / 1e-5
    scale = max(1.0, abs(narrow))
    if abs(wide - narrow) > 1e-6 * scale or abs(ahead - behind) > 1e-2 * scale:
        return False
    pairs = zip(found, directions, strict=True)
    slope = sum(float((g * d).sum()) for g, d in pairs if g is not None)
    np.testing.assert_allclose(slope, narrow, rtol=2e-6, atol=2e-6 * scale)
    return True


def with_gradients(program: Any) -> tuple[Any, list[bool]]:
    """A copy of a Program that gives its gradients too, and which inputs have one."""
    program = clone(program)
    found = gradients(program.outputs, program.inputs)
    program.block.yields += [one for one in found if one is not None]
    verify(program)
    return engine.compile(program), [one is not None for one in found]


def bends_of(program: Any) -> tuple[Any, list[bool]]:
    """A Program of the derivative of its gradients along its inputs."""
    program = clone(program)
    slopes = [one for one in gradients(program.outputs, program.inputs) if one is not None]
    places = [v for v in program.inputs]
    found = gradients(slopes, places) if slopes else [None] * len(places)
    program.block.yields += [one for one in found if one is not None]
    verify(program)
    return engine.compile(program), [one is not None for one in found]


def taped_bends(function: Callable[..., Any], arrays: Sequence[Any]) -> list[Any]:
    """The gradients of the sum of the gradients, zeros where there is none."""
    leaves = leaves_of(arrays)
    zeros = [np.zeros_like(array) for array in arrays]
    total = total_of(function(*leaves))
    if total is None:
        return zeros
    slopes = dy2st.grad(total, leaves, create_graph=True, allow_unused=True)
    total = total_of([one for one in slopes if one is not None])
    if total is None:
        return zeros
    found = dy2st.grad(total, leaves, allow_unused=True)
    return [z if one is None else one.numpy() for one, z in zip(found, zeros, strict=True)]


def same(found: Sequence[Any], wanted: Sequence[Any], what: str) -> None:
    """Compare arrays; None where there is no gradient."""
    for one, other in zip(found, wanted, strict=True):
        assert (one is None) == (other is None), f"{what}: {one} instead of {other}"
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11, err_msg=what)


def given(found: Sequence[Any], there: Sequence[bool], arrays: Sequence[Any]) -> list[Any]:
    """What an executable gave for inputs, zeros for those without a gradient."""
    rest = iter(found)
    pairs = zip(there, arrays, strict=True)
    return [next(rest) if is_there else np.zeros_like(array) for is_there, array in pairs]


def compare(seed: int, text: str, name: str) -> str:
    """Go all ways: "equal" or "refused: why"; AssertionError if they differ."""
    function = define(text, name)
    static = to_static(function, input_spec=SPECS)
    rng = np.random.default_rng(seed)
    has_stops = any(word in text for word in STOPS)
    try:
        program = static.concrete_program.main_program
        executable, there = with_gradients(program)
        bends = bends_of(program) if seed % 4 == 0 else None
    except VerifyError:
        raise
    except Dy2stError as error:
        return f"refused: {type(error).__name__}: {str(error).splitlines()[0].split(': ', 1)[-1]}"
    kinds = set()
    for arrays in [*inputs_of(seed), *inputs_of(seed)[:1]]:
        values, flags, found, _ = taped(function, arrays)
        wanted = [np.zeros_like(a) if g is None else g for a, g in zip(arrays, found, strict=True)]
        if not has_stops:
            kinds.add(check_differences(function, arrays, found, rng))
        given_values, given_flags, given_gradients, is_one = taped(static, arrays)
        kinds.add("one" if is_one else "many")
        same(given_values, values, "value of a converted call")
        assert given_flags == flags, f"flags of a converted call: {given_flags}, not {flags}"
        same(given_gradients, found, "gradient of a converted call")
        outputs = executable.run(list(arrays), [])
        count = len(values)
        same(outputs[:count], values, "value of the Program")
        same(given(outputs[count:], there, arrays), wanted, "gradient in the Program")
        if bends is not None:
            ends = given(bends[0].run(list(arrays), [])[count:], bends[1], arrays)
            same(ends, taped_bends(function, arrays), "second derivative in the Program")
    return "equal" + ", compiled" * ("one" in kinds) + ", with differences" * (True in kinds)


def main() -> int:
    """Compare many programs; print the first differences and why others were refused."""
    warnings.simplefilter("error", RuntimeWarning)
    return campaign(__doc__, program_of, compare)


if __name__ == "__main__":
    sys.exit(main())
