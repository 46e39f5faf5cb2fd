"""Holds the one table of PaddlePaddle's names: all of them, and why some of them are not here.

`paddle_names.txt` holds the public names of a release, a paragraph for each name space. Whether
one is here is asked of dy2st itself.
"""

from __future__ import annotations

import importlib
import inspect
import textwrap
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from dy2st.paddle.porting.absent import ABSENT, REFUSED
from dy2st_runtime.tensor import EagerTensor

_FILE = Path(__file__).with_name("paddle_names.txt")
_MISSING = object()


@cache
def names_of_paddle() -> dict[str, list[str]]:
    """The public names by name space: `paddle`, `nn`, `nn.functional`, `Tensor`, ...

    >>> "relu" in names_of_paddle()["nn.functional"]
    True
    """
    spaces: dict[str, list[str]] = {}
    names: list[str] = []
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            names += line.split()
        else:
            names = spaces[line.removesuffix(":")] = []
    return spaces


def written(spaces: Mapping[str, list[str]]) -> str:
    """The text of `paddle_names.txt`."""
    paragraphs = []
    for space, names in spaces.items():
        wrapped = textwrap.fill(
            " ".join(names),
            98,
            initial_indent="  ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        paragraphs.append(f"{space}:\n{wrapped}\n")
    return "".join(paragraphs)


def names_of_installed_paddle() -> dict[str, list[str]]:
    """The public names of the PaddlePaddle that is installed, for the spaces of the file."""
    paddle = importlib.import_module("paddle")
    spaces = names_of_paddle()
    tops = {space for space in spaces if "." not in space and space not in ("paddle", "Tensor")}
    found = {}
    for space in spaces:
        owner = paddle
        for part in space.split(".") if space != "paddle" else ():
            owner = getattr(owner, part)
        listed = list(getattr(owner, "__all__", ()))
        names = set(
            listed
            or [
                name
                for name in dir(owner)
                if not name.startswith("_") and not isinstance(getattr(owner, name), ModuleType)
            ]
        )
        if space == "paddle":
            names |= tops
            for name, value in vars(paddle).items():
                patches = name.startswith(("_", "monkey_patch")) or name.endswith("_init")
                if inspect.isroutine(value) and not patches:
                    names.add(name)
        found[space] = sorted(names)
    return found


def is_here(name: str) -> bool:
    """Whether dy2st has what PaddlePaddle calls `paddle.NAME`, for more than a refusal.

    Names after one that is no module or class, as in `float32.name`, are not looked at.

    >>> is_here("nn.Linear"), is_here("nn.NoSuchLayer"), is_here("enable_static")
    (True, False, False)
    """
    return not any(prefix in REFUSED for prefix in _prefixes(name)) and exists(name)


def exists(name: str) -> bool:
    """Whether there is something under `nn.functional.relu` or `Tensor.add`."""
    if name.startswith("Tensor."):
        return hasattr(EagerTensor, name.split(".")[1])
    value: Any = importlib.import_module("dy2st")
    path = "dy2st"
    for part in name.split(".") if name else ():
        if not isinstance(value, (ModuleType, type)):
            return True
        path += f".{part}"
        value = getattr(value, part, _MISSING)
        if value is _MISSING:
            try:
                value = importlib.import_module(path)
            except ImportError:
                return False
    return True


def why_not(name: str) -> str:
    """Why a name is not here, and what to write instead; empty where nothing is known.

    >>> why_not("static.program_guard")
    'static graphs made by hand: put @to_static on a Layer or function, and jit.save it'
    """
    reasons = {**ABSENT, **REFUSED}
    return next((reasons[prefix] for prefix in _prefixes(name) if prefix in reasons), "")


def _prefixes(name: str) -> list[str]:
    """`a.b.c`, `a.b`, `a`."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
