"""The closed list of what a traced form calls, and which syntax calls it."""

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

# What each is called with; the traced form of a function takes those that it uses by name.
OTHERS: dict[str, str] = {
    "glob": "(F, name) -> value of a global or builtin name",
    "set_glob": "(F, name, value)",
    "del_glob": "(F, name)",
    "imported": "(F, level, module, name, value) -> what an import binds; no name: the module",
    "new_cell": "() or (value) -> cell",
    "cell": "(cell, name) -> value, or NameError: the variable of a function around",
    "local_cell": "(cell, name) -> value, or UnboundLocalError: a variable of the function itself",
    "set_cell": "(cell, value)",
    "del_cell": "(cell, name)",
    "unbound": "the value of a variable that has none",
    "bound": "(value, name) -> value, unless it is `unbound`",
    "attr": "(object, name) -> value",
    "set_attr": "(object, name, value)",
    "del_attr": "(object, name)",
    "item": "(object, index) -> value",
    "set_item": "(object, index, value)",
    "del_item": "(object, index)",
    "and_": "(a, thunk)",
    "or_": "(a, thunk)",
    "if_exp": "(test, thunk, thunk)",
    "truth": "(value) -> bool; for statements that stay Python's own",
    "call": "(function, *arguments, **keywords)",
    "method": "(object, name, *arguments, **keywords)",
    "star": "(iterable) -> what `*` spreads",
    "double_star": "(mapping) -> what `**` spreads",
    "call_spread": "(function, *arguments, **keywords) of a call with `*` or `**` in it",
    "spread_star": "(iterable) -> what `*` spreads in such a call",
    "spread_double_star": "(mapping) -> what `**` spreads in such a call",
    "rest": "(the tuple of `*rest`) -> what the variable holds",
    "made": "(a new list, set or dict) -> the same",
    "gather": "(kind, (is star, value), ...) -> list, tuple or set",
    "gather_dict": "((key, value) or (mapping,), ...) -> dict",
    "text": "(str or (value, conversion, spec), ...) -> str",
    "unpack": "(iterable, count) -> tuple",
    "unpack_star": "(iterable, count before, count after) -> tuple",
    "make_function": "(F, path, cells, defaults, kwdefaults[, annotations])",
    "make_class": "(F, path, cells, name, bases, keywords)",
    "make_generic": "(F, path, cells[, defaults][, kwdefaults]) -> what has type parameters",
    "generate": "(generator function of an iterable, iterable, the same with a function that takes"
    " each item, whether each has one) -> generator",
    "push": "(item of a generator whose consumer takes it at once) -> what `yield` gives",
    "push_all": "(iterable whose items are given away) -> what `yield from` gives",
    "is_plain": "(*values) -> whether all are numbers, texts or ranges, or the function `range`",
    "iterate": "(iterable) -> what Python's own `for` and `yield from` take",
    "if_": "(test, true, false, state, names) -> state",
    "while_": "(test, body, state, names) -> state",
    "for_": "(iterable, extra test or None, body, state, names) -> state",
    "try_": "(body, ((classes or None, handler), ...), else, finally or None, state, names)",
    "with_": "(context manager, body of what is entered and the state, state, names) -> state",
    "manager": "(context manager) -> what Python's own `with` takes",
    "handling": "(thunk of the caught classes, whether there is `finally`) -> context manager",
    "swallowed": "(jumped, failed) -> whether a jump in `finally` swallows an exception",
    "raised": "(exception or class) -> what `raise` takes",
    "assert_": "(test, thunk of the message or None)",
    "match": "(subject, pattern, names) -> (whether it fits, *what the names are bound to)",
}

NAMES = frozenset(
    {*BINARY.values(), *IN_PLACE.values(), *UNARY.values(), *COMPARE.values(), *OTHERS}
)

# Python's own, which code reads under names of its own.
BUILTINS: dict[str, object] = {
    "BaseException": BaseException,
    "list": list,
    "set": set,
    "slice_": slice,
    "tuple": tuple,
}

# What the rewrites of statements call -> what it is here.
OLD_NAMES: dict[str, str] = {"convert_match": "match", "convert_swallowed": "swallowed"}
