"""`return`, `break` and `continue` become flags, and branches that follow from them.

A jump becomes a flag. Python forgets a jump when an exception comes between it and its target, and
when a `finally` on the way jumps itself: so does the flag.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from dy2st.transpiler.nodes import (
    CONTROL,
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
    is_generator,
    load,
    negate,
    replace_statements,
    split_docstring,
    store,
    walk,
    walk_scope,
)


def own_jumps(block: Block) -> Iterator[Node]:
    """The jumps of the loop around a block."""
    for statement in block:
        if isinstance(statement, gast.Break | gast.Continue):
            yield statement
        elif isinstance(statement, LOOPS):
            # Jumps in its body are its own, those in its `else` belong to the loop around.
            yield from own_jumps(statement.orelse)
        elif not isinstance(statement, SCOPES):
            for inner in blocks(statement):
                yield from own_jumps(inner)


def always_leaves(block: Block) -> bool:
    """Whether every path through a block ends in return, raise, break or continue."""
    for statement in block:
        if isinstance(statement, gast.Return | gast.Raise | gast.Break | gast.Continue):
            return True
        if (
            isinstance(statement, gast.If)
            and always_leaves(statement.body)
            and always_leaves(statement.orelse)
        ):
            return True
    return False


def ends_here(block: Block) -> bool:
    """Whether no path reaches what follows a block, through `try` statements too."""
    return any(map(_ends, block))


def _ends(statement: Node) -> bool:
    if isinstance(statement, gast.If):
        return ends_here(statement.body) and ends_here(statement.orelse)
    if not isinstance(statement, gast.Try):
        return always_leaves([statement])
    if getattr(statement, "ends", False) or ends_here(statement.finalbody):
        return True
    # What follows is reached behind the body and its `else`, or behind a handler.
    ways = [[*statement.body, *statement.orelse], *(h.body for h in statement.handlers)]
    return all(map(ends_here, ways))


def continues_in_else(statement: Node) -> bool:
    """Whether what follows a `try` is run right after its body, and only then.

    So it is where all handlers leave: the rest may move into the `else`, where nothing is caught.
    """
    handlers: Block = getattr(statement, "handlers", [])
    leaving = [always_leaves(handler.body) for handler in handlers]
    return bool(leaving) and all(leaving) and not statement.finalbody


def parts_of(statement: Node) -> list[Node]:
    """A statement, its handlers and its cases: all that has a block which may jump."""
    return [statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]


def may_fail_later(block: Block, jumping: set[int]) -> bool:
    """Whether an exception may follow a jump out of a block: from `finally` or `__exit__`."""
    for statement in block:
        if isinstance(statement, SCOPES) or id(statement) not in jumping:
            continue
        if isinstance(statement, gast.With) or getattr(statement, "finalbody", None):
            return True
        if any(may_fail_later(inner, jumping) for inner in blocks(statement)):
            return True
    return False


def forgetting(block: Block, forget: Block, place: Node, context: Context) -> Block:
    """A block that forgets its jumps when it ends with an exception."""
    anything = load(context.helper("BaseException"))
    handler = gast.ExceptHandler(anything, None, [*forget, gast.Raise(None, None)])
    handler.own = True
    return [at(place, gast.Try(block, [handler], [], []))]


def swallowing(statement: Node, jumped: Node, forget: Block, context: Context) -> Block:
    """A `try` whose `finally` may jump, with flags: the jump swallows an exception in flight.

    for once in (0,):
        try:
            try: ...
            failed = False
        finally:
            ...
            if convert_swallowed(jumped, failed): break
    """
    failed = context.flag("failed")
    final, statement.finalbody = statement.finalbody, []
    inner = [statement] if statement.handlers else statement.body
    inner = forgetting(inner, forget, statement, context) if forget else inner
    last = at(statement, assign(failed, constant(False)))
    call = context.call("convert_swallowed", jumped, load(failed))
    leave = gast.If(call, [gast.Break()], [])
    outer = gast.Try([*inner, last], [], [], [*final, leave])
    # A loop of one iteration: only a jump out of `finally` drops an exception in flight.
    once = gast.Tuple([constant(0)], gast.Load())
    loop = gast.For(store(context.flag("once")), once, [outer], [], None)
    return [at(statement, assign(failed, constant(True))), at(statement, loop)]


def single_exit(tree: Node, context: Context) -> None:
    """Give every function with a `return` inside control flow one `return`, at its end.

    After an `if` whose branch returns, the rest of the block moves into the other branch; after a
    `try` whose handlers all return, into its `else`. Where that is not enough (loops, branches that
    return only sometimes, `with`) a flag tells that the function is done, and a loop is left by
    `break`.
    """
    for function in functions_in(tree):
        if not (context.has(gast.Yield, gast.YieldFrom) and is_generator(function)):
            _SingleExit(function, context).rewrite()


def _returns(block: Block, chain: tuple[Node, ...]) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Every `return` in textual order with the statements around it."""
    for statement in block:
        if isinstance(statement, gast.Return):
            yield statement, chain
        elif not isinstance(statement, SCOPES):
            for inner in blocks(statement):
                yield from _returns(inner, (*chain, statement))


_LEFT = (*CONTROL, *TRIES, gast.With)


class _SingleExit:
    def __init__(self, function: Node, context: Context):
        self._function = function
        self._context = context
        self._touched: set[int] = set()
        self._value = self._done = ""
        self._kept = False

    def rewrite(self) -> None:
        """Rewrite the body if some return stands inside control flow."""
        body = self._function.body
        found = list(_returns(body, ()))
        # What follows a statement may move into a branch, where a return that stays would leave
        # the branch only: so only returns after the last that stays are rewritten.
        stays = [
            any(isinstance(one, gast.AsyncFor | gast.AsyncWith) for one in chain)
            for _, chain in found
        ]
        last = max((k for k, stay in enumerate(stays) if stay), default=-1)
        chains = [chain for _, chain in found[last + 1 :]]
        if not any(isinstance(s, _LEFT) for chain in chains for s in chain):
            return
        self._touched = {id(statement) for chain in chains for statement in chain}
        self._value = self._context.flag("return_value")
        docstring, rest = split_docstring(body)
        place = body[-1]
        final = at(place, gast.Return(load(self._value)))
        tail = self._tail(rest, place)
        unset = self._context.call("undefined", constant(self._value))
        start = [at(rest[0], assign(self._value, unset))] if self._kept else []
        self._function.body = [*docstring, *start, *tail, final]

    def _tail(self, block: Block, place: Node) -> Block:
        """A block at the end of the function: every path through it sets the result."""
        out: Block = []
        for k, statement in enumerate(block):
            if isinstance(statement, gast.Return):
                return [*out, self._result(statement)]
            out.append(statement)
            if isinstance(statement, gast.Raise):
                return out
            if id(statement) in self._touched:
                return out[:-1] + self._split(statement, block[k + 1 :], place)
        return [*out, at(place, assign(self._value, constant(None)))]

    def _split(self, statement: Node, rest: Block, place: Node) -> Block:
        """A statement that may return, and the rest of the function after it."""
        if isinstance(statement, gast.If):
            body, orelse = statement.body, statement.orelse
            if not rest or always_leaves(body) or always_leaves(orelse):
                returns = always_leaves(body)
                statement.body = self._tail(body if returns else body + rest, place)
                statement.orelse = self._tail(orelse + rest if returns else orelse, place)
                return [statement]
        if isinstance(statement, TRIES) and self._ends_in_try(statement, rest, place):
            return [statement]
        with_ = isinstance(statement, gast.With)
        if with_ and not rest and not may_fail_later(statement.body, self._touched):
            statement.body = self._tail(statement.body, place)
            # It may swallow an exception: then the result is None.
            return [at(statement, assign(self._value, constant(None))), statement]
        done = self._flag()
        start = at(statement, assign(done, constant(False)))
        # Asked before its returns become flags, behind which a path goes on.
        ends = isinstance(statement, gast.Try) and ends_here([statement])
        flagged = self._flagged([statement], in_loop=False)
        if ends:
            return [start, *flagged]
        guard = at(statement, gast.If(negate(load(done)), self._tail(rest, place), []))
        return [start, *flagged, guard]

    def _ends_in_try(self, statement: Node, rest: Block, place: Node) -> bool:
        """Make a `try` the last statement of the function, if that needs no flag."""
        if self._returns_in(statement.finalbody):
            return False
        body_returns = self._returns_in(statement.body)
        if rest and (body_returns or not continues_in_else(statement)):
            return False
        if body_returns and statement.orelse:
            return False
        if statement.orelse or rest:
            statement.orelse = self._tail(statement.orelse + rest, place)
        else:
            statement.body = self._tail(statement.body, place)
        for handler in statement.handlers:
            handler.body = self._tail(handler.body, place)
        return True

    def _returns_in(self, block: Block) -> bool:
        return any(isinstance(s, gast.Return) or id(s) in self._touched for s in block)

    def _flagged(self, block: Block, in_loop: bool) -> Block:
        """A block that sets the result and the flag where it returned."""
        out: Block = []
        for k, statement in enumerate(block):
            if isinstance(statement, gast.Return):
                out += [
                    self._result(statement),
                    at(statement, assign(self._flag(), constant(True))),
                ]
                return [*out, at(statement, gast.Break())] if in_loop else out
            out.append(statement)
            if id(statement) not in self._touched:
                continue
            rest = block[k + 1 :]
            # A loop is left by `break` at once: in it nothing has to move.
            if not in_loop and self._fall_through(statement, rest):
                return out
            out[-1] = self._inside(statement, in_loop)
            done = load(self._flag())
            if isinstance(statement, LOOPS) and in_loop:
                out.append(at(statement, gast.If(done, [gast.Break()], [])))
            elif rest and not in_loop:
                guarded = self._flagged(rest, in_loop)
                return [*out, at(statement, gast.If(negate(done), guarded, []))]
        return out

    def _fall_through(self, statement: Node, rest: Block) -> bool:
        """Move the rest into the branch that does not return, if one always does."""
        if not rest:
            return False
        if continues_in_else(statement) and not self._returns_in(statement.body):
            statement.orelse = self._flagged(statement.orelse + rest, in_loop=False)
            for handler in statement.handlers:
                handler.body = self._flagged(handler.body, in_loop=False)
            return True
        if not isinstance(statement, gast.If):
            return False
        if always_leaves(statement.body):
            statement.body = self._flagged(statement.body, in_loop=False)
            statement.orelse = self._flagged(statement.orelse + rest, in_loop=False)
            return True
        if always_leaves(statement.orelse):
            statement.body = self._flagged(statement.body + rest, in_loop=False)
            statement.orelse = self._flagged(statement.orelse, in_loop=False)
            return True
        return False

    def _inside(self, statement: Node, in_loop: bool) -> Node:
        """Flag the returns in the blocks of a statement."""
        if isinstance(statement, LOOPS):
            statement.body = self._flagged(statement.body, in_loop=True)
            statement.orelse = self._flagged(statement.orelse, in_loop)
            return statement
        if isinstance(statement, TRIES):
            return self._inside_try(statement, in_loop)
        late = isinstance(statement, gast.With) and may_fail_later(statement.body, self._touched)
        for part in parts_of(statement):
            if hasattr(part, "body"):
                part.body = self._flagged(part.body, in_loop)
            if getattr(part, "orelse", None):
                part.orelse = self._flagged(part.orelse, in_loop)
        if late:
            statement.body = forgetting(
                statement.body, self._forget(statement), statement, self._context
            )
        return statement

    def _inside_try(self, statement: Node, in_loop: bool) -> Node:
        if not in_loop and self._returns_in(statement.finalbody):
            # A loop of one iteration: what a jump in `finally` does is left to `break`.
            once = gast.Tuple([constant(0)], gast.Load())
            body = self._flagged([statement], in_loop=True)
            return at(statement, gast.For(store(self._context.flag("once")), once, body, [], None))
        body_returns = self._returns_in(statement.body)
        if may_fail_later(statement.body, self._touched):
            for handler in statement.handlers:
                handler.body = [*self._forget(handler.body[0]), *handler.body]
        earlier = [*statement.body, *statement.orelse]
        pending = self._returns_in([*earlier, *(s for h in statement.handlers for s in h.body)])
        jumps = self._returns_in(statement.finalbody) or any(own_jumps(statement.finalbody))
        for part in parts_of(statement):
            part.body = self._flagged(part.body, in_loop)
        orelse = self._flagged(statement.orelse, in_loop)
        if orelse and body_returns and not in_loop:
            orelse = [at(orelse[0], gast.If(negate(load(self._flag())), orelse, []))]
        statement.orelse = orelse
        statement.finalbody = self._flagged(statement.finalbody, in_loop)
        if pending and jumps:
            # A return stands still while `finally` runs, and is forgotten if that jumps itself
            self._kept = True
            final = statement.finalbody
            names = {name: self._context.flag("pending") for name in (self._flag(), self._value)}
            aside = [assign(kept, load(name)) for name, kept in names.items()]
            again = [assign(name, load(kept)) for name, kept in names.items()]
            lower = [assign(self._flag(), constant(False))]
            statement.finalbody = [
                *(at(final[0], node) for node in (*aside, *lower)),
                *final,
                *(at(final[-1], node) for node in again),
            ]
        return statement

    def _forget(self, place: Node) -> Block:
        return [at(place, assign(self._flag(), constant(False)))]

    def _result(self, statement: Node) -> Node:
        value = constant(None) if statement.value is None else statement.value
        return at(statement, assign(self._value, value))

    def _flag(self) -> str:
        self._done = self._done or self._context.flag("returned")
        return self._done


_NEVER_REWRITTEN = (gast.Yield, gast.YieldFrom, gast.Await, gast.AsyncFor, gast.AsyncWith)


def without_jumps(tree: Node, context: Context) -> None:
    """Rewrite `break` and `continue` of every loop, inner ones first; `else` stands behind it.

    A flag is set to False right before each entry into its loop. After a statement that may jump
    the rest of the block moves into the branch that does not jump, or under `if not flag`; after a
    `try` whose handlers all jump, into its `else`.
    """
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
