"""Methods of dicts, of OrderedDict and defaultdict, and `dict(...)`."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import Any

from dy2st.heart.kinds.attributes import refuse_as_key
from dy2st.heart.kinds.entries import check_sure, gathered, is_sure, presence, there, there_or
from dy2st.heart.kinds.table import function_row, method_row, operator_row
from dy2st.heart.trace import MISSING, Trace
from dy2st.heart.values.layout import is_traced_number
from dy2st.heart.values.special import Dynamic, Union
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import user_location

DICTS = (dict, OrderedDict, defaultdict)
_NOTHING = object()


def whole_dict(trace: Trace, owner: Any) -> Any:
    """All that a dict holds; of one from outside that is a read of all."""
    content = trace.content(owner)
    trace.read_content(owner)
    return content


def entry(trace: Trace, owner: Any, key: Any) -> Any:
    """What a dict holds under a key; MISSING if nothing."""
    refuse_as_key(key)
    content = trace.content(owner)
    return trace.read_item(owner, key, content.get(key, MISSING))


def refuse_moved(content: Any, key: Any) -> None:
    """Refuse to set an entry that may be missing: where it stands then, the run decides."""
    held = content.get(key)
    if type(held) is not Union or next(reversed(content)) == key:
        return
    if any(getattr(case, "value", None) is MISSING for case in held.layouts):
        raise ConversionError(
            f"the entry {key!r} of a dict is set that may be missing",
            at=user_location(),
            why="in which order the keys come is then known only when the Program runs",
            hint="let all paths set it, or begin with a value for it",
        )


@method_row(*DICTS)
def get(trace: Trace, owner: Any, key: Any, default: Any = None) -> Any:
    """`owner.get(key, default)`."""
    if type(key) is Union:
        return trace.spread(lambda one: get(trace, owner, one, default), key)
    if is_traced_number(key):
        return trace.value_at(whole_dict(trace, owner), key, lambda: default)
    return there_or(trace, entry(trace, owner, key), lambda: default)


@method_row(*DICTS)
def setdefault(trace: Trace, owner: Any, key: Any, default: Any = None) -> Any:
    """`owner.setdefault(key, default)`."""
    if type(key) is Union:
        return trace.spread(lambda one: setdefault(trace, owner, one, default), key)
    found = entry(trace, owner, key)
    if presence(trace, found) is True:
        return trace.known(found)
    value = there_or(trace, found, lambda: default)
    # Also where the entry is there: behind this it is there on all paths.
    trace.set_item(owner, key, value)
    return value


@method_row(*DICTS)
def pop(trace: Trace, owner: Any, key: Any, default: Any = _NOTHING) -> Any:
    """`owner.pop(key, default)`."""
    if type(key) is Union:
        return trace.spread(lambda one: pop(trace, owner, one, default), key)
    found = entry(trace, owner, key)
    if default is _NOTHING:
        value = there(trace, key, found)
    else:
        value = there_or(trace, found, lambda: default)
    if found is not MISSING:
        del trace.writable(owner)[key]
    return value


@method_row(*DICTS)
def popitem(trace: Trace, owner: Any, last: bool = True) -> Any:
    """`owner.popitem()`."""
    content = whole_dict(trace, owner)
    check_sure(trace, content)
    if not content:
        raise KeyError("popitem(): dictionary is empty")
    key = next(reversed(content)) if last else next(iter(content))
    return key, pop(trace, owner, key)


@method_row(*DICTS)
def update(trace: Trace, owner: Any, *others: Any, **named: Any) -> None:
    """`owner.update(other, ...)`."""
    new = pairs_of(trace, *others)
    new.update(named)
    if is_sure(trace, new):
        if new:
            trace.writable(owner).update(new)
        return
    for key, value in new.items():
        set_it = lambda key=key, value=value: trace.set_item(owner, key, trace.known(value)) or ()  # noqa: E731
        trace.if_(presence(trace, value), set_it, lambda: (), (), ())


def pairs_of(trace: Trace, *others: Any) -> dict[Any, Any]:
    """What `dict(other)` holds: of a mapping, or of pairs."""
    if not others:
        return {}
    (other,) = others
    if isinstance(other, dict) or hasattr(type(other), "keys"):
        return dict(whole_dict(trace, other) if type(other) in DICTS else trace.double_star(other))
    items = trace.listed(other)
    if type(items) is Dynamic:
        raise ConversionError(
            "a dict is made of pairs whose number depends on a tensor",
            at=user_location(),
            why="which keys a dict has is part of the Program",
            hint="keep the pairs in a list",
        )
    found: dict[Any, Any] = {}
    for pair in items:
        key, value = trace.unpack(pair, 2)
        refuse_as_key(key)
        found[key] = value
    return found


@method_row(*DICTS)
def items(trace: Trace, owner: Any) -> Any:
    """`owner.items()`."""
    content = whole_dict(trace, owner)
    return content.items() if is_sure(trace, content) else gathered(trace, content, _pair)


@method_row(*DICTS)
def values(trace: Trace, owner: Any) -> Any:
    """`owner.values()`."""
    content = whole_dict(trace, owner)
    return content.values() if is_sure(trace, content) else gathered(trace, content, _value)


@method_row(*DICTS)
def keys(trace: Trace, owner: Any) -> Any:
    """`owner.keys()`."""
    content = whole_dict(trace, owner)
    return content.keys() if is_sure(trace, content) else gathered(trace, content, _key)


def _pair(key: Any, value: Any) -> Any:
    return key, value


def _value(key: Any, value: Any) -> Any:
    return value


def _key(key: Any, value: Any) -> Any:
    return key


@method_row(*DICTS)
def copy(trace: Trace, owner: Any) -> Any:
    """`owner.copy()`."""
    return trace.made(_copied(owner, whole_dict(trace, owner)))


def _copied(owner: Any, content: Any) -> Any:
    if type(owner) is defaultdict:
        return defaultdict(owner.default_factory, content)
    return type(owner)(content)


@method_row(*DICTS)
def clear(trace: Trace, owner: Any) -> None:
    """`owner.clear()`."""
    trace.writable(owner).clear()


@method_row(OrderedDict)
def move_to_end(trace: Trace, owner: Any, key: Any, last: bool = True) -> None:
    """`owner.move_to_end(key, last)`."""
    trace.writable(owner).move_to_end(key, last)


@method_row(type)
def fromkeys(trace: Trace, kind: Any, iterable: Any, value: Any = None) -> Any:
    """`dict.fromkeys(iterable, value)`."""
    found = trace.listed(iterable)
    for key in found:
        refuse_as_key(key)
    return trace.made(kind.fromkeys(found, value))


@function_row(dict)
def dict_(trace: Trace, *others: Any, **named: Any) -> Any:
    """`dict(other, ...)`."""
    return trace.made({**pairs_of(trace, *others), **named})


@function_row(OrderedDict)
def ordered_dict(trace: Trace, *others: Any, **named: Any) -> Any:
    """`OrderedDict(other, ...)`."""
    return trace.made(OrderedDict({**pairs_of(trace, *others), **named}))


@function_row(defaultdict)
def default_dict(trace: Trace, factory: Any = None, *others: Any, **named: Any) -> Any:
    """`defaultdict(factory, other, ...)`."""
    return trace.made(defaultdict(factory, {**pairs_of(trace, *others), **named}))


@operator_row("or_bits", *DICTS)
def joined(trace: Trace, left: Any, right: Any) -> Any:
    """`left | right`."""
    if not isinstance(right, dict):
        return NotImplemented
    new = copy(trace, left)
    update(trace, new, right)
    return new


@method_row(*DICTS, name="__contains__")
def contains(trace: Trace, owner: Any, key: Any) -> Any:
    """`key in owner`."""
    if type(key) is Union:
        return trace.spread(lambda one: contains(trace, owner, one), key)
    if not is_traced_number(key):
        return presence(trace, entry(trace, owner, key))
    return trace.is_among(key, whole_dict(trace, owner))


def _row_of_item(name: str, protocol: str) -> None:
    @method_row(*DICTS, list, tuple, name=name)
    def row(trace: Trace, owner: Any, *args: Any) -> Any:
        return getattr(trace, protocol)(owner, *args)


for _name, _protocol in (
    ("__getitem__", "item"),
    ("__setitem__", "set_item"),
    ("__delitem__", "del_item"),
):
    _row_of_item(_name, _protocol)


__all__ = ["DICTS", "contains", "entry", "refuse_moved", "whole_dict"]
