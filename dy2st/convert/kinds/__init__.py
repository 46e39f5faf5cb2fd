"""Rows: what functions in C and methods of built-in types do in a trace."""

from importlib import import_module

from dy2st.convert.kinds import (  # noqa: F401  each registers its rows
    attributes,
    callers,
    code_texts,
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

# The polyfills come behind them: those of Counter stand in place of the rows of dict.
for _name in ("builtins_", "collections_", "functools_", "itertools_", "math_", "text_"):
    import_module(f"dy2st.convert.polyfills.{_name}")
