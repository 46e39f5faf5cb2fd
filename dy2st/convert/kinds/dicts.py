"""Methods of dicts, of OrderedDict and defaultdict, `dict(...)`, and views of dicts."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from functools import wraps
from typing import Any

from dy2st.convert.kinds import traced_keys
from dy2st.convert.kinds.lists import each, held, new_list, to_move, when
from dy2st.convert.kinds.scalars import is_traced_key
from dy2st.convert.kinds.table import Row, for_each, function_row, method_row, operator_row
from dy2st.convert.kinds.traced_keys import gathered, is_entry, is_sure, presence, there, there_or
from dy2st.convert.trace import DictView, Trace
from dy2st.convert.types import info
from dy2st.convert.types.values import emptied
from dy2st.convert.values.special import MISSING, SymbolicSequence, Union
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.nn.tables import Table

_NOTHING = object()


def keyed_row(*kinds: type | str) -> Callable[[Row], Row]:
    """Let a function stand for a method; one of `traced_keys` does where the data decides."""

    def register(row: Row) -> Row:
        name = row.__name__.strip("_")
        of_keys = traced_keys.ROWS.get(name)

        @wraps(row)
        def either(trace: Trace, owner: Any, /, *args: Any, **named: Any) -> Any:
            is_new = name in traced_keys.CHANGING and any(
                is_traced_key(trace, one) for one in args[:1]
            )
            if of_keys is not None and (is_new or traced_keys.is_keyed(trace, owner)):
                return of_keys(trace, owner, *args, **named)
            return row(trace, owner, *args, **named)

        return method_row(*kinds, name=name)(either)

    return register


def entry(trace: Trace, owner: Any, key: Any) -> Any:
    """What a dict holds under a key; MISSING if nothing."""
    content = trace.content(owner)
    return trace.read_item(owner, key, content.get(key, MISSING))


def is_moved(trace: Trace, owner: Any, key: Any) -> bool:
    """Whether the run decides where an entry stands once it is set: it may be missing."""
    content = trace.content(owner)
    if type(content) is SymbolicSequence:
        return True
    held = content.get(key)
    if type(held) is not Union or next(reversed(content)) == key:
        return False
    return any(getattr(case, "value", None) is MISSING for case in held.layouts)


@keyed_row("dict")
def _get(trace: Trace, owner: Any, key: Any, default: Any = None) -> Any:
    if type(key) is Union:
        return trace.map_cases(lambda one: _get(trace, owner, one, default), key)
    if traced_keys.is_decided(trace, key):
        return trace.value_at(held(trace, owner), key, lambda: default)
    return there_or(trace, entry(trace, owner, key), lambda: default)


@keyed_row("dict")
def _setdefault(trace: Trace, owner: Any, key: Any, default: Any = None) -> Any:
    found = entry(trace, owner, key)
    if presence(trace, found) is True:
        return trace.known(found)
    if found is not MISSING:
        return traced_keys.setdefault(trace, owner, key, default)
    trace.set_item(owner, key, default)
    return default


@keyed_row("dict")
def _pop(trace: Trace, owner: Any, key: Any, default: Any = _NOTHING) -> Any:
    found = entry(trace, owner, key)
    if default is _NOTHING:
        value = there(trace, key, found)
    else:
        value = there_or(trace, found, lambda: default)
    if found is not MISSING:
        del trace.writable(owner)[key]
    return value


@keyed_row("dict")
def _popitem(trace: Trace, owner: Any, last: bool = True) -> Any:
    content = held(trace, owner)
    if not is_sure(trace, content):
        return traced_keys.popitem(trace, owner, last)
    if not content:
        raise KeyError("popitem(): dictionary is empty")
    key = next(reversed(content)) if last else next(iter(content))
    return key, _pop(trace, owner, key)


@method_row("dict")
def _update(trace: Trace, owner: Any, other: Any = (), /, **named: Any) -> None:
    is_dict = info(type(other)).family == "dict"
    if type(other) is Union:
        trace.map_cases(lambda one: _update(trace, owner, one), other)
    elif is_dict and traced_keys.is_keyed(trace, other):
        pairs = traced_keys.gone_through(trace, other, lambda pair: pair, True)
        traced_keys.update(trace, owner, pairs)
    elif isinstance(other, dict):
        _put_all(trace, owner, dict(held(trace, other) if is_dict else trace.double_star(other)))
    elif hasattr(type(other), "keys"):
        put = lambda key: trace.set_item(owner, key, trace.item(other, key))  # noqa: E731
        each(trace, trace.method(other, "keys"), put)
    else:
        traced_keys.update(trace, owner, other)
    _put_all(trace, owner, named)


def _put_all(trace: Trace, owner: Any, given: dict[Any, Any]) -> None:
    """Set entries, of which some may be missing."""
    if given and not trace.content(owner):
        trace.writable(owner).update(given)
        return
    for key, value in given.items():
        put = lambda key=key, value=value: trace.set_item(owner, key, trace.known(value))  # noqa: E731
        when(trace, presence(trace, value), put)


def factory_of(trace: Trace, owner: Any) -> Any:
    """`owner.default_factory`."""
    return trace.seen("attr", owner, "default_factory", owner.default_factory)


@method_row("dict", "list", set)
def _copy(trace: Trace, owner: Any) -> Any:
    content = held(trace, owner)
    if type(owner) is defaultdict:
        factory_of(trace, owner)
    if type(content) is not SymbolicSequence:
        return trace.made(content.copy())
    if info(type(owner)).family == "list":
        return new_list(trace, content, type(owner), owner)
    return traced_keys.copy(trace, owner)


@method_row("dict", "list", set)
def _clear(trace: Trace, owner: Any) -> None:
    if type(trace.content(owner)) in (SymbolicSequence, Union):
        trace.hold(owner, trace.made(emptied(type(owner), owner)))
    else:
        trace.empty(owner)


@keyed_row(OrderedDict, Table)
def _move_to_end(trace: Trace, owner: Any, key: Any, last: bool = True) -> None:
    to_move(trace, owner).move_to_end(key, last)


@method_row(type)
def _fromkeys(trace: Trace, kind: Any, iterable: Any, value: Any = None) -> Any:
    found = trace.listed(iterable)
    if type(found) is not SymbolicSequence and not any(
        traced_keys.is_decided(trace, one) for one in found
    ):
        return trace.made(kind.fromkeys(found, value))
    made = trace.made(kind())
    each(trace, found, lambda key: trace.set_item(made, key, value))
    trace.alias_tracker.fix(getattr(trace.content(made), "element", None))
    return made


@for_each((dict, 0), (OrderedDict, 0), (defaultdict, 1))
def _row_of_dict(kind: Any, count: int) -> None:
    @function_row(kind)
    def row(trace: Trace, /, *others: Any, **named: Any) -> Any:
        made = trace.made(kind(*others[:count]))  # with its factory
        _update(trace, made, *others[count:], **named)
        return made


@operator_row("or_bits", dict, OrderedDict, Table, defaultdict)
def _joined(trace: Trace, left: Any, right: Any) -> Any:
    if not isinstance(right, dict):
        return NotImplemented
    new = _copy(trace, left)
    if type(left) is dict and type(right) in (OrderedDict, Table, defaultdict):  # asked first
        new = _copy(trace, right)
        _clear(trace, new)
        _update(trace, new, left)
    _update(trace, new, right)
    return new


@method_row("dict", name="__contains__")
def contains(trace: Trace, owner: Any, key: Any) -> Any:
    """`key in owner`."""
    if traced_keys.is_keyed(trace, owner):
        return traced_keys.contains(trace, owner, key)
    if type(key) is Union:
        return trace.map_cases(lambda one: contains(trace, owner, one), key)
    if not traced_keys.is_decided(trace, key):
        return presence(trace, entry(trace, owner, key))
    content = held(trace, owner)
    is_here = lambda name: is_entry(trace, name, content[name], key)  # noqa: E731
    return trace.any_of(is_here, list(content))


for _name, _row in (
    ("__getitem__", lambda trace, owner, key: trace.item(owner, key)),
    ("__setitem__", lambda trace, owner, key, value: trace.set_item(owner, key, value)),
    ("__delitem__", lambda trace, owner, key: trace.del_item(owner, key)),
):
    method_row("dict", list, tuple, name=_name)(_row)


# -- views ---------------------------------------------------------------------------------------
# Each is a view of Python's, which stands for the dict: what it shows is looked up there.

TAKEN: dict[str, Callable[[Any, Any], Any]] = {
    "items": lambda key, value: (key, value),
    "values": lambda key, value: value,
    "keys": lambda key, value: key,
}


@for_each(*TAKEN)
def _row_of_view(name: str) -> None:
    @method_row("dict", name=name)
    def row(trace: Trace, owner: Any) -> Any:
        content = trace.content(owner)
        made = getattr(content if isinstance(content, dict) else type(owner)(), name)()
        trace.origins[id(made)] = made, DictView(owner, name, id(owner) in trace.state.born)
        return made


def _dict_of(trace: Trace, view: Any) -> Any:
    """The dict that a view of the trace shows, and the method that gave it; None of others."""
    found = trace.view_of(view)
    if found is not None and found.is_of_path and id(found.owner) not in trace.state.born:
        raise ConversionError(
            f"{found.name}() of a dict is used behind the branch or loop that has made the dict",
            why="the dict goes on as what it holds, which the view does not show",
            hint=f"keep the dict in a variable, and call {found.name}() where it is used; or make "
            f"a list: list(d.{found.name}())",
        )
    return (None, "") if found is None else found[:2]


def shown_by(trace: Trace, view: Any) -> Any:
    """What a view of the trace shows now: one of Python's, a list, or an Indexed."""
    owner, name = _dict_of(trace, view)
    if traced_keys.is_keyed(trace, owner):
        take = TAKEN[name]
        return traced_keys.gone_through(trace, owner, lambda pair: take(*pair), name == "items")
    content = held(trace, owner)
    if is_sure(trace, content):
        return getattr(content, name)()
    return gathered(trace, content, TAKEN[name])


def length_of_view(trace: Trace, view: Any) -> Any:
    """`len(view)`."""
    owner, _ = _dict_of(trace, view)
    # One from outside is read by code in C.
    return len(trace.native(view)) if owner is None else trace.call(len, owner)


@method_row("keys", "values", name="__contains__")
def _in_view(trace: Trace, view: Any, item: Any) -> Any:
    owner, name = _dict_of(trace, view)
    if name == "keys":
        return trace.in_(item, owner)
    if name != "items" or not isinstance(item, tuple) or len(item) != 2:
        return trace.in_(item, trace.call(list, view))
    key, value = item

    def same() -> Any:
        held = trace.item(owner, key)
        return held is value or trace.equals(held, value)

    return trace.and_(trace.in_(key, owner), same)
