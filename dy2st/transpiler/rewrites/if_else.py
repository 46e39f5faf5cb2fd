"""`if` becomes two functions and one call of `convert_ifelse`."""

from __future__ import annotations

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import Block, Node, load, tuple_of
from dy2st.transpiler.rewrites.control import (
    bind_results,
    branch,
    describe,
    keep_changes,
    lower_all,
    starts,
)


def transform(tree: Node, context: Context) -> None:
    """Rewrite every `if` that has an exact functional form."""
    lower_all(tree, gast.If, _lower, context)


def _lower(statement: Node, context: Context) -> Block:
    facts = statement.facts
    true_fn, false_fn = context.fresh("true_fn"), context.fresh("false_fn")
    info = describe("if", statement, facts.changed, context)
    context.statements[true_fn] = context.statements[false_fn] = info
    call = context.call(
        "convert_ifelse",
        statement.test,
        load(true_fn),
        load(false_fn),
        tuple_of(facts.true_args),
        tuple_of(facts.false_args),
        tuple_of(facts.changed),
    )
    binding = bind_results(facts.changed, call)
    return [
        *starts(statement, context),
        branch(true_fn, facts.true_args, statement.body, facts.changed, statement),
        branch(false_fn, facts.false_args, statement.orelse, facts.changed, statement),
        keep_changes(binding, (true_fn, false_fn), statement, context),
    ]
