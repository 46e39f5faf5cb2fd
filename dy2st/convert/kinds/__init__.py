"""Rows: what functions in C and methods of built-in types do in a trace."""

from dy2st.convert.kinds import (  # noqa: F401  each registers its rows
    dicts,
    functions,
    iterators,
    lists,
    numbers,
    objects,
    ordering,
    sets,
    side_effects,
    tensors,
    text,
)
from dy2st.convert.polyfills import itertools_, math_  # noqa: F401
