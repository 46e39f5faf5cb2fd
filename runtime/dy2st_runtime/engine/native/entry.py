"""Writes the function that Python calls: arrays in, arrays out, and machine code between them.

run(self, arguments, number):
    are these arrays of the types, ranks and sizes of the Program?   else give None: see
    are all constraints on sizes kept?                               `executable.py`
    take memory for a call; make the arrays that results are written to
    the steps
    give a list of results, or NULL where an exception was raised
"""

from __future__ import annotations

from dataclasses import dataclass

from dy2st_runtime.dims import Dim, Size, is_symbol
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.kernels import Functions
from dy2st_runtime.engine.native.machine.module import Module
from dy2st_runtime.engine.native.nests.identity import Identity, same
from dy2st_runtime.engine.native.operators.writers import is_change, is_placed, writer_of
from dy2st_runtime.engine.native.program.lifetimes import Analysis, Kind, Lifetimes
from dy2st_runtime.engine.native.program.places import Place, Places
from dy2st_runtime.engine.native.program.planner import Planned, planned
from dy2st_runtime.engine.native.program.steps import Body
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.magnitudes import bounded
from dy2st_runtime.engine.native.text.requirements import Requirements
from dy2st_runtime.engine.native.text.sizes import Sizes
from dy2st_runtime.engine.runner import may_share
from dy2st_runtime.ir.program import Program, Variable
from dy2st_runtime.ir.sizes import Origin, origins
from dy2st_runtime.ir.types import TensorType


@dataclass
class Written:
    """The code of a Program.

    steps   what the code does; `found` is where its values lie.
    own     the values that the function gives back, in order: yields, each once.
    shared  of each, whether it may look into memory that others hold.
    given   of each, whether it may be an array that the call was given.
    """

    module: Module
    steps: Planned
    found: Lifetimes
    own: list[Variable]
    shared: list[bool]
    given: list[bool]


def write(
    program: Program,
    functions: Functions,
    name: str = "run",
    body: type[Body] = Body,
) -> Written:
    """The module of a Program, with a function of that name, whose steps a Body writes."""
    module = Module(functions)
    own = list(dict.fromkeys(map(same, program.block.yields)))
    # An argument that is a result is given back by who calls, as the array that it is.
    own = [variable for variable in own if variable.maker is not program.block]
    function = Function(name, [("ptr", "%self"), ("ptr", "%given"), ("i64", "%count")], "ptr", "")
    entry = _Entry(program, module, function, own)
    steps = planned(program.block)
    places = entry.write(steps, body)
    module.add(name, function.text())
    shared = [places.of(one).kind is Kind.OBJECT and may_share(one) for one in own]
    return Written(
        module, steps, places.found, own, shared, [one in entry.identity.tracked for one in own]
    )


class _Entry:
    def __init__(
        self, program: Program, module: Module, function: Function, own: list[Variable]
    ) -> None:
        self._program, self._module, self._function, self._own = program, module, function, own
        self._requirements = Requirements(function)
        self.identity = Identity(program, own)

    def write(self, steps: Planned, make_body: type[Body]) -> Places:
        program, function = self._program, self._function
        let = self._function.let
        arrays = self._given = [
            let(f"load ptr, ptr {let(f'getelementptr ptr, ptr %given, i64 {n}')}")
            for n in range(len(program.block.parameters))
        ]
        self._check_arrays(arrays)
        own = dict(zip(program.block.parameters, arrays, strict=True))
        known = {
            symbol: self._solved(origin, own[origin.variable])
            for symbol, origin in origins(program.block.parameters).items()
        }
        sizes = Sizes(function, known)
        self._requirements.of_magnitudes(bounded(program, steps.blocks()), sizes, "unfit")
        # The sizes of inputs, and all that the Program requires of sizes.
        self._requirements.of_program(program, sizes)
        for variable, array in zip(self._program.block.parameters, arrays, strict=True):
            if not isinstance(variable.type, TensorType):
                continue
            for axis, size in enumerate(variable.type.shape):
                if not is_symbol(size) or self._is_elsewhere(size, variable, axis):
                    if isinstance(size, Dim):
                        self._requirements.can_compute(size, sizes)
                    self._requirements.compare(self._size(array, axis), "i64", sizes.value(size))
        self._leave_unless_all()
        lifetimes = Analysis(steps, self._own, sizes.is_early, is_placed, is_change).found
        places = Places(self._module, function, sizes, lifetimes)
        self._arena(places, sizes)
        places.begin()
        for variable, array in zip(program.block.parameters, arrays, strict=True):
            if places.found.kinds[variable] is Kind.OBJECT:
                slot = places.slot()
                self._function.line(f"call void @Py_IncRef(ptr {array})")
                self._function.line(f"store ptr {array}, ptr {slot}")
                places.put(variable, Place(Kind.OBJECT, slot))
            else:
                places.put(variable, Place(Kind.FOREIGN, places.data(array)))
            places.arguments[variable] = array
        # The arrays that results are made in.
        self._arrays: dict[Variable, str] = {}
        for variable in self._own:
            root = places.found.root(variable)
            if root not in places.found.given:
                continue
            slot = places.slot()
            made = places.array(variable.tensor_type, "null")
            self._check(made)
            self._function.line(f"store ptr {made}, ptr {slot}")
            places.put(root, Place(Kind.FOREIGN, places.data(made)))
            self._arrays[variable] = slot
        body = make_body(program, self._module, function, sizes, places, self.identity, writer_of)
        body.all(steps)
        self._numbers = body.numbers
        self._finish(places)
        return places

    # -- what was given ------------------------------------------------------------------------

    def _field(self, object: str, offset: int, type: str) -> str:
        place = self._function.let(f"getelementptr i8, ptr {object}, i64 {offset}")
        return self._function.let(f"load {type}, ptr {place}")

    def _leave_unless_all(self) -> None:
        """Give None unless all that is required so far holds."""
        self._requirements.leave_unless_all("unfit")

    def _check_arrays(self, arrays: list[str]) -> None:
        """Whether these are arrays of the right types; only then their sizes can be read."""
        for variable, array in zip(self._program.block.parameters, arrays, strict=True):
            if isinstance(variable.type, TensorType):
                self._requirements.compare(self._field(array, 8, "ptr"), "ptr", "@array_type")
            else:
                self._requirements.add("false")  # code knows only lists that it has made
        self._leave_unless_all()
        for variable, array in zip(self._program.block.parameters, arrays, strict=True):
            if not isinstance(variable.type, TensorType):
                continue
            dtype = self._module.object(variable.dtype, "dtype")
            self._requirements.compare(self._field(array, abi.TYPE, "ptr"), "ptr", dtype)
            self._requirements.compare(
                self._field(array, abi.RANK, "i32"), "i32", str(variable.type.rank)
            )
            flags = self._field(array, abi.FLAGS, "i32")
            # Other arrays, strided or unaligned ones, are left to NumPy.
            usable = self._function.let(f"and i32 {flags}, {abi.USABLE}")
            self._requirements.compare(usable, "i32", str(abi.USABLE))
        self._leave_unless_all()

    def _solved(self, origin: Origin, array: str) -> str:
        real = self._size(array, origin.axis)
        _, factor, offset = origin.solved
        if (factor, offset) == (1, 0):
            return real
        # Another size may come of it, which the comparison of all sizes then finds.
        rest = self._function.let(f"sub i64 {real}, {offset}")
        return self._function.let(f"sdiv i64 {rest}, {factor}")

    def _size(self, array: str, axis: int) -> str:
        return self._field(self._field(array, abi.SIZES, "ptr"), 8 * axis, "i64")

    def _is_elsewhere(self, size: Size, variable: Variable, axis: int) -> bool:
        """Whether a symbol is not bound here."""
        origin = origins(self._program.block.parameters).get(size)  # type: ignore[arg-type]
        return origin is None or origin.variable is not variable or origin.axis != axis

    # -- memory --------------------------------------------------------------------------------

    def _arena(self, places: Places, sizes: Sizes) -> None:
        """Take memory for a call; `%arena` is null if none is needed."""
        self._has_arena = bool(places.found.sizes)
        if not self._has_arena:
            return
        total = "0"
        for part in places.found.sizes:
            total = self._function.let(f"add i64 {total}, {places.rounded(part.bytes)}")
        self._module.pool("arena")
        self._function.line(f"%arena = call ptr @arena_take(i64 {total})")
        is_null = self._function.let("icmp eq ptr %arena, null")
        label = self._function.label("taken")
        self._function.branch(is_null, "none", label)
        self._function.begin(label)

    def _check(self, object: str) -> None:
        label = self._function.label("ok")
        is_null = self._function.let(f"icmp eq ptr {object}, null")
        self._function.branch(is_null, "fail", label)
        self._function.begin(label)

    # -- what is given back --------------------------------------------------------------------

    def _finish(self, places: Places) -> None:
        function = self._function
        made = function.let(f"call ptr @PyList_New(i64 {len(self._own)})")
        self._check(made)
        for number, variable in enumerate(self._own):
            if variable in self._arrays:
                slot = self._arrays[variable]
                object = function.let(f"load ptr, ptr {slot}")
                # The list owns it now: what cleans the slots must not.
                function.line(f"store ptr null, ptr {slot}")
            else:
                object = places.owned(variable)
                failing, after = function.label("failing"), function.label("has")
                function.branch(function.let(f"icmp eq ptr {object}, null"), failing, after)
                function.begin(failing)
                function.line(f"call void @Py_DecRef(ptr {made})")
                function.jump("fail")
                function.begin(after)
            if variable in self._numbers:
                # A new reference to the argument of that number, or the object if the number is 0.
                which, chosen = function.let(f"load i32, ptr {self._numbers[variable]}"), object
                for index, array in enumerate(self._given, 1):
                    is_it = function.let(f"icmp eq i32 {which}, {index}")
                    chosen = function.let(f"select i1 {is_it}, ptr {array}, ptr {chosen}")
                function.line(f"call void @Py_IncRef(ptr {chosen})")
                is_own = function.let(f"icmp eq i32 {which}, 0")
                extra = function.let(f"select i1 {is_own}, ptr {chosen}, ptr {object}")
                function.line(f"call void @Py_DecRef(ptr {extra})")
                object = chosen
            items = places.field(made, abi.ITEMS)
            place = function.let(f"getelementptr ptr, ptr {items}, i64 {number}")
            function.line(f"store ptr {object}, ptr {place}")
        self._end(places, made)
        function.begin("fail")
        self._end(places, "null")
        places.end()
        if self._has_arena:
            function.begin("none")
            function.line("%nomemory = call ptr @PyErr_NoMemory()")
            function.line("ret ptr %nomemory")
        function.begin("unfit")
        # None says that NumPy is to compute, which also finds the right error.
        function.line("call void @Py_IncRef(ptr @none)")
        function.line("ret ptr @none")

    def _end(self, places: Places, result: str) -> None:
        """Give everything back that was taken."""
        places.clean()
        if self._has_arena:
            self._function.line("call void @arena_give(ptr %arena)")
        self._function.line(f"ret ptr {result}")


__all__ = ["Written", "write"]
