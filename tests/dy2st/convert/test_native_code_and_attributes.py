"""Code in C sees the attributes that a trace has written, and the trace those that C code sets."""

from __future__ import annotations

import copy
import operator
import pickle

import dy2st
from dy2st.jit import to_static


class Plain:
    def __init__(self):
        self.n = 1


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 1


class Items(list):
    pass


def over_calls(make):
    plain, slotted, items = Plain(), Slotted(), Items([1])
    items.tag = 0
    run = make(plain, slotted, items)
    x = dy2st.ones([1])
    return [(run(x)[1:], vars(plain), slotted.b, items.tag) for _ in range(3)]


def test_what_is_copied_and_pickled_is_as_the_code_has_left_it():
    def function(plain, slotted, items):
        def run(x):
            plain.n = plain.n + 1
            slotted.b = 5
            items.tag = items.tag + 2
            known = pickle.loads(pickle.dumps(items))
            return x, copy.copy(plain).n, copy.deepcopy(slotted).b, known.tag, list(known)

        return run

    made = over_calls(lambda *given: to_static(function(*given)))
    assert made == over_calls(function)


def test_what_c_code_sets_is_set_at_each_call():
    def function(plain, slotted, items):
        def run(x):
            operator.methodcaller("__setattr__", "z", 3)(plain)
            operator.methodcaller("__setattr__", "b", 4)(slotted)
            return x, plain.z + slotted.b

        return run

    made = over_calls(lambda *given: to_static(function(*given)))
    assert made == over_calls(function)


class Named:
    made = 0

    def __new__(cls, name):
        cls.made += 1
        return super().__new__(cls)

    def __init__(self, name):
        self.name = name


def test_what_is_given_back_is_made_past_the_new_of_its_class():
    def run(x):
        named = Named("a")
        if x.sum() > 0:
            named = Named("b")
        return named, [Named("c")]

    for value in (1.0, -1.0):
        x, counts = dy2st.to_tensor([value]), []
        for function in (run, to_static(run)):
            Named.made = 0
            named, others = function(x)
            counts.append((Named.made, named.name, others[0].name))
        assert counts[0] == counts[1]
