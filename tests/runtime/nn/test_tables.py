"""The tables of a Layer are OrderedDicts that count their changes."""

import copy
import pickle
from collections import OrderedDict

import pytest

from dy2st import nn
from dy2st_runtime.nn.tables import Table, attribute_changes

CHANGES = {
    "an_item": lambda table: table.__setitem__("c", 3),
    "an_item_less": lambda table: table.__delitem__("a"),
    "update": lambda table: table.update(c=3),
    "or": lambda table: table.__ior__({"c": 3}),
    "pop": lambda table: table.pop("a"),
    "popitem": lambda table: table.popitem(),
    "setdefault": lambda table: table.setdefault("c", 3),
    "order": lambda table: table.move_to_end("a"),
    "clear": lambda table: table.clear(),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_counted_and_done(name):
    table, plain = Table(a=1, b=2), OrderedDict(a=1, b=2)
    before = attribute_changes()
    CHANGES[name](table)
    CHANGES[name](plain)
    assert attribute_changes() > before
    assert list(table.items()) == list(plain.items())


def test_to_look_is_no_change():
    table = Table(a=1)
    before = attribute_changes()
    assert table["a"] == 1 and "a" in table and list(table) == ["a"] and table.get("b") is None
    assert attribute_changes() == before


def test_it_shows_and_copies_as_an_ordered_dict():
    table = Table(a=1)
    assert repr(table) == repr(OrderedDict(a=1))
    assert table == OrderedDict(a=1)
    for other in (copy.copy(table), copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert type(other) is Table and other == table


def test_those_of_a_layer_are_such():
    layer = nn.Linear(1, 1)
    held = layer._parameters, layer._buffers, layer._sub_layers, layer._forward_post_hooks
    assert all(type(table) is Table for table in held)
