"""Random functions that change one of several objects, which a tensor chooses: Python and Programs.

python -m tests.dy2st.jit.object_programs 3000          # seeds 0 to 2999, with a summary
python -m tests.dy2st.jit.object_programs 1 --from 77   # prints program 77

All numbers are small whole ones, so that sums are exact in any order.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

import dy2st
from dy2st.errors import Dy2stError, NoTensor
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.campaign import campaign, define, reason

Choose = Callable[[Sequence[Any]], Any]

INPUTS = ([1, 2, 3], [-4, 1, -2], [5, 0, 7], [0, 0, 0], [3, -3, 9], [-1, -1, 4])
SIZES = ([1, 2], [-4, 1, -2, 3])  # beside those where the size is not known
NAMES = ("a", "b", "c")
KINDS = ("A", "B", "C", "D", "S")

PRELUDE = """
from dataclasses import dataclass

class A:
    def __init__(self, v=0):
        self.v = v
        self.w = 1
        self.items = [v]

    def bump(self, k):
        self.v += k
        self.items.append(k)

    def switched(self, k):
        if k > 1:
            self.w = 5
            return self
        return B(k)

    @property
    def both(self):
        return self.v + self.w

    @both.setter
    def both(self, value):
        self.v = value
        self.w = 2


class B:
    def __init__(self, v=10):
        self.w = v
        self.v = 7

    def bump(self, k):
        self.w = k
        self.extra = self.v

    def switched(self, k):
        self.v = k
        return self


class C(A):
    def bump(self, k):
        super().bump(k)
        self.v *= 2


@dataclass
class D:
    v: int = 3
    w: int = 4

    def bump(self, k):
        self.w, self.v = self.v, self.w + k

    def switched(self, k):
        return A(k) if self.v > 2 else self


class S:
    __slots__ = ("v", "w")

    def __init__(self, v=1):
        self.v, self.w = v, 0

    def bump(self, k):
        self.v = self.v + k

    def switched(self, k):
        self.w += 1
        return self


def change(o, k):
    o.v = k
    return o


def perhaps(o, k):
    if o is not None:
        o.w = k


def f(x):
    a, b, c, r = A(), {second}, None, []
    n, m = 1, 2
{body}
    return a, b, c, r, n, m
"""


class Writer:
    """Writes the text of one program; each method draws what it writes."""

    def __init__(self, choose: Choose):
        """Take all decisions from `choose`."""
        self.choose, self.lines, self.count = choose, list[str](), 0
        self.kinds = [choose(KINDS) for _ in range(3)]

    def program(self) -> str:
        """The whole text."""
        for _ in range(self.choose(range(1, 3))):
            self.choosing(1)
        for _ in range(self.choose(range(2, 7))):
            self.statement(1)
        return PRELUDE.format(second=self.made(), body="\n".join(self.lines))

    def often(self, one_in: int) -> bool:
        """True once in that many times."""
        return bool(self.choose(range(one_in)) == 0)

    def line(self, depth: int, text: str) -> None:
        """Append a line of the function."""
        self.lines.append("    " * depth + text)

    def made(self) -> str:
        """A new object."""
        if self.often(8):
            return str(self.choose(["None", "None", '{"v": 1, "w": 2}', "[1, 2]"]))
        return f"{self.choose(self.kinds)}({self.choose(['', '4', 'x.sum()', 'x[0]'])})"

    def test(self) -> str:
        """A condition, mostly of a tensor."""
        place = self.choose(["x.sum()", "x[0]", "x[1]", "x.max()"])
        tests = [f"{place} > {self.choose([-1, 0, 2, 4])}"] * 5 + ["n > 1", "m > 2"]
        name = self.choose(NAMES)
        tests += [f"isinstance({name}, {self.choose(KINDS)})", f"{name} is None"]
        tests += [f"{name} is {self.choose(NAMES)}", f'hasattr({name}, "v")']
        return str(self.choose(tests))

    def number(self) -> str:
        """An expression that is a number."""
        name = self.choose(NAMES)
        return str(
            self.choose(["1", "3", "n", "m", "x[0]", "x.sum()", f"{name}.v", f"{name}.w", "n + 1"])
        )

    def choosing(self, depth: int) -> None:
        """Let a tensor choose an object."""
        name, other = self.choose(NAMES), self.choose(NAMES)
        form = self.choose(["ternary", "ternary", "if", "else", "alias", "loop"])
        if form == "ternary":
            self.line(depth, f"{name} = {self.made()} if {self.test()} else {self.made()}")
        elif form == "alias":
            self.line(depth, f"{name} = {other} if {self.test()} else {self.made()}")
        elif form == "loop":
            kind = self.choose(["A", "B", "C", "D", "S"])
            self.line(depth, f"{name} = {self.choose(['None', self.made()])}")
            self.line(depth, f"for t in {self.choose(['x', 'range(2)'])}:")
            self.line(depth + 1, f"made = {kind}(t)")
            test = f"{name} is None or made.v > {name}.v"
            self.line(depth + 1, f"if {self.choose([test, test, self.test()])}:")
            self.line(depth + 2, f"{name} = made")
        else:
            self.line(depth, f"if {self.test()}:")
            self.line(depth + 1, f"{name} = {self.made()}")
            if form == "else":
                self.line(depth, "else:")
                self.line(depth + 1, f"{name} = {self.made()}")

    def statement(self, depth: int) -> None:
        """One statement; simple ones only where it is deep."""
        if depth > 2 or not self.often(4):
            return self.simple(depth)
        head = self.choose(["if", "if", "else", "for", "match"])
        if head == "match":
            self.line(depth, f"match {self.choose(NAMES)}:")
            for kind in (self.choose(KINDS), self.choose(KINDS)):
                self.line(depth + 1, f"case {kind}(v=got):")
                self.line(depth + 2, "n = got")
                self.statement(depth + 2)
            self.line(depth + 1, "case _:")
            self.line(depth + 2, "m = 5")
            return None
        self.line(depth, "for t in x:" if head == "for" else f"if {self.test()}:")
        for _ in range(self.choose([1, 2])):
            self.statement(depth + 1)
        if head == "else":
            self.line(depth, "else:")
            self.statement(depth + 1)
        return None

    def simple(self, depth: int) -> None:
        """A statement that reads or changes an object."""
        if self.often(6):
            return self.choosing(depth)
        name, other, value = self.choose(NAMES), self.choose(NAMES), self.number()
        key = self.choose(["v", "w"])
        changes = [
            *[f"{name}.{key} = {value}"] * 3,
            *[f"{name}.{key} += {value}"] * 3,
            *[f"{name}.bump({value})"] * 3,
            f"change({name}, {value})",
            f"perhaps({name}, {value})",
            f'setattr({name}, "{key}", {value})',
            f"{name}.both = {value}",
            f"{name}.items.append({value})",
            f"{name}.items = [{value}]",
            f"{name}.extra = {value}",
            f"{name} = {name}.switched({value})",
            f"del {name}.{key}",
            f"r.append({name})",
            f"r = [{name}, {other}]",
            f"{name}, {other} = {other}, {name}",
            f"{name}.{key} = {other}",
            f"if {name}: {name}.{key} = {value}",
        ]
        reads = [
            f"{self.choose(['n', 'm'])} = {name}.{key}",
            f'n = getattr({name}, "{key}", -1)',
            f"m = {name}.v + {name}.w",
            f"n = len({name}.items)",
            f"m = {name}.items[-1]",
            f'n = hasattr({name}, "extra")',
            f"m = {name}.both",
            f"n = type({name}) is {self.choose(KINDS)}",
            f"m = {name} is {other}",
        ]
        return self.line(depth, str(self.choose(changes if self.often(2) else reads)))


def program_of(seed: int) -> str:
    """The text of the program of a seed."""
    return Writer(random.Random(seed).choice).program()


def shown(value: Any, above: tuple[Any, ...] = ()) -> Any:
    """A value as what == compares: objects with their attributes.

    A number that is a tensor on some paths is one on all of them.
    """
    if isinstance(value, (dy2st.Tensor, int, float)):
        return float(value)
    if isinstance(value, (str, type(None))):
        return value
    if any(one is value for one in above):
        return "itself"
    above = (*above, value)
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shown(one, above) for one in value]
    if isinstance(value, dict):
        return "dict", [(key, shown(one, above)) for key, one in value.items()]
    names = [*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())]
    held = [(name, shown(getattr(value, name), above)) for name in names if hasattr(value, name)]
    return type(value).__name__, sorted(held, key=str)


def outcome(function: Callable[..., Any], values: Sequence[int]) -> Any:
    """What a call gives, or the class of what it raises."""
    try:
        return shown(function(dy2st.to_tensor(values, "float32")))
    except NoTensor:  # a tensor beside None: a fault of the code, with and without a Program
        return "TypeError"
    except Dy2stError:
        raise
    except Exception as error:
        return type(error).__name__


def compare(text: str, name: str = "<random program>") -> str:
    """Run a program all ways: "equal", or what is refused; AssertionError if two differ."""
    function = define(text, name, dy2st=dy2st)
    verdict = "equal"
    unknown = to_static(define(text, name, dy2st=dy2st), input_spec=[InputSpec([None], "float32")])
    for static, inputs in (
        (to_static(define(text, name, dy2st=dy2st)), INPUTS),
        (unknown, INPUTS + SIZES),
    ):
        for values in inputs:
            expected = outcome(function, values)
            try:
                found = outcome(static, values)
            except Dy2stError as error:
                verdict = f"refused: {reason(error)}"
                break
            if (
                found != expected
                and not static.program_cache
                and found in ("AttributeError", "TypeError")
            ):
                verdict = "refused: a fault of the code, be the branch taken or not"
                break
            assert found == expected, f"{text}\n{values}\nPython  {expected}\nProgram {found}"
    return verdict


def main() -> int:
    """Compare many programs; print the first differences and why others were refused."""
    return campaign(__doc__, program_of, lambda seed, text, name: compare(text, name))


if __name__ == "__main__":
    sys.exit(main())
