"""`break` and `continue` become flags, and the `else` of a loop a statement after it.

A flag is set to False right before each entry into its loop. After a statement that may jump the
rest of the block moves into the branch that does not jump, or under `if not flag`; after a `try`
whose handlers all jump, into its `else`.
"""

from __future__ import annotations

import gast

from dy2st.transpiler.nodes import (
    LOOPS,
    SCOPES,
    TRIES,
    Block,
    Context,
    Node,
    assign,
    at,
    blocks,
    constant,
    functions_in,
    load,
    negate,
    replace_statements,
    walk,
    walk_scope,
)
from dy2st.transpiler.rewrites.jumps import (
    always_leaves,
    continues_in_else,
    forgetting,
    may_fail_later,
    own_jumps,
    parts_of,
    swallowing,
)

_NEVER_REWRITTEN = (gast.Yield, gast.YieldFrom, gast.Await, gast.AsyncFor, gast.AsyncWith)


def transform(tree: Node, context: Context) -> None:
    """Rewrite the jumps of every loop, inner loops first."""
    for function in functions_in(tree):
        replace_statements(function, LOOPS, lambda loop: _Loop(loop, context).rewrite())


class _Loop:
    def __init__(self, loop: Node, context: Context):
        self._loop = loop
        self._context = context
        self._break = self._continue = self._ended = ""
        self._guards = 0
        self._jumping: set[int] = set()

    def rewrite(self) -> Block:
        """The statements that stand for the loop."""
        loop = self._loop
        start = self._move_walrus_into_body()
        jumps = list(own_jumps(loop.body))
        # A loop that gives control away stays Python's own, with its jumps.
        if any(isinstance(node, _NEVER_REWRITTEN) for node in walk_scope(loop)):
            return [*start, loop, *self._else_if_ended()]
        self._jumping = _jumping(loop.body)
        if any(isinstance(jump, gast.Break) for jump in jumps):
            self._break = self._context.flag("break")
        if any(isinstance(jump, gast.Continue) for jump in jumps):
            self._continue = self._context.flag("continue")
        loop.body = self._block(loop.body)
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

    def _block(self, block: Block) -> Block:
        out: Block = []
        for k, statement in enumerate(block):
            if isinstance(statement, gast.Break | gast.Continue):
                flag = self._break if isinstance(statement, gast.Break) else self._continue
                return [*out, at(statement, assign(flag, constant(True)))]
            rest = block[k + 1 :]
            if isinstance(statement, SCOPES) or not any(True for _ in own_jumps([statement])):
                out.append(statement)
                continue
            # No flag is asked where the rest fits into the branch that does not jump.
            if self._fall_through(statement, rest):
                return [*out, statement]
            # Asked before the jumps in it become flags.
            flags = self._flags_of([statement])
            out += self._inside(statement)
            if rest:
                return [*out, self._unless(flags, self._block(rest), statement)]
        return out

    def _flags_of(self, block: Block) -> list[str]:
        jumps = list(own_jumps(block))
        flags = [self._break] if any(isinstance(j, gast.Break) for j in jumps) else []
        return flags + [self._continue] * any(isinstance(j, gast.Continue) for j in jumps)

    def _unless(self, flags: list[str], block: Block, place: Node) -> Node:
        self._guards += 1
        return at(place, gast.If(_none_of(flags), block, []))

    def _fall_through(self, statement: Node, rest: Block) -> bool:
        if continues_in_else(statement) and not self._flags_of(statement.body):
            statement.orelse = self._block(statement.orelse + rest)
            for handler in statement.handlers:
                handler.body = self._block(handler.body)
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
        statement.body, statement.orelse = self._block(body), self._block(orelse)
        return True

    def _inside(self, statement: Node) -> Block:
        """A statement with flags for the jumps in its blocks."""
        if isinstance(statement, LOOPS):
            statement.orelse = self._block(statement.orelse)
            return [statement]
        is_try = isinstance(statement, TRIES)
        if is_try:
            flags, last = self._flags_of(statement.body), self._flags_of(statement.finalbody)
            forgets = [self._forget(statement.body) for _ in statement.handlers]
            earlier = [*statement.body, *(s for h in statement.handlers for s in h.body)]
            earlier += statement.orelse
            late, pending = self._forget(earlier), self._flags_of(earlier)
            for part in parts_of(statement):
                part.body = self._block(part.body)
            for handler, forget in zip(statement.handlers, forgets, strict=True):
                handler.body = [*forget, *handler.body]
            orelse = self._block(statement.orelse)
            statement.orelse = (
                [self._unless(flags, orelse, orelse[0])] if orelse and flags else orelse
            )
            if not last:
                return [statement]
            self._guards += 1
            # A jump stands still while `finally` runs, and is forgotten if that jumps itself
            final = self._block(statement.finalbody)
            names = {flag: self._context.flag("pending") for flag in pending}
            aside = [assign(kept, load(flag)) for flag, kept in names.items()]
            aside += [assign(flag, constant(False)) for flag in pending]
            again = [assign(flag, load(kept)) for flag, kept in names.items()]
            before = [at(final[0], node) for node in aside]
            after = [at(final[-1], gast.If(_none_of(last), again, []))] if again else []
            statement.finalbody = [*before, *final, *after]
            jumped = negate(_none_of(last)) if len(last) > 1 else load(last[0])
            return swallowing(statement, jumped, late, self._context)
        forget = self._forget(statement.body) if isinstance(statement, gast.With) else []
        for part in parts_of(statement):
            if hasattr(part, "body"):
                part.body = self._block(part.body)
            if getattr(part, "orelse", None):
                part.orelse = self._block(part.orelse)
        if forget:
            statement.body = forgetting(statement.body, forget, statement, self._context)
        return [statement]

    def _forget(self, block: Block) -> Block:
        """Lower the flags of a block that an exception may leave after a jump."""
        flags = self._flags_of(block) if may_fail_later(block, self._jumping) else []
        return [at(block[0], assign(flag, constant(False))) for flag in flags]


def _jumping(block: Block) -> set[int]:
    """The statements that hold a jump of the loop around a block."""
    found: set[int] = set()
    for statement in block:
        if not isinstance(statement, SCOPES) and any(True for _ in own_jumps([statement])):
            found.add(id(statement))
            found.update(*map(_jumping, blocks(statement)))
    return found


def _leave_out(flag: str, block: Block) -> None:
    """Nobody asks for the flag: `flag = ...` becomes `pass`."""
    for k, statement in enumerate(block):
        if isinstance(statement, gast.Assign) and getattr(statement.targets[0], "id", "") == flag:
            block[k] = at(statement, gast.Pass())
        elif not isinstance(statement, SCOPES):
            for inner in blocks(statement):
                _leave_out(flag, inner)


def _none_of(flags: list[str]) -> Node:
    tests = [negate(load(flag)) for flag in flags]
    return tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)
