"""Numbers that a function reads outside: from its third value on, one is an input of one Program."""

from __future__ import annotations

import dataclasses
import threading
import warnings
from collections import deque

import numpy as np
import pytest

import dy2st
from dy2st import to_static
from tests.dy2st.catalogue.comparing import comparable

X = dy2st.to_tensor(np.linspace(-2, 3, 3).astype("float32"))
SCALE = 1.0
# Also those that Python treats in ways of their own, and other kinds.
VALUES = [0.5, 1.5, 2.5, -0.0, 0.0, float("nan"), float("inf"), 3.5, 1, 2, 3, True, 2**70, 4, 0.25]


@dataclasses.dataclass
class Config:
    rate: float = 1.0


class Outside(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.rate, self.table, self.places = 1.0, {"rate": 1.0}, [1.0, "text"]
        self.config, self.inner = Config(), dy2st.nn.Linear(2, 2)

    def forward(self, x):
        return x * self.rate, self.rate

    def of_table(self, x):
        return x * self.table["rate"], self.table["rate"] * 2

    def of_list(self, x):
        return x * self.places[0], len(self.places)

    def of_object(self, x):
        return x + self.config.rate

    def of_sublayer(self, x):
        return x + self.inner.rate

    def put(self, value):
        self.rate = self.table["rate"] = self.places[0] = self.config.rate = value
        self.inner.rate = value


@pytest.mark.filterwarnings("ignore:.*is traced the 5th time")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("name", ["forward", "of_table", "of_list", "of_object", "of_sublayer"])
def test_a_number_that_is_only_read_is_an_input_from_its_third_value_on(name):
    held = Outside()
    function = getattr(held, name)
    static = to_static(function, engine="numpy")
    for count, value in enumerate(VALUES):
        held.put(value)
        assert str(comparable(static(X))) == str(comparable(function(X))), value
        if count == 7:
            assert len(static.program_cache) <= 4
    assert len(static.program_cache) <= 7  # an int, a bool and a larger one than 64 bits beside


def test_a_global_and_a_cell_are_read_as_inputs(monkeypatch):
    factor = 1

    def scaled(x):
        return x * SCALE + factor

    static = to_static(scaled)
    for k in range(9):
        monkeypatch.setitem(globals(), "SCALE", 0.5 * k)
        factor = 3 * k
        assert comparable(static(X)) == comparable(scaled(X))
    assert len(static.program_cache) == 3


def test_nothing_is_warned_of_and_the_call_stays_a_pure_one():
    held = Outside()
    static = to_static(held)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(9):
            held.rate = 0.5 * k
            static(X)
    assert not static.forward.concrete_program.finished.writes
    assert static.forward.concrete_program.straight is not None


def test_two_values_in_turns_stay_constants():
    held = Outside()
    static = to_static(held.of_table)
    for k in range(9):
        held.table["rate"] = (0.5, 0.25)[k % 2]
        static(X)
    assert len(static.program_cache) == 2
    assert not static.concrete_program.live.places


def test_of_several_the_one_that_has_to_be_a_constant_alone_is_one():
    class Model(dy2st.nn.Layer):
        def __init__(self):
            super().__init__()
            self.scale, self.slope, self.calls = 1.0, 0.5, 0

        def forward(self, x):
            self.calls += 1
            return dy2st.nn.functional.leaky_relu(x * self.scale, self.slope) + self.calls

    eager, held = Model(), Model()
    static = to_static(held)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(20):
            eager.scale = held.scale = 0.1 * k
            eager.slope = held.slope = (0.5, 0.25, 0.75)[k % 3]
            assert comparable(static(X)) == comparable(eager(X))
            if k == 8:
                before = len(static.forward.program_cache)
    assert len(static.forward.program_cache) == before
    assert "`slope` is a constant, since TensorAsPython" in str(static.forward.report())


def test_gradients_and_a_saved_model_have_the_number(tmp_path):
    held = Outside()
    static = to_static(held, [dy2st.static.InputSpec([3])])
    for k in range(5):
        held.rate = 0.5 * k
        x = X.clone()
        x.stop_gradient = False
        static(x)[0].sum().backward()
        assert x.grad.tolist() == [held.rate] * 3
    dy2st.jit.save(static, str(tmp_path / "model"))
    assert comparable(dy2st.jit.load(str(tmp_path / "model"))(X)) == comparable(held(X))


class Tuples(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.state, self.rates, self.table = (0, 0.5), (0.5, 0.25), {"ends": (1, 2.0)}

    def forward(self, x):
        count, decay = self.state
        self.state = count + 1, decay * 0.5
        return x * decay + count

    def only_read(self, x):
        return x * self.rates[0] + self.rates[1], len(self.rates)

    def in_a_dict(self, x):
        low, high = self.table["ends"]
        if x.sum() > 0:
            self.table["ends"] = low - 1, high * 1.5
        return x + low * high


@pytest.mark.parametrize("name", ["forward", "only_read", "in_a_dict"])
def test_numbers_in_a_tuple_are_inputs(name):
    eager, held = Tuples(), Tuples()
    static = to_static(getattr(held, name))
    for k in range(9):
        eager.rates = held.rates = (0.1 * k, 2.0 * k)
        x = X * (-1) ** k
        assert comparable(static(x)) == comparable(getattr(eager, name)(x))
        assert (held.state, held.table) == (eager.state, eager.table)
        assert [*map(type, held.state)] == [int, float]
    assert len(static.program_cache) <= 4


@pytest.mark.filterwarnings("ignore:.*is traced the 5th time")
def test_a_tuple_of_other_kinds_has_a_program_of_its_own():
    held = Tuples()
    static = to_static(held.only_read)
    for rates in [
        (0.5, 1.0),
        (1.5, 2.0),
        (2.5, 3.0),
        (3.5, 4.0),
        (1, 4.0),
        (0.5, -0.0),
        (2.0, 1, 3),
    ]:
        held.rates = rates
        assert str(comparable(static(X))) == str(comparable(held.only_read(X)))
    assert len(static.program_cache) == 5


class Last(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.last, self.weights = deque([0.0] * 3, maxlen=3), [0.5, 0.25]

    def forward(self, x):
        self.last.append(float(x.sum()))
        return x + sum(self.last) / 3

    def reads_a_list(self, x):
        return x * sum(self.weights) + max(self.weights)


def test_a_window_of_numbers_is_one_of_the_program():
    eager, held = Last(), Last()
    static = to_static(held)
    for k in range(9):
        x = X * (0.5 * k)
        assert comparable(static(x)) == comparable(eager(x))
        assert held.last == eager.last
        assert held.last.maxlen == 3
    assert len(static.forward.program_cache) == 2


def test_the_numbers_of_a_list_that_is_read_as_a_whole_are_inputs():
    held = Last()
    static = to_static(held.reads_a_list)
    for k in range(9):
        held.weights[:] = [0.5 * k, 1.0 - k]
        assert comparable(static(X)) == comparable(held.reads_a_list(X))
    assert len(static.program_cache) == 3
    held.weights.append(7.5)
    assert comparable(static(X)) == comparable(held.reads_a_list(X))


class Counted(dy2st.nn.Layer):
    made = 0

    def forward(self, x):
        self.__class__.made = self.__class__.made + 1
        return x + self.made


def test_a_number_of_a_class_is_one_of_the_program():
    static = to_static(Counted())
    assert [static(dy2st.zeros([1])).tolist() for _ in range(6)] == [[k] for k in range(1, 7)]
    assert Counted.made == 6
    assert len(static.forward.program_cache) == 2


@pytest.mark.filterwarnings("ignore:.*is traced the 5th time")
def test_threads_may_read_it_while_another_sets_it():
    held = Outside()
    static, wrong = to_static(held.of_table), []

    def calls():
        for k in range(40):
            held.table["rate"] = 0.5 * (k % 7)
            result, _ = static(dy2st.ones([1]))
            if float(result) * 2 % 1 or not 0 <= float(result) <= 3:
                wrong.append(float(result))

    threads = [threading.Thread(target=calls) for _ in range(4)]
    [one.start() for one in threads]
    [one.join() for one in threads]
    assert wrong == []


def test_what_lies_beside_a_number_that_varies_is_the_users():
    class Counter:
        def __init__(self):
            self.seen, self.n = [], 1

        def count(self, x):
            self.seen.append(self.n)
            if x.sum() > 2:
                vars(self)["n"] = 5
            return x

    eager, static = Counter(), Counter()
    converted = dy2st.to_static(static.count)
    for value in (1.0, 3.0, 0.0, 2.0):
        x = dy2st.full([3], value)
        eager.count(x), converted(x)
        assert (static.seen, static.n) == (eager.seen, eager.n)
