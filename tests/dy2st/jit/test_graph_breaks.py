"""`full_graph=False`: what is refused runs as Python, what it calls is converted, all is as Python has it."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import random
import sys
import threading
import traceback
from types import GeneratorType

import numpy as np
import pytest

import dy2st
from dy2st import jit, nn
from dy2st.errors import ArgumentError, ConversionError, SpecError
from dy2st.jit import StaticFunction, to_static
from dy2st.static import InputSpec
from tests.dy2st.catalogue.comparing import difference, seen
from tests.dy2st.catalogue.not_yet import NOT_YET
from tests.dy2st.catalogue.themes import CASES
from tests.dy2st.jit import broken_layers
from tests.dy2st.jit.broken_functions import SCENARIOS

X = dy2st.to_tensor([1.0, 2.0])
quiet = pytest.mark.filterwarnings("ignore:.* runs partly as Python")
OWN_FILES = {sys.modules[make.__module__].__file__ for make in SCENARIOS.values()}
assert broken_layers.__file__ in OWN_FILES


def partly(function, **options):
    """The function converted as far as it can be."""
    return to_static(function, full_graph=False, **options)


def what_it_does(name, convert):
    """What all calls of a scenario give, print and leave, and where the random numbers stand."""
    dy2st.seed(5)
    random.seed(1)
    np.random.seed(1)
    function, calls, state = SCENARIOS[name]()
    function = convert(function)
    found = []
    for call in calls:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                result = function(*call)
                result = list(result) if isinstance(result, GeneratorType) else result
            except Exception as error:
                entries = traceback.extract_tb(error.__traceback__)
                places = [e.lineno for e in entries if e.filename in OWN_FILES]
                result = error, places
        arguments = [one for one in call if not hasattr(one, "__next__")]
        found.append(seen((result, printed.getvalue(), state, arguments)))
        if isinstance(state, nn.Layer):
            found.append(seen([one.grad for one in state.parameters()]))
    found.append(seen((dy2st.rand([2]), random.random(), np.random.rand())))
    return found


@quiet
@pytest.mark.filterwarnings("ignore:unclosed file")
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_refused_function_does_what_python_does(name):
    wanted = what_it_does(name, lambda function: function)
    found = what_it_does(name, partly)
    for one, other in zip(wanted, found, strict=True):
        assert difference(one, other, {}) == ""


def gradients(function, call):
    """What a function gives for tensors that want gradients, and these."""
    for tensor in call:
        if isinstance(tensor, dy2st.Tensor) and tensor.is_floating_point():
            tensor.stop_gradient = False
    dy2st.seed(1)
    result = function(*call)
    items = result if isinstance(result, (list, tuple)) else [result]
    open_ones = [i for i in items if isinstance(i, dy2st.Tensor) and not i.stop_gradient]
    for one in open_ones:
        one.sum().backward(retain_graph=True)
    return result, [one.grad if isinstance(one, dy2st.Tensor) else None for one in call]


@quiet
@pytest.mark.parametrize(
    "entry",
    {c.entry.name: c.entry for c in CASES if c.of_program in NOT_YET}.values(),
    ids=lambda entry: entry.name,
)
def test_gradients_flow_through_what_is_refused(entry):
    for number in range(len(entry.inputs)):
        outcomes = []
        for convert in (lambda function: function, partly):
            function = convert(entry.made()[0])
            try:
                outcomes.append(seen(gradients(function, entry.calls()[number])))
            except Exception as error:  # the same, or there is a difference
                outcomes.append(seen(type(error)))
        assert difference(*outcomes, {}) == ""


# -- what is converted -----------------------------------------------------------------------------


class Block(nn.Layer):
    """Converts as it is."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        y = self.linear(x)
        return y * 2 if y.sum() > 0 else y


class Net(nn.Layer):
    """Looks at numbers between its blocks."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.LayerList([Block(), Block()])
        self.seen = []

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
            self.seen.append(np.sin(x.numpy()).sum())
        return finish(x)


def finish(x):
    return x + 1 if x.sum() > 0 else x - 1


def functions_in(static):
    return [one.name for one in static.report().functions if one.converted]


@quiet
def test_layers_and_helpers_of_a_refused_function_are_programs():
    net = partly(Net())
    x = dy2st.ones([1, 2])
    wanted = Net.forward(net, x)
    assert net(x).tolist() == wanted.tolist()
    assert functions_in(net.forward)[:1] == ["Block.forward"]
    assert "finish" in functions_in(net.forward)
    assert [one.name for one in net.forward.report().breaks] == ["Net.forward"]


@quiet
def test_a_break_is_in_the_function_that_holds_it_and_in_its_callers():
    def looks(x):
        return finish(x) + float(np.sum(x.numpy()))

    def outer(x):
        return looks(finish(x)) * 2

    static = partly(outer)
    assert static(X).tolist() == outer(X).tolist()
    report = static.report()
    assert [one.name.rpartition(".")[2] for one in report.breaks] == ["outer", "looks"]
    assert {one.at.line for one in report.breaks} == {looks.__code__.co_firstlineno + 1}
    assert functions_in(static) == ["finish"]


def test_a_function_that_converts_is_one_program_without_a_warning():
    static = partly(finish)
    assert static(X).tolist() == [2.0, 3.0]
    assert len(static.program_cache) == 1 and not static.report().breaks


def test_one_warning_says_how_many_breaks_there_are():
    def looks(x):
        return x.numpy().sum()

    def outer(x):
        return looks(x) + looks(x * 2)

    static = partly(outer)
    words = r"outer\(\) runs partly as Python: 2 graph breaks, the first at .*numpy"
    with pytest.warns(UserWarning, match=words) as caught:
        static(X)
        static(X)
    assert len(caught) == 1


@quiet
def test_the_report_says_place_reason_and_cost():
    def looks(x):
        return x.numpy().sum()

    static = partly(looks)
    for _ in range(3):
        static(X)
    (broken,) = static.report().breaks
    assert broken.calls == 3 and 0 < broken.seconds < 5
    text = str(static.report())
    assert "graph breaks: 1" in text and "3 calls, " in text and "s in Python" in text
    assert f"{os.path.basename(__file__)}:{broken.at.line}" in text
    assert "because: " in text and "instead: " in text


# -- when it is traced -----------------------------------------------------------------------------


def tries_of(static):
    return static.breaks.root(static.__wrapped__)._tries


@quiet
def test_a_signature_is_tried_once_and_a_new_one_again():
    def looks(x, mode):
        return x * 2 if mode == "plain" else x.numpy()

    static = partly(looks)
    for _ in range(3):
        assert isinstance(static(X, "numbers"), np.ndarray)
    assert tries_of(static) == 1
    assert static(X, "plain").tolist() == [2.0, 4.0]
    assert len(static.program_cache) == 1 and tries_of(static) == 2


@quiet
def test_what_is_refused_for_each_signature_is_tried_no_more():
    static = partly(lambda x, name: (x.numpy(), name))
    for number in range(20):
        assert static(X, f"name {number}")[1] == f"name {number}"
    assert tries_of(static) == 8


@quiet
def test_helpers_that_are_new_at_each_call_are_given_up():
    def outer(x):
        x.numpy()
        for i in range(30):

            def inner(v):
                return v + i  # noqa: B023

            x = inner(x)
        return x

    static = partly(outer)
    assert static(X).tolist() == outer(X).tolist()
    last = static.report().breaks[-1]
    assert "calls were traced" in last.what and last.name.endswith("inner")


@quiet
def test_pure_python_helpers_are_left_as_they_are():
    def helper(a, b):
        return a + b

    static = partly(lambda x: (x.numpy(), [helper(i, 1) for i in range(9)]))
    static(X)
    assert static.breaks[helper] is helper


@quiet
def test_caches_of_the_users_are_asked_by_python_first():
    met = []
    cached = __import__("functools").lru_cache(lambda n: met.append(n) or n)
    static = partly(lambda x: x * cached(3))
    assert [static(X).tolist() for _ in range(3)] == [[3.0, 6.0]] * 3
    assert met == [3] and len(static.program_cache) == 1 and not static.report().breaks


# -- refused calls of Programs ---------------------------------------------------------------------


@quiet
def test_a_call_that_its_program_refuses_is_made_by_python():
    kept = dy2st.zeros([2, 2])

    def add_to(x):
        kept.add_(x)
        return kept * 1

    static = partly(add_to)
    assert static(X).tolist() == [[1.0, 2.0]] * 2
    assert static(kept[0]).tolist() == [[2.0, 4.0]] * 2  # a view of it
    assert "in place" in static.report().breaks[0].what


def test_a_call_with_one_object_for_two_has_a_program_of_its_own():
    kept = dy2st.zeros([2])

    def add_to(x):
        kept.add_(x)
        return kept * 1

    static = partly(add_to)
    assert static(X).tolist() == [1.0, 2.0]
    assert static(kept).tolist() == [2.0, 4.0]
    assert len(static.program_cache) == 2 and not static.report().breaks


@quiet
def test_an_input_spec_holds_and_python_runs_what_it_refuses():
    def looks(x):
        return x.numpy().sum() * finish(x)

    static = partly(looks, input_spec=[InputSpec([None], "float32")])
    assert static(X).tolist() == looks(X).tolist()
    with pytest.raises(SpecError):
        static(dy2st.ones([2, 2]))


# -- other ways ------------------------------------------------------------------------------------


def test_the_default_refuses():
    with pytest.raises(ConversionError, match="numpy"):
        to_static(lambda x: x.numpy())(X)
    with pytest.raises(ConversionError, match="numpy"):
        to_static(lambda x: x.numpy(), full_graph=True)(X)


@quiet
def test_save_says_what_breaks(tmp_path):
    net = partly(Net())
    for options in ({}, {"input_spec": [InputSpec([None, 2])]}):
        net(dy2st.ones([1, 2]))
        with pytest.raises(ConversionError, match="runs partly as Python") as caught:
            jit.save(net, str(tmp_path / "net"), **options)
        assert "numpy() of a traced tensor" in str(caught.value)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ArgumentError):
        jit.save(partly(finish), str(tmp_path / "net"))


@quiet
def test_conversion_can_be_off():
    static = partly(lambda x: x.numpy())
    jit.enable_to_static(False)
    try:
        assert static(X).tolist() == [1.0, 2.0] and not static.broken
    finally:
        jit.enable_to_static(True)


def looks_at_numbers(x):
    return x.numpy()


@quiet
def test_it_is_said_again_of_a_function_that_is_converted_twice():
    assert to_static(partly(looks_at_numbers))(X).tolist() == [1.0, 2.0]
    assert to_static(to_static(looks_at_numbers), full_graph=False)(X).tolist() == [1.0, 2.0]
    with pytest.raises(ConversionError):
        to_static(partly(looks_at_numbers), full_graph=True)(X)
    net = to_static(partly(Net()), engine="numpy")
    net(dy2st.ones([1, 2]))


@quiet
def test_it_is_pickled():
    made = pickle.loads(pickle.dumps(partly(Net())))
    made(dy2st.ones([1, 2]))
    assert isinstance(made.forward, StaticFunction) and made.forward.report().breaks


@quiet
def test_a_decorator_with_the_option():
    @to_static(full_graph=False)
    def looks(x):
        return x.numpy()

    assert looks(X).tolist() == [1.0, 2.0]


@quiet
def test_threads_share_it():
    def looks(x, n):
        return float(np.sum(finish(x).numpy())) + n

    static, found = partly(looks), {}

    def run(n):
        found[n] = [static(X, n) for _ in range(5)]

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == {n: [5.0 + n] * 5 for n in range(4)}


@quiet
def test_another_full_graph_inside_still_refuses():
    inner = to_static(lambda x: x.numpy())

    def outer(x):
        try:
            return inner(x)
        except ConversionError:
            return "refused"

    assert partly(outer)(X) == "refused"
