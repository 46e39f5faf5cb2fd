"""Lets the interpreter's lock go while much is computed, and takes it before Python is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from dy2st_runtime.dims import Size, product
from dy2st_runtime.engine.native.program.calls import FAIL
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.sizes import Sizes

_LONG = 20_000
"""From how many elements, or products of numbers, on the interpreter's lock is let go."""

_ITERATIONS = 1 << 10
"""How many iterations of a loop run until it is asked whether the user has interrupted it."""


class Lock:
    """Writes into a function where the lock is let go."""

    def __init__(self, function: Function, sizes: Sizes) -> None:
        """It is held where the function is entered."""
        self._function, self._sizes = function, sizes
        self._let_go: tuple[str, str] | None = None  # whether the lock is, and the thread's slot

    def is_long(self, parts: Iterable[Sequence[Size]]) -> str | None:
        """Whether so much is computed that others should run meanwhile; None if never."""
        sizes = [product(axes) for axes in parts]
        if all(isinstance(size, int) for size in sizes):
            return "true" if max(map(int, sizes), default=0) >= _LONG else None
        tests = [self._sizes.value(size) for size in sizes]
        found = "false"
        for size in tests:
            is_long = self._function.let(f"icmp sge i64 {size}, {_LONG}")
            found = self._function.let(f"or i1 {found}, {is_long}")
        return found

    @contextmanager
    def without(self, condition: str | None, polls: bool = False) -> Iterator[None]:
        """Let other threads of Python run meanwhile, if the condition holds; None never does.

        What is written inside may leave its work half done where the lock is let go, if the
        condition may hold, or `polls` says so: then nothing behind it reads what it has made.
        """
        if condition is None or self._let_go is not None:
            yield
            if self._let_go is not None and (polls or condition is not None):
                self._leave_if_asked()
            return
        self._let_go = condition, self._function.alloca("ptr")
        self._release()
        yield
        self.take()
        self._let_go = None
        self._when(condition, self._fail_if_left)

    def take(self) -> None:
        """Take the lock again, if it was let go."""
        if self._let_go is not None:
            condition, slot = self._let_go
            self._when(condition, lambda: self._restore(slot))

    def let_signals_in(self) -> None:
        """Now and then ask whether the user has interrupted the loop."""
        function, iterations = self._function, self._function.alloca("i32")
        with function.writing(self._sizes.start):
            function.line(f"store i32 0, ptr {iterations}")
        count = function.let(f"add i32 {function.let(f'load i32, ptr {iterations}')}, 1")
        function.line(f"store i32 {count}, ptr {iterations}")
        rest = function.let(f"and i32 {count}, {_ITERATIONS - 1}")
        self._when(function.let(f"icmp eq i32 {rest}, 0"), self._leave_if_asked)

    def _leave_if_asked(self) -> None:
        """Fail, with the lock, where a signal or a limit says so; it may be let go here."""
        if self._let_go is None:
            self._fail_if_left()
            return
        function = self._function
        leaving, quiet = function.label("leaving"), function.label("quiet")
        asked = function.let("call preserve_mostcc i32 @leave()")
        function.branch(function.let(f"icmp eq i32 {asked}, 0"), quiet, leaving)
        function.begin(leaving)
        self.take()
        self._fail_if_left()
        self._release()
        function.jump(quiet)
        function.begin(quiet)

    def _fail_if_left(self) -> None:
        """Fail, with the lock, where loops have left what they were at."""
        function, label = self._function, self._function.label("quiet")
        has_left = function.let("call i32 @has_left()")
        function.branch(function.let(f"icmp eq i32 {has_left}, 0"), label, FAIL)
        function.begin(label)

    def _release(self) -> None:
        if self._let_go is not None:
            condition, slot = self._let_go
            self._when(condition, lambda: self._save(slot))

    def _save(self, slot: str) -> None:
        thread = self._function.let("call ptr @PyEval_SaveThread()")
        self._function.line(f"store ptr {thread}, ptr {slot}")

    def _restore(self, slot: str) -> None:
        thread = self._function.let(f"load ptr, ptr {slot}")
        self._function.line(f"call void @PyEval_RestoreThread(ptr {thread})")

    def _when(self, condition: str, write: Callable[[], None]) -> None:
        function = self._function
        yes, after = function.label("yes"), function.label("after")
        function.branch(condition, yes, after)
        function.begin(yes)
        write()
        function.jump(after)
        function.begin(after)


__all__ = ["Lock"]
