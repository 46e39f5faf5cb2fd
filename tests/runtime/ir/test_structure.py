"""Values around the outputs of a Program: rows of lists, and the case that was taken."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from dy2st_runtime.errors import FormatError
from dy2st_runtime.ir import Output
from dy2st_runtime.ir.choice import Choice
from dy2st_runtime.ir.structure import (
    At,
    Container,
    Only,
    Rows,
    Tables,
    flatten,
    rebuild,
    wrong_entries,
)
from dy2st_runtime.ir.types import ArrayType, TensorType

NUMBER = TensorType(np.dtype("int64"), ())
VECTOR = TensorType(np.dtype("float32"), (3,))


def test_rows_stand_side_by_side_in_lists():
    rows = Rows(Output(0), (Output(0), Output(1, as_number=True)))
    assert rebuild(rows, [["a", "b"], [np.int64(1), np.int64(2)]]) == [("a", 1), ("b", 2)]


def test_rows_in_rows_are_lists_of_lists():
    rows = Rows(Output(0), Rows(Output(0), Output(0)))
    assert rebuild(rows, [[["a"], [], ["b", "c"]]]) == [["a"], [], ["b", "c"]]


def test_a_case_is_the_only_item_of_its_lists():
    choice = Choice(Output(0), (Only((Output(1), "x")), Only(None)))
    assert rebuild(choice, [np.int64(0), ["a"]]) == ("a", "x")
    assert rebuild(choice, [np.int64(1), []]) is None


def test_what_lies_in_a_table_is_one_object_wherever_it_is_named():
    table = Rows(Output(0), Rows(Output(0), At(0, Output(0))))
    first, second, known = rebuild(
        Tables((table,), [At(0, Output(1)), At(0, Output(1)), At(0, 1)]),
        [[[np.int64(1), np.int64(0)], []], np.int64(0)],
    )
    assert first is second and len(first) == 2
    assert first[0] is known and first[1] is first and known == []


def test_sets_and_dicts_lie_in_tables_too():
    numbers = Output(0, as_number=True)
    of_sets = Rows(Output(0), Rows(Output(0), numbers, "set"), "set")
    of_dicts = Rows(Output(0), {"held": At(0, 0)}, "dict")
    sets, held = rebuild(
        Tables((of_sets, of_dicts), (At(0, 1), At(1, 0))), [[[np.int64(1)], [np.int64(2)]]]
    )
    assert sets == {2} and held == {"held": {1}}


def test_a_table_may_say_what_each_place_holds():
    table = ([Output(0), At(0, 0)], {"first": At(0, 0)}, Rows(Output(1), Output(1), "set"))
    first, held, numbers = rebuild(
        Tables((table,), (At(0, 0), At(0, 1), At(0, 2))), ["a", ["b", "c"]]
    )
    assert first[0] == "a" and first[1] is first and held["first"] is first
    assert numbers == {"b", "c"}


def test_a_container_is_made_of_what_its_entry_gives():
    numbers = [np.int64(2), np.int64(1)]
    entry = Rows(Output(0), Output(0, as_number=True), "set")
    assert rebuild(Container("frozenset", entry), [numbers]) == frozenset({1, 2})
    window = rebuild(Container("deque", Output(0), 1), [numbers])
    assert list(window) == [1] and window.maxlen == 1
    made = rebuild(Container("defaultdict", {"a": Output(0)}, "list"), ["x"])
    assert made["a"] == "x" and made["b"] == []


@pytest.mark.parametrize(
    ("structure", "words"),
    [
        (Container("bytearray", [1]), "a container 'bytearray'"),
        (Container("deque", {1: 2}), "a deque made of"),
        (Container("deque", Output(0)), "a deque made of"),
        (Container("deque", [1], -1), "a deque with -1"),
        (Container("deque", [1], True), "a deque with True"),
        (Container("deque", [1], "list"), "a deque with 'list'"),
        (Container("defaultdict", {}, "eval"), "a defaultdict with 'eval'"),
        (Container("defaultdict", {}, [1]), "a defaultdict with"),
        (Container("Counter", {}, 1), "a Counter with 1"),
        (Container("Counter", [1]), "a Counter made of"),
        (Container("set", {1: 2}), "a set made of"),
        (Container("set", [[]]), "a set of"),
        (Container("frozenset", Output(1)), "a frozenset of"),
        (Container("set", Choice(Output(0), (Only(Output(1)), [1]))), "a set of"),
        (Container("deque", [Output(7)]), "none with index 7"),
    ],
)
def test_what_is_wrong_with_a_container_is_said(structure, words):
    assert any(words in wrong for wrong in wrong_entries(structure, [NUMBER, ArrayType(VECTOR)]))


def test_a_place_is_in_its_table():
    for place in (-1, 2):
        with pytest.raises(FormatError, match=f"place {place} of a table of 2"):
            rebuild(Tables((Rows(Output(0), []),), At(0, Output(1))), [["a", "b"], np.int64(place)])


def test_lists_of_other_lengths_are_no_rows():
    with pytest.raises(FormatError, match="a list of 1, shorter than another"):
        rebuild(Rows(Output(0), (Output(0), Output(1))), [["a", "b"], ["c"]])


@pytest.mark.parametrize(
    ("structure", "words"),
    [
        (Rows(Output(0), Output(0)), "output 0 is no list"),
        (Rows(Output(1), Output(1, as_number=True)), "cannot be a number"),
        (Rows(Output(1), Output(7)), "none with index 7"),
        (Rows(Output(1), Output(1), "deque"), "rows of a 'deque'"),
        (Rows(Output(1), Output(1), "dict"), "no pairs"),
        (Rows(Output(1), (Output(1), 2), "dict"), "a dict has the key"),
        (Rows(Output(1), ([], 2), "dict"), "a dict has the key"),
        (Only(Output(0)), "output 0 is no list"),
        (Choice(Output(1), (Only(Output(1)), None)), "which is no 0-d integer"),
        (At(0, Output(0)), "there are 0 tables"),
        (Tables((Rows(Output(1), []),), At(1, 0)), "there are 1 tables"),
        (Tables((Rows(Output(1), []),), At(0, Output(1))), "which is no 0-d integer"),
        (Tables((Rows(Output(1), (1,)),), At(0, 0)), "not of what lists"),
        (Tables((Rows(Output(1), Output(1)),), At(0, 0)), "not of what lists"),
        (Tables((Rows(Output(1), (1,), "tuple"),), At(0, 0)), "not of what lists"),
        (Tables((((1,),),), At(0, 0)), "not of what lists"),
        (Tables((([Output(7)],),), At(0, 0)), "none with index 7"),
        (Tables((Rows(Output(0), []),), At(0, 0)), "output 0 is no list"),
        (Tables((Rows(Output(1), [Output(7)]),), At(0, 0)), "none with index 7"),
    ],
)
def test_what_is_no_list_has_no_rows(structure, words):
    assert any(words in wrong for wrong in wrong_entries(structure, [NUMBER, ArrayType(VECTOR)]))


@pytest.mark.parametrize(
    "structure",
    [
        Rows(Output(1), (Output(1), "text")),
        Choice(Output(0), (Only(Output(1)), None)),
        Rows(Output(2), Output(2, as_number=True)),
        Tables((Rows(Output(1), [Output(1)]), Rows(Output(2), [])), (At(1, 0), At(0, Output(0)))),
        Tables((([At(0, 1)], Output(1)),), At(0, 1)),
        Container("Counter", Choice(Output(0), ({1: Output(0)}, {}))),
        Container("set", [1, ("a", 2), Output(0, as_number=True)]),
        Container("deque", Output(1), 0),
    ],
)
def test_rows_of_lists_are_right(structure):
    types = [NUMBER, ArrayType(VECTOR), ArrayType(None)]
    assert list(wrong_entries(structure, types)) == []


def test_leaves_go_with_their_list_before_garbage_is_searched_for():
    gc.disable()
    try:
        array = np.zeros(3)
        seen = weakref.ref(array)
        leaves, structure = flatten({"a": [array, 1]}, lambda entry: isinstance(entry, np.ndarray))
        assert leaves[0] is array and structure["a"][1] == 1
        del array, leaves
        assert seen() is None
    finally:
        gc.enable()
