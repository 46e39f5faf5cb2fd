"""Extends a Function by the arithmetic of sizes, counted in elements of one dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.lanes import Lanes


class Code(Function):
    """A function over elements of a type; sizes, places and strides are i64, in elements.

    >>> code = Code("f", [("ptr", "%x"), ("i64", "%n")], "float")
    >>> code.at("%x", code.times("%n", 4)), code.times("%n", 1), code.times(2, 3)
    ('%v2', '%n', '6')
    """

    def __init__(
        self,
        name: str,
        parameters: Sequence[tuple[str, str]],
        element: str,
        result: str = "void",
        attributes: str = "nounwind",
    ) -> None:
        """`element` is LLVM's type of one element."""
        super().__init__(name, parameters, result, attributes=attributes)
        self.element = element

    def plus(self, x: str | int, y: str | int) -> str:
        """x + y."""
        if _is_number(x) and _is_number(y):
            return str(int(x) + int(y))
        if "0" in (str(x), str(y)):
            return str(y) if str(x) == "0" else str(x)
        return self.let(f"add nsw i64 {x}, {y}")

    def minus(self, x: str | int, y: str | int) -> str:
        """x - y."""
        return str(x) if str(y) == "0" else self.let(f"sub nsw i64 {x}, {y}")

    def times(self, x: str | int, y: str | int) -> str:
        """x * y."""
        if _is_number(x) and _is_number(y):
            return str(int(x) * int(y))
        if "0" in (str(x), str(y)):
            return "0"
        if "1" in (str(x), str(y)):
            return str(y) if str(x) == "1" else str(x)
        return self.let(f"mul nsw i64 {x}, {y}")

    def over(self, x: str | int, y: str | int) -> str:
        """x // y of numbers that are not negative."""
        return self.let(f"udiv i64 {x}, {y}")

    def up_to(self, x: str | int, step: int) -> str:
        """The largest multiple of a step that is no more than x."""
        return self.times(self.over(x, step), step)

    def least(self, x: str | int, y: str | int) -> str:
        """The smaller one."""
        return self.let(f"call i64 @llvm.smin.i64(i64 {x}, i64 {y})")

    def most(self, x: str | int, y: str | int) -> str:
        """The larger one."""
        return self.let(f"call i64 @llvm.smax.i64(i64 {x}, i64 {y})")

    def compare(self, relation: str, x: str | int, y: str | int) -> str:
        """Whether "eq", "ne", "slt", "sle", "sgt" or "sge" holds."""
        return self.let(f"icmp {relation} i64 {x}, {y}")

    def choose(self, condition: str, x: str | int, y: str | int, type: str = "i64") -> str:
        """x where the condition holds, else y."""
        return self.let(f"select i1 {condition}, {type} {x}, {type} {y}")

    def at(self, pointer: str, index: str | int) -> str:
        """The place of an element."""
        if str(index) == "0":
            return pointer
        return self.let(f"getelementptr {self.element}, ptr {pointer}, i64 {index}")

    def call(self, name: str, *arguments: tuple[str, str | int]) -> None:
        """Call a function that gives nothing: its arguments are types and values."""
        listed = ", ".join(f"{type} {value}" for type, value in arguments)
        self.line(f"call void @{name}({listed})")

    def require(self, condition: str) -> None:
        """Return 1, so that NumPy's kernel says what is wrong, unless a condition holds."""
        right, wrong = self.label("right"), self.label("wrong")
        self.branch(condition, right, wrong)
        self.begin(wrong)
        self.line("ret i32 1")
        self.begin(right)

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """What is written inside is done if the condition holds."""
        inside, after = self.label("in"), self.label("out")
        self.branch(condition, inside, after)
        self.begin(inside)
        yield
        self.jump(after)
        self.begin(after)

    @contextmanager
    def walk(self, end: str) -> Iterator[tuple[str, list[str]]]:
        """From 0 to an end by uneven steps: yields the place, and takes the next one in a list."""
        place = self.alloca("i64")
        self.line(f"store i64 0, ptr {place}")
        following: list[str] = []
        with self.repeat(place, lambda at: self.compare("slt", at, end)) as at:
            yield at, following
            self.line(f"store i64 {following[0]}, ptr {place}")

    @contextmanager
    def repeat(self, place: str, holds: Callable[[str], str]) -> Iterator[str]:
        """As long as what `holds` writes is true of the i64 at a place, which is yielded."""
        head, inside, after = map(self.label, ("head", "in", "out"))
        self.jump(head)
        self.begin(head)
        value = self.let(f"load i64, ptr {place}")
        self.branch(holds(value), inside, after)
        self.begin(inside)
        yield value
        self.jump(head)
        self.begin(after)

    def both(self, x: str, y: str) -> str:
        """Whether both conditions hold."""
        return self.let(f"and i1 {x}, {y}")

    def either(self, x: str, y: str) -> str:
        """Whether one of them holds."""
        return self.let(f"or i1 {x}, {y}")

    def no(self, x: str) -> str:
        """Whether a condition does not hold."""
        return self.let(f"xor i1 {x}, true")

    def end(self) -> str:
        """The text, with a return at the end."""
        self.line("ret void")
        return self.text()


def first_lanes(lanes: Lanes, count: str) -> str:
    """The mask of the lanes before a count, which may be negative, or more than there are."""
    function, wide = lanes.function, f"<{lanes.lanes} x i32>"
    # Before it is cut to 32 bits, where a large count could become a small one.
    few = function.let(f"call i64 @llvm.smin.i64(i64 {count}, i64 {lanes.lanes})")
    short = function.let(f"trunc i64 {few} to i32")
    first = function.let(f"insertelement {wide} poison, i32 {short}, i64 0")
    ends = function.let(f"shufflevector {wide} {first}, {wide} poison, {wide} zeroinitializer")
    places = ", ".join(f"i32 {index}" for index in range(lanes.lanes))
    return function.let(f"icmp slt {wide} <{places}>, {ends}")


def _is_number(value: str | int) -> bool:
    return isinstance(value, int) or value.lstrip("-").isdigit()


__all__ = ["Code", "first_lanes"]
