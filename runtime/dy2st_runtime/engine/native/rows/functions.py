"""Rows of mathematical functions, and of activations made of them."""

from __future__ import annotations

from dy2st_runtime.engine.native.lanes import Lanes, Value
from dy2st_runtime.engine.native.rows.row import Row, of_result


def _called(name: str, cost: int) -> Row:
    """A function of LLVM: of one instruction, or a call a lane."""

    def write(lanes: Lanes, *values: Value) -> Value:
        return lanes.intrinsic(name, *values)

    return Row(of_result(write), cost)


def _rsqrt(lanes: Lanes, x: Value) -> Value:
    return lanes.divide(lanes.constant(1, x.dtype), lanes.intrinsic("sqrt", x))


FUNCTIONS = {
    "sqrt": _called("sqrt", 6),
    "rsqrt": Row(of_result(_rsqrt), 10),
    "exp": _called("exp", 15),
    "log": _called("log", 20),
    "log2": _called("log2", 20),
    "log10": _called("log10", 20),
    "sin": _called("sin", 30),
    "cos": _called("cos", 30),
    "tan": _called("tan", 40),
    "tanh": _called("tanh", 20),
    "sinh": _called("sinh", 30),
    "cosh": _called("cosh", 30),
    "asin": _called("asin", 40),
    "acos": _called("acos", 40),
    "atan": _called("atan", 40),
    "atan2": _called("atan2", 50),
}

__all__ = ["FUNCTIONS"]
