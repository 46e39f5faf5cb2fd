"""Plans what becomes of a call of torch's: its name, its arguments, and what nobody can tell."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from dy2st.paddle.porting.of_torch import tables
from dy2st.paddle.porting.of_torch.names import Signature, ours, signature
from dy2st_runtime.tensor import EagerTensor

Parameters = Mapping[str, inspect.Parameter]
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Argument(NamedTuple):
    """One argument of a call, and its form here with {} for the value; None if it is left out."""

    node: ast.expr
    keyword: ast.keyword | None
    value: str
    form: str | None

    @property
    def old(self) -> str:
        """As the call has it."""
        return self.value if self.keyword is None else f"{self.keyword.arg}={self.value}"

    @property
    def new(self) -> str | None:
        """As it is written here."""
        return None if self.form is None else self.form.format(self.value)


class Plan(NamedTuple):
    """What becomes of a call: what is called here, arguments, more of them, and what is unknown."""

    ours: str
    arguments: list[Argument]
    added: list[str]
    lost: list[str]

    @property
    def words(self) -> str:
        """What changes, as `write axis=1 for dim=1`; empty if nothing does."""
        new = [one for one in self.arguments if one.new != one.old]
        written = [f"{one.new} for {one.old}" for one in new if one.new] + self.added
        dropped = [one.old for one in new if not one.new]
        said = [f"write {', '.join(written)}"] if written else []
        said += [f"leave out {', '.join(dropped)}"] if dropped else []
        return "; ".join(said)


def plan(name: str, call: ast.Call, text: Callable[[ast.expr], str]) -> Plan:
    """What becomes of a call of `torch.NAME`; `text` gives the source of an argument.

    A method, `Tensor.NAME`, takes what the function of its name does behind the tensor.
    """
    target, name = ours(name), name.removeprefix("Tensor.")
    is_method, theirs = target.startswith("Tensor."), signature(name)
    if is_method and theirs is not None:
        theirs = theirs._replace(by_position=theirs.by_position[1:], names=theirs.names[1:])
    if name == "randint" and len(call.args) == 2 and theirs is not None:
        theirs = theirs._replace(by_position=("high", "size"))
    if name == "optim.SGD" and {one.arg for one in call.keywords} & {"momentum", "nesterov"}:
        target = "optimizer.Momentum"
    if any(isinstance(one, ast.Starred) for one in call.args) or not target:
        return Plan(target, [], [], [])
    taken = _parameters(target)
    if taken is not None and is_method:
        taken = {key: one for key, one in taken.items() if key not in list(taken)[:1]}
    places = [key for key, one in (taken or {}).items() if one.kind in _BY_PLACE]
    arguments: list[Argument] = []
    given, lost = set[str](), []
    by_place = True
    labels = [*(theirs.by_position if theirs is not None else ()), *[None] * len(call.args)]
    values: list[tuple[str | None, ast.expr, ast.keyword | None]] = [
        *((label, node, None) for label, node in zip(labels, call.args, strict=False)),
        *((keyword.arg, keyword.value, keyword) for keyword in call.keywords),
    ]
    for place, (label, node, keyword) in enumerate(values):
        form: str | None = "{}" if keyword is None else f"{keyword.arg}={{}}"
        if label is not None:
            given.add(label)
            found = _here(name, label, taken)
            if label in tables.FORMS.get(name, {}):
                form = _form(name, label, node)
            elif found:
                fits = by_place and place < len(places) and places[place] == found
                form = "{}" if keyword is None and fits else f"{found}={{}}"
            elif label in tables.WITHOUT_MEANING:
                form = None
            elif taken is not None:
                lost.append(label)
        by_place = by_place and form == "{}"
        arguments.append(Argument(node, keyword, text(node), form))
    if is_method:  # `x.sum(dim=0)` is taken as it is, and others may have such a method, too
        is_same = all(one.keyword is not None or one.new == one.old for one in arguments)
        if target == f"Tensor.{name}" and is_same:
            return Plan(target, [], [], [])
        theirs = None
    return Plan(target, arguments, [*_added(name, theirs, taken, given)], lost)


def _form(name: str, label: str, node: ast.expr) -> str:
    """How an argument is written here: a value that is known is as short as can be."""
    form = tables.FORMS[name][label]
    if isinstance(form, tuple):
        is_known = isinstance(node, ast.Constant) and isinstance(node.value, bool)
        form = form[0] if not is_known else form[1] if ast.literal_eval(node) else form[2]
    if isinstance(node, ast.Tuple) and "{0}" in form:
        for place, one in enumerate(node.elts):
            form = form.replace(f"{{0}}[{place}]", ast.unparse(one))
    is_plain = isinstance(node, (ast.Constant, ast.Name, ast.Attribute, ast.Call))
    return form if is_plain else form.replace("{}", "({})").replace("{0}", "({0})")


@cache
def _parameters(path: str) -> Parameters | None:
    """What a name of ours takes; None if it takes whatever it gets, or does not tell."""
    value: Any = EagerTensor if path.startswith("Tensor.") else import_module("dy2st")
    for part in path.removeprefix("Tensor.").split("."):
        value = getattr(value, part, None) or import_module(f"{value.__name__}.{part}")
    try:
        taken = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return None
    kinds = {one.kind for one in taken.values()}
    is_open = kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    return None if is_open else taken


def _here(name: str, label: str, taken: Parameters | None) -> str:
    """What an argument is called here; empty where nothing is."""
    if taken is None:
        return ""
    form = tables.FORMS.get(name, {}).get(label, "")
    if isinstance(form, str) and form.removesuffix("={}") in taken:
        return form.removesuffix("={}")
    first = () if label in ("bias", "n", "input") else (label,)
    candidates = (*first, *tables.OTHER_ARGUMENTS.get(label, ()), label)
    return next((one for one in candidates if one in taken), "")


def _added(
    name: str, theirs: Signature | None, taken: Parameters | None, given: set[str]
) -> Iterator[str]:
    """What the call relies on there and must say here: defaults that differ, for one."""
    unless, text = tables.ADDED.get(name, ("", ""))
    if text and unless not in given:
        yield text
    for label, default in (theirs.defaults if theirs is not None and taken else {}).items():
        found = _here(name, label, taken)
        form = tables.FORMS.get(name, {}).get(label, f"{found}={{}}")
        if label in given or not found or form != f"{found}={{}}" or default == "...":
            continue
        assert taken is not None
        here, there = taken[found].default, ast.literal_eval(default)
        if there is not None and here is not None and here != there:  # or there is none
            yield f"{found}={default}"
