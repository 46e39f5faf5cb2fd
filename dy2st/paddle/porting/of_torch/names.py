"""Says what a name of torch is called here, and which arguments it takes there.

`torch_names.txt` holds the public names of torch 2.13, with arguments where it tells them. Whether
dy2st has one is asked of dy2st itself.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dy2st.paddle.porting.names import exists
from dy2st.paddle.porting.of_torch.tables import RENAMED, SPACES, WHY_NOT

_FILE = Path(__file__).parents[1] / "torch_names.txt"
_SIZED = re.compile(r"^(nn\.[A-Z]\w*?)(\d)d$")


class Signature(NamedTuple):
    """The arguments of a name of torch: those that may be given by position, all, and defaults.

    Defaults are texts of Python; `...` stands for one that is no plain value.
    """

    by_position: tuple[str, ...]
    names: tuple[str, ...]
    defaults: dict[str, str]
    is_open: bool


@cache
def _lines() -> dict[str, str]:
    pairs = (line.partition("(") for line in _FILE.read_text(encoding="utf-8").splitlines())
    return {name: bracket + rest for name, bracket, rest in pairs}


def is_of_torch(name: str) -> bool:
    """Whether torch has a name, `nn.Linear` for `torch.nn.Linear`.

    >>> is_of_torch("nn.Linear"), is_of_torch("nn.NoLayer")
    (True, False)
    """
    return name in _lines()


def names_of_torch() -> list[str]:
    """All names, `Tensor.add` and `Module.train` for methods."""
    return list(_lines())


@cache
def signature(name: str) -> Signature | None:
    """The arguments that a name of torch takes; None where that is not known.

    >>> signature("nn.ReLU").names
    ('inplace',)
    """
    text = _lines().get(name, "")
    if not text:
        return None
    taken = ast.parse(f"def f{text}: ...").body[0]
    assert isinstance(taken, ast.FunctionDef)
    args = taken.args
    first, named = [one.arg for one in args.args], [one.arg for one in args.kwonlyargs]
    with_default = first[len(first) - len(args.defaults) :]
    pairs = [*zip(with_default, args.defaults, strict=True), *zip(named, args.kw_defaults)]
    defaults = {key: ast.unparse(value) for key, value in pairs if value is not None}
    before = () if args.vararg is not None else tuple(first)
    return Signature(before, (*first, *named), defaults, args.kwarg is not None)


@cache
def ours(name: str) -> str:
    """What dy2st calls a name of torch; empty where it has none.

    >>> ours("nn.BatchNorm2d"), ours("cat"), ours("utils.data.DataLoader"), ours("vmap")
    ('nn.BatchNorm2D', 'cat', 'io.DataLoader', '')
    """
    if name in RENAMED:
        return RENAMED[name]
    if why_not(name):
        return ""
    candidates = [name]
    for theirs, space in SPACES.items():
        if name == theirs or name.startswith(f"{theirs}."):
            candidates = [f"{space}{name[len(theirs) :]}".lstrip(".")]
            break
    candidates += [_SIZED.sub(r"\g<1>\2D", one) for one in candidates]
    return next((one for one in candidates if exists(one)), "")


def why_not(name: str) -> str:
    """Why dy2st has not a name of torch, and what to write instead.

    >>> why_not("vmap")
    'a loop, or an axis more: operators broadcast'
    """
    parts = name.split(".")
    prefixes = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return next((WHY_NOT[prefix] for prefix in prefixes if prefix in WHY_NOT), "")
