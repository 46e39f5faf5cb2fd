"""`for` becomes functions and one call; over `range` in the form of a `while`.

    range_0, turns_0 = convert_range(range, n)       # its start and step, and how many turns
    turn_0 = 0
    def for_loop_condition_0(turn_0, x): return turn_0 < turns_0
    def for_loop_body_0(turn_0, x): i = convert_turn(range_0, turn_0); turn_0 += 1; ...

The counter is hidden: the user's loop variable may be assigned in the body and keeps its last
value after the loop, as in Python. All other iterables, and all loops with `break`, are
iterated as they are, one item a turn:

    [x] = convert_for_loop(items, None, for_loop_body_0, [x])
"""

from __future__ import annotations

import builtins

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    Block,
    Node,
    assign,
    at,
    constant,
    define,
    load,
    negate,
    statements,
    store,
    walk,
)
from dy2st.transpiler.rewrites.control import (
    bind_list,
    declarations,
    describe,
    keep_changes,
    lower_all,
    starts,
)
from dy2st.transpiler.rewrites.while_loop import returned


def transform(tree: Node, context: Context) -> None:
    """Rewrite every `for` that has an exact functional form."""
    lower_all(tree, gast.For, _lower, context)
    _stop_left_loops(tree)


def _lower(statement: Node, context: Context) -> Block:
    if _is_range(statement.iter, context) and getattr(statement, "stop", None) is None:
        return _over_range(statement, context)
    return _over_items(statement, context)


def _is_range(iterable: Node, context: Context) -> bool:
    """Whether this is a call of the builtin `range` with plain arguments."""
    return (
        isinstance(iterable, gast.Call)
        and isinstance(iterable.func, gast.Name)
        and iterable.func.id == "range"
        and 1 <= len(iterable.args) <= 3
        and not iterable.keywords
        and not any(isinstance(argument, gast.Starred) for argument in iterable.args)
        and "range" not in context.bound
        and "range" not in context.function.__globals__
        and hasattr(builtins, "range")
    )


def _over_range(statement: Node, context: Context) -> Block:
    condition, body = context.fresh("for_loop_condition"), context.fresh("for_loop_body")
    numbers, turns, turn = (context.flag(stem) for stem in ("range", "turns", "turn"))
    names = [*statement.facts.changed, turn]
    context.statements[condition] = context.statements[body] = describe(
        "for", statement, names, context
    )
    pair = gast.Tuple([store(numbers), store(turns)], gast.Store())
    made = context.call("convert_range", statement.iter.func, *statement.iter.args)
    item = context.call("convert_turn", load(numbers), load(turn))
    next_turn = gast.AugAssign(store(turn), gast.Add(), constant(1))
    test = gast.Return(gast.Compare(load(turn), [gast.Lt()], [load(turns)]))
    first = [at(statement.target, gast.Assign([statement.target], item, None)), next_turn]
    block = [*first, *statement.body, returned(names)]
    block = [*declarations(statement, block), *block]
    call = context.call("convert_while_loop", load(condition), load(body), _list(names))
    bind = at(statement.iter, bind_list(names, call))
    return [
        *starts(statement, context),
        at(statement.iter, gast.Assign([pair], made, None)),
        assign(turn, constant(0)),
        at(statement, define(condition, names, [test])),
        at(statement, define(body, names, block)),
        keep_changes(bind, (body,), statement, context),
    ]


def _over_items(statement: Node, context: Context) -> Block:
    names = statement.facts.changed
    condition, body = context.fresh("for_loop_condition"), context.fresh("for_loop_body")
    context.statements[condition] = context.statements[body] = describe(
        "for", statement, names, context
    )
    item, unpacked = _item(statement, context)
    if isinstance(statement.iter, gast.GeneratorExp):
        statement.iter.in_head = not _sees_the_turns(statement)
    stop = getattr(statement, "stop", None)
    go_on: Block = []
    if stop is not None:
        test = at(statement, gast.Return(negate(load(stop))))
        go_on = [at(statement, define(condition, names, [test]))]
    call = context.call(
        "convert_for_loop",
        statement.iter,
        load(condition) if go_on else constant(None),
        load(body),
        _list(names),
    )
    block = [*unpacked, *statement.body, returned(names)]
    block = [*declarations(statement, block), *block]
    bind = at(statement.iter, bind_list(names, call))
    return [
        *starts(statement, context),
        *go_on,
        at(statement, define(body, [item, *names], block)),
        keep_changes(bind, (body,), statement, context),
    ]


def _item(statement: Node, context: Context) -> tuple[str, Block]:
    """The parameter that takes the item, and the statement that unpacks it if need be."""
    target = statement.target
    facts = statement.facts
    known = {*facts.changed, *facts.own, *facts.nonlocals, *facts.globals}
    if isinstance(target, gast.Name) and target.id not in known:
        return target.id, []
    item = context.flag("item")
    return item, [at(target, gast.Assign([target], load(item), None))]


def _sees_the_turns(statement: Node) -> bool:
    """Whether the generator expression in the head reads what the turns of the loop assign."""
    facts, generators = statement.facts, statement.iter.generators
    assigned = {*facts.changed, *facts.own, *facts.nonlocals, *facts.globals}
    parts = [statement.iter.elt, *(test for part in generators for test in part.ifs)]
    parts += [part.iter for part in generators[1:]]
    own = {node.id for part in generators for node in _names_in(part.target)}
    read = {node.id for part in parts for node in _names_in(part)} - own
    return not read.isdisjoint(assigned | {node.id for node in _names_in(statement.target)})


def _names_in(node: Node) -> list[Node]:
    return [inner for inner in walk(node) if isinstance(inner, gast.Name)]


def _list(names: list[str]) -> Node:
    return gast.List([load(name) for name in names], gast.Load())


def _stop_left_loops(tree: Node) -> None:
    """A loop left as Python whose `break` became a flag is left when the flag is up."""
    for node in statements(tree):
        stop = getattr(node, "stop", None)
        if isinstance(node, gast.For) and stop is not None:
            node.stop = None
            leave = at(node, gast.If(load(stop), [gast.Break()], []))
            leave.facts = node.facts
            node.body.append(leave)
