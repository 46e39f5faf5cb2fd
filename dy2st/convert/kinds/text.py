"""Texts of what only the run knows: f-strings, str(), format(), methods, print, and messages."""

from __future__ import annotations

import _string  # type: ignore[import-not-found]  # which str.format() asks, too
import builtins
import itertools
import os
import re
import string
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from types import FunctionType
from typing import Any

from dy2st.convert.effect_table import KINDS, row_of
from dy2st.convert.kinds.lists import joined as joined_lists
from dy2st.convert.kinds.lists import length_of, repeat
from dy2st.convert.kinds.scalars import int_of, is_traced
from dy2st.convert.kinds.side_effects import (
    called_by_the_user,
    check_side_effects,
    note_settings,
    user_frames,
)
from dy2st.convert.kinds.table import for_each, function_row, method_row, operator_row
from dy2st.convert.polyfills import methods
from dy2st.convert.stage.outcome import reraise_swallowed_refusals
from dy2st.convert.trace import Trace, own_method
from dy2st.convert.types import info
from dy2st.convert.types.values import is_of_codes, with_lists
from dy2st.convert.values.flatten import as_number, element_at
from dy2st.convert.values.layout import Number, number_kind
from dy2st.convert.values.special import Generated, Indexed, SymbolicSequence, Union
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ConversionError, TensorAsPython, UnsupportedSyntax
from dy2st_runtime.ir import F, user_location
from dy2st_runtime.ir.choice import CONVERSIONS, OF_INTEGERS, Hole, Text, joined, try_format
from dy2st_runtime.ir.location import user_frame

# -- texts whose characters the data decides ------------------------------------------------------
# Each is a Text of one place, for its code points. These stand in a tuple whose length is known
# only when the Program runs. A text of Python becomes such a one where a loop makes it longer, or
# where it is one of many; whoever gets the text from the Program gets a str.

# The methods of such a text, in plain Python, by their names.
TEXT_METHODS: dict[str, FunctionType] = {
    name: getattr(methods, name)
    for name in (
        *("find", "rfind", "index", "count", "startswith", "endswith", "replace", "split"),
        *("lstrip", "rstrip", "strip", "removeprefix", "removesuffix", "zfill"),
    )
}
_BASES = {"": 10, "d": 10, "b": 2, "o": 8, "x": 16}


def codes_of(value: Any) -> Any:
    """The code points of a text: a tuple of Python, or a SymbolicSequence."""
    if type(value) is str:
        return tuple(map(ord, value))
    return value.holes[0].value


def text_of_codes(trace: Trace, codes: Any) -> Any:
    """The text of code points: a str where all of them are known."""
    if type(codes) is tuple and all(type(code) is int for code in codes):
        return "".join(map(chr, codes))
    if type(codes) is tuple:
        numbers = [as_number(trace.tracer, code, int) for code in codes]
        codes = SymbolicSequence(tuple, Number(int), [F.array_of(numbers)])
    return Text((Hole(SymbolicSequence(tuple, Number(int), codes.arrays), "chr"),))


def one_text(trace: Trace, text: Any) -> Any:
    """A text of several code points and strings as one; as it is if it has other places."""
    if type(text) is not Text or len(text.parts) < 2:
        return text
    if any(isinstance(part, Hole) and part.conversion != "chr" for part in text.parts):
        return text
    parts = [codes_of(part) if type(part) is str else part.value for part in text.parts]  # type: ignore[union-attr]
    return text_of_codes(trace, reduce(lambda a, b: joined_lists(trace, a, b, tuple), parts))


def as_codes(trace: Trace, text: Any) -> Any:
    """A text with integers in it as one of code points; all other values as they are."""
    if type(text) is not Text or is_of_codes(text):
        return text
    parts: list[Any] = []
    for part in text.parts:
        if isinstance(part, str) or part.conversion == "chr":
            parts.append(part if isinstance(part, str) else Text((part,)))
            continue
        form = OF_INTEGERS.fullmatch(part.conversion + part.spec)
        if form is None or number_kind(part.value) is not int:
            return text
        base, width = _BASES[form[2] or ""], int(form[1] or 0)
        parts.append(trace.call(methods.digits, part.value, base, width))
    return one_text(trace, joined(parts))


def length_of_text(trace: Trace, text: Text) -> Any:
    """`len(text)`."""
    return length_of(trace, codes_of(text))


def characters(trace: Trace, text: Text) -> Indexed:
    """What a loop over a text runs over."""
    character = lambda at: text_of_codes(trace, (element_at(trace, codes_of(text), at),))  # noqa: E731
    return Indexed(length_of_text(trace, text), character)


def _are_texts(*values: Any) -> bool:
    return all(type(value) is str or is_of_codes(value) for value in values)


@operator_row("add", str, Text)
def _add(trace: Trace, left: Any, right: Any) -> Any:
    if type(right) not in (str, Text):
        return NotImplemented
    if is_of_codes(left) or is_of_codes(right):  # one that grows has one form, whatever is added
        left, right = as_codes(trace, left), as_codes(trace, right)
    return one_text(trace, joined([left, right]))


@operator_row("mul", str, Text)
def _mul(trace: Trace, text: Any, times: Any) -> Any:
    if not _are_texts(text) or number_kind(times) not in (int, bool):
        return NotImplemented
    return text_of_codes(trace, repeat(trace, codes_of(text), times))


@for_each("eq", "ne", "lt", "le", "gt", "ge")
def _compared(name: str) -> None:
    @operator_row(name, str, Text)
    def row(trace: Trace, left: Any, right: Any) -> Any:
        left, right = as_codes(trace, left), as_codes(trace, right)
        if not _are_texts(left, right):
            is_other = is_of_codes(left) and not isinstance(right, Text)
            return name == "ne" if is_other and name in ("eq", "ne") else NotImplemented
        return getattr(trace, name)(codes_of(left), codes_of(right))


@function_row(chr)
def _chr(trace: Trace, code: Any) -> Any:
    if not is_traced(code):
        return chr(code)
    number = int_of(trace, code)
    known = F.logical_and(F.greater_equal(number, 0), F.less_than(number, 0x110000))
    trace.tracer.check(known, ValueError("chr() arg not in range(0x110000)"))
    return text_of_codes(trace, (code,))


@function_row(ord)
def _ord(trace: Trace, text: Any) -> Any:
    text = as_codes(trace, text)
    if not is_of_codes(text):
        return ord(text)
    length = length_of_text(trace, text)
    error = TypeError("ord() expected a character, but string of another length found")
    trace.tracer.check(F.equal(length, 1), error)
    return element_at(trace, codes_of(text), 0)


@method_row(str, Text, name="__contains__")
def _contains(trace: Trace, text: Any, part: Any) -> Any:
    if type(part) is Union:
        return trace.map_cases(lambda one: _contains(trace, text, one), part)
    text, part = as_codes(trace, text), as_codes(trace, part)
    if not is_of_codes(text) and not is_of_codes(part):
        return text in part if type(part) is Text else part in text  # refused, in its words
    if not _are_texts(text, part):
        raise TypeError(f"'in <string>' requires string as left operand, not {type(part).__name__}")
    return trace.ge(trace.call(methods.find, text, part), 0)


def part_of(trace: Trace, text: Any, index: Any) -> Any:
    """`text[index]`."""
    found = trace.item(codes_of(text), index)
    return text_of_codes(trace, found if isinstance(index, slice) else (found,))


@for_each(*TEXT_METHODS.items())
def _method(name: str, written: Any) -> None:
    @method_row(str, Text, name=name)
    def row(trace: Trace, text: Any, /, *args: Any, **options: Any) -> Any:
        if any(type(one) is Union for one in args):
            return trace.map_cases(lambda *given: row(trace, text, *given, **options), *args)
        text, args = as_codes(trace, text), tuple(as_codes(trace, one) for one in args)
        if type(text) is str and not any(map(is_of_codes, args)):
            return getattr(text, name)(*args, **options)
        if not is_of_codes(text) and type(text) is Text:
            return getattr(text, name)  # refused, in its words
        return trace.call(written, text, *args, **options)


@method_row(str, Text, name="join")
def _join(trace: Trace, separator: Any, texts: Any) -> Any:
    given = trace.listed(texts)
    are_known = type(given) is not SymbolicSequence and type(separator) is str
    if are_known and not any(type(one) is Union for one in given):
        if not any(type(one) is Text for one in given):
            return separator.join(given)
        return one_text(trace, joined([part for one in given for part in (separator, one)][1:]))
    if type(given) is not SymbolicSequence:
        given = tuple(given)
    empty = Text((Hole(SymbolicSequence(tuple, Number(int), [F.array_of([])]), "chr"),))
    return trace.call(methods.join, separator, given, empty)


# -- texts with places ----------------------------------------------------------------------------

_FIELD = re.compile(
    r"%(?:\((?P<key>[^)]*)\))?(?P<spec>[-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?)(?P<kind>.)"
)


def formatted(trace: Trace, value: Any, conversion: str, spec: Any) -> Any:
    """What an f-string writes for a value: a str, or a Text."""
    if type(spec) in (Text, Union) or is_traced(spec):
        raise TensorAsPython(
            "a format depends on a tensor",
            why="the format of a text is part of the Program",
            hint="take a format that is known, such as {x:>10.2f}",
        )
    args = value.args if isinstance(value, BaseException) and conversion in ("", "s") else ()
    written: Any = type(value).__str__
    if written in (BaseException.__str__, KeyError.__str__) and holds_traced(trace, args):
        # Its text is made of what it was raised with, that of a KeyError as repr() has it.
        conversion = "r" if written is KeyError.__str__ and len(args) == 1 else conversion
        value = args[0] if len(args) == 1 else args
    if type(value) is Text and conversion in ("", "s") and not spec:
        return value
    element = getattr(trace.content(value) if type(value) is list else None, "element", None)
    is_of_ints = isinstance(element, Number) and element.kind is int
    if (is_of_ints or shows_objects(trace, value)) and not spec and conversion != "a":
        return _shown_now(trace, value)
    if holds_traced(trace, value):
        try_format(lambda one: format("" if conversion else one, spec), number_kind(value))
        made = lambda: Text((Hole(kept(trace, value), conversion, spec),))  # noqa: E731
        return _by_case(trace, value, made)
    if conversion or not spec:
        finish = lambda one: formatted(trace, one, "", spec) if spec else one  # noqa: E731
        return trace.map_cases(finish, _shown(trace, value, conversion))
    own = own_method(trace, value, "__format__")
    if own is not None:
        return trace.call(own, value, spec)
    return _natively(trace, lambda one: format(one, spec), value)


def _shown_now(trace: Trace, value: Any) -> Any:
    """The text of a list, tuple or dict, with dots where it holds itself, as Python writes it."""
    shown = trace.record.shown
    if any(one is value for one in shown):
        return {"list": "[...]", "tuple": "(...)", "dict": "{...}"}[type(value).__name__]
    shown.append(value)
    try:
        return trace.call(methods.shown, value)
    finally:
        shown.pop()


def _shown(trace: Trace, value: Any, conversion: str) -> Any:
    note_settings(trace, value)
    names = ("__repr__",) if conversion in ("r", "a") else ("__format__", "__str__", "__repr__")
    for name in names if conversion != "s" else names[1:]:
        own = own_method(trace, value, name)
        if own is not None:
            return trace.call(own, value, *(("",) if name == "__format__" else ()))
        if getattr(type(value), name, None) is not getattr(object, name):
            break
    return _natively(trace, CONVERSIONS[conversion] if conversion else format, value)


def _natively(trace: Trace, write: Callable[[Any], str], value: Any) -> Any:
    """What C code writes of a value, and of the user's objects in it: as the trace has them."""
    run: Callable[[], Any] = lambda: called_by_the_user(write, (trace.native(value),), {})  # noqa: E731
    reached = () if info(type(value)).is_atom else trace.note_reached((value,))
    # By a frame that is none of ours: a tensor in what C code writes has no text yet.
    with reraise_swallowed_refusals(format):
        return trace.with_overlay_materialised(reached, run) if reached else run()


def inside(trace: Trace, value: Any, around: tuple[Any, ...] = ()) -> Iterator[Any]:
    """A value, and what its lists, tuples and dicts hold, or a list of a length."""
    row = info(type(value))
    if any(value is one for one in around):
        return
    yield value
    if not (row.is_container or row.is_view or issubclass(type(value), tuple)):
        return
    content = trace.call(list, value) if row.is_view else value
    content = trace.content(content) if info(type(content)).is_container else content
    if type(content) is SymbolicSequence:
        yield content
        return
    for part in content.values() if isinstance(content, dict) else content:
        yield from inside(trace, part, (*around, value))


def shows_objects(trace: Trace, value: Any) -> bool:
    """Whether the text of a list, tuple or dict is made of what the user's own `__repr__` write."""
    if type(value) not in (list, tuple, dict):
        return False
    parts = (one for one in inside(trace, value) if not isinstance(one, tuple))
    return any(own_method(trace, one, "__repr__") for one in parts if not info(type(one)).is_atom)


def holds_traced(trace: Trace, value: Any) -> bool:
    """Whether a value, or what its lists, tuples and dicts hold, is known only to the run."""
    kinds = (Text, SymbolicSequence, Indexed, Generated, Union)
    return any(is_traced(one) or type(one) in kinds for one in inside(trace, value))


def _by_case(trace: Trace, value: Any, run: Callable[[], Any]) -> Any:
    """`run()` for each case of what is one of several in a value."""
    for one in inside(trace, value):
        if type(one) is Union and len(trace.cases_of(one)) > 1:
            return trace.map_cases(lambda _: _by_case(trace, value, run), one)
    return run()


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
            why="a text of the Program has places for tensors, and lists and dicts of them",
            hint="print a list(...) or dict(...) of it",
        )
    if type(content) in (SymbolicSequence, Indexed, Generated):
        raise ConversionError(
            "the text of a list whose length depends on a tensor",
            why="a text of the Program has places for tensors alone",
            hint="print the elements in a `for` loop",
        )
    if isinstance(content, dict):
        return trace.made({key: kept(trace, one) for key, one in content.items()})
    if kind is list:
        return trace.made([kept(trace, one) for one in content])
    return content


@for_each(("s", str), ("r", repr), ("a", ascii))
def _of_one(conversion: str, function: Any) -> None:
    @function_row(function)
    def row(trace: Trace, /, *args: Any, **options: Any) -> Any:
        if len(args) != 1 or options:
            return function(*args, **options)
        return formatted(trace, args[0], conversion, "")


function_row(format)(lambda trace, value, spec="": formatted(trace, value, "", spec))


@method_row(str, name="format")
def _format_method(trace: Trace, template: str, /, *args: Any, **named: Any) -> Any:
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
        first, steps = _string.formatter_field_name_split(field)
        if type(first) is int and first >= len(args):
            raise IndexError(f"Replacement index {first} out of range for positional args tuple")
        value = args[first] if type(first) is int else named(first)
        for is_attribute, name in steps:
            value = (trace.attr if is_attribute else trace.item)(value, name)
        if spec and "{" in spec:
            spec = trace.text(*_pieces(trace, spec, args, named, count))
        found.append((value, conversion or "", "" if spec is None else spec))
    return found


@operator_row("mod", str)
def _percent(trace: Trace, template: str, values: Any) -> Any:
    fields = [*_FIELD.finditer(template)]
    is_asked = info(type(values)).family != "dict" and any(
        field["key"] is not None for field in fields
    )
    whole = values if isinstance(values, tuple) else (values,)
    if not is_asked and all(info(type(one)).is_plain for one in whole):
        return template % values
    given = iter(whole)
    found: list[Any] = []
    end = 0
    for match in fields:
        found.append(template[end : match.start()])
        end = match.end()
        found.append(_percent_field(trace, match, given, values))
    if "%" in template[end:]:
        raise ValueError("incomplete format")
    # Python lets what has items be left over.
    has_items = hasattr(type(values), "__getitem__") and not isinstance(values, (tuple, str, Text))
    is_counted = not has_items or getattr(values, "number", None) is not None
    if not is_asked and is_counted and any(True for _ in given):
        raise TypeError("not all arguments converted during string formatting")
    return joined([*found, template[end:]])


def _percent_field(trace: Trace, match: re.Match[str], given: Any, values: Any) -> Any:
    if match["kind"] == "%":
        return "%"
    if match["kind"] == "(":
        raise ValueError("incomplete format")
    if "*" in match["spec"]:
        return formatted(trace, values, "", Text(()))
    try:
        value = trace.item(values, match["key"]) if match["key"] is not None else next(given)
    except StopIteration:
        raise TypeError("not enough arguments for format string") from None
    spec = f"%{match['spec']}{match['kind']}"
    if match["kind"] in CONVERSIONS and not is_traced(value):
        value, spec = formatted(trace, value, match["kind"], ""), f"%{match['spec']}s"
    if type(value) is Text and spec == "%s":
        return value
    if holds_traced(trace, value):
        try_format(lambda one: spec % (one,), number_kind(value))
        return Text((Hole(kept(trace, value), "%", spec),))
    return _natively(trace, lambda one: spec % (one,), value)


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
        if holds_traced(trace, value) and not shows_objects(trace, value)
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


# -- warnings, and messages to loggers ------------------------------------------------------------
# In branches and loops the Program gives them when it runs.

_LEVELS = {
    **{"debug": 10, "info": 20, "warning": 30, "warn": 30},
    **{"error": 40, "critical": 50, "fatal": 50},
}


def is_silent(trace: Trace, function: Any, given: Sequence[Any]) -> bool:
    """Whether this gives a message to a logger that does not take its level now."""
    number = {**_LEVELS, "exception": 40}.get(function.__name__)
    if number is None or len(given) < 2 or row_of(function, given) is not KINDS["LOGS"]:
        return False
    asked: Any = getattr(given[0], "isEnabledFor", None)
    if asked is None or asked(number):
        return False
    trace.read("cached", asked, ((number,), ()), False)
    return True


def logs_message(
    trace: Trace, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> bool:
    """Whether a call is recorded as a warning or a message; all others are made now, or refused."""
    is_traced = any(holds_traced(trace, one) for one in (*args, *kwargs.values()))
    if row_of(function, args) is KINDS["LOGS"]:
        is_noted = _logs(trace, function, args, kwargs)
    elif function is warnings.warn and (is_traced or trace.is_nested):
        is_noted = _warns(trace, *args, **kwargs)
    else:
        return False
    if is_traced and not is_noted and not trace.is_nested:
        what = "a warning" if function is warnings.warn else "a message to a logger"
        raise UnsupportedSyntax(
            f"{what} with a tensor in it, of a kind that no Program gives",
            why="a Program gives texts: with a level, to a logger of logging.getLogger, or with a "
            "class of Python's own to warnings.warn",
            hint='write ("%s", x) without extra=, exc_info= and stacklevel=, or print(...)',
        )
    return is_noted


@function_row(warnings.warn)
def warn_(
    trace: Trace,
    message: Any,
    category: type[Warning] | None = None,
    stacklevel: int = 1,
    source: Any = None,
    **options: Any,
) -> None:
    """`warnings.warn(message, category, stacklevel)`: our own frames do not count."""
    given = {"category": category, "stacklevel": stacklevel, **options}
    if logs_message(trace, warnings.warn, (message,), given):
        return
    check_side_effects(trace, warnings.warn, (message,))
    if options:
        called_by_the_user(warnings.warn, (message, category, stacklevel, source), options)
        return
    frames = list(user_frames())
    if isinstance(message, Warning):
        category = type(message)
    place = frames[max(stacklevel, 1) - 1] if stacklevel <= len(frames) else None
    names = sys.__dict__ if place is None else place.f_globals
    file, line = ("sys", 1) if place is None else (place.f_code.co_filename, place.f_lineno)
    known = names.setdefault("__warningregistry__", {})
    module = names.get("__name__") or "<string>"
    warnings.warn_explicit(
        message, category or UserWarning, file, line, module, known, source=source
    )


def _warns(trace: Trace, message: Any, category: Any, stacklevel: Any, **options: Any) -> bool:
    kind = UserWarning if category is None else category
    is_known = isinstance(kind, type) and getattr(builtins, kind.__name__, None) is kind
    if options or id(warnings.filters) != trace.call_context.process[0]:
        return False
    if not (is_known and type(message) in (str, Text) and type(stacklevel) is int):
        return False
    file, line = _place() if stacklevel <= 1 else ("", 0)
    F.emit_warning(with_lists(kept(trace, message)), kind.__name__, file, line)
    return True


def _logs(trace: Trace, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    name, logger, rest = function.__name__, "", args
    if function.__qualname__ != name:  # a method, of a Logger or of an adapter
        logger, rest = getattr(args[0], "name", ""), args[1:]
        manager = getattr(args[0], "manager", None)  # of those that getLogger gives
        if manager is None or args[0] not in (manager.root, manager.loggerDict.get(logger)):
            return False
    level: Any = _LEVELS.get(name)
    if name == "log" and rest:
        level, rest = rest[0], rest[1:]
    if type(level) is not int or not rest or any(kwargs.values()):
        return False
    text, values = rest[0], rest[1:]
    if type(text) not in (str, Text):
        text = formatted(trace, text, "s", "")
    if values and type(text) is Text:
        return False
    if values:
        is_mapping = len(values) == 1 and isinstance(values[0], Mapping) and values[0]
        text = trace.mod(text, values[0] if is_mapping else values)
    frame = user_frame()
    function = "" if frame is None else frame.f_code.co_name
    F.emit_log(with_lists(kept(trace, text)), logger, level, *_place(), function)
    return True


def _place() -> tuple[str, int]:
    """The line of the user's, and its file without folders: files tell of none."""
    place = user_location()
    return ("", 0) if place is None else (os.path.basename(place.file), place.line)
