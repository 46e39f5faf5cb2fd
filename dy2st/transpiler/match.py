"""`match` becomes a chain of `if`s wherever a tensor, or a number of the Program, may decide it.

    match point:                  subject_0 = point
        case 0: a                 if subject_0 == 0: a
        case (x, 1) if x > y: b   else: hit_0, part_0 = convert_match(subject_0, pattern, ("x",))
                                        missed_0 = True
                                        if hit_0: x = part_0; missed_0 = not x > y
                                        if not missed_0: x = part_0; b

The subject is evaluated once, the names of a pattern are bound once all of it fits, and before its
guard. A `match` of plain names without guards stays.
"""

from __future__ import annotations

import copy

import gast

from dy2st.transpiler.nodes import (
    Block,
    Context,
    Node,
    assign,
    at,
    constant,
    load,
    negate,
    replace_statements,
    store,
    thunk,
    walk,
)

# So many cases stand inside each other; then a flag leads to the next ones.
_DEPTH = 16


def transform(tree: Node, context: Context) -> None:
    """Rewrite every `match`, inner ones first."""

    def rewritten(statement: Node) -> Block:
        # A `match` of which Python knows which case it takes stays as it is.
        is_open = any(map(_is_open, statement.cases))
        return _Chain(context).statements(statement) if is_open else [statement]

    if context.has(gast.Match):
        replace_statements(tree, (gast.Match,), rewritten)


def _is_open(case: Node) -> bool:
    """Whether a value of the Program may decide a case."""
    guarded = case.guard is not None and not is_surely_bool(case.guard)
    is_name = isinstance(case.pattern, gast.MatchAs) and case.pattern.pattern is None
    return guarded or not is_name


def is_surely_bool(node: Node) -> bool:
    """Whether an expression is True or False (or a literal), whatever its operands are."""
    if isinstance(node, gast.Constant):
        return True
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
        return is_surely_bool(node.operand)
    return isinstance(node, gast.BoolOp) and all(map(is_surely_bool, node.values))


class _Chain:
    def __init__(self, context: Context):
        self._context = context
        self._subject = context.flag("subject")

    def statements(self, statement: Node) -> Block:
        """The statements that stand for the `match`."""
        start = at(statement.subject, assign(self._subject, statement.subject))
        cases: list[Node] = statement.cases
        block: Block = []
        for first in range(0, len(cases), _DEPTH)[::-1]:
            some = cases[first : first + _DEPTH]
            if not block:
                block = self._cases(some, [])
                continue
            # Some cases, and the later ones if none of them fits.
            go_on, place = self._context.flag("no_case_yet"), some[0].pattern
            lowered = at(place, assign(go_on, constant(False)))
            raised = at(place, assign(go_on, constant(True)))
            guarded = at(place, gast.If(load(go_on), block, []))
            block = [lowered, *self._cases(some, [raised]), guarded]
        return [start, *block]

    def _cases(self, cases: list[Node], last: Block) -> Block:
        for case in cases[::-1]:
            last = self._case(case, last)
        return last

    def _case(self, case: Node, others: Block) -> Block:
        """One case, and what follows if it does not fit."""
        pattern, guard, place = case.pattern, case.guard, case.pattern
        if isinstance(pattern, gast.MatchAs) and pattern.pattern is None:
            binds = self._bind_whole(pattern)
            if guard is None:
                return [*binds, *case.body]
            return [*binds, at(guard, gast.If(guard, case.body, others))]
        before, fits, binds = self._test(pattern)
        if guard is None:
            chosen = at(place, gast.If(fits, [*binds, *case.body], others))
            return [*before, chosen]
        if not binds:
            test = at(guard, gast.BoolOp(gast.And(), [fits, guard]))
            return [*before, at(place, gast.If(test, case.body, others))]
        # The guard sees the names, and they stay bound if it fails
        missed, guard = self._context.flag("missed"), case.guard
        asked = at(guard, assign(missed, negate(guard)))
        # Bound again, so that it is plain to see that the body has them.
        walrus = any(isinstance(node, gast.NamedExpr) for node in walk(guard))
        again = [] if walrus else copy.deepcopy(binds)
        return [
            *before,
            *[
                at(case.pattern, assign(missed, constant(True))),
                at(case.pattern, gast.If(fits, [*binds, asked], [])),
                at(guard, gast.If(negate(load(missed)), [*again, *case.body], others)),
            ],
        ]

    def _bind_whole(self, pattern: Node) -> Block:
        if pattern.name is None:
            return []
        return [at(pattern, assign(pattern.name, load(self._subject)))]

    def _test(self, pattern: Node) -> tuple[Block, Node, Block]:
        """What runs first, the test of a pattern, and what it binds."""
        inner, binds = pattern, []
        if isinstance(pattern, gast.MatchAs):
            inner, binds = pattern.pattern, self._bind_whole(pattern)
        simple = self._simple(inner)
        if simple is not None:
            return [], simple, binds
        held = (getattr(n, "name", None) or getattr(n, "rest", None) for n in _parts(pattern))
        names = sorted({name for name in held if name is not None})
        hit, parts = self._context.flag("hit"), [self._context.flag("part") for _ in names]
        listed = gast.Tuple([constant(name) for name in names], gast.Load())
        call = self._context.call("convert_match", load(self._subject), _spec(pattern), listed)
        target = gast.Tuple([store(name) for name in (hit, *parts)], gast.Store())
        before = at(pattern, gast.Assign([target], call, None))
        pairs = zip(names, parts, strict=True)
        return [before], at(pattern, load(hit)), [at(pattern, assign(n, load(p))) for n, p in pairs]

    def _simple(self, pattern: Node) -> Node | None:
        """The test of a value, None, or several of them, as an expression."""
        if isinstance(pattern, gast.MatchValue):
            test = gast.Compare(load(self._subject), [gast.Eq()], [pattern.value])
        elif isinstance(pattern, gast.MatchSingleton) and pattern.value is None:
            test = gast.Compare(load(self._subject), [gast.Is()], [constant(None)])
        elif isinstance(pattern, gast.MatchOr):
            tests = [self._simple(part) for part in pattern.patterns]
            if None in tests:
                return None
            test = gast.BoolOp(gast.Or(), tests)
        else:
            return None
        return at(pattern, test)


def _parts(pattern: Node) -> list[Node]:
    return [node for node in walk(pattern) if isinstance(node, gast.pattern)]


def _spec(pattern: Node) -> Node:
    """A pattern as what `convert_match` takes: a tuple that begins with its kind."""
    if isinstance(pattern, gast.MatchValue):
        return _tuple("value", _later(pattern.value))
    if isinstance(pattern, gast.MatchSingleton):
        return _tuple("is", constant(pattern.value))
    if isinstance(pattern, gast.MatchAs):
        inner = _tuple("any") if pattern.pattern is None else _spec(pattern.pattern)
        return inner if pattern.name is None else _tuple("as", inner, constant(pattern.name))
    if isinstance(pattern, gast.MatchStar):
        return _tuple("star", constant(pattern.name))
    if isinstance(pattern, gast.MatchOr):
        return _tuple("or", *map(_spec, pattern.patterns))
    if isinstance(pattern, gast.MatchSequence):
        return _tuple("sequence", *map(_spec, pattern.patterns))
    if isinstance(pattern, gast.MatchMapping):
        keys = _plain(map(_later, pattern.keys))
        return _tuple("mapping", keys, _plain(map(_spec, pattern.patterns)), constant(pattern.rest))
    names = _plain(map(constant, pattern.kwd_attrs))
    inner = [_spec(part) for part in (*pattern.patterns, *pattern.kwd_patterns)]
    return _tuple("class", _later(pattern.cls), names, _plain(inner))


def _later(value: Node) -> Node:
    """A value that Python evaluates only when it comes to it."""
    return value if isinstance(value, gast.Constant) else at(value, thunk(value))


def _plain(nodes: object) -> Node:
    return gast.Tuple(list(nodes), gast.Load())  # type: ignore[call-overload]


def _tuple(kind: str, *parts: Node) -> Node:
    return gast.Tuple([constant(kind), *parts], gast.Load())
