"""Program, Block, Operator, Variable: the static form of a model, in SSA.

Every Block is closed: what a nested Block reads is an operand of its Operator and a parameter of
the Block. A Variable is made in one place, as parameter of a Block or as result of an Operator.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import floordiv, mod, truediv
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from dy2st_runtime.dims import Constraint
from dy2st_runtime.errors import ArgumentError, Location, TensorAsPython, counted
from dy2st_runtime.ir import ufuncs
from dy2st_runtime.ir.dispatch import F, active
from dy2st_runtime.ir.location import is_asked_by_library
from dy2st_runtime.ir.placement import Mesh, Placement
from dy2st_runtime.ir.refusals import needs_value, refused_by_numpy
from dy2st_runtime.ir.structure import Output
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.text.printer import to_text
from dy2st_runtime.ir.tracing.python_numbers import (
    are_ints,
    check_divisor,
    kind_of,
    number_of_element,
    power,
    shifted_left,
    shifted_right,
    widened,
)
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType
from dy2st_runtime.lazy import Lazy

if TYPE_CHECKING:
    # It shows Programs; only annotations look at it from here.
    from dy2st_runtime.html_page import Page

_values, _hooks = Lazy("dy2st_runtime.ir.tracing.known_values"), Lazy("dy2st_runtime.ir.hooks")
_numpy = Lazy("dy2st_runtime.ir.tracing.numpy_values")
_html_page = Lazy("dy2st_runtime.html_page")
NumberKind = type
"""int, float or bool."""

_ASKING = ("count", "index")


def refused_list(
    what: str, hint: str = "use len(), an index, a `for` loop that appends, or stack() of the list"
) -> TensorAsPython:
    """The refusal to do with a list of the Program what needs its length."""
    return TensorAsPython(
        f"a list whose length depends on a tensor is {what}",
        why="how many items it has is known only when the Program runs",
        hint=hint,
    )


class Variable(Tensor):
    """A value of a Program: it has a type and a maker, but no data.

    Methods that need the data are refused; others are recorded as those of a tensor with data.

    overwritten   where the user changed the tensor in place: any later use of this Variable would
                  see the old value, so it is refused.
    number        int, float or bool where Python would have a number: it then yields to the dtypes
                  of tensors as Python numbers do. Such a Variable is 0-d, int64, float64 or bool.
    mixed         whether Python has a number on some paths alone, or one of another kind.
    is_numpy      whether Python has a number or array of NumPy here.
    held          the values of a small integer tensor, as far as sizes decide them: see `data.py`.

    >>> f = dy2st.to_static(lambda x: x * 2)
    >>> y = f(dy2st.ones([2]))
    >>> (result,) = f.main_program.outputs
    >>> result.type, result.maker.name, result.block is f.main_program.block
    (float32[2], 'multiply', True)
    """

    __slots__ = ("held", "is_numpy", "maker", "mixed", "name", "number", "overwritten", "type")

    def __init__(self, type: ValueType, maker: Operator | Block, name: str = ""):
        """Made by an Operator as a result or by a Block as a parameter; names are for reading."""
        self.type = type
        self.maker = maker
        self.name = name
        self.overwritten: Location | None = None
        self.number: NumberKind | None = None
        self.mixed = self.is_numpy = False
        self.held: Any = None

    @property
    def tensor_type(self) -> TensorType:
        """The type of a Variable that is known to be a tensor."""
        if not isinstance(self.type, TensorType):
            raise refused_list("compared, sorted, or used as a tensor")
        if self.overwritten is None:
            return self.type
        # The user's object stays, whatever `x.reshape_(...)` makes of its value.
        tracer: Any = active()
        if not hasattr(tracer, "captured"):
            return self.type
        now: TensorType = tracer.held_by(self).type
        return now

    @property
    def block(self) -> Block:
        """The Block that the Variable belongs to.

        >>> from dy2st_runtime.ir import Block, TensorType
        >>> block = Block()
        >>> block.add_parameter(TensorType("float32", (2,)), "x").block is block
        True
        """
        return self.maker if isinstance(self.maker, Block) else self.maker.block

    def __getattr__(self, name: str) -> Any:
        """What a list of the Program has of the methods of a list; refused for all others."""
        if isinstance(self.type, ArrayType):
            return self.list_method(name)
        kind = "Tensor" if self.number is None else self.number.__name__
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")

    def list_method(self, name: str) -> Any:
        """A method of a list whose length the Program knows.

        >>> from dy2st_runtime.ir import ArrayType, Block
        >>> items = Block().add_parameter(ArrayType(None), "items")
        >>> items.list_method("copy")() is items
        True
        """
        if name == "copy":
            return lambda: self
        if name in _ASKING:
            raise refused_list(
                f"asked for {name}()", "write a `for` loop over the list that counts or compares"
            )
        if hasattr(list, name):
            raise TensorAsPython(
                f"{name}() of a list whose length depends on a tensor is called in an expression, "
                "outside of all branches and loops, or where no local variable holds the list",
                why="a list of the Program is a value: to change it gives its variable another one",
                hint="change it in an `if` or loop, in a statement of its own, in the function "
                "whose local variable it is: items.append(x), or item = items.pop(...)",
            )
        raise AttributeError(f"'list' object has no attribute {name!r}")

    def __copy__(self) -> Any:
        """A tensor of its own; numbers of Python and lists of a Program do not change in place."""
        if self.number is not None or isinstance(self.type, ArrayType):
            return self
        return F.assign(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """As `__copy__`, but no gradient flows through."""
        if self.number is None and not isinstance(self.type, ArrayType):
            memo[id(self)] = F.assign(F.detach(self))
        return memo.get(id(self), self)

    # -- what only a value can do: refused, with what to write instead -------------------------

    def __bool__(self) -> bool:
        """Refused: the truth is known only when the Program runs."""
        raise needs_value(
            "the truth of a traced tensor is asked in code that was not converted",
            "decorate the function with to_static, or write the `if` or `while` in a function "
            "that dy2st converts; for a choice by element use where(condition, a, b)",
        )

    def __int__(self) -> int:
        """Refused: the number is known only when the Program runs."""
        raise needs_value("int() of a traced tensor", "keep the tensor, or use cast('int64')")

    def __float__(self) -> float:
        """Refused: the number is known only when the Program runs."""
        if self.number is not None:
            raise needs_value(
                "C code, such as a function of math, asks a traced number for its value",
                "use operators: -(-n // 2) for math.ceil(n / 2), n ** 0.5 for math.sqrt(n)",
            )
        raise needs_value("float() of a traced tensor", "keep the tensor, or use cast('float32')")

    def __index__(self) -> int:
        """Refused: the number is known only when the Program runs."""
        raise needs_value(
            "a traced tensor is used as a Python index or count",
            "index a tensor with it (x[i]), or make the structure depend on Python values only",
        )

    # Identity; while a user's function is traced, see `numbers_are_no_keys`.
    __hash__ = object.__hash__

    def unhashable(self) -> TensorAsPython:
        """The refusal to be a key of a dict or set.

        >>> from dy2st_runtime.ir import Block, TensorType
        >>> x = Block().add_parameter(TensorType("int64", ()), "x")
        >>> x.unhashable().what
        'a traced number is a key of a dict or set'
        """
        return needs_value(
            "a traced number is a key of a dict or set",
            "compare it with the keys in an `if`, or keep the entries in a tensor and index that",
        )

    def _as_summand(self, other: Any = 0) -> Any:
        """Itself; a bool of Python as an int, where it meets another number."""
        return widened(self, other) if self.number is bool else self

    def __mul__(self, other: Any) -> Any:
        """A sequence is not repeated: its length would be known only when the Program runs."""
        if isinstance(self.type, ArrayType):
            raise refused_list("repeated")
        if self.number is not None and isinstance(other, _SEQUENCES):
            raise needs_value(
                f"a {type(other).__name__} is repeated as often as a traced number says",
                "append to a list in a `for` loop over range(...), or repeat a tensor: tile(...)",
            )
        return super(Variable, self._as_summand(other)).__mul__(other)

    def __truediv__(self, other: Any) -> Any:
        """A number of Python is not divided by zero."""
        check_divisor(self, other, truediv)
        return super().__truediv__(other)

    def __rtruediv__(self, other: Any) -> Any:
        """As `__truediv__`."""
        check_divisor(other, self, truediv)
        return super().__rtruediv__(other)

    def __floordiv__(self, other: Any) -> Any:
        """As `__truediv__`."""
        check_divisor(self, other, floordiv)
        return super(Variable, self._as_summand(other)).__floordiv__(other)

    def __rfloordiv__(self, other: Any) -> Any:
        """As `__truediv__`."""
        check_divisor(other, self, floordiv)
        return super(Variable, self._as_summand(other)).__rfloordiv__(other)

    def __mod__(self, other: Any) -> Any:
        """As `__truediv__`."""
        check_divisor(self, other, mod)
        return super(Variable, self._as_summand(other)).__mod__(other)

    def __rmod__(self, other: Any) -> Any:
        """As `__truediv__`."""
        check_divisor(other, self, mod)
        return super(Variable, self._as_summand(other)).__rmod__(other)

    def __pow__(self, other: Any) -> Any:
        """Numbers follow Python, which knows float overflow and negative powers of ints."""
        if self.number is None or kind_of(other) is None:
            return super().__pow__(other)
        return power(self._as_summand(), widened(other))

    def __rpow__(self, other: Any) -> Any:
        """As `__pow__`."""
        if self.number is None or kind_of(other) is None:
            return super().__rpow__(other)
        return power(other, self._as_summand())

    def __lshift__(self, other: Any) -> Any:
        """Numbers follow Python, where ints alone have it."""
        if self.number is None or kind_of(other) is None:
            return super().__lshift__(other)
        return shifted_left(self, other) if are_ints(self, other) else NotImplemented

    def __rlshift__(self, other: Any) -> Any:
        """As `__lshift__`."""
        if self.number is None or kind_of(other) is None:
            return super().__rlshift__(other)
        return shifted_left(other, self) if are_ints(self, other) else NotImplemented

    def __rshift__(self, other: Any) -> Any:
        """As `__lshift__`."""
        if self.number is None or kind_of(other) is None:
            return super().__rshift__(other)
        return shifted_right(self, other) if are_ints(self, other) else NotImplemented

    def __rrshift__(self, other: Any) -> Any:
        """As `__lshift__`."""
        if self.number is None or kind_of(other) is None:
            return super().__rrshift__(other)
        return shifted_right(other, self) if are_ints(self, other) else NotImplemented

    def __invert__(self) -> Any:
        """Of an int -x - 1; `not` negates a bool."""
        return -1 - self._as_summand() if are_ints(self) else super().__invert__()

    def __add__(self, other: Any) -> Any:
        """Bools of Python are added as ints; a list gets the entries of another one."""
        if isinstance(self.type, ArrayType):
            return self._joined(other)
        return super(Variable, self._as_summand(other)).__add__(other)

    def __radd__(self, other: Any) -> Any:
        """As `__add__`."""
        if isinstance(self.type, ArrayType):
            raise refused_list("added to another list")
        return super(Variable, self._as_summand(other)).__radd__(other)

    def __sub__(self, other: Any) -> Any:
        """As `__add__`."""
        return super(Variable, self._as_summand(other)).__sub__(other)

    def __rsub__(self, other: Any) -> Any:
        """As `__add__`."""
        return super(Variable, self._as_summand(other)).__rsub__(other)

    def __neg__(self) -> Any:
        """Of bools of Python as of ints."""
        return super(Variable, self._as_summand()).__neg__()

    def __pos__(self) -> Any:
        """As `__neg__`."""
        return self._as_summand()

    def __abs__(self) -> Any:
        """As `__neg__`."""
        return _numpy.still_numpy(super(Variable, self._as_summand()).__abs__(), self)

    def __rmul__(self, other: Any) -> Any:
        """As `__mul__`."""
        if isinstance(other, _SEQUENCES):
            return self * other
        return super(Variable, self._as_summand(other)).__rmul__(other)

    def __iter__(self) -> Iterator[Any]:
        """The tensors along the first axis, if their number is known."""
        if isinstance(self.type, ArrayType):
            raise refused_list("unpacked, or gone through by code that is not converted")
        size = self.shape[0] if self.ndim else None
        if size is None:
            raise TypeError("iteration over a 0-d tensor")
        if not isinstance(size, int):
            raise needs_value(
                f"iteration over a traced tensor whose first axis has the unknown size {size}",
                "iterate in a `for` statement of a converted function",
            )
        return (self[i] for i in range(size))

    def __getitem__(self, index: Any) -> Any:
        """The elements at an index; those of an array of NumPy are NumPy's, too."""
        found = super().__getitem__(index)
        return _numpy.still_numpy(found, self) if self.is_numpy else found

    def __setitem__(self, index: Any, value: Any) -> None:
        """All names of the tensor mean the changed one from here on."""
        _recorder().replace(self, lambda old: F.setitem(old, index, value))

    def replace(self, compute: Callable[[Tensor], Any], is_same_memory: bool = False) -> None:
        """Become what is computed of the tensor as it is; all names mean that from here on."""
        _recorder().replace(self, compute, is_same_memory)

    def set_value(self, value: Any) -> None:
        """As `__setitem__`, for all elements: shape and dtype stay, no gradient flows through."""
        _recorder().set_value(self, value)

    def __iadd__(self, other: Any) -> Any:
        """`x += y`: a list of the Program gets the entries of another."""
        return self._joined(other) if isinstance(self.type, ArrayType) else NotImplemented

    def _joined(self, other: Any) -> Any:
        """A list with the entries of another one behind its own."""
        changed: Any = self
        for entry in other:
            changed = F.array_append(changed, entry)
        return changed

    def __delitem__(self, index: Any) -> None:
        """Refused here: converted code makes a new list instead."""
        if isinstance(self.type, ArrayType):
            self.list_method("pop")
        raise TypeError("'Tensor' object doesn't support item deletion")

    def __contains__(self, value: Any) -> bool:
        """Refused: the answer is known only when the Program runs."""
        raise needs_value("`in` on a traced tensor", "write (x == value).any()")

    def numpy(self, blocking: bool = True) -> Any:
        """The data of a constant, or of sizes; refused where only the run knows them."""
        return _values.array_of(self, "numpy() of a traced tensor")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        """As `numpy`."""
        made = _values.array_of(self, "an array of NumPy is made of a traced tensor")
        return np.array(made, *args)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """As that of all tensors; refused where no function of dy2st computes it."""
        if any(isinstance(one, Tensor) and getattr(one, "number", None) is None for one in inputs):
            made = ufuncs.apply_ufunc(ufunc, method, inputs, options)
        else:  # numbers of Python: as if they had left the operator of an array to us
            made = ufuncs.apply_reflected(ufunc, method, inputs, options)
        if made is NotImplemented:
            raise refused_by_numpy(ufunc)
        return _numpy.still_numpy(made, inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Our function, or what NumPy's makes of attributes alone, as `np.shape`; else refused."""
        try:
            made = super().__array_function__(function, types, args, kwargs)
            return _numpy.still_numpy(made, args, kwargs)
        except TypeError:
            raise refused_by_numpy(function) from None

    def item(self, *index: Any) -> Any:
        """The one element, or the one at `index`, as a number of the running Program."""
        is_nested = len(index) == 1 and isinstance(index[0], tuple)
        place = index[0] if is_nested else index
        if not all(hasattr(entry, "__index__") for entry in place):
            raise TypeError(f"item() takes ints, not {place}")
        if len(index) == 1 and not is_nested:  # the place among all elements
            return number_of_element(F.reshape(self, [-1])[place[0]])
        if index and len(place) != self.ndim:
            raise ValueError(f"item() of a tensor with {self.ndim} axes gets {len(place)} indices")
        return number_of_element(self[place] if index else self)

    def tolist(self) -> Any:
        """As `numpy`."""
        way = "write [float(v) for v in x]"
        return _values.array_of(self, "tolist() of a traced tensor", way).tolist()

    def backward(self, *args: Any, **kwargs: Any) -> None:
        """Refused in code that is not converted: it does not know whose gradients there are."""
        raise needs_value(
            "backward() of a traced tensor is called in code that was not converted",
            "decorate the function with to_static, or call backward() on what it returns",
        )

    def __str__(self) -> str:
        """Refused: the text is known only when the Program runs."""
        raise needs_value("str() of a traced tensor, or a traced tensor in an f-string", _PRINT)

    @property
    def stop_gradient(self) -> bool:
        """Whether no gradient flows through, in the call for which the Program is made."""
        self._refuse_number()
        return bool(_recorder().flags.get(self))

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self._refuse_number()
        _recorder().flags.set(self, bool(value))

    def _refuse_number(self) -> None:
        """AttributeError where Python has a number, which is no tensor; `__getattr__` words it."""
        if self.number is not None:
            raise AttributeError

    @property
    def data(self) -> Any:
        """The same value without gradients; after a change in place of either one the other is
        refused."""
        return data_of_tensor(self)

    @data.setter
    def data(self, value: Any) -> None:
        self.set_value(value)

    @property
    def grad(self) -> Any:
        """Refused: `backward` comes when the Program has run."""
        raise needs_value("the gradient of a traced tensor", _OUTSIDE)

    @grad.setter
    def grad(self, value: Any) -> None:
        raise needs_value("the gradient of a traced tensor", _OUTSIDE)

    def gradient(self) -> Any:
        """Refused, as `grad`."""
        raise needs_value("the gradient of a traced tensor", _OUTSIDE)

    @property
    def is_leaf(self) -> bool:
        """Refused: the tape comes when the Program runs."""
        raise needs_value(
            "is_leaf of a traced tensor",
            "stop_gradient tells whether gradients flow through, here too",
        )

    def register_hook(self, hook: Any) -> Any:
        """Call `hook(gradient)` when the gradient of a call is computed; returns its remover."""
        return _hooks.register(_recorder(), self, hook)

    def retain_grads(self) -> None:
        """Refused, as `grad`."""
        raise needs_value("retain_grads() of a traced tensor", _OUTSIDE)

    def clear_grad(self) -> None:
        """Refused, as `grad`."""
        raise needs_value("clear_grad() of a traced tensor", _OUTSIDE)

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Refused, as `grad`."""
        self.clear_grad()

    def __repr__(self) -> str:
        """`Variable(%x: float32[2, 3])`; refused to libraries, which would show it."""
        if is_asked_by_library(sys._getframe(1)):
            raise needs_value("the text of a traced tensor in code that is not converted", _PRINT)
        return f"Variable(%{self.name or '?'}: {self.type})"


# Errors of Python's name the class of a value: in a trace they say what they say of a tensor.
Variable.__name__ = "Tensor"


def data_of_tensor(tensor: Tensor) -> Any:
    """`tensor.data` in a trace: a view without gradients."""
    _recorder()
    return F.detach(tensor)


def _recorder() -> Any:
    """The tracer, which records what becomes of a tensor that is changed in place."""
    tracer = active()
    if not hasattr(tracer, "set_value"):
        raise needs_value(
            "a traced tensor is changed in place when the trace is over",
            "return it from the function, and change what the function returned",
        )
    return tracer


_PRINT = "print(x) shows it when the Program runs"
_OUTSIDE = "do it outside of the function, to what it takes or returns"
_SEQUENCES = (str, bytes, list, tuple)


@dataclass(eq=False, repr=False, slots=True)
class Operator:
    """One operation: operands in, results out; attributes are what is known before it runs.

    >>> f = dy2st.to_static(lambda x: dy2st.sum(x, axis=0))
    >>> y = f(dy2st.ones([2, 3]))
    >>> (operator,) = f.main_program.operators
    >>> operator, operator.attributes["axis"]
    (Operator(sum(float32[2, 3]) -> (float32[3])), (0,))
    """

    name: str
    operands: list[Variable]
    attributes: dict[str, Any]
    block: Block
    blocks: list[Block] = field(default_factory=list)
    results: list[Variable] = field(default_factory=list)
    location: Location | None = None
    recompute_call: int = 0  # the number of the call of `recompute` that it is part of, 0 for none

    @property
    def layer(self) -> str:
        """The path of the Layer that it is of, `layers.0.conv1`; empty outside of all.

        >>> net = dy2st.nn.Sequential(dy2st.nn.Linear(2, 3), dy2st.nn.ReLU())
        >>> spec = dy2st.static.InputSpec([None, 2])
        >>> program = dy2st.to_static(net, input_spec=[spec]).forward.main_program
        >>> [(one.name, one.layer) for one in program.operators]
        [('matmul', '0'), ('add', '0'), ('relu', '1')]
        """
        return "" if self.location is None else self.location.layer

    def __repr__(self) -> str:
        """`Operator(add(float32[2], float32[2]) -> (float32[2]))`."""
        types = [", ".join(str(v.type) for v in part) for part in (self.operands, self.results)]
        return f"Operator({self.name}({types[0]}) -> ({types[1]}))"


@dataclass(eq=False, repr=False, slots=True)
class Block:
    """Operators in order, from parameters to the Variables that the Block yields.

    >>> from dy2st_runtime.ir import Block, TensorType
    >>> block = Block()
    >>> x = block.add_parameter(TensorType("float32", (2,)), "x")
    >>> block, x, [*block.walk()]
    (Block(1 parameter, 0 operators), Variable(%x: float32[2]), [])
    >>> [*Block(parent=block).outwards()][1] is block
    True
    """

    parameters: list[Variable] = field(default_factory=list)
    operators: list[Operator] = field(default_factory=list)
    yields: list[Variable] = field(default_factory=list)
    # The Block around this one, of which nothing is read inside; or the Program whose own it is.
    parent: Block | None = None
    program: Program | None = None

    def __repr__(self) -> str:
        """`Block(2 parameters, 7 operators)`."""
        operators = counted(len(self.operators), "operator")
        return f"Block({counted(len(self.parameters), 'parameter')}, {operators})"

    def add_parameter(self, type: ValueType, name: str = "") -> Variable:
        """Append a parameter."""
        variable = Variable(type, self, name)
        self.parameters.append(variable)
        return variable

    def outwards(self) -> Iterator[Block]:
        """The Block, and those around it up to the outermost one."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.parent

    def walk(self) -> Iterator[Operator]:
        """All Operators, outer before inner, in order; safe against deep nesting."""
        stack = [iter(self.operators)]
        while stack:
            for operator in stack[-1]:
                yield operator
                if operator.blocks:
                    stack.append(iter([o for b in operator.blocks for o in b.operators]))
                    break
            else:
                stack.pop()


class LocatedConstraint(NamedTuple):
    """A relation of Dims that must hold when the Program runs, and the line that asks for it.

    >>> spec = [dy2st.static.InputSpec(["n", 2]), dy2st.static.InputSpec(["m", 2])]
    >>> f = dy2st.to_static(lambda x, y: x + y, input_spec=spec)
    >>> [one.constraint.condition for one in f.main_program.constraints]
    [n broadcasts m]
    """

    constraint: Constraint
    location: Location | None = None


@dataclass(eq=False, repr=False, slots=True)
class Program:
    """A function in static form.

    The parameters of `block` are, in this order: the inputs, the parameters, the buffers. The
    yields of `block` are the outputs, then the new values of the buffers named in `updates`.

    structure   how the outputs are nested, a literal with `Output(i)` in place of the i-th.
    changes     the outputs that are new values of arguments which a call changes, by name.
    placements  how parameters and buffers lie on a mesh of devices, of those that do.
    functions   Blocks that the operator `call` names, in order of definition: see `functions.py`.

    >>> f = dy2st.to_static(lambda x: x * 2 + 1)
    >>> y = f(dy2st.ones([2]))
    >>> program = f.main_program
    >>> [operator.name for operator in program.operators]
    ['constant', 'multiply', 'constant', 'add']
    >>> print(program.outputs[0].tensor_type, program.state, program.mesh)
    float32[2] {} None
    """

    name: str = "main"
    block: Block = field(default_factory=Block)
    inputs: list[Variable] = field(default_factory=list)
    parameters: dict[str, Variable] = field(default_factory=dict)
    buffers: dict[str, Variable] = field(default_factory=dict)
    trainable: dict[str, bool] = field(default_factory=dict)
    updates: list[str] = field(default_factory=list)
    constraints: list[LocatedConstraint] = field(default_factory=list)
    structure: Any = None
    changes: dict[str, int] = field(default_factory=dict)
    placements: dict[str, Placement] = field(default_factory=dict)
    functions: dict[str, Block] = field(default_factory=dict)
    viewer: ClassVar[Any] = None  # what writes pages; the compiler brings it

    def __post_init__(self) -> None:
        for block in self.roots:
            block.program = self

    @property
    def roots(self) -> list[Block]:
        """The Blocks that are in no other: its own, then those of its functions.

        >>> f = dy2st.to_static(lambda x: x * 2)
        >>> y = f(dy2st.ones([2]))
        >>> len(f.main_program.roots)
        1
        """
        return [self.block, *self.functions.values()]

    def walk(self) -> Iterator[Operator]:
        """All Operators, those of functions once each, behind those of `block`.

        >>> f = dy2st.to_static(lambda x: x * 2)
        >>> y = f(dy2st.ones([2]))
        >>> [operator.name for operator in f.main_program.walk()]
        ['constant', 'multiply']
        """
        for block in self.roots:
            yield from block.walk()

    @property
    def outputs(self) -> list[Variable]:
        """What the user's function returned, flattened."""
        return self.block.yields[: len(self.block.yields) - len(self.updates)]

    @property
    def operators(self) -> list[Operator]:
        """The Operators of the outermost Block."""
        return self.block.operators

    @property
    def state(self) -> dict[str, Variable]:
        """Parameters and buffers by name, in the order of the Block's parameters."""
        return {**self.parameters, **self.buffers}

    @property
    def mesh(self) -> Mesh | None:
        """The mesh that its placements and `reshard` speak of, None of most Programs."""
        for placement in self.placements.values():
            return placement.mesh
        for operator in self.walk():
            if operator.name == "reshard":
                mesh: Mesh = operator.attributes["mesh"]
                return mesh
        return None

    def drop_state(self, name: str) -> None:
        """Forget a parameter or buffer; `block.parameters` is the caller's to set.

        >>> net = dy2st.to_static(dy2st.nn.Linear(2, 1))
        >>> y = net(dy2st.ones([1, 2]))
        >>> program = net.forward.main_program
        >>> program.drop_state("bias")
        >>> [*program.state]
        ['weight']
        """
        for table in (self.parameters, self.buffers, self.trainable, self.placements):
            table.pop(name, None)

    def __str__(self) -> str:
        """The text form, without locations."""
        return to_text(self, locations=False)

    __repr__ = __str__  # what a prompt shows

    def _repr_html_(self) -> str:
        """What a notebook shows: the operators as a table."""
        return str(_html_page.of_program(self))

    def view(
        self,
        other: Program | None = None,
        *,
        times: Mapping[Operator, float] | None = None,
        sizes: Mapping[str, int] | None = None,
    ) -> Page:
        """A page that shows the Program: `program.view().save("net.html")`, for any browser.

        other  what to compare with, as the Program after a pass.
        times  seconds that operators take: `dy2st.profile(...).of_operators()`.
        sizes  numbers for unknown sizes by name, with which memory is planned.

        Raises ArgumentError for a size that is none of the Program's.

        >>> double = dy2st.to_static(lambda x: x * 2, input_spec=[dy2st.static.InputSpec([2])])
        >>> page = double.main_program.view()
        >>> str(page).count("</html>")
        1
        """
        if Program.viewer is None:
            raise ArgumentError("pages of Programs are written by the compiler: import dy2st")
        page: Page = Program.viewer.view(self, other, times=times, sizes=sizes)
        return page


__all__ = [
    "ArrayType",
    "Block",
    "LocatedConstraint",
    "Operator",
    "Output",
    "Program",
    "TensorType",
    "Variable",
]
