"""Prints Programs in MLIR's generic syntax, which `parser.py` reads back to the same ones.

    "dy2st.model"() <{format = 1 : i64, producer = "dy2st 0.3.0"}> ({
      "dy2st.program"() <{
        name = "forward",
        symbols = {batch = [0]},
        inputs = ["x"],
        structure = #dy2st.output<0>
      }> ({
      ^bb0(%x: tensor<?x2xf32, ["batch"]>):
        %0 = "dy2st.relu"(%x) : (tensor<?x2xf32, ["batch"]>) -> tensor<?x2xf32, ["batch"]>
        "dy2st.return"(%0) : (tensor<?x2xf32, ["batch"]>) -> ()
      }) : () -> ()
    }) : () -> ()

Functions are further Blocks behind that of the Program, in the order of `functions = ["double"]`.

MLIR's own tools read it when unregistered dialects are allowed. The same Program gives the same
text in every process. Broken Programs print too: `verifier.py` marks its findings in this text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from dy2st_runtime.dims import Dim, symbols
from dy2st_runtime.ir.structure import Tables
from dy2st_runtime.ir.text.attribute_text import (
    attribute_text,
    dict_text,
    location_text,
    string_text,
    type_text,
    without_large,
)
from dy2st_runtime.ir.types import ArrayType, TensorType
from dy2st_runtime.version import VERSION

if TYPE_CHECKING:
    # program.py prints through this module; only annotations look back at it.
    from dy2st_runtime.ir.program import Block, Operator, Program, Variable

# A text says the oldest format that has all of it: 2 has the digest of the arrays beside it, 3 says
# how state lies on a mesh of devices, 4 names Layers in locations, 5 has functions, and new values
# of arguments, 6 tables of lists that may be one in its result.
FORMAT = 6
PRODUCER = f"dy2st {VERSION}"

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_$.-]")
_INDENT = "  "


class Line(NamedTuple):
    """A line of text, and the Operator, Block or Program that it shows."""

    text: str
    shows: Operator | Block | Program | None = None


def to_text(
    programs: Program | Sequence[Program],
    locations: bool = True,
    elide: int | None = None,
    digest: str = "",
) -> str:
    """The text of one Program or of several; without locations it compares models, not sources.

    Constants of more than `elide` elements are left out, if it is given: what is left is for
    reading by people, and does not parse. `digest` is that of the arrays beside the text.
    """
    several = programs if isinstance(programs, Sequence) else [programs]
    number = max([2 if digest else 1, *(_format_of(one, locations) for one in several)])
    arrays = f', arrays = "{digest}"' if digest else ""
    lines = [f'"dy2st.model"() <{{format = {number} : i64, producer = "{PRODUCER}"{arrays}}}> ({{']
    for program in several:
        lines += [_INDENT + line.text for line in program_lines(program, locations, elide)]
    lines.append("}) : () -> ()\n")
    return "\n".join(lines)


def _format_of(program: Program, locations: bool) -> int:
    """The oldest format that has all of a Program."""
    if isinstance(program.structure, Tables):
        return 6
    if program.functions or program.changes:
        return 5
    places = [one.location for one in program.constraints]
    located = chain((one.location for one in program.block.walk()), places) if locations else ()
    if any(place is not None and place.layer for place in located):
        return 4
    return 3 if program.placements else 1


def program_lines(
    program: Program,
    locations: bool = True,
    elide: int | None = None,
    names: Names | None = None,
) -> list[Line]:
    """The lines of one Program, with what each shows; `names` may be other than its own."""
    printer = _Printer(locations, elide, names or Names())
    printer.print_program(program)
    return printer.lines


class Names:
    """The names that Variables print by: their own, or a number; none is given twice."""

    def __init__(self) -> None:
        """Start without any."""
        self._names: dict[Variable, str] = {}
        self._taken: set[str] = set()
        self._tried: dict[str, int] = {}  # up to where a wish is known to be taken
        self._count = 0

    def of(self, variable: Variable) -> str:
        """The name of a Variable, the same whenever it is met."""
        known = self._names.get(variable)
        if known is not None:  # used before it is defined, or defined twice: a broken Program
            return known
        if not variable.name:
            name = str(self._count)
            self._count += 1
        else:
            name = self.unused(variable.name)
        self._names[variable] = f"%{name}"
        return f"%{name}"

    def given(self) -> dict[Variable, str]:
        """All names so far."""
        return self._names

    def unused(self, wish: str) -> str:
        """A name like this that no other Variable has, now taken."""
        wish = _NOT_IN_NAMES.sub("_", wish)
        wish = f"_{wish}" if wish[0].isdigit() else wish
        count = self._tried.get(wish, 0)
        name = f"{wish}_{count}" if count else wish
        while name in self._taken:
            count += 1
            name = f"{wish}_{count}"
        self._tried[wish] = count
        self._taken.add(name)
        return name


class _Printer:
    def __init__(self, locations: bool, elide: int | None, names: Names) -> None:
        self.lines: list[Line] = []
        self._locations = locations
        self._elide = elide
        self._names = names
        self._types: dict[int, tuple[Any, str]] = {}
        self._shapes: dict[tuple[Any, Any], str] = {}
        # What is still to be printed, the last first: Blocks may be nested deeper than Python's
        # own stack goes.
        self._todo: list[Callable[[], None]] = []

    def _add(self, text: str, shows: Operator | Block | Program | None) -> None:
        self.lines.append(Line(text, shows))

    # -- programs and blocks -----------------------------------------------------------------

    def print_program(self, program: Program) -> None:
        """Append all lines of a Program."""
        self._add('"dy2st.program"() <{', program)
        properties = ",\n".join([f"{name} = {text}" for name, text in self._properties(program)])
        for text in properties.split("\n"):
            self._add(f"{_INDENT}{text}", program)
        self._add("}> ({", program)
        for number, block in enumerate(program.roots):
            if number:
                self._add("}, {", program)
            self._todo = [partial(self._print_block, block, 0, "return")]
            while self._todo:
                self._todo.pop()()
        self._add("}) : () -> ()", program)

    def _properties(self, program: Program) -> list[tuple[str, str]]:
        """What a Program is besides its Block; what is empty is left out."""
        trained = tuple(name for name in program.state if program.trainable.get(name))
        # `{batch = [0, 512], length = [1]}`: every symbol of the Program and its least and
        # largest.
        found: dict[str, Dim] = {}
        for symbol in symbols(tuple(_sizes(program))):
            found.setdefault(str(symbol), symbol)
        entries = []
        for name in sorted(found):
            least, largest = found[name].minimum, found[name].maximum
            entries.append(
                (name, attribute_text((least,) if largest is None else (least, largest)))
            )
        constraints = []
        for located in program.constraints:
            entry = [
                ("condition", attribute_text(located.constraint.condition)),
                ("reason", string_text(located.constraint.reason)),
            ]
            if self._locations and located.location is not None:
                entry.insert(0, ("at", location_text(located.location)))
            constraints.append(f"{_INDENT}{dict_text(entry)}")
        # `{weight = [[["dp", 4]], ["shard 0"]]}`: mesh and placements, in the order of state.
        on = program.placements
        changes = [(name, attribute_text(index)) for name, index in program.changes.items()]
        placed = [(name, attribute_text(tuple(on[name]))) for name in program.state if name in on]
        texts = [
            ("symbols", dict_text(entries) if entries else ""),
            ("inputs", _names_text(variable.name for variable in program.inputs)),
            ("parameters", _names_text(program.parameters)),
            ("buffers", _names_text(program.buffers)),
            ("trainable", _names_text(trained)),
            ("updates", _names_text(program.updates)),
            ("functions", _names_text(program.functions)),
            ("changes", dict_text(changes) if changes else ""),
            ("constraints", "[\n{}\n]".format(",\n".join(constraints)) if constraints else ""),
            ("placements", dict_text(placed) if placed else ""),
        ]
        if program.structure is not None:
            texts.append(("structure", self._attribute(program.structure)))
        return [("name", string_text(program.name)), *(text for text in texts if text[1])]

    def _print_block(self, block: Block, depth: int, terminator: str) -> None:
        indent = _INDENT * depth
        parameters = [f"{self._names.of(v)}: {self._type(v.type)}" for v in block.parameters]
        inside = f"({', '.join(parameters)})" if parameters else ""
        self._add(f"{indent}^bb0{inside}:", block)
        self._todo.append(partial(self._print_end, block, depth + 1, terminator))
        self._todo.append(partial(self._print_operators, iter(block.operators), depth + 1))

    def _print_operators(self, operators: Iterator[Operator], depth: int) -> None:
        """Print those up to the next that has Blocks, and leave the rest for after it."""
        for operator in operators:
            if operator.blocks:
                self._todo.append(partial(self._print_operators, operators, depth))
                indent = _INDENT * depth
                self._add(f"{indent}{self._head(operator)} ({{", operator)
                steps: list[Callable[[], None]] = []
                for block in operator.blocks:
                    if steps:
                        steps.append(partial(self._add, f"{indent}}}, {{", operator))
                    steps.append(partial(self._print_block, block, depth, "yield"))
                steps.append(partial(self._add, f"{indent}}}){self._tail(operator)}", operator))
                self._todo += reversed(steps)
                return
            text = f"{_INDENT * depth}{self._head(operator)}{self._tail(operator)}"
            self.lines.append(Line(text, operator))

    def _print_end(self, block: Block, depth: int, terminator: str) -> None:
        head = f'{_INDENT * depth}"dy2st.{terminator}"({self._uses(block.yields)})'
        self._add(f"{head} : ({self._type_list(block.yields)}) -> ()", block)

    # -- operators ---------------------------------------------------------------------------

    def _head(self, operator: Operator) -> str:
        results = f"{self._uses(operator.results)} = " if operator.results else ""
        return f'{results}"dy2st.{operator.name}"({self._uses(operator.operands)})'

    def _tail(self, operator: Operator) -> str:
        attributes = operator.attributes
        text = ""
        if attributes:
            texts = [(name, self._attribute(attributes[name])) for name in sorted(attributes)]
            text = f" {dict_text(texts)}"
        results = operator.results
        produced = self._type_list(results)
        if len(results) != 1:
            produced = f"({produced})"
        text = f"{text} : ({self._type_list(operator.operands)}) -> {produced}"
        if self._locations and operator.location is not None:
            return f"{text} {location_text(operator.location)}"
        return text

    # -- values ------------------------------------------------------------------------------

    def _attribute(self, value: Any) -> str:
        if self._elide is not None:
            value = without_large(value, self._elide)
        return attribute_text(value)

    def _uses(self, variables: Iterable[Variable]) -> str:
        return ", ".join([self._names.of(variable) for variable in variables])

    def _type_list(self, variables: Iterable[Variable]) -> str:
        return ", ".join([self._type(variable.type) for variable in variables])

    def _type(self, type: Any) -> str:
        known = self._types.get(id(type))
        if known is None:
            # The type is kept beside its text, so that no other object gets its id.
            known = self._types[id(type)] = (type, self._new_type(type))
        return known[1]

    def _new_type(self, type: Any) -> str:
        """The text of a type object that is met for the first time; many are of equal content."""
        if not isinstance(type, TensorType):
            return type_text(type)
        key = (type.dtype, type.shape)
        text = self._shapes.get(key)
        if text is None:
            text = self._shapes[key] = type_text(type)
        return text


def _names_text(names: Iterable[str]) -> str:
    found = tuple(names)
    return attribute_text(found) if found else ""


def _sizes(program: Program) -> Iterator[Any]:
    """All that may hold symbols."""
    blocks = program.roots[::-1]
    seen: set[Any] = set()
    while blocks:
        block = blocks.pop()
        variables = list(block.parameters)
        for operator in block.operators:
            variables += operator.results
            blocks += operator.blocks
            if operator.attributes:
                yield from operator.attributes.values()
        for variable in variables:
            type = variable.type.tensor if isinstance(variable.type, ArrayType) else variable.type
            if isinstance(type, TensorType) and type.shape not in seen:
                seen.add(type.shape)
                yield type.shape
    for located in program.constraints:
        yield located.constraint.condition


__all__ = ["FORMAT", "Line", "Names", "program_lines", "to_text"]
