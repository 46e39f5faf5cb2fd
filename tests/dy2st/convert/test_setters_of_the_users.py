"""`__setattr__` and `__delattr__` of the user's run in traced form, those of Layers, too."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import dy2st
import dy2st_runtime
from dy2st import nn
from dy2st.errors import ConversionError
from dy2st.jit import not_to_static, save, to_static
from dy2st.static import InputSpec
from tests.dy2st.catalogue.comparing import comparable

INPUTS = ([-1.0], [1.0], [-1.0], [2.0])


class Renaming(nn.Layer):
    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__("_g" if name == "g" else name, value)

    def forward(self, x: Any) -> Any:
        self.g = 1
        if x.sum() > 0:
            self.g = 3
        return x * getattr(self, "_g", 10)


class Counting(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "log", [])

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "h":
            self.log.append(value)
        super().__setattr__(name, value)

    def forward(self, x: Any) -> Any:
        self.h = 2
        return x * len(self.log)


class PastLayer(nn.Layer):
    def __setattr__(self, name: str, value: Any) -> None:
        if name == "g":
            object.__setattr__(self, "_g", value)
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        super().__delattr__("_g" if name == "g" else name)

    def forward(self, x: Any) -> Any:
        self.g = 3
        found = self._g
        if x.sum() > 0:
            del self.g
        return x * found, hasattr(self, "_g")


class ByName(nn.Layer):
    def forward(self, x: Any) -> Any:
        nn.Layer.__setattr__(self, "g", 5)
        setattr(self, "q", 3)
        object.__setattr__(self, "h", 4)
        return x * (self.g + self.q * 10 + self.h * 100)


class MadeInside(nn.Layer):
    def forward(self, x: Any) -> Any:
        inner = Renaming()
        inner.g = 4
        return inner(x) * inner._g


LAYERS = [Renaming, Counting, PastLayer, ByName, MadeInside]


@pytest.mark.parametrize("kind", LAYERS, ids=lambda kind: kind.__name__)
def test_layers_set_what_their_method_sets(kind: type[nn.Layer]) -> None:
    eager, static = kind(), to_static(kind())
    for values in INPUTS:
        x = dy2st.to_tensor(values)
        assert comparable(static(x)) == comparable(eager(x))


@pytest.mark.parametrize("kind", [Renaming, ByName])
def test_a_trace_alone_sets_nothing(kind: type[nn.Layer]) -> None:
    layer = kind()
    before = {*vars(layer), "forward"}
    static = to_static(layer, input_spec=[InputSpec([1], "float32")])
    assert static.forward.main_program
    assert {*vars(layer)} <= before


def test_a_saved_layer_reads_what_its_method_has_set(tmp_path: Any) -> None:
    with pytest.warns(UserWarning, match="the attribute `_g` of Renaming is set"):
        save(Renaming(), str(tmp_path / "m"), [InputSpec([1], "float32", "x")])
    loaded = dy2st_runtime.load(str(tmp_path / "m"))
    for values in INPUTS:
        x = dy2st.to_tensor(values)
        assert comparable(loaded(x)) == comparable(Renaming()(x))


class Prefixed:
    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__("_" + name, value)

    def __delattr__(self, name: str) -> None:
        super().__delattr__("_" + name)


class Config(dict):  # type: ignore[type-arg]
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__


def set_in_a_branch(x: Any) -> Any:
    made: Any = Prefixed()
    made.a = 1
    if x.sum() > 0:
        made.a = 2
    return made._a


def deleted_in_a_branch(x: Any) -> Any:
    made: Any = Prefixed()
    made.a = 1
    if x.sum() > 0:
        del made.a
    return hasattr(made, "_a")


def attributes_of_a_dict(x: Any) -> Any:
    made: Any = Config(c=1)
    made.e = x * 2
    made.f = 3
    return made.e, len(made), list(made), made.c, made.nothing


@pytest.mark.parametrize("function", [set_in_a_branch, deleted_in_a_branch, attributes_of_a_dict])
def test_objects_set_what_their_method_sets(function: Any) -> None:
    static = to_static(function)
    for values in INPUTS:
        x = dy2st.to_tensor(values)
        assert comparable(static(x)) == comparable(function(x))


def test_entries_that_are_set_as_attributes_in_a_branch_are_refused() -> None:
    def in_a_branch(x: Any) -> Any:
        made: Any = Config(c=1)
        if x.sum() > 0:
            made.e = 5
        return made.e

    with pytest.raises(ConversionError, match="a Config is used whose items"):
        to_static(in_a_branch)(dy2st.to_tensor([1.0]))


def test_attributes_set_past_the_object_are_to_be_set_by_name() -> None:
    class Past(nn.Layer):
        def forward(self, x: Any) -> Any:
            self.g = 3
            self.__dict__["k"] = 5
            return x * self.k

    with pytest.raises(ConversionError, match="are set in the `__dict__` of an object") as found:
        to_static(Past())(dy2st.ones([2]))
    assert "setattr(obj, name, value)" in str(found.value)


def test_a_setter_that_wraps_that_of_layers_is_converted_as_the_users_code():
    class Kind(nn.Layer):
        def forward(self, x):
            self.last = True
            return x * 2

    def setter(self, name, value):
        super(Kind, self).__setattr__(name, value)

    Kind.__setattr__ = functools.wraps(nn.Layer.__setattr__)(setter)
    model = to_static(Kind())
    for _ in range(3):
        assert model(dy2st.ones([1])).item() == 2.0
    assert model.last and len(model.forward.program_cache) == 1


def test_a_function_that_wraps_one_of_a_library_is_converted():
    @functools.wraps(nn.functional.relu)
    def relu(x):
        if x.sum() > 0:
            return x
        return x * 0

    static = to_static(lambda x: relu(x))
    for row in ([1.0, 2.0], [-1.0, -2.0]):
        assert static(dy2st.to_tensor(row)).tolist() == relu(dy2st.to_tensor(row)).tolist()


def test_code_left_as_python_may_set_an_attribute_to_what_it_holds():
    class Inner(nn.Layer):
        def __init__(self):
            super().__init__()
            self.twice = False

    @not_to_static
    def left(inner, x, twice):
        inner.twice = twice
        return x * 2 if inner.twice else x

    inner = Inner()
    static = to_static(lambda x: left(inner, x, False))
    for _ in range(3):
        assert static(dy2st.ones([1])).item() == 1.0
    assert len(static.program_cache) == 1


def test_an_attribute_that_code_left_as_python_sees_is_a_read_before_the_call_sets_it():
    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.twice = False

        def forward(self, x):
            y = left(self, x)
            self.twice = True
            return y

    @not_to_static
    def left(model, x):
        return x * 2 if model.twice else x

    model = to_static(Model())
    assert [model(dy2st.ones([1])).item() for _ in range(3)] == [1.0, 2.0, 2.0]


def test_an_attribute_that_each_call_sets_before_code_left_as_python_sees_it_is_no_read():
    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.twice = False

        def forward(self, x):
            self.twice = True
            return left(self, x)

    @not_to_static
    def left(model, x):
        return x * 2 if model.twice else x

    model = to_static(Model())
    for _ in range(3):
        assert model(dy2st.ones([1])).item() == 2.0
        assert model.twice
        model.twice = False
    assert len(model.forward.program_cache) == 1


class Doubled:
    def __set__(self, owner: Any, value: Any) -> None:
        owner.held = value * 2


class Counted:
    double = Doubled()

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        object.__setattr__(self, "count", self.__dict__.get("count", 0) + 1)


def test_what_a_descriptor_sets_is_set_past_the_method_of_the_class() -> None:
    def function(x: Any) -> Any:
        counted = Counted()
        if x.sum() > 0:
            counted.double = 1
        else:
            counted.double = x
        return counted.count, counted.held * 1.0

    static = to_static(function)
    for values in INPUTS:
        x = dy2st.to_tensor(values)
        (count, held), (wanted, kept) = static(x), function(x)
        assert (count, float(held)) == (wanted, float(kept))
