"""`match`, `return`, `break` and `continue` become branches, flags and one `return`.

After an `if` whose branch jumps, the rest of the block moves into the other branch; after a `try`
whose handlers all jump, into its `else`. Where that is not enough a jump becomes a flag, which is
asked before the rest. Python forgets a jump when an exception comes between it and its target, and
when a `finally` on the way jumps itself: so does the flag. After an exception the variables of a
`try` or `with` that becomes a call are as before it; what stays Python's own lowers the flags.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar

import gast

from dy2st.transpiler.nodes import (
    CONTROL,
    LOOPS,
    SCOPES,
    TRIES,
    YIELDS,
    Block,
    Context,
    Node,
    assign,
    at,
    blocks,
    constant,
    load,
    negate,
    own_nodes,
    own_statements,
    replace_statements,
    split_docstring,
    store,
    thunk,
    walk,
    walk_scope,
)

# So many cases stand inside each other; then a flag leads to the next ones.
_DEPTH = 16


def without_match(tree: Node, context: Context) -> None:
    """A `match` becomes a chain of `if`s, inner ones first.

    match point:                  subject_0 = point
        case 0: a                 if subject_0 == 0: a
        case (x, 1) if x > y: b   else: hit_0, part_0 = convert_match(subject_0, pattern, ("x",))
                                        missed_0 = True
                                        if hit_0: x = part_0; missed_0 = not x > y
                                        if not missed_0: x = part_0; b

    The subject is evaluated once, the names of a pattern are bound once all of it fits, and before
    its guard.
    """
    if context.has(gast.Match):
        replace_statements(tree, (gast.Match,), lambda node: _Chain(context).statements(node))


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
        name = pattern.name
        return [] if name is None else [at(pattern, assign(name, load(self._subject)))]

    def _test(self, pattern: Node) -> tuple[Block, Node, Block]:
        """What runs first, the test of a pattern, and what it binds."""
        inner, binds = pattern, []
        if isinstance(pattern, gast.MatchAs):
            inner, binds = pattern.pattern, self._bind_whole(pattern)
        simple = self._simple(inner)
        if simple is not None:
            return [], simple, binds
        parts = [node for node in walk(pattern) if isinstance(node, gast.pattern)]
        held = (getattr(n, "name", None) or getattr(n, "rest", None) for n in parts)
        names = sorted({name for name in held if name is not None})
        hit, parts = self._context.flag("hit"), [self._context.flag("part") for _ in names]
        listed = gast.Tuple([constant(name) for name in names], gast.Load())
        call = self._context.call("convert_match", load(self._subject), _spec(pattern), listed)
        target = gast.Tuple([store(name) for name in (hit, *parts)], gast.Store())
        before = at(pattern, gast.Assign([target], call, None))
        defined = partial(self._context.call, "defined")  # which it is, where the pattern fits
        pairs = [(name, defined(load(part), constant(name))) for name, part in zip(names, parts)]
        return [before], at(pattern, load(hit)), [at(pattern, assign(*pair)) for pair in pairs]

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


def single_exit(tree: Node, context: Context) -> None:
    """Give a function with a `return` inside control flow one `return`, at its end.

    A loop is left by `break`, and a flag tells that the function is done.
    """
    left = [s for s in own_statements(tree.body) if isinstance(s, (*CONTROL, *TRIES, gast.With))]
    found = (inner for statement in left for inner in own_statements([statement]))
    yields = context.yields and any(type(node) in YIELDS for node in own_nodes(tree))
    if any(isinstance(inner, gast.Return) for inner in found) and not yields:
        _SingleExit(context).rewrite(tree)


def without_jumps(tree: Node, context: Context) -> None:
    """Rewrite `break` and `continue` of every loop, inner ones first; `else` stands behind it."""
    replace_statements(tree, LOOPS, lambda loop: _Loop(loop, context).rewrite())


def always_leaves(block: Block) -> bool:
    """Whether no path reaches what follows a block."""
    return any(map(_leaves, block))


def _leaves(statement: Node) -> bool:
    if isinstance(statement, gast.If):
        return always_leaves(statement.body) and always_leaves(statement.orelse)
    if not isinstance(statement, gast.Try):
        return isinstance(statement, (gast.Return, gast.Raise, gast.Break, gast.Continue))
    # What follows is reached behind the body and its `else`, or behind a handler.
    ways = [[*statement.body, *statement.orelse], *(h.body for h in statement.handlers)]
    return always_leaves(statement.finalbody) or all(map(always_leaves, ways))


def continues_in_else(statement: Node) -> bool:
    """Whether what follows a `try` is run right after its body, and only then.

    So it is where all handlers leave: the rest may move into the `else`, where nothing is caught.
    """
    leaving = [always_leaves(handler.body) for handler in getattr(statement, "handlers", ())]
    return bool(leaving) and all(leaving) and not statement.finalbody


def _none_of(flags: list[str]) -> Node:
    tests = [negate(load(flag)) for flag in flags]
    return tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)


class _Jumps:
    """Jumps to one target, and what becomes of the blocks that they leave."""

    kinds: ClassVar[tuple[type, ...]]

    def __init__(self, context: Context):
        self._context = context
        self._guards = 0

    def taken(self, jump: Node) -> Block:
        """What stands for a jump."""
        raise NotImplementedError

    def flag(self, jump: Node) -> str:
        """The flag that says that a jump, or one of those in a loop, was made."""
        raise NotImplementedError

    def jumps(self, block: Block) -> Iterator[Node]:
        """The jumps in a block, but for those in loops; a loop that is left by `return` is one."""
        for statement in block:
            if isinstance(statement, self.kinds):
                yield statement
            elif isinstance(statement, LOOPS):
                if gast.Return in self.kinds and getattr(statement, "returns", False):
                    yield statement
                # Jumps in its body are its own, those in its `else` belong to what is around.
                yield from self.jumps(statement.orelse)
            elif not isinstance(statement, SCOPES):
                for inner in blocks(statement):
                    yield from self.jumps(inner)

    def flags_of(self, block: Block) -> list[str]:
        """The flags that say whether a block has jumped."""
        return sorted({self.flag(jump) for jump in self.jumps(block)})

    def block(self, block: Block) -> Block:
        """A block with flags for its jumps."""
        out: Block = []
        for k, statement in enumerate(block):
            if isinstance(statement, self.kinds):
                return [*out, *self.taken(statement)]
            if not any(self.jumps([statement])):
                out.append(statement)
                continue
            rest = block[k + 1 :]
            # No flag is asked where the rest fits into the branch that does not jump.
            if self._fall_through(statement, rest, self.block):
                return [*out, statement]
            flags = self.flags_of([statement])  # before the jumps in it become flags
            out += self._inside(statement)
            if rest:
                return [*out, self._unless(flags, self.block(rest), statement)]
        return out

    def _unless(self, flags: list[str], block: Block, place: Node) -> Node:
        self._guards += 1
        return at(place, gast.If(_none_of(flags), block, []))

    def _fall_through(self, statement: Node, rest: Block, made: Callable[[Block], Block]) -> bool:
        """Move the rest into the branch that does not jump, if one always does.

        made: what becomes of a block: `block`, or what ends the function.
        """
        is_tail = made != self.block
        if isinstance(statement, TRIES):
            jumps, is_last = any(self.jumps(statement.body)), is_tail and not rest
            if jumps and (statement.orelse or not is_last):
                return False
            if not is_last and not continues_in_else(statement):
                return False
            if is_last and not statement.orelse:
                statement.body = made(statement.body)
            else:
                statement.orelse = made(statement.orelse + rest)
            for handler in statement.handlers:
                handler.body = made(handler.body)
            return True
        if not isinstance(statement, gast.If):
            return False
        body, orelse = statement.body, statement.orelse
        if always_leaves(body):
            orelse = orelse + rest
        elif always_leaves(orelse):
            body = body + rest
        elif rest:
            return False
        statement.body, statement.orelse = made(body), made(orelse)
        return True

    def _inside(self, statement: Node) -> Block:
        """A statement with flags for the jumps in its blocks."""
        if isinstance(statement, LOOPS):
            statement.orelse = self.block(statement.orelse)
            return [statement]
        if isinstance(statement, TRIES):
            return self._inside_try(statement)
        for inner in blocks(statement):
            inner[:] = self.block(inner)
        return [statement]

    def _inside_try(self, statement: Node) -> Block:
        body, handlers = statement.body, statement.handlers
        flags, last = self.flags_of(body), self.flags_of(statement.finalbody)
        earlier = [*body, *(s for handler in handlers for s in handler.body), *statement.orelse]
        # A `break` may say beside its own flag that the function is done.
        also = [jump.also for jump in self.jumps(earlier) if hasattr(jump, "also")]
        pending = self.flags_of(earlier) + sorted({done for done, _ in also})
        statement.body = self.block(body)
        for handler in handlers:
            handler.body = self.block(handler.body)
        orelse = self.block(statement.orelse)
        statement.orelse = [self._unless(flags, orelse, orelse[0])] if orelse and flags else orelse
        if not last:
            return [statement]
        self._guards += 1
        # A jump stands still while `finally` runs, and is forgotten if that jumps itself.
        final = self.block(statement.finalbody)
        kept = sorted({*pending, *(name for pair in also for name in pair)})
        names = {name: self._context.flag("pending") for name in kept}
        aside = [assign(held, load(name)) for name, held in names.items()]
        aside += [assign(flag, constant(False)) for flag in pending]
        again = [assign(name, load(held)) for name, held in names.items()]
        before = [at(final[0], node) for node in aside]
        after = [at(final[-1], gast.If(_none_of(last), again, []))] if again else []
        statement.finalbody = [*before, *final, *after]
        jumped = negate(_none_of(last)) if len(last) > 1 else load(last[0])
        return self._swallowing(statement, jumped)

    def _swallowing(self, statement: Node, jumped: Node) -> Block:
        """A `try` whose `finally` may jump, with flags: the jump swallows an exception in flight.

        for once in (0,):
            try:
                try: ...
                failed = False
            finally:
                ...
                if convert_swallowed(jumped, failed): break
        """
        failed = self._context.flag("failed")
        final, statement.finalbody = statement.finalbody, []
        inner = [statement] if statement.handlers else statement.body
        last = at(statement, assign(failed, constant(False)))
        call = self._context.call("convert_swallowed", jumped, load(failed))
        leave = gast.If(call, [gast.Break()], [])
        outer = gast.Try([*inner, last], [], [], [*final, leave])
        # A loop of one iteration: only a jump out of `finally` drops an exception in flight.
        return [at(statement, assign(failed, constant(True))), self._once([outer], statement)]

    def _once(self, body: Block, place: Node) -> Node:
        once = gast.Tuple([constant(0)], gast.Load())
        loop = gast.For(store(self._context.flag("once")), once, body, [], None)
        return at(place, loop)


class _SingleExit(_Jumps):
    """The returns of a function: each sets the result; the last statement of all returns it."""

    kinds = (gast.Return,)

    def __init__(self, context: Context):
        super().__init__(context)
        self._value, self._done = context.jump("return_value", None), ""

    def flag(self, jump: Node) -> str:
        """That the function is done."""
        self._done = self._done or self._context.jump("returned")
        return self._done

    def taken(self, jump: Node) -> Block:
        """The result, and the flag."""
        return [self._result(jump), at(jump, assign(self.flag(jump), constant(True)))]

    def _result(self, jump: Node) -> Node:
        value = constant(None) if jump.value is None else jump.value
        return at(jump, assign(self._value, value))

    def rewrite(self, function: Node) -> None:
        """Rewrite the body of the function."""
        place = function.body[-1]
        finals = [getattr(s, "finalbody", []) for s in own_statements(function.body)]
        final = own_statements([statement for block in finals for statement in block])
        docstring, rest = split_docstring(function.body)
        start: Block = []
        # A result may have to stand still while `finally` runs.
        if any(isinstance(s, (gast.Return, gast.Break, gast.Continue)) for s in final):
            unset = self._context.call("undefined", constant(self._value))
            start = [at(rest[0], assign(self._value, unset))]
        tail = self._tail(self._in_loops(rest, False), place)
        last = at(place, gast.Return(load(self._value)))
        function.body = [*docstring, *start, *tail, last]

    def _in_loops(self, block: Block, is_inside: bool) -> Block:
        """Leave loops by `break` where they return; a `finally` that returns needs a loop, too."""
        out: Block = []
        for statement in block:
            if is_inside and isinstance(statement, gast.Return):
                return [*out, *self.taken(statement), self._break(statement)]
            if not is_inside and any(self.jumps(getattr(statement, "finalbody", []))):
                statement = self._once([statement], statement)
            out.append(statement)
            if isinstance(statement, LOOPS):
                found = own_statements(statement.body)
                statement.returns = any(isinstance(inner, gast.Return) for inner in found)
                statement.body = self._in_loops(statement.body, True)
                statement.orelse = self._in_loops(statement.orelse, is_inside)
                if is_inside and statement.returns:
                    leave = gast.If(load(self.flag(statement)), [self._break(statement)], [])
                    out.append(at(statement, leave))
            elif not isinstance(statement, SCOPES):
                for inner in blocks(statement):
                    inner[:] = self._in_loops(inner, is_inside)
        return out

    def _break(self, place: Node) -> Node:
        jump = at(place, gast.Break())
        jump.also = self.flag(place), self._value  # what it sets beside the flag of the loop
        return jump

    def _tail(self, block: Block, place: Node) -> Block:
        """A block at the end of the function: every path through it sets the result."""

        def tail(inner: Block) -> Block:
            return self._tail(inner, place)

        for k, statement in enumerate(block):
            before, rest = block[:k], block[k + 1 :]
            if isinstance(statement, gast.Return):
                return [*before, self._result(statement)]
            if isinstance(statement, gast.Raise):
                return [*before, statement]
            if not any(self.jumps([statement])):
                continue
            if self._fall_through(statement, rest, tail):
                return [*before, statement]
            if isinstance(statement, gast.With) and not rest:
                statement.body = tail(statement.body)
                # It may swallow an exception: then the result is None.
                return [*before, at(statement, assign(self._value, constant(None))), statement]
            # Asked before its returns become flags, behind which a path goes on.
            ends = isinstance(statement, gast.Try) and always_leaves([statement])
            start = at(statement, assign(self.flag(statement), constant(False)))
            out = [*before, start, *self.block([statement])]
            if not ends:
                guard = gast.If(negate(load(self.flag(statement))), tail(rest), [])
                out.append(at(statement, guard))
            return out
        return [*block, at(place, assign(self._value, constant(None)))]


class _Loop(_Jumps):
    """The jumps of a loop. A flag is set to False right before each entry into its loop."""

    kinds = (gast.Break, gast.Continue)

    def __init__(self, loop: Node, context: Context):
        super().__init__(context)
        self._loop = loop
        self._break = self._continue = self._ended = ""

    def flag(self, jump: Node) -> str:
        """Each kind of jump has one."""
        if isinstance(jump, gast.Break):
            self._break = self._break or self._context.jump("break")
            return self._break
        self._continue = self._continue or self._context.jump("continue")
        return self._continue

    def taken(self, jump: Node) -> Block:
        """The flag alone."""
        return [at(jump, assign(self.flag(jump), constant(True)))]

    def rewrite(self) -> Block:
        """The statements that stand for the loop."""
        loop = self._loop
        start = self._move_walrus_into_body()
        # A loop that gives control away stays Python's own, with its jumps.
        if self._context.yields and any(type(node) in YIELDS for node in walk_scope(loop)):
            return [*start, loop, *self._else_if_ended()]
        loop.body = self.block(loop.body)
        # Each iteration starts with the flag down; a flag that nothing asks for is left out.
        if self._continue and self._guards:
            down = at(loop.body[0], assign(self._continue, constant(False)))
            loop.body.insert(0, down)
        elif self._continue:
            _leave_out(self._continue, loop.body)
        before = self._stop_when_broken()
        after = self._else_if_ended()
        if not after:
            after, loop.orelse = loop.orelse, []
        if after and self._break and not self._ended:
            after = [at(loop, gast.If(negate(load(self._break)), after, []))]
        return [*start, *before, loop, *after]

    def _move_walrus_into_body(self) -> Block:
        """`while (n := f()): ...` binds n for the body: `while True: if not ...: break`.

        An `else` then asks a flag whether it was this `break`. Returns what begins the flag.
        """
        loop = self._loop
        if not isinstance(loop, gast.While):
            return []
        if not any(isinstance(node, gast.NamedExpr) for node in walk(loop.test)):
            return []
        leave: Block = [gast.Break()]
        start: Block = []
        if loop.orelse:
            self._ended = self._context.flag("ended")
            leave.insert(0, assign(self._ended, constant(True)))
            start = [at(loop, assign(self._ended, constant(False)))]
        loop.body.insert(0, at(loop.test, gast.If(negate(loop.test), leave, [])))
        loop.test = at(loop.test, constant(True))
        return start

    def _else_if_ended(self) -> Block:
        """The `else` of a loop whose test has moved into its body."""
        if not self._ended:
            return []
        after, self._loop.orelse = self._loop.orelse, []
        return [at(self._loop, gast.If(load(self._ended), after, []))]

    def _stop_when_broken(self) -> Block:
        """Make the break flag part of the loop's condition."""
        loop, flag = self._loop, self._break
        if not flag:
            return []
        if isinstance(loop, gast.For):
            loop.stop = flag
        # `while True` ends by its flag alone, which is down at first.
        elif isinstance(loop.test, gast.Constant) and loop.test.value:
            loop.at_least_once = True
            loop.test = at(loop.test, negate(load(flag)))
        else:
            loop.test = at(loop.test, gast.BoolOp(gast.And(), [negate(load(flag)), loop.test]))
        return [at(loop, assign(flag, constant(False)))]


def _leave_out(flag: str, block: Block) -> None:
    """Nobody asks for the flag: `flag = ...` becomes `pass`."""
    for k, statement in enumerate(block):
        if isinstance(statement, gast.Assign) and getattr(statement.targets[0], "id", "") == flag:
            block[k] = at(statement, gast.Pass())
        elif not isinstance(statement, SCOPES):
            for inner in blocks(statement):
                _leave_out(flag, inner)


REWRITES: tuple[tuple[str, Callable[[Node, Context], None]], ...] = (
    ("match", without_match),
    ("early_return", single_exit),
    ("break_continue", without_jumps),
)
