"""Random programs with all control flow give the same result, effects and errors as Python."""

from __future__ import annotations

import random
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from tests.effort import effort

INPUTS = [(0, 1, [1, 2]), (2, -1, [3]), (1, 3, []), (3, 2, [0, -1, 4])]
VARIABLES = ["a", "b", "v0", "v1", "v2", "v3"]


class EndlessProgram(Exception):
    """A program made too many steps; its effects until then are compared all the same."""


class Writer:
    """Writes the text of one program; numbers in it stay small."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0
        self.budget = self.random.randint(6, 28)
        self.jumping = seed % 2 == 1  # every other program jumps wherever it can

    def program(self) -> str:
        self.line(0, "def f(a, b, xs):")
        for name in ("v0", "v1", "v2", "v3", "i"):
            if self.random.random() < 0.8:
                self.line(1, f"{name} = {self.random.randint(0, 4)}")
        for _ in range(self.random.randint(2, 6)):
            self.statement(1, in_loop=False)
        self.line(1, "if note(1000, 0): v0 = v1 = v2 = v3 = 1")
        names = ", ".join(self.random.sample(VARIABLES, 3))
        self.line(1, f"return ({names}, xs)")
        return "\n".join(self.lines) + "\n"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def fresh(self) -> int:
        self.count += 1
        return self.count

    def pick(self, *weighted: tuple[float, str]) -> str:
        weights, texts = zip(*weighted, strict=True)
        return self.random.choices(texts, weights)[0]

    def atom(self) -> str:
        return self.pick(
            (11, self.random.choice(VARIABLES)),
            (7, str(self.random.randint(-3, 4))),
            (2, "len(xs)"),
            (1, "xs[0]"),
        )

    def expression(self, depth: int = 0) -> str:
        kind = self.random.random()
        if depth > 2 or kind < 0.35:
            return self.atom()
        one, two = self.expression(depth + 1), self.expression(depth + 1)
        test = self.test(depth + 1) if kind > 0.7 else ""
        return self.pick(
            (5, f"({one} {self.random.choice(['+', '-', '^', '//', '%'])} {two})"),
            (5, f"note({self.fresh()}, {one})"),
            (2, f"({test or one} and {two})"),
            (2, f"({one} or {two})"),
            (2, f"({one} if {test or two} else {two})"),
            (1, f"sum([q + {self.atom()} for q in xs])"),
            (1, f"sum(q ^ {self.atom()} for q in xs)"),
            (1, f"(lambda z: z + {self.atom()})({one})"),
            (1, f"helper({one})"),
            (1, f"(v1 := {one})"),
        )

    def test(self, depth: int = 0) -> str:
        one, two = self.expression(depth + 1), self.expression(depth + 1)
        return self.pick(
            (5, f"{one} {self.random.choice(['<', '>', '==', '!=', '<='])} {two}"),
            (1, f"{one} < {two} <= {self.atom()}"),
            (1, f"not {one}"),
            (1, f"{one} in xs"),
            (1, f"{self.random.choice(VARIABLES)} is not None"),
            (2, one),
        )

    def block(self, depth: int, in_loop: bool) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, in_loop)

    def statement(self, depth: int, in_loop: bool) -> None:
        self.budget -= 1
        simple = self.budget < 0 or depth > 5
        kinds = [self.simple] * 3 if simple else [self.simple] * 3 + self.compound()
        self.random.choice(kinds)(depth, in_loop)

    def compound(self) -> list[Any]:
        often = 3 if self.jumping else 1
        return [
            *[self.if_statement] * 3,
            *[self.for_statement] * 2,
            self.while_statement,
            *[self.try_statement] * often,
            *[self.with_statement] * often,
            self.match_statement,
            self.nested_function,
            *[self.early_return] * often,
            *[self.jump] * often,
        ]

    def simple(self, depth: int, in_loop: bool) -> None:
        name, value = self.random.choice(VARIABLES), self.expression()
        text = self.pick(
            (9, f"{name} = {value}"),
            (3, f"{name} {self.random.choice(['+=', '-=', '^='])} {value}"),
            (1, f"note({self.fresh()}, {value})"),
            (1, f"xs.append({value})"),
            (1, f"xs[-1] = {value}"),
            (1, f"xs[0] += {value}"),
            (1, "v1 = xs.pop()"),
            (0.5, f"del {name}"),
            (0.5, f"assert {self.test()}, note(99, {value})"),
        )
        self.line(depth, text)

    def if_statement(self, depth: int, in_loop: bool) -> None:
        self.line(depth, f"if {self.test()}:")
        self.block(depth + 1, in_loop)
        if self.random.random() < 0.2:
            self.line(depth, f"elif {self.test()}:")
            self.block(depth + 1, in_loop)
        if self.random.random() < 0.5:
            self.line(depth, "else:")
            self.block(depth + 1, in_loop)

    def for_statement(self, depth: int, in_loop: bool) -> None:
        target, iterable = self.random.choice(
            [
                ("i", "range(3)"),
                ("v0", "range(a % 4)"),
                ("v2", "range(5, 0, -2)"),
                ("i", "list(xs)"),
                ("i", "produce()"),
                ("i, v1", "enumerate(list(xs))"),
                ("v0", "range(1, b % 5, 2)"),
            ]
        )
        self.line(depth, f"for {target} in {iterable}:")
        self.block(depth + 1, in_loop=True)
        self.loop_else(depth, in_loop)

    def while_statement(self, depth: int, in_loop: bool) -> None:
        counter = f"c{self.fresh()}"
        self.line(depth, f"{counter} = 0")
        self.line(depth, f"while {counter} < 3 and ({self.test()}):")
        self.line(depth + 1, f"{counter} += 1")
        self.block(depth + 1, in_loop=True)
        self.loop_else(depth, in_loop)

    def loop_else(self, depth: int, in_loop: bool) -> None:
        if self.random.random() < 0.25:
            self.line(depth, "else:")
            self.block(depth + 1, in_loop)

    def try_statement(self, depth: int, in_loop: bool) -> None:
        self.line(depth, "try:")
        self.block(depth + 1, in_loop)
        caught = "ZeroDivisionError, NameError, TypeError, IndexError"
        caught += ", KeyError" * (self.jumping and self.random.random() < 0.5)
        self.line(depth, f"except ({caught}) as e:")
        self.line(depth + 1, "note(0, type(e).__name__)")
        self.block(depth + 1, in_loop)
        if self.random.random() < 0.3:
            self.line(depth, "else:")
            self.block(depth + 1, in_loop)
        if self.random.random() < 0.4:
            self.line(depth, "finally:")
            self.block(depth + 1, in_loop=in_loop and self.jumping)

    def with_statement(self, depth: int, in_loop: bool) -> None:
        managers = ["suppress(ZeroDivisionError, NameError)", "manager() as v3"]
        if self.jumping:
            managers += ["failing(a, ZeroDivisionError)", "failing(b, KeyError)"]
        manager = self.random.choice(managers)
        self.line(depth, f"with {manager}:")
        self.block(depth + 1, in_loop)

    def match_statement(self, depth: int, in_loop: bool) -> None:
        self.line(depth, f"match {self.expression()}:")
        for case in ("0", "int() as v3 if v3 > 2", "_"):
            self.line(depth + 1, f"case {case}:")
            self.block(depth + 2, in_loop)

    def nested_function(self, depth: int, in_loop: bool) -> None:
        name = f"g{self.fresh()}"
        self.line(depth, f"def {name}(p, q=1):")
        if self.random.random() < 0.4:
            self.line(depth + 1, "nonlocal v0")
            self.line(depth + 1, "v0 = p")
        self.line(depth + 1, f"if p > {self.atom()}: return q")
        self.line(depth + 1, "return p + 1")
        self.line(depth, f"v2 = {name}({self.expression()})")

    def early_return(self, depth: int, in_loop: bool) -> None:
        self.line(depth, f"if {self.test()}: return {self.expression()}")

    def jump(self, depth: int, in_loop: bool) -> None:
        if in_loop:
            self.line(depth, self.random.choice(["break", "continue"]))
        elif self.jumping and self.random.random() < 0.3:
            self.line(depth, self.pick((1, f"return {self.atom()}"), (1, "raise KeyError(v0)")))
        else:
            self.simple(depth, in_loop)


class Effects:
    """What a program can call, and the log of its effects."""

    def __init__(self) -> None:
        self.log: list[Any] = []

    def note(self, number: int, value: Any) -> Any:
        known = isinstance(value, int | str | bool | type(None))
        self.log.append((number, value if known else type(value).__name__))
        if len(self.log) > 300:
            raise EndlessProgram
        return value

    def helper(self, x: Any) -> Any:
        return x - 1 if x > 1 else x

    def produce(self) -> Any:
        for k in range(3):
            self.log.append(("produced", k))
            yield k

    @contextmanager
    def manager(self) -> Any:
        self.log.append("enter")
        try:
            yield 7
        finally:
            self.log.append("leave")

    @contextmanager
    def failing(self, number: Any, kind: type[Exception]) -> Any:
        """Raises at the end of every other block."""
        yield
        self.log.append("fail")
        if number % 2:
            raise kind(len(self.log))


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("seed", range(0, effort(20, 200), 10))
def test_ten_random_programs_equal_python(seed, define, convert, outcome_of):
    for number in range(seed, seed + 10):
        text = Writer(number).program()
        try:
            function = define(text)
        except SyntaxError:
            continue
        effects = Effects()
        for name in ("note", "helper", "produce", "manager", "failing"):
            function.__globals__[name] = getattr(effects, name)
        function.__globals__["suppress"] = suppress
        converted = convert(function)
        for arguments in INPUTS:
            seen = []
            for form in (function, converted):
                effects.log.clear()
                seen.append((outcome_of(form, arguments), list(effects.log)))
            assert seen[0] == seen[1], text
