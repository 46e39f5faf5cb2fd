"""Rows: what functions in C and methods of built-in types do in a trace."""

from dy2st.convert.kinds import (  # noqa: F401  each registers its rows
    attributes,
    callers,
    containers,
    converters,
    dicts,
    floats_,
    functools_,
    gradients,
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
    views,
)
