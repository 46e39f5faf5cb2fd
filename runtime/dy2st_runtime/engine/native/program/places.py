"""Knows where each value lies while code is written, and what reads and writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dy2st_runtime.dims import Size, same_shape
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.module import Module
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.program.lifetimes import Kind, Lifetimes, bytes_of
from dy2st_runtime.engine.native.text.function import Function, Lines
from dy2st_runtime.engine.native.text.sizes import Sizes
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.types import DType, TensorType


@dataclass(frozen=True)
class Place:
    """Where a root lies.

    name    the address; of one that `moves`, or is an object, the slot that holds it.
    """

    kind: Kind
    name: str
    moves: bool = False


class Places:
    """The places of all values of a function."""

    def __init__(self, module: Module, function: Function, sizes: Sizes, found: Lifetimes) -> None:
        """Slots of objects are empty where the function is entered, and emptied where it ends."""
        self.found, self._objects = found, 0
        module.add("objects", OBJECTS)
        self._module, self._function, self._sizes = module, function, sizes
        self._places: dict[Variable, Place] = {}
        self.arguments: dict[Variable, str] = {}
        self._next: dict[Variable, Place] = {}
        self._arena: dict[int, str] = {}
        self._start: Lines = []

    def begin(self) -> None:
        """The arena is there: what must be done before the first step is done here."""
        self._start = self._function.section()

    # -- places --------------------------------------------------------------------------------

    def of(self, variable: Variable) -> Place:
        """The place of a value's root."""
        return self._places[self.found.root(variable)]

    def argument(self, variable: Variable) -> str | None:
        """The array that a value is, of those that the Program was given."""
        root = self.found.root(variable)
        # A reshape has the memory of its argument, and another shape than that array.
        is_whole = same_shape(root.tensor_type.shape, variable.tensor_type.shape) is True
        return self.arguments.get(root) if is_whole else None

    def has(self, variable: Variable) -> bool:
        """Whether a root has its place yet."""
        return variable in self._places

    def put(self, variable: Variable, place: Place) -> None:
        """Say where a root lies."""
        self._places[variable] = place

    def make(self, variable: Variable) -> Place:
        """The place of a new value, or of the one in whose memory it is made."""
        variable = self.found.root(variable)
        if variable not in self._places:
            target = self.found.targets.get(variable)
            if isinstance(target, tuple):
                self._places[variable] = self.following(target[0])
            elif target is not None:
                self._places[variable] = self.make(target)
            else:
                self._places[variable] = self._made(variable, self.found.kinds[variable])
        return self._places[variable]

    def carried(self, result: Variable) -> Place:
        """The place of a loop's value: one that moves, if it lies in the arena.

        It moves with each iteration, so each time that the loop begins both its places are noted
        anew.
        """
        place = self.make(result)
        if place.kind is not Kind.ARENA:
            return place
        moving = self._places[result] = self._moving(place.name)
        self._next[result] = self._moving(self._part((result,)))
        return moving

    def _moving(self, address: str) -> Place:
        slot = self._function.alloca("ptr")
        self._function.line(f"store ptr {address}, ptr {slot}")
        return Place(Kind.ARENA, slot, True)

    def following(self, result: Variable) -> Place:
        """Where the next iteration's value of a loop is written."""
        if result not in self._next:
            self._next[result] = self._made(result, self.found.kinds[result])
        return self._next[result]

    def _made(self, variable: Variable, kind: Kind) -> Place:
        if kind is Kind.OBJECT:
            return Place(kind, self.slot())
        type = variable.tensor_type
        if kind is Kind.SCALAR:
            return Place(kind, self._function.alloca(stored(type.dtype)))
        if kind is Kind.STACK:
            bytes = max(int(bytes_of(type)), 1)
            # On a line of the cache, so that no vector spans two.
            return Place(kind, self._function.alloca(f"[{bytes} x i8]", 64))
        return Place(kind, self._part(variable))

    def _part(self, key: Variable | tuple[Variable]) -> str:
        """The address of a part of the arena."""
        number = self.found.parts[key]
        if number not in self._arena:
            with self._function.writing(self._start):
                offset: str = "0"
                for part in self.found.sizes[:number]:
                    offset = self._function.let(f"add i64 {offset}, {self.rounded(part.bytes)}")
                self._arena[number] = self._function.let(
                    f"getelementptr i8, ptr %arena, i64 {offset}"
                )
        return self._arena[number]

    def rounded(self, bytes: Size) -> str:
        """Bytes up to a whole number of cache lines."""
        up = self._function.let(f"add i64 {self._sizes.value(bytes)}, 63")
        return self._function.let(f"and i64 {up}, -64")

    def slot(self) -> str:
        """A place for an object of Python."""
        with self._function.writing(self._start):
            name = self._function.let(f"getelementptr ptr, ptr %objects, i64 {self._objects}", "o")
        self._objects += 1
        return name

    def clean(self) -> None:
        """Give up all objects."""
        if self._objects:
            self._function.line(f"call void @give_up(ptr %objects, i64 {self._objects})")

    def end(self) -> None:
        """All slots are known: they are empty at first."""
        if not self._objects:
            return
        self._function.reserve("%objects", f"[{self._objects} x ptr]")
        arguments = f"ptr %objects, i8 0, i64 {8 * self._objects}, i1 false"
        # A step that fails gives up all slots, those too that no step has filled.
        self._start.insert(0, f"  call void @llvm.memset.p0.i64({arguments})")

    # -- reading and writing -------------------------------------------------------------------

    def address(self, variable: Variable) -> str:
        """Where the elements of a tensor are."""
        place = self.of(variable)
        if place.kind is Kind.OBJECT:
            return self.data(self._function.let(f"load ptr, ptr {place.name}"))
        return self.target(place)

    def target(self, place: Place) -> str:
        """Where the elements of a tensor are to be."""
        return self._function.let(f"load ptr, ptr {place.name}") if place.moves else place.name

    def data(self, array: str) -> str:
        """Where the elements of an array are."""
        return self.field(array, abi.DATA)

    def field(self, object: str, offset: int, type: str = "ptr") -> str:
        """A field of an object."""
        place = self._function.let(f"getelementptr i8, ptr {object}, i64 {offset}")
        return self._function.let(f"load {type}, ptr {place}")

    def load(self, variable: Variable) -> str:
        """The element of a 0-d tensor, as it lies in memory."""
        type = stored(variable.tensor_type.dtype)
        return self._function.let(f"load {type}, ptr {self.address(variable)}")

    def truth(self, variable: Variable) -> str:
        """The i1 of a tensor with one element."""
        type = stored(variable.tensor_type.dtype)
        value = self._function.let(f"load {type}, ptr {self.address(variable)}")
        if type in ("float", "double"):
            # Unordered: NaN is true.
            return self._function.let(f"fcmp une {type} {value}, 0.0")
        return self._function.let(f"icmp ne {type} {value}, 0")

    def copy(self, target: str, source: str, type: TensorType) -> None:
        """Copy all elements."""
        bytes = self._sizes.value(bytes_of(type))
        if bytes != "0":
            arguments = f"ptr {target}, ptr {source}, i64 {bytes}, i1 false"
            self._function.line(f"call void @llvm.memcpy.p0.p0.i64({arguments})")

    # -- objects -------------------------------------------------------------------------------

    def replace(self, slot: str, object: str) -> None:
        """Let a slot own an object instead of the one it held."""
        self._function.line(f"call void @replace(ptr {slot}, ptr {object})")

    def is_object(self, variable: Variable) -> bool:
        """Whether the object in a slot is the value itself; else it may have another shape."""
        type = variable.type
        is_whole = variable is self.found.root(variable) or not (
            isinstance(type, TensorType) and abi.is_native(type.dtype)
        )
        return is_whole and self.of(variable).kind is Kind.OBJECT

    def owned(self, variable: Variable) -> str:
        """A new reference to an object of the value that lives on; null without memory."""
        place = self.of(variable)
        if self.is_object(variable):
            object = self._function.let(f"load ptr, ptr {place.name}")
            # The slot keeps its own reference, which ends with the live range.
            self._function.line(f"call void @Py_IncRef(ptr {object})")
            return object
        made = self.array(variable.tensor_type, "null")
        yes, after = self._function.label("made"), self._function.label("after")
        is_null = self._function.let(f"icmp eq ptr {made}, null")
        self._function.branch(is_null, after, yes)
        self._function.begin(yes)
        self.copy(self.data(made), self.address(variable), variable.tensor_type)
        self._function.jump(after)
        self._function.begin(after)
        return made

    def array(self, type: TensorType, data: str) -> str:
        """A new array over memory, or with memory of its own."""
        return self.sized(type.dtype, [self._sizes.value(size) for size in type.shape], data)

    def sized(self, dtype: DType, sizes: Sequence[str], data: str = "null") -> str:
        """A new array of these sizes, over memory, or with memory of its own."""
        # The function that makes arrays of a rank: (elements or null, type, flags, sizes...).
        rank = len(sizes)
        parameters = [("i64", f"%size{axis}") for axis in range(rank)]
        function = Function(
            f"array{rank}",
            [("ptr", "%data"), ("i32", "%number"), ("i32", "%flags"), *parameters],
            "ptr",
            attributes="noinline",
        )
        axes = function.alloca(f"[{max(rank, 1)} x i64]")
        for axis, (_, name) in enumerate(parameters):
            place = function.let(f"getelementptr i64, ptr {axes}, i64 {axis}")
            function.line(f"store i64 {name}, ptr {place}")
        made = function.let(
            f"call ptr @PyArray_New(ptr @array_type, i32 {rank}, ptr {axes}, i32 %number, "
            "ptr null, ptr %data, i32 0, i32 %flags, ptr null)"
        )
        function.line(f"ret ptr {made}")
        self._module.add(f"array{len(sizes)}", function.text())
        flags = abi.USABLE if data != "null" else 0
        numbers = [f"i32 {dtype.num}", f"i32 {flags}"]
        arguments = ", ".join([f"ptr {data}", *numbers, *(f"i64 {size}" for size in sizes)])
        return self._function.let(f"call ptr @array{len(sizes)}({arguments})")

    def size(self, object: str, axis: int) -> str:
        """A size of an array."""
        return self.field(self.field(object, abi.SIZES), 8 * axis, "i64")


# Slots lie in one piece of memory that functions are given: LLVM would else follow each of them
# through all branches, which takes time that grows with the square of a Program.
OBJECTS = """\
define internal void @replace(ptr %slot, ptr %object) noinline {
  %before = load ptr, ptr %slot
  store ptr %object, ptr %slot
  call void @Py_DecRef(ptr %before)
  ret void
}
define internal void @give_up(ptr %slots, i64 %count) noinline {
entry:
  br label %head
head:
  %i = phi i64 [0, %entry], [%next, %body]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %end
body:
  %slot = getelementptr ptr, ptr %slots, i64 %i
  %object = load ptr, ptr %slot
  call void @Py_DecRef(ptr %object)
  %next = add i64 %i, 1
  br label %head
end:
  ret void
}
"""


__all__ = ["Place", "Places"]
