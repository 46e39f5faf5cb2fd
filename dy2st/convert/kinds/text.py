"""Texts of what only the run knows: f-strings, str(), format(), `%`, join, and print."""

from __future__ import annotations

import itertools
import re
import string
import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from dy2st.convert.kinds.callers import called_by_the_user
from dy2st.convert.kinds.code_texts import one_text
from dy2st.convert.kinds.scalars import is_traced
from dy2st.convert.kinds.side_effects import check_side_effects, note_settings
from dy2st.convert.kinds.table import function_row, method_row, operator_row
from dy2st.convert.stage.outcome import reraise_swallowed_refusals
from dy2st.convert.trace import Trace, own_method
from dy2st.convert.types import info
from dy2st.convert.types.constants import with_lists
from dy2st.convert.values.special import Generated, Indexed, SymbolicSequence, Union
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ConversionError, TensorAsPython
from dy2st_runtime.ir import F, Variable, user_location
from dy2st_runtime.ir.choice import CONVERSIONS, Hole, Text, joined

_STEP = re.compile(r"\.([^.\[]+)|\[([^\]]+)\]")
_FIELD = re.compile(
    r"%(?:\((?P<key>[^)]*)\))?(?P<spec>[-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?)(?P<kind>.)"
)


def formatted(trace: Trace, value: Any, conversion: str, spec: Any) -> Any:
    """What an f-string writes for a value: a str, or a Text."""
    if type(spec) in (Text, Union) or is_traced(spec):
        raise TensorAsPython(
            "a format depends on a tensor",
            at=user_location(),
            why="the format of a text is part of the Program",
            hint="take a format that is known, such as {x:>10.2f}",
        )
    if isinstance(value, BaseException) and conversion in ("", "s"):
        # Its text, if only the run knows that, is made of what it was raised with.
        is_plain = type(value).__str__ is BaseException.__str__
        if is_plain and holds_traced(trace, value.args):
            value = value.args[0] if len(value.args) == 1 else value.args
    if type(value) is Text and conversion in ("", "s") and not spec:
        return value
    if holds_traced(trace, value):
        made = lambda: Text((Hole(kept(trace, value), conversion, spec),))  # noqa: E731
        return _by_case(trace, value, made)
    if conversion or not spec:
        finish = lambda one: one if type(one) is Text and not spec else format(one, spec)  # noqa: E731
        return trace.map_cases(finish, _shown(trace, value, conversion))
    own = own_method(trace, value, "__format__")
    if own is not None:
        return trace.call(own, value, spec)
    return format(trace.native(value), spec)


def _shown(trace: Trace, value: Any, conversion: str) -> Any:
    note_settings(trace, value)
    names = ("__repr__",) if conversion in ("r", "a") else ("__format__", "__str__", "__repr__")
    for name in names if conversion != "s" else names[1:]:
        own = own_method(trace, value, name)
        if own is not None:
            return trace.call(own, value, *(("",) if name == "__format__" else ()))
        if getattr(type(value), name, None) is not getattr(object, name):
            break
    # By a frame that is none of ours: a tensor in what C code writes has no text yet.
    with reraise_swallowed_refusals(format):
        function = CONVERSIONS[conversion] if conversion else format
        return called_by_the_user(function, (trace.native(value),), {})


def holds_traced(trace: Trace, value: Any, around: tuple[Any, ...] = ()) -> bool:
    """Whether a value, or what its lists, tuples and dicts hold, is known only to the run."""
    kind = type(value)
    if any(value is one for one in around):
        return False
    if is_traced(value) or kind in (Text, SymbolicSequence, Indexed, Generated, Union):
        return True
    if info(kind).is_view:
        return holds_traced(trace, trace.call(list, value), (*around, value))
    if not info(kind).is_container and not issubclass(kind, tuple):
        return False
    content = trace.content(value) if info(kind).is_container else value
    if type(content) is SymbolicSequence:
        return True
    parts = content.values() if isinstance(content, dict) else content
    return any(holds_traced(trace, part, (*around, value)) for part in parts)


def _by_case(trace: Trace, value: Any, run: Callable[[], Any]) -> Any:
    """`run()` for each case of what is one of several in a value."""
    found = _several(trace, value)
    if found is None:
        return run()
    return trace.map_cases(lambda _: _by_case(trace, value, run), found)


def _several(trace: Trace, value: Any) -> Union | None:
    """What is one of several in a value, if anything."""
    kind = type(value)
    if kind is Union:
        return value if len(trace.cases_of(value)) > 1 else None
    content = trace.content(value) if info(kind).is_container else value
    if isinstance(content, dict):
        content = tuple(content.values())
    if not isinstance(content, (tuple, list, deque)):
        return None
    return next((one for part in content if (one := _several(trace, part))), None)


def kept(trace: Trace, value: Any) -> Any:
    """The value as it is now: what changes in place later does not show."""
    kind = type(value)
    if kind is Union:
        return trace.map_cases(lambda one: kept(trace, one), value)
    if kind is Text or isinstance(value, (Dim, Condition)):
        return value
    if is_traced(value):
        variable = trace.tracer.variable(value)
        return variable if getattr(value, "number", None) is not None else F.assign(variable)
    if isinstance(value, tuple):
        parts = [kept(trace, one) for one in value]
        return info(kind).make(kind if hasattr(kind, "_fields") else tuple, parts, (), None)
    content = trace.content(value) if info(kind).is_container else value
    if info(kind).is_view or (info(kind).is_container and kind not in (list, dict)):
        raise ConversionError(
            f"the text of a {kind.__name__} with tensors in it",
            at=user_location(),
            why="a text of the Program has places for tensors, and lists and dicts of them",
            hint="print a list(...) or dict(...) of it",
        )
    if type(content) in (SymbolicSequence, Indexed, Generated):
        raise ConversionError(
            "the text of a list whose length depends on a tensor",
            at=user_location(),
            why="a text of the Program has places for tensors alone",
            hint="print the elements in a `for` loop",
        )
    if isinstance(content, dict):
        return {key: kept(trace, one) for key, one in content.items()}
    if kind is list:
        return [kept(trace, one) for one in content]
    return content


def _of_one(conversion: str, function: Any) -> None:
    @function_row(function)
    def row(trace: Trace, *args: Any, **options: Any) -> Any:
        if len(args) != 1 or options:
            return function(*args, **options)
        return formatted(trace, args[0], conversion, "")


for _conversion, _function in (("s", str), ("r", repr), ("a", ascii)):
    _of_one(_conversion, _function)


@function_row(format)
def _format(trace: Trace, value: Any, spec: Any = "") -> Any:
    return formatted(trace, value, "", spec)


@method_row(str, name="format")
def _format_method(trace: Trace, template: str, *args: Any, **named: Any) -> Any:
    return trace.text(*_pieces(trace, template, args, named.__getitem__, itertools.count()))


@method_row(str)
def _format_map(trace: Trace, template: str, named: Any) -> Any:
    look_up = lambda name: trace.item(named, name)  # noqa: E731
    return trace.text(*_pieces(trace, template, (), look_up, itertools.count()))


def _pieces(
    trace: Trace,
    template: str,
    args: tuple[Any, ...],
    named: Callable[[str], Any],
    count: Iterator[int],
) -> list[Any]:
    found: list[Any] = []
    for literal, field, spec, conversion in string.Formatter().parse(template):
        found.append(literal)
        if field is None:
            continue
        if not field or field[0] in ".[":
            field = f"{next(count)}{field}"
        # What a field such as `0.scale[2]` means
        first = re.split(r"[.\[]", field, maxsplit=1)[0]
        if first.isdigit() and int(first) >= len(args):
            text = f"Replacement index {first} out of range for positional args tuple"
            raise IndexError(text)
        value = args[int(first)] if first.isdigit() else named(first)
        for name, index in _STEP.findall(field[len(first) :]):
            if name:
                value = trace.attr(value, name)
            else:
                value = trace.item(value, int(index) if index.isdigit() else index)
        if spec and "{" in spec:
            spec = trace.text(*_pieces(trace, spec, args, named, count))
        found.append((value, conversion or "", "" if spec is None else spec))
    return found


def joined_by(trace: Trace, separator: str, texts: Any) -> Any:
    """`separator.join(texts)` of as many texts as Python knows."""
    if not any(type(one) is Text for one in texts):
        return separator.join(texts)
    return one_text(trace, joined([part for text in texts for part in (separator, text)][1:]))


@operator_row("mod", str)
def _percent(trace: Trace, template: str, values: Any) -> Any:
    fields = [*_FIELD.finditer(template)]
    is_asked = info(type(values)).family != "dict" and any(
        field["key"] is not None for field in fields
    )
    if not is_asked and not holds_traced(trace, values):
        return template % trace.native(values)
    given = iter(values if isinstance(values, tuple) else (values,))
    found: list[Any] = []
    end = 0
    for match in fields:
        found.append(template[end : match.start()])
        end = match.end()
        found.append(_percent_field(trace, match, given, values))
    if "%" in template[end:]:
        raise ValueError("incomplete format")
    if not is_asked and any(True for _ in given) and _is_counted(values):
        raise TypeError("not all arguments converted during string formatting")
    return joined([*found, template[end:]])


def _is_counted(values: Any) -> bool:
    """Whether a template must take all of these: Python lets what has items be left over."""
    if isinstance(values, (tuple, Text, Dim, Condition)):
        return True
    return getattr(values, "number", None) is not None


def _percent_field(trace: Trace, match: re.Match[str], given: Any, values: Any) -> Any:
    if match["kind"] == "%":
        return "%"
    if "*" in match["spec"]:
        return formatted(trace, values, "", Text(()))
    try:
        value = trace.item(values, match["key"]) if match["key"] is not None else next(given)
    except StopIteration:
        raise TypeError("not enough arguments for format string") from None
    spec = f"%{match['spec']}{match['kind']}"
    if type(value) is Text and spec == "%s":
        return value
    if holds_traced(trace, value):
        return Text((Hole(kept(trace, value), "%", spec),))
    return spec % (trace.native(value),)


@function_row(print)
def print_(
    trace: Trace,
    *values: Any,
    sep: Any = None,
    end: Any = None,
    file: Any = None,
    flush: bool = False,
) -> None:
    """`print`: a Program prints when it runs."""
    run = lambda: _print(trace, values, trace.known(sep), trace.known(end), file, flush)  # noqa: E731
    _by_case(trace, (*values, sep, end), run)


def _print(
    trace: Trace, values: tuple[Any, ...], sep: Any, end: Any, file: Any, flush: bool
) -> None:
    shown = [
        with_lists(kept(trace, value))
        if isinstance(value, Variable) or holds_traced(trace, value)
        else formatted(trace, value, "s", "")  # of the user's objects their texts
        for value in values
    ]
    redirected = trace.over.get((id(vars(sys)), "stdout"))
    if file is None and redirected is not None:
        file = redirected.value  # the function has put another stream in its place
    if file is None or file in (sys.stdout, sys.stderr):
        F.print_(*shown, sep=sep, end=end, file=file, flush=flush)
        return
    if any(holds_traced(trace, value) for value in shown):
        F.print_(*shown, file=file)  # refused, in its words
    check_side_effects(trace, getattr(file, "write", print), (file,))
    print(*shown, sep=sep, end=end, file=file, flush=flush)
