"""Which syntax calls which operator of the trace, and names that the traced form has of its own."""

from __future__ import annotations

import gast

BINARY: dict[type, str] = {
    gast.Add: "add",
    gast.Sub: "sub",
    gast.Mult: "mul",
    gast.Div: "truediv",
    gast.FloorDiv: "floordiv",
    gast.Mod: "mod",
    gast.Pow: "pow_",
    gast.MatMult: "matmul",
    gast.LShift: "lshift",
    gast.RShift: "rshift",
    gast.BitAnd: "and_bits",
    gast.BitOr: "or_bits",
    gast.BitXor: "xor",
}

IN_PLACE: dict[type, str] = {
    gast.Add: "iadd",
    gast.Sub: "isub",
    gast.Mult: "imul",
    gast.Div: "itruediv",
    gast.FloorDiv: "ifloordiv",
    gast.Mod: "imod",
    gast.Pow: "ipow_",
    gast.MatMult: "imatmul",
    gast.LShift: "ilshift",
    gast.RShift: "irshift",
    gast.BitAnd: "iand_bits",
    gast.BitOr: "ior_bits",
    gast.BitXor: "ixor",
}

UNARY: dict[type, str] = {
    gast.USub: "neg",
    gast.UAdd: "pos",
    gast.Invert: "invert",
    gast.Not: "not_",
}

COMPARE: dict[type, str] = {
    gast.Lt: "lt",
    gast.LtE: "le",
    gast.Gt: "gt",
    gast.GtE: "ge",
    gast.Eq: "eq",
    gast.NotEq: "ne",
    gast.Is: "is_",
    gast.IsNot: "is_not",
    gast.In: "in_",
    gast.NotIn: "not_in",
}

# Python's own, which code reads under names of its own.
BUILTINS: dict[str, object] = {
    "BaseException": BaseException,
    "list": list,
    "set": set,
    "slice_": slice,
    "tuple": tuple,
}
