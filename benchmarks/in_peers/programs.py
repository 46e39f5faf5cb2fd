"""Programs as people write them; `top`, `total` and others are those of the framework that runs."""

from ops import stack, top, total


def root(x):
    y, steps = x, 0
    while True:
        change = (y - x / y) / 2
        y, steps = y - change, steps + 1
        if top(abs(change)) < 1e-4:
            return y, steps
        if steps == 20:
            break
    raise ValueError(f"no root of {x} in {steps} steps")


def branch(x):
    if total(x) > 0:
        y = x * 2
    else:
        y = -x
    return y


def halvings(x):
    n = 0
    while top(abs(x)) > 1:
        x = x / 2
        n += 1
    return x, n


def early(x):
    if total(x) > 0:
        return x * 2
    x = x + 10
    return x


def first_above(x):
    for value in x:
        if value > 2:
            return value
    return x[0] * 0


def skips(x):
    s = x[0] * 0
    for value in x:
        if value < 0:
            continue
        if value > 5:
            break
        s = s + value
    return s


def gathered(x):
    kept = []
    for value in x:
        if value > 0:
            kept.append(value * 2)
    return stack(kept)


def caught(x):
    try:
        if total(x) > 0:
            return x * 2
        n = int("zz")
        return x * n
    except ValueError:
        return x - 1


def outer_count(x):
    count = 0

    def bump():
        nonlocal count
        if total(x) > 0:
            count = count + 5

    bump()
    return x + count


def chained(x):
    calls = []

    def middle():
        calls.append(1)
        return total(x)

    if 0 < middle() < 10:
        y = x + len(calls)
    else:
        y = x - len(calls)
    return y


def late(x):
    functions = []
    i = 0
    while i < total(x):
        functions.append(lambda v: v * i)  # noqa: B023  Python's rule is the point
        i += 1
        if i == 3:
            break
    return functions[0](x) if functions else x


def state(x):
    memory = {"sum": x * 0, "last": None}
    for value in x:
        if value > 0:
            memory["sum"] = memory["sum"] + value
            memory["last"] = value
    return memory["sum"] + (0 if memory["last"] is None else memory["last"])


UP, DOWN = [1.0, 2.0], [-1.0, -3.0]
MIXED, HIGH = [1.0, -3.0, 4.0], [1.0, 9.0, 1.0]

# Each with the inputs of its calls, in order.
PROGRAMS = {
    "branch": (branch, [UP, DOWN]),
    "halvings": (halvings, [[8.0, 2.0], [0.5, 0.1], [100.0, 1.0]]),
    "early": (early, [UP, DOWN]),
    "first_above": (first_above, [[1.0, 3.0, 5.0], [0.0, 1.0, 2.0]]),
    "skips": (skips, [MIXED, HIGH]),
    "gathered": (gathered, [MIXED, HIGH]),
    "caught": (caught, [UP, DOWN]),
    "outer_count": (outer_count, [UP, DOWN]),
    "chained": (chained, [UP, DOWN]),
    "late": (late, [[1.0, 1.0], [2.0, 5.0]]),
    "state": (state, [MIXED, [-1.0, -9.0, -1.0]]),
    "root": (root, [[2.0, 9.0], [16.0, 1.0]]),
}
