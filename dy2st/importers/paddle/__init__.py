"""PaddlePaddle's inference models become Programs: `.json` of PIR, `.pdmodel`, and `.pdiparams`.

Read in this order: `graph.py` (what both forms have in common), `pir.py` and `program_desc.py` (the
two forms; `wire.py` and `old_names.py` belong to the latter), `parameters.py`, `building.py` (a
Program of a graph) and `rows` (what each operator means).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dy2st_runtime.lazy import lazy_names

if TYPE_CHECKING:
    from dy2st.importers.paddle.reading import PaddleModel, imported, read
else:
    _READING = "dy2st.importers.paddle.reading"
    __getattr__ = lazy_names(
        __name__, {name: f"{_READING}:{name}" for name in ("PaddleModel", "imported", "read")}
    )

_ENDINGS = (".json", ".pdmodel")


def files_of(path: Any) -> tuple[Path, Path] | None:
    """The files of a model under a path, with or without an ending; None if there is no model.

    >>> files_of("nowhere/net") is None
    True
    """
    text = os.fspath(path)
    stem, ending = os.path.splitext(text)
    endings = (ending,) if ending in _ENDINGS else _ENDINGS
    text = stem if ending in (*_ENDINGS, ".pdiparams") else text
    for one in endings:
        if os.path.isfile(text + one):
            return Path(text + one), Path(f"{text}.pdiparams")
    return None


__all__ = ["PaddleModel", "files_of", "imported", "read"]
