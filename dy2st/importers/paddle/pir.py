"""Reads models of PIR, a text in JSON: operators in SSA form, with regions and typed attributes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn

from dy2st.importers.paddle.graph import Body, Graph, Input, Key, Node, Parameter, dtype_named
from dy2st_runtime.errors import FormatError

_DIALECTS = {"0": "builtin.", "1": "", "2": "cf."}
_OPERATORS = ("pd_op.", "")
_TYPES = {
    "bool": "bool", "bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64",
    "i8": "int8", "ui8": "uint8", "i16": "int16", "i32": "int32", "i64": "int64",
    "index": "int64", "c64": "complex64", "c128": "complex128", "f8e4m3fn": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
}  # fmt: skip
_DEEPEST = 64
_WORDS = ("INF", "-INF", "NaN", "NAN", "inf", "-inf", "nan")
_INPUTS, _OUTPUTS = ("data", "feed"), ("fetch", "builtin.shadow_output")
# Of operators in place: the operand that becomes the first result, where it is not the first one.
_WRITTEN = {"assign_out_": 1, "where_": 1, "batch_norm_": None, "sync_batch_norm_": None}


def is_pir(text: bytes) -> bool:
    """Whether a text may be a model of PIR."""
    return b'"pir"' in text[:4096]


def read_pir(text: bytes) -> Graph:
    """The model of a text; FormatError if it is none."""
    try:
        found = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        raise FormatError("it is no JSON: it is damaged, or no model of PaddlePaddle's") from None
    reader = _Reader()
    try:
        base = found["base_code"]
        if base["magic"] != "pir":
            raise FormatError("it is a JSON of something else than PIR")
        (region,) = found["program"]["regions"]
        (block,) = region["blocks"]
        body = reader.body(block, is_main=True)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, FormatError):
            raise
        where = f"operator number {reader.count} of the file: " if reader.count else ""
        raise FormatError(f"{where}it is damaged: {error!r:.200}") from None
    outputs = [name for _, name, _ in sorted(reader.outputs)]
    body.yields = [key for _, _, key in sorted(reader.outputs)]
    return Graph(reader.inputs, reader.parameters, body, outputs)


class _Reader:
    def __init__(self) -> None:
        self.inputs: list[Input] = []
        self.parameters: list[Parameter] = []
        self.outputs: list[tuple[int, str, Key]] = []
        self.count = self.depth = 0

    def body(self, block: Any, is_main: bool = False) -> Body:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise FormatError(f"blocks are nested deeper than {_DEEPEST}")
        body = Body([_key(one["#"]) for one in block["args"]], [], [])
        for entry in block["ops"]:
            self.count += 1
            if entry["#"] == "p" or _name(entry["#"]) == "builtin.parameter":
                self.parameter(entry)
                continue
            node = self.node(entry)
            if is_main and node.name in _INPUTS:
                self.input(node, entry)
            elif is_main and node.name in _OUTPUTS:
                place = node.attributes.get("col", len(self.outputs))
                name = node.attributes.get("name") or node.attributes.get("output_name", "")
                self.outputs.append((int(place), str(name), _only(node.operands)))
            elif node.name == "cf.yield":
                body.yields = node.operands
            else:
                body.nodes.append(node)
        self.depth -= 1
        return body

    def node(self, entry: Any) -> Node:
        name = _name(entry["#"])
        operands = [_operand(one) for one in entry["I"]]
        results = [_key(one["%"]) for one in entry["O"]]
        attributes = {one["N"]: _attribute(one["AT"]) for one in entry["A"]}
        regions = entry.get("regions", [])
        bodies = [self.body(block) for region in regions for block in region["blocks"]]
        place = _WRITTEN.get(name, 0) if name.endswith("_") else None
        is_written = place is not None and place < len(operands) and operands[place] is not None
        writes = [one for one in [operands[place or 0]] if one] if is_written else []
        return Node(name.rstrip("_"), operands, attributes, list(results), bodies, writes)

    def parameter(self, entry: Any) -> None:
        result = entry["O"] if isinstance(entry["O"], dict) else _only(entry["O"])
        key, (dtype, shape) = _key(result["%"]), _tensor(result["TT"])
        if entry["#"] == "p":
            name = entry["A"][3]
            is_kept, _, trained = (bool(flag) for flag in entry["OA"])
        else:
            given = {one["N"]: _attribute(one["AT"]) for one in entry["A"]}
            name, is_kept, trained = given["parameter_name"], True, True
        if not isinstance(name, str):
            raise FormatError(f"a parameter has the name {name!r:.80}")
        if not is_kept:
            name = ""  # room that an operator works in: it lies in no file
        self.parameters.append(Parameter(key, name, dtype, shape, trained))

    def input(self, node: Node, entry: Any) -> None:
        dtype, shape = _tensor(_only(entry["O"])["TT"])
        name = node.attributes.get("name") or f"x{len(self.inputs)}"
        self.inputs.append(Input(_only(node.results), str(name), dtype, shape))


def _only(entries: Any) -> Any:
    (one,) = entries
    return one


def _key(value: Any) -> int:
    if type(value) is not int:
        raise FormatError(f"a value has the number {value!r:.80}")
    return value


def _operand(entry: Any) -> Key | None:
    key = _key(entry["%"])
    return key or None  # 0 says that nothing is given


def _name(text: str) -> str:
    """`1.relu` and `pd_op.relu` are `relu`; other dialects keep theirs."""
    dialect, dot, rest = text.partition(".")
    if dialect in _DIALECTS:
        return _DIALECTS[dialect] + rest
    return text.removeprefix("pd_op.") if dot else text


def _tensor(entry: Any) -> tuple[Any, tuple[int, ...]]:
    """Dtype and sizes of the type of a tensor."""
    if not str(entry["#"]).endswith("t_dtensor"):
        raise FormatError(f"an input or parameter is of type {entry['#']!r:.80}, no tensor")
    element, sizes = entry["D"][0]["#"], entry["D"][1]
    if any(type(size) is not int or not -1 <= size < 1 << 48 for size in sizes):
        raise FormatError(f"an input or parameter has the sizes {sizes!r:.200}")
    return dtype_named(_TYPES.get(element.partition(".t_")[2], element)), tuple(sizes)


def _no_such(kind: str) -> NoReturn:
    raise FormatError(f"an attribute is of kind {kind!r:.80}, which is not known")


def _attribute(entry: Any) -> Any:
    kind = str(entry["#"]).partition(".a_")[2]
    if kind not in _ATTRIBUTES:
        _no_such(str(entry["#"]))
    # What JSON has no number for stands as a word under another name.
    return _ATTRIBUTES[kind](entry["D"] if "D" in entry else entry.get("VD"))


def _whole(value: Any) -> int:
    if type(value) is not int or not -(1 << 63) <= value < 1 << 63:
        raise FormatError(f"{value!r:.80} is no integer")
    return value


def _real(value: Any) -> float:
    if value in _WORDS:
        return float(value)
    if type(value) not in (int, float):
        raise FormatError(f"{value!r:.80} is no number")
    return float(value)


def _scalar(value: Any) -> Any:
    """A number that says its kind; older files have the number alone."""
    if isinstance(value, list):
        value = value[-1]
    if isinstance(value, dict):
        value = value.get("D", value.get("value"))
    return value if type(value) in (int, bool) else _real(value)


_ATTRIBUTES: dict[str, Callable[[Any], Any]] = {
    "bool": bool,
    "str": str,
    "i32": _whole,
    "i64": _whole,
    "index": _whole,
    "f32": _real,
    "f64": _real,
    "c64": lambda parts: complex(*map(_real, parts)),
    "c128": lambda parts: complex(*map(_real, parts)),
    "array": lambda entries: [_attribute(one) for one in entries],
    "intarray": lambda sizes: [_whole(one) for one in sizes],
    "scalar": _scalar,
    "dtype": str,
    "place": lambda _: None,
    "layout": str,
    "type": lambda _: None,
    "tensorname": str,
    "symbol": lambda _: None,
}

__all__ = ["is_pir", "read_pir"]
