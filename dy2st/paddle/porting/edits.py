"""Changes a source at places of its syntax tree: every other byte stays as it is."""

from __future__ import annotations

import ast
import re

_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_BOM = b"\xef\xbb\xbf"


class Edits:
    """Pieces of a source that become others."""

    def __init__(self, source: bytes):
        """Find where each line begins, from line 1 on; Python counts no mark of the byte order."""
        self.source = source
        self._starts, place = [0], 0
        for line in _LINES.findall(source):
            self._starts.append(place)
            place += len(line)
        if source.startswith(_BOM) and len(self._starts) > 1:
            self._starts[1] = len(_BOM)
        self._changes: dict[tuple[int, int], bytes] = {}

    def start(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword) -> int:
        """Where a node begins."""
        return self._starts[node.lineno] + node.col_offset

    def end(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword) -> int:
        """Where a node ends."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._starts[node.end_lineno] + node.end_col_offset

    def line(self, number: int) -> int:
        """Where a line begins."""
        return self._starts[number]

    def text(self, node: ast.expr | ast.stmt) -> str:
        """The source of a node."""
        return self.source[self.start(node) : self.end(node)].decode()

    def replace(self, start: int, end: int, new: bytes) -> None:
        """Let another text stand between two places; at one place, more of it."""
        self._changes[start, end] = self._changes.get((start, end), b"") + new

    def result(self) -> bytes:
        """The source with all changes; none inside of another one."""
        parts, done = [], 0
        for (start, end), new in sorted(self._changes.items()):
            if start < done:
                continue
            parts += [self.source[done:start], new]
            done = end
        return b"".join([*parts, self.source[done:]])
