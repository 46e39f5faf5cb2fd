"""`dy2st.compare`: what it compares, what it leaves as it was, and what it says."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.diagnostics.comparing import ComparisonError
from dy2st.diagnostics.differences import TOLERANCES, difference
from dy2st.diagnostics.every_call import EveryCall
from dy2st.jit.static_function import enable_to_static
from dy2st_runtime import engine as engines
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.definition import lookup
from tests.dy2st.diagnostics.test_profile import Net, attention, image, powers, recurrent
from tests.dy2st.diagnostics.test_seeded_faults import Changing, constant_plus, renamed

ENGINES = [name for name in ("numpy", "native", "onnxruntime", "xla") if engines.is_installed(name)]
X = np.linspace(-1.0, 2.0, 12, dtype="float32").reshape(3, 4)


def randn(*shape):
    return dy2st.to_tensor(np.random.default_rng(3).standard_normal(shape).astype("float32"))


CALLS = {
    "net": (Net(), lambda: [randn(4, 64)]),
    "powers": (powers, lambda: [dy2st.ones([5, 5])]),
    "attention": (attention, lambda: [randn(2, 4, 64)] * 3),
    "image": (image, lambda: [randn(1, 2, 6, 6), randn(3, 2, 3, 3)]),
    "recurrent": (recurrent, lambda: [randn(4, 2, 3), randn(3, 3)]),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("gradients", [False, True])
def test_what_is_right_is_equal(name, engine, gradients):
    fn, arguments = CALLS[name]
    found = dy2st.compare(fn, *arguments(), engine=engine, gradients=gradients)
    assert found.is_equal, found
    assert found.count > 1
    assert str(found).endswith(f"operators compared (Python and the Program, {engine})")


class Trained(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 3)
        self.norm = nn.BatchNorm1D(3)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return nn.functional.dropout(self.norm(self.inner(x)), 0.5)


def state_of(net, optimizer):
    held = {name: one.numpy().copy() for name, one in net.state_dict().items()}
    return held, net.calls, len(optimizer.state_dict())


def test_a_step_of_training_is_compared_and_nothing_is_changed():
    dy2st.seed(5)
    net = Trained()
    optimizer = dy2st.optimizer.Adam(parameters=net.parameters())
    log, count = [], {"steps": 0}

    def step(x):
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        log.append(float(loss))
        count["steps"] += 1
        return loss

    before, drawn = state_of(net, optimizer), dy2st.rand([2]).numpy()
    dy2st.seed(5)
    python = random.getstate()
    found = dy2st.compare(step, dy2st.to_tensor(X))
    assert found.is_equal, found
    after = state_of(net, optimizer)
    assert all(np.array_equal(one, after[0][name]) for name, one in before[0].items())
    assert before[1:] == after[1:] and log == [] and count == {"steps": 0}
    assert random.getstate() == python
    dy2st.seed(5)
    assert drawn is not None
    assert dy2st.rand([1]).shape == [1]


def test_both_sides_draw_the_same_numbers():
    def noisy(x):
        return x + dy2st.rand([3, 4]) * dy2st.randn([3, 4])

    for engine in ENGINES:
        if engine not in ("xla", "onnxruntime"):  # which draw others, or none
            assert dy2st.compare(noisy, dy2st.to_tensor(X), engine=engine).is_equal


def test_what_a_function_prints_is_shown_once(capsys):
    def shown(x):
        print("here")
        return x * 2.0

    assert dy2st.compare(shown, dy2st.to_tensor(X)).is_equal
    assert capsys.readouterr().out == "here\n"


def test_what_is_raised_by_both_is_equal_and_by_one_is_not():
    def fails(x):
        if x.sum() > 0:
            raise ValueError("positive")
        return x

    both = dy2st.compare(fails, dy2st.to_tensor(X))
    assert both.is_equal and str(both).endswith("\n  both raise ValueError: positive")
    changed = Changing("greater_than", renamed("less_than"))
    found = dy2st.compare(fails, dy2st.to_tensor(X), pipeline=changed)
    assert found.is_equal or "raises ValueError: positive" in str(found)


def test_a_difference_shows_sizes_both_values_and_nan():
    left, right = X.copy(), X.copy()
    right[1, 2] = np.nan
    text = difference(left, right).text
    assert text.startswith("1 of 12 elements differ")
    assert "at [1, 2]" in text and "NaN: 0 and 1" in text
    assert difference(left, X[:2]).text == "sizes [3, 4] and [2, 4]"
    assert difference(left, left.astype("int32")).text == "dtypes float32 and int32"
    assert difference(right, right.copy()) is None
    assert difference(np.array([1, 2]), np.array([1, 3])).text.startswith("1 of 2 elements differ")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_tolerances_are_those_of_the_dtype(dtype):
    one = np.ones(4, dtype)
    part = TOLERANCES[dtype]
    assert difference(one, (one * (1 + part / 2)).astype(dtype)) is None
    assert difference(one, (one * (1 + 4 * part)).astype(dtype)) is not None
    assert difference(one, (one * 1.5).astype(dtype), tolerance=1.0) is None


def test_a_precision_is_compared_by_the_tolerance_of_the_shorter_dtype():
    net = Net()
    net.eval()
    found = dy2st.compare(net, randn(4, 64), other=dy2st.to_static(net), tolerance=1e-2)
    assert found.is_equal
    assert difference(np.ones(3, "float32"), np.ones(3, "float16") + np.float16(1e-3)) is None


def test_an_iterator_that_nobody_can_put_back_is_refused():
    values = iter([1.0, 2.0])
    with pytest.raises(ArgumentError, match=r"`values`.*cannot be put back"):
        dy2st.compare(lambda x: x * next(values), dy2st.to_tensor(X))


def test_what_is_found_has_operator_place_and_a_page():
    def scaled(x):
        return x * 2.0

    changed = Changing("multiply", constant_plus(1.0))
    found = dy2st.compare(scaled, dy2st.to_tensor(X), pipeline=changed)
    assert not found.is_equal and found.operator == "multiply"
    text = str(found)
    assert "return x * 2.0" in text and "4 and 6 at [2, 3]" in text
    assert "Python and the Program, Changing part" in text
    assert found._repr_html_().startswith("<pre>") and "<locals>" not in found._repr_html_()


def test_a_saved_model_is_compared_with_the_function(tmp_path):
    net = Net()
    net.eval()
    converted = dy2st.to_static(net, input_spec=[dy2st.static.InputSpec([None, 64])])
    dy2st.jit.save(converted, str(tmp_path / "net"))
    assert dy2st.compare(tmp_path / "net", randn(4, 64), pipeline="inference").is_equal
    assert dy2st.compare(net, randn(4, 64), other=tmp_path / "net").is_equal
    net.first.bias.set_value(net.first.bias.numpy() + 1)
    found = dy2st.compare(net, randn(4, 64), other=tmp_path / "net")
    assert (found.operator, found.is_equal) == ("add", False)


def test_passes_that_are_right_are_equal():
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1D(8), nn.ReLU(), nn.Linear(8, 2))
    net.eval()
    assert dy2st.compare(net, dy2st.to_tensor(X), pipeline="inference").is_equal


# -- every call --------------------------------------------------------------------------------


@pytest.fixture
def every():
    made = EveryCall()
    made.begin()
    yield made
    made.end()


def test_every_call_of_a_suite_is_compared(every):
    net = dy2st.to_static(Trained())
    x = dy2st.to_tensor(X)
    for _ in range(3):
        net(x)
    assert every.count == 3 and net.calls == 3
    assert every.said() == "DY2ST_COMPARE: 3 calls compared"


def test_the_first_difference_raises_with_the_line(every, monkeypatch):
    @dy2st.to_static
    def squashed(x):
        return x.tanh() + 1.0

    from dy2st_runtime.engine.numpy import codegen

    form = lambda operator, operands: (np.tanh, f"2 * {{}}({operands[0]})")  # noqa: E731
    monkeypatch.setitem(codegen._FORMS, "tanh", form)
    with pytest.raises(ComparisonError, match=r"'tanh'.*return x.tanh\(\) \+ 1.0") as caught:
        squashed(dy2st.to_tensor(X))
    assert isinstance(caught.value, AssertionError)
    assert caught.value.comparison.operator == "tanh"


def test_calls_in_converted_code_are_part_of_the_call(every):
    inner = dy2st.to_static(lambda x: x * 2.0)
    outer = dy2st.to_static(lambda x: inner(x) + 1.0)
    assert float(outer(dy2st.ones([]))) == 3.0
    assert every.count == 1


def test_what_raises_goes_on_raising(every):
    @dy2st.to_static
    def fails(x):
        if x.sum() > 0:
            raise KeyError("positive")
        return x

    with pytest.raises(KeyError):
        fails(dy2st.ones([2]))
    assert every.count == 1


def test_what_cannot_be_made_once_more_is_counted(every):
    values = iter(range(9))

    class Reads(nn.Layer):
        def __init__(self):
            super().__init__()
            self.source = values

        def forward(self, x):
            return x * 2.0

    dy2st.to_static(Reads())(dy2st.ones([2]))
    assert every.count == 0
    assert "1 not: " in every.said() and "gives each value once" in every.said()


def test_what_somebody_looks_into_is_put_back(every):
    data = bytearray(b"ab")
    view = memoryview(data)

    @dy2st.to_static
    def reads(x):
        return x * data[0] + view[1]

    assert float(reads(dy2st.ones([]))) == 97 + 98
    assert every.count == 1 and bytes(data) == b"ab"


def test_calls_of_compare_and_profile_are_not_compared_once_more(every):
    double = dy2st.to_static(lambda x: x * 2.0)
    assert dy2st.compare(double, dy2st.ones([2])).is_equal
    assert dy2st.profile(double, dy2st.ones([2]), engine="numpy", repeat=1).engines == ["numpy"]
    assert every.count == 0


def test_both_may_refuse_in_their_own_words(every):
    @dy2st.to_static(input_spec=[dy2st.static.InputSpec([None, 3])] * 2)
    def joined(x, start):
        return dy2st.grad(x * x, x, grad_outputs=start)[0]

    x, start = randn(2, 3), randn(1, 3)
    x.stop_gradient = False
    with pytest.raises(ValueError):
        joined(x, start)
    assert every.count == 1


def test_training_goes_on_as_it_would(every):
    def losses():
        dy2st.seed(4)
        net = nn.Linear(4, 2)
        optimizer = dy2st.optimizer.Momentum(parameters=net.parameters())

        @dy2st.to_static
        def step(x):
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        return [float(step(dy2st.to_tensor(X))) for _ in range(4)]

    compared = losses()
    assert every.count == 4
    every.end()
    assert losses() == compared


def test_conversion_can_be_switched_off_and_on_again(every):
    double = dy2st.to_static(lambda x: x * 2.0)
    enable_to_static(False)
    double(dy2st.ones([1]))
    assert every.count == 0
    enable_to_static(True)
    double(dy2st.ones([1]))
    assert every.count == 1


def test_the_environment_begins_it(tmp_path):
    file = tmp_path / "suite.py"
    file.write_text(
        "import dy2st\n"
        "@dy2st.to_static\n"
        "def double(x):\n"
        "    return x * 2.0\n"
        "double(dy2st.ones([2]))\n"
    )
    done = subprocess.run(
        [sys.executable, str(file)],
        env={**__import__("os").environ, "DY2ST_COMPARE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == "DY2ST_COMPARE: 1 call compared\n"


def test_a_kernel_is_as_it_was():
    kernel = lookup("tanh").kernel
    dy2st.compare(lambda x: x.tanh(), dy2st.to_tensor(X), gradients=True)
    assert lookup("tanh").kernel is kernel
