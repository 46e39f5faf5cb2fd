"""`while` becomes a condition, a body and one call of `convert_while_loop`."""

from __future__ import annotations

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import Block, Node, at, define, load, tuple_of
from dy2st.transpiler.rewrites.control import (
    bind_list,
    declarations,
    describe,
    keep_changes,
    lower_all,
    starts,
)


def transform(tree: Node, context: Context) -> None:
    """Rewrite every `while` that has an exact functional form."""
    lower_all(tree, gast.While, _lower, context)


def _lower(statement: Node, context: Context) -> Block:
    names = statement.facts.changed
    condition, body = context.fresh("while_condition"), context.fresh("while_body")
    context.statements[condition] = context.statements[body] = describe(
        "while", statement, names, context
    )
    test = [*declarations(statement, [statement.test]), gast.Return(statement.test)]
    block = [*declarations(statement, statement.body), *statement.body, returned(names)]
    call = context.call(
        "convert_while_loop",
        load(condition),
        load(body),
        gast.List([load(name) for name in names], gast.Load()),
    )
    return [
        *starts(statement, context),
        at(statement, define(condition, names, test)),
        at(statement, define(body, names, block)),
        keep_changes(bind_list(names, call), (body, condition), statement, context),
    ]


def returned(names: list[str]) -> Node:
    """`return a, b`: what a loop body hands to the next turn, always a tuple."""
    return gast.Return(tuple_of(names))
