"""Parses `dense<...>`: no memory is taken that the text does not pay for."""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.ir.text.lexer import Lexer
from dy2st_runtime.ir.types import DType, TensorType

Array = np.ndarray[Any, Any]

_MAX_BYTES = 2**62
_MAX_AXES = 64
_MAX_DIGITS = 400


class Elements(NamedTuple):
    """What stands between `dense<` and `>`.

    `shape` says how the words are nested: () is one element for all, None is hexadecimal digits.
    """

    place: int
    words: list[str]
    shape: tuple[int, ...] | None


def read_elements(lexer: Lexer) -> Elements:
    """Read up to, and not including, the `>`."""
    place = lexer.place
    if lexer.kind == "string":
        return Elements(place, [lexer.string()], None)
    words: list[str] = []
    if lexer.word == ">":
        return Elements(place, words, (0,))
    open: list[int] = []  # how many entries each open list has so far
    lengths: dict[int, int] = {}  # of the lists that are closed, by depth
    rank = -1
    while True:
        while lexer.accept("["):
            open.append(0)
        rank = len(open) if rank < 0 else rank
        if len(open) != rank or rank > _MAX_AXES:
            raise lexer.error("the lists of an array are nested unevenly or too deeply")
        if lexer.kind == "number" or lexer.word in ("true", "false"):
            element = lexer.advance()
        else:
            raise lexer.expected("an element")
        words.append(element)
        if not _another_follows(lexer, open, lengths):
            return Elements(place, words, tuple(lengths[depth] for depth in range(rank)))


def _another_follows(lexer: Lexer, open: list[int], lengths: dict[int, int]) -> bool:
    """Close lists until a comma brings another entry, or none is open."""
    while open:
        open[-1] += 1
        if lexer.accept(","):
            return True
        place = lexer.place
        lexer.expect("]")
        length = open.pop()
        if lengths.setdefault(len(open), length) != length:
            raise lexer.error("the lists of an array differ in length", place)
    return False


def build_array(lexer: Lexer, elements: Elements, type: TensorType) -> Array:
    """The array of this type with these elements; ParseError if they do not fit it."""
    shape = tuple(size for size in type.shape if isinstance(size, int))
    count = math.prod(shape)
    # NumPy wants this product to fit even where another size is 0.
    most = math.prod(size or 1 for size in shape) * type.dtype.itemsize
    if len(shape) != type.rank or most > _MAX_BYTES:
        raise lexer.error("an array needs known sizes that fit into memory", elements.place)
    if elements.shape is None:
        dtype = type.dtype
        digits = elements.words[0]
        is_splat = len(digits) == 2 + 2 * dtype.itemsize and 0 not in shape
        is_whole = len(digits) == 2 + 2 * math.prod(shape) * dtype.itemsize
        if not (is_splat or is_whole) or digits[:2] != "0x":
            raise lexer.error("the digits do not fill the shape of the type", elements.place)
        try:
            data = bytes.fromhex(digits[2:])
        except ValueError:
            raise lexer.error("expected hexadecimal digits", elements.place) from None
        if dtype.kind == "b" and data.strip(b"\0\1"):
            raise lexer.error("a bool is a byte 00 or 01", elements.place)
        flat = from_little_endian(data, dtype)
        return flat.reshape(shape) if is_whole else np.broadcast_to(flat.reshape(()), shape)
    is_splat = elements.shape == () and count > 0
    if not is_splat and elements.shape != (shape if count else (0,)):
        raise lexer.error("the elements do not have the shape of the type", elements.place)
    try:
        # The elements as a flat array; ValueError or OverflowError if one does not fit.
        words = elements.words
        dtype = type.dtype
        if any(len(word) > _MAX_DIGITS for word in words):
            raise ValueError("a number is too long")
        if dtype.kind == "c" and words:
            raise ValueError("complex numbers stand as digits of their bytes")
        if dtype.kind == "b":
            if not all(word in ("true", "false") for word in words):
                raise ValueError("expected true or false")
            flat = np.array([word == "true" for word in words], dtype)
        elif dtype.kind in "iu":
            flat = np.array([int(word) for word in words], dtype)
        else:
            flat = np.array([_float(word, dtype) for word in words], dtype)
    except (ValueError, OverflowError):
        what = f"an element is no {type.dtype}, or outside its range"
        raise lexer.error(what, elements.place) from None
    # A broadcast array is one element in memory, whatever its shape.
    return np.broadcast_to(flat.reshape(()), shape) if is_splat else flat.reshape(shape)


def _float(word: str, dtype: DType) -> Any:
    """A float from decimal digits, or from its bits."""
    if word.startswith("0x"):
        if len(word) != 2 + 2 * dtype.itemsize:
            raise ValueError("the bits do not have the width of the type")
        return from_little_endian(bytes.fromhex(word[2:])[::-1], dtype)[0]
    return float(word)


def from_little_endian(data: bytes, dtype: DType) -> Array:
    """A flat array on bytes, the least significant byte of an element first."""
    array = np.frombuffer(data, dtype)
    return array if sys.byteorder == "little" else array.byteswap()


def float_from_bits(word: str) -> float:
    """The float64 of 16 hexadecimal digits; ValueError for anything else."""
    return float(_float(word, np.dtype("float64")))


__all__ = ["Elements", "build_array", "float_from_bits", "from_little_endian", "read_elements"]
