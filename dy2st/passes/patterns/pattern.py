"""Patterns: say as expressions over operators what a rule looks for.

    x, scale, shift = value(), constant(), constant()
    pattern = op.add(op.multiply(op.conv(x, constant(), groups=1), scale), shift)

A pattern is matched backwards from the operator that makes the last value. The same pattern object
at two places stands for the same value. The operands of commutative operators match in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from dy2st_runtime.dims import Dim
from dy2st_runtime.errors import ArgumentError, WrongKind, did_you_mean
from dy2st_runtime.ir import (
    DEFINITIONS,
    Block,
    Operator,
    OperatorDefinition,
    TensorType,
    Variable,
    is_floating,
)

if TYPE_CHECKING:
    from dy2st.passes.patterns.match import Match


Guard = Callable[[Any], bool]
Makers = tuple[str | None, ...]
"""The names of the operators that make some values; None for what a Block's caller gives."""


class Pattern:
    """Stands for a value of a Program."""

    def may_be(self, maker: str | None) -> bool:
        """Whether a value that an operator of this name makes may fit: a first, cheap look."""
        return True

    def match(self, variable: Variable, match: Match) -> Iterator[None]:
        """Once for every way in which the value fits; meanwhile `match` holds what is bound."""
        raise NotImplementedError

    def __or__(self, other: Any) -> Pattern:
        """What fits this pattern, or else the other one, which may be a number."""
        return Either(self, as_pattern(other))


class Value(Pattern):
    """Any value that the guard accepts."""

    def __init__(self, where: Guard | None = None, doc: str = "a value", maker: str | None = None):
        """`where` gets the Variable; `maker` is the only operator that may make the value."""
        self.where, self.doc, self.maker = where, doc, maker

    def may_be(self, maker: str | None) -> bool:
        """Whether the maker is the wanted one."""
        return self.maker is None or self.maker == maker

    def match(self, variable: Variable, match: Match) -> Iterator[None]:
        """Once, if the value is the one bound before, or fits the guard."""
        known = match.values.get(self)
        if known is not None:
            if known is variable:
                yield
            else:
                match.miss("{} is not the same value as before", variable)
        elif not self.fits(variable):
            match.miss("{}: {} is not {}", variable, variable.type, self.doc)
        else:
            match.values[self] = variable
            yield
            del match.values[self]

    def fits(self, variable: Variable) -> bool:
        """Whether a value is one of those that the pattern stands for."""
        if self.maker is not None and maker_name(variable) != self.maker:
            return False
        return self.where is None or self.where(variable)


class Constant(Value):
    """A value that is known when the Program is made."""

    def __init__(self, where: Guard | None = None, doc: str = "a constant"):
        """`where` gets the array."""
        super().__init__(where, doc, "constant")

    def fits(self, variable: Variable) -> bool:
        """Whether an operator `constant` makes it, and the guard accepts its array."""
        maker = variable.maker
        if not isinstance(maker, Operator) or maker.name != "constant":
            return False
        return self.where is None or self.where(maker.attributes["value"])


class Either(Pattern):
    """What fits one of two patterns; the first is tried first."""

    def __init__(self, first: Pattern, second: Pattern):
        """The patterns."""
        self.first, self.second = first, second

    def may_be(self, maker: str | None) -> bool:
        """Whether one of the two may."""
        return self.first.may_be(maker) or self.second.may_be(maker)

    def match(self, variable: Variable, match: Match) -> Iterator[None]:
        """The ways of the first, then those of the second."""
        yield from self.first.match(variable, match)
        yield from self.second.match(variable, match)


class Operation(Pattern):
    """A result of an operator of a certain name, whose operands fit patterns of their own."""

    def __init__(self, name: str, operands: tuple[Any, ...], attributes: dict[str, Any]):
        """Check names against the operator's record; ArgumentError if there is none such."""
        _check_name(name)
        unknown = set(attributes) - set(DEFINITIONS[name].attributes)
        if unknown:
            near = did_you_mean(min(unknown), DEFINITIONS[name].attributes)
            raise ArgumentError(f"{name} has no attribute {min(unknown)!r}{near}")
        # no operator has so many operands: the pattern would fit nothing
        count = len(operands)
        definition = DEFINITIONS[name]
        needed = sum(1 for entry in definition.inputs if entry[-1] not in "?*")
        if count < needed or (count > len(definition.inputs) and not definition.is_variadic):
            wanted = ", ".join(definition.inputs)
            raise ArgumentError(f"{name} has the operands ({wanted}), the pattern has {count}")
        self.name, self.attributes = name, attributes
        self.commutes = DEFINITIONS[name].commutes
        self.operands = tuple(map(as_pattern, operands))
        self.index = 0
        self.origin = self
        self._results: dict[int, Operation] = {}
        self.is_shared = False
        self.is_optional = False

    # -- how it is used ----------------------------------------------------------------------

    def shared(self) -> Operation:
        """The same; the value may have other users than those that the rule replaces."""
        return self._but(is_shared=True)

    def optional(self) -> Operation:
        """The same; or, where the operator is not there, its first operand alone."""
        return self._but(is_optional=True)

    def __getitem__(self, index: int) -> Operation:
        """The result at `index` of an operator that has several; without one it is the first.

        `split[0]` and `split[1]` are results of one operator.
        """
        if index not in self._results:
            self._results[index] = self._but(index=index)
        return self._results[index]

    __iter__ = None  # else Python would count [0], [1], ... without end

    def _but(self, **changes: Any) -> Operation:
        made = Operation(self.name, self.operands, self.attributes)
        made.origin, made.index, made.is_shared = self.origin, self.index, self.is_shared
        made.is_optional = self.is_optional
        for key, entry in changes.items():
            setattr(made, key, entry)
        return made

    # -- matching ----------------------------------------------------------------------------

    def may_be(self, maker: str | None) -> bool:
        """Whether it is this operator, or one that may stand for its first operand."""
        return maker == self.name or (self.is_optional and self.operands[0].may_be(maker))

    def may_start(self, name: str) -> bool:
        """Whether a rule that replaces this pattern may begin at an operator of this name."""
        return name == self.name

    def may_fit(self, makers: Makers, is_square: bool) -> bool:
        """Whether operands of these makers may fit; `is_square` if both are the same value."""
        if len(makers) != len(self.operands):
            return False
        if len(makers) == 2 and self.operands[0] is self.operands[1] and not is_square:
            return False
        orders = [makers, makers[::-1]] if self.commutes else [makers]
        return any(
            all(pattern.may_be(maker) for pattern, maker in zip(self.operands, order, strict=True))
            for order in orders
        )

    def match(self, variable: Variable, match: Match) -> Iterator[None]:
        """Every order of commutative operands in which all fit."""
        maker = variable.maker
        if isinstance(maker, Operator) and maker.name == self.name:
            yield from self.match_operator(maker, variable, match)
        elif self.is_optional:
            yield from self.operands[0].match(variable, match)
        else:
            match.miss("{} is made by {}, not by `{}`", variable, maker, self.name)

    def match_operator(self, maker: Operator, variable: Variable, match: Match) -> Iterator[None]:
        """The same, when the operator is the right one."""
        known = match.values.get(self)
        if known is not None:
            if known is variable:
                yield
            return
        if not self._fits(maker, variable, match):
            return
        match.values[self], match.operators[self] = variable, maker
        orders = [maker.operands]
        if self.commutes and maker.operands[0] is not maker.operands[1]:
            orders.append(maker.operands[::-1])
        for operands in orders:
            yield from _match_all(self.operands, operands, match)
        del match.values[self], match.operators[self]

    def operator_of_others(self, match: Match) -> Operator | None:
        """The operator that another result of this pattern has been found at."""
        for pattern, operator in match.operators.items():
            if isinstance(pattern, Operation) and pattern.origin is self.origin:
                return operator
        return None

    def _fits(self, maker: Operator, variable: Variable, match: Match) -> bool:
        if len(maker.operands) != len(self.operands):
            match.miss("`{}` has {} operands", self.name, len(maker.operands))
            return False
        if len(maker.results) <= self.index or maker.results[self.index] is not variable:
            match.miss("it is another result of `{}` than [{}]", self.name, self.index)
            return False
        if self.operator_of_others(match) not in (None, maker):
            match.miss("it is a result of another `{}`", self.name)
            return False
        for name, wanted in self.attributes.items():
            own = maker.attributes[name]
            if not (wanted(own) if callable(wanted) else _is_same(wanted, own)):
                match.miss("`{}` has {} = {}", self.name, name, own)
                return False
        return True


def _is_same(wanted: Any, own: Any) -> bool:
    """A size that is not known is no number, whichever it will be."""
    if isinstance(own, tuple) and isinstance(wanted, tuple):
        return len(own) == len(wanted) and all(map(_is_same, wanted, own))
    return own is wanted if isinstance(own, Dim) else bool(wanted == own)


class AnyOperation(Operation):
    """A result of any operator whose record fits a question."""

    def __init__(self, fits: Callable[[OperatorDefinition], bool], operands: tuple[Any, ...]):
        """`fits` gets the record; `operands` are patterns, of as many as there are."""
        self.fits = fits
        self.name, self.attributes, self.commutes = "any", {}, False
        self.operands = tuple(map(as_pattern, operands))
        self.index, self.origin = 0, self
        self.is_shared = self.is_optional = False

    def may_be(self, maker: str | None) -> bool:
        """Whether the record of the maker fits."""
        return maker is not None and self.fits(DEFINITIONS[maker])

    def may_start(self, name: str) -> bool:
        """Whether the record of the operator fits."""
        return self.fits(DEFINITIONS[name])

    def match(self, variable: Variable, match: Match) -> Iterator[None]:
        """The operands in their order."""
        maker = variable.maker
        if isinstance(maker, Operator) and self.may_be(maker.name):
            yield from self.match_operator(maker, variable, match)


class Through(Pattern):
    """What fits a pattern, or comes of it through operators of some names with one operand."""

    def __init__(self, names: tuple[str, ...], inner: Pattern):
        """Every operator on the way must have no other users."""
        self.names, self.inner = names, inner

    def may_be(self, maker: str | None) -> bool:
        """Whether it is on the way, or at its end."""
        return maker in self.names or self.inner.may_be(maker)

    def match(self, variable: Variable, match: Match) -> Iterator[None]:
        """The shortest way first."""
        path: list[Operator] = []
        while True:
            match.paths[self] = list(path)
            yield from self.inner.match(variable, match)
            maker = variable.maker
            if not isinstance(maker, Operator) or maker.name not in self.names:
                break
            if len(maker.operands) != 1 or not match.is_used_once(variable):
                match.miss("{} of {} has other users", variable, maker)
                break
            path.append(maker)
            variable = maker.operands[0]
        match.paths.pop(self, None)


def shown(entry: Any) -> Any:
    """How a value, an operator or another maker of a value is called in a reason."""
    if isinstance(entry, Variable):
        return f"%{entry.name}" if entry.name else "a value"
    if isinstance(entry, Operator):
        return f"`{entry.name}`"
    return "the caller" if isinstance(entry, Block) else entry


def _match_all(
    patterns: tuple[Pattern, ...], variables: list[Variable], match: Match
) -> Iterator[None]:
    if not patterns:
        yield
        return
    for _ in patterns[0].match(variables[0], match):
        yield from _match_all(patterns[1:], variables[1:], match)


def maker_name(variable: Variable) -> str | None:
    """The name of the operator that makes a value, None if a Block's caller gives it."""
    maker = variable.maker
    return maker.name if maker.__class__ is Operator else None


def _check_name(name: str) -> None:
    """ArgumentError, with the nearest name, if there is no such operator."""
    if name not in DEFINITIONS:
        raise ArgumentError(f"there is no operator {name!r}{did_you_mean(name, DEFINITIONS)}")


def as_pattern(entry: Any) -> Pattern:
    """A pattern; a number stands for a constant all of whose elements are that number."""
    if isinstance(entry, Pattern):
        return entry
    if isinstance(entry, (bool, int, float)):
        number = entry
        return Constant(lambda array: array.size > 0 and bool((array == number).all()), str(number))
    raise WrongKind(f"a pattern is made of patterns and numbers, not {entry!r:.80}")


def value(where: Guard | None = None, doc: str = "what is wanted") -> Value:
    """Any value; `where` may look at the Variable, `doc` says what it wants."""
    return Value(where, doc)


def made_by(name: str) -> Value:
    """A value that an operator of this name makes, with whatever operands."""
    _check_name(name)
    return Value(None, f"the result of `{name}`", name)


def constant(where: Guard | None = None, doc: str = "a constant") -> Constant:
    """A constant; `where` may look at its array."""
    return Constant(where, doc)


def floating(rank: int | None = None) -> Value:
    """A tensor of floats, of a certain rank if one is given."""

    def fits(variable: Variable) -> bool:
        type = variable.type
        if not isinstance(type, TensorType) or not is_floating(type.dtype):
            return False
        return rank is None or type.rank == rank

    return Value(fits, "a tensor of floats" + (f" of rank {rank}" if rank is not None else ""))


def through(names: str, inner: Pattern) -> Through:
    """`inner`, or what operators of these names, each used once, make of it."""
    for name in names.split():
        _check_name(name)
    return Through(tuple(names.split()), as_pattern(inner))


def any_operator(fits: Callable[[OperatorDefinition], bool], *operands: Any) -> AnyOperation:
    """The pattern of every operator whose record fits a question, also of one defined later."""
    return AnyOperation(fits, operands)


class _Operations:
    """`op.add(x, y)` is the pattern of an operator; attributes are values or guards."""

    def __getattr__(self, name: str) -> Callable[..., Operation]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *operands, **attributes: Operation(name, operands, attributes)


op = _Operations()

__all__ = [
    "AnyOperation",
    "Constant",
    "Operation",
    "Pattern",
    "Through",
    "Value",
    "any_operator",
    "constant",
    "floating",
    "made_by",
    "maker_name",
    "op",
    "shown",
    "through",
    "value",
]
