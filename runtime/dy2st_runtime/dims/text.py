"""Parses sizes and conditions: a small parser, never eval."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from dy2st_runtime.dims.conditions import Condition
from dy2st_runtime.dims.expression import NAME, Dim, Size
from dy2st_runtime.dims.operations import broadcast_forms, extreme, floordiv, modulo
from dy2st_runtime.dims.polynomial import closed, multiply, total
from dy2st_runtime.errors import ParseError

_TOKEN = re.compile(rf"\s*(?:(\d+)|({NAME.pattern})|(//|==|!=|<=|>=|[-+*%(),<>]))")
_RELATIONS = ("==", "!=", "<=", ">=", "<", ">", "broadcasts", "not broadcasts")
_FUNCTIONS: dict[str, Callable[[Size, Size], Size]] = {
    "min": lambda left, right: extreme("min", (left, right)),
    "max": lambda left, right: extreme("max", (left, right)),
    "broadcast": lambda left, right: broadcast_forms((left, right)),
}
_PRODUCTS: dict[str, Callable[[Size, Size], Size]] = {
    "*": multiply,
    "//": floordiv,
    "%": modulo,
}
_MAX_DEPTH = 60
_MAX_DIGITS = 30


class _Reader:
    def __init__(self, text: str, scope: Mapping[str, Dim]):
        self.text, self.scope, self.place, self.depth = text, scope, 0, 0
        self.tokens: list[tuple[str, int]] = []
        while text[self.place :].strip():
            match = _TOKEN.match(text, self.place)
            if match is None:
                raise self.error(f"unexpected {text[self.place :].strip()[0]!r}")
            self.tokens.append((match.group().strip(), match.start()))
            self.place = match.end()
        self.next = 0

    def error(self, what: str) -> ParseError:
        return ParseError(f"size {self.text[:80]!r}, column {self.place + 1}: {what}")

    def peek(self) -> str:
        if self.next < len(self.tokens):
            token, self.place = self.tokens[self.next]
            return token
        self.place = len(self.text)
        return ""

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if not token or (wanted and token != wanted):
            raise self.error(f"expected {wanted or 'a size'}, found {token or 'the end'}")
        self.next += 1
        return token

    def sum(self) -> Size:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self.error("nested too deeply")
        parts = [self.signed_product() if self.peek() == "-" else self.product()]
        while self.peek() in ("+", "-"):
            parts.append(self.signed_product())
        self.depth -= 1
        return self.checked(total(parts))

    def signed_product(self) -> Size:
        sign = 1 if self.take() == "+" else -1
        return multiply(self.product(), sign)

    def product(self) -> Size:
        result = self.atom()
        while self.peek() in _PRODUCTS:
            operation = self.take()
            other = self.atom()
            if operation != "*" and isinstance(other, int) and other == 0:
                raise self.error("division by zero")
            result = self.checked(_PRODUCTS[operation](result, other))
        return result

    def checked(self, result: Size) -> Size:
        if isinstance(result, Dim) and result.is_long:
            raise self.error("the formula is too long")
        return result

    def atom(self) -> Size:
        token = self.take()
        if token.isdigit():
            if len(token) > _MAX_DIGITS:
                raise self.error("the number is too long")
            return int(token)
        if token == "(":
            return self.closed()
        if token in _FUNCTIONS and self.peek() == "(":
            return self.call(token)
        known = self.scope.get(token)
        if known is None:
            raise self.error(f"unknown size {token!r}")
        return known

    def closed(self) -> Size:
        result = self.sum()
        self.take(")")
        return result

    def call(self, function: str) -> Size:
        self.take("(")
        result = self.sum()
        if isinstance(result, Dim) and self.peek() == ")":
            result = closed(result)  # as products print a sum that they are too long to multiply
        while self.peek() == ",":
            self.take()
            result = self.checked(_FUNCTIONS[function](result, self.sum()))
        self.take(")")
        return result

    def end(self) -> None:
        if self.next < len(self.tokens):
            raise self.error(f"unexpected {self.peek()!r}")


def parse(text: str, scope: Mapping[str, Dim]) -> Size:
    """The size that a text names; ParseError with the column if it names none.

    >>> dy2st.dims.parse("2*n + 1", {"n": dy2st.dims.symbol("n")})
    2*n + 1
    """
    reader = _Reader(text, scope)
    result = reader.sum()
    reader.end()
    return result


def parse_condition(text: str, scope: Mapping[str, Dim]) -> Condition:
    """The condition that a text names; ParseError with the column if it names none.

    >>> dy2st.dims.parse_condition("2*n >= 4", {"n": dy2st.dims.symbol("n")})
    2*n >= 4
    """
    reader = _Reader(text, scope)
    left = reader.sum()
    relation = reader.take()
    if relation == "not":
        relation = f"not {reader.take()}"
    if relation in ("in", "not in"):
        reader.take("(")
        entries = [reader.sum()]
        while reader.peek() == ",":
            reader.take()
            if reader.peek() != ")":
                entries.append(reader.sum())
        reader.take(")")
        reader.end()
        return Condition(relation, left, tuple(entries))
    if relation not in _RELATIONS:
        raise reader.error(f"expected a comparison, found {relation!r}")
    right = reader.sum()
    reader.end()
    return Condition(relation, left, right)
