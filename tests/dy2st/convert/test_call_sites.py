"""A place that calls one function again and again remembers it, and notices every change of it."""

from __future__ import annotations

import gc
import linecache
import types
import weakref

import pytest

from dy2st.convert.call import convert_call
from dy2st.convert.watching import watch
from dy2st.transpiler import is_converted


def step(x):
    if x > 10:
        return x
    return x * 2


def other_step(x):
    return x + 100 if x else 100


def stepwise(x, y=1):
    return x + y if x else y


def called_often(x):
    found = []
    for _ in range(4):
        found.append(step(x))
    return found


def many(functions, x):
    found = []
    for function in functions:
        found.append(function(x))
    return found


def changed_inside(x, change):
    found = []
    for turn in range(4):
        if turn == 2:
            change()
        found.append(step(x))
    return found


@pytest.fixture
def own_step(monkeypatch):
    """A `step` of this test alone."""
    made = types.FunctionType(step.__code__, globals(), "step")
    monkeypatch.setitem(globals(), "step", made)
    return made


def test_the_converted_form_is_called():
    convert_call(called_often)(3)
    seen = []
    run = convert_call(many)
    run([lambda x: seen.append(x)], 1)
    assert convert_call(called_often)(3) == [6] * 4 and seen == [1]
    assert is_converted(convert_call(step).__code__)


def test_a_replaced_code_is_noticed_at_the_next_call(own_step):
    def change():
        own_step.__code__ = other_step.__code__

    assert convert_call(changed_inside)(3, change) == [6, 6, 103, 103]


def test_another_function_of_the_name_is_noticed_at_the_next_call(own_step, monkeypatch):
    def change():
        monkeypatch.setitem(globals(), "step", other_step)

    assert convert_call(changed_inside)(3, change) == [6, 6, 103, 103]


def test_new_defaults_are_noticed_at_the_next_call(own_step, monkeypatch):
    monkeypatch.setitem(globals(), "step", stepwise)
    monkeypatch.setattr(stepwise, "__defaults__", (1,))

    def change():
        stepwise.__defaults__ = (7,)

    assert convert_call(changed_inside)(3, change) == [4, 4, 10, 10]


def test_several_functions_take_turns_at_one_place():
    functions = [step, other_step, stepwise, len.__call__, abs, str, step]
    functions[3] = float
    assert convert_call(many)(functions, 3) == [6, 103, 4, 3.0, 3, "3", 6]


def test_what_cannot_be_called_is_refused_as_python_refuses_it():
    with pytest.raises(TypeError, match="'NoneType' object is not callable"):
        convert_call(many)([None], 3)


def test_every_watch_notes_what_a_known_place_calls():
    convert_call(called_often)(3)
    for _ in range(2):
        with watch(lambda kind, makes: None) as noted:
            convert_call(called_often)(3)
        assert step in noted.values()


def test_a_function_that_is_deleted_dies_at_the_next_collection():
    text = "def inner(x):\n    return x if x else 1\ndef outer(x):\n"
    text += "    for _ in range(3):\n        x = inner(x)\n    return x\n"
    linecache.cache["<site>.py"] = (len(text), None, text.splitlines(True), "<site>.py")
    namespace: dict = {}
    exec(compile(text, "<site>.py", "exec"), namespace)
    assert convert_call(namespace["outer"])(0) == 1
    gone = weakref.ref(namespace.pop("inner"))
    gc.collect()
    assert gone() is None


def test_a_place_that_was_made_to_forget_remembers_again():
    run = convert_call(called_often)
    for _ in range(3):
        assert run(3) == [6] * 4
        gc.collect()
