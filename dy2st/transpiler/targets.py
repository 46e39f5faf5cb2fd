"""Lowers the targets of assignments: names, attributes, items, and several of them at once."""

from __future__ import annotations

import ast

import gast

from dy2st.transpiler.lowering import Lowering
from dy2st.transpiler.nodes import Block, Node
from dy2st.transpiler.trees import STORE, Place, assign, assign_name, constant, load


def bind_target(low: Lowering, target: Node, value: ast.expr) -> list[ast.stmt]:
    """The statements that give a target a value, which is evaluated first."""
    place = low.place(target)
    if isinstance(target, gast.Name):
        return [low.write(place, target.id, value)]
    if isinstance(target, gast.Tuple | gast.List):
        return _several(low, place, target.elts, value)
    parts = [low.expression(target.value), _key(low, place, target)]
    if is_still(low, value) or all(is_still(low, part) for part in parts):
        return [_store(low, place, target, [*parts, value])]
    kept = Kept(low, place, value)
    return [*kept.start, _store(low, place, target, [*parts, kept.value]), *kept.end]


class Kept:
    """A value that stands still whatever is evaluated after it, and is let go at the end."""

    def __init__(self, low: Lowering, place: Place, value: ast.expr):
        """Give it a variable, unless it is one."""
        self.value = value
        self.start: list[ast.stmt] = []
        self.end: list[ast.stmt] = []
        if not is_still(low, value):
            name = low.fresh("value")
            self.value = load(place, name)
            self.start, self.end = [assign_name(place, name, value)], [forget(place, name)]


def is_still(low: Lowering, value: ast.expr) -> bool:
    """Whether it makes no difference when a lowered expression is evaluated."""
    is_name = isinstance(value, ast.Name) and not low.context.has(gast.NamedExpr)
    return is_name or isinstance(value, ast.Constant)


def forget(place: Place, name: str) -> ast.stmt:
    """`del` of a variable of ours, so that it holds nothing longer than the user's code does."""
    return ast.Delete(targets=[ast.Name(id=name, ctx=ast.Del(), **place)], **place)


def _key(low: Lowering, place: Place, target: Node) -> ast.expr:
    """The name of an attribute, or what stands in brackets."""
    if isinstance(target, gast.Attribute):
        return constant(place, target.attr)
    return low.expression(target.slice)


def _store(low: Lowering, place: Place, target: Node, values: list[ast.expr]) -> ast.stmt:
    kind = "set_attr" if isinstance(target, gast.Attribute) else "set_item"
    return ast.Expr(value=low.call(place, kind, *values), **place)


def _several(low: Lowering, place: Place, targets: Block, value: ast.expr) -> list[ast.stmt]:
    """Names are bound directly, up to the first target that evaluates something itself."""
    names: list[ast.expr] = []
    later: list[tuple[Node, str]] = []
    for target in targets:
        inner = target.value if isinstance(target, gast.Starred) else target
        if not later and isinstance(inner, gast.Name) and low.is_local(inner.id):
            names.append(ast.Name(id=inner.id, ctx=STORE, **place))
            continue
        later.append((inner, low.fresh("part")))
        names.append(ast.Name(id=later[-1][1], ctx=STORE, **place))
    bound = ast.Tuple(elts=names, ctx=STORE, **place)
    stars = [k for k, target in enumerate(targets) if isinstance(target, gast.Starred)]
    if stars:
        first, last = stars[0], len(targets) - stars[0] - 1
        counts = [constant(place, first), constant(place, last)]
        value = low.call(place, "unpack_star", value, *counts)
    elif not isinstance(value, ast.Tuple) or len(value.elts) != len(targets):
        value = low.call(place, "unpack", value, constant(place, len(targets)))
    out = [assign(place, bound, value)]
    for inner, part in later:
        out += [*bind_target(low, inner, load(place, part)), forget(place, part)]
    return out


def delete(low: Lowering, target: Node, is_unsure: bool) -> list[ast.stmt]:
    """`del target`."""
    place = low.place(target)
    if isinstance(target, gast.Tuple | gast.List):
        return [made for part in target.elts for made in delete(low, part, is_unsure)]
    if isinstance(target, gast.Name):
        return _delete_name(low, place, target.id, is_unsure)
    kind = "del_attr" if isinstance(target, gast.Attribute) else "del_item"
    made = low.call(place, kind, low.expression(target.value), _key(low, place, target))
    return [ast.Expr(value=made, **place)]


def _delete_name(low: Lowering, place: Place, name: str, is_unsure: bool) -> list[ast.stmt]:
    text = constant(place, name)
    if low.is_local(name):
        look = ast.Expr(value=low.read(place, name, is_unsure), **place)
        return [
            *([look] if is_unsure else []),
            assign_name(place, name, low.undefined(place, name)),
        ]
    out: list[ast.stmt] = []
    if low.is_cell(name):
        if low.scope.has_cell(name):  # it raises what Python raises for a variable of its own
            out.append(ast.Expr(value=low.read(place, name), **place))
        made = low.call(place, "del_cell", load(place, low.cell(name)), text)
    else:
        made = low.call(place, "del_glob", load(place, low.function), text)
    return [*out, ast.Expr(value=made, **place)]
