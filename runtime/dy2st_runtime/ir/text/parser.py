"""Parses the text of Programs. Nothing in a text is ever executed.

Every fault is a ParseError that names line and column and what was expected. Reading takes time
and memory in proportion to the text, whatever it says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dy2st_runtime.dims import Constraint, symbol
from dy2st_runtime.errors import FormatError, Location, ParseError, nearest
from dy2st_runtime.ir.definition import DEFINITIONS, find
from dy2st_runtime.ir.operator_families import MODULE_OF_OPERATOR
from dy2st_runtime.ir.placement import Placement, are_placements, is_mesh
from dy2st_runtime.ir.program import Block, LocatedConstraint, Operator, Program, Variable
from dy2st_runtime.ir.text.line_reader import LineReader
from dy2st_runtime.ir.text.printer import FORMAT
from dy2st_runtime.ir.types import ValueType
from dy2st_runtime.thread_state import without_collection

_DIALECT = "dy2st."
_NAME_LISTS = ("inputs", "parameters", "buffers", "trainable", "updates")
_FUNCTIONS = "functions"


def parse(text: str, allow_unknown: bool = False) -> list[Program]:
    """The Programs that `to_text` printed.

    Operators without a record are refused unless `allow_unknown`. The Programs are not verified.
    Raises ParseError for a text that is none, FormatError for one of a newer version of dy2st.
    """
    with without_collection():
        return _Parser(text, allow_unknown).model()


def parse_digest(text: str) -> str:
    """The digest of the arrays that a text was written with, "" if it names none.

    Raises as `parse` does for what stands before it.
    """
    return _Parser(text, allow_unknown=True).head()


def parse_one(text: str, allow_unknown: bool = False) -> Program:
    """The only Program of a text; ParseError if there are several or none."""
    programs = parse(text, allow_unknown)
    if len(programs) != 1:
        raise ParseError(f"expected one Program, found {len(programs)}")
    return programs[0]


@dataclass(slots=True)
class _Head:
    """An operator of which all up to its Blocks is read."""

    operator: Operator
    results: list[str]
    place: int


class _Parser(LineReader):
    __slots__ = ("_allow_unknown",)

    def __init__(self, text: str, allow_unknown: bool):
        super().__init__(text)
        self._allow_unknown = allow_unknown

    def expect_all(self, *words: str) -> None:
        """Go on over all these words."""
        for word in words:
            self.expect(word)

    # -- the whole text ----------------------------------------------------------------------

    def model(self) -> list[Program]:
        """All Programs, up to the end."""
        self.head()
        self.expect_all("}", ">", "(", "{")
        programs = []
        while self.word != "}":
            place = self.place
            self.expect_all('"dy2st.program"', "(", ")", "<")
            self.enter_scope({})
            properties = self._properties()
            self.expect_all(">", "(", "{")
            block = Block()
            self._body(block)
            names = properties.get(_FUNCTIONS, ())
            if len(set(names)) < len(names):
                raise self.error("two functions have one name", place)
            functions = {name: Block() for name in names}
            for function in functions.values():
                self.expect_all("}", ",", "{")
                self._body(function)
            self.expect_all("}", ")")
            self._no_types()
            programs.append(self._assemble(properties, block, functions, place))
        self.expect_all("}", ")")
        self._no_types()
        if self.kind != "end":
            raise self.expected("the end of the text")
        return programs

    def head(self) -> str:
        """The digest of the arrays, with all that stands before it."""
        self.expect_all('"dy2st.model"', "(", ")", "<", "{")
        self.expect_all("format", "=")
        place, version = self.place, self.attribute()
        if type(version) is not int or version < 1:
            raise self.error("the format is a number from 1", place)
        if version > FORMAT:
            raise FormatError(
                f"the text has format {version} and was written by a newer dy2st; this one reads "
                f"formats up to {FORMAT}: update it"
            )
        self.expect_all(",", "producer", "=")
        self.string()
        if not self.accept(","):
            return ""
        self.expect_all("arrays", "=")
        return self.string()

    def _no_types(self) -> None:
        self.expect_all(":", "(", ")", "->", "(", ")")
        self._location()

    def _location(self) -> Location | None:
        """What follows operators, and in the texts of other tools all else that has types."""
        return self.location() if self.word == "loc" else None

    # -- properties of a Program -------------------------------------------------------------

    def _properties(self) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def entry() -> None:
            place = self.place
            name = self.key()
            if name in found:
                raise self.error(f"`{name}` stands here twice", place)
            self.expect("=")
            if name == "name":
                found[name] = self.string()
            elif name == "symbols":
                place = self.place
                scope = {}
                for label, limits in self.entries().items():
                    numbers = limits if isinstance(limits, tuple) else ()
                    if len(numbers) not in (1, 2) or any(
                        type(number) is not int for number in numbers
                    ):
                        raise self.error(f"`{label}` needs [least] or [least, largest]", place)
                    try:
                        scope[label] = symbol(label, *numbers)
                    except ValueError as error:
                        raise self.error(str(error), place) from None
                self.enter_scope(scope)
                found[name] = None
            elif name == "constraints":
                found[name] = list(self.listed("[", self._constraint, "]"))
            elif name == "structure":
                found[name] = self.attribute()
            elif name == "changes":
                found[name] = self._changes()
            elif name == "placements":
                found[name] = self._placements()
            elif name in _NAME_LISTS or name == _FUNCTIONS:
                found[name] = self.strings()
            else:
                raise self.error(f"a Program has no property `{name}`", place)

        self.listed("{", entry, "}")
        return found

    def _changes(self) -> dict[str, int]:
        place, found = self.place, self.entries()
        if not all(type(index) is int and index >= 0 for index in found.values()):
            raise self.error("changes are numbers of outputs, by name", place)
        return found

    def _placements(self) -> dict[str, Placement]:
        place, found = self.place, {}
        for name, value in self.entries().items():
            is_pair = type(value) is tuple and len(value) == 2
            if not (is_pair and is_mesh(value[0]) and are_placements(value[1])):
                raise self.error(
                    f"the placement of `{name[:80]}` is no mesh with placements", place
                )
            found[name] = Placement(*value)
        return found

    def _constraint(self) -> LocatedConstraint:
        self.expect("{")
        location: Location | None = None
        if self.accept("at"):
            self.expect("=")
            location = self.location()
            self.expect(",")
        self.expect_all("condition", "=", "#dy2st.condition", "<")
        condition = self._condition()
        self.expect_all(">", ",", "reason", "=")
        reason = self.string()
        self.expect("}")
        return LocatedConstraint(Constraint(condition, reason), location)

    def _assemble(
        self,
        properties: dict[str, Any],
        block: Block,
        functions: dict[str, Block],
        place: int,
    ) -> Program:
        if "name" not in properties:
            raise self.error("the Program has no name", place)
        inputs, parameters, buffers, trained, updates = (
            properties.get(name, ()) for name in _NAME_LISTS
        )
        names, variables = [*inputs, *parameters, *buffers], block.parameters
        if len(names) != len(variables) or len({*parameters, *buffers}) != len(names) - len(inputs):
            raise self.error(
                f"the Block has {len(variables)} parameters; inputs, parameters and buffers name "
                f"{len(names)}, of which the last two must differ",
                place,
            )
        state = dict(zip(names[len(inputs) :], variables[len(inputs) :], strict=True))
        placements = properties.get("placements", {})
        unknown = [name for name in (*trained, *updates, *placements) if name not in state]
        if unknown:
            raise self.error(f"there is no parameter or buffer `{unknown[0][:80]}`", place)
        for name, variable in zip(names, variables, strict=True):
            variable.name = name
        return Program(
            name=properties["name"],
            block=block,
            inputs=variables[: len(inputs)],
            parameters={name: state[name] for name in parameters},
            buffers={name: state[name] for name in buffers},
            trainable={name: name in trained for name in state},
            updates=list(updates),
            constraints=properties.get("constraints", []),
            structure=properties.get("structure"),
            changes=properties.get("changes", {}),
            placements=placements,
            functions=functions,
        )

    # -- Blocks ------------------------------------------------------------------------------

    def _body(self, outermost: Block) -> None:
        """Fill a Block and all that are nested in it; they may nest to any depth."""
        self._values = {}
        around: list[_Head] = []
        block = outermost
        self._begin_block(block)
        while True:
            terminator = '"dy2st.yield"' if around else '"dy2st.return"'
            if self.word != terminator:
                head = self._head(block)
                if self.word != "(":
                    self._finish(head)
                    continue
                self.advance()
                around.append(head)
            else:
                quick = self.quick_end(block)
                if quick is not None:
                    block.yields = quick
                else:
                    self.advance()
                    block.yields = self._operands(block)
                    self._check_types(block.yields)
                    self.expect_all("->", "(", ")")
                    self._location()
                if not around:
                    return
                self.expect("}")
                if not self.accept(","):
                    self.expect(")")
                    head = around.pop()
                    block = head.operator.block
                    self._finish(head)
                    continue
            self.expect("{")
            outer = around[-1].operator
            block = Block(parent=outer.block)
            outer.blocks.append(block)
            self._begin_block(block)

    def _begin_block(self, block: Block) -> None:
        quick = self.quick_parameters()
        if quick is not None:
            for place, word, type in quick:
                self._define(word, block.add_parameter(type, _own_name(word)), place)
            return
        if self.kind in ("value", "string"):  # other tools leave a Block's head out if it is empty
            return
        self.expect("^bb0")

        def parameter() -> None:
            place, word = self.place, self.expect_kind("value", "a parameter such as `%x`")
            self.expect(":")
            self._define(word, block.add_parameter(self.type(), _own_name(word)), place)
            self._location()

        if self.word == "(":
            self.listed("(", parameter, ")")
        self.expect(":")

    # -- operators ---------------------------------------------------------------------------

    def _head(self, block: Block) -> _Head:
        place = self.place
        quick = self.quick_head(block)
        if quick is not None:
            names, name, operands = quick
            return _Head(Operator(name, operands, {}, block), names, place)
        results: list[str] = []
        if self.kind == "value":
            results.append(self.advance())
            while self.accept(","):
                results.append(self.expect_kind("value", "a result such as `%0`"))
            self.expect("=")
        name = self._operators.get(self.word) or self._operator_name()
        self.advance()
        return _Head(Operator(name, self._operands(block), {}, block), results, place)

    def _operator_name(self) -> str:
        if self.kind != "string":
            raise self.expected('an operator such as "dy2st.add", or the end of the Block')
        word = self.word[1:-1]
        name = word.removeprefix(_DIALECT)
        if name == word or "\\" in word or name in ("model", "program", "return", "yield"):
            raise self.expected('an operator such as "dy2st.add"')
        if find(name) is None and not self._allow_unknown:
            near = nearest(name[:80], [*DEFINITIONS, *MODULE_OF_OPERATOR])
            hint = f"; did you mean `{near}`?" if near else ""
            raise self.error(f"there is no operator `{name[:80]}`{hint}")
        self._operators[self.word] = name
        return name

    def _finish(self, head: _Head) -> None:
        """Read what follows the Blocks, and put the operator into its Block."""
        operator = head.operator
        if self.word == "{":
            operator.attributes = self.entries()
        quick = self.quick_tail(operator.operands, len(head.results))
        types, operator.location = quick or self._tail(head)
        for word, type in zip(head.results, types, strict=True):
            result = Variable(type, operator, _own_name(word))
            operator.results.append(result)
            self._define(word, result, head.place)
        operator.block.operators.append(operator)

    def _tail(self, head: _Head) -> tuple[list[ValueType], Location | None]:
        """`: (types) -> types`, and the location if there is one."""
        self._check_types(head.operator.operands)
        self.expect("->")
        types = self._types() if self.word == "(" else [self.type()]
        if len(types) != len(head.results):
            counts = f"{len(head.results)} results are named, {len(types)} have a type"
            raise self.error(counts, head.place)
        return types, self._location()

    # -- values ------------------------------------------------------------------------------

    def _define(self, word: str, variable: Variable, place: int) -> None:
        if word in self._values:
            raise self.error(f"`{word[:80]}` is defined twice", place)
        self._values[word] = variable

    def _operands(self, block: Block) -> list[Variable]:
        found = []
        self.expect("(")
        while self.kind == "value":
            known = self._values.get(self.word)
            if known is None or known.block is not block:
                where = "defined so far" if known is None else "a value of this Block"
                raise self.error(f"`{self.word[:80]}` is not {where}")
            found.append(known)
            self.advance()
            if self.word != ",":
                break
            self.advance()
            if self.kind != "value":
                raise self.expected("a value such as `%0`")
        self.expect(")")
        return found

    def _check_types(self, variables: list[Variable]) -> None:
        """`: (types)`, which must be the types of the values."""
        self.expect(":")
        place, types = self.place, self._types()
        if len(types) != len(variables):
            raise self.error(f"{len(variables)} values have {len(types)} types", place)
        for variable, type in zip(variables, types, strict=True):
            if variable.type is not type and variable.type != type:
                raise self.error(f"a value of type {variable.type} is used as {type}", place)

    def _types(self) -> list[ValueType]:
        return list(self.listed("(", self.type, ")"))


def _own_name(word: str) -> str:
    """The name of a Variable; a number stands for none."""
    return "" if word[1:].isdigit() else word[1:]


__all__ = ["parse", "parse_digest", "parse_one"]
