"""Computes whether an operator would fail, as a number, for the user's exception handlers."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.errors import VerifyError
from dy2st_runtime.ir import Sample, TensorType, apply, define, eagerly
from dy2st_runtime.ir.attribute_kinds import NAME, AttributeKind, several
from dy2st_runtime.ir.definition import lookup

_PAIR = AttributeKind("", lambda value, _: type(value) is tuple and len(value) == 2)


def _infer(
    *types: Any, operator: str, attributes: tuple[Any, ...], kinds: tuple[str, ...]
) -> TensorType:
    definition, given = lookup(operator), dict(attributes)
    for name, kind in definition.allowed.items():
        if name not in given or not kind.fits(given[name], types):
            raise VerifyError([f"failure: `{name}` of {operator} is {kind.what}"])
    if definition.raises is None or len(given) != len(definition.allowed):
        raise VerifyError([f"failure: {operator} does not fail, or has no such attributes"])
    return TensorType("int64", ())


def _kernel(
    *values: Any, operator: str, attributes: tuple[Any, ...], kinds: tuple[str, ...]
) -> Any:
    try:
        with eagerly(as_recorded=True):
            apply(operator, *values, **dict(attributes))
    except Exception as error:  # which class it is of decides, and what is of none is raised
        for number, kind in enumerate(kinds, 1):
            if any(one.__name__ == kind for one in type(error).__mro__):
                return np.int64(number)
        raise
    return np.int64(0)


define(
    "failure",
    doc="Which class of error an operator raises for these operands, from 1; 0 if it raises none.",
    inputs="values*",
    attributes={
        "operator": NAME,
        "attributes": several(_PAIR, "the attributes of that operator"),
        "kinds": several(NAME, "names of classes of errors"),
    },
    takes_complex=True,
    infer=_infer,
    kernel=_kernel,
    samples=(
        Sample(
            ((3,), (2,)),
            {"operator": "index", "attributes": (("axes", (0,)),), "kinds": ("IndexError",)},
            ("float64", "int64"),
            -6,
            6,
        ),
    ),
)
