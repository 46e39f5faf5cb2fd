"""Whether a Program may be given more elements along an axis: what it computes for the real ones
must not depend on the others.

One walk over the Program follows the axes that have been made longer. An operator whose real
results do not depend on what is behind them, element by element or along other axes, hands the axis
on; every other operator on such an axis is a reason to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dy2st_runtime.dims import Condition, Dim, Size, equal, less_equal, product, symbols
from dy2st_runtime.ir import Operator, Program, Tracer, Variable
from dy2st_runtime.ir.broken_sizes import place_text
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.dispatch import interpreting
from dy2st_runtime.ir.types import ArrayType

Axes = frozenset[int]
NONE: Axes = frozenset()


class NotIndifferent(Exception):
    """An operator mixes the padded elements with the real ones, or needs their number."""


@dataclass(frozen=True)
class Site:
    """One operator, and which axes of its operands are longer than they really are."""

    operator: Operator
    longer: tuple[Axes, ...]
    symbol: Dim

    @property
    def attributes(self) -> dict[str, Any]:
        """Its attributes."""
        return self.operator.attributes

    def shape(self, index: int) -> Sequence[Size]:
        """The shape of an operand."""
        return self.operator.operands[index].tensor_type.shape

    @property
    def result(self) -> Sequence[Size]:
        """The shape of the first result."""
        return self.operator.results[0].tensor_type.shape

    def keep_off(self, axes: Sequence[int], index: int = 0) -> None:
        """Refuse if the operator works along a longer axis of an operand."""
        if self.longer[index].intersection(axes):
            raise NotIndifferent("works along it")


Rule = Callable[[Site], Axes]


def _elementwise(site: Site) -> Axes:
    """Axes are counted from the last; one of size 1 is stretched along a longer one."""
    rank = len(site.result)
    found: set[int] = set()
    for index, axes in enumerate(site.longer):
        found.update(axis + rank - len(site.shape(index)) for axis in axes)
    for index, axes in enumerate(site.longer):
        lead = rank - len(site.shape(index))
        for axis in found:
            own = axis - lead
            if own >= 0 and own not in axes and equal(site.shape(index)[own], 1) is not True:
                raise NotIndifferent("joins it with an axis that is not longer")
    return frozenset(found)


def _kept(site: Site) -> Axes:
    return site.longer[0]


def _none_of(*names: str) -> Rule:
    """The axes stay; those that attributes name must not be longer."""

    def rule(site: Site) -> Axes:
        for name in names:
            value = site.attributes[name]
            site.keep_off(value if isinstance(value, tuple) else [value])
        return site.longer[0]

    return rule


def _reduced(site: Site) -> Axes:
    axis = site.attributes["axis"]
    gone = axis if isinstance(axis, tuple) else (axis,)
    site.keep_off(gone)
    if site.attributes["keepdim"]:
        return site.longer[0]
    return frozenset(a - sum(g < a for g in gone) for a in site.longer[0])


def _running(site: Site) -> Axes:
    """A sum up to each place sees only what is before it."""
    if site.attributes["reverse"]:
        site.keep_off([site.attributes["axis"]])
    return site.longer[0]


def _matmul(site: Site) -> Axes:
    ranks = [len(site.shape(0)), len(site.shape(1))]
    if min(ranks) < 2:
        raise NotIndifferent("multiplies a vector")
    site.keep_off([ranks[0] - 1], 0)
    site.keep_off([ranks[1] - 2], 1)
    rank = max(ranks)
    found = {axis + rank - ranks[0] for axis in site.longer[0]}
    found |= {axis + rank - ranks[1] for axis in site.longer[1]}
    batch = {axis for axis in found if axis < rank - 2}
    for index in (0, 1):
        for axis in batch:
            own = axis - rank + ranks[index]
            is_one = own >= 0 and equal(site.shape(index)[own], 1) is True
            if own >= 0 and own not in site.longer[index] and not is_one:
                raise NotIndifferent("joins it with an axis that is not longer")
    return frozenset(found)


def _reshaped(site: Site) -> Axes:
    """An axis goes on if as many elements stand before it, and it keeps its size."""
    old, new = site.shape(0), site.result
    found = set()
    for axis in site.longer[0]:
        before = product(old[:axis])
        for place, size in enumerate(new):
            if size is old[axis] and equal(product(new[:place]), before) is True:
                found.add(place)
                break
        else:
            raise NotIndifferent("mixes it with other axes")
    return frozenset(found)


def _transposed(site: Site) -> Axes:
    perm = site.attributes["perm"]
    return frozenset(perm.index(axis) for axis in site.longer[0])


def _joined(site: Site) -> Axes:
    along = site.attributes["axis"]
    for index, axes in enumerate(site.longer):
        site.keep_off([along], index)
        if axes != site.longer[0]:
            raise NotIndifferent("joins it with an axis that is not longer")
    return site.longer[0]


def _sliced(site: Site) -> Axes:
    """Of a longer axis all, or a part that is surely real."""
    found = set(site.longer[0])
    bounds = [site.attributes[name] for name in ("starts", "stops", "steps")]
    for axis in site.longer[0]:
        start, stop, step = (values[axis] for values in bounds)
        if equal(start, 0) is True and stop is site.symbol and step == 1:
            continue
        is_real = isinstance(start, int) and isinstance(stop, int) and step > 0 <= start
        if not is_real or less_equal(stop, site.symbol) is not True:
            raise NotIndifferent("takes a part of it that need not be real")
        found.discard(axis)
    gone = site.attributes["drop"]
    return frozenset(a - sum(g < a for g in gone) for a in found)


def _indexed(site: Site) -> Axes:
    """Longer indices give more rows; the places themselves are along an axis that is not longer."""
    axes = site.attributes["axes"]
    if len(axes) != 1:
        raise NotIndifferent("indexes along several axes")
    site.keep_off(axes, 0)
    extra = len(site.shape(1)) - 1
    moved = {axis + extra * (axis > axes[0]) for axis in site.longer[0]}
    return frozenset(moved | {axes[0] + axis for axis in site.longer[1]})


def _first_axis_only(site: Site) -> Axes:
    """Convolutions and pools: each image of a batch for itself."""
    for index, axes in enumerate(site.longer):
        if axes - ({0} if index == 0 else NONE):
            raise NotIndifferent("has windows along it, or sums over it")
    return site.longer[0]


def _normalised(site: Site) -> Axes:
    if any(site.longer[1:]):
        raise NotIndifferent("has parameters along it")
    if site.operator.name == "batch_norm":
        site.keep_off([site.attributes["axis"]])
    else:
        rank = len(site.shape(0))
        site.keep_off(range(rank - site.attributes["axes"], rank))
    return site.longer[0]


def _padded(site: Site) -> Axes:
    pads = site.attributes["pads"]
    site.keep_off([axis for axis, sides in enumerate(pads) if sides != (0, 0)])
    return site.longer[0]


def _made(site: Site) -> Axes:
    """A new tensor of one value, or the same tensor over and over: longer where its shape is."""
    if site.longer:
        lead = len(site.result) - len(site.shape(0))
        for axis in range(len(site.shape(0))):
            is_longer = site.result[axis + lead] is site.symbol
            is_one = equal(site.shape(0)[axis], 1) is True
            if is_longer and not is_one and axis not in site.longer[0]:
                raise NotIndifferent("joins it with an axis that is not longer")
    return frozenset(axis for axis, size in enumerate(site.result) if size is site.symbol)


_ELEMENTWISE = frozenset(
    """
    abs acos acosh add asin asinh assign atan atan2 atanh bitwise_and bitwise_not bitwise_or
    bitwise_xor cast ceil clip cos cosh detach divide equal erf exp expm1 floor floor_divide gelu
    greater_equal greater_than hardtanh isfinite isinf isnan leaky_relu less_equal less_than log
    log10 log1p log2 logical_and logical_not logical_or logical_xor maximum minimum multiply neg
    not_equal pow reciprocal relu relu6 remainder round rsqrt sigmoid sign silu sin sinh softplus
    sqrt square subtract tan tanh trunc where
    """.split()  # noqa: SIM905  a list of strings is four times as long
)

RULES: dict[str, Rule] = {
    **dict.fromkeys(sorted(_ELEMENTWISE), _elementwise),
    **dict.fromkeys(("one_hot", "tril", "triu"), _kept),
    **dict.fromkeys(
        ("sum", "mean", "max", "min", "prod", "any", "all", "argmax", "argmin"), _reduced
    ),
    **dict.fromkeys(("softmax", "log_softmax", "argsort", "flip", "roll"), _none_of("axis")),
    **dict.fromkeys(("cumsum", "cumprod"), _running),
    "split": _none_of("axis"),
    "matmul": _matmul,
    "reshape": _reshaped,
    "transpose": _transposed,
    "concat": _joined,
    "slice": _sliced,
    "index": _indexed,
    **dict.fromkeys(
        ("conv", "conv_transpose", "max_pool", "window_max", "window_sum"), _first_axis_only
    ),
    **dict.fromkeys(("layer_norm", "batch_norm"), _normalised),
    "pad": _padded,
    **dict.fromkeys(("full", "broadcast_to"), _made),
}
# Where the size itself may stand among the attributes: as a shape, or as the end of a slice.
_MAY_NAME_SIZE = {"full", "broadcast_to", "reshape", "slice"}


def longer_outputs(program: Program, symbol: Dim) -> list[Axes]:
    """For every output the axes that padding makes longer; NotIndifferent with the reason.

    The axes of inputs whose size is the symbol are padded, all others are as they are.
    """
    longer: dict[Variable, Axes] = {}
    for variable in program.block.parameters:
        longer[variable] = _axes_of(variable, symbol)
    for operator in program.operators:
        _follow(operator, longer, symbol)
    return [longer[variable] for variable in program.block.yields]


def _axes_of(variable: Variable, symbol: Dim) -> Axes:
    if isinstance(variable.type, ArrayType):
        return NONE
    shape = variable.type.shape
    for axis, size in enumerate(shape):
        if size is not symbol and _has(size, symbol):
            raise NotIndifferent(f"`{variable.name}`, axis {axis}, has the size {size}")
    return frozenset(axis for axis, size in enumerate(shape) if size is symbol)


def _has(value: Any, symbol: Dim) -> bool:
    """Whether a symbol stands in a size, or in nested tuples of them."""
    return any(found is symbol for found in symbols(value))


def _follow(operator: Operator, longer: dict[Variable, Axes], symbol: Dim) -> None:
    try:
        found = _results(operator, longer, symbol)
    except NotIndifferent as reason:
        place = f" ({place_text(operator.location)})" if operator.location else ""
        raise NotIndifferent(f"`{operator.name}` {reason}{place}") from None
    longer.update(zip(operator.results, found, strict=True))


def _results(operator: Operator, longer: dict[Variable, Axes], symbol: Dim) -> Sequence[Axes]:
    given = tuple(longer[operand] for operand in operator.operands)
    names_size = _has(tuple(_sizes_in(tuple(operator.attributes.values()))), symbol)
    if names_size and operator.name not in _MAY_NAME_SIZE:
        raise NotIndifferent(f"needs the number {symbol} itself")
    if operator.blocks and (any(given) or _mention(operator, symbol)):
        raise NotIndifferent("has branches or turns that see it")
    if not any(given) and not names_size:
        return _untouched(operator, symbol)
    rule = RULES.get(operator.name)
    if rule is None:
        return _by_parts(operator, longer, symbol)
    axes = rule(Site(operator, given, symbol))
    for result in operator.results:
        if _axes_of(result, symbol) - axes:
            raise NotIndifferent("gives an axis of that size anew")
    return [axes] * len(operator.results)


def _mention(operator: Operator, symbol: Dim) -> bool:
    """Whether a size stands anywhere in the Blocks of an operator."""
    for inner in (o for block in operator.blocks for o in block.walk()):
        sizes = _sizes_in(tuple(inner.attributes.values()))
        shapes = [v.type.shape for v in inner.results if not isinstance(v.type, ArrayType)]
        if _has((*sizes, *shapes), symbol):
            return True
    return False


def _untouched(operator: Operator, symbol: Dim) -> Sequence[Axes]:
    for result in operator.results:
        if _axes_of(result, symbol):
            raise NotIndifferent("gives an axis of that size anew")
    return [NONE] * len(operator.results)


def _sizes_in(value: Any) -> Sequence[Any]:
    if isinstance(value, tuple):
        return [size for entry in value for size in _sizes_in(entry)]
    return [value] if isinstance(value, (Dim, Condition)) else []


def _by_parts(operator: Operator, longer: dict[Variable, Axes], symbol: Dim) -> Sequence[Axes]:
    """A composite operator, by the operators that it is made of."""
    definition = lookup(operator.name)
    if definition.decompose is None or operator.blocks:
        raise NotIndifferent("is not known to leave the real elements alone")
    tracer = Tracer(is_scratch=True)
    inside: dict[Variable, Axes] = {}
    for operand in operator.operands:
        inside[tracer.block.add_parameter(operand.type)] = longer[operand]
    parameters = list(inside)
    with interpreting(tracer):
        results = definition.decompose(*parameters, **operator.attributes)
    for part in tracer.block.operators:
        _follow(part, inside, symbol)
    return [inside[result] for result in (results if isinstance(results, tuple) else (results,))]


__all__ = ["NotIndifferent", "longer_outputs"]
