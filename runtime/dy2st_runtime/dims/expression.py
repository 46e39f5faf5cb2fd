"""Dim: a symbolic integer in one canonical form.

A Dim is a polynomial with integer coefficients over atoms: symbols, and floor divisions, minima,
maxima and broadcasts that do not simplify. Equal forms are the same object, so `is` is equality of
forms, and a constant is never a Dim but an int. All arithmetic is Python's, with floor division.

What the operators compute stands in `polynomial.py` and `operations.py`, what comparisons answer
in `conditions.py`. Those are made of Dims, so they enter themselves in `OPERATIONS` here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from numbers import Integral
from operator import attrgetter
from typing import Any, NoReturn
from zlib import crc32

from dy2st_runtime.dims.printing import atom_text, size_text
from dy2st_runtime.errors import ShapeError, UndecidedDim

Monomial = tuple["Atom", ...]
Term = tuple[Monomial, int]
Interval = tuple["int | None", "int | None"]

OPERATIONS: dict[str, Callable[..., Any]] = {}
"""The operations behind the operators of Dim; their operands are ints and Dims.

Who traces Programs enters "number", for what is no size, and "place", where the user's code is.
"""

NAME = re.compile(r"[^\W\d]\w*")
"""What a symbol may be called; `text.py` reads names by the same pattern."""

LONGEST, DEEPEST = 2000, 24
"""How many symbols, written out, a formula may have, and how deep its operations may nest."""

_LONGEST_ORDER = 160


class Atom:
    """What a polynomial cannot look into: a symbol, or an operation that stays.

    kind      "symbol", "floordiv", "min", "max" or "broadcast".
    args      operands: ints and Dims.
    order     what it is sorted by, the same in every process.
    mask      a bit for every symbol inside, up to collisions: without a common bit, none is common.
    weight    how much text it is, were it written out, or how much work it makes.
    depth     how deep operations nest in it, 0 for a symbol.
    interval  the least and the largest value, filled by `intervals.py`.
    """

    __slots__ = (
        "args",
        "depth",
        "interval",
        "kind",
        "mask",
        "maximum",
        "minimum",
        "name",
        "order",
        "weight",
    )

    def __init__(
        self,
        kind: str,
        args: tuple[Any, ...],
        name: str,
        minimum: int | None,
        maximum: int | None,
    ):
        """Made by `make_atom` alone."""
        self.kind, self.args, self.name = kind, args, name
        self.minimum, self.maximum = minimum, maximum
        self.interval: Interval | None = None
        # Each operand of a minimum is compared with all others.
        self.weight = 1 if len(args) < 3 else (len(args) - 1) ** 2
        for argument in args:
            self.weight += argument.weight if isinstance(argument, Dim) else 1
        inside = [argument.depth for argument in args if isinstance(argument, Dim)]
        self.depth = 1 + max(inside, default=0) if args else 0
        if kind == "symbol":
            has_range = (minimum, maximum) != (0, None)
            self.order = f"{name}\0{minimum},{maximum}" if has_range else name
            self.mask = 1 << (crc32(name.encode()) & 63)  # hash() differs from run to run
        else:
            # The order itself, or a fingerprint of it: nested sizes would grow without limit.
            order = atom_text(kind, args, by_order)
            if len(order) <= _LONGEST_ORDER:
                self.order = order
            else:
                number = int.from_bytes(order.encode(), "big") % (2**521 - 1)
                self.order = f"{order[:24]}\0{number:x}"
            self.mask = 0
            for argument in args:
                self.mask |= argument.mask if isinstance(argument, Dim) else 0

    @property
    def text(self) -> str:
        """How it prints."""
        return self.name or atom_text(self.kind, self.args, _by_text)

    def __repr__(self) -> str:
        """The text."""
        return self.text


by_order: Callable[[Atom], str] = attrgetter("order")
_by_text: Callable[[Atom], str] = attrgetter("text")

# One object of each form, for the life of the process: some 300 bytes each. `setdefault` is atomic,
# so two threads cannot make two.
_atoms: dict[Any, Atom] = {}
_dims: dict[Any, Dim] = {}


def _operator(operation: str) -> Callable[[Dim, Any], Any]:
    """The method for `own operation other`; NotImplemented if the other is no integer."""

    def method(self: Dim, other: Any) -> Any:
        kind = type(other)
        if kind is Dim or kind is int:
            return OPERATIONS[operation](self, other)
        if kind is float:
            return _as_number(operation, self, other)
        return OPERATIONS[operation](self, int(other)) if _is_number(other) else NotImplemented

    return method


def _reflected(operation: str) -> Callable[[Dim, Any], Any]:
    """The method for `other operation own`."""

    def method(self: Dim, other: Any) -> Any:
        if type(other) is float:
            return _as_number(operation, other, self)
        return OPERATIONS[operation](int(other), self) if _is_number(other) else NotImplemented

    return method


def _of_numbers(operation: str) -> Callable[[Dim, Any], Any]:
    """The method for an operation whose result is no size: `n / 2`, `n ** 0.5`."""

    def method(self: Dim, other: Any) -> Any:
        is_plain = isinstance(other, (Dim, float)) or _is_number(other)
        return _as_number(operation, self, other) if is_plain else NotImplemented

    return method


def _reflected_numbers(operation: str) -> Callable[[Dim, Any], Any]:
    def method(self: Dim, other: Any) -> Any:
        is_plain = isinstance(other, float) or _is_number(other)
        return _as_number(operation, other, self) if is_plain else NotImplemented

    return method


def _as_number(operation: str, left: Any, right: Any) -> Any:
    """What a Program computes as a number of Python; refused where no Program is traced.

    So are powers of integers: Python's have no limit, those of a Program 64 bits.
    """
    is_float = isinstance(left, float) or isinstance(right, float)
    is_exact = "number" in OPERATIONS and (operation != "pow" or is_float)
    result = OPERATIONS["number"](operation, (left, right)) if is_exact else None
    if result is None:
        size = left if isinstance(left, Dim) else right
        size._no_number()
    return result


def _is_number(value: Any) -> bool:
    return type(value) is int or isinstance(value, Integral)


class Dim:
    """A symbolic integer: constant + sum of coefficient * product of atoms.

    `name`, `minimum` and `maximum` are those of a symbol.

    >>> n = dy2st.dims.symbol("n", 1, 8)
    >>> 2 * n + 1 - n, (2 * n) // 2 is n
    (n + 1, True)
    >>> n.name, n.minimum, n.maximum
    ('n', 1, 8)
    """

    __slots__ = ("constant", "depth", "is_long", "mask", "terms", "text", "weight")

    constant: int
    terms: tuple[Term, ...]
    mask: int
    text: str | None
    weight: int
    depth: int
    is_long: bool

    __hash__ = object.__hash__

    @property
    def name(self) -> str | None:
        """The name of a symbol, None for anything else."""
        return self.terms[0][0][0].name if is_symbol(self) else None

    @property
    def minimum(self) -> int:
        """The least value of a symbol."""
        least = self._symbol().minimum
        assert least is not None, f"{self} has no least value"
        return least

    @property
    def maximum(self) -> int | None:
        """The largest value of a symbol, None if there is no limit."""
        return self._symbol().maximum

    def _symbol(self) -> Atom:
        assert is_symbol(self), f"{self} is no symbol"
        return self.terms[0][0][0]

    __truediv__, __rtruediv__ = _of_numbers("truediv"), _reflected_numbers("truediv")
    __pow__, __rpow__ = _of_numbers("pow"), _reflected_numbers("pow")
    __add__ = __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("subtract"), _reflected("subtract")
    __mul__ = __rmul__ = _operator("multiply")
    __floordiv__, __rfloordiv__ = _operator("floordiv"), _reflected("floordiv")
    __mod__, __rmod__ = _operator("modulo"), _reflected("modulo")
    __lt__, __le__ = _operator("<"), _operator("<=")
    __gt__, __ge__ = _operator(">"), _operator(">=")

    def __eq__(self, other: object) -> Any:
        if isinstance(other, float):  # as Python has it: 4 == 4.0
            return other.is_integer() and OPERATIONS["=="](self, int(other))
        return OPERATIONS["=="](self, other) if _is_size(other) else NotImplemented

    def __ne__(self, other: object) -> Any:
        if isinstance(other, float):
            return not other.is_integer() or OPERATIONS["!="](self, int(other))
        return OPERATIONS["!="](self, other) if _is_size(other) else NotImplemented

    def __neg__(self) -> Any:
        return OPERATIONS["multiply"](self, -1)

    def __pos__(self) -> Dim:
        return self

    def __bool__(self) -> bool:
        """Whether the size is not 0, if that is decided."""
        return bool(OPERATIONS["!="](self, 0))

    def _no_number(self) -> NoReturn:
        raise undecided(
            f"the size {self} is not known while the function is traced, but a Python number is "
            "needed here; use it in shapes, slices and arange as it is, or give the size a number "
            "in the InputSpec"
        )

    def __int__(self) -> int:
        """Refused: there is no number yet."""
        self._no_number()

    def __index__(self) -> int:
        """Refused: there is no number yet."""
        self._no_number()

    def __float__(self) -> float:
        """Refused: there is no number yet."""
        self._no_number()

    def __copy__(self) -> Dim:
        """Itself: there is one object of each form."""
        return self

    def __deepcopy__(self, memo: object) -> Dim:
        """Itself: there is one object of each form."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refused: Programs are saved as text."""
        raise TypeError("a Dim cannot be pickled; save the Program instead")

    def __repr__(self) -> str:
        """A readable formula: `2*batch + 1`."""
        if self.text is None:  # messages and attributes ask for it again and again
            self.text = size_text(self, _by_text)
        return self.text

    __str__ = __repr__


Size = int | Dim


def undecided(what: str) -> UndecidedDim:
    """The refusal, with the user's place in front where a Program is traced."""
    place = OPERATIONS["place"]() if "place" in OPERATIONS else None
    return UndecidedDim(f"{place}: {what}" if place else what)


def _is_size(value: object) -> bool:
    return isinstance(value, Dim) or _is_number(value)


def as_size(value: Any) -> Size:
    """A Dim as it is, any other integer as an int; TypeError for what is no integer."""
    if isinstance(value, Dim) or type(value) is int:
        return value
    if not _is_number(value):
        raise TypeError(f"a size is an integer, not {value!r}")
    return int(value)


def symbol(name: str, minimum: int = 0, maximum: int | None = None) -> Dim:
    """The symbol of this name and range; sizes may be 0 unless said otherwise.

    >>> dy2st.dims.symbol("n") is dy2st.dims.symbol("n")
    True
    """
    if not (name.isidentifier() and NAME.fullmatch(name)):
        raise ValueError(f"the name of a size is an identifier, not {name!r}")
    if maximum is not None and maximum < minimum:
        raise ValueError(f"the size {name} has no value between {minimum} and {maximum}")
    return of_atom(make_atom("symbol", (), name, minimum, maximum))


def checked(size: Size) -> Size:
    """The size itself; ShapeError if its formula is too long to be worked with."""
    if isinstance(size, Dim) and size.is_long:
        raise ShapeError(
            f"the formula of a size is too long: it has {size.weight} symbols, nested {size.depth} "
            f"deep, and may have {LONGEST}, nested {DEEPEST} deep; give some of the sizes that it "
            "is made of numbers"
        )
    return size


def is_symbol(size: object) -> bool:
    """Whether a size is nothing but a symbol.

    >>> n = dy2st.dims.symbol("n")
    >>> dy2st.dims.is_symbol(n), dy2st.dims.is_symbol(n + 1), dy2st.dims.is_symbol(3)
    (True, False, False)
    """
    atom = the_atom(size)
    return atom is not None and atom.kind == "symbol"


def the_atom(size: object) -> Atom | None:
    """The atom that a size is, None if it is more than one atom."""
    if not isinstance(size, Dim) or size.constant or len(size.terms) != 1:
        return None
    atoms, factor = size.terms[0]
    return atoms[0] if factor == 1 and len(atoms) == 1 else None


def make_atom(
    kind: str,
    args: tuple[Any, ...],
    name: str = "",
    minimum: int | None = 0,
    maximum: int | None = None,
) -> Atom:
    """The one atom of this content."""
    key = (kind, args, name, minimum, maximum)
    atom = _atoms.get(key)
    if atom is None:
        atom = _atoms.setdefault(key, Atom(kind, args, name, minimum, maximum))
    return atom


@lru_cache(maxsize=1 << 14)
def of_atom(atom: Atom) -> Dim:
    """The Dim that is one atom."""
    dim = make_dim(0, (((atom,), 1),))
    assert isinstance(dim, Dim)
    return dim


def make_dim(constant: int, ordered: tuple[Term, ...]) -> Size:
    """The one Dim of this content, or an int if there are no terms; the terms are in order."""
    if not ordered:
        return constant
    key = (constant, ordered)
    dim = _dims.get(key)
    if dim is None:
        mask = weight = depth = 0
        for atoms, _ in ordered:
            weight += len(atoms) ** 2 // 8  # products of many atoms are long to compare
            for atom in atoms:
                mask |= atom.mask
                weight += atom.weight
                depth = max(depth, atom.depth)
        dim = object.__new__(Dim)
        dim.constant, dim.terms, dim.mask, dim.text = constant, ordered, mask, None
        dim.weight, dim.depth = weight, depth
        dim.is_long = weight > LONGEST or depth > DEEPEST
        dim = _dims.setdefault(key, dim)
    return dim


def in_order(terms: Sequence[Term]) -> tuple[Term, ...]:
    """Terms of higher degree first, then by name: the same in every process."""
    if len(terms) < 2:
        return tuple(terms)
    return tuple(sorted(terms, key=lambda term: monomial_order(term[0])))


@lru_cache(maxsize=1 << 14)
def monomial_order(atoms: Monomial) -> tuple[int, tuple[str, ...]]:
    """What products of atoms are sorted by."""
    return -len(atoms), tuple([atom.order for atom in atoms])


def order_of(size: Size) -> str:
    """What sizes are sorted by."""
    return size_text(size, by_order)


def factors_of(size: Dim) -> list[Atom]:
    """All atoms that stand in a size, not those inside of atoms."""
    return [atom for atoms, _ in size.terms for atom in atoms]
