"""Writes types and attributes in MLIR's syntax; `attribute_parser.py` reads them back.

| value | text |
| --- | --- |
| None, True, 3, 1.5, "a" | `unit`, `true`, `3 : i64`, `1.5 : f64`, `"a"` |
| (1, 2) | `[1, 2]` |
| np.dtype("float32") | `f32` |
| a Dim, a Condition | `#dy2st.dim<"2*batch">`, `#dy2st.condition<"batch > 3">` |
| a NumPy array | `dense<[1.0, 2.0]> : tensor<2xf32>` |
| ... left out for readers, see `to_text` | `dense_resource<__elided__> : tensor<2xf32>` |
| in structures: Output(0), Output(0, True) | `#dy2st.output<0>`, `#dy2st.output<0, number>` |
| a list of rows, and the row of a case that was taken: Rows(Output(0), 1), Only(1) | \
`#dy2st.rows<#dy2st.output<0>, 1 : i64>`, `#dy2st.only<1 : i64>` |
| a container of Python's library: Container("deque", [1], 3), Container("set", [1]) | \
`#dy2st.container<"deque", #dy2st.list<[1]>, 3 : i64>`, \
`#dy2st.container<"set", #dy2st.list<[1]>>` |
| lists that may be one in tables: Tables((Rows(Output(0), [1]),), At(0, Output(1))) | \
`#dy2st.tables<[#dy2st.rows<#dy2st.output<0>, #dy2st.list<[1]>>], #dy2st.at<0, #dy2st.output<1>>>` |
| [1, 2], {"a": 1}, b"a", np.float32(1) | `#dy2st.list<[1, 2]>`, `#dy2st.dict<[["a", 1]]>`, \
`#dy2st.bytes<"61">`, `#dy2st.scalar<dense<1.0> : tensor<f32>>` |
| a named tuple | `#dy2st.named<"Point", ["x", "y"], [1, 2]>` |
| one of several values, a text | `#dy2st.choice<#dy2st.output<0>, [unit, "a"]>`, \
`#dy2st.text<["x is ", [#dy2st.output<0>, "r", ".2f"]]>` |

Anything else prints as `#dy2st.invalid<"...">`, so that a broken Program can be looked at; it does
not parse.
"""

from __future__ import annotations

import math
import re
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import Location
from dy2st_runtime.ir.choice import Choice, Text
from dy2st_runtime.ir.exceptions import ErrorKind
from dy2st_runtime.ir.structure import At, Container, Only, Output, Rows, Tables
from dy2st_runtime.ir.types import ArrayType, DType, TensorType, element_text

Array = np.ndarray[Any, Any]

# Longer arrays, those with infinities or nan, and complex numbers print as the hexadecimal digits
# of their bytes.
MAX_LISTED = 64
# Stands where an array was left out.
ELIDED = "dense_resource"
# How deep a text may nest brackets; each level of a dict takes three.
MAX_DEPTH = 120

# Patterns are compiled when a Program is first printed.
_BARE_KEY = r"[A-Za-z_][A-Za-z0-9_$.]*\Z"
# Quotes, what does not print, and what changes the order in which text is shown. The ranges are
# spelled out because `str.isprintable` differs between versions of Python.
_ESCAPED = '["\\\\\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]'
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def string_text(value: str) -> str:
    """A string in quotes; unusual characters as the hexadecimal digits of their UTF-8 bytes.

    >>> print(string_text('say "hi"'))
    "say \\"hi\\""
    """
    return f'"{re.sub(_ESCAPED, _escape, value)}"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    short = _SHORT_ESCAPES.get(character)
    if short is not None:
        return short
    return "".join(f"\\{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=1_000)
def key_text(name: str) -> str:
    """The name of an attribute, in quotes if it is no identifier."""
    return name if re.match(_BARE_KEY, name) else string_text(name)


def dict_text(entries: Sequence[tuple[str, str]], open: str = "{", close: str = "}") -> str:
    """`{axis = 1 : i64}` of names and texts, in the order given."""
    return f"{open}{', '.join(f'{key_text(name)} = {text}' for name, text in entries)}{close}"


def location_text(location: Location) -> str:
    """`loc("model.py":9:8)`, `loc("layers.0"("model.py":9:8))` in a Layer.

    Of the path only the file's own name, so that no machine shows.
    """
    place = f"{_file_text(location.file)}:{location.line}:{location.column}"
    return f"loc({_layer_text(location.layer)}({place}))" if location.layer else f"loc({place})"


@lru_cache(maxsize=1_000)
def _file_text(file: str) -> str:
    return string_text(re.sub(r".*[\\/]", "", file, flags=re.DOTALL))


_layer_text = lru_cache(maxsize=1_000)(string_text)


# -- types ------------------------------------------------------------------------------------


def type_text(type: Any) -> str:
    """`tensor<?x64xf32, ["batch"]>`: the texts of unknown sizes follow in order."""
    if isinstance(type, TensorType):
        return tensor_text(type.dtype, type.shape)
    if isinstance(type, ArrayType):
        return f"!dy2st.array<{'none' if type.element is None else type_text(type.element)}>"
    return f"!dy2st.invalid<{string_text(repr(type))}>"


def tensor_text(dtype: DType, shape: Sequence[Any]) -> str:
    """The text of a tensor's type."""
    sizes = "".join("?x" if isinstance(size, Dim) else f"{size}x" for size in shape)
    unknown = [string_text(str(size)) for size in shape if isinstance(size, Dim)]
    encoding = f", [{', '.join(unknown)}]" if unknown else ""
    return f"tensor<{sizes}{dtype_text(dtype)}{encoding}>"


def dtype_text(dtype: DType) -> str:
    """`f32`; a dtype that Programs do not have is shown and does not parse."""
    return element_text(dtype) or f"!dy2st.invalid<{string_text(str(dtype))}>"


# -- attributes -------------------------------------------------------------------------------


def attribute_text(value: Any, in_array: bool = False) -> str:
    """The text of an attribute; in arrays `3` is short for `3 : i64` and `1.5` for `1.5 : f64`."""
    kind = type(value)
    if kind is tuple:
        return f"[{', '.join(attribute_text(entry, True) for entry in value)}]"
    form = _FORMS.get(kind)
    if form is not None:
        return form(value, in_array)
    if kind is Elided:
        return repr(value)
    if isinstance(value, np.dtype):
        return dtype_text(value)
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, np.generic) and element_text(value.dtype):
        return f"#dy2st.scalar<{array_text(np.asarray(value))}>"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        fields = attribute_text(value._fields)
        return (
            f"#dy2st.named<{string_text(type(value).__name__)}, {fields}, "
            f"{attribute_text(tuple(value))}>"
        )
    return f"#dy2st.invalid<{string_text(repr(value)[:100])}>"


def _float(value: float, in_array: bool) -> str:
    text = float_text(value)
    if text is None:
        return f"0x{little_endian(np.asarray(value))[::-1].hex().upper()} : f64"
    return text if in_array else f"{text} : f64"


def float_text(value: float) -> str | None:
    """The shortest decimal text of a float, None for what has none (nan, inf).

    >>> float_text(1e-05)
    '1.0e-05'
    """
    if not math.isfinite(value):
        return None
    return _with_point(repr(value))


def _with_point(text: str) -> str:
    """MLIR wants digits and a point in front of an exponent."""
    mantissa, mark, exponent = text.partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{mark}{exponent}"


def _dict(value: dict[Any, Any], in_array: bool) -> str:
    return f"#dy2st.dict<{attribute_text(tuple(value.items()))}>"


def _string(value: str, in_array: bool) -> str:
    return string_text(value)


_FORMS: dict[type, Callable[[Any, bool], str]] = {
    type(None): lambda value, _: "unit",
    bool: lambda value, _: "true" if value else "false",
    # Hexadecimal beyond 64 bits: Python limits the length of decimal numbers.
    int: lambda value, in_array: (
        (str(value) if in_array else f"{value} : i64")
        if -(2**63) <= value < 2**63
        else f"{value:#x} : i{(value.bit_length() // 64 + 1) * 64}"
    ),
    float: _float,
    str: _string,
    ErrorKind: _string,
    Dim: lambda value, _: f"#dy2st.dim<{string_text(str(value))}>",
    Condition: lambda value, _: f"#dy2st.condition<{string_text(str(value))}>",
    Location: lambda value, _: location_text(value),
    np.ndarray: lambda value, _: array_text(value),
    Output: lambda value, _: f"#dy2st.output<{value.index}{', number' if value.as_number else ''}>",
    list: lambda value, _: f"#dy2st.list<{attribute_text(tuple(value))}>",
    dict: _dict,
    OrderedDict: _dict,  # read back as a dict: that keeps its order too
    Choice: lambda value, _: (
        f"#dy2st.choice<{attribute_text(value.tag)}, {attribute_text(value.cases)}>"
    ),
    Text: lambda value, _: "#dy2st.text<{}>".format(
        attribute_text(
            tuple(
                part if isinstance(part, str) else (part.value, part.conversion, part.spec)
                for part in value.parts
            )
        )
    ),
    Rows: lambda value, _: "#dy2st.rows<{}, {}{}>".format(
        attribute_text(value.length),
        attribute_text(value.entry),
        "" if value.kind == "list" else f", {string_text(value.kind)}",
    ),
    Container: lambda value, _: "#dy2st.container<{}, {}{}>".format(
        string_text(value.kind),
        attribute_text(value.entry),
        "" if value.setting is None else f", {attribute_text(value.setting)}",
    ),
    Only: lambda value, _: f"#dy2st.only<{attribute_text(value.entry)}>",
    At: lambda value, _: f"#dy2st.at<{value.table}, {attribute_text(value.place)}>",
    Tables: lambda value, _: (
        f"#dy2st.tables<{attribute_text(value.tables)}, {attribute_text(value.entry)}>"
    ),
    bytes: lambda value, _: f'#dy2st.bytes<"{value.hex()}">',
}


# -- arrays -----------------------------------------------------------------------------------


def array_text(array: Array) -> str:
    """`dense<...> : tensor<...>`: one element for all, lists, or the digits of the bytes."""
    if element_text(array.dtype) is None:
        return f"#dy2st.invalid<{string_text(f'array of {array.dtype}')}>"
    if array.size == 0:
        elements = ""
    else:
        listed = array.dtype.kind != "c"
        if listed and array.size == 1 and np.isfinite(array).item():
            elements = _texts(array)[0]
        else:
            is_splat = _is_splat(array)
            shown = array[(slice(0, 1),) * array.ndim] if is_splat else array
            # Not `0x7F800000`: xDSL takes the bits of an element for a number.
            if not listed or shown.size > MAX_LISTED or not np.isfinite(shown).all():
                elements = f'"0x{little_endian(shown).hex().upper()}"'
            else:
                elements = _nested(iter(_texts(shown)), () if is_splat else array.shape)
    return f"dense<{elements}> : {tensor_text(array.dtype, array.shape)}"


def _is_splat(array: Array) -> bool:
    """Whether all elements have the same bits; -0.0 is not 0.0."""
    pairs = zip(array.strides, array.shape, strict=True)
    if all(stride == 0 or size == 1 for stride, size in pairs):
        return True
    flat = array.reshape(-1)
    if flat[0] != flat[-1]:  # not a splat, or nan: cheap for most
        return False
    data = np.frombuffer(flat.tobytes(), np.uint8).reshape(flat.size, -1)
    return bool((data == data[0]).all())


def _nested(texts: Iterator[str], shape: Sequence[int]) -> str:
    if not shape:
        return next(texts)
    if len(shape) == 1:
        return f"[{', '.join(islice(texts, shape[0]))}]"
    return f"[{', '.join([_nested(texts, shape[1:]) for _ in range(shape[0])])}]"


def _texts(array: Array) -> list[str]:
    """The finite elements in row-major order, each exact."""
    flat = array.ravel()
    kind = flat.dtype.kind
    if kind == "b":
        return ["true" if value else "false" for value in flat.tolist()]
    if kind in "iu":
        return [str(value) for value in flat.tolist()]
    if flat.dtype == np.float64:
        return [_with_point(repr(value)) for value in flat.tolist()]
    return [_with_point(_shortest(value, flat.dtype.type)) for value in flat]


def _shortest(value: Any, kind: Any) -> str:
    """The digits that NumPy shows if they read back, else those of the float64."""
    short = str(value)
    return short if kind(float(short)) == value else repr(float(value))


class Elided:
    """An array of which only the type is printed."""

    def __init__(self, array: Array):
        """Keep the array, for its type."""
        self.array = array

    def __repr__(self) -> str:
        """As MLIR's own tools print it."""
        return f"{ELIDED}<__elided__> : {tensor_text(self.array.dtype, self.array.shape)}"


def without_large(value: Any, most: int) -> Any:
    """An attribute in which arrays of more than `most` elements are Elided, if all are not one."""
    if isinstance(value, np.ndarray):
        is_long = value.size > most and element_text(value.dtype) and not _is_splat(value)
        return Elided(value) if is_long else value
    if isinstance(value, dict):
        return {key: without_large(entry, most) for key, entry in value.items()}
    if type(value) in (tuple, list):
        return type(value)(without_large(entry, most) for entry in value)
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make([without_large(entry, most) for entry in value])
    return value


def little_endian(array: Array) -> bytes:
    """The elements' bytes in row-major order, the least significant byte first."""
    order = array.dtype.byteorder
    if order == ">" or (order == "=" and sys.byteorder == "big"):
        array = array.byteswap()
    return array.tobytes()


__all__ = [
    "ELIDED",
    "MAX_DEPTH",
    "Elided",
    "array_text",
    "attribute_text",
    "dict_text",
    "float_text",
    "key_text",
    "little_endian",
    "location_text",
    "string_text",
    "type_text",
    "without_large",
]
