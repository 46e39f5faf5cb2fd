"""Reads messages of protocol buffers: strictly, within their bounds, and only named fields.

A schema is a dict from field numbers to a name and a kind. What is known is checked; a field that a
schema leaves out is passed over, and groups, which nothing here has, are refused.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dy2st_runtime.errors import FormatError

INTEGER, FLOAT, DOUBLE, TEXT = "integer", "float", "double", "text"
_DEEPEST = 16
_LONGEST_VARINT = 10


@dataclass(frozen=True)
class Field:
    """A name, a kind (or the schema of a message), and whether it may come more than once."""

    name: str
    kind: str | Mapping[int, Field]
    repeated: bool = False


Schema = Mapping[int, Field]
Message = dict[str, Any]


def parse(data: memoryview, schema: Schema, depth: int = 0) -> Message:
    """A message as a dict: repeated fields are lists, fields that are not there are left out."""
    if depth > _DEEPEST:
        raise FormatError("messages are nested too deep")
    found: Message = {field.name: [] for field in schema.values() if field.repeated}
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        number, wire = key >> 3, key & 7
        if not number:
            raise FormatError("a field has the number 0")
        value, place = _raw(data, place, wire)
        field = schema.get(number)
        if field is None:
            continue
        for one in _values(field, wire, value, depth):
            if field.repeated:
                found[field.name].append(one)
            else:
                found[field.name] = one
    return found


def _raw(data: memoryview, place: int, wire: int) -> tuple[Any, int]:
    """What stands behind a key: an int, or bytes."""
    if wire == 0:
        return _varint(data, place)
    size = {1: 8, 5: 4}.get(wire)
    if wire == 2:
        size, place = _varint(data, place)
    if size is None:
        raise FormatError(f"a field has the wire type {wire}")
    if size > len(data) - place:
        raise FormatError(f"a field of {size} bytes is longer than what is left of its message")
    return data[place : place + size], place + size


def _values(field: Field, wire: int, value: Any, depth: int) -> list[Any]:
    """The values of a field: one, or several where numbers are packed."""
    kind = field.kind
    if not isinstance(kind, str):
        return [parse(_of_wire(field, wire, 2, value), kind, depth + 1)]
    if kind == TEXT:
        try:
            return [str(_of_wire(field, wire, 2, value), "utf-8")]
        except UnicodeDecodeError:
            raise FormatError(f"{field.name} is no text") from None
    if kind == INTEGER:
        if wire == 0:
            return [_signed(value)]
        numbers, place = [], 0
        packed = _of_wire(field, wire, 2, value) if field.repeated else b""
        if not field.repeated:
            _of_wire(field, wire, 0, value)
        while place < len(packed):
            number, place = _varint(packed, place)
            numbers.append(_signed(number))
        return numbers
    single, size, letter = (5, 4, "f") if kind == FLOAT else (1, 8, "d")
    if wire != single and (not field.repeated or wire != 2 or len(value) % size):
        raise FormatError(f"{field.name} has the wire type {wire}")
    return list(struct.unpack(f"<{len(value) // size}{letter}", value))


def _of_wire(field: Field, wire: int, wanted: int, value: Any) -> Any:
    if wire != wanted:
        raise FormatError(f"{field.name} has the wire type {wire}")
    return value


def _varint(data: Any, place: int) -> tuple[int, int]:
    result = 0
    for index in range(_LONGEST_VARINT):
        if place + index >= len(data):
            raise FormatError("it ends within a number")
        byte = data[place + index]
        result |= (byte & 127) << (7 * index)
        if byte < 128:
            if result >= 1 << 64:
                break
            return result, place + index + 1
    raise FormatError("a number has more than 64 bits")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


__all__ = ["DOUBLE", "FLOAT", "INTEGER", "TEXT", "Field", "Message", "Schema", "parse"]
