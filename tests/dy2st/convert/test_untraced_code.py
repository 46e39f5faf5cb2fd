"""Code that is not traced never sees what stands for a number, text or tensor of the Program."""

from __future__ import annotations

import collections
import decimal
import fractions
import json
import pprint
import re
import reprlib
import string
import struct
import types
import unittest.mock
import weakref

import numpy as np
import pytest

import dy2st
from dy2st.errors import UndecidedDim
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.convert.kinds.same import refused, same

OF_NUMBERS = {
    "json": lambda x: json.dumps({"loss": float(x[0])}),
    "json_or_default": lambda x: json.dumps([x.shape[0]], default=str),
    "fraction": lambda x: fractions.Fraction(int(x[0]), 2),
    "decimal": lambda x: decimal.Decimal(x.shape[0]),
    "struct": lambda x: struct.pack("<f", float(x[0])),
    "a_method_of_float": lambda x: float.hex(float(x[0])),
    "a_pretty_size": lambda x: pprint.pformat([x.shape[0], x.shape[0] > 2]),
    "array": lambda x: np.array(x.shape),
    "asarray": lambda x: np.asarray([2 * x.shape[0]]),
    "full": lambda x: np.full((2,), x.shape[0]),
    "cumsum": lambda x: np.cumsum(x.shape),
}


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_a_number_that_python_would_have_is_refused(name):
    refused(OF_NUMBERS[name], "a function")


def test_the_text_of_a_size_in_a_replacement_is_refused():
    static = to_static(
        lambda x: re.sub("a", lambda _: str(x.shape[0]), "bab"),
        input_spec=[InputSpec([None], "float32")],
    )
    with pytest.raises(UndecidedDim, match="turned into text"):
        static(dy2st.to_tensor([1.0]))


def test_who_catches_errors_does_not_swallow_the_refusal():
    def saved(x):
        try:
            return json.dumps(float(x[0]))
        except TypeError:
            return "none"

    refused(saved, "dumps")


OF_TENSORS = {
    "pprint": lambda x: pprint.pformat([x.sum()]),
    "reprlib": lambda x: reprlib.repr([x.sum()]),
    "formatter": lambda x: string.Formatter().format("{:.2f}", x.sum()),
    "an_exception": lambda x: repr(ValueError(x.sum())),
    "a_namespace": lambda x: f"{types.SimpleNamespace(loss=x.sum())}",
    "a_frozenset": lambda x: str(frozenset([x])),
    "a_view": lambda x: str({"a": x}.values()),
    "a_text_in_a_list": lambda x: pprint.pformat([f"{x.sum()}"]),
}


@pytest.mark.parametrize("name", OF_TENSORS)
def test_the_text_of_a_tensor_that_code_in_c_would_write_is_refused(name):
    refused(
        OF_TENSORS[name],
        "text of a (traced tensor|dict_values)|a function that is|repr()",
        [1.0, 2.0],
    )


@pytest.mark.parametrize("kind", [collections.deque, collections.OrderedDict, set])
def test_the_text_of_a_container_is_that_of_its_kind(kind):
    def shown(x):
        held = kind([("a", x.sum())] if issubclass(kind, dict) else [x.sum()])
        return str(held)

    refused(shown, f"the text of a {kind.__name__} with tensors", [1.0, 2.0])


def test_a_fault_of_the_users_stays_what_it_is():
    def parsed(x):
        try:
            return json.loads("{")
        except ValueError as error:
            return type(error).__name__, x.shape[0]

    same(parsed)


def test_an_object_that_makes_others_where_it_is_looked_at_is_looked_at_once():
    mock = unittest.mock.MagicMock()
    assert to_static(lambda: json.dumps([1], default=mock))() == "[1]"
    mock.assert_not_called()
    assert not mock.mock_calls


def test_an_object_that_is_half_made_is_not_asked_what_it_is():
    class Asking:
        @property
        def __class__(self):
            return self.kind

    def made():
        one = json.JSONEncoder.__new__(type("Encoder", (Asking, json.JSONEncoder), {}))
        json.JSONEncoder.__init__(one)
        return one.skipkeys

    assert to_static(made)() is made() is False


def test_a_proxy_of_what_is_gone_raises_what_python_raises():
    class Held:
        a = 1

    def run():
        held = Held()
        proxy = weakref.proxy(held)
        before = proxy.a
        del held
        with pytest.raises(ReferenceError):
            json.dumps(proxy, default=lambda one: one.a)
        return before

    assert run() == 1
    assert to_static(run)() == 1


def test_nobody_but_the_code_asks_an_object_what_it_is():
    asked = []

    class Told:
        @property
        def __class__(self):
            asked.append(1)
            return dict

    @to_static
    def f():
        return json.dumps([1], cls=None, default=Told(), sort_keys=True)

    assert f() == "[1]"
    assert not asked


def test_mocks_whose_classes_make_mocks_when_they_are_asked_have_an_end():
    def f(x):
        mock = unittest.mock.MagicMock()
        mock.factor = 3
        return x * mock.factor

    same(f)
