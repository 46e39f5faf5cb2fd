"""Writes the text of one LLVM function: lines, and names that are given once.

>>> double = Function("double", [("i64", "%x")], "i64")
>>> double.line(f"ret i64 {double.let('add i64 %x, %x')}")
>>> print(double.text())
define internal i64 @double(i64 %x) {
entry:
  %v1 = add i64 %x, %x
  ret i64 %v1
}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Lines = list[Any]
"""Lines of text, and among them sections, which are such lists."""


class Function:
    """A function of LLVM: allocas first, then blocks in the order in which they are begun."""

    def __init__(
        self,
        name: str,
        parameters: Sequence[tuple[str, str]],
        result: str = "void",
        linkage: str = "internal",
        attributes: str = "",
    ) -> None:
        """`parameters` are types and names, as ("ptr noalias", "%x")."""
        listed = ", ".join(f"{type} {name}" for type, name in parameters)
        words = ["define", *([linkage] if linkage else []), result, f"@{name}({listed})"]
        self.name = name
        self.current = "entry"
        self.scales = False  # whether the processor multiplies by 2**n in one instruction
        self.helpers: dict[str, str] | None = None  # functions that it calls; None has none
        self._head = " ".join([*words, *([attributes] if attributes else [])])
        self.polls = False  # whether its loops ask now and then whether to leave
        self.leaving = ""  # the block to go to then; "" returns at once
        self._result = result
        self._budget = ""
        self._allocas: list[str] = []
        self._lines: Lines = []
        self._whole = self._lines
        self._count = 0

    def fresh(self, stem: str = "v") -> str:
        """A name for a value that no other has."""
        self._count += 1
        return f"%{stem}{self._count}"

    def line(self, text: str) -> None:
        """An instruction without a result."""
        self._lines.append(f"  {text}")

    def let(self, instruction: str, stem: str = "v") -> str:
        """The name of an instruction's result."""
        name = self.fresh(stem)
        self._lines.append(f"  {name} = {instruction}")
        return name

    def alloca(self, type: str, align: int = 0, stem: str = "a") -> str:
        """A place on the stack, made where the function is entered."""
        name = self.fresh(stem)
        self._allocas.append(f"  {name} = alloca {type}{f', align {align}' if align else ''}")
        return name

    def section(self) -> Lines:
        """A part in the middle of the current block that instructions may be added to later."""
        part: Lines = []
        self._lines.append(part)
        return part

    @contextmanager
    def writing(self, section: Lines) -> Iterator[None]:
        """Instructions go to the end of a section; it begins and ends no blocks."""
        outside, self._lines = self._lines, section
        yield
        self._lines = outside

    def reserve(self, name: str, type: str) -> None:
        """A place on the stack of a name that instructions use already."""
        self._allocas.append(f"  {name} = alloca {type}")

    # -- blocks --------------------------------------------------------------------------------

    def label(self, stem: str) -> str:
        """A name for a block that is begun later."""
        self._count += 1
        return f"{stem}{self._count}"

    def begin(self, label: str) -> None:
        """What follows belongs to this block; the one before must have ended."""
        self._lines.append(f"{label}:")
        self.current = label

    def jump(self, label: str) -> None:
        """End the block: go on there."""
        self.line(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str) -> None:
        """End the block: go on where the condition says."""
        self.line(f"br i1 {condition}, label %{yes}, label %{no}")

    @contextmanager
    def loop(self, start: str, end: str, step: str = "1", stem: str = "i") -> Iterator[str]:
        """`for i in range(start, end, step)` over i64: yields the name of i."""
        # Whether so few iterations are made that the loop around it may ask.
        if not self.polls or (
            _is_number(start, end, step) and int(end) - int(start) <= 64 * int(step)
        ):
            with self._plain_loop(start, end, step, stem) as index:
                yield index
        else:
            with self._polling_loop(start, end, step, stem) as index:
                yield index

    @contextmanager
    def _polling_loop(self, start: str, end: str, step: str, stem: str) -> Iterator[str]:
        """A loop that asks whether to leave: after each iteration, or after each of many pieces.

        Only when the body is written it is known which: one with loops or calls in it is long.
        """
        before, piece = self.current, self.label("piece")
        self.jump(piece)
        self.begin(piece)
        head = self.section()
        stop, first = self.fresh("stop"), len(self._lines)
        with self._plain_loop(stop + ".first", stop, step, stem) as index:
            yield index
            # Whether a body has calls of functions of ours, or loops, in it: which, or "" if
            # neither.
            text = list(_flat(self._lines[first + _OF_HEAD :]))
            calls = [line for line in text if " call " in line and "@llvm." not in line]
            if any("@leave(" not in line for line in calls):
                is_long = "call"
            else:
                is_long = "loop" if any(" phi i64 " in line for line in text) else ""
            if is_long:
                # Ask whether to leave if so much has been done since the last time.
                budget = self._budget_slot()
                label, following = self.label("spent"), self.label("go_on")
                before = self.let(f"load i64, ptr {budget}")
                left = self.let(f"sub i64 {before}, {_OF_CALL if is_long == 'call' else 1}")
                self.line(f"store i64 {left}, ptr {budget}")
                self.branch(self.let(f"icmp slt i64 {left}, 0"), label, following)
                self.begin(label)
                self.line(f"store i64 {_PIECE}, ptr {budget}")
                asked = self.let("call preserve_mostcc i32 @leave()")
                self.branch(self.let(f"icmp eq i32 {asked}, 0"), following, self._leaving())
                self.begin(following)
        lasting, following, after = map(self.label, ("lasting", "again", "after"))
        if is_long:
            head += [f"  {stop}.first = add i64 {start}, 0", f"  {stop} = add i64 {end}, 0"]
            return
        self.branch(self.let(f"icmp slt i64 {stop}, {end}"), lasting, after)
        self.begin(lasting)
        asked = self.let("call preserve_mostcc i32 @leave()")
        self.branch(self.let(f"icmp eq i32 {asked}, 0"), following, self._leaving())
        self.begin(following)
        self.jump(piece)
        self.begin(after)
        far = self.fresh("far")
        head += [
            f"  {stop}.first = phi i64 [{start}, %{before}], [{stop}, %{following}]",
            f"  {far} = add i64 {stop}.first, {far}.s",
            f"  {stop} = call i64 @llvm.smin.i64(i64 {far}, i64 {end})",
        ]
        head.insert(1, f"  {far}.s = mul i64 {step}, {_PIECE}")
        # An inner loop only counts what it has done: the one around it asks whether to leave.
        # About how many iterations a loop has made.
        if _is_number(start, end, step):
            cost = str((int(end) - int(start)) // int(step))
        else:
            length = self.let(f"sub i64 {end}, {start}")
            shift = int(step).bit_length() - 1 if _is_number(step) else 0
            cost = self.let(f"ashr i64 {length}, {shift}") if shift else length
        budget = self._budget_slot()
        left = self.let(f"sub i64 {self.let(f'load i64, ptr {budget}')}, {cost}")
        self.line(f"store i64 {left}, ptr {budget}")

    def _leaving(self) -> str:
        return self.leaving or "given_up"

    def _budget_slot(self) -> str:
        if not self._budget:
            self._budget = self.alloca("i64", stem="budget")
            self._allocas.append(f"  store i64 {_PIECE}, ptr {self._budget}")
        return self._budget

    @contextmanager
    def _plain_loop(self, start: str, end: str, step: str, stem: str) -> Iterator[str]:
        head, body, after = (self.label(stem + part) for part in ("head", "body", "end"))
        before = self.current
        self.jump(head)
        self.begin(head)
        index, following = self.fresh(stem), self.fresh(stem)
        place = len(self._lines)
        self._lines.append("")  # the phi, when the last block of the body is known
        self.branch(self.let(f"icmp slt i64 {index}, {end}"), body, after)
        self.begin(body)
        yield index
        self._lines.append(f"  {following} = add nsw i64 {index}, {step}")
        last = self.current
        self.jump(head)
        self._lines[place] = f"  {index} = phi i64 [{start}, %{before}], [{following}, %{last}]"
        self.begin(after)

    def text(self) -> str:
        """The whole function, then those that it calls."""
        lines, helpers = list(_flat(self._whole)), (self.helpers or {}).values()
        if any("label %given_up" in line for line in lines):
            value = {"void": "ret void", "ptr": "ret ptr null"}.get(self._result)
            lines += ["given_up:", f"  {value or f'ret {self._result} 0'}"]
        return "\n".join([f"{self._head} {{", "entry:", *self._allocas, *lines, "}", *helpers])


_PIECE = 1 << 16
"""How many iterations of a loop, each a few vectors, are done until it asks whether to leave."""

_OF_CALL = 1 << 14
"""How many iterations a call in a loop counts for."""

_OF_HEAD = 6
"""The lines of a loop in front of its body."""


def _is_number(*texts: str) -> bool:
    return all(text.isdecimal() for text in texts)


def _flat(lines: Lines) -> Iterator[str]:
    for line in lines:
        if isinstance(line, str):
            yield line
        else:
            yield from _flat(line)


__all__ = ["Function", "Lines"]
