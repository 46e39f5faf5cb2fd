"""What code in C advances, draws or writes: iterators, random numbers, arrays."""

from __future__ import annotations

import array
import itertools
import random

import numpy as np

import dy2st
from tests.dy2st.jit.outside.scenario import each_call, effect


@each_call
def an_iterator_advanced():
    held = itertools.count(1)
    return lambda x: x * next(held), lambda: repr(held)


@each_call
def an_iterator_of_a_list_advanced():
    held = iter([1.0, 2.0, 3.0, 4.0, 5.0])
    return lambda x: x * next(held), lambda: held.__length_hint__()


@effect
def an_iterator_that_ends():
    held = iter([1.0, 2.0])
    return lambda x: x * next(held, 7.0), lambda: held.__length_hint__()


@each_call
def a_cycle_advanced():
    held = itertools.cycle([1.0, 2.0])
    return lambda x: x * next(held), lambda: None


@each_call
def a_generator_held():
    def numbers():
        n = 1.0
        while True:
            yield n
            n = n * 2

    held = numbers()

    return lambda x: x * next(held), lambda: None


@each_call
def a_random_number_drawn():
    held = random.Random(3)
    return lambda x: x * held.random(), lambda: held.getstate()[2]


@each_call
def random_numbers_of_the_module():
    return lambda x: x * random.random() if random.random() < 0.5 else x, lambda: None


@each_call
def random_numbers_of_numpy():
    return lambda x: x * float(np.random.rand()), lambda: None


@each_call
def a_generator_of_numpy():
    held = np.random.default_rng(3)
    return lambda x: x * held.standard_normal(2).astype("float32"), lambda: None


@effect
def random_tensors():
    return lambda x: x + dy2st.rand([2]), lambda: None


@each_call
def an_array_written():
    held = np.zeros(2)

    def f(x):
        held[0] += 1
        return x * float(held[0])

    return f, lambda: held.tolist()


@each_call
def an_array_of_python_written():
    held = array.array("d", [0.0])

    def f(x):
        held[0] += 1
        return x

    return f, lambda: held.tolist()


@each_call
def bytes_extended():
    held = bytearray()

    def f(x):
        held.extend(b"ab")
        return x

    return f, lambda: bytes(held)
