"""Reads pickles as data: a machine that makes plain containers and calls rules for arrays.

Why it is safe. It imports nothing, looks nothing up by a name from the file, calls nothing that the
file chose, and sets no attribute: a name (`os.system`) becomes a `Global`, two strings. A call of a
Global is looked up in a table of ours, written out in full; what is not in it is refused. Memory is
bounded by the file: an opcode takes a few bytes of it and makes one small object, a length is
believed only as far as the file has bytes, and what copies a thing that exists already is paid for
from a budget. Keys are texts, bytes and short numbers, so that none can be made to collide, or
to be hashed without end.

Why not `pickle.Unpickler` with `find_class`: it guards names alone. What is found is called; BUILD
sets attributes of whatever lies on the stack, functions too; registered extensions go around it;
and its C code allocates as many bytes as a length in the file says (BINBYTES8, LONG_BINPUT) before
it looks whether they are there. A look at the opcodes before that would need two readers to agree.
"""

from __future__ import annotations

import pickletools
import re
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from dy2st_runtime.checkpoint.tree import is_key
from dy2st_runtime.errors import FormatError


@dataclass(frozen=True, slots=True)
class Global:
    """A name in the file that stands for a class or function; it is never looked up."""

    module: str
    name: str

    def __str__(self) -> str:
        """`os.system`."""
        return f"{self.module}.{self.name}"


# What a call of a Global makes of its arguments, and what BUILD does to one of our own types.
Rules = Mapping[Global, Callable[["Machine", tuple[Any, ...]], Any]]
Builds = Mapping[type, Callable[["Machine", Any, Any], None]]

_SPARE, _FACTOR = 1 << 16, 16
_LONGEST_NAME, _LONGEST_NUMBER = 256, 1024
_INTEGER = re.compile(rb"-?[0-9]{1,20}")
_SHOWN = {ord(op.code): op.name for op in pickletools.opcodes}


class Machine:
    """Reads one pickle after another from the bytes of a file."""

    def __init__(
        self,
        source: str,
        data: memoryview,
        rules: Rules,
        builds: Builds,
        persistent: Callable[[Machine, Any], Any] | None = None,
    ):
        """Take the bytes, and the tables of what may be made."""
        self.source, self.data, self.position = source, data, 0
        self._rules, self._builds, self._persistent = rules, builds, persistent
        self._budget = _SPARE + _FACTOR * len(data)
        self._at = 0
        self._forget()

    def _forget(self) -> None:
        self.stack: list[Any] = []
        self.outer: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def load(self) -> Any:
        """The next object; FormatError says what is wrong with it."""
        self._forget()
        try:
            while True:
                self._at = self.position
                code = self.take(1)[0]
                if code == ord("."):
                    break
                step = _STEPS.get(code)
                if step is None:
                    self.fail(f"it has the opcode {_SHOWN.get(code, hex(code))}, {_NOT_DATA}")
                step(self)
            value = self.stack.pop()
        except IndexError:
            self.fail("it takes more from its stack than is there")
        if self.stack or self.outer:
            self.fail("it ends with more than one object")
        return value

    def fail(self, what: str) -> NoReturn:
        """Refuse the file."""
        raise FormatError(f"{self.source}: at byte {self._at} of its pickle {what}")

    def spend(self, size: int) -> None:
        """Pay for a copy of what exists already: a file may not unfold to much more than it is."""
        self._budget -= size
        if self._budget < 0:
            self.fail("it copies itself to much more than it holds")

    def take(self, count: int) -> memoryview:
        """The next bytes."""
        end = self.position + count
        if end > len(self.data):
            left = len(self.data) - self.position
            self.fail(f"it is truncated, or damaged: {count} bytes should follow, {left} do")
        found = self.data[self.position : end]
        self.position = end
        return found

    def number(self, size: int, signed: bool = False) -> int:
        """The next bytes as a number."""
        return int.from_bytes(self.take(size), "little", signed=signed)

    def text(self, count: int) -> str:
        """The next bytes as text."""
        try:
            return str(self.take(count), "utf-8", "surrogatepass")
        except UnicodeDecodeError:
            self.fail("it has a text that is no UTF-8")

    def line(self) -> bytes:
        """What stands before the next end of a line."""
        found = bytes(self.data[self.position : self.position + _LONGEST_NAME + 1])
        line, end, _ = found.partition(b"\n")
        if not end:
            self.fail(f"it has a name that is longer than {_LONGEST_NAME} bytes, or no end")
        self.position += len(line) + 1
        return line

    def marked(self) -> list[Any]:
        """What was pushed since the last mark."""
        found, self.stack = self.stack, self.outer.pop()
        return found

    def top(self, *types: type) -> Any:
        """The last object, one of these very types."""
        value = self.stack[-1]
        if type(value) not in types:
            self.fail(f"it adds to {described(value)} as if it were a {types[0].__name__}")
        return value

    def key(self, value: Any) -> Any:
        """A key of a dict or member of a set."""
        if is_key(value):
            return value
        self.fail(f"it has {described(value)} as a key, where texts and numbers may stand")

    def pairs(self, flat: list[Any]) -> Iterable[tuple[Any, Any]]:
        """Keys and values that follow each other."""
        if len(flat) % 2:
            self.fail("it has a key without a value")
        return zip(map(self.key, flat[::2]), flat[1::2])


_NOT_DATA = (
    "and makes more than arrays and plain containers; nothing of it was run: if you trust it, load "
    "it by the library that wrote it, and save the state dict alone"
)


def described(value: Any) -> str:
    """An object of a file, in a message."""
    if isinstance(value, Global):
        return f"{value}"[:120]
    return f"a {type(value).__name__}"


# -- one function an opcode -------------------------------------------------------------------

_STEPS: dict[int, Callable[[Machine], None]] = {}
_Step = Callable[[Machine], None]


def _step(code: str) -> Callable[[_Step], _Step]:
    def enter(function: _Step) -> _Step:
        _STEPS[ord(code)] = function
        return function

    return enter


def _pushes(code: str, make: Callable[[Machine], Any]) -> None:
    def step(machine: Machine) -> None:
        value = make(machine)  # before the stack is asked for: a mark changes it
        machine.stack.append(value)

    _STEPS[ord(code)] = step


def _sized(read: Callable[[Machine, int], Any], size: int) -> Callable[[Machine], Any]:
    """`read` of as many bytes as the number before them says."""
    return lambda machine: read(machine, machine.number(size))


_pushes("N", lambda machine: None)
_pushes("\x88", lambda machine: True)
_pushes("\x89", lambda machine: False)
_pushes("]", lambda machine: [])
_pushes("}", lambda machine: {})
_pushes(")", lambda machine: ())
_pushes("\x8f", lambda machine: set())
_pushes("J", lambda machine: machine.number(4, signed=True))
_pushes("K", lambda machine: machine.number(1))
_pushes("M", lambda machine: machine.number(2))
_pushes("G", lambda machine: struct.unpack(">d", machine.take(8))[0])
_pushes("X", _sized(Machine.text, 4))
_pushes("\x8c", _sized(Machine.text, 1))
_pushes("\x8d", _sized(Machine.text, 8))
_pushes("2", lambda machine: machine.stack[-1])
_pushes("t", lambda machine: tuple(machine.marked()))
_pushes("l", lambda machine: machine.marked())
_pushes("d", lambda machine: dict(machine.pairs(machine.marked())))
_pushes("\x91", lambda machine: frozenset(map(machine.key, machine.marked())))
for _code, _size in (("B", 4), ("C", 1), ("\x8e", 8)):
    _pushes(_code, _sized(lambda machine, count: bytes(machine.take(count)), _size))
for _code, _size in (("T", 4), ("U", 1)):  # texts of Python 2, which Paddle reads as Latin-1
    _pushes(_code, _sized(lambda machine, count: str(machine.take(count), "latin-1"), _size))
_pushes("\x96", _sized(lambda machine, count: bytearray(machine.take(count)), 8))


def _long(machine: Machine, count: int) -> int:
    if count > _LONGEST_NUMBER:
        machine.fail(f"it has an integer of {count} bytes")
    return machine.number(count, signed=True)


_pushes("\x8a", _sized(_long, 1))
_pushes("\x8b", _sized(_long, 4))


@_step("I")
def _integer(machine: Machine) -> None:
    """Python 2 writes integers of 64 bits so, in every protocol."""
    line = machine.line()
    if not _INTEGER.fullmatch(line):
        machine.fail("it has an integer that is none")
    machine.stack.append({b"00": False, b"01": True}.get(line, int(line)))


@_step("\x80")
def _protocol(machine: Machine) -> None:
    version = machine.number(1)
    if not 2 <= version <= 5:
        machine.fail(f"it says that it has protocol {version}; 2 to 5 are read")


@_step("\x95")
def _frame(machine: Machine) -> None:
    size = machine.number(8)
    if size > len(machine.data) - machine.position:
        machine.fail("it is truncated: its frame is longer than what follows")


@_step("(")
def _mark(machine: Machine) -> None:
    machine.outer.append(machine.stack)
    machine.stack = []


@_step("0")
def _pop(machine: Machine) -> None:
    machine.stack.pop()


@_step("1")
def _pop_mark(machine: Machine) -> None:
    machine.marked()


def _tuple_of(count: int) -> _Step:
    def step(machine: Machine) -> None:
        if len(machine.stack) < count:
            machine.fail("it takes more from its stack than is there")
        machine.stack[-count:] = [tuple(machine.stack[-count:])]

    return step


_STEPS.update({ord("\x84") + count: _tuple_of(count) for count in (1, 2, 3)})


@_step("a")
def _append(machine: Machine) -> None:
    value = machine.stack.pop()
    machine.top(list).append(value)


@_step("e")
def _appends(machine: Machine) -> None:
    values = machine.marked()
    machine.top(list).extend(values)


@_step("s")
def _set_item(machine: Machine) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    machine.top(dict, OrderedDict)[machine.key(key)] = value


@_step("u")
def _set_items(machine: Machine) -> None:
    values = machine.marked()
    machine.top(dict, OrderedDict).update(machine.pairs(values))


@_step("\x90")
def _add_items(machine: Machine) -> None:
    values = machine.marked()
    machine.top(set).update(map(machine.key, values))


def _puts(size: int) -> _Step:
    def step(machine: Machine) -> None:
        machine.memo[machine.number(size)] = machine.stack[-1]

    return step


def _gets(size: int) -> _Step:
    def step(machine: Machine) -> None:
        place = machine.number(size)
        if place not in machine.memo:
            machine.fail(f"it asks for object {place}, which it has not noted")
        machine.stack.append(machine.memo[place])

    return step


for _code, _put_size in (("q", 1), ("r", 4)):
    _STEPS[ord(_code)] = _puts(_put_size)
for _code, _get_size in (("h", 1), ("j", 4)):
    _STEPS[ord(_code)] = _gets(_get_size)


@_step("\x94")
def _memoize(machine: Machine) -> None:
    machine.memo[len(machine.memo)] = machine.stack[-1]


@_step("c")
def _global(machine: Machine) -> None:
    module, name = (machine.line().decode("utf-8", "backslashreplace") for _ in range(2))
    machine.stack.append(Global(module, name))


@_step("\x93")
def _stack_global(machine: Machine) -> None:
    name, module = machine.stack.pop(), machine.stack.pop()
    if type(name) is not str or type(module) is not str:
        machine.fail("it has a name that is no text")
    machine.stack.append(Global(module, name))


@_step("R")
def _call(machine: Machine) -> None:
    arguments, function = machine.stack.pop(), machine.stack.pop()
    rule = machine._rules.get(function) if type(function) is Global else None
    if rule is None or type(arguments) is not tuple:
        machine.fail(f"it calls {described(function)}, {_NOT_DATA}")
    machine.stack.append(rule(machine, arguments))


@_step("\x81")
def _object(machine: Machine) -> None:
    machine.stack.pop()
    machine.fail(f"it makes an object of {described(machine.stack.pop())}, {_NOT_DATA}")


@_step("b")
def _build(machine: Machine) -> None:
    state = machine.stack.pop()
    value = machine.stack[-1]
    rule = machine._builds.get(type(value))
    if rule is None:
        machine.fail(f"it sets the state of {described(value)}, {_NOT_DATA}")
    rule(machine, value, state)


@_step("Q")
def _persistent(machine: Machine) -> None:
    name = machine.stack.pop()
    if machine._persistent is None:
        machine.fail("it names objects outside of it, which only files of torch may do")
    machine.stack.append(machine._persistent(machine, name))


__all__ = ["Builds", "Global", "Machine", "Rules", "described"]
