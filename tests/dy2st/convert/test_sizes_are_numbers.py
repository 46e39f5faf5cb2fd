"""A size and a comparison of sizes that only the run knows are numbers wherever Python has them."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest

import dy2st as P
from dy2st import to_static
from dy2st.static import InputSpec

SHAPES = ((3, 2), (1, 4), (3, 4), (1, 1), (2, 3))


def binary_uses():
    names = "and_ or_ xor add sub mul truediv floordiv mod pow lshift rshift lt le eq ne gt ge"
    for name in names.split():
        apply = getattr(operator, name)
        yield f"True {name} c", lambda n, m, x, apply=apply: apply(True, n > 1)
        yield f"c {name} True", lambda n, m, x, apply=apply: apply(n > 1, True)
        yield f"c {name} c", lambda n, m, x, apply=apply: apply(n > 1, m > 2)
        yield f"c {name} 3", lambda n, m, x, apply=apply: apply(n > 1, 3)
        yield f"3 {name} c", lambda n, m, x, apply=apply: apply(3, n > 1)
        yield f"n {name} c", lambda n, m, x, apply=apply: apply(n, n > 1)
        yield f"c {name} n", lambda n, m, x, apply=apply: apply(n > 1, n)
        yield f"n {name} m", lambda n, m, x, apply=apply: apply(n, m)
        yield f"n {name} 3", lambda n, m, x, apply=apply: apply(n, 3)
        yield f"3 {name} n", lambda n, m, x, apply=apply: apply(3, n)
        if name not in ("and_", "or_", "xor", "lshift", "rshift"):
            yield f"c {name} 0.5", lambda n, m, x, apply=apply: apply(n > 1, 0.5)
        if name in ("add", "sub", "mul", "eq", "ne", "lt", "ge"):
            yield f"c {name} x", lambda n, m, x, apply=apply: apply(n > 1, x)
            yield f"x {name} c", lambda n, m, x, apply=apply: apply(x, n > 1)


def unary_uses():
    for name in ("neg", "pos", "abs", "invert", "not_", "truth", "index"):
        apply = getattr(operator, name)
        yield f"{name} c", lambda n, m, x, apply=apply: apply(n > 1)
        yield f"{name} n", lambda n, m, x, apply=apply: apply(n)
    for kind in (int, float, bool, abs, round, str, repr):
        yield f"{kind.__name__}(c)", lambda n, m, x, kind=kind: kind(n > 1)
        yield f"{kind.__name__}(n)", lambda n, m, x, kind=kind: kind(n)


def counted(n, m, x):
    count = 0
    count += n > 1
    count |= m > 2
    count -= n > 5
    return count


USES = {
    **dict(binary_uses()),
    **dict(unary_uses()),
    "in place": counted,
    "sum": lambda n, m, x: sum([n > 1, m > 2]),
    "sum of a generator": lambda n, m, x: sum(size > 1 for size in x.shape),
    "max": lambda n, m, x: max(n > 1, m > 2),
    "any": lambda n, m, x: any([n > 1, m > 2]),
    "all": lambda n, m, x: all([n > 1, m > 2]),
    "sorted": lambda n, m, x: sorted([n > 1, m > 3]),
    "divmod": lambda n, m, x: divmod(n > 1, 2),
    "pow": lambda n, m, x: pow(n > 1, 2),
    "place in a list": lambda n, m, x: [5, 6][n > 1],
    "place in a tuple": lambda n, m, x: (5, 6)[n > 1],
    "end of a slice": lambda n, m, x: [5, 6, 7][(n > 1) :],
    "key": lambda n, m, x: {True: 1, False: 2}[n > 1],
    "in": lambda n, m, x: (n > 1) in [True],
    "count": lambda n, m, x: [n > 1, True].count(True),
    "range": lambda n, m, x: list(range(n > 1)),
    "list * c": lambda n, m, x: [1] * (n > 1),
    "is": lambda n, m, x: (n > 1) is True,
    "isinstance": lambda n, m, x: (isinstance(n > 1, bool), isinstance(n > 1, int)),
    "chain": lambda n, m, x: 1 < n < 3,
    "format": lambda n, m, x: (f"{n > 1}", f"{n}, {m > 2!r}"),
    "map": lambda n, m, x: sum(map(bool, [n > 1, m > 3])),
    "two that are alike": lambda n, m, x: (n > 1) == (n > 1),
    "math.sqrt": lambda n, m, x: math.sqrt(n > 1),
    "math.floor": lambda n, m, x: math.floor(n > 1),
    "math.prod": lambda n, m, x: math.prod([n > 1, m]),
    "full of bools": lambda n, m, x: P.full([2], n > 1, dtype="bool"),
    "full of ints": lambda n, m, x: P.full([2], n > 1, dtype="int64"),
    "full": lambda n, m, x: P.full([2], n > 1),
    "full of sizes": lambda n, m, x: P.full([2], n),
    "full_like": lambda n, m, x: P.full_like(x, n > 1),
    "to_tensor": lambda n, m, x: P.to_tensor([n > 1, m > 2]),
    "where": lambda n, m, x: P.where(P.to_tensor(n > 1), x, x * 2),
    "clip": lambda n, m, x: P.clip(x, n > 1, n),
    "scale": lambda n, m, x: P.scale(x, n > 1),
    "np.clip": lambda n, m, x: np.clip(n, 0, m),
    "np.clip of a bool": lambda n, m, x: np.clip(n > 1, 0, 1),
    "np.clip without an end": lambda n, m, x: np.clip(n, 2, None),
    "np.sqrt": lambda n, m, x: np.sqrt(n),
    "np.maximum": lambda n, m, x: np.maximum(n, 3),
    "reshape": lambda n, m, x: x.reshape([n * (m >= 1), -1]),
}


def said(value):
    if isinstance(value, P.Tensor):
        return "tensor", str(value.dtype), np.nan_to_num(value.numpy() * 1.0).tolist()
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [said(one) for one in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return "numpy", value.tolist()
    return repr(value)


def outcome(function, x):
    try:
        return said(function(x))
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        return type(error)


@pytest.mark.filterwarnings("ignore:Bitwise inversion '~' on bool:DeprecationWarning")
@pytest.mark.parametrize("name", USES)
def test_it_is_a_number(name):
    use = USES[name]

    def f(x):
        return use(x.shape[0], x.shape[1], x)

    static = to_static(f, input_spec=[InputSpec([None, None])])
    for shape in SHAPES:
        x = P.to_tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))
        assert outcome(static, x) == outcome(f, x), shape
