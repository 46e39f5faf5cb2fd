"""Random functions that change their arguments, run by Python and converted.

python -m tests.dy2st.jit.argument_programs 3000          # seeds 0 to 2999, with a summary
python -m tests.dy2st.jit.argument_programs 1 --from 77   # prints program 77

A program has a function, and another one that makes its arguments: tensors, lists, dicts and an
object, some of which are one object. All numbers are small whole ones.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

import dy2st
from dy2st.errors import Dy2stError
from dy2st.jit import to_static
from tests.campaign import campaign, define, reason

Choose = Callable[[Sequence[Any]], Any]

PRELUDE = """
KEPT = []
HELD = dy2st.to_tensor([1.0, 0.0, 2.0])

class Box:
    def __init__(self, t, l):
        self.n, self.t, self.l = 0, t, l

def make(seed):
    KEPT[:] = KEPT[:2]
    leaf = dy2st.to_tensor([1.0 + seed, -2.0, 3.0], stop_gradient={stops})
    x = leaf * 1 if not {stops} else leaf
    y = {y}
    items = {items}
    table = {table}
    box = Box({boxed}, {list})
    return leaf, (x, y, items, table, box)

def f(x, y, items, table, box):
    a, b = x * 2 % 5, y
{body}
    return {result}
"""


class Writer:
    """Writes the text of one program; each method draws what it writes."""

    def __init__(self, choose: Choose):
        """Take all decisions from `choose`."""
        self.choose, self.lines, self.count = choose, list[str](), 0

    def program(self) -> str:
        """The whole text."""
        choose = self.choose
        new = "dy2st.to_tensor([2.0, 1.0, -1.0])"
        y = choose([new, new, new, "x", "HELD", "x[0:3]"])
        items = choose(["[]", f"[{new}, 1]", "[x]", f"[{new}, {new}]", "KEPT"])
        table = choose(["{}", '{"a": x}', f'{{"a": {new}, "l": []}}', '{"l": items, "n": 1}'])
        for _ in range(choose(range(1, 7))):
            self.statement(0)
        return PRELUDE.format(
            stops=choose([True, True, False]),
            y=y,
            items=items,
            table=table,
            boxed=choose([new, new, "x"]),
            list=choose(["[]", "[]", "items"]),
            body="\n".join(self.lines),
            result=choose(["a", "x", "a, b", "items", "table", "x, items", "b, box", "len(items)"]),
        )

    def often(self, one_in: int) -> bool:
        """True once in that many times."""
        return bool(self.choose(range(one_in)) == 0)

    def line(self, depth: int, text: str) -> None:
        """Append a line of the function."""
        self.lines.append("    " * (depth + 1) + text)

    def tensor(self, depth: int = 0) -> str:
        """An expression that is a tensor of three numbers."""
        if depth > 1 or self.often(2):
            return str(self.choose(["x", "a", "x", "a", "box.t", "HELD"]))
        one, two = self.tensor(depth + 1), self.tensor(depth + 1)
        return str(self.choose([f"(({one} + {two}) % 9)", f"({one} * 2 % 5)", f"({one} - {two})"]))

    def held(self) -> str:
        """A tensor that an argument is or holds."""
        forms = ["x", "x", "y", "a", "b", "box.t", 'table["a"]', "items[0]", "HELD"]
        return str(self.choose(forms))

    def statement(self, depth: int) -> None:
        """One statement; simple ones only where it is deep."""
        if depth > 1 or not self.often(4):
            return self.line(depth, self.simple())
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
            self.line(depth, f"if {self.tensor()}.sum() > {self.choose([0, 2, 4])}:")
        for _ in range(self.choose([1, 2])):
            self.statement(depth + 1)
        if head == "else":
            self.line(depth, "else:")
            self.statement(depth + 1)

    def simple(self) -> str:
        """A statement that changes something."""
        held, value, what = self.held(), self.tensor(), self.choose(["items", "box.l", "KEPT"])
        forms = [
            *[f"{held}[{self.choose([0, 1])}] = {value}.max()"] * 3,
            *[f"{held}.add_({value})", f"{held}.set_value({value})"] * 2,
            f"{held}[1:].multiply_(dy2st.to_tensor(2.0))",
            *[f"{what}.append({value})"] * 3,
            *[f"{what}.append({held})"] * 2,
            f"{what}.insert(0, {value})",
            f"{what}[0] = {value}",
            f"a = {what}.pop() if {what} else a",
            f"{what}.reverse()",
            f"{what}.extend([{value}, a])",
            *[f'table["k"] = {value}'] * 2,
            'table.pop("a", None)',
            'table["n"] = table.get("n", 0) + 1',
            f'table.setdefault("l", []).append({value})',
            "box.n += 1",
            f"box.t = {value}",
            f"a = {value}",
            f"b = {held}",
            "a = a * len(items) + box.n" if self.often(2) else "a = a * (items is box.l)",
            f"a = {value} if x is {self.choose(['y', 'box.t', 'HELD'])} else a",
        ]
        return str(self.choose(forms))


def program_of(seed: int) -> str:
    """The text of the program of a seed."""
    return Writer(random.Random(seed).choice).program()


def plain(value: Any, known: dict[int, Any], is_new: bool = False) -> Any:
    """A value as what == compares, with numbers for the objects that were there before."""
    if isinstance(value, (int, float, str, type(None))):
        return value
    if is_new:  # the table holds the objects, too, so that no id is given to another one
        known.setdefault(id(value), (len(known), value))
    number = known.get(id(value), (-1, None))[0]
    if isinstance(value, dy2st.Tensor):
        return number, value.tolist(), value.stop_gradient, value.is_leaf
    if isinstance(value, dict):
        return number, [(key, plain(one, known, is_new)) for key, one in value.items()]
    if isinstance(value, tuple):
        return tuple(plain(one, known, is_new) for one in value)
    if isinstance(value, list):
        return number, [plain(one, known, is_new) for one in value]
    return number, plain(vars(value), known, is_new)


def calls(scope: Any, function: Any, is_new: bool) -> list[Any]:
    """What calls give, and what they leave in their arguments and in the globals."""
    scope["KEPT"].clear()
    scope["HELD"].set_value(dy2st.to_tensor([1.0, 0.0, 2.0]))
    found: list[Any] = []
    leaf, arguments = scope["make"](0)
    for number in range(4):
        if is_new:
            leaf, arguments = scope["make"](number % 3)
        if is_new or not number:
            known: dict[int, Any] = {}
            plain((arguments, scope["KEPT"], scope["HELD"]), known, is_new=True)
        try:
            result = function(*arguments)
        except Dy2stError:
            raise
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
        seen = plain((arguments, result, scope["KEPT"], scope["HELD"]), known)
        found.append((seen, gradient((result, *arguments), leaf) if is_new else None))
    return found


def gradient(value: Any, leaf: Any) -> Any:
    """That of a leaf, by all tensors in a value that depend on it."""
    roots = [one.sum() for one in tensors_in(value) if not one.stop_gradient]
    if roots and not leaf.stop_gradient:
        sum(roots).backward(retain_graph=True)
    return None if leaf.grad is None else leaf.grad.tolist()


def tensors_in(value: Any) -> list[Any]:
    """All tensors in a value."""
    if isinstance(value, dy2st.Tensor):
        return [value]
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, (tuple, list)):
        return [one for entry in value for one in tensors_in(entry)]
    return tensors_in(vars(value)) if hasattr(value, "__dict__") else []


def compare(text: str, name: str = "<random program>") -> str:
    """Run a program both ways: "equal", or what is refused; AssertionError if they differ."""
    function = define(text, name, dy2st=dy2st)
    scope = function.__globals__
    verdict = "equal"
    for is_new in (False, True):
        try:
            expected = calls(scope, function, is_new)
        except Dy2stError as error:
            return f"refused: Python says: {reason(error)}"
        for engine in ("numpy", "native"):
            try:
                found = calls(scope, to_static(function, engine=engine), is_new)
            except Dy2stError as error:
                verdict = f"refused: {reason(error)}"
                break
            if found != expected:
                place = next(i for i, (a, b) in enumerate(zip(expected, found)) if a != b)
                said = f"Python {expected[place]}\nProgram {found[place]}"
                raise AssertionError(f"{text}\n{engine}, {is_new=}, call {place}: {said}")
    return verdict


def main() -> int:
    """Compare many programs; print the first differences and why others were refused."""
    return campaign(__doc__, program_of, lambda seed, text, name: compare(text, name))


if __name__ == "__main__":
    sys.exit(main())
