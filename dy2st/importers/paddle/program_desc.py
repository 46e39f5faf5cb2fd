"""Reads `.pdmodel`, a ProgramDesc: blocks of operators on named variables, in protocol buffers."""

from __future__ import annotations

from typing import Any

from dy2st.importers.paddle.graph import Body, Graph, Input, Node, Parameter, dtype_named, keys
from dy2st.importers.paddle.old_names import renamed
from dy2st.importers.paddle.wire import DOUBLE, FLOAT, INTEGER, TEXT, Field, Message, Schema, parse
from dy2st_runtime.errors import FormatError
from dy2st_runtime.ir.types import is_floating

DTYPES = {
    0: "bool", 1: "int16", 2: "int32", 3: "int64", 4: "float16", 5: "float32", 6: "float64",
    20: "uint8", 21: "int8", 22: "bfloat16", 23: "complex64", 24: "complex128",
    32: "float8_e4m3fn", 33: "float8_e5m2",
}  # fmt: skip
"""Names of the element types by their numbers."""
_TENSOR_TYPE, _LIST_TYPE = 7, 13
_DEEPEST = 64

TENSOR: Schema = {1: Field("data_type", INTEGER), 2: Field("dims", INTEGER, True)}
_SCALAR: Schema = {
    1: Field("type", INTEGER), 2: Field("b", INTEGER), 3: Field("i", INTEGER),
    4: Field("r", DOUBLE), 5: Field("c", {1: Field("r", DOUBLE), 2: Field("i", DOUBLE)}),
}  # fmt: skip
_ATTRIBUTE: Schema = {
    1: Field("name", TEXT), 2: Field("type", INTEGER), 3: Field("i", INTEGER),
    4: Field("f", FLOAT), 5: Field("s", TEXT), 6: Field("ints", INTEGER, True),
    7: Field("floats", FLOAT, True), 8: Field("strings", TEXT, True), 10: Field("b", INTEGER),
    11: Field("bools", INTEGER, True), 12: Field("block_idx", INTEGER), 13: Field("l", INTEGER),
    14: Field("blocks_idx", INTEGER, True), 15: Field("longs", INTEGER, True),
    16: Field("float64s", DOUBLE, True), 17: Field("var_name", TEXT),
    18: Field("vars_name", TEXT, True), 19: Field("float64", DOUBLE),
    20: Field("scalar", _SCALAR), 21: Field("scalars", _SCALAR, True),
}  # fmt: skip
# The field of each kind of attribute; those of bools and scalars are read in words of their own.
_FIELDS = (
    "i", "f", "s", "ints", "floats", "strings", "b", "bools", "block_idx", "l", "blocks_idx",
    "longs", "float64s", "var_name", "vars_name", "float64", "scalar", "scalars",
)  # fmt: skip
_ARGUMENTS: Schema = {1: Field("parameter", TEXT), 2: Field("arguments", TEXT, True)}
_OPERATOR: Schema = {
    1: Field("inputs", _ARGUMENTS, True),
    2: Field("outputs", _ARGUMENTS, True),
    3: Field("type", TEXT),
    4: Field("attrs", _ATTRIBUTE, True),
}
_VARIABLE: Schema = {
    1: Field("name", TEXT),
    2: Field(
        "type", {1: Field("type", INTEGER), 3: Field("lod_tensor", {1: Field("tensor", TENSOR)})}
    ),
    3: Field("persistable", INTEGER),
}
_BLOCK: Schema = {
    1: Field("idx", INTEGER),
    2: Field("parent_idx", INTEGER),
    3: Field("vars", _VARIABLE, True),
    4: Field("ops", _OPERATOR, True),
}
_PROGRAM: Schema = {
    1: Field("blocks", _BLOCK, True),
    4: Field("version", {1: Field("version", INTEGER)}),
}


def read_program_desc(data: bytes) -> Graph:
    """The model of a file's bytes; FormatError if they are none."""
    found = parse(memoryview(data), _PROGRAM)
    if not found["blocks"]:
        raise FormatError("it has no block: it is damaged, or no model of PaddlePaddle's")
    return _Reader(found["blocks"]).graph()


class Operator:
    """An operator as the file has it: arguments and attributes by name."""

    def __init__(self, message: Message):
        """Take the message."""
        self.type = str(message.get("type", ""))
        # Newer operators have small letters where older ones have capitals.
        self.inputs = {one["parameter"].lower(): one["arguments"] for one in message["inputs"]}
        self.outputs = {one["parameter"].lower(): one["arguments"] for one in message["outputs"]}
        self.attributes = {one["name"]: _value(one) for one in message["attrs"]}

    def first(self, parameter: str) -> str:
        """The first input under a name."""
        arguments = self.inputs.get(parameter.lower())
        if not arguments:
            raise FormatError(f"an operator {self.type} has no input {parameter}")
        return str(arguments[0])


def _value(message: Message) -> Any:
    kind = message["type"]
    if not 0 <= kind < len(_FIELDS):
        raise FormatError(f"an attribute is of kind {kind}")
    name = _FIELDS[kind]
    value = message.get(name)
    if name == "b":
        return bool(value)
    if name == "bools":
        return [bool(one) for one in message["bools"]]
    if name == "scalar":
        return _scalar(value or {})
    if name == "scalars":
        return [_scalar(one) for one in message["scalars"]]
    return value


def _scalar(message: Message) -> Any:
    kind = message.get("type")
    if kind == 4:
        parts = message.get("c", {})
        return complex(parts.get("r", 0.0), parts.get("i", 0.0))
    return bool(message.get("b")) if kind == 1 else message.get("r" if kind == 3 else "i", 0)


class _Reader:
    """Makes Bodies of blocks; what joins two branches becomes an `if`."""

    def __init__(self, blocks: list[Message]):
        self.blocks = blocks
        self.used: set[int] = set()
        self.depth = 0

    def graph(self) -> Graph:
        variables = {one["name"]: one for one in self.blocks[0]["vars"]}
        operators = [Operator(one) for one in self.blocks[0]["ops"]]
        inputs: dict[int, Input] = {}
        outputs: dict[int, str] = {}
        inner = []
        for operator in operators:
            if operator.type == "feed":
                name = operator.outputs["out"][0]
                dtype, shape = _type(variables[name])
                inputs[operator.attributes["col"]] = Input(name, name, dtype, shape)
            elif operator.type == "fetch":
                outputs[operator.attributes["col"]] = operator.first("X")
            else:
                inner.append(operator)
        # Inference models do not say what was trained: all floats but what batch norms measure.
        measured = {
            name
            for operator in operators
            if operator.type in ("batch_norm", "sync_batch_norm")
            for slot in ("mean", "variance")
            for name in operator.inputs.get(slot, ())
        }
        parameters = []
        for name, one in variables.items():
            if one.get("persistable") and one["type"]["type"] == _TENSOR_TYPE:
                dtype, shape = _type(one)
                trained = is_floating(dtype) and name not in measured
                parameters.append(Parameter(name, name, dtype, shape, trained))
        names = [outputs[place] for place in sorted(outputs)]
        body = Body([], self.nodes(inner, variables), [*names])
        return Graph([inputs[place] for place in sorted(inputs)], parameters, body, names)

    def body(self, index: Any, yields: list[Any]) -> Body:
        """What a block does."""
        if type(index) is not int or not 0 < index < len(self.blocks) or index in self.used:
            raise FormatError(f"an operator runs the block {index!r:.80}, which is none or in use")
        self.used.add(index)
        self.depth += 1
        if self.depth > _DEEPEST:
            raise FormatError(f"blocks are nested deeper than {_DEEPEST}")
        block = self.blocks[index]
        own = {one["name"]: one for one in block["vars"]}
        made = Body([], self.nodes([Operator(one) for one in block["ops"]], own), yields)
        self.depth -= 1
        return made

    def nodes(self, operators: list[Operator], own: dict[str, Message]) -> list[Node]:
        """The operators of a block whose variables are `own`."""
        # Lists are there from the beginning, and no operator makes them.
        lists = [name for name, one in own.items() if one["type"]["type"] == _LIST_TYPE]
        found = [Node("create_array", [], {}, [name]) for name in lists]
        branches: dict[str, Operator] = {}  # what a conditional block gives -> that block
        selects = [one for one in operators if one.type == "select_input"]
        chosen = {name for one in selects for name in one.inputs.get("x", [])}
        done: set[int] = set()
        for operator in operators:
            if operator.type == "conditional_block":
                names = operator.outputs.get("out", [])
                if chosen.isdisjoint(names):
                    found.append(self.alone(operator))
                branches.update((name, operator) for name in names)
            elif operator.type == "select_input":
                if id(operator) not in done:
                    found.append(self.joined(operator, selects, branches, done))
            elif operator.type == "while":
                condition = operator.first("Condition")
                body = self.body(operator.attributes.get("sub_block"), [condition])
                found.append(Node("while", [condition], {}, [], [body]))
            else:
                node = renamed(operator)
                # A variable of a block around this one is written.
                node.writes += [key for key in keys(node.results) if key not in own]
                found.append(node)
        return found

    def alone(self, operator: Operator) -> Node:
        """A conditional block that writes variables of the blocks around it."""
        body = self.body(operator.attributes.get("sub_block"), [])
        return Node("if", [operator.first("Cond")], {}, [], [body, Body([], [], [])])

    def joined(
        self,
        first: Operator,
        selects: list[Operator],
        branches: dict[str, Operator],
        done: set[int],
    ) -> Node:
        """The `if` of two conditional blocks, with all that selects between them."""

        def sides(select: Operator) -> list[Operator | None]:
            names = select.inputs.get("x", [])
            if len(names) != 2:
                raise FormatError("an operator select_input has not two inputs")
            return [branches.get(name) for name in names]

        pair = sides(first)
        together = [one for one in selects if sides(one) == pair and id(one) not in done]
        done.update(map(id, together))
        bodies = []
        for side, place in ((pair[1], 1), (pair[0], 0)):  # the true one comes first here
            names = [one.inputs["x"][place] for one in together]
            sub_block = None if side is None else side.attributes.get("sub_block")
            bodies.append(Body([], [], names) if side is None else self.body(sub_block, names))
        results = [one.outputs["out"][0] for one in together]
        return Node("if", [first.first("Mask")], {}, list(results), bodies)


def _type(variable: Message) -> tuple[Any, tuple[int, ...]]:
    tensor = variable["type"].get("lod_tensor", {}).get("tensor", {})
    number, dims = int(tensor.get("data_type", -1)), tuple(tensor.get("dims", ()))
    if any(not -1 <= size < 1 << 48 for size in dims):
        raise FormatError(f"{variable['name']!r:.80} has the sizes {list(dims)!r:.200}")
    return dtype_named(DTYPES.get(number, number)), dims


__all__ = ["DTYPES", "TENSOR", "Operator", "read_program_desc"]
