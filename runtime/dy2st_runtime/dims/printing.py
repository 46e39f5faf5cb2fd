"""Writes sizes as text: `2*batch + 1`, `(h + 1)//2`, `h % 2`, `broadcast(a, b)`.

The same text in every process. It reads as Python does, and `text.parse` reads it back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dy2st_runtime.dims.expression import Atom, Size

Label = Callable[["Atom"], str]
Terms = dict[tuple["Atom", ...], int]


def size_text(size: Size, label: Label) -> str:
    """The formula of a size, with `label(atom)` for its atoms."""
    if isinstance(size, int):
        return str(size)
    # The terms that are no part of any `k * (p % c)`, the constant, and those (p // c, k).
    terms: Terms = dict(size.terms)
    constant, remainders = size.constant, []
    for atoms, factor in size.terms:
        atom = atoms[0]
        if len(atoms) > 1 or atom.kind != "floordiv" or atoms not in terms:
            continue
        above, below = atom.args
        if not isinstance(below, int) or isinstance(above, int) or factor % below:
            continue
        # k * (p % c) is k*p - k*c * (p//c)
        times = -factor // below
        if any(terms.get(place) != times * value for place, value in above.terms):
            continue
        for place in (atoms, *(place for place, _ in above.terms)):
            del terms[place]
        constant -= times * above.constant
        remainders.append((atom, times))
    parts = [_product_text(atoms, factor, label) for atoms, factor in terms.items()]
    for atom, factor in remainders:
        text = " % ".join(_operand_text(argument, label) for argument in atom.args)
        parts.append((factor < 0, text if abs(factor) == 1 else f"{abs(factor)}*({text})"))
    if constant:
        parts.append((constant < 0, str(abs(constant))))
    leading = next((part for part in parts if not part[0]), parts[0])
    parts.remove(leading)
    parts.insert(0, leading)
    is_negative, first = leading
    text = first
    if is_negative:
        # Python reads -x//2 as (-x)//2, so a lone quotient is put in brackets.
        atoms, factor = size.terms[0]
        is_quotient = "%" in first or (
            factor == -1 and len(atoms) == 1 and atoms[0].kind == "floordiv"
        )
        text = f"-({first})" if is_quotient else f"-{first}"
    return text + "".join(f" {'-' if negative else '+'} {part}" for negative, part in parts[1:])


def atom_text(kind: str, args: tuple[Size, ...], label: Label) -> str:
    """The text of an operation that stays: `(h + 1)//2`, `max(a, b)`."""
    if kind != "floordiv":
        return f"{kind}({', '.join(size_text(argument, label) for argument in args)})"
    return "//".join(_operand_text(argument, label) for argument in args)


def _operand_text(size: Size, label: Label) -> str:
    """The text of one side of // or %, in brackets where it needs them."""
    text = size_text(size, label)
    if isinstance(size, int):
        is_bare = size >= 0
    else:
        atoms, factor = size.terms[0]
        is_atom = not size.constant and len(size.terms) == 1 and factor == 1 and len(atoms) == 1
        is_bare = is_atom and atoms[0].kind != "floordiv"  # a name or a call
    return text if is_bare else f"({text})"


def _product_text(atoms: tuple[Atom, ...], factor: int, label: Label) -> tuple[bool, str]:
    """Whether a term is negative, and its text without the sign."""
    if len(atoms) == 1 and abs(factor) == 1:
        return factor < 0, label(atoms[0])
    factors = [] if abs(factor) == 1 else [str(abs(factor))]
    for atom in atoms:
        factors.append(f"({label(atom)})" if atom.kind == "floordiv" else label(atom))
    return factor < 0, "*".join(factors)
