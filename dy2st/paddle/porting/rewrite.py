"""Imports of paddle as imports of dy2st.paddle; every other byte of a file stays as it is."""

from __future__ import annotations

import ast
import re

_NAME = re.compile(rb"paddle(\s*\.\s*\w+)*")
_FROM = re.compile(rb"from(?:\s|\\\r?\n)+(?=paddle\b)")
_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_HERE = b"dy2st.paddle"
_BOM = b"\xef\xbb\xbf"


def rewritten(source: bytes) -> bytes:
    r"""The source with dy2st.paddle for paddle in its imports; SyntaxError if it is no Python.

    >>> rewritten(b"import paddle\nfrom paddle.nn import Linear  # a layer\n")
    b'import dy2st.paddle as paddle\nfrom dy2st.paddle.nn import Linear  # a layer\n'
    """
    starts = _starts(source)
    changes: dict[int, tuple[int, bytes]] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and not node.level and _is_paddle(node.module):
            found = _FROM.match(source, starts[node.lineno] + node.col_offset)
            if found is not None:
                changes[found.end()] = (found.end() + len(b"paddle"), _HERE)
        for alias in node.names if isinstance(node, ast.Import) else ():
            at = starts[alias.lineno] + alias.col_offset
            name = _NAME.match(source, at)
            if name is not None and _is_paddle(alias.name):
                new = _HERE + (name[0][len(b"paddle") :] if alias.asname else b" as paddle")
                changes[at] = (name.end(), new)
    parts, done = [], 0
    for begin, (end, new) in sorted(changes.items()):
        parts += [source[done:begin], new]
        done = end
    return b"".join([*parts, source[done:]])


def _is_paddle(module: str | None) -> bool:
    return module is not None and (module == "paddle" or module.startswith("paddle."))


def _starts(source: bytes) -> list[int]:
    """Where each line begins, from line 1 on; Python counts no mark of the byte order."""
    starts, at = [0], 0
    for line in _LINES.findall(source):
        starts.append(at)
        at += len(line)
    if source.startswith(_BOM) and len(starts) > 1:
        starts[1] = len(_BOM)
    return starts
