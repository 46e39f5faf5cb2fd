"""Random programs over tensors and Python values, run by Python and through one Program.

python -m tests.dy2st.jit.tensor_programs 20000        # seeds 0 to 19999, with a summary
python -m tests.dy2st.jit.tensor_programs 1 --from 77  # prints program 77

All numbers are small whole ones, so that sums are exact in any order.
"""

from __future__ import annotations

import contextlib
import io
import random
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, TypeVar

import dy2st
from dy2st.errors import Dy2stError
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.campaign import campaign, define
from tests.dy2st.catalogue.comparing import comparable
from tests.dy2st.jit.program_features import FEATURES, PRELUDE

T = TypeVar("T")
Choose = Callable[[Sequence[Any]], Any]
"""Picks one entry of a sequence: at random, or as hypothesis draws it."""

INPUTS = ([1, 2, 3], [-4, 1, -2], [5, 0, 7], [0, 0, 0], [-1, 6, 2], [3, -3, 9], [2, 2, -7])
TENSORS, SCALARS, NUMBERS = ("a", "b", "c"), ("s", "t"), ("p", "q")
MAYBE = ("u", "w")
"""Tensor variables that only some paths bind."""


class Writer:
    """Writes the text of one program; each method draws what it writes."""

    def __init__(self, choose: Choose):
        """Take all decisions from `choose`."""
        self.choose = choose
        self.lines: list[str] = []
        self.budget = choose(range(4, 16))
        self.count = 0
        self.is_nested = False
        self.features = [choose(FEATURES) for _ in range(choose([0, 1, 1, 2, 3]))]
        self.rest = ", ".join(
            [
                choose(["xs", "len(xs)", "o.v", "(p, q)", "u", "[xs, {'w': o.v}]"]),
                *(feature.results for feature in self.features),
            ]
        )

    def program(self) -> str:
        """The whole text, with the function `f` in it."""
        self.line(0, "def f(x):")
        self.line(1, "a, b, c = x, x * 2 % 5, x - 1")
        self.line(1, "s, t = x.sum(), x.max()")
        self.line(1, "p, q = 1, 2")
        self.line(1, f"if {self.scalar()} > {self.choose(range(-2, 6))}:")
        self.line(2, "u = w = x + 2")
        self.line(1, "xs, o = [x, x + 1], Box()")
        self.line(1, "o.v = x")
        starts = [text for feature in self.features for text in feature.start]
        for text in sorted(starts, key=lambda text: not text.startswith("global")):
            self.lines_of(1, text)
        for _ in range(self.choose(range(2, 6))):
            self.statement(1, in_loop=False)
        self.line(1, f"return a, b + c, s, t, p + q, {self.rest}")
        return PRELUDE + "\n".join(self.lines) + "\n"

    def line(self, depth: int, text: str) -> None:
        """One line of the function."""
        self.lines.append("    " * depth + text)

    def lines_of(self, depth: int, form: str) -> None:
        """Lines of a feature, with what they leave open drawn."""
        for text in form.split("\n"):
            self.line(depth, re.sub(r"<(\w+)>", lambda m: str(getattr(self, m[1])(1)), text))

    def fresh(self, stem: str) -> str:
        """A name that is new in the program."""
        self.count += 1
        return f"{stem}{self.count}"

    def often(self, one_in: int) -> bool:
        """False mostly; True once in that many times."""
        return bool(self.choose(range(one_in)) == 0)

    # -- expressions -------------------------------------------------------------------------

    def tensor(self, depth: int = 0) -> str:
        """An expression that is a tensor of three numbers."""
        if not self.lines[6:]:
            return str(self.choose(TENSORS))
        if depth > 1 or self.often(3):
            return str(self.choose([*TENSORS, *TENSORS, "x", "xs[0]", "xs[-1]", "o.v"]))
        one, two = self.tensor(depth + 1), self.tensor(depth + 1)
        forms = [
            f"({one} + {two})",
            f"({one} - {two})",
            f"({one} * {self.choose([2, 3])} % 7)",
            f"({one} + {self.number()})",
            f"({one} + {self.scalar(depth + 1)} % 3)",
            f"abs({one})",
            f"twice({one})",
            f"({one} if {self.test(depth + 1)} else {two})",
            f"(lambda z: z + {self.choose(TENSORS)})({one})",
            f"sum([r + 1 for r in xs]) % 9 + {one}",
        ]
        return str(self.choose(forms))

    def scalar(self, depth: int = 0) -> str:
        """An expression that is a tensor of no axes."""
        forms = [*SCALARS, f"{self.tensor(2)}.sum()", f"{self.tensor(2)}.max()"]
        return str(self.choose(forms))

    def number(self, depth: int = 0) -> str:
        """An expression that is a Python number, or depends on how the program ran."""
        forms = [
            *NUMBERS,
            "3",
            "len(xs)" if self.lines[6:] else "2",
            f"({self.choose(NUMBERS)} + 2) % 4",
        ]
        return str(self.choose(forms))

    def test(self, depth: int = 0) -> str:
        """A condition: of tensors, of numbers, or of both."""
        simple = [
            f"{self.scalar()} > {self.choose(range(-2, 6))}",
            f"{self.scalar()} % 3 == {self.choose(range(3))}",
            f"({self.choose(TENSORS)} > {self.choose(TENSORS)}).any()",
            f"{self.choose(NUMBERS)} > {self.choose(range(3))}",
            f"{self.choose(NUMBERS)} % 2 == 0",
            *(test for feature in self.features for test in feature.tests),
        ]
        if depth > 1 or not self.often(3):
            return str(self.choose(simple))
        one, two = self.test(depth + 1), self.test(depth + 1)
        forms = [
            f"({one} and {two})",
            f"({one} or {two})",
            f"not {one}",
            f"{self.choose(range(-2, 2))} < {self.scalar()} <= {self.choose(range(2, 9))}",
            f"any([{one}, {two}])",
            f"bool({one})",
        ]
        return str(self.choose(forms))

    # -- statements --------------------------------------------------------------------------

    def block(self, depth: int, in_loop: bool) -> None:
        """One to three statements."""
        for _ in range(self.choose([1, 1, 2, 3])):
            self.statement(depth, in_loop)

    def statement(self, depth: int, in_loop: bool) -> None:
        """A statement; simple ones only when the program is long or deep."""
        self.budget -= 1
        if self.budget < 0 or depth > 5 or self.often(2):
            self.simple(depth)
            return
        kinds = [
            *[self.if_statement] * 4,
            self.for_statement,
            self.for_statement,
            self.while_statement,
            self.leave,
            self.leave,
            self.try_statement,
            self.with_statement,
            self.match_statement,
            self.nested_function,
        ]
        self.choose(kinds)(depth, in_loop)

    def simple(self, depth: int) -> None:
        """An assignment, or another short statement."""
        if self.features and self.often(2):
            self.lines_of(depth, self.choose(self.choose(self.features).statements))
            return
        forms = [
            *[f"{self.choose(TENSORS)} = {self.tensor()} % 11"] * 4,
            f"{self.choose(TENSORS)} += {self.tensor(1)} % 3",
            *[f"{self.choose(SCALARS)} = {self.scalar()} % 6"] * 2,
            f"{self.choose(NUMBERS)} = {self.number()}",
            f"{self.choose(NUMBERS)} += 1",
            f"{self.choose(MAYBE)} = {self.tensor(1)}",
            f"a = u + {self.tensor(1)}",
            f"xs[{self.choose([0, 1])}] = {self.tensor(1)}",
            f"o.v = {self.tensor(1)} % 7",
            f"b[{self.choose([0, 1])}] = {self.scalar()} % 5",
            f"a, b = b, {self.tensor(1)} % 5",
            f"c = (y := {self.tensor(1)}) + y % 2",
            f"print({self.number()}, float({self.scalar()}))",
        ]
        self.line(depth, str(self.choose(forms)))

    def if_statement(self, depth: int, in_loop: bool) -> None:
        """`if`, `elif`, `else`."""
        self.line(depth, f"if {self.test()}:")
        self.block(depth + 1, in_loop)
        if self.often(5):
            self.line(depth, f"elif {self.test()}:")
            self.block(depth + 1, in_loop)
        if self.often(2):
            self.line(depth, "else:")
            self.block(depth + 1, in_loop)

    def for_statement(self, depth: int, in_loop: bool) -> None:
        """A loop over a list, a range, a tensor, or pairs."""
        name = self.fresh("i")
        heads = [
            (f"for {name} in range({self.choose([2, 3])}):", f"p = ({name} + p) % 5"),
            (f"for {name} in range(int(t) % 4):", f"c = c + {name}"),
            (f"for {name} in range(p % 4):", f"c = c + {name}"),
            (f"for {name} in list(xs):", f"a = (a + {name}) % 8"),
            (f"for {name} in b:", f"s = (s + {name}) % 9"),
            (f"for {name}, z in enumerate(c):", f"t = (t + z * {name}) % 9"),
            (f"for {name}, z in zip(a, b):", f"s = (s + z - {name}) % 9"),
        ]
        head, first = self.choose(heads)
        self.line(depth, head)
        self.line(depth + 1, first)
        self.block(depth + 1, in_loop=True)
        self.loop_else(depth, in_loop)

    def while_statement(self, depth: int, in_loop: bool) -> None:
        """A loop that ends after a few turns, counted by a tensor or a number."""
        name = self.fresh("k")
        start, limit = self.choose([("0", "3"), ("s * 0", "t % 4"), ("0", "s % 4"), ("s * 0", "2")])
        self.line(depth, f"{name} = {start}")
        extra = f" and {self.test(1)}" if self.often(3) else ""
        self.line(depth, f"while {name} < {limit}{extra}:")
        self.line(depth + 1, f"{name} = {name} + 1")
        self.block(depth + 1, in_loop=True)
        self.loop_else(depth, in_loop)

    def loop_else(self, depth: int, in_loop: bool) -> None:
        """Sometimes the `else` of a loop."""
        if self.often(6):
            self.line(depth, "else:")
            self.block(depth + 1, in_loop)

    def leave(self, depth: int, in_loop: bool) -> None:
        """A jump or an error under a condition."""
        results = f"return {self.tensor(1)}, {self.tensor(1)}, s, t, p + q, {self.rest}"
        forms = [*["break", "continue"] * 12] * in_loop
        forms += [] if self.is_nested else [results] * 4 + ["return"]
        forms += ["raise ValueError('no')"] * 4 if self.often(4) else []
        forms += ["assert s < 9, 'much'"] * 4 if self.often(4) else []
        if not forms:
            return self.simple(depth)
        self.line(depth, f"if {self.test()}:")
        if self.often(3):
            self.simple(depth + 1)
        return self.line(depth + 1, str(self.choose(forms)))

    def try_statement(self, depth: int, in_loop: bool) -> None:
        """`try` with `except`, `else`, `finally`."""
        self.line(depth, "try:")
        self.block(depth + 1, in_loop)
        if self.often(3):
            self.line(depth + 1, "[][p]")
        has_handler = self.often(2)
        if has_handler:
            self.line(depth, "except IndexError:")
            self.block(depth + 1, in_loop)
            if self.often(3):
                self.line(depth, "else:")
                self.block(depth + 1, in_loop)
        if not has_handler or self.often(3):
            self.line(depth, "finally:")
            self.simple(depth + 1)

    def with_statement(self, depth: int, in_loop: bool) -> None:
        """`with`."""
        self.line(depth, "with Guard():")
        self.block(depth + 1, in_loop)

    def match_statement(self, depth: int, in_loop: bool) -> None:
        """`match` on a Python value, with a guard at times."""
        subject, patterns = self.choose(
            [
                ("p % 3", ["0", "1 | 2", "m"]),
                ("(p % 2, a)", ["(0, m)", "(1, m)", "m"]),
                ("xs", ["[m, _]", "[m, *_]", "m"]),
                ("s % 3", ["0", "1 | 2", "m"]),
            ]
        )
        self.line(depth, f"match {subject}:")
        guard = self.test(1) if self.often(2) else "p > 1"
        self.line(depth + 1, f"case {self.choose(patterns)} if {guard}:")
        self.block(depth + 2, in_loop)
        self.line(depth + 1, "case _:")
        self.block(depth + 2, in_loop)

    def nested_function(self, depth: int, in_loop: bool) -> None:
        """A function that reads or writes the variables around it, called at once or later."""
        if self.is_nested:
            return self.simple(depth)
        name = self.fresh("g")
        shared = self.choose(["", "", "a", "p"])
        self.line(depth, f"def {name}(v):")
        if shared:
            self.line(depth + 1, f"nonlocal {shared}")
        self.is_nested = True
        if shared:
            self.line(depth + 1, f"if {self.test(1)}:")
            self.line(depth + 2, f"{shared} = {'v + 1' if shared == 'a' else '(p + 1) % 5'}")
        self.line(depth + 1, f"if {self.test(1)}:")
        self.line(depth + 2, f"return v + {self.choose(['c', 'b', '1'])}")
        self.line(depth + 1, "return v % 4")
        self.is_nested = False
        if self.often(2):
            self.statement(depth, in_loop)
        return self.line(depth, f"b = {name}({self.tensor(1)})")


def program_of(seed: int) -> str:
    """The text of the program of a seed."""
    return Writer(random.Random(seed).choice).program()


_LOST = r".* raises, and what it has written outside before that is lost"


def outcome(function: Callable[[Any], Any], values: Sequence[int]) -> Any:
    """The result or the exception of a call, and what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.filterwarnings("ignore", _LOST)  # of globals, which nobody compares
        try:
            result = comparable(function(dy2st.to_tensor(values, dtype="float32")))
        except Dy2stError:
            raise
        except Exception as error:
            result = (type(error).__name__, str(error).splitlines()[:1])
    return result, printed.getvalue()


def compare(text: str, name: str = "<random program>") -> str:
    """Run a program both ways: "equal", or "refused: why"; AssertionError if they differ."""
    function = define(text, name)
    expected = [outcome(function, values) for values in INPUTS]
    static = to_static(function, input_spec=[InputSpec([3], "float32", "x")])
    try:
        found = [outcome(static, values) for values in INPUTS]
    except Dy2stError as error:
        return f"refused: {type(error).__name__}: {str(error).splitlines()[0].split(': ', 1)[-1]}"
    if _always_raises(expected):
        # Then the trace ends in it: there is no Program that could print.
        expected, found = [e[:1] for e in expected], [f[:1] for f in found]
    for values, wanted, got in zip(INPUTS, expected, found, strict=True):
        assert got == wanted, f"{text}\n{values}: Python {wanted}\nProgram {got}"
    return "equal"


def _always_raises(outcomes: list[Any]) -> bool:
    first = outcomes[0][0]
    return first[0] not in ("tuple",) and all(result == first for result, _ in outcomes)


def lines_taken(function: Any, inputs: Sequence[Any]) -> tuple[set[int], set[int]]:
    """The lines of a function that Python runs on some input, and all that it has."""
    code, taken = function.__code__, set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code is not code:
            return None
        taken.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for values in inputs:
            outcome(function, values)
    finally:
        sys.settrace(before)
    return taken, {line for _, _, line in code.co_lines() if line is not None}


def main() -> int:
    """Compare many programs; print the first differences and why others were refused."""
    return campaign(__doc__, program_of, lambda seed, text, name: compare(text, name))


if __name__ == "__main__":
    sys.exit(main())
