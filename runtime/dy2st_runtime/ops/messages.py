"""Operators that emit warnings, and messages to loggers."""

from __future__ import annotations

import builtins
import logging
import warnings
from typing import Any

from dy2st_runtime.ir import Effect, Output, Sample, apply, define, public
from dy2st_runtime.ir.attribute_kinds import INTEGER, NAME, TEXT, structure
from dy2st_runtime.ir.location import user_location
from dy2st_runtime.ops.side_effects import text_of, with_places

# What Python keeps in the module of each file, for the warnings that it has shown.
_SHOWN: dict[str, dict[Any, Any]] = {}


def _warn_kernel(*values: Any, text: tuple[Any, ...], kind: str, file: str, line: int) -> tuple[()]:
    known: Any = getattr(builtins, kind, None)
    is_one = isinstance(known, type) and issubclass(known, Warning)
    category: type[Warning] = known if is_one else UserWarning
    caller = user_location() if not line else None
    if caller is not None:
        file, line = caller.traced_file, caller.line
    shown = _SHOWN.setdefault(file, {})
    warnings.warn_explicit(text_of(text, values), category, file, line, registry=shown)
    return ()


def _log_kernel(
    *values: Any,
    text: tuple[Any, ...],
    logger: str,
    level: int,
    file: str,
    line: int,
    function: str,
) -> tuple[()]:
    own = logging.getLogger(logger or None)
    if not logger and not own.handlers:  # as the functions of the module do
        logging.basicConfig()
    if own.isEnabledFor(level):
        made = (own.name, level, file, line, text_of(text, values), (), None, function)
        own.handle(own.makeRecord(*made))
    return ()


define(
    "warn",
    takes_complex=True,
    doc="A warning: a text with places for values; at line 0 it is the caller's.",
    inputs="items*",
    attributes={
        "text": structure(tuple),
        "kind": NAME.or_else("UserWarning"),
        "file": TEXT.or_else(""),
        "line": INTEGER.or_else(0),
    },
    infer=lambda *types, **_: (),
    kernel=_warn_kernel,
    effect=Effect.VISIBLE,
)
define(
    "log_message",
    takes_complex=True,
    doc="A message to the logger of a name, by the root logger's functions if it has none.",
    inputs="items*",
    attributes={
        "text": structure(tuple),
        "logger": TEXT,
        "level": INTEGER,
        "file": TEXT.or_else(""),
        "line": INTEGER.or_else(0),
        "function": TEXT.or_else(""),
    },
    infer=lambda *types, **_: (),
    kernel=_log_kernel,
    effect=Effect.VISIBLE,
    samples=(
        Sample(
            ((2,),),
            {"text": ("x: ", Output(0)), "logger": "dy2st.samples", "level": 1},
            ("float32",),
        ),
    ),
)


@public
def emit_warning(text: Any, kind: str, file: str, line: int) -> None:
    """`warnings.warn` of a text, in which tensors may stand, when the Program runs.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as shown:
    ...     warnings.simplefilter("always")
    ...     dy2st.ops.emit_warning("x is large", "UserWarning", "model.py", 7)
    >>> print(shown[0].message, shown[0].lineno)
    x is large 7
    """
    tensors, placed = with_places(text)
    apply("warn", *tensors, text=placed, kind=kind, file=file, line=line)


@public
def emit_log(text: Any, logger: str, level: int, file: str, line: int, function: str) -> None:
    """A message to a logger, in which tensors may stand, when the Program runs.

    >>> import logging
    >>> logger = logging.getLogger("of_an_example")
    >>> logger.addFilter(lambda record: print(record.getMessage()))
    >>> dy2st.ops.emit_log("x is large", logger.name, logging.ERROR, "model.py", 7, "f")
    x is large
    >>> logger.filters.clear()
    """
    tensors, placed = with_places(text)
    where = {"file": file, "line": line, "function": function}
    apply("log_message", *tensors, text=placed, logger=logger, level=level, **where)
