"""Statements about sizes as models make them: each is true, and dims proves it.

`facts |- statement`, over a, b, c, h, n, m >= 1, z >= 0 and 1 <= k <= 128; bc is broadcast.
"""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import product

import pytest

from dy2st_runtime.dims import (
    Contradiction,
    Facts,
    broadcast,
    equal,
    maximum,
    minimum,
    symbol,
    using,
)

SYMBOLS = {name: symbol(name, 1) for name in "abchmn"}
SYMBOLS |= {"z": symbol("z"), "k": symbol("k", 1, 128)}
SCOPE = {**SYMBOLS, "min": minimum, "max": maximum, "bc": broadcast}
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 16, 17, 32)

STATEMENTS = """
a + b == b + a
(a + b)*c == a*c + b*c
2*a + 1 != 2*b
a*b == b*a
(a - 1)//2 + 1 == (a + 1)//2
a//2 + (a + 1)//2 == a
(a//2)//3 == a//6
((a + 1)//2 + 1)//2 == (a + 3)//4
-(-a//4) == (a + 3)//4
a % 4 <= 3
a % 4 >= 0
4*(a//4) <= a
4*(a//4) + a % 4 == a
(a + 7)//8*8 >= a
(a + 7)//8*8 - a <= 7
(4*a + 3)//4 == a
(4*a + 2)//2 == 2*a + 1
a*b//b == a
(a*b + b)//b == a + 1
a*b >= a
a*b*c >= a*b
a*b + 1 >= a + b
(a + b)*(a - b) == a*a - b*b
a*a >= a
min(a, b) <= a
max(a, b) >= b
min(a, b) + max(a, b) == a + b
min(a, b) <= max(a, b)
max(a, b) <= a + b
min(a, 5) - min(a, 2) <= 3
min(a, 5) - min(a, 2) >= 0
min(a + c, b + c) == min(a, b) + c
max(2*a, 2*b) == 2*max(a, b)
min(a, max(a, b)) == a
max(a, min(a, b)) == a
min(min(a, b), c) == min(a, min(b, c))
max(1, z) >= 2 |- z >= 2
min(a, 8) <= 3 |- a <= 3
max(a - 3, 0) >= 0
a - 1 - max(a - 3, 0) <= 2
a - 1 - max(a - 3, 0) >= 0
min(k, 256) == k
k <= 128
2*k <= 300
(k + 127)//128 == 1
k//129 == 0
a//4 + b//4 <= (a + b)//4
(a + b)//2 <= a + b
(a + b)//4 <= a//4 + b//4 + 1
a//2 <= a
a//3 <= a//2
(a + 1)//2 <= a
(a + 1)//2 >= 1
a//b*b <= a
a - a//b*b <= b - 1
b > a |- a//b == 0
b > a |- a % b == a
a == b |- a*b == b*b
a == b |- max(a, b) == a
a >= b |- a - b >= 0
a >= b; b >= c |- a >= c
a >= b |- max(a, b) == a
a >= b |- min(a, b) == b
a >= b |- a*c >= b*c
a > b; b > c |- a >= c + 2
a >= 2*b |- a >= b + 1
a % 2 == 0 |- 2*(a//2) == a
a % 16 == 0 |- a % 4 == 0
a % 16 == 0 |- (a//2)//2*4 == a
a % 16 == 0 |- ((a//2 + 1)//2 + 1)//2 == a//8
a % 2 == 0 |- (a + 1)//2 == a//2
a % 4 == 0; b % 4 == 0 |- (a + b) % 4 == 0
a % 4 == 0 |- a*b % 4 == 0
a % 4 == 0 |- a*b//4*4 == a*b
a*b % 4 == 0 |- 4*(a*b//4) == a*b
a*b % 4 == 0 |- a*b//(a*b//4) == 4
(a + b) % 2 == 0; (b + c) % 2 == 0 |- (a + c) % 2 == 0
a % 4 == 0 |- a != 5
a % 4 == 0 |- a >= 4
a % 8 == 0; a <= 15 |- a == 8
2*a == 3*b |- b % 2 == 0
2*a == 3*b |- a % 3 == 0
2*a == 2*b |- a == b
a == 2*b |- a % 2 == 0
a == 2*b; b == 2*c |- a == 4*c
a + b == c |- c - a == b
a + b == c |- c > a
a*b == c |- c % a == 0
a*b == c |- c//a == b
a*b == c |- c >= b
a//2 == b |- a >= 2*b
a//2 == b |- a <= 2*b + 1
a//2 == 5 |- a >= 10
a//2 == 5 |- a <= 11
a != 1 |- a >= 2
a != 1; a != 2 |- a >= 3
a <= 4; a >= 4 |- a == 4
a + 3 - 3 == a
(h + 2*1 - 3)//2 + 1 == (h + 1)//2
(h + 2*3 - 7)//2 + 1 == (h + 1)//2
(h - 1)*2 - 2*1 + 3 + 1 == 2*h
((h + 2*1 - 4)//2)*2 - 2 + 4 <= h + 2
h % 32 == 0 |- (((((h+1)//2+1)//2+1)//2+1)//2+1)//2 == h//32
h % 2 == 0 |- ((h - 2)//2 + 1 - 1)*2 + 2 == h
h >= 2 |- ((h - 2)//2 + 1) == h//2
h >= 4 |- h - 3 >= 1
a*b*64//64 == a*b
a*b*c//(a*b) == c
a*b*64//(a*b) == 64
a*n*64//(n*64) == a
(a + b)*c//c == a + b
n - n//3 - n//3 == (n + 2)//3 + (n + 1)//3 - n//3
n//3 + (n + 1)//3 + (n + 2)//3 == n
(n + 2)//3*3 >= n
n - (n + 2)//3*2 <= (n + 2)//3
n//4*3 <= n
(n + a - 1)//a*a >= n
(n + a - 1)//a >= 1
n - 1 - max(n - 5, -1) <= 4
z >= 0
z*a >= 0
z*a >= z
max(z, 1) >= 1
min(z, 1) <= 1
z + 1 > 0
z//2 <= z
max(z - 2, 0) <= z
a % b < b
a % b >= 0
bc(a, b) >= min(a, b)
bc(a, b) <= max(a, b)
bc(a, a) == a
bc(a, 1) == a
a == b |- bc(a, b) == a
a > 1; b > 1; a == b |- bc(a, b) == b
b == 1 |- bc(a, b) == a
a >= b |- bc(a, b) == a
(a + 3)//4*4 % 4 == 0
(2*a + 2*b) % 2 == 0
(6*a + 3) % 3 == 0
(4*a + 1) % 2 == 1
a*(a + 1) % 2 == 0
a*(a - 1)//2*2 == a*(a - 1)
(a*a - a) % 2 == 0
a*a + b*b >= 2*a*b
a < b |- a + 1 <= b
a < b |- 2*a < 2*b
a < b |- a != b
a <= b; c <= n |- a + c <= b + n
a <= b; c <= n |- a*c <= b*n
a <= 8 |- a*b <= 8*b
a//b == c |- c*b <= a
n >= m |- max(n - m, 0) == n - m
n <= m |- max(n - m, 0) == 0
n <= m |- min(n, m) == n
m % 2 == 0; n == m//2 |- 2*n == m
n*m % 2 == 0 |- n*m//2*2 == n*m
(a//2)*2 == a |- a % 2 == 0
a//2 + a//2 == a |- a % 2 == 0
a//b <= a
a % (b + 1) <= b
4*a*b <= (a + b)*(a + b)
a*b >= a + b - 1
(a//b)//c == a//(b*c)
(2*a - 1)//a == 1
min(a, b)*max(a, b) == a*b
a % 6 % 3 == a % 3
a*b == c*h |- c*h//b == a
a*b == c*h |- a*b//h == c
a % b == 0 |- a*c % b == 0
a % b == 0 |- a >= b
a % 6 == 2 |- a % 3 == 2
a % 6 == 2 |- a != 7
max(a, b) <= 8 |- a + b <= 16
min(a, b) >= 4 |- a >= 4
a*b <= 16 |- a <= 16
a - b >= c |- a > b
a//4 == b; a % 4 == 0 |- a == 4*b
16*(h//16) == h |- h % 8 == 0
4*(a*b//4) == a*b |- a*b % 2 == 0
""".strip().splitlines()

# True, and not proved.
OPEN: set[str] = set()


class DoNotFit(Exception):
    """The sizes cannot be broadcast."""


def broadcast_numbers(left: int, right: int) -> int:
    if left == right or right == 1:
        return left
    if left == 1:
        return right
    raise DoNotFit


def parts(statement: str) -> tuple[list[str], str]:
    facts, _, claim = statement.rpartition("|-")
    return [fact.strip() for fact in facts.split(";") if fact.strip()], claim.strip()


def answer(statement: str) -> object:
    facts, claim = parts(statement)
    known = Facts()
    with using(known):
        for fact in facts:
            condition = eval(fact, SCOPE)
            if condition is not True:
                known.assume(condition)
        return eval(claim, SCOPE)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_statement_is_true(statement):
    facts, claim = parts(statement)
    names = [name for name in SYMBOLS if re.search(rf"\b{name}\b", statement)]
    sizes = SIZES if len(names) < 4 else SIZES[:5]
    checked = 0
    for numbers in product(*((0, *sizes) if name == "z" else sizes for name in names)):
        scope = {**dict(zip(names, numbers, strict=True)), "bc": broadcast_numbers}
        try:
            if all(eval(fact, scope) for fact in facts):
                assert eval(claim, scope), numbers
                checked += 1
        except DoNotFit:
            continue
    assert checked


@pytest.mark.parametrize("statement", [s for s in STATEMENTS if s not in OPEN])
def test_the_statement_is_proved(statement):
    assert answer(statement) is True


def test_what_is_not_proved_stays_open():
    assert len(STATEMENTS) >= 150 and len(OPEN) / len(STATEMENTS) < 0.05
    for statement in OPEN:
        assert answer(statement) is not False


def test_what_facts_make_hard_to_see_is_seen_without_them():
    y = symbol("y")
    least = minimum(2 * minimum(1, y) + 1, maximum(1, 2 * y))
    size = 1 - minimum(least, minimum(maximum(1, 2 * y), least - 2 * y + 1))
    facts = Facts()
    facts.assume(3 - (y + 2) % 3 <= 2)
    assert equal(size, 2 * y - minimum(2 * y, 3)) is True
    with using(facts):
        assert equal(size, 2 * y - minimum(2 * y, 3)) is True


def test_facts_that_make_a_divisor_0_contradict_each_other_or_say_nothing():
    n, m = symbol("n"), symbol("m")
    facts = Facts()
    facts.assume(n // m * 2 - n // (2 * m) + n >= 5)
    with suppress(Contradiction), using(facts):
        facts.assume(m <= 0)
        assert equal(n, n) is True


@pytest.mark.parametrize("statement", [s for s in STATEMENTS if "|-" in s])
def test_the_order_of_facts_does_not_matter(statement):
    facts, claim = parts(statement)
    assert answer(" ; ".join(facts[::-1]) + " |- " + claim) is True


@pytest.mark.parametrize("statement", STATEMENTS)
def test_one_more_fact_never_takes_a_proof_away(statement):
    if statement in OPEN:
        return
    facts, claim = parts(statement)
    for more in ("h % 4 == 0", "m >= n", "h == 2*m", "n != 3"):
        assert answer(" ; ".join([more, *facts]) + " |- " + claim) is True, more
        assert answer(" ; ".join([*facts, more]) + " |- " + claim) is True, more
