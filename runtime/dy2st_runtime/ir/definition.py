"""The record of an operator, and the table of all records.

`dy2st_runtime.ops` fills the table, one `define(...)` an operator. Everything else asks it: the
tracer and the verifier for types, the tape for gradients, the engines for kernels, the tests for
samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim, Size, less_equal, require
from dy2st_runtime.errors import ArgumentError, DTypeError, Dy2stError
from dy2st_runtime.ir.attribute_kinds import REQUIRED, AttributeKind, kind_of
from dy2st_runtime.ir.kernel_errors import as_ours
from dy2st_runtime.ir.operator_families import load_operator


class Effect(Enum):
    """What an operator does besides computing its results.

    >>> from dy2st_runtime.ir import lookup
    >>> lookup("add").effect.name, lookup("uniform").effect.name, lookup("print").effect.name
    ('PURE', 'RANDOM', 'VISIBLE')
    """

    PURE = "pure"  # may be removed, merged, folded
    RANDOM = "random"  # draws from the generator: order and number matter
    VISIBLE = "visible"  # prints, asserts: must run, in order


class Kind(IntEnum):
    """Where the elements of the results come from, the least to compute first.

    >>> from dy2st_runtime.ir import Kind, lookup
    >>> lookup("exp").kind < lookup("matmul").kind, lookup("sum").kind.name
    (True, 'REDUCTION')
    """

    ELEMENTWISE = 0  # of one operand: every element of the element at its place
    BROADCAST = 1  # element by element, after the operands are brought to one shape
    INJECTIVE = 2  # every element is one element of an operand, or a constant
    REDUCTION = 3  # elements along axes become one
    CONTRACTION = 4  # much arithmetic for every element, as in a product of matrices
    OPAQUE = 8  # none of these


class Scales(Enum):
    """For which factors f(x * s) = f(x) * s, one for all elements or one a place of an axis.

    >>> from dy2st_runtime.ir import lookup
    >>> lookup("relu").scales.name, lookup("exp").scales
    ('POSITIVE', None)
    """

    ALL = "all"
    POSITIVE = "positive"


class View(Enum):
    """How results look into the memory of the first operand.

    >>> from dy2st_runtime.ir import lookup
    >>> lookup("reshape").view.name
    'SAME'
    """

    SAME = "same"  # all elements in their order; a copy where the shape does not allow it
    PERMUTED = "permuted"  # all elements in another order
    ROWS = "rows"  # elements that lie one after the other
    PART = "part"  # some elements
    REPEATED = "repeated"  # some elements more than once
    UNSURE = "unsure"  # a view or a copy: known only at run time


@dataclass(eq=False, slots=True)
class Sample:
    """One call that the generated tests make: input shapes and dtypes, and attributes.

    `low` and `high` bound the random inputs; sizes given as strings become symbols.

    >>> from dy2st_runtime.ir import lookup
    >>> [sample.shapes for sample in lookup("exp").samples][:2]
    [((2, 3),), ((),)]
    """

    shapes: tuple[tuple[int, ...], ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ()
    low: float = -2.0
    high: float = 2.0


@dataclass(eq=False, repr=False, slots=True, kw_only=True)  # one for each name, and large
class OperatorDefinition:
    """All target-independent facts about one operator.

    inputs      names in order; a last `xs*` takes any number, a trailing `bias?` may be left out.
    attributes  names with their defaults, REQUIRED where there is none.
    allowed     what values they may have. `define` takes both as one: a kind, or a default that
                implies it.
    infer       (*types, **attributes) -> a type, or a tuple of types for several results.
    kernel      (*arrays, **attributes) -> an array, or a tuple; Dims in attributes are ints here.
    gradient    (g, y, *inputs, **attributes) -> one entry an input: a value, a thunk that is called
                only if the value is needed, or None. With several results g and y are tuples and g
                may hold None. Written with operators.
    decompose   (*inputs, **attributes) -> results, written with other operators. It stands in for
                whichever of infer, kernel and gradient is not given: the operator is composite.
    data        what it makes of integers that are known as sizes: (*arrays, **attributes) -> an
                array of ints and Dims, a tuple, or None; an input that is not known is its type.
                True where the kernel does that.
    raises      the class of error that the kernel raises for some data although the shapes fit, as
                for a position outside of a tensor, or several classes. Then it is no dead code,
                though nobody may read its results: Python raises there too.
    fails       whether it fails, or warns, for some data: it is never computed where the user's
                code would not. A rule gets (*operands, **attributes), of a constant the array and
                else the type. Not given: whether it raises.
    takes_complex  whether its operands may be complex numbers: kernel, type and gradient are right
                for them. All others refuse them.
    takes_out   whether the kernel takes `out`, its first operand, to write an elementwise result
                over it; ufuncs do without saying so.
    cheap       whether to compute it costs no more than to read its operands: of elementwise ones.
    hidden      whether its gradient is code of the user's, which is no part of a Program.
    borrows     whether its results may be its operands, or hold them, or be what they hold: of
                operators on lists.
    makes_list  whether its first result is a list of its own: no operand, and in no operand.
    in_place    what the kernel does to its first operand, a list that nobody needs any more: it
                changes that list and gives it instead of a new one.
    promote     positions of inputs that are brought to their common dtype first; True for all.
    kind        where the elements of the (only) result come from; of pure operators.
    commutes    whether its two operands may be exchanged: the results are equal numbers;
                same_bits says whether they are equal bits too, signs of zeros among them.
    along       the attribute that names the axis, or axes, of the first operand along which it
                works, or a rule for them from (*types, **attributes). Along all others every slice
                is for itself, and the results have these axes too.
    sizes       attributes whose sizes are nothing but those of axes of the results: where the size
                of a padded axis may stand. Elsewhere it is a number that is computed with.
    padding     how operands pass that are longer than they really are: a rule from a
                `padding.Site` to the longer axes of the results. Needed only where kind, along
                and decompose do not say.
    scales      the factors that pass it, from its first operand to its results; none if not given.
    view        how results look into the memory of the first operand, or a rule for that from
                (type of it, **attributes); None: they have memory of their own.
    shares      whether to the user the result is a view of the first operand: what changes one in
                place changes the other. `view` says what an engine may do.
    scratch     shapes of what the kernel makes beside its results, where that may be many times as
                large as operands and results: from (y, *types, **attributes), y being the type of
                the result, or a tuple of types.
    put_back    (x, y, i, *inputs, **attributes) -> x with those elements replaced by y that the
                i-th result has: of operators through which a view may come to be.

    >>> from dy2st_runtime.ir import lookup
    >>> add = lookup("add")
    >>> add.doc, add.inputs, add.commutes, add.kind.name
    ('x + y.', ('x', 'y'), True, 'BROADCAST')
    """

    name: str
    doc: str
    inputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    allowed: Mapping[str, AttributeKind] = field(default_factory=dict)
    infer: Callable[..., Any] | None = None
    kernel: Callable[..., Any] | None = None
    gradient: Callable[..., Any] | None = None
    decompose: Callable[..., Any] | None = None
    data: Callable[..., Any] | bool | None = None
    takes_complex: bool = False
    takes_out: bool = False
    cheap: bool = False
    hidden: bool = False
    borrows: bool = False
    makes_list: bool = False
    in_place: Callable[..., Any] | None = None
    promote: bool | tuple[int, ...] = False
    effect: Effect = Effect.PURE
    raises: tuple[type[Exception], ...] | None = None
    fails: Callable[..., bool] | bool | None = None
    kind: Kind = Kind.OPAQUE
    commutes: bool = False
    same_bits: bool = True
    along: Callable[..., Iterable[int]] | str | None = None
    sizes: tuple[str, ...] = ()
    padding: Callable[..., Iterable[int]] | None = None
    scales: Scales | None = None
    view: Callable[..., View | None] | View | None = None
    shares: bool = False
    scratch: Callable[..., Iterable[Sequence[Size]]] | None = None
    put_back: Callable[..., Any] | None = None
    samples: tuple[Sample, ...] = ()
    _least: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        """Note which attributes are sizes."""
        kinds = self.allowed.items()
        self._least = tuple((name, k.least) for name, k in kinds if k.least is not None)

    def require_sizes(self, attributes: Mapping[str, Any]) -> None:
        """Require that sizes are not negative, and steps not 0, where no number says so.

        >>> from dy2st_runtime.ir import lookup
        >>> with dy2st.dims.collect() as gathered:
        ...     lookup("full").require_sizes({"shape": (dy2st.dims.symbol("n") - 3,)})
        >>> [one.condition for one in gathered]
        [n >= 3]
        """
        for name, least in self._least:
            for size in _unknown_sizes(attributes.get(name)):
                if less_equal(least, size) is not True:
                    require(size >= least, f"{self.name}: `{name}` is {size}, less than {least}")

    def typed(self, types: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        """What the shape rule gives. It relies on the kinds of attributes, which nobody has asked
        before where an operator is called by its name alone.

        >>> from dy2st_runtime.ir import TensorType, lookup
        >>> matrix = TensorType("float32", (2, 3))
        >>> lookup("matmul").typed([matrix, matrix.with_shape([3, 4])], {})
        float32[2, 4]
        """
        assert self.infer is not None
        self.require_sizes(attributes)
        try:
            return self.infer(*types, **attributes)
        except Dy2stError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            self._refuse_attributes(types, attributes)
            raise

    def _refuse_attributes(self, types: Sequence[Any], attributes: Mapping[str, Any]) -> None:
        """ArgumentError if one is not of its kind."""
        for name, kind in self.allowed.items():
            value = attributes.get(name, kind.default)
            if value is not kind.default and not kind.fits(value, types):
                raise ArgumentError(f"{self.name}: `{name}` is {value!r:.80}, not {kind.what}")

    @property
    def is_primitive(self) -> bool:
        """Whether the operator has no decomposition.

        >>> from dy2st_runtime.ir import lookup
        >>> lookup("add").is_primitive, lookup("layer_norm").is_primitive
        (True, False)
        """
        return self.decompose is None

    def refuse_complex(self, operands: Iterable[Any]) -> None:
        """DTypeError if one of them, tensors or types, holds complex numbers and may not.

        >>> from dy2st_runtime.ir import lookup
        >>> lookup("add").refuse_complex([dy2st.to_tensor([1j])])
        >>> try:
        ...     lookup("floor").refuse_complex([dy2st.to_tensor([1j])])
        ... except dy2st.errors.DTypeError:
        ...     print("no complex number has a floor")
        no complex number has a floor
        """
        for operand in () if self.takes_complex else operands:
            dtype = getattr(operand, "dtype", None)  # lists have none
            if dtype is not None and dtype.kind == "c":
                raise DTypeError(
                    f"{self.name} takes no tensor of {dtype}: compute with abs(x), angle(x), "
                    "real(x) and imag(x), or with as_real(x), which has both parts along a last "
                    "axis"
                )

    @property
    def is_elementwise(self) -> bool:
        """Whether an element of the result is made of those at its place, and of no others.

        >>> from dy2st_runtime.ir import lookup
        >>> lookup("add").is_elementwise, lookup("sum").is_elementwise
        (True, False)
        """
        return self.kind <= Kind.BROADCAST

    @property
    def is_cheap(self) -> bool:
        """Whether computing it once more is worth it where that saves memory.

        >>> from dy2st_runtime.ir import lookup
        >>> lookup("relu").is_cheap, lookup("exp").is_cheap
        (True, False)
        """
        return self.cheap or self.kind is Kind.INJECTIVE or isinstance(self.view, View)

    @property
    def is_variadic(self) -> bool:
        """Whether the last input takes any number of values.

        >>> from dy2st_runtime.ir import lookup
        >>> lookup("concat").is_variadic, lookup("add").is_variadic
        (True, False)
        """
        return bool(self.inputs) and self.inputs[-1].endswith("*")

    def works_along(self, types: Iterable[Any], attributes: Mapping[str, Any]) -> Any:
        """The axes that `along` gives for a call, None if it gives none.

        >>> from dy2st_runtime.ir import TensorType, lookup
        >>> type = TensorType("float32", (2, 3))
        >>> lookup("softmax").works_along([type], {"axis": 1}), lookup("add").works_along([], {})
        ((1,), None)
        """
        if self.along is None:
            return None
        found = attributes[self.along] if self.along.__class__ is str else None
        if found is None:
            found = self.along(*types, **attributes)  # type: ignore[operator]
        return (found,) if isinstance(found, int) else tuple(found)

    def may_fail(self, operands: Iterable[Any], attributes: Mapping[str, Any]) -> bool:
        """Whether it may stop or warn, for operands given as `fails` wants them.

        >>> from dy2st_runtime.ir import lookup
        >>> lookup("add").may_fail([], {})
        False
        """
        if callable(self.fails):
            return self.fails(*operands, **attributes)
        return self.raises is not None if self.fails is None else self.fails


def _unknown_sizes(value: Any) -> Iterator[Dim]:
    """The Dims in nested tuples."""
    if value.__class__ is Dim:
        yield value
    elif value.__class__ is tuple:
        for entry in value:
            yield from _unknown_sizes(entry)


DEFINITIONS: dict[str, OperatorDefinition] = {}


def define(
    name: str,
    *,
    inputs: str | Iterable[str] = (),
    attributes: Mapping[str, Any] = MappingProxyType({}),
    samples: Iterable[Sample] = (),
    **facts: Any,
) -> OperatorDefinition:
    """Enter an operator into the table; `inputs` may be one string, "x, y, bias?".

    `attributes` are kinds by name, or defaults: `{"axis": AXIS, "keepdim": False}`; the other facts
    are those of an `OperatorDefinition`.

    >>> from dy2st_runtime.ir import DEFINITIONS, apply, define
    >>> made = define("cube", doc="x**3.", inputs="x", infer=lambda x: x, kernel=lambda x: x**3)
    >>> apply("cube", dy2st.to_tensor([2.0])).tolist()
    [8.0]
    >>> del DEFINITIONS["cube"]
    """
    if isinstance(inputs, str):
        inputs = [part.strip() for part in inputs.split(",") if part.strip()]
    allowed = {key: kind_of(declared) for key, declared in attributes.items()}
    if isinstance(facts.get("raises"), type):
        facts["raises"] = (facts["raises"],)
    definition = OperatorDefinition(
        name=name,
        inputs=tuple(inputs),
        attributes={key: kind.default for key, kind in allowed.items()},
        allowed=allowed,
        samples=tuple(samples),
        **facts,
    )
    assert name not in DEFINITIONS, f"operator {name!r} is defined twice"
    assert definition.decompose or definition.infer, f"operator {name!r} has no shape rule"
    is_plain = definition.kind is Kind.OPAQUE and definition.along is None
    assert definition.effect is Effect.PURE or is_plain, f"operator {name!r} cannot be moved about"
    if definition.raises is not None and definition.kernel is not None:
        # Let what the kernel raises for some data name the operator, and be a Dy2stError, too.
        # What lists raise stays Python's own.
        kernel, raised = definition.kernel, definition.raises
        if not (definition.borrows or definition.makes_list or definition.in_place):
            assert kernel is not None and raised is not None
            definition.takes_out = definition.takes_out or isinstance(kernel, np.ufunc)

            def run(*arrays: Any, **attributes: Any) -> Any:
                try:
                    return kernel(*arrays, **attributes)
                except raised as error:
                    raise as_ours(definition.name, error) from None

            definition.kernel = run
    DEFINITIONS[name] = definition
    return definition


def lookup(name: str) -> OperatorDefinition:
    """The record of an operator; ArgumentError if there is none of that name.

    >>> from dy2st_runtime.ir import lookup
    >>> lookup("exp").doc
    'e**x.'
    """
    try:
        return DEFINITIONS[name]
    except KeyError:
        definition = find(name)
    if definition is None:
        raise ArgumentError(f"there is no operator {name!r}")
    return definition


def find(name: str) -> OperatorDefinition | None:
    """The record of an operator, None if there is none; its family is loaded if need be."""
    if name not in DEFINITIONS and not load_operator(name):
        return None
    return DEFINITIONS[name]


__all__ = [
    "DEFINITIONS",
    "REQUIRED",
    "Effect",
    "Kind",
    "OperatorDefinition",
    "Sample",
    "View",
    "define",
    "find",
    "lookup",
]
