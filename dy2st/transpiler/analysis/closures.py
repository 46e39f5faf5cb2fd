"""Which variables a statement shares with closures that may exist while it runs."""

from __future__ import annotations

import gast

from dy2st.transpiler.analysis.scopes import NameTable
from dy2st.transpiler.nodes import CONTROL, FUNCTIONS, LOOPS, Node, children, is_own

_CLOSURES = (*FUNCTIONS, gast.Lambda, gast.GeneratorExp, gast.ClassDef)


class Closures:
    """The closures of a function in textual order.

    A closure that is made only after a statement, with no loop around both, cannot see how the
    statement binds its variables.
    """

    def __init__(self, function: Node, names: NameTable):
        """The nodes of a function are numbered when the first statement asks."""
        self._names = names
        self._count = 0
        self._made: list[tuple[int, set[str], tuple[int, ...]]] = []
        self._span: dict[int, tuple[int, int, tuple[int, ...]]] = {}
        self._body = function.body

    def shared_with(self, statement: Node, outside: bool = False) -> set[str]:
        """The names that closures made before its end, or in a loop around it, capture.

        outside: only those of closures that are not made inside of it.
        """
        if not self._count:
            for part in self._body:
                self._number(part, ())
        start, end, loops = self._span[id(statement)]
        names: set[str] = set()
        for position, captured, around in self._made:
            if outside and start <= position <= end:
                continue
            if outside or position <= end or set(loops) & set(around):
                names |= captured
        return names

    def _number(self, node: Node, loops: tuple[int, ...]) -> None:
        self._count += 1
        start = self._count
        if isinstance(node, _CLOSURES) and not is_own(node):
            self._made.append((self._count, self._names.of(node).captured, loops))
            return
        around = (*loops, id(node)) if isinstance(node, (*LOOPS, gast.AsyncFor)) else loops
        for child in children(node):
            self._number(child, around)
        if isinstance(node, CONTROL):
            self._span[id(node)] = (start, self._count, loops)
