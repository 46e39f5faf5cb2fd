"""Dim: a symbolic integer in one canonical form.

A Dim is a polynomial with integer coefficients over atoms: symbols, and floor divisions, minima,
maxima and broadcasts that do not simplify. Equal forms are the same object, so `is` is equality of
forms, and a constant is never a Dim but an int. All arithmetic is Python's, with floor division.

The arithmetic is in `arithmetic.py`, comparisons in `queries.py`; the operators here call them
through `_operations`, which those modules fill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn
from weakref import WeakValueDictionary

from dy2st_runtime.errors import UndecidedDim

Term = tuple[tuple["Atom", ...], int]


class Atom:
    """What a polynomial cannot look into: a symbol, or an operation that stays.

    kind   "symbol", "floordiv", "min", "max" or "broadcast".
    args   operands: ints and Dims.
    text   how it prints; atoms are ordered by it.
    """

    __slots__ = ("__weakref__", "args", "kind", "maximum", "minimum", "name", "text")

    def __init__(
        self, kind: str, args: tuple[Any, ...], name: str, minimum: int, maximum: int | None
    ):
        """Made by `make_atom` alone."""
        self.kind, self.args, self.name = kind, args, name
        self.minimum, self.maximum = minimum, maximum
        self.text = name if kind == "symbol" else _atom_text(kind, args)

    def __repr__(self) -> str:
        """The text."""
        return self.text


_atoms: WeakValueDictionary[Any, Atom] = WeakValueDictionary()
_dims: WeakValueDictionary[Any, Dim] = WeakValueDictionary()
_operations: dict[str, Callable[..., Any]] = {}


class Dim:
    """A symbolic integer: constant + sum of coefficient * product of atoms.

    >>> n = symbol("n")
    >>> 2 * n + 1 - n, (2 * n) // 2 is n
    (n + 1, True)
    """

    __slots__ = ("__weakref__", "constant", "terms")

    constant: int
    terms: tuple[Term, ...]

    __hash__ = object.__hash__

    @property
    def name(self) -> str | None:
        """The name of a symbol, None for anything else."""
        return self.terms[0][0][0].name if is_symbol(self) else None

    @property
    def minimum(self) -> int:
        """The least value of a symbol."""
        return self._symbol().minimum

    @property
    def maximum(self) -> int | None:
        """The largest value of a symbol, None if there is no limit."""
        return self._symbol().maximum

    def _symbol(self) -> Atom:
        assert is_symbol(self), f"{self} is no symbol"
        return self.terms[0][0][0]

    def __add__(self, other: Any) -> Any:
        return _operations["add"](self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return _operations["subtract"](self, other)

    def __rsub__(self, other: Any) -> Any:
        return _operations["subtract"](other, self)

    def __mul__(self, other: Any) -> Any:
        return _operations["multiply"](self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return _operations["floordiv"](self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _operations["floordiv"](other, self)

    def __mod__(self, other: Any) -> Any:
        return _operations["modulo"](self, other)

    def __rmod__(self, other: Any) -> Any:
        return _operations["modulo"](other, self)

    def __neg__(self) -> Any:
        return _operations["multiply"](self, -1)

    def __pos__(self) -> Dim:
        return self

    def __eq__(self, other: object) -> Any:
        return _operations["compare"]("==", self, other)

    def __ne__(self, other: object) -> Any:
        return _operations["compare"]("!=", self, other)

    def __lt__(self, other: Any) -> Any:
        return _operations["compare"]("<", self, other)

    def __le__(self, other: Any) -> Any:
        return _operations["compare"]("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return _operations["compare"](">", self, other)

    def __ge__(self, other: Any) -> Any:
        return _operations["compare"](">=", self, other)

    def __bool__(self) -> bool:
        """Whether the size is not 0, if that is decided."""
        return bool(_operations["compare"]("!=", self, 0))

    def _no_number(self) -> NoReturn:
        raise UndecidedDim(
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

    def __reduce__(self) -> NoReturn:
        """Refused: Programs are saved as text."""
        raise TypeError("a Dim cannot be pickled; save the Program instead")

    def __repr__(self) -> str:
        """A readable formula: `2*batch + 1`."""
        text = ""
        for atoms, factor in self.terms:
            sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
            text += sign + "*".join(_factors(abs(factor), atoms))
        if self.constant:
            text += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        return text

    __str__ = __repr__


Size = int | Dim


def symbol(name: str, minimum: int = 0, maximum: int | None = None) -> Dim:
    """The symbol of this name and range; sizes may be 0 unless said otherwise.

    >>> symbol("n") is symbol("n")
    True
    """
    if not name.isidentifier():
        raise ValueError(f"the name of a size is an identifier, not {name!r}")
    if maximum is not None and maximum < minimum:
        raise ValueError(f"the size {name} has no value between {minimum} and {maximum}")
    return of_atom(make_atom("symbol", (), name, minimum, maximum))


def is_symbol(size: object) -> bool:
    """Whether a size is nothing but a symbol."""
    if not isinstance(size, Dim) or size.constant or len(size.terms) != 1:
        return False
    atoms, factor = size.terms[0]
    return factor == 1 and len(atoms) == 1 and atoms[0].kind == "symbol"


def make_atom(
    kind: str, args: tuple[Any, ...], name: str = "", minimum: int = 0, maximum: int | None = None
) -> Atom:
    """The one atom of this content."""
    key = (kind, args, name, minimum, maximum)
    atom = _atoms.get(key)
    if atom is None:
        atom = _atoms[key] = Atom(kind, args, name, minimum, maximum)
    return atom


def of_atom(atom: Atom) -> Dim:
    """The Dim that is one atom."""
    return make_dim(0, (((atom,), 1),))  # type: ignore[return-value]


def make_dim(constant: int, terms: Iterable[Term]) -> Size:
    """The one Dim of this content, or an int if there are no terms."""
    ordered = tuple(sorted(terms, key=_order))
    if not ordered:
        return constant
    key = (constant, ordered)
    dim = _dims.get(key)
    if dim is None:
        dim = object.__new__(Dim)
        dim.constant, dim.terms = constant, ordered
        _dims[key] = dim
    return dim


def _order(term: Term) -> tuple[int, list[str]]:
    """Higher degrees first, then by name: the same in every process."""
    return -len(term[0]), [atom.text for atom in term[0]]


def _factors(factor: int, atoms: tuple[Atom, ...]) -> list[str]:
    texts = [f"({a.text})" if a.kind == "floordiv" else a.text for a in atoms]
    if factor == 1 and len(atoms) == 1:
        return [atoms[0].text]
    return texts if factor == 1 else [str(factor), *texts]


def _atom_text(kind: str, args: tuple[Any, ...]) -> str:
    if kind != "floordiv":
        return f"{kind}({', '.join(map(str, args))})"
    above, below = args
    bare = is_symbol(above)
    return f"{above if bare else f'({above})'}//{below if _is_bare(below) else f'({below})'}"


def _is_bare(size: Size) -> bool:
    return isinstance(size, int) or is_symbol(size)
