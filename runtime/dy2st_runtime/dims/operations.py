"""//, %, min and max on sizes, each into canonical form, whatever is known beside the ranges."""

from __future__ import annotations

from math import gcd

from dy2st_runtime.dims.expression import (
    OPERATIONS,
    Dim,
    Monomial,
    Size,
    as_size,
    checked,
    make_atom,
    of_atom,
    order_of,
    the_atom,
)
from dy2st_runtime.dims.intervals import bounds
from dy2st_runtime.dims.order import never_negative, sign
from dy2st_runtime.dims.polynomial import (
    Terms,
    add,
    built,
    common_factor,
    divided_exactly,
    memo,
    monomial_quotient,
    multiply,
    of_term,
    split,
    subtract,
)
from dy2st_runtime.errors import ShapeError


@memo
def floordiv(above: Size, below: Size) -> Size:
    """above // below; ZeroDivisionError if `below` is the number 0."""
    if isinstance(below, Dim):
        if isinstance(above, int) and above == 0:
            return 0
        above, below_ = _shortened(above, below)
        if isinstance(below_, int):
            return floordiv(above, below_)
        quotient, rest = _long_division(above, below_)
        # rest // below as an atom, or the number that it is for all values.
        if isinstance(rest, int) and rest == 0:
            small_quotient: Size = 0
        elif never_negative(rest) and never_negative(subtract(subtract(below_, rest), 1)):
            small_quotient = 0
        else:
            atom = the_atom(rest)
            if atom is not None and atom.kind == "floordiv" and never_negative(below_):
                small_quotient = floordiv(atom.args[0], multiply(atom.args[1], below_))
            else:
                small_quotient = of_atom(make_atom("floordiv", (rest, below_)))
        return add(quotient, small_quotient)
    if isinstance(above, int) or below == 0:
        return (above if isinstance(above, int) else 1) // below  # Python's own error
    # Whole multiples come out, the rest is shortened; what stays is one atom.
    dividend, divisor = (above, below) if below > 0 else (multiply(above, -1), -below)
    constant, terms = split(dividend)
    whole: Terms = {atoms: factor // divisor for atoms, factor in terms}
    left: Terms = {atoms: factor % divisor for atoms, factor in terms if factor % divisor}
    quotient = built(constant // divisor, whole)
    if not left:
        return quotient
    common = gcd(divisor, *left.values())
    inner = built(constant % divisor // common, {a: f // common for a, f in left.items()})
    return add(quotient, _fraction(inner, divisor // common))


def _fraction(inner: Size, below: int) -> Size:
    """inner // below, where nothing can be taken out."""
    if below == 1 or isinstance(inner, int):
        return inner if below == 1 else inner // below
    merged = _merged(inner, below)
    if merged is not None:
        return merged
    low, high = bounds(inner)
    if low is not None and high is not None and low // below == high // below:
        return low // below
    if 2 * inner.terms[0][1] > below:
        # 3*n // 4 as n - (n + 3)//4: so -(-n // 4) and (n + 3)//4 are one form.
        whole = built(0, {atoms: 1 for atoms, _ in inner.terms})
        rest = built(below - 1 - inner.constant, {a: below - f for a, f in inner.terms})
        return subtract(whole, floordiv(rest, below))
    return of_atom(make_atom("floordiv", (inner, below)))


def _merged(inner: Dim, below: int) -> Size | None:
    """(x // a + k) // b = (x + a*k) // (a*b), None if the form is another."""
    if len(inner.terms) > 1:
        return None
    atoms, factor = inner.terms[0]
    if factor != 1 or len(atoms) > 1 or atoms[0].kind != "floordiv":
        return None
    x, a = atoms[0].args
    if isinstance(a, int):
        return floordiv(add(x, inner.constant * a), a * below)
    return floordiv(add(x, multiply(inner.constant, a)), multiply(a, below))


def _shortened(above: Size, below: Dim) -> tuple[Size, Size]:
    """Both without the factors that all their terms share: a*b // (a*c) = b // c."""
    if isinstance(above, int):
        number = gcd(above, below.constant, common_factor(below))
        return above // number, divided_exactly(below, number)
    number = gcd(above.constant, common_factor(above), below.constant, common_factor(below))
    above_, below_ = divided_exactly(above, number), divided_exactly(below, number)
    if above.constant or below.constant:
        return above_, below_
    # What all terms share.
    places = [atoms for atoms, _ in (*above.terms, *below.terms)]
    common = list(places[0])
    for atoms in places[1:]:
        rest = list(atoms)
        kept = []
        for atom in common:
            if atom in rest:
                rest.remove(atom)
                kept.append(atom)
        common = kept
    shared = tuple(common)
    return (_without(above_, shared), _without(below_, shared)) if shared else (above_, below_)


def _without(size: Size, shared: Monomial) -> Size:
    terms: Terms = {}
    for atoms, factor in split(size)[1]:
        place = monomial_quotient(atoms, shared)
        assert place is not None
        terms[place] = factor
    return built(terms.pop((), 0), terms)


def _long_division(above: Size, below: Dim) -> tuple[Size, Size]:
    """Polynomials q and r with above = q*below + r; the lead of below divides no term of r."""
    lead_atoms, lead = below.terms[0]
    quotient: Size = 0
    rest, kept = above, 0  # what is still to divide, and what stays
    for _ in range(16):
        found = None
        for atoms, factor in split(rest)[1]:
            place = monomial_quotient(atoms, lead_atoms)
            if place is not None and factor % lead == 0:
                found = of_term(place, factor // lead)
                break
        if found is None:
            return quotient, add(rest, kept)
        quotient = add(quotient, found)
        rest = subtract(rest, multiply(found, below))
    return 0, above  # no end in sight


def modulo(left: Size, right: Size) -> Size:
    """left % right, as left - right * (left // right)."""
    return subtract(left, multiply(right, floordiv(left, right)))


def ceil_divide(above: Size, below: Size) -> Size:
    """above / below, rounded up.

    >>> dy2st.dims.ceil_divide(dy2st.dims.symbol("n"), 4), dy2st.dims.ceil_divide(9, 4)
    ((n + 3)//4, 3)
    """
    if isinstance(below, int) and below < 0:
        above, below = multiply(above, -1), -below
    if never_negative(below):
        return floordiv(add(above, subtract(below, 1)), below)
    return multiply(floordiv(multiply(above, -1), below), -1)


def minimum(left: Size, right: Size) -> Size:
    """The smaller of two sizes.

    >>> n = dy2st.dims.symbol("n")
    >>> dy2st.dims.minimum(n + 2, n), dy2st.dims.minimum(n, 64)
    (n, min(64, n))
    """
    return _extreme_of_two("min", as_size(left), as_size(right))


def maximum(left: Size, right: Size) -> Size:
    """The larger of two sizes.

    >>> n = dy2st.dims.symbol("n")
    >>> dy2st.dims.maximum(n + 2, n), dy2st.dims.maximum(n, 64)
    (n + 2, max(64, n))
    """
    return _extreme_of_two("max", as_size(left), as_size(right))


@memo
def _extreme_of_two(kind: str, left: Size, right: Size) -> Size:
    return checked(extreme(kind, (left, right)))


def difference(left: Size, right: Size) -> Size:
    """left - right; what a maximum is taken from becomes a minimum.

    >>> n = dy2st.dims.symbol("n")
    >>> dy2st.dims.difference(n, dy2st.dims.maximum(n - 2, 0))
    min(2, n)
    """
    if isinstance(right, Dim):
        atom = the_atom(subtract(right, right.constant))
        if atom is not None and atom.kind == "max":
            rest = subtract(left, right.constant)
            return extreme("min", tuple([subtract(rest, argument) for argument in atom.args]))
    return subtract(left, right)


def extreme(kind: str, sizes: tuple[Size, ...]) -> Size:
    """The "min" or "max" of sizes: what never decides is dropped, what all share comes out."""
    # The operands, nested ones too, without those that another one always beats.
    members: list[Size] = []
    for size in sizes:
        alone = split(size)[0]
        inner = the_atom(subtract(size, alone))
        if inner is None or inner.kind != kind:
            members = _with_member(kind, members, size)
            continue
        for member in inner.args:
            members = _with_member(kind, members, add(member, alone))
    if len(members) == 1:
        return members[0]
    # The terms that stand in every operand, and the least constant of those that are no number.
    dims = [size for size in members if isinstance(size, Dim)]
    least = min(size.constant for size in dims)
    if len(dims) < len(members):
        shared: Size = least
    else:
        first, *others = [dict(size.terms) for size in dims]
        common = {a: f for a, f in first.items() if all(other.get(a) == f for other in others)}
        shared = built(least, common)
    if not isinstance(shared, int) or shared:
        return add(shared, extreme(kind, tuple(subtract(size, shared) for size in members)))
    number = gcd(*(gcd(*split_factors(size)) for size in members))
    if number > 1:
        parts = [size // number for size in members]
        return multiply(extreme(kind, tuple(parts)), number)
    return of_atom(make_atom(kind, tuple(sorted(members, key=order_of))))


def split_factors(size: Size) -> list[int]:
    """The constant and all coefficients."""
    constant, terms = split(size)
    return [constant, *(factor for _, factor in terms)]


def _with_member(kind: str, members: list[Size], new: Size) -> list[Size]:
    """The operands with one more: those that it always beats go, or it goes itself."""
    wins = 1 if kind == "max" else -1
    kept: list[Size] = []
    for other in members:
        order = sign(subtract(new, other)) if new is not other else -wins
        if order == -wins:
            return members
        if order is None:
            kept.append(other)
    return [*kept, new]


def broadcast_sizes(left: int, *others: int) -> int:
    """What known sizes broadcast to; ShapeError if they do not fit.

    >>> dy2st.dims.broadcast_sizes(1, 4), dy2st.dims.broadcast_sizes(4, 4)
    (4, 4)
    """
    for right in others:
        if left != right and 1 not in (left, right):
            raise ShapeError(f"the sizes {left} and {right} do not broadcast")
        left = right if left == 1 else left
    return left


def broadcast_forms(sizes: tuple[Size, ...]) -> Size:
    """What sizes that are known to fit broadcast to: an atom, if it is not one of them.

    A number above 1, or 0, is what the others become. Raises ShapeError if two numbers do not fit.
    """
    members = broadcast_members(sizes)
    numbers = [size for size in members if isinstance(size, int)]
    number = broadcast_sizes(1, *numbers)
    if number != 1 or len(members) == len(numbers):
        return number
    dims = [size for size in members if isinstance(size, Dim)]
    if len(dims) == 1:
        return dims[0]
    return of_atom(make_atom("broadcast", tuple(sorted(dims, key=order_of))))


def broadcast_members(sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    """What is broadcast together, also inside of other broadcasts; each once."""
    found: dict[Size, None] = {}
    for size in sizes:
        atom = the_atom(size)
        inside = atom.args if atom is not None and atom.kind == "broadcast" else (size,)
        found.update(dict.fromkeys(inside))
    return tuple(found)


def operation(kind: str, args: tuple[Size, ...]) -> Size:
    """What an atom of this kind is for these operands."""
    if kind == "floordiv":
        return floordiv(*args)
    return broadcast_forms(args) if kind == "broadcast" else extreme(kind, args)


OPERATIONS.update(floordiv=floordiv, modulo=modulo)
