"""Numbers of random.Random where a tensor decides how many are drawn: those that Python draws."""

from __future__ import annotations

import copy
import random
import sys

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st.errors import ConversionError
from dy2st.static import InputSpec

SPECS = [InputSpec([None], "float32", "x")]
# Each gets a generator and a number of the data.
DRAWS = {
    "random": lambda r, v: r.random(),
    "uniform": lambda r, v: r.uniform(v, 2.0),
    "randint": lambda r, v: r.randint(-3, 8),
    "randint up to a number of the data": lambda r, v: r.randint(0, int(v * 9)),
    "randrange": lambda r, v: r.randrange(0, 100, 7),
    "getrandbits of 0": lambda r, v: r.getrandbits(0),
    "getrandbits of a word": lambda r, v: r.getrandbits(32),
    "getrandbits of several words": lambda r, v: r.getrandbits(61),
    "getrandbits of as many as the data say": lambda r, v: r.getrandbits(int(v * 60)),
    "choice of texts": lambda r, v: r.choice(["a", "b", "c"]),
    "choice of numbers of two kinds": lambda r, v: r.choice((1, 2.5)),
    "choices": lambda r, v: r.choices([1, 2, 3], k=2),
    "choices by weights": lambda r, v: r.choices([1, 2, 3], weights=[v, 2.0, 0.5], k=2),
    "sample": lambda r, v: r.sample([1, 2, 3, 4, 5], 3),
    "sample of a range": lambda r, v: r.sample(range(int(v * 9) + 30), 2),
    "gauss": lambda r, v: r.gauss(v, 2.0),
    "normalvariate": lambda r, v: r.normalvariate(0.0, 1.0),
    "lognormvariate": lambda r, v: r.lognormvariate(0.0, 1.0),
    "expovariate": lambda r, v: r.expovariate(2.0),
    "triangular": lambda r, v: r.triangular(0.0, 1.0, 0.3),
    "betavariate": lambda r, v: r.betavariate(2.0, 3.0),
    "gammavariate": lambda r, v: r.gammavariate(2.0, 1.0),
    "vonmisesvariate": lambda r, v: r.vonmisesvariate(0.0, 4.0),
    "paretovariate": lambda r, v: r.paretovariate(3.0),
    "weibullvariate": lambda r, v: r.weibullvariate(1.0, 2.0),
}
if sys.version_info >= (3, 12):
    DRAWS["binomialvariate"] = lambda r, v: r.binomialvariate(5, 0.4)


def batches(*sizes):
    drawn = np.random.default_rng(3)
    return [dy2st.to_tensor(drawn.random(size).astype("float32")) for size in sizes]


def numbers_of(value):
    """All floats of a result, and all else of it."""
    floats, others = [], []
    for one in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(one, (list, tuple)):
            inner = numbers_of(one)
            floats, others = floats + inner[0], others + inner[1]
        else:
            (floats if isinstance(one, float) else others).append(one)
    return floats, others


def check_same(found, wanted):
    floats, others = numbers_of(found)
    same_floats, same_others = numbers_of(wanted)
    # `math.log` and its like are those of the C library there, and of NumPy here.
    np.testing.assert_allclose(floats, same_floats, rtol=1e-14)
    assert others == same_others


@pytest.mark.parametrize("name", DRAWS)
def test_a_loop_over_the_data_draws_what_python_draws(name):
    draw = DRAWS[name]

    def draw_some(x):
        source = random.Random(5)
        found = [source.random()]
        for value in x.tolist():
            if value > 0.3:
                found.append(draw(source, value))
        return found, source.random(), source.randint(0, 9)

    static = to_static(draw_some, input_spec=SPECS)
    for x in batches(4, 1, 0, 23):
        check_same(static(x), draw_some(x))


def test_a_list_of_a_length_is_shuffled_as_by_python():
    def shuffled(x):
        source = random.Random("a text")
        kept = [value for value in x.tolist() if value > 0.3]
        source.shuffle(kept)
        return kept, source.choice(kept), source.sample(kept, 2)

    static = to_static(shuffled, input_spec=SPECS)
    for x in batches(9, 30):
        assert static(x) == shuffled(x)


def test_more_numbers_than_one_state_has_are_drawn():
    def total(x):
        source, found = random.Random(3), 0.0
        while found < float(x.sum()) * 1000:
            found += source.random()
        return found, source.random()

    static = to_static(total, input_spec=SPECS)
    for x in batches(3, 9):
        assert static(x) == total(x)


class Noisy(nn.Layer):
    """Draws in a branch, in a loop and beside both."""

    def __init__(self):
        super().__init__()
        self.source = random.Random(1)

    def forward(self, x):
        total = 0.0
        if float(x[0]) > 0.4:
            total += self.source.gauss(0.0, 1.0)
        for value in x.tolist():
            if value > self.source.random():
                total += 1.0
        return x + total


class Choosing(Noisy):
    def forward(self, x):
        if self.source.random() < 0.5:
            return x + self.source.uniform(1.0, 2.0)
        return x * self.source.choice([1.0, 2.0, 3.0])


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("kind", [Noisy, Choosing])
def test_a_generator_of_a_layer_goes_on_from_call_to_call(kind, engine):
    if engine == "native":
        pytest.importorskip("llvmlite")
    eager, layer = kind(), kind()
    static = to_static(layer, input_spec=SPECS, engine=engine)
    for x in batches(3, 5, 400, 1, 700, 2):
        np.testing.assert_allclose(static(x).numpy(), eager(x).numpy(), rtol=1e-6)
        assert layer.source.getstate()[1] == eager.source.getstate()[1]


def test_what_gauss_keeps_for_its_next_call_is_kept():
    class Two(nn.Layer):
        def __init__(self):
            super().__init__()
            self.source = random.Random(3)

        def forward(self, x):
            return self.source.gauss(0.0, 1.0), self.source.random()

    eager, static = Two(), to_static(Two())
    for x in batches(2, 2, 2, 2):
        check_same(static(x), eager(x))


def test_no_call_is_traced_anew_for_the_numbers_of_the_last_one():
    def drawn(x):
        return [source.random() for value in x if value > 0.5]

    source = random.Random(2)
    static = to_static(drawn, input_spec=SPECS)
    for x in batches(6, 7, 8):
        state = source.getstate()
        wanted = drawn(x)
        source.setstate(state)
        assert static(x) == wanted
    assert "traced again" not in str(static.report())


class Forced(nn.Layer):
    """A decoder that is given the target now and then."""

    def forward(self, x):
        last, found = x[0] * 0, []
        for target in x:
            last = target if random.random() < 0.5 else last * 0.5
            found.append(last)
        return sum(found)


def test_numbers_beside_branches_are_inputs_of_the_program_from_the_second_call_on():
    eager, static = Forced(), to_static(Forced())
    (x,) = batches(8)
    for call in range(5):
        random.seed(call)
        wanted, after = eager(x).numpy(), random.random()
        random.seed(call)
        np.testing.assert_allclose(static(x).numpy(), wanted, rtol=1e-6)
        assert random.random() == after
    assert len(static.forward.program_cache) == 2


@pytest.mark.parametrize("before", [0, 2])
@pytest.mark.parametrize("kind", [Noisy, Choosing])
def test_a_saved_model_goes_on_with_the_numbers(kind, before, tmp_path):
    eager, static = kind(), to_static(kind(), input_spec=SPECS)
    calls = batches(3, 5, 400, 1, 700, 2)
    for x in calls[:before]:
        eager(x), static(x)
    dy2st.jit.save(static, str(tmp_path / "model"))
    loaded = dy2st.jit.load(str(tmp_path / "model"))
    for x in calls[before:]:
        np.testing.assert_allclose(loaded(x).numpy(), eager(x).numpy(), rtol=1e-6)


def test_the_numbers_of_the_module_are_drawn_in_a_branch():
    def jittered(x):
        return x + random.random() if float(x.sum()) > 2 else x

    static = to_static(jittered, input_spec=SPECS)
    for x in batches(9, 1, 9):
        random.seed(7)
        wanted, after = jittered(x).numpy(), random.random()
        random.seed(7)
        assert (static(x).numpy() == wanted).all() and random.random() == after


class Halved(random.Random):
    """Its own numbers are those that all methods draw."""

    def random(self):
        return super().random() / 2


def test_a_class_with_numbers_of_its_own_draws_those():
    def drawn(x):
        source, found = Halved(5), []
        for value in x.tolist():
            found += [source.random() * value, source.uniform(1, 2), source.randint(0, 9)]
        return found

    static = to_static(drawn, input_spec=SPECS)
    for x in batches(4, 9):
        assert static(x) == drawn(x)


def test_a_generator_that_a_function_returns_goes_on():
    def drawn(x):
        source = random.Random(5)
        for value in x:
            if value > 0.5:
                source.random()
        return source

    static = to_static(drawn, input_spec=SPECS)
    for x in batches(4, 9):
        assert static(x).random() == drawn(x).random()


def test_one_that_each_iteration_makes_begins_anew():
    def drawn(x):
        return [random.Random(3).random() * value for value in x.tolist()]

    static = to_static(drawn, input_spec=SPECS)
    for x in batches(4, 9):
        assert static(x) == drawn(x)


COPIED = {
    "a copy": lambda source: copy.deepcopy(source).random(),
    "a state": lambda source: source.getstate(),
}


@pytest.mark.parametrize("name", COPIED)
def test_what_the_program_knows_alone_is_not_copied(name):
    def drawn(x):
        source = random.Random(5)
        for value in x:
            if value > 0.5:
                source.random()
        return COPIED[name](source)

    with pytest.raises(ConversionError, match="a Random is copied"):
        to_static(drawn, input_spec=SPECS)(batches(4)[0])
