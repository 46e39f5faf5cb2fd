"""What assignments bind: names, attributes, items, and several of them at once."""

from __future__ import annotations

import ast

import gast

from dy2st.heart.form.lowering import Lowering
from dy2st.heart.form.trees import STORE, Place, assign, assign_name, constant, load
from dy2st.transpiler.nodes import Block, Node


def bind_target(low: Lowering, target: Node, value: ast.expr) -> list[ast.stmt]:
    """The statements that give a target a value, which is evaluated first."""
    place = low.place(target)
    if isinstance(target, gast.Name):
        return [low.write(place, target.id, value)]
    if isinstance(target, gast.Tuple | gast.List):
        return _several(low, place, target.elts, value)
    before, kept = keep(low, place, value)
    return [*before, _store(low, place, target, kept)]


def keep(low: Lowering, place: Place, value: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
    """A value that stands still, whatever is evaluated after it."""
    if isinstance(value, ast.Constant):
        return [], value
    kept = low.fresh("value")
    return [assign_name(place, kept, value)], load(place, kept)


def _store(low: Lowering, place: Place, target: Node, value: ast.expr) -> ast.stmt:
    owner = low.expression(target.value)
    if isinstance(target, gast.Attribute):
        made = low.call(place, "set_attr", owner, constant(place, target.attr), value)
    else:
        made = low.call(place, "set_item", owner, low.expression(target.slice), value)
    return ast.Expr(value=made, **place)


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
    out = [assign(place, bound, _unpacked(low, place, targets, value))]
    for inner, part in later:
        out += bind_target(low, inner, load(place, part))
    return out


def _unpacked(low: Lowering, place: Place, targets: Block, value: ast.expr) -> ast.expr:
    stars = [k for k, target in enumerate(targets) if isinstance(target, gast.Starred)]
    if stars:
        first, last = stars[0], len(targets) - stars[0] - 1
        counts = [constant(place, first), constant(place, last)]
        return low.call(place, "unpack_star", value, *counts)
    if isinstance(value, ast.Tuple) and len(value.elts) == len(targets):
        return value
    return low.call(place, "unpack", value, constant(place, len(targets)))


def delete(low: Lowering, target: Node, is_unsure: bool) -> list[ast.stmt]:
    """`del target`."""
    place = low.place(target)
    if isinstance(target, gast.Tuple | gast.List):
        return [made for part in target.elts for made in delete(low, part, is_unsure)]
    if isinstance(target, gast.Name):
        return _delete_name(low, place, target.id, is_unsure)
    owner = low.expression(target.value)
    if isinstance(target, gast.Attribute):
        made = low.call(place, "del_attr", owner, constant(place, target.attr))
    else:
        made = low.call(place, "del_item", owner, low.expression(target.slice))
    return [ast.Expr(value=made, **place)]


def _delete_name(low: Lowering, place: Place, name: str, is_unsure: bool) -> list[ast.stmt]:
    text = constant(place, name)
    if low.is_local(name):
        look = ast.Expr(value=low.read(place, name, is_unsure), **place)
        return [*([look] if is_unsure else []), assign_name(place, name, low.unbound(place))]
    if low.is_cell(name):
        made = low.call(place, "del_cell", load(place, low.cell(name)), text)
    else:
        made = low.call(place, "del_glob", load(place, low.function), text)
    return [ast.Expr(value=made, **place)]
