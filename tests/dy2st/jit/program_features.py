"""What random programs may use beside tensors and numbers: one record a feature.

`<tensor>`, `<scalar>`, `<number>`, `<test>` and `<name>` stand for an expression that is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Feature:
    """Lines that begin a program, statements and tests that it may hold, and what it returns."""

    start: tuple[str, ...]
    statements: tuple[str, ...]
    tests: tuple[str, ...] = ()
    results: str = "()"


NONE = Feature(
    start=("n = None",),
    statements=(
        "n = None",
        "n = <tensor>",
        "if n is None:\n    n = <tensor>",
        "if n is not None:\n    a = a + n\nelse:\n    b = b % 3",
        "c = c if n is None else n",
    ),
    tests=("n is None", "(n is not None and n.sum() > 1)"),
    results="n",
)
STRINGS = Feature(
    start=("word = 'up'",),
    statements=(
        "word = 'down'",
        "word = 'up'",
        "word = 'up' if <test> else 'left'",
        "print(f'{word} and {<number>}')",
        "print(word, f'{float(<scalar>):.1f}!', end='.')",
        "a = a + len(word)",
    ),
    tests=("word == 'up'", "word != 'down'", "word in ('up', 'left')"),
    results="word",
)
LISTS = Feature(
    start=("ys = [x]",),
    statements=(
        "ys.append(<tensor>)",
        "ys.append(<tensor>)",
        "if len(ys) > 1:\n    a = a + ys.pop()",
        "ys = [<tensor>, <tensor>]",
        "ys = ys + [<tensor>]",
        "ys += [<tensor>]",
        "b = b + len(ys)",
        "for r in ys:\n    c = (c + r) % 7",
        "ys[-1] = <tensor>",
    ),
    tests=("len(ys) > 2", "ys[-1].sum() > 3"),
    results="ys",
)
DICTS = Feature(
    start=("d = {'k': x}",),
    statements=(
        "d['k'] = <tensor>",
        "d['z'] = <tensor>",
        "d.pop('z', None)",
        "a = a + d.get('z', <tensor>)",
        "b = b + d['k']",
        "d = {'k': <tensor>}",
        "d.update(k=<tensor>)",
        "c = c + len(d)",
        "for r in d.values():\n    c = (c + r) % 7",
    ),
    tests=("'z' in d", "len(d) > 1"),
    results="d",
)
OBJECTS = Feature(
    start=("e = Part(x)",),
    statements=(
        "e.step(<tensor>)",
        "e.v = <tensor>",
        "e.n = <number>",
        "e.n += 1",
        "e = Part(<tensor>)",
        "a = e.double",
        "b = e(<tensor>)",
        "e.both.v = <tensor>",
        "a, e.v = e.v, <tensor>",
    ),
    tests=("e.n > 1", "e.is_big()", "e"),
    results="(e.v, e.n, e.both.v)",
)
CLOSURES = Feature(
    start=(
        "h, calls = x, 0",
        "def note(v):\n    nonlocal h, calls\n    calls += 1\n    if v.sum() > 2:\n        h = h + v",
        "def look(v):\n    if v.max() > 1:\n        return h % 5\n    return v + calls",
        "def box(v):\n    if v.min() < 1:\n        o.v = v + 1",
    ),
    statements=(
        "note(<tensor>)",
        "a = look(<tensor>)",
        "h = <tensor>",
        "box(<tensor>)",
        "calls = 0",
        "b = (lambda v: h + v)(<tensor>)",
    ),
    tests=("calls > 1", "(note(a), calls > 2)[1]"),
    results="(h, calls)",
)
GENERATORS = Feature(
    start=(
        "def items(v):\n    yield v\n    if p > 1:\n        yield v + 1\n    yield h1 % 3",
        "h1 = x",
    ),
    statements=(
        "for r in items(<tensor>):\n    a = (a + r) % 9",
        "for r in items(<tensor>):\n    if r.sum() > 4:\n        break\n    b = (b + r) % 5",
        "a = sum(r % 3 for r in items(<tensor>))",
        "h1 = <tensor>",
        "c = next(items(<tensor>))",
        "for r in (z * 2 % 5 for z in xs):\n    c = (c + r) % 7",
        "b = max(z for z in a) + b",
    ),
    tests=("any(z.sum() > 2 for z in items(a))", "all(z > 0 for z in a)"),
    results="h1",
)
COMPREHENSIONS = Feature(
    start=("zs = [x]",),
    statements=(
        "zs = [z + 1 for z in xs if z.sum() > <number>]",
        "zs = [z for z in xs]",
        "a = a + len([z for z in b if z > 1])",
        "b = b + sum([z for z in a if z > c.min()])",
        "c = c + sum([z if <test> else z + 1 for z in xs])",
        "zs = [z + y for z in xs for y in (1, 2) if y != <number>]",
        "a = a + sum({k: z for k, z in enumerate(xs)}.values())",
        "for z in zs:\n    c = (c + z) % 7",
    ),
    tests=("len(zs) > 1", "len([z for z in a if z > 0]) > 1"),
    results="zs",
)
ERRORS = Feature(
    start=("failed = 0",),
    statements=(
        "try:\n    if <test>:\n        raise ValueError('bad')\n    a = a + 1\n"
        "except ValueError:\n    failed += 1",
        "try:\n    if <test>:\n        raise KeyError('key')\n    b = <tensor>\n"
        "except KeyError as error:\n    print(repr(error))\nelse:\n    c = <tensor>",
        "try:\n    check(<tensor>)\nexcept ValueError as error:\n    print(error)\n"
        "finally:\n    failed += 2",
        "try:\n    assert <test>, 'no'\nexcept AssertionError:\n    a = <tensor>",
        "check(<tensor>)",
    ),
    tests=("failed > 0",),
    results="failed",
)
KINDS = Feature(
    start=("g, k = 0, False",),
    statements=(
        "g = <number>",
        "k = <number> > 1",
        "g = g + 1",
        "g = int(<scalar>)",
        "k = bool(<test>)",
        "print(g, k)",
        "g += len(xs)",
        "k = not k",
    ),
    tests=("g > 1", "k"),
    results="(g, k)",
)
JUMPS = Feature(
    start=("found = -1",),
    statements=(
        "for i in range(3):\n    if <test>:\n        found = i\n        break\n"
        "else:\n    found = 5",
        "i = 0\nwhile i < t % 4:\n    i += 1\n    if <test>:\n        continue\n    found = i\n"
        "else:\n    a = <tensor>",
        "if <test>:\n    del found\nfound = <number>",
        "for i in range(2):\n    try:\n        if <test>:\n            break\n    finally:\n"
        "        found += 1",
        "while True:\n    found += 1\n    if found > <number> or <test>:\n        break",
    ),
    tests=("found > 0",),
    results="found",
)

PERHAPS = Feature(
    start=("if <test>:\n    l = <tensor>", "kept = None"),
    statements=(
        "if <test>:\n    l = <tensor>",
        "if <test>:\n    l = None",
        "kept = l",
        "kept = [l, <number>]",
        "shown(l)",
        "l",
        "print('kept')",
        "kept = l if <test> else <tensor>",
        "kept = [l is None]",
        "if <test>:\n    kept = l",
        "l = <tensor>",
        "del l",
    ),
    results="kept",
)
HEADS = Feature(
    start=("j = t * 0",),
    statements=(
        "for v in (r + 1 for r in xs if <test>):\n    a = (a + v) % 7",
        "for v in (r for r in <tensor> if r > 1):\n    j = v",
        "for v in (r for r in <tensor> if r > 1):\n    if v > 2:\n        break\n    j = j + v",
        "for v in (i for i in range(4) if <test>):\n    if v > <scalar>:\n        continue\n    j = j + v",
        "for v, r in ((i, r) for r in xs for i in (1, 2) if r.sum() > i):\n    b = (b + v * r) % 5\n"
        "    print(v)",
        "for v in (r for r in xs if r.sum() > 0):\n    o.v = v + o.v\nelse:\n    j = j + 7",
    ),
    results="j",
)
TURNS = Feature(
    start=(
        "def picked(v):\n    if v.sum() > 2:\n        print('picked')\n        yield v\n"
        "    for w in v:\n        if w > 1:\n            yield v + w\n    yield v + 1",
    ),
    statements=(
        "for r in picked(<tensor>):\n    a = (a + r) % 7",
        "for r in picked(<tensor>):\n    print(float(r.sum()))\n    if r.sum() > 9:\n        break\n"
        "    b = (b + r) % 5",
        "for r in picked(<tensor>):\n    if r.sum() > <scalar>:\n        continue\n    o.v = r % 5\n"
        "else:\n    c = c + 1",
        "c = c + sum(picked(<tensor>)) % 5",
        "a = a + (1 if any(r.max() > 5 for r in picked(b)) else 0)",
        "for r in (r + <number> for r in picked(<tensor>) if <test>):\n    b = (b + r) % 7",
    ),
    tests=("any(r.sum() > 4 for r in picked(a))",),
)
RAISING = Feature(
    start=(
        "noted = 0",
        "def risky(v, k=1):\n    if v.sum() > 9:\n        raise ValueError('much')\n    return v + k",
        "def deeper(v):\n    nonlocal noted\n    noted += 1\n    try:\n        w = risky(v, noted)\n"
        "    except KeyError:\n        w = v\n    finally:\n        noted = (noted + 1) % 7\n"
        "    return risky(w) % 5",
        "def turned(v):\n    for w in v:\n        if w > 5:\n            raise KeyError('w')\n"
        "        if w < -3:\n            return v + w\n    try:\n        return risky(v)\n"
        "    except ValueError:\n        if v.max() > 4:\n            raise\n"
        "        raise IndexError('again')",
    ),
    statements=(
        "try:\n    a = risky(<tensor>) + deeper(<tensor>) % 7\nexcept ValueError as error:\n"
        "    print(error)\n    noted += 1",
        "try:\n    b = (b + turned(<tensor>)) % 9\nexcept (KeyError, IndexError) as error:\n"
        "    print(repr(error))\nexcept ValueError:\n    b = <tensor>\nelse:\n    print('else')",
        "for r in xs:\n    try:\n        c = (c + risky(r, <number>)) % 9\n    except ValueError:\n"
        "        noted += 1\n        if <test>:\n            break\n    else:\n        a = a + 1",
        "try:\n    if risky(<tensor>).sum() > <scalar>:\n        a = deeper(a)\n    o.v = deeper(o.v)\n"
        "except LookupError:\n    pass\nexcept ValueError:\n    o.v = <tensor>\nfinally:\n"
        "    noted += 1",
        "try:\n    assert risky(<tensor>).max() < 9, 'top'\n    c = turned(c)\n"
        "except (AssertionError, LookupError, ValueError) as error:\n    print(type(error).__name__)",
        "a = risky(<tensor> % 3)",
    ),
    tests=("noted > 1",),
    results="noted",
)
LAZY = Feature(
    start=("lazily = (r for r in xs if r.sum() > 2)",),
    statements=(
        "lazily = (r % 4 for r in xs if <test>)",
        "lazily = (r for r in <tensor> if r > <number>)",
        "for r in lazily:\n    a = (a + r) % 7",
        "b = (b + sum(lazily)) % 9",
        "for k, r in enumerate(filter(lambda r: r > 1, <tensor>)):\n    c = (c + k * r) % 7",
        "a = a + len(list(filter(lambda r: r.sum() > <scalar>, xs)))",
        "b = b + sum(map(lambda r: r % 3, (r for r in <tensor> if r > 0)))",
        "for r in filter(None, <tensor>):\n    if r > <scalar>:\n        break\n    b = (b + r) % 5",
        "print(len(list(lazily)))",
    ),
)
OUTSIDE = Feature(
    start=("global gn, gt", "gn, gt = 1, x", "settings.n, settings.v, settings.w = 0, x, None"),
    statements=(
        "gn = <number>",
        "gt = <tensor>",
        "gn += 1\nsettings.n = (settings.n + gn) % 7",
        "settings.v = <tensor>",
        "if <test>:\n    settings.v = settings.v % 4 + gt\nelse:\n    keep(<tensor>)",
        "keep(<tensor>)",
        "a = a + bumped(<number>)",
        "for r in xs:\n    keep(r + settings.v % 3)\n    if <test>:\n        break",
        "globals()['gn'] = <number>",
        "setattr(settings, 'n', <number>)",
        "b = (b + gt + settings.v) % 7",
        "if <test>:\n    settings.w = <tensor>",
        "c = c if settings.w is None else (c + settings.w) % 5",
        "print(gn, settings.n)",
    ),
    tests=("gn > 1", "settings.n > 2", "settings.v.sum() > 3", "settings.w is None"),
    results="(gn, gt, settings.n, settings.v, settings.w)",
)
FEATURES = (
    NONE,
    STRINGS,
    LISTS,
    DICTS,
    OBJECTS,
    CLOSURES,
    GENERATORS,
    COMPREHENSIONS,
    ERRORS,
    KINDS,
    JUMPS,
    PERHAPS,
    HEADS,
    TURNS,
    RAISING,
    LAZY,
    OUTSIDE,
)

PRELUDE = """
from types import ModuleType

settings = ModuleType('settings')


def keep(v):
    settings.v = v % 5
    if v.sum() > 6:
        settings.n += 1


def bumped(k):
    global gn
    gn = (gn + k) % 9
    return gn


def shown(v):
    print('shown')


class Box:
    pass


class Part:
    def __init__(self, v):
        self.v, self.n, self.both = v, 0, Box()
        if v.sum() > 3:
            self.n = 1
        self.both.v = v - 1

    def step(self, v):
        if v.sum() > self.n:
            self.v = self.v + v
            self.n += 1
            return
        self.both.v = v

    def is_big(self):
        if self.n > 1:
            return True
        return self.v.sum() > 5

    def __bool__(self):
        return bool(self.is_big()) or self.n > 2

    @property
    def double(self):
        if self.v.max() > 4:
            return self.v
        return self.v * 2

    def __call__(self, v):
        if v.sum() > self.v.sum():
            return v - self.n
        return self.v


class Guard:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def twice(v):
    if v.sum() > 4:
        return v % 5 + 1
    return v - 1


def check(v):
    if v.sum() > 12:
        raise ValueError('high')
    if v.sum() < -12:
        raise ValueError('low')

"""

__all__ = ["FEATURES", "PRELUDE", "Feature"]
