"""Rows: what functions in C and methods of built-in types do in a trace."""

from dy2st.heart.kinds import (
    attributes,
    changing,
    containers,
    dicts,
    functools_,
    iterators,
    itertools_,
    list_methods,
    math_,
    numbers_,
    objects,
    operator_,
    reductions,
    sets,
    tensors,
    text,
)

__all__ = [
    "attributes",
    "changing",
    "containers",
    "dicts",
    "functools_",
    "iterators",
    "itertools_",
    "list_methods",
    "math_",
    "numbers_",
    "objects",
    "operator_",
    "reductions",
    "sets",
    "tensors",
    "text",
]
