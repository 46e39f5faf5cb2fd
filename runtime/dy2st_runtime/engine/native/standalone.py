"""Compiles a Program to object code that C calls, without Python and NumPy.

    int NAME_run(inputs..., parameters, sizes..., outputs..., workspace)   0, or why it failed
    int64_t NAME_workspace_bytes(sizes...)                                 -1 if they do not fit
    int64_t NAME_bytes(int argument, sizes...)                             of inputs, then outputs
    const char *NAME_error(int number)
    void NAME_free(void)

Sizes are the symbols of inputs' shapes. Parameters lie in one piece of memory, each from a whole
cache line on. One thread computes; several may call at once, each with a workspace of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim
from dy2st_runtime.engine.native.machine.llvm import Processor, compile_object
from dy2st_runtime.engine.native.machine.module import Module
from dy2st_runtime.engine.native.matmul.product import library
from dy2st_runtime.engine.native.nests.identity import Identity
from dy2st_runtime.engine.native.operators.writers import is_change, is_code, is_placed, writer_of
from dy2st_runtime.engine.native.program.calls import FAIL, Calls
from dy2st_runtime.engine.native.program.constraints import Constraints
from dy2st_runtime.engine.native.program.lifetimes import Analysis, Kind, bytes_of, is_alias
from dy2st_runtime.engine.native.program.lock import Lock
from dy2st_runtime.engine.native.program.places import Place, Places
from dy2st_runtime.engine.native.program.planner import Planned, planned
from dy2st_runtime.engine.native.program.prepacked_code import Keeping
from dy2st_runtime.engine.native.program.products import Products
from dy2st_runtime.engine.native.program.steps import Body
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.magnitudes import bounded
from dy2st_runtime.engine.native.text.requirements import Requirements
from dy2st_runtime.engine.native.text.sizes import Sizes
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.functions import without_functions
from dy2st_runtime.ir.program import Operator, Program, Variable
from dy2st_runtime.ir.sizes import origins

_UNFIT = "the sizes do not fit the Program"
_BROKEN = "what the Program requires of sizes that it computes does not hold"

# One thread does all parts.
_PARALLEL = """\
@threads = internal global i64 1
define internal i64 @threads_for(i64 %work, i64 %least, i64 %large) {
  ret i64 1
}
define internal void @parallel(ptr %function, ptr %data, i64 %parts) {
entry:
  br label %head
head:
  %part = phi i64 [0, %entry], [%next, %body]
  %more = icmp ult i64 %part, %parts
  br i1 %more, label %body, label %end
body:
  call void %function(ptr %data, i64 %part)
  %next = add i64 %part, 1
  br label %head
end:
  ret void
}
"""


_LEAVE = "define internal preserve_mostcc i32 @leave() alwaysinline {\n  ret i32 0\n}"
"""Nobody asks to leave."""


@dataclass
class Standalone:
    """Object code and what a caller must know of it.

    sizes       the symbols, in the order in which they are given.
    parameters  the names of parameters and buffers, in their order in memory.
    """

    name: str
    program: Program
    text: str
    sizes: list[Dim]
    parameters: list[str]

    def code(self, processor: Processor | None = None) -> bytes:
        """The object file."""
        code = compile_object(self.text, processor or Processor.host())
        assert b"Py_" not in code, "the code calls Python"
        return code


def write(program: Program, name: str, arrays: Mapping[str, Any] | None = None) -> Standalone:
    """The code of a Program whose functions begin with a name; with arrays, they are part of it.

    Raises ArgumentError if it asks NumPy for anything.
    """
    program = without_functions(program, "code without Python")
    steps = planned(program.block)
    if program.updates:
        names = ", ".join(program.updates)
        raise ArgumentError(
            f"{program.name!r} cannot run without Python: it changes the buffers {names}; "
            "save the model after eval()"
        )
    module = _Module()
    sizes = list(origins(program.inputs))
    writer = _Writer(program, module, name, sizes, steps)
    texts = [writer.run(arrays), writer.bytes(), writer.workspace(), writer.errors()]
    for text in texts:
        module.add(f"{name}{len(module.texts)}", text)
    return Standalone(name, program, module.whole(name), sizes, list(program.state))


def packed(program: Program, arrays: Mapping[str, Any]) -> bytes:
    """The memory of parameters."""
    parts = []
    for name, variable in program.state.items():
        data = np.ascontiguousarray(arrays[name], variable.dtype).tobytes()
        parts.append(data + bytes(-len(data) % 64))
    return b"".join(parts)


# -- what cannot be ------------------------------------------------------------------------------


def _reasons(steps: Planned, kinds: Mapping[Variable, Kind]) -> Iterator[str]:
    for step in steps.all():
        operators = step.region.operators if step.region is not None else []
        is_asked = not is_code(step) or step.specialised is not None
        if step.operator is not None and is_asked and not is_alias(step.operator):
            operators = [step.operator]
        for operator in operators:
            yield f"{_described(operator)}: a library of Python's computes it"
        if not operators and any(kinds.get(result) is Kind.OBJECT for result in step.results):
            last = step.operator or step.operators[-1]
            yield f"{_described(last)}: its result is a list, or only data decides its size or type"


def _described(operator: Operator) -> str:
    place = operator.location
    return operator.name if place is None else f"{operator.name} (line {place.line})"


# -- the functions ---------------------------------------------------------------------------------


class _Module(Module):
    """Functions and data; it knows no object of Python."""

    def object(self, value: Any, stem: str) -> str:
        """There is none."""
        raise AssertionError(f"{stem} is an object of Python")

    def array(self, value: np.ndarray[Any, Any]) -> str:
        """The name of the elements of an array, which are part of the code."""
        name = f"constant_{len(self.texts)}"
        self.data(name, np.ascontiguousarray(value).tobytes())
        return f"@{name}"

    def data(self, name: str, bytes: bytes) -> None:
        """Constants under a name."""
        text = "".join(f"\\{byte:02X}" for byte in bytes)
        kind = "internal unnamed_addr constant"
        self.add(name, f'@{name} = {kind} [{len(bytes)} x i8] c"{text}", align 64')

    def whole(self, name: str) -> str:
        """All of it, with the functions that are else linked to it."""
        names = [key for key in self.links if key not in ("parallel", "threads_for")]
        if self.links:
            self.texts["parallel"] = _PARALLEL
            products = library(Processor.host(), names)
            self.texts.update(dict.fromkeys(names, ""))
            self.texts["products"] = products
        del self.texts["objects"]
        self.texts["leave"] = _LEAVE
        return self.text().replace("define void @drop()", f"define void @{name}_free()")


class _Writer:
    """Writes the functions of a Program."""

    def __init__(
        self, program: Program, module: _Module, name: str, sizes: list[Dim], steps: Planned
    ) -> None:
        self._program, self._module, self._name = program, module, name
        self._symbols, self._steps = sizes, steps
        self._yields = program.block.yields
        self._errors = [_UNFIT]

    def run(self, arrays: Mapping[str, Any] | None) -> str:
        """The function that computes."""
        program = self._program
        inputs = [f"%input{index}" for index in range(len(program.inputs))]
        outputs = [f"%output{index}" for index in range(len(self._yields))]
        parameters = [("ptr", name) for name in inputs]
        if program.state and arrays is None:
            parameters.append(("ptr", "%parameters"))
        parameters += [*self._sizes(), *(("ptr", name) for name in (*outputs, "%arena"))]
        function = Function(f"{self._name}_run", parameters, "i32", "")
        sizes = self._checked(function)
        is_early = sizes.is_early
        found = Analysis(self._steps, self._yields, is_early, is_placed, is_change).found
        reasons = list(dict.fromkeys(_reasons(self._steps, found.kinds)))
        reasons += [
            f"the input {variable.name!r}: its type {variable.type} is not one of code's"
            for variable in program.block.parameters
            if found.kinds[variable] is Kind.OBJECT
        ]
        if reasons:
            listed = "".join(f"\n  {reason}" for reason in reasons)
            raise ArgumentError(
                f"{program.name!r} cannot run without Python:{listed}\nwrite these with "
                "elementwise operators, reductions, products of matrices and sizes that inputs "
                "give, or end the Program before them and compute them in C"
            )
        places = Places(self._module, function, sizes, found)
        places.begin()
        if arrays is not None:
            self._module.data("parameters", packed(program, arrays))
        for variable, name in zip(program.inputs, inputs, strict=True):
            places.put(variable, Place(Kind.FOREIGN, name))
        start, offset = "%parameters" if arrays is None else "@parameters", 0
        for variable in program.state.values():
            place = function.let(f"getelementptr i8, ptr {start}, i64 {offset}")
            places.put(variable, Place(Kind.FOREIGN, place))
            offset += -(-int(bytes_of(variable.tensor_type)) // 64) * 64
        # Let what is given be made where it is to go.
        made = set()
        for variable, output in zip(self._yields, outputs, strict=True):
            root = places.found.root(variable)
            if root in places.found.given:
                places.put(root, Place(Kind.FOREIGN, output))
                made.add(output)
        body = _Body(program, self._module, function, sizes, places, self._errors)
        body.all(self._steps)
        for variable, output in zip(self._yields, outputs, strict=True):
            if output not in made:
                places.copy(output, places.address(variable), variable.tensor_type)
        places.end()
        self._found = found
        function.line("ret i32 0")
        function.begin(FAIL)
        function.line(f"ret i32 {function.let(f'load i32, ptr {body.code}')}")
        function.begin("unfit")
        function.line("ret i32 1")
        return function.text()

    def workspace(self) -> str:
        """How many bytes a call needs."""
        function = Function(f"{self._name}_workspace_bytes", self._sizes(), "i64", "")
        sizes, total = self._checked(function), "0"
        for part in self._found.sizes:
            up = function.let(f"add i64 {sizes.value(part.bytes)}, 63")
            total = function.let(f"add i64 {total}, {function.let(f'and i64 {up}, -64')}")
        return _ended(function, total)

    def bytes(self) -> str:
        """How many bytes an argument has."""
        parameters = [("i32", "%argument"), *self._sizes()]
        function = Function(f"{self._name}_bytes", parameters, "i64", "")
        sizes, chosen = self._checked(function), "-1"
        for index, variable in enumerate([*self._program.inputs, *self._yields]):
            size = sizes.value(bytes_of(variable.tensor_type))
            is_it = function.let(f"icmp eq i32 %argument, {index}")
            chosen = function.let(f"select i1 {is_it}, i64 {size}, i64 {chosen}")
        return _ended(function, chosen)

    def errors(self) -> str:
        """What a number says."""
        function = Function(f"{self._name}_error", [("i32", "%number")], "ptr", "")
        chosen, texts = "null", []
        for number, message in enumerate(self._errors, 1):
            data = message.encode() + b"\0"
            text = "".join(f"\\{byte:02X}" for byte in data)
            texts.append(f'@error_{number} = internal constant [{len(data)} x i8] c"{text}"')
            is_it = function.let(f"icmp eq i32 %number, {number}")
            chosen = function.let(f"select i1 {is_it}, ptr @error_{number}, ptr {chosen}")
        function.line(f"ret ptr {chosen}")
        return "\n".join([*texts, function.text()])

    # -- parts ---------------------------------------------------------------------------------

    def _sizes(self) -> list[tuple[str, str]]:
        return [("i64", f"%size{index}") for index in range(len(self._symbols))]

    def _checked(self, function: Function) -> Sizes:
        """The sizes; where they do not fit, it goes on at `unfit`."""
        names = [name for _, name in self._sizes()]
        sizes = Sizes(function, dict(zip(self._symbols, names, strict=True)))
        requirements = Requirements(function)
        found = bounded(self._program, self._steps.blocks())
        requirements.of_magnitudes(found, sizes, "unfit")
        requirements.of_program(self._program, sizes)
        for variable in self._program.inputs:
            for size in variable.tensor_type.shape:
                if isinstance(size, Dim):
                    requirements.can_compute(size, sizes)
                    requirements.compare(sizes.value(size), "i64", "0", "sge")
        requirements.leave_unless_all("unfit")
        return sizes


def _ended(function: Function, result: str) -> str:
    function.line(f"ret i64 {result}")
    function.begin("unfit")
    function.line("ret i64 -1")
    return function.text()


class _Body(Body):
    """Steps that know neither Python nor its lock; what fails leaves a number in `code`."""

    def __init__(
        self,
        program: Program,
        module: Module,
        function: Function,
        sizes: Sizes,
        places: Places,
        errors: list[str],
    ) -> None:
        super().__init__(program, module, function, sizes, places, Identity(program, ()), writer_of)
        self.code, self._errors = function.alloca("i32"), errors
        self.calls = _Calls(program, module, function, sizes, places)
        self.calls.fail = self.fail
        self.constraints = Constraints(program, function, sizes, places, self.calls)
        self.lock = _Lock(function, sizes)
        self.keeping = _Keeping(program, module, function, places, self.calls)
        self.products = Products(module, function, sizes, places, self.keeping)

    def unless(self, holds: str, operators: Sequence[Operator]) -> None:
        """Where something does not hold, say of what."""
        names = ", ".join(map(_described, operators))
        self.fail(holds, f"{names}: the values do not allow it")

    def fail(self, holds: str, message: str) -> None:
        """Leave with a number unless a condition holds."""
        if message not in self._errors:
            self._errors.append(message)
        wrong, right = self.function.label("wrong"), self.function.label("right")
        self.function.branch(holds, right, wrong)
        self.function.begin(wrong)
        number = self._errors.index(message) + 1
        self.function.line(f"store i32 {number}, ptr {self.code}")
        self.function.jump(FAIL)
        self.function.begin(right)


class _Calls(Calls):
    fail: Callable[[str, str], None]

    def unless(self, holds: str, refuse: Any, shown: Iterable[Dim]) -> None:
        """Leave with a number where a condition does not hold."""
        self.fail(holds, _BROKEN)


class _Lock(Lock):
    @contextmanager
    def without(self, condition: str | None, polls: bool = False) -> Iterator[None]:
        """There is none."""
        yield

    def let_signals_in(self) -> None:
        """Nobody asks."""


class _Keeping(Keeping):
    def begin(self, planned: Planned) -> None:
        """Nothing is kept from call to call."""

    def panels(self, operator: Operator) -> str:
        """They are not there."""
        return "null"


__all__ = ["Standalone", "packed", "write"]
