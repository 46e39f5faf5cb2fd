"""`dy2st port`: says what sources use of PaddlePaddle or torch, and makes them import dy2st."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from dy2st.paddle.porting.edits import Edits
from dy2st.paddle.porting.of_torch.report import lines as lines_of_torch
from dy2st.paddle.porting.of_torch.sources import read as read_torch
from dy2st.paddle.porting.of_torch.sources import rewritten as rewritten_from_torch
from dy2st.paddle.porting.report import lines, report
from dy2st.paddle.porting.uses import read, sources_of
from dy2st_runtime.errors import MissingFile, counted
from dy2st_runtime.files import naming, replacing


def port(options: argparse.Namespace) -> int:
    """Print the report; with `--write` change the sources, too."""
    folder = Path(options.folder)
    if not folder.exists():
        raise MissingFile(2, "there is no such file or folder", str(folder))
    paths = list(sources_of(folder))
    of_torch = [one for one in map(read_torch, paths) if one.imports]
    if of_torch:
        print("\n".join(lines_of_torch(of_torch, options.all)))
    others = {one.path for one in of_torch}
    sources = [read(path) for path in paths]
    sources = [one for one in sources if one.uses or one.path not in others]
    if sources:
        print("\n".join(lines(report(sources), options.all)))
    if options.write:
        changed = {
            one.path for one in of_torch if _write(one.path, partial(rewritten_from_torch, one))
        }
        changed |= {one.path for one in sources if not one.error and _write(one.path, rewritten)}
        verb = "imports" if len(changed) == 1 else "import"
        print(f"{counted(len(changed), 'file')} {verb} dy2st now")
    return 0


def _write(path: Path, change: Callable[[bytes], bytes]) -> bool:
    """Rewrite one file; whether it has changed."""
    with naming(path):
        source = path.read_bytes()
        new = change(source)
        if new == source:
            return False
        mode = path.stat().st_mode
        with replacing(path) as (temporary,):
            temporary.write_bytes(new)
        path.chmod(mode)
    return True


_NAME = re.compile(rb"paddle(\s*\.\s*\w+)*")
_FROM = re.compile(rb"from(?:\s|\\\r?\n)+(?=paddle\b)")
_HERE = b"dy2st.paddle"


def rewritten(source: bytes) -> bytes:
    r"""The source with dy2st.paddle for paddle in its imports; SyntaxError if it is no Python.

    >>> rewritten(b"import paddle\nfrom paddle.nn import Linear  # a layer\n")
    b'import dy2st.paddle as paddle\nfrom dy2st.paddle.nn import Linear  # a layer\n'
    """
    edits = Edits(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and not node.level and _is_paddle(node.module):
            found = _FROM.match(source, edits.start(node))
            if found is not None:
                edits.replace(found.end(), found.end() + len(b"paddle"), _HERE)
        for alias in node.names if isinstance(node, ast.Import) else ():
            at = edits.start(alias)
            name = _NAME.match(source, at)
            if name is not None and _is_paddle(alias.name):
                new = _HERE + (name[0][len(b"paddle") :] if alias.asname else b" as paddle")
                edits.replace(at, name.end(), new)
    return edits.result()


def _is_paddle(module: str | None) -> bool:
    return module is not None and (module == "paddle" or module.startswith("paddle."))
