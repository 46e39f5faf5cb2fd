"""A row for each function of Python's library that computes with lists and numbers.

Each takes a list and two of its items, which are plain, numbers that only the run knows, tensors,
or a list as long as the run decides: it is as in Python then, or refused.
"""

import bisect
import collections
import copy
import functools
import heapq
import itertools
import math
import operator
import statistics
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque

MOST = 6  # items are taken of what has no end


def changed(kind, change):
    """What a method gives, and what it leaves."""

    def row(A, a, b):
        made = kind(A)
        found = change(made, a, b)
        return found, made

    return row


def numbered(A):
    return {place: value for place, value in enumerate(A)}


def counts(A):
    return {value: place for place, value in enumerate(A)}


ITERTOOLS = {
    "accumulate": lambda A, a, b: list(itertools.accumulate(A)),
    "accumulate by max": lambda A, a, b: list(itertools.accumulate(A, max)),
    "accumulate from": lambda A, a, b: list(itertools.accumulate(A, operator.mul, initial=a)),
    "accumulate nothing": lambda A, a, b: list(itertools.accumulate(A[:0])),
    "chain": lambda A, a, b: list(itertools.chain(A, [a, b], A)),
    "chain.from_iterable": lambda A, a, b: list(itertools.chain.from_iterable([A, [a], A])),
    "chain of ranges": lambda A, a, b: list(itertools.chain(range(2), A)),
    "combinations": lambda A, a, b: list(itertools.combinations(A, 2)),
    "combinations of 0": lambda A, a, b: list(itertools.combinations(A, 0)),
    "combinations of -1": lambda A, a, b: list(itertools.combinations(A, -1)),
    "combinations again": lambda A, a, b: list(itertools.combinations_with_replacement(A, 2)),
    "compress": lambda A, a, b: list(itertools.compress(A, [v > 1 for v in A])),
    "compress by plain": lambda A, a, b: list(itertools.compress(A, [1, 0, True])),
    "count": lambda A, a, b: [u * v for u, v in zip(A, itertools.count(2, 3))],
    "count from": lambda A, a, b: [u + v for u, v in zip(A, itertools.count(a, b))],
    "cycle": lambda A, a, b: list(itertools.islice(itertools.cycle(A), MOST)),
    "cycle beside": lambda A, a, b: [u - v for u, v in zip(A, itertools.cycle([a, b]))],
    "dropwhile": lambda A, a, b: list(itertools.dropwhile(lambda v: v > 1, A)),
    "filterfalse": lambda A, a, b: list(itertools.filterfalse(lambda v: v > 1, A)),
    "filterfalse of None": lambda A, a, b: list(itertools.filterfalse(None, [v - a for v in A])),
    "groupby": lambda A, a, b: [(k, list(g)) for k, g in itertools.groupby(sorted(A))],
    "groupby by": lambda A, a, b: [len(list(g)) for _, g in itertools.groupby(A, lambda v: v > 1)],
    "islice": lambda A, a, b: list(itertools.islice(A, 1, None, 2)),
    "islice of two": lambda A, a, b: list(itertools.islice(iter(A), 2)),
    "islice to a number": lambda A, a, b: list(itertools.islice(A, int(b))),
    "pairwise": lambda A, a, b: [v - u for u, v in itertools.pairwise(A)],
    "permutations": lambda A, a, b: list(itertools.permutations(A, 2)),
    "permutations of all": lambda A, a, b: list(itertools.permutations(A))[:MOST],
    "product": lambda A, a, b: list(itertools.product(A, [a, b])),
    "product of itself": lambda A, a, b: list(itertools.product(A[:2], repeat=2)),
    "repeat": lambda A, a, b: [u * v for u, v in zip(A, itertools.repeat(a))],
    "repeat so often": lambda A, a, b: list(itertools.repeat(a, len(A))),
    "starmap": lambda A, a, b: list(itertools.starmap(operator.sub, zip(A, A[1:]))),
    "takewhile": lambda A, a, b: list(itertools.takewhile(lambda v: v > 1, A)),
    "tee": lambda A, a, b: [list(one) for one in itertools.tee(A, 2)],
    "zip_longest": lambda A, a, b: list(itertools.zip_longest(A, A[1:], fillvalue=b)),
}

FUNCTOOLS = {
    "reduce": lambda A, a, b: functools.reduce(operator.mul, A),
    "reduce from": lambda A, a, b: functools.reduce(lambda u, v: u * 2 + v, A, b),
    "reduce nothing": lambda A, a, b: functools.reduce(operator.mul, A[:0]),
    "partial": lambda A, a, b: functools.partial(operator.sub, a)(b),
    "partial with words": lambda A, a, b: functools.partial(sorted, reverse=True)(A),
    "cmp_to_key": lambda A, a, b: sorted(A, key=functools.cmp_to_key(lambda u, v: v - u)),
    "lru_cache": lambda A, a, b: [functools.lru_cache(lambda v: v + 1)(v) for v in A],
    "partialmethod": lambda A, a, b: functools.partialmethod(operator.sub, a).func(a, b),
}

BUILTINS = {
    "all": lambda A, a, b: (all(A), all(v > 1 for v in A)),
    "any": lambda A, a, b: (any(A), any(v > 2 for v in A)),
    "divmod": lambda A, a, b: divmod(a, b),
    "enumerate": lambda A, a, b: list(enumerate(A, 2)),
    "filter": lambda A, a, b: list(filter(lambda v: v > 1, A)),
    "filter of None": lambda A, a, b: list(filter(None, A)),
    "len": lambda A, a, b: len(A),
    "map": lambda A, a, b: list(map(operator.add, A, A)),
    "max": lambda A, a, b: (max(A), max(a, b), max(A, key=lambda v: -v), max([], default=a)),
    "min": lambda A, a, b: (min(A), min(a, b), min(A, key=lambda v: -v), min([], default=a)),
    "max of nothing": lambda A, a, b: max(A[:0]),
    "min of nothing": lambda A, a, b: min(A[:0], default=b),
    "next": lambda A, a, b: next(iter(A)),
    "next of nothing": lambda A, a, b: next(iter(A[:0]), b),
    "pow": lambda A, a, b: (pow(a, b), pow(a, 2)),
    "pow by": lambda A, a, b: pow(int(a), int(b), 5),
    "range": lambda A, a, b: list(range(len(A))),
    "range to a number": lambda A, a, b: list(range(int(a))),
    "reversed": lambda A, a, b: list(reversed(A)),
    "round": lambda A, a, b: (round(a), round(b / 3)),
    "round to digits": lambda A, a, b: round(a / 3, 2),
    "sorted": lambda A, a, b: (sorted(A), sorted(A, reverse=True), sorted(A, key=lambda v: -v)),
    "sum": lambda A, a, b: (sum(A), sum(A, a), sum([])),
    "zip": lambda A, a, b: list(zip(A, A[1:], strict=False)),
    "zip strictly": lambda A, a, b: list(zip(A, A[1:], strict=True)),
    "abs": lambda A, a, b: abs(-a),
    "bool": lambda A, a, b: (bool(a), bool(A)),
    "int": lambda A, a, b: (int(a), float(b)),
    "str": lambda A, a, b: f"{len(A)}",
}

MATH_OF_ONE = {
    name: lambda A, a, b, function=getattr(math, name): function(a)
    for name in (
        *("sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan"),
        *("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc"),
        *("gamma", "lgamma", "floor", "ceil", "trunc", "fabs", "isfinite", "isinf", "isnan"),
        *("modf", "frexp", "degrees", "radians", "ulp", "cbrt", "isqrt", "factorial"),
    )
    if hasattr(math, name)
}
MATH = {
    **MATH_OF_ONE,
    "comb": lambda A, a, b: math.comb(int(a), int(b)),
    "comb of 5": lambda A, a, b: math.comb(5, int(b)),
    "perm": lambda A, a, b: math.perm(int(a), int(b)),
    "perm of all": lambda A, a, b: math.perm(int(a)),
    "comb of -1": lambda A, a, b: math.comb(int(b) - 9, 2),
    "gcd": lambda A, a, b: math.gcd(int(a) * 4, int(b) * 6),
    "gcd of floats": lambda A, a, b: math.gcd(a, b),
    "gcd of all": lambda A, a, b: math.gcd(*[int(v) for v in A]),
    "lcm": lambda A, a, b: math.lcm(int(a), int(b)),
    "dist": lambda A, a, b: math.dist(A, A[::-1]),
    "fsum": lambda A, a, b: math.fsum(A),
    "fsum of a generator": lambda A, a, b: math.fsum(v * v for v in A),
    "fsum of some": lambda A, a, b: math.fsum(v * v for v in A if v > 1),
    "hypot": lambda A, a, b: math.hypot(a, b),
    "isclose": lambda A, a, b: (math.isclose(a, b), math.isclose(a, b, rel_tol=0.9)),
    "prod": lambda A, a, b: (math.prod(A), math.prod(A, start=a)),
    "pow": lambda A, a, b: math.pow(a, b),
    "pow of -1": lambda A, a, b: math.pow(-1.0, b / 4),
    "fmod": lambda A, a, b: math.fmod(a, b),
    "remainder": lambda A, a, b: math.remainder(a, b),
    "copysign": lambda A, a, b: math.copysign(a, -b),
    "atan2": lambda A, a, b: math.atan2(a, b),
    "nextafter": lambda A, a, b: math.nextafter(a, b),
    "ldexp": lambda A, a, b: math.ldexp(a, int(b)),
    "ldexp of 3": lambda A, a, b: math.ldexp(a, 3),
    "log to a base": lambda A, a, b: math.log(a, 2),
    "log of -1": lambda A, a, b: math.log(b - 9),
    "sqrt of -1": lambda A, a, b: math.sqrt(b - 9),
    "exp of 1000": lambda A, a, b: math.exp(a * 1000),
    "factorial of -1": lambda A, a, b: math.factorial(int(b) - 9),
    "division by 0": lambda A, a, b: a / (b - b),
    "sumprod": lambda A, a, b: math.sumprod(A, A),
}

OPERATOR = {
    **{
        name: lambda A, a, b, function=getattr(operator, name): function(a, b)
        for name in (
            *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "eq", "ne"),
            *("ge", "gt", "and_", "or_", "xor", "lshift", "rshift", "iadd", "imul", "is_not"),
        )
    },
    **{
        name: lambda A, a, b, function=getattr(operator, name): function(a)
        for name in ("neg", "pos", "invert", "not_", "truth", "abs", "index")
    },
    "and_ of ints": lambda A, a, b: (int(a) & int(b), operator.xor(int(a), int(b))),
    "lshift of ints": lambda A, a, b: operator.lshift(int(a), int(b)),
    "concat": lambda A, a, b: operator.concat(A, [a]),
    "contains": lambda A, a, b: operator.contains(A, b),
    "countOf": lambda A, a, b: operator.countOf(A, a),
    "indexOf": lambda A, a, b: operator.indexOf(A, b),
    "getitem": lambda A, a, b: operator.getitem(A, 1),
    "setitem": changed(list, lambda made, a, b: operator.setitem(made, 0, b)),
    "delitem": changed(list, lambda made, a, b: operator.delitem(made, 0)),
    "itemgetter": lambda A, a, b: operator.itemgetter(1, 0)(A),
    "length_hint": lambda A, a, b: operator.length_hint(A),
    "methodcaller": lambda A, a, b: operator.methodcaller("count", a)(A),
}

STATISTICS = {
    **{
        name: lambda A, a, b, function=getattr(statistics, name): function(A)
        for name in (
            *("mean", "fmean", "median", "median_low", "median_high", "mode", "multimode"),
            *("pstdev", "stdev", "variance", "pvariance", "geometric_mean", "harmonic_mean"),
            "quantiles",
        )
    },
    "correlation": lambda A, a, b: statistics.correlation(A, A[::-1]),
    "fmean of nothing": lambda A, a, b: statistics.fmean(A[:0]),
    "median of nothing": lambda A, a, b: statistics.median(A[:0]),
}

ORDER = {
    "bisect_left": lambda A, a, b: bisect.bisect_left(sorted(A), b),
    "bisect_right": lambda A, a, b: bisect.bisect(sorted(A), b),
    "bisect from": lambda A, a, b: bisect.bisect_left([1, 2, 3], a, 1, 2),
    "insort": changed(sorted, lambda made, a, b: bisect.insort(made, b)),
    "insort_left": changed(sorted, lambda made, a, b: bisect.insort_left(made, b)),
    "heapify": changed(list, lambda made, a, b: heapq.heapify(made)),
    "heappush": changed(sorted, lambda made, a, b: heapq.heappush(made, b)),
    "heappop": changed(sorted, lambda made, a, b: heapq.heappop(made)),
    "heappushpop": changed(sorted, lambda made, a, b: heapq.heappushpop(made, b)),
    "heapreplace": changed(sorted, lambda made, a, b: heapq.heapreplace(made, b)),
    "merge": lambda A, a, b: list(heapq.merge(sorted(A), [1, 2])),
    "nlargest": lambda A, a, b: heapq.nlargest(2, A),
    "nlargest of fewer than none": lambda A, a, b: heapq.nlargest(-1, A),
    "nsmallest": lambda A, a, b: heapq.nsmallest(2, A, key=lambda v: -v),
}

LISTS = {
    "append": changed(list, lambda made, a, b: made.append(b)),
    "extend": changed(list, lambda made, a, b: made.extend([a, b])),
    "extend by itself": changed(list, lambda made, a, b: made.extend(made)),
    "insert": changed(list, lambda made, a, b: made.insert(1, b)),
    "insert from behind": changed(list, lambda made, a, b: made.insert(-1, b)),
    "insert at a number": changed(list, lambda made, a, b: made.insert(int(b), b)),
    "remove": changed(list, lambda made, a, b: made.remove(b)),
    "remove what is not there": changed(list, lambda made, a, b: made.remove(99)),
    "pop": changed(list, lambda made, a, b: made.pop()),
    "pop the first": changed(list, lambda made, a, b: made.pop(0)),
    "pop at a number": changed(list, lambda made, a, b: made.pop(int(b) - 1)),
    "pop of nothing": lambda A, a, b: A[:0].pop(),
    "clear": changed(list, lambda made, a, b: made.clear()),
    "index": lambda A, a, b: A.index(b),
    "index from": lambda A, a, b: A.index(b, 1),
    "index of what is not there": lambda A, a, b: A.index(99),
    "count": lambda A, a, b: (A.count(b), A.count(99)),
    "sort": changed(list, lambda made, a, b: made.sort()),
    "sort by": changed(list, lambda made, a, b: made.sort(key=lambda v: -v)),
    "reverse": changed(list, lambda made, a, b: made.reverse()),
    "copy": lambda A, a, b: A.copy(),
    "slices": lambda A, a, b: (A[1:], A[:-1], A[::2], A[::-1]),
    "a slice is set": changed(list, lambda made, a, b: operator.setitem(made, slice(0, 1), [b, b])),
    "a slice is deleted": changed(list, lambda made, a, b: operator.delitem(made, slice(0, 2))),
    "plus": lambda A, a, b: (A + [a], A * 2, [a] * len(A)),
    "in": lambda A, a, b: (b in A, 99 in A, b not in A),
    "compared": lambda A, a, b: (A == A[:], [a] == A, A < [a, b], A >= A),
    "copied": lambda A, a, b: (copy.copy(A), copy.deepcopy(A)),
    "of tuples": lambda A, a, b: (tuple(A).count(b), tuple(A).index(b), tuple(A) + (a,)),
}

DEQUES = {
    "appendleft": changed(deque, lambda made, a, b: made.appendleft(b)),
    "deque.append": changed(deque, lambda made, a, b: made.append(b)),
    "extendleft": changed(deque, lambda made, a, b: made.extendleft([a, b])),
    "popleft": changed(deque, lambda made, a, b: made.popleft()),
    "deque.pop": changed(deque, lambda made, a, b: made.pop()),
    "rotate": changed(deque, lambda made, a, b: made.rotate(1)),
    "rotate back": changed(deque, lambda made, a, b: made.rotate(-2)),
    "deque.remove": changed(deque, lambda made, a, b: made.remove(b)),
    "deque.count": lambda A, a, b: deque(A).count(b),
    "deque.index": lambda A, a, b: deque(A).index(b),
    "deque.insert": changed(deque, lambda made, a, b: made.insert(1, b)),
    "deque.reverse": changed(deque, lambda made, a, b: made.reverse()),
    "maxlen": lambda A, a, b: deque(A, maxlen=2),
    "maxlen and appended": changed(
        lambda A: deque(A, maxlen=2), lambda made, a, b: made.appendleft(b)
    ),
    "deque in": lambda A, a, b: (b in deque(A), deque(A) == deque(A), deque(A)[0]),
}

DICTS = {
    "get": lambda A, a, b: (numbered(A).get(1), numbered(A).get(99, b)),
    "get of a number": lambda A, a, b: (counts(A).get(b), counts(A).get(99, a)),
    "setdefault": changed(numbered, lambda made, a, b: made.setdefault(0, b)),
    "setdefault of a number": changed(counts, lambda made, a, b: made.setdefault(b + 1, 7)),
    "dict.pop": changed(numbered, lambda made, a, b: made.pop(0)),
    "dict.pop of a number": changed(counts, lambda made, a, b: made.pop(b)),
    "dict.pop of nothing": changed(counts, lambda made, a, b: made.pop(99, a)),
    "dict.pop raises": changed(counts, lambda made, a, b: made.pop(99)),
    "popitem": changed(numbered, lambda made, a, b: made.popitem()),
    "update": changed(numbered, lambda made, a, b: made.update({0: b, 9: a})),
    "update by words": changed(numbered, lambda made, a, b: made.update(x=b)),
    "update by pairs": changed(counts, lambda made, a, b: made.update([(b, 9), (a, 8)])),
    "dict.copy": lambda A, a, b: counts(A).copy(),
    "dict.clear": changed(counts, lambda made, a, b: made.clear()),
    "keys": lambda A, a, b: (list(counts(A)), list(counts(A).keys()), b in counts(A).keys()),
    "values": lambda A, a, b: (list(counts(A).values()), sum(counts(A).values())),
    "items": lambda A, a, b: (list(counts(A).items()), sorted(numbered(A).items())),
    "dict in": lambda A, a, b: (b in counts(A), 99 in counts(A), len(counts(A))),
    "dict or": lambda A, a, b: (numbered(A) | {0: a}, counts(A) | {a: 1}),
    "dict is": lambda A, a, b: (counts(A) == counts(A), counts(A) == {}, counts(A) != {a: 1}),
    "fromkeys": lambda A, a, b: dict.fromkeys(A, 0),
    "dict()": lambda A, a, b: (dict(numbered(A)), dict(zip(A, A)), dict([(a, b)])),
    "reversed dict": lambda A, a, b: list(reversed(numbered(A))),
    "dict del": changed(counts, lambda made, a, b: operator.delitem(made, b)),
    "defaultdict": lambda A, a, b: [
        found := defaultdict(int),
        [operator.setitem(found, v, found[v] + 1) for v in A],
    ][0],
    "OrderedDict": lambda A, a, b: OrderedDict(zip(A, A)),
    "move_to_end": changed(
        lambda A: OrderedDict(counts(A)), lambda made, a, b: made.move_to_end(b)
    ),
    "move_to_begin": changed(
        lambda A: OrderedDict(counts(A)), lambda made, a, b: made.move_to_end(b, last=False)
    ),
    "OrderedDict.popitem": changed(
        lambda A: OrderedDict(counts(A)), lambda made, a, b: made.popitem(last=False)
    ),
    "ChainMap": lambda A, a, b: (ChainMap({"a": a}, {"b": b})["b"], len(ChainMap({1: a}, {2: b}))),
    "namedtuple": lambda A, a, b: collections.namedtuple("P", "x y")(a, b)._replace(x=b),
}

COUNTERS = {
    "Counter": lambda A, a, b: Counter(A),
    "most_common": lambda A, a, b: (Counter(A).most_common(1), Counter(A).most_common()),
    "elements": lambda A, a, b: list(Counter(A).elements()),
    "subtract": changed(Counter, lambda made, a, b: made.subtract([b, a])),
    "Counter.update": changed(Counter, lambda made, a, b: made.update([b, b])),
    "Counter.update of counts": changed(Counter, lambda made, a, b: made.update({b: 2})),
    "total": lambda A, a, b: Counter(A).total(),
    "Counter.copy": lambda A, a, b: Counter(A).copy(),
    "Counter plus": lambda A, a, b: (Counter(A) + Counter([b]), Counter(A) - Counter([b])),
    "Counter or": lambda A, a, b: (Counter(A) | Counter([b]), Counter(A) & Counter([b, b])),
    "Counter is": lambda A, a, b: (Counter(A) == Counter([b]), Counter([b]) <= Counter(A)),
    "Counter of one": lambda A, a, b: (Counter(A)[b], Counter(A)[99], -Counter(A), +Counter(A)),
    "Counter del": changed(Counter, lambda made, a, b: operator.delitem(made, b)),
}

SETS = {
    "add": changed(set, lambda made, a, b: made.add(b + 1)),
    "discard": changed(set, lambda made, a, b: made.discard(b)),
    "set.remove": changed(set, lambda made, a, b: made.remove(b)),
    "set.remove raises": changed(set, lambda made, a, b: made.remove(99)),
    "set.clear": changed(set, lambda made, a, b: made.clear()),
    "set.copy": lambda A, a, b: set(A).copy(),
    "union": lambda A, a, b: (set(A) | {a}, set(A).union([b], {9})),
    "intersection": lambda A, a, b: (set(A) & {a, 9}, set(A).intersection([b])),
    "difference": lambda A, a, b: (set(A) - {a}, set(A).difference([b], [a])),
    "symmetric_difference": lambda A, a, b: (set(A) ^ {a, 9}, set(A).symmetric_difference([b])),
    "set.update": changed(set, lambda made, a, b: made.update([b, 9], [7])),
    "intersection_update": changed(set, lambda made, a, b: made.intersection_update([b, 9])),
    "difference_update": changed(set, lambda made, a, b: made.difference_update([b, 9])),
    "symmetric_update": changed(set, lambda made, a, b: made.symmetric_difference_update([b, 9])),
    "issubset": lambda A, a, b: (set(A) <= {a, b}, {b}.issubset(A), set(A) < set(A)),
    "issuperset": lambda A, a, b: (set(A) >= {a, b}, set(A).issuperset([b]), set(A) > {b}),
    "isdisjoint": lambda A, a, b: (set(A).isdisjoint([9]), set(A).isdisjoint({b})),
    "set is": lambda A, a, b: (set(A) == {a, b}, set(A) != {1}, len(set(A)), b in set(A)),
    "frozenset": lambda A, a, b: frozenset([1, 2]) & frozenset([2]),
    "frozenset of all": lambda A, a, b: len(frozenset(A)),
    "sorted set": lambda A, a, b: (sorted(set(A)), min(set(A)), max(set(A)), sum(set(A))),
    "set.pop": changed(set, lambda made, a, b: (made.pop(), made.clear())[1]),
}

STRINGS = {
    "join": lambda A, a, b: ",".join(["x"] * len(A)),
    "join numbers": lambda A, a, b: ",".join(str(int(v)) for v in A),
    "format": lambda A, a, b: f"{a:.2f} {int(b):03d} {b!r}",
    "format method": lambda A, a, b: "{} {:.1f}".format(int(a), b),  # noqa: UP032
    "percent": lambda A, a, b: "%d %.2f" % (int(a), b),  # noqa: UP031
    "methods": lambda A, a, b: ("a-b".split("-"), "ab".upper(), "ab".find("b"), "x" * len(A)),
    "text of a number": lambda A, a, b: str(int(a)).zfill(3),
    "in a text": lambda A, a, b: "1" in str(int(a)),
    "bin": lambda A, a, b: (bin(int(a)), bin(int(b) - 5)[2:], bin(int(a) * 7).count("1")),
    "hex and oct": lambda A, a, b: (hex(int(a) * 29), oct(int(b) - 9)),
    "bin of a float": lambda A, a, b: bin(a + 0.5),
    "int of a text": lambda A, a, b: (int(str(int(a)) + "0"), int(f"{int(b):b}", 2)),
}

GROUPS = {
    "itertools": ITERTOOLS,
    "functools": FUNCTOOLS,
    "builtins": BUILTINS,
    "math": MATH,
    "operator": OPERATOR,
    "statistics": STATISTICS,
    "order": ORDER,
    "lists": LISTS,
    "deques": DEQUES,
    "dicts": DICTS,
    "counters": COUNTERS,
    "sets": SETS,
    "strings": STRINGS,
}
