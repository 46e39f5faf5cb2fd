# ruff: noqa
"""Generator functions stay generators."""

from __future__ import annotations

from tests.dy2st.catalogue.entry import on_values


@on_values((6,), (1,), (0,))
def statements_without_a_yield_in_a_generator(n):
    total = 0
    for i in range(n):
        if i % 2:
            total += i
            continue
        for j in range(i):
            if j == 2:
                break
            total += j
        else:
            total += 100
        while total > 150:
            total -= 7
        yield total
    if total:
        return
    yield "zero"


@on_values((2,), (6,), (0,))
def jumps_and_else_in_a_loop_that_yields(n):
    for i in range(n):
        if i == 1:
            continue
        if i == 4:
            break
        yield i
    else:
        yield "else"
    k = 0
    while k < n:
        k += 1
        if k == 2:
            continue
        yield k
        if k == 3:
            break
    else:
        yield "while else"


@on_values(([],))
def a_yield_in_with_and_try(log):
    import contextlib

    with contextlib.suppress(ZeroDivisionError):
        try:
            yield 1
            1 // 0
        except KeyError:
            yield "key"
        finally:
            yield "finally"
    for i in range(2):
        try:
            if i:
                return i
            yield i
        finally:
            log.append(i)


@on_values((3,))
def the_variables_of_a_generator_may_be_captured(n):
    get = lambda: i
    for i in range(n):
        yield get()
    i = 9
    yield get()


@on_values((3,))
def a_walrus_with_a_yield(n):
    while (got := (yield n)) is None and n:
        n -= 1
    yield "got", got


@on_values(({None: 1},))
def yields_in_targets(d):
    d[(yield 1)] = yield 2
    d[(yield 3)] += (yield 4) or 0
    for d[(yield 5)] in [1, 2]:
        pass
    del d[(yield 6)]


@on_values()
def a_generator_that_never_yields():
    return 5
    yield
