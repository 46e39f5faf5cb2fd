"""InputSpec: what a converted function may expect of a tensor argument; Dim declares its sizes."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import add, floordiv, mod, mul, sub
from typing import Any

import numpy as np

from dy2st_runtime import dims
from dy2st_runtime.dims import Size
from dy2st_runtime.errors import ArgumentError, SpecError, WrongKind
from dy2st_runtime.ir import Tensor, TensorType
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.ir.sizes import solved
from dy2st_runtime.ir.types import DTypeLike, given_dtype


@dataclass(frozen=True)
class Declaration:
    """The values that a size of this name may have."""

    name: str
    minimum: int = 0
    maximum: int | None = None
    multiple: int = 1

    @property
    def symbol(self) -> dims.Dim:
        """The symbol that stands for the size in Programs."""
        return dims.symbol(self.name, self.minimum, self.maximum)

    def __str__(self) -> str:
        """`from 1 to 512, a multiple of 8`."""
        limits = f"at least {self.minimum}"
        if self.maximum is not None:
            limits = f"from {self.minimum} to {self.maximum}"
        return limits if self.multiple == 1 else f"{limits}, a multiple of {self.multiple}"


class _ByKey:
    """Equal to another one of the same key."""

    __slots__ = ()

    def _key(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        """Equal when all that they say is."""
        return isinstance(other, _ByKey) and self._key() == other._key()

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash(self._key())


def _formula(operation: Callable[[Any, Any], Any]) -> Callable[[Dim, Any], Any]:
    """An operator of sizes: a Dim for the result, or an int if the symbols cancel."""

    def combined(self: Dim, other: Any) -> Any:
        value: dims.Size
        if isinstance(other, Dim):
            left = self.declared
            right = other.declared
            for name, entry in right.items():
                known = left.get(name, entry)
                if known != entry:
                    raise ArgumentError(
                        f"the size {name} is {known} in one part of a formula, {entry} in another"
                    )
            declared, value = {**left, **right}, other.size
        elif isinstance(other, int) and not isinstance(other, bool):
            declared, value = dict(self.declared), other
        else:
            return NotImplemented
        size = operation(self.size, value)
        if not isinstance(size, dims.Dim):
            return size
        result = object.__new__(Dim)
        # What has cancelled needs no declaration: no axis would determine it.
        names = {str(symbol) for symbol in dims.symbols(size)}
        result.declared = {name: entry for name, entry in declared.items() if name in names}
        result.size = size
        return result

    return combined


class Dim(_ByKey):
    """An unknown size in an InputSpec: its name, its limits, and what divides it.

    The same name in several inputs is the same size. Formulas of sizes are sizes too.

    >>> n = Dim("n", min=1, max=512, multiple=8)
    >>> n, 2 * n + 1
    (Dim('n', min=1, max=512, multiple=8), Dim(2*n + 1))
    """

    __slots__ = ("declared", "size")

    declared: Mapping[str, Declaration]
    size: dims.Dim

    def __init__(self, name: str, min: int = 0, max: int | None = None, multiple: int = 1):
        """Check what is said; TypeError or ValueError name what has no meaning."""
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            raise ArgumentError(f"the name of a size is an identifier, not {name!r}")
        _check_number(name, "min", min, 0)
        _check_number(name, "multiple", multiple, 1)
        if max is not None:
            _check_number(name, "max", max, 0)
            if max < min:
                raise ArgumentError(f"the size {name} has no value: min={min} is above max={max}")
            if max // multiple * multiple < min:
                raise ArgumentError(
                    f"the size {name} has no value: no multiple of {multiple} lies from {min} to "
                    f"{max}"
                )
        declaration = Declaration(name, min, max, multiple)
        self.declared, self.size = {name: declaration}, declaration.symbol

    __add__ = __radd__ = _formula(add)
    __sub__, __rsub__ = _formula(sub), _formula(lambda size, other: other - size)
    __mul__ = __rmul__ = _formula(mul)
    __floordiv__, __mod__ = _formula(floordiv), _formula(mod)

    def _key(self) -> tuple[Any, ...]:
        return str(self.size), tuple(sorted(self.declared.items()))

    def __repr__(self) -> str:
        """As one would write it."""
        if not dims.is_symbol(self.size):
            return f"Dim({self.size})"
        (entry,) = self.declared.values()
        parts = [repr(entry.name)]
        parts += [f"min={entry.minimum}"] * (entry.minimum != 0)
        parts += [f"max={entry.maximum}"] * (entry.maximum is not None)
        parts += [f"multiple={entry.multiple}"] * (entry.multiple != 1)
        return f"Dim({', '.join(parts)})"


def _check_number(name: str, what: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise WrongKind(f"{what} of the size {name} is an int, not {value!r}")
    if value < least:
        raise ArgumentError(f"{what} of the size {name} is at least {least}, not {value}")


Axis = int | str | Dim | dims.Dim | None


class InputSpec(_ByKey):
    """Shape, element type and name of a tensor argument.

    A Dim says more of a size: its limits and what divides it; formulas such as `2 * Dim("n") + 1`
    relate sizes.

    Parameters
    ----------
    shape
        A list of sizes: an int, None (unknown) or a name; the same name in several specs means the
        same size. -1 is None, too.
    dtype
        The element type, "float32" if it is left out.
    name
        What the input is called in the Program.
    stop_gradient
        Whether no gradient flows to it.

    Raises
    ------
    TypeError, ValueError
        For what is no size, no list or no dtype.

    Examples
    --------
    >>> dy2st.static.InputSpec(["batch", None, 64], "float32", "x")
    InputSpec(shape=('batch', None, 64), dtype=float32, name='x')
    >>> double = dy2st.to_static(lambda x: x * 2, [dy2st.static.InputSpec(["n", 3])])
    >>> double.outputs[0].shape
    [n, 3]
    """

    @without_own_frames
    def __init__(
        self,
        shape: Sequence[Axis],
        dtype: DTypeLike = "float32",
        name: str | None = None,
        stop_gradient: bool = False,
    ):
        """Check and keep; TypeError or ValueError say what is wrong with a size or dtype."""
        if isinstance(shape, (str, int)) or not isinstance(shape, Sequence):
            raise WrongKind(f"the shape of an InputSpec is a list of sizes, not {shape!r}")
        self.shape = tuple(_checked_size(size) for size in shape)
        self.dtype = given_dtype(dtype)
        if self.dtype.kind not in "fiubVc":
            raise WrongKind(f"a tensor cannot have the dtype {self.dtype}")
        self.name = name
        self.stop_gradient = stop_gradient

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> InputSpec:
        """The spec that fits exactly this tensor.

        >>> dy2st.static.InputSpec.from_tensor(dy2st.ones([2, 3]), "x")
        InputSpec(shape=(2, 3), dtype=float32, name='x')
        """
        if not isinstance(tensor, Tensor):
            raise ArgumentError(f"from_tensor takes a tensor, not {type(tensor).__name__}")
        return cls(list(tensor.tensor_type.shape), tensor.dtype, name)

    @classmethod
    def from_numpy(cls, array: np.ndarray[Any, Any], name: str | None = None) -> InputSpec:
        """The spec that fits exactly this array.

        >>> dy2st.static.InputSpec.from_numpy(np.zeros((2, 3), "int64"))
        InputSpec(shape=(2, 3), dtype=int64, name=None)
        """
        return cls(list(array.shape), array.dtype, name)

    def batch(self, size: Axis) -> InputSpec:
        """This spec, changed, with one more axis in front.

        >>> dy2st.static.InputSpec([3]).batch("n")
        InputSpec(shape=('n', 3), dtype=float32, name=None)
        """
        self.shape = (_checked_size(size), *self.shape)
        return self

    def unbatch(self) -> InputSpec:
        """This spec, changed, without its first axis; ValueError if it has none.

        >>> dy2st.static.InputSpec(["n", 3]).unbatch()
        InputSpec(shape=(3,), dtype=float32, name=None)
        """
        if not self.shape:
            raise ArgumentError("unbatch of a spec without axes")
        self.shape = self.shape[1:]
        return self

    def _key(self) -> tuple[Any, ...]:
        sizes = tuple(_comparable(size) for size in self.shape)
        return sizes, self.dtype, self.name, self.stop_gradient

    def __repr__(self) -> str:
        """As one would write it."""
        return f"InputSpec(shape={self.shape}, dtype={self.dtype}, name={self.name!r})"


def _comparable(size: Axis) -> Any:
    """Something whose == is a bool: that of two formulas may be a Condition."""
    if not isinstance(size, dims.Dim):
        return size
    return str(size), tuple((s.minimum, s.maximum) for s in dims.symbols(size))


def _checked_size(size: Any) -> Axis:
    if isinstance(size, str) and not size.isidentifier():
        raise ArgumentError(f"the name of a size is an identifier, not {size!r}")
    if size is None or isinstance(size, (str, Dim, dims.Dim)):
        return size
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        raise ArgumentError(f"a size is an int, a name, a Dim or None, not {size!r}")
    number = int(size)
    if number < -1:
        raise ArgumentError(f"a size cannot be {number}")
    # PaddlePaddle writes -1 for an unknown size.
    return None if number == -1 else number


Requirement = tuple[Any, str]  # a condition that the user declared, and the words for it


class _Sizes:
    """The names of one list of InputSpecs: what was said of each, and where first."""

    def __init__(self) -> None:
        self.declared: dict[str, tuple[Declaration, str]] = {}
        self.requirements: list[Requirement] = []
        self.shapes: list[tuple[Size, ...]] = []

    def declare(self, entry: Declaration, place: str) -> None:
        known, first = self.declared.setdefault(entry.name, (entry, place))
        if known != entry:
            raise SpecError(
                f"the size `{entry.name}` is {known} in the InputSpec of {first}, but {entry} in "
                f"that of {place}: give the limits once, and the name alone elsewhere"
            )
        # Required once for each name, where it is declared first.
        if first == place and entry.multiple > 1:
            condition = entry.symbol % entry.multiple == 0
            self.requirements.append((condition, f"declared in InputSpec of {place}"))

    def size(self, entry: Any, place: str, unknown: str) -> Size:
        """The size of one axis, when all declarations are known."""
        if isinstance(entry, str):
            return self.named(entry)
        if entry is None:
            # The user may have declared a size of this very name.
            while unknown in self.declared:
                unknown += "_"
            return self.named(unknown)
        size: Size = entry.size if isinstance(entry, Dim) else entry
        largest = dims.bounds(size)[1]
        if largest is not None and largest < 0:
            raise SpecError(f"{place} of an InputSpec is {size}, which is always below 0")
        least = size >= 0
        if not isinstance(least, bool):
            self.requirements.append((least, f"declared in InputSpec of {place}"))
        return size

    def named(self, name: str) -> Size:
        entry, _ = self.declared.setdefault(name, (Declaration(name), ""))
        return entry.symbol


def resolve(
    specs: Sequence[InputSpec], names: Sequence[str]
) -> tuple[list[TensorType], list[Requirement]]:
    """Types of the placeholders, and what the user declared beyond ranges, for one call's specs.

    Unknown sizes are named after argument and axis. Raises SpecError if the specs contradict each
    other, or name a size that no axis determines.
    """
    sizes = _Sizes()
    for spec, name in zip(specs, names, strict=True):
        for axis, entry in enumerate(spec.shape):
            own: Iterable[Declaration] = ()
            if isinstance(entry, Dim):
                own = entry.declared.values()
            elif isinstance(entry, dims.Dim):
                own = [Declaration(str(s), s.minimum, s.maximum) for s in dims.symbols(entry)]
            for declaration in own:
                sizes.declare(declaration, f"`{name}`, axis {axis}")
    for entry in (entry for spec in specs for entry in spec.shape if isinstance(entry, str)):
        sizes.named(entry)  # before the unknown sizes choose their names
    types = []
    for spec, name in zip(specs, names, strict=True):
        shape = []
        for axis, entry in enumerate(spec.shape):
            unknown = re.sub(r"\W", "_", f"{name}_axis{axis}")
            unknown = unknown if unknown.isidentifier() else f"_{unknown}"
            shape.append(sizes.size(entry, f"`{name}`, axis {axis}", unknown))
        types.append(TensorType(spec.dtype, shape))
    # Every symbol can be computed from an axis that holds it alone
    solvable = {found.symbol for type in types for size in type.shape if (found := solved(size))}
    for type, name in zip(types, names, strict=True):
        for axis, size in enumerate(type.shape):
            for symbol in dims.symbols(size) if isinstance(size, dims.Dim) else ():
                if symbol not in solvable:
                    raise SpecError(
                        f"`{name}`, axis {axis} of an InputSpec is {size}, from which {symbol} "
                        f"cannot be computed: some axis must be {symbol}, or a multiple of it "
                        "plus a number"
                    )
    return types, sizes.requirements
