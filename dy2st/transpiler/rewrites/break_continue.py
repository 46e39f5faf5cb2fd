"""`break` and `continue` become flags, and the `else` of a loop a statement after it.

A flag is set to False right before each entry into its loop. After a statement that may jump the
rest of the block moves into the branch that does not jump, or under `if not flag`. A loop with a
jump inside `try` stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    LOOPS,
    SCOPES,
    TRIES,
    Block,
    Node,
    assign,
    at,
    blocks,
    constant,
    functions_in,
    load,
    negate,
    walk_scope,
)
from dy2st.transpiler.rewrites.early_return import always_leaves

_NEVER_REWRITTEN = (gast.Yield, gast.YieldFrom, gast.Await, gast.AsyncFor, gast.AsyncWith)


def transform(tree: Node, context: Context) -> None:
    """Rewrite the jumps of every loop, inner loops first."""
    for function in list(functions_in(tree)):
        _in_blocks(function, context)


def _in_blocks(node: Node, context: Context) -> None:
    for block in blocks(node):
        out: Block = []
        for statement in block:
            if not isinstance(statement, SCOPES):
                _in_blocks(statement, context)
            is_loop = isinstance(statement, LOOPS)
            out += _Loop(statement, context).rewrite() if is_loop else [statement]
        block[:] = out


def own_jumps(block: Block, in_try: bool = False) -> Iterator[tuple[Node, bool]]:
    """The jumps of the loop around a block, and whether a `try` stands between."""
    for statement in block:
        if isinstance(statement, gast.Break | gast.Continue):
            yield statement, in_try
        elif isinstance(statement, LOOPS):
            yield from own_jumps(statement.orelse, in_try)
        elif not isinstance(statement, SCOPES):
            crossing = in_try or isinstance(statement, (*TRIES, gast.AsyncFor, gast.AsyncWith))
            for inner in blocks(statement):
                yield from own_jumps(inner, crossing)


class _Loop:
    def __init__(self, loop: Node, context: Context):
        self._loop = loop
        self._context = context
        self._break = self._continue = ""
        self._guards = 0
        self._skips: list[tuple[Block, Node]] = []

    def rewrite(self) -> Block:
        """The statements that stand for the loop."""
        loop = self._loop
        self._move_walrus_into_body()
        jumps = list(own_jumps(loop.body))
        if any(in_try for _, in_try in jumps) or self._waits():
            return [loop]
        if any(isinstance(jump, gast.Break) for jump, _ in jumps):
            self._break = self._context.flag("break")
        if any(isinstance(jump, gast.Continue) for jump, _ in jumps):
            self._continue = self._context.flag("continue")
        loop.body = self._block(loop.body)
        self._finish_continue()
        before = self._stop_when_broken()
        after, loop.orelse = loop.orelse, []
        if after and self._break:
            after = [at(loop, gast.If(negate(load(self._break)), after, []))]
        return [*before, loop, *after]

    def _move_walrus_into_body(self) -> None:
        """`while (n := f()): ...` binds n for the body: `while True: if not ...: break`."""
        loop = self._loop
        if not isinstance(loop, gast.While) or loop.orelse:
            return
        if any(isinstance(node, gast.NamedExpr) for node in gast.walk(loop.test)):
            leave = gast.If(negate(loop.test), [gast.Break()], [])
            loop.body.insert(0, at(loop.test, leave))
            loop.test = at(loop.test, constant(True))

    def _waits(self) -> bool:
        return any(isinstance(node, _NEVER_REWRITTEN) for node in walk_scope(self._loop))

    def _stop_when_broken(self) -> Block:
        """Make the break flag part of the loop's condition."""
        loop, flag = self._loop, self._break
        if not flag:
            return []
        if isinstance(loop, gast.For):
            loop.stop = flag
        elif isinstance(loop.test, gast.Constant) and loop.test.value:
            loop.at_least_once = True
            loop.test = at(loop.test, negate(load(flag)))
        else:
            loop.test = at(loop.test, gast.BoolOp(gast.And(), [negate(load(flag)), loop.test]))
        return [at(loop, assign(flag, constant(False)))]

    def _finish_continue(self) -> None:
        """Start each turn with the flag down; where nothing asks for the flag, leave it out."""
        if not self._continue:
            return
        if self._guards:
            start = at(self._loop.body[0], assign(self._continue, constant(False)))
            self._loop.body.insert(0, start)
            return
        for block, statement in self._skips:
            block[block.index(statement)] = at(statement, gast.Pass())

    def _block(self, block: Block) -> Block:
        out: Block = []
        for k, statement in enumerate(block):
            if isinstance(statement, gast.Break | gast.Continue):
                out.append(self._jump(statement, out))
                return out
            out.append(statement)
            if isinstance(statement, SCOPES) or not any(True for _ in own_jumps([statement])):
                continue
            rest = block[k + 1 :]
            if isinstance(statement, gast.If) and self._fall_through(statement, rest):
                return out
            flags = self._flags_of(statement)
            self._inside(statement)
            if rest:
                self._guards += 1
                none = _none_of(flags)
                return [*out, at(statement, gast.If(none, self._block(rest), []))]
        return out

    def _jump(self, statement: Node, block: Block) -> Node:
        is_break = isinstance(statement, gast.Break)
        flag = self._break if is_break else self._continue
        raised = at(statement, assign(flag, constant(True)))
        if not is_break:
            self._skips.append((block, raised))
        return raised

    def _flags_of(self, statement: Node) -> list[str]:
        jumps = [jump for jump, _ in own_jumps([statement])]
        flags = [self._break] if any(isinstance(j, gast.Break) for j in jumps) else []
        return flags + [self._continue] * any(isinstance(j, gast.Continue) for j in jumps)

    def _fall_through(self, statement: Node, rest: Block) -> bool:
        body, orelse = statement.body, statement.orelse
        if always_leaves(body):
            orelse = orelse + rest
        elif always_leaves(orelse):
            body = body + rest
        elif rest:
            return False
        statement.body, statement.orelse = self._block(body), self._block(orelse)
        return True

    def _inside(self, statement: Node) -> None:
        if isinstance(statement, LOOPS):
            statement.orelse = self._block(statement.orelse)
            return
        for part in (statement, *getattr(statement, "cases", ())):
            if hasattr(part, "body"):
                part.body = self._block(part.body)
            if getattr(part, "orelse", None):
                part.orelse = self._block(part.orelse)


def _none_of(flags: list[str]) -> Node:
    tests = [negate(load(flag)) for flag in flags]
    return tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)
