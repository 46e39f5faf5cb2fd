"""Writes what type checkers see of names that are loaded late: `python -m tests.runtime.lazy_types`.

A type checker cannot follow a table of names, so each of these files says it as imports, which are
never run.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from dy2st_runtime.nn.lazy import FUNCTIONALS, LAYERS
from dy2st_runtime.optimizer import LATE

ROOT = Path(__file__).parents[2] / "runtime" / "dy2st_runtime"
FILES = {
    ROOT / "nn" / "lazy_layers.py": ("layers", LAYERS),
    ROOT / "nn" / "lazy_functions.py": ("functions of networks", FUNCTIONALS),
    ROOT / "optimizer" / "lazy_optimizers.py": ("optimizers", LATE),
}


# Modules whose functions are made of a table.
MADE = ("dy2st_runtime.ops.inplace",)


def text(what: str, places: dict[str, str]) -> str:
    """The imports of all names, module by module."""
    modules, made = defaultdict(list), []
    for name, place in sorted(places.items()):
        module, _, attribute = place.partition(":")
        if module in MADE:
            made.append(f"{name}: Callable[..., Any]")
        else:
            modules[module].append(name if name == attribute else f"{attribute} as {name}")
    lines = [
        f'"""Shows {what} that are loaded late to type checkers; nothing imports it."""',
        "",
    ]
    if made:
        lines += ["from collections.abc import Callable", "from typing import Any", ""]
    for module, names in sorted(modules.items()):
        lines += [f"from {module} import (", *(f"    {name}," for name in sorted(names)), ")"]
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in sorted(places)), "]", "", *made]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    for file, what in FILES.items():
        file.write_text(text(*what))
