# ruff: noqa
"""Generator functions stay generators."""

from __future__ import annotations

import inspect
from contextlib import contextmanager, suppress

import pytest
from tests.dy2st.transpiler.same import same, traced


def test_a_generator_yields():
    def f(n):
        for i in range(n):
            if i % 2:
                yield i
            else:
                y = -i
                yield y
        yield "end"

    same(f, (4,), (0,))
    assert inspect.isgeneratorfunction(traced(f))


def test_send_throw_close_and_the_value():
    def f(log):
        try:
            while True:
                try:
                    got = yield len(log)
                    log.append(got)
                    if got == "stop":
                        return "value"
                except ValueError as error:
                    log.append(str(error))
        finally:
            log.append("closed")

    def play(g, log):
        found = [next(g), g.send("a"), g.throw(ValueError("v"))]
        try:
            g.send("stop")
        except StopIteration as stop:
            found.append(stop.value)
        return found, log

    one, two = [], []
    assert play(f(one), one) == play(traced(f)(two), two)

    for function in (f, traced(f)):
        log = []
        g = function(log)
        next(g)
        g.close()
        assert log == ["closed"]


def test_yield_from():
    def f(n):
        def inner(k):
            got = yield k
            return got, k

        found = yield from inner(n)
        yield from [1, 2]
        yield found
        return (yield from inner(n + 1))

    def play(g):
        out = [next(g), g.send("x")]
        out += [next(g), next(g), next(g)]
        try:
            g.send("y")
        except StopIteration as stop:
            out.append(stop.value)
        return out

    assert play(f(5)) == play(traced(f)(5))
    same(f, (5,))


def test_a_yield_in_every_kind_of_expression():
    def f(x):
        a = (yield 1) or (yield 2)
        b = x and (yield 3)
        c = (yield 4) if x else (yield 5)
        d = 0 < 1 < (yield 6 if x else 7 or 0) if False else None
        e = [(yield 8), *((yield 9) or ())]
        g = f"{(yield 10)}"
        h = {(yield 11): (yield 12)}
        i = print((yield 13), sep=(yield 14) or "")
        assert not (yield 15), (yield 16)
        return a, b, c, d, e, g, h, i

    def with_value(x):
        result = yield from f(x)
        yield result

    same(f, (0,), (1,))
    same(with_value, (0,), (1,))


def test_a_chain_of_comparisons_with_a_yield():
    def f(x):
        result = 0 < (yield x) < (yield x + 1)
        yield result

    def play(g, values):
        out = [next(g)]
        try:
            for v in values:
                out.append(g.send(v))
        except StopIteration:
            pass
        return out

    for values in ([1, 2], [0], [2, 1]):
        assert play(f(1), values) == play(traced(f)(1), values)


def test_a_lambda_that_yields():
    f = lambda x: (yield x)
    same(f, (1,))


def test_a_generator_may_be_gone_in_the_midst():
    def f():
        try:
            yield 1
        finally:
            print("gone")

    same(lambda: next(f()))
    form = traced(f)
    with pytest.raises(RuntimeError, match="generator raised StopIteration"):

        def g():
            yield next(iter([]))

        list(traced(g)())
    assert next(form()) == 1


def test_names_of_generators():
    def f():
        yield 1

    g = traced(f)()
    assert g.__name__ == "f"
    assert g.__qualname__ == f.__qualname__


@contextmanager
def failing():
    yield
    raise ValueError("at the end")


def test_a_jump_that_an_exception_follows_is_forgotten():
    def caught(xs, n=0):
        for x in xs:
            try:
                with failing():
                    if x == 1:
                        break
                    if x == 3:
                        return
            except ValueError:
                n += 10
            n += 1
        yield n

    def swallowed(xs, n=0):
        for x in xs:
            with suppress(ValueError), failing():
                if x == 1:
                    break
                if x == 3:
                    return
            n += 1
        yield n

    for f in (caught, swallowed):
        same(f, ([1],), ([2],), ([3],), ([1, 2, 3],))
