"""Generators, coroutines and `async`."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools

from dy2st.errors import ConversionError, UnsupportedSyntax
from tests.dy2st.catalogue.entry import construct


def drive(coroutine):
    """Run a coroutine that waits for nothing, by hand."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("the coroutine waits")


class Ready:
    """Something to await, and to iterate over with `async for`."""

    def __init__(self, value, count=1):
        self.value, self.left = value, count

    def __await__(self):
        return self.value
        yield

    def __aiter__(self):
        return self

    async def __anext__(self):
        if not self.left:
            raise StopAsyncIteration
        self.left -= 1
        return self.value + self.left

    async def __aenter__(self):
        return self.value

    async def __aexit__(self, *error):
        return False


@construct("a generator function", "converted; each item comes when it is asked for")
def generator(x):
    def parts(v):
        for k in range(3):
            yield v * k

    return list(parts(x)), sum(parts(x), x)


@construct("a tensor `if` without `yield` in a generator", "a `cond`")
def branch_in_a_generator(x):
    def parts(v):
        for k in range(3):
            if v.sum() > k:
                v = v + 1
            else:
                v = v - 1
            yield v

    y = x
    for part in parts(x):
        y = y + part
    return y


@construct("a tensor loop without `yield` in a generator", "a `while`")
def loop_in_a_generator(x):
    def parts(v):
        while v.sum() < 20:
            v = v + 5
        yield v
        yield v * 2

    first, second = parts(x)
    return first + second


@construct("`if tensor: yield a`", "the consumer runs where an item is made, in Python's order")
def yield_in_a_branch(x):
    def parts(v):
        print("begun")
        if v.sum() > 0:
            yield v
        print("on")
        yield v * 2

    total = x
    for part in parts(x):
        print("taken", part)
        total = total + part
    return total, list(parts(x)), sum(parts(x)), [v.sum() for v in parts(x) if v.sum() > 10]


@construct("`while tensor: yield a`, and `break` out of the `for`", "as in Python")
def yield_in_a_loop(x):
    def steps(v):
        while v.sum() < 20:
            print("made")
            yield v
            v = v + 2
        return v

    total, number = x, 0
    for step in steps(x):
        total = total + step
        if total.sum() > 70:
            break
        number = number + 1
    else:
        total = -total
    return total, number


@construct("`return` out of a `for` over such a generator", "as in Python")
def return_from_the_consumer(x):
    def large(v):
        for w in v:
            if w > 1:
                yield w

    for v in large(x):
        if v > 2:
            return v, any(w > 25 for w in large(x))
    return x.sum(), False


@construct("generator methods, `yield from` and recursion under a tensor", "as in Python")
def generator_of_a_tree(x):
    seen = 0

    class Tree:
        def __init__(self, value, depth):
            self.value = value
            self.parts = [Tree(value / 2, depth - 1), Tree(-value, depth - 1)] if depth else []

        def large(self):
            nonlocal seen
            seen = seen + 1
            if self.value.sum() > 2:
                yield self.value
            for part in self.parts:
                yield from part.large()

    tree, total = Tree(x, 2), x
    for value in tree.large():
        total = total + value
        tree.value = total
    return total, tree.value, seen, max(value.sum() for value in tree.large()) if seen > 100 else 0


@construct("such a generator in a variable, read to its end", "it has no items left then")
def decided_generator_read_again(x):
    def parts(v):
        if v.sum() > 0:
            yield v
        yield v * 2

    items, total = parts(x), x
    for item in items:
        total = total + item
    return total, list(items)


@construct(
    "such a generator read on after a `break`, or by `next`",
    "it goes on where it was left: all items are made with the first, where nobody can tell",
)
def decided_generator_read_on(x):
    def parts(v):
        if v.sum() > 0:
            yield v
        yield v * 2

    items, total = parts(x), x
    for item in items:
        if item.max() > 5:
            break
        total = total + item
    return total, list(items)


@construct("a generator of numbers beside such a generator", "stays one of Python")
def undecided_generator(x):
    def counting(n):
        for k in range(n):
            yield k * 2

    def large(v):
        for item in v:
            if item > 1:
                yield item

    return list(counting(3)), sum(large(x), x.sum())


@construct("`enumerate`, `map` and `filter` of such a generator", "in Python's order, item by item")
def builtins_of_a_generator(x):
    def large(v):
        for item in v:
            if item > 1:
                print("give", item)
                yield item

    total = x.sum()
    for k, item in enumerate(large(x), 2):
        print("take", k, item)
        total = total + k * item
    halves = sum(map(lambda item: item / 2, large(x)), total)
    return halves, sum(filter(lambda item: item < 3, large(x)), total)


@construct(
    "`yield` in a `try` or `with`, under a tensor",
    "the `finally` runs on each path",
)
def yield_in_a_try(x):
    def parts(v):
        try:
            if v.sum() > 0:
                yield v
        finally:
            v = v * 2
        yield v

    return list(parts(x))


@construct("`yield a if tensor else b`", "a `cond` that gives the item")
def conditional_item(x):
    def parts(v):
        yield v if v.sum() > 0 else -v
        yield v

    return list(parts(x))


@construct("what a `for` over a generator does under tensor conditions", "a `cond` an iteration")
def consumed_in_place(x):
    def parts(v):
        yield v
        yield v + 10

    y = x
    for part in parts(x):
        if part.sum() > 0:
            y = y * part
    return y


@construct("`break` by a tensor out of a `for` over a generator", "later iterations change nothing")
def left_early(x):
    def parts(v):
        for k in range(4):
            yield v + k

    y = x
    for part in parts(x):
        if part.sum() > 5:
            break
        y = y + part
    return y


@construct(
    "`next()` of an iterator over a list, `range`, `zip` or `cycle` where a tensor decides",
    "the Program carries how far it has come",
)
def iterator_advanced_in_a_branch(x):
    turns = itertools.cycle([1.0, -1.0])
    now = next(turns)
    if x.sum() > 0:
        now = next(turns)
    return x * now + next(turns)


@construct(
    "a generator advanced in a branch that a tensor decides",
    "how far it has come would be unknown",
    refused=UnsupportedSyntax,
    says="is advanced in a branch",
)
def advanced_in_a_branch(x):
    def parts(v):
        yield v
        yield v * 2
        yield v * 3

    items = parts(x)
    y = next(items)
    if x.sum() > 0:
        y = next(items)
    return y + next(items)


@construct("a generator made and used up in a branch", "part of that branch")
def used_up_in_a_branch(x):
    def parts(v):
        yield v
        yield v * 2

    y = x
    if x.sum() > 0:
        first, second = parts(x)
        y = first + second
    return y


@construct("`send()`, `throw()`, `close()`", "as in Python")
def driven_generator(x):
    log = []

    def adder(total):
        try:
            while True:
                try:
                    total = total + (yield total)
                except KeyError as error:
                    log.append(str(error))
        finally:
            log.append("closed")

    adding = adder(x)
    next(adding)
    adding.send(x * 2)
    adding.throw(KeyError("skip"))
    y = adding.send(1.0)
    adding.close()
    return y, log


@construct("`yield from`, and the value of `return`", "as in Python")
def delegated(x):
    def inner(v):
        yield v
        if v.ndim == 1:
            return v * 10
        return v

    def outer(v):
        result = yield from inner(v)
        yield result + 1

    return list(outer(x))


@construct("a tensor decides what a generator returns", "a `cond`")
def decided_return(x):
    def inner(v):
        yield v
        if v.sum() > 0:
            result = v * 2
        else:
            result = v - 1
        return result

    def outer(v):
        yield (yield from inner(v))

    return list(outer(x))


@construct("a generator method", "sees `self`")
def generator_method(x):
    class Scaled:
        factor = 3

        def __iter__(self):
            for k in range(2):
                v = x * k
                if v.sum() > 0:
                    v = v * self.factor
                yield v

    return list(Scaled())


@construct("recursive generators", "as in Python")
def recursive_generator(x):
    def halves(v, depth):
        if depth:
            yield from halves(v / 2, depth - 1)
        yield v if v.sum() > 1 else v + 1

    return list(halves(x, 3))


@construct("`@contextmanager`", "what stands around the `yield` is converted")
def context_manager(x):
    log = []

    @contextlib.contextmanager
    def shifted(v):
        if v.sum() > 0:
            v = v + 1
        log.append("in")
        try:
            yield v
        finally:
            log.append("out")

    with shifted(x) as y:
        y = y * 2
    return y, log


@construct("`@contextmanager` that swallows", "as in Python")
def swallowing_manager(x):
    @contextlib.contextmanager
    def swallowed():
        try:
            yield
        except ValueError:
            pass

    y = x
    with swallowed():
        y = y + 1
        raise ValueError("unseen")
    return y


@construct("partial() of a generator function", "converted too")
def partial_generator(x):
    def parts(factor, v):
        if v.sum() > 0:
            v = v * factor
        yield v

    return list(functools.partial(parts, 3.0)(x))


@construct("`async def` and `await`", "run to their end while the Program is made")
def coroutine(x):
    async def doubled(v):
        if v.sum() > 0:
            return v * 2
        return v - 1

    async def main(v):
        first = await doubled(v)
        return first + await Ready(v)

    return drive(main(x))


@construct("asyncio.run()", "as by hand")
def run_by_asyncio(x):
    async def scaled(v, factor):
        await asyncio.sleep(0)
        while v.sum() < 10:
            v = v + factor
        return v

    async def main():
        return await asyncio.gather(scaled(x, 1), scaled(x, 2))

    return asyncio.run(main())


@construct("`async for`, `async with`", "Python's; what stands inside is staged")
def async_statements(x):
    async def main(v):
        async with Ready(v) as y:
            async for item in Ready(v, 3):
                if item.sum() > 0:
                    y = y + item
        return y

    return drive(main(x))


@construct("async comprehensions", "Python's")
def async_comprehension(x):
    async def main(v):
        parts = [item * 2 async for item in Ready(v, 2)]
        return parts, [item + await Ready(v) for item in parts]

    return drive(main(x))


@construct("async generators", "Python's; statements without `yield` are staged")
def async_generator(x):
    async def parts(v):
        for k in range(2):
            if v.sum() > k:
                v = v * 2
            yield v

    async def main(v):
        return [part async for part in parts(v)]

    return drive(main(x))


@construct(
    "`if tensor:` with `await` inside",
    "the function itself must wait",
    refused=UnsupportedSyntax,
    says="contains `yield` or `await`",
)
def await_in_a_branch(x):
    async def main(v):
        if v.sum() > 0:
            v = await Ready(v)
        return v

    return drive(main(x))


@construct("`next()` outside of branches", "as in Python; a branch may use up its own iterators")
def iterators(x):
    items = iter([x, x + 1, x + 2])
    y = next(items)
    if x.sum() > 0:
        for a, b in zip([1, 2], iter([3, 4])):
            y = y + a * b
    return y + sum(items)


@construct(
    "an iterator advanced in a branch that a tensor decides",
    "the Program carries how far it has come",
)
def iterator_in_a_branch(x):
    items = iter([x, x + 1, x + 2])
    y = x
    if x.sum() > 0:
        y = next(items)
    return y + next(items)


@construct(
    "a generator used up in a branch, and asked again after it",
    "whether it has ended would be unknown",
    refused=ConversionError,
    says="read on later",
)
def generator_ended_in_a_branch(x):
    items = (x * k for k in range(3))
    y = x
    if x.sum() > 0:
        y = y + sum(items)
    return y + sum(items)


@construct("an iterator advanced by a function that a branch calls", "the same")
def iterator_in_a_closure(x):
    items = enumerate([x, x + 1, x + 2])

    def take():
        return next(items)[1]

    y = take() if x.sum() > 0 else x
    return y + take()


@construct(
    "an iterator read on after a `break` that a tensor decides",
    "it goes on where the loop has left it",
)
def iterator_read_on(x):
    items = iter([1, 2, 3])
    y = x
    for k in items:
        y = y + k
        if y.sum() > 0:
            break
    return y + sum(items)


@construct(
    "an iterator read on after `any()` that a tensor decides", "it goes on where `any` has left it"
)
def iterator_read_on_after_any(x):
    items = iter([1, 2, 3])
    found = any(x.sum() > k for k in items)
    return x + sum(items) if found else x


@construct("`any(...)` over zip() and generators", "items are made for it, so nothing is left over")
def any_over_fresh_iterators(x):
    others = (x + 1, x - 1)
    return any((a > b).all() for a, b in zip((x, x), others)), all(v.sum() > 0 for v in others)
