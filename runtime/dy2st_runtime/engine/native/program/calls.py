"""Writes calls of functions of Python: kernels of NumPy, and what raises errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.engine.native.convolution.regions import Region
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.kernels import kernel_call, misfitting
from dy2st_runtime.engine.native.machine.module import Module
from dy2st_runtime.engine.native.program.lifetimes import Kind
from dy2st_runtime.engine.native.program.places import Places
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.sizes import Sizes
from dy2st_runtime.ir.aliasing import lists_in_place
from dy2st_runtime.ir.functions import CALL
from dy2st_runtime.ir.program import Operator, Program, Variable
from dy2st_runtime.ir.sizes import formulas
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.lazy import Lazy

running = Lazy("dy2st_runtime.engine.native.convolution.region_calls")

FAIL = "fail"
"""The label of the block where a call ends in which an exception was raised."""


class Calls:
    """Writes calls into a function; where one of them raises, it goes on at `FAIL`."""

    def __init__(
        self, program: Program, module: Module, function: Function, sizes: Sizes, places: Places
    ) -> None:
        """Values are taken from their places, and put there."""
        self.lists = lists_in_place(program.block)
        self._program, self._module, self._function = program, module, function
        self._sizes, self._places = sizes, places
        self._most_arguments = 1

    def end(self) -> None:
        """All calls are written: make room for the arguments."""
        self._function.reserve("%arguments", f"[{self._most_arguments} x ptr]")

    def call_back(self, operator: Operator) -> None:
        """Let the kernel of NumPy compute."""
        self._take_all(self.result_of(operator), operator.results)

    def call_region(self, region: Region) -> None:
        """Let oneDNN compute; it is given the very arrays of the call, as far as there are."""
        callee = running.region_call(region, self._program.name)
        objects, made = [], []
        for operand in region.operands:
            object, is_new = self._places.argument(operand), False
            if object is None:
                object, is_new = self._object(operand)
            objects.append(object)
            made += [object] if is_new else []
        result = self.call(self._module.object(callee, "region"), objects, made)
        self._take_all(result, region.results)

    def _take_all(self, result: str, results: Sequence[Variable]) -> None:
        if len(results) == 1:
            self.take(result, results[0])
            return
        for index, variable in enumerate(results):
            # A tuple owns its entries: each gets a reference of its own before the tuple goes.
            entry = self._places.field(result, abi.ITEMS + 8 * index)  # of a tuple
            self._function.line(f"call void @Py_IncRef(ptr {entry})")
            self.take(entry, variable)
        self._function.line(f"call void @Py_DecRef(ptr {result})")

    def result_of(self, operator: Operator) -> str:
        """What the kernel of NumPy gives."""
        in_place = operator in self.lists.changed
        functions, is_call = self._module.functions, operator.name == CALL
        if is_call and functions is not None:
            kernel = functions.call(operator, self._program.name)
        else:
            kernel = kernel_call(operator, self._program.name, in_place)
        objects, made = [], []
        for operand in operator.operands:
            object, is_new = self._object(operand)
            objects.append(object)
            made += [object] if is_new else []
        for value in () if is_call else operator.attributes.values():
            for formula in formulas(value):
                if isinstance(formula, Condition):
                    truth = self._sizes.condition(formula)
                    number = self._function.let(f"zext i1 {truth} to i64")
                else:
                    number = self._sizes.value(formula)
                objects.append(self._integer(number))
                made.append(objects[-1])
        return self.call(self._module.object(kernel, operator.name), objects, made)

    def unless(self, holds: str, refuse: Any, shown: Iterable[Dim]) -> None:
        """Call what raises where a condition does not hold."""
        function = self._function
        wrong, right = function.label("wrong"), function.label("right")
        function.branch(holds, right, wrong)
        function.begin(wrong)
        numbers = [self._integer(self._sizes.value(symbol)) for symbol in shown]
        self.call(self._module.object(refuse, "refuse"), numbers, numbers)
        function.jump(FAIL)
        function.begin(right)

    def call(self, callee: str, objects: Sequence[str], made: Sequence[str] = ()) -> str:
        """Call a function of Python; what was `made` for the call is given up."""
        function = self._function
        self._most_arguments = max(self._most_arguments, len(objects))
        for index, object in enumerate(objects):
            place = function.let(f"getelementptr ptr, ptr %arguments, i64 {index}")
            function.line(f"store ptr {object}, ptr {place}")
        result = function.let(
            f"call ptr @PyObject_VectorcallDict(ptr {callee}, ptr %arguments, "
            f"i64 {len(objects)}, ptr null)"
        )
        for object in made:
            function.line(f"call void @Py_DecRef(ptr {object})")
        self.check_made(result)
        return result

    def check_made(self, object: str) -> None:
        """Fail where there is no object."""
        self.go_on_if(self._function.let(f"icmp ne ptr {object}, null"))

    def go_on_if(self, holds: str) -> None:
        """Fail unless a condition holds."""
        label = self._function.label("ok")
        self._function.branch(holds, label, FAIL)
        self._function.begin(label)

    def _integer(self, value: str) -> str:
        return self._function.let(f"call ptr @PyLong_FromLongLong(i64 {value})")

    def _object(self, variable: Variable) -> tuple[str, bool]:
        """An object of a value, for a call; and whether it was made for that."""
        if self._places.is_object(variable):
            slot = self._places.of(variable).name
            return self._function.let(f"load ptr, ptr {slot}"), False
        address = self._places.address(variable)
        made = self._places.array(variable.tensor_type, address)
        self.check_made(made)
        return made, True

    def take(self, object: str, variable: Variable) -> None:
        """Let a value be what an object holds, if it has the sizes that code reads it with."""
        place = self._places.make(variable)
        if place.kind is Kind.OBJECT:
            self._places.replace(place.name, object)
            self.check_sizes(object, variable, self._axes(variable))
            return
        self.check_sizes(object, variable, self._axes(variable), is_owned=True)
        data, type = self._places.data(object), variable.tensor_type
        self._places.copy(self._places.target(place), data, type)
        self._function.line(f"call void @Py_DecRef(ptr {object})")

    def _axes(self, variable: Variable) -> list[int]:
        """The axes whose sizes are known, or bound; others are bound by the value itself."""
        shape = variable.type.shape if isinstance(variable.type, TensorType) else ()
        return [axis for axis, size in enumerate(shape) if self._sizes.are_bound(size)]

    def check_sizes(
        self, object: str, variable: Variable, axes: Sequence[int], is_owned: bool = False
    ) -> None:
        """Raise unless an array has these sizes of its type; what is owned is given up then."""
        if not axes:
            return
        function, fits = self._function, "true"
        real = self._places.field(object, abi.SIZES)
        for axis in axes:
            value = self._sizes.value(variable.tensor_type.shape[axis])
            size = self._places.field(real, 8 * axis, "i64")
            is_same = function.let(f"icmp eq i64 {size}, {value}")
            fits = function.let(f"and i1 {fits}, {is_same}")
        wrong, right = function.label("wrong"), function.label("right")
        function.branch(fits, right, wrong)
        function.begin(wrong)
        if is_owned:
            function.line(f"call void @Py_DecRef(ptr {object})")
        self.call(self._module.object(misfitting(variable), "refuse"), ())
        function.jump(FAIL)
        function.begin(right)


__all__ = ["FAIL", "Calls"]
