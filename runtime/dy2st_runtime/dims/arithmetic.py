"""+, -, *, //, %, min, max and broadcast on sizes, each into canonical form."""

from __future__ import annotations

from functools import lru_cache
from math import gcd
from typing import Any

from dy2st_runtime.dims.expression import (
    Atom,
    Dim,
    Size,
    Term,
    _operations,
    make_atom,
    make_dim,
    of_atom,
)
from dy2st_runtime.errors import ShapeError

_memo = lru_cache(maxsize=100_000)
Terms = dict[tuple[Atom, ...], int]


def is_size(value: object) -> bool:
    """Whether a value is an int or a Dim."""
    return isinstance(value, Dim) or (hasattr(value, "__index__") and not isinstance(value, Dim))


def _split(size: Size) -> tuple[int, tuple[Term, ...]]:
    return (size.constant, size.terms) if isinstance(size, Dim) else (size, ())


def _built(constant: int, terms: Terms) -> Size:
    return make_dim(constant, [(atoms, factor) for atoms, factor in terms.items() if factor])


@_memo
def add(left: Size, right: Size) -> Size:
    """left + right."""
    a, first = _split(left)
    b, second = _split(right)
    terms: Terms = dict(first)
    for atoms, factor in second:
        terms[atoms] = terms.get(atoms, 0) + factor
    return _built(a + b, terms)


def subtract(left: Size, right: Size) -> Size:
    """left - right."""
    return add(left, multiply(right, -1))


@_memo
def multiply(left: Size, right: Size) -> Size:
    """left * right, multiplied out."""
    a, first = _split(left)
    b, second = _split(right)
    terms: Terms = {}
    for atoms, factor in (*first, ((), a)):
        for others, other in (*second, ((), b)):
            product = tuple(sorted((*atoms, *others), key=lambda atom: atom.text))
            terms[product] = terms.get(product, 0) + factor * other
    constant = terms.pop((), 0)
    return _built(constant, terms)


@_memo
def floordiv(above: Size, below: Size) -> Size:
    """above // below."""
    if isinstance(below, int):
        if below == 0:
            raise ZeroDivisionError(f"the size {above} is divided by zero")
        if below < 0:
            above, below = multiply(above, -1), -below
        return _divided_by_number(above, below)
    if isinstance(above, int) and above == 0:
        return 0
    exact = _exact_quotient(above, below)
    return of_atom(make_atom("floordiv", (above, below))) if exact is None else exact


def _divided_by_number(above: Size, below: int) -> Size:
    """Whole multiples come out, the rest is shortened; what stays is one atom."""
    if isinstance(above, int):
        return above // below
    whole: Terms = {atoms: factor // below for atoms, factor in above.terms}
    rest: Terms = {atoms: factor % below for atoms, factor in above.terms if factor % below}
    quotient = _built(above.constant // below, whole)
    if not rest:
        return quotient
    remainder = above.constant % below
    common = gcd(below, *rest.values())
    inner = _built(remainder // common, {a: f // common for a, f in rest.items()})
    below //= common
    if below == 1:
        return add(quotient, inner)
    return add(quotient, _fraction(inner, below))


def _fraction(inner: Size, below: int) -> Size:
    """inner // below without whole multiples: (x // a + k) // b = (x + a*k) // (a*b)."""
    assert isinstance(inner, Dim)
    if len(inner.terms) == 1:
        atoms, factor = inner.terms[0]
        if factor == 1 and len(atoms) == 1 and atoms[0].kind == "floordiv":
            x, a = atoms[0].args
            if isinstance(a, int):
                return floordiv(add(x, inner.constant * a), a * below)
    low, high = bounds(inner)
    if low is not None and high is not None and low // below == high // below:
        return low // below
    return of_atom(make_atom("floordiv", (inner, below)))


def _exact_quotient(above: Size, below: Dim) -> Size | None:
    """The polynomial q with q * below = above, None if there is none."""
    lead_atoms, lead = below.terms[0]
    quotient: Size = 0
    rest = above
    for _ in range(16):
        if isinstance(rest, int):
            return quotient if rest == 0 else None
        factor = _term_quotient(rest.terms[0], lead_atoms, lead)
        if factor is None:
            return None
        quotient = add(quotient, factor)
        rest = subtract(rest, multiply(factor, below))
    return None


def _term_quotient(term: Term, atoms: tuple[Atom, ...], factor: int) -> Size | None:
    left = list(term[0])
    for atom in atoms:
        if atom not in left:
            return None
        left.remove(atom)
    if term[1] % factor:
        return None
    value = term[1] // factor
    return make_dim(0, [(tuple(left), value)]) if left else value


def modulo(left: Size, right: Size) -> Size:
    """left % right, as left - right * (left // right)."""
    return subtract(left, multiply(right, floordiv(left, right)))


def ceil_divide(above: Size, below: Size) -> Size:
    """above / below, rounded up."""
    return multiply(floordiv(multiply(above, -1), below), -1)


def product(sizes: Any) -> Size:
    """The product of all sizes, 1 if there are none.

    >>> product([2, 3])
    6
    """
    result: Size = 1
    for size in sizes:
        result = multiply(result, size)
    return result


@_memo
def minimum(left: Size, right: Size) -> Size:
    """The smaller of two sizes."""
    return _extreme("min", left, right)


@_memo
def maximum(left: Size, right: Size) -> Size:
    """The larger of two sizes."""
    return _extreme("max", left, right)


def _extreme(kind: str, left: Size, right: Size) -> Size:
    smaller = less_equal(left, right)
    if smaller is None and less_equal(right, left):
        smaller = False
    if smaller is not None:
        return left if smaller == (kind == "min") else right
    members: list[Size] = []
    for size in (left, right):
        known = _members(kind, size)
        members += [m for m in known if not any(m is other for other in members)]
    kept = [m for i, m in enumerate(members) if not _is_beaten(kind, m, members, i)]
    if len(kept) == 1:
        return kept[0]
    return of_atom(make_atom(kind, tuple(sorted(kept, key=str))))


def _members(kind: str, size: Size) -> tuple[Size, ...]:
    """The operands of an atom of this kind, or the size itself."""
    if isinstance(size, Dim) and not size.constant and len(size.terms) == 1:
        atoms, factor = size.terms[0]
        if factor == 1 and len(atoms) == 1 and atoms[0].kind == kind:
            return atoms[0].args
    return (size,)


def _is_beaten(kind: str, member: Size, members: list[Size], place: int) -> bool:
    for i, other in enumerate(members):
        if i == place:
            continue
        beaten = less_equal(other, member) if kind == "min" else less_equal(member, other)
        if beaten and (i < place or not less_equal(member, other) or not less_equal(other, member)):
            return True
    return False


def broadcast_sizes(left: int, right: int) -> int:
    """What two known sizes broadcast to; ShapeError if they do not fit."""
    if left == right or right == 1:
        return left
    if left == 1:
        return right
    raise ShapeError(f"the sizes {left} and {right} do not broadcast")


# -- bounds and order -------------------------------------------------------------------------

Bound = int | None
Interval = tuple[Bound, Bound]


def bounds(size: Size) -> Interval:
    """A least and a largest value by interval arithmetic; None where there is no limit.

    >>> from dy2st_runtime.dims.expression import symbol
    >>> bounds(2 * symbol("n", 1, 8) + 1)
    (3, 17)
    """
    if not isinstance(size, Dim):
        return size, size
    low: Bound = size.constant
    high: Bound = size.constant
    for atoms, factor in size.terms:
        span: Interval = (1, 1)
        for atom in atoms:
            span = _times(span, _atom_bounds(atom))
        span = _times(span, (factor, factor))
        low = None if low is None or span[0] is None else low + span[0]
        high = None if high is None or span[1] is None else high + span[1]
    return low, high


def _times(left: Interval, right: Interval) -> Interval:
    if left[0] is not None and left[0] >= 0 and right[0] is not None and right[0] >= 0:
        high = None if left[1] is None or right[1] is None else left[1] * right[1]
        return left[0] * right[0], high
    if left == (1, 1):
        return right
    if right[0] is not None and right[0] == right[1] and right[0] < 0:
        factor = right[0]
        low = None if left[1] is None else left[1] * factor
        high = None if left[0] is None else left[0] * factor
        return low, high
    if None in left or None in right:
        return None, None
    corners = [a * b for a in left for b in right]  # type: ignore[operator]
    return min(corners), max(corners)


@_memo
def _atom_bounds(atom: Atom) -> Interval:
    if atom.kind == "symbol":
        return atom.minimum, atom.maximum
    spans = [bounds(argument) for argument in atom.args]
    if atom.kind == "floordiv":
        return _fraction_bounds(*spans)
    lows, highs = [s[0] for s in spans], [s[1] for s in spans]
    if atom.kind == "min":
        return _least(lows, None), _least([h for h in highs if h is not None], None)
    if atom.kind == "max":
        known = [low for low in lows if low is not None]
        return (max(known) if known else None), _most(highs)
    return _least(lows, None), _most(highs)  # broadcast gives one of its operands


def _least(values: list[Bound], default: Bound) -> Bound:
    if not values or any(value is None for value in values):
        return default
    return min(value for value in values if value is not None)


def _most(values: list[Bound]) -> Bound:
    if any(value is None for value in values):
        return None
    return max(value for value in values if value is not None)


def _fraction_bounds(above: Interval, below: Interval) -> Interval:
    if below[0] is not None and below[0] == below[1] and below[0] > 0:
        step = below[0]
        low = None if above[0] is None else above[0] // step
        return low, None if above[1] is None else above[1] // step
    if above[0] is not None and above[0] >= 0 and below[0] is not None and below[0] >= 0:
        return 0, above[1]  # a divisor of 0 is an error at run time
    return None, None


@_memo
def less_equal(left: Size, right: Size) -> bool | None:
    """Whether left <= right for all values of the symbols: True, False, or None for unknown."""
    difference = subtract(right, left)
    low, high = bounds(difference)
    if low is not None and low >= 0:
        return True
    if high is not None and high < 0:
        return False
    if _never_negative(difference, 3):
        return True
    return False if _never_negative(subtract(multiply(difference, -1), 1), 3) else None


def _never_negative(size: Size, depth: int) -> bool:
    """Whether size >= 0 is proved: with symbols counted from their least value, or by the
    definition of an atom."""
    if isinstance(size, int):
        return size >= 0
    low = bounds(size)[0]
    if (low is not None and low >= 0) or _shifted_is_positive(size):
        return True
    return depth > 0 and any(
        _by_definition(size, atoms[0], factor, depth)
        for atoms, factor in size.terms
        if len(atoms) == 1 and atoms[0].kind != "symbol"
    )


def _shifted_is_positive(size: Dim) -> bool:
    """Put least + x for every atom: without negative coefficients the value is not negative."""
    total: Terms = {(): size.constant}
    for atoms, factor in size.terms:
        parts: Terms = {(): factor}
        for atom in atoms:
            least = _atom_bounds(atom)[0]
            if least is None:
                return False
            grown: Terms = {}
            for known, value in parts.items():
                more = tuple(sorted((*known, atom), key=lambda a: a.text))
                grown[more] = grown.get(more, 0) + value
                grown[known] = grown.get(known, 0) + value * least
            parts = grown
        for known, value in parts.items():
            total[known] = total.get(known, 0) + value
    return all(value >= 0 for value in total.values())


def _by_definition(size: Dim, atom: Atom, factor: int, depth: int) -> bool:
    rest = subtract(size, multiply(of_atom(atom), factor))
    if atom.kind == "floordiv":
        above, below = atom.args
        if not isinstance(below, int):
            return False
        # below * (above // below) lies between above - below + 1 and above
        edge = subtract(above, below - 1) if factor > 0 else above
        return _never_negative(add(multiply(rest, below), multiply(edge, factor)), depth - 1)
    proofs = (
        _never_negative(add(rest, multiply(argument, factor)), depth - 1) for argument in atom.args
    )
    one_is_enough = (atom.kind == "max") == (factor > 0) and atom.kind != "broadcast"
    return any(proofs) if one_is_enough else all(proofs)


def less(left: Size, right: Size) -> bool | None:
    """Whether left < right: True, False, or None for unknown."""
    return less_equal(add(left, 1), right)


def equal(left: Size, right: Size) -> bool | None:
    """Whether left == right: True, False, or None for unknown."""
    if left is right:
        return True
    difference = subtract(left, right)
    if isinstance(difference, int):
        return difference == 0
    common = gcd(*(factor for _, factor in difference.terms))
    if difference.constant % common:
        return False
    if less(left, right) or less(right, left):
        return False
    return None


def divides(divisor: Size, size: Size) -> bool | None:
    """Whether size is a multiple of divisor: True, False, or None for unknown."""
    return equal(modulo(size, divisor), 0)


def same_shape(left: Any, right: Any) -> bool | None:
    """Whether two shapes are equal: True, False, or None for unknown."""
    if len(left) != len(right):
        return False
    answers = [a is b or equal(a, b) for a, b in zip(left, right, strict=True)]
    if any(answer is False for answer in answers):
        return False
    return True if all(answers) else None


def _checked(function: Any) -> Any:
    """The operation for operands that are sizes, NotImplemented for others."""

    def operation(left: Any, right: Any) -> Any:
        if not is_size(left) or not is_size(right):
            return NotImplemented
        left = left if isinstance(left, Dim) else int(left)
        return function(left, right if isinstance(right, Dim) else int(right))

    return operation


for _name, _function in (
    ("add", add),
    ("subtract", subtract),
    ("multiply", multiply),
    ("floordiv", floordiv),
    ("modulo", modulo),
):
    _operations[_name] = _checked(_function)
