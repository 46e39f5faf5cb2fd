"""`dy2st.profile`: the parts of a call, by line, Layer and operator, on every engine."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.diagnostics.profile_report import BETWEEN
from dy2st.passes import Module
from dy2st_runtime import engine as engines
from dy2st_runtime.engine import COMPILED
from dy2st_runtime.errors import ArgumentError, FileAccessError
from dy2st_runtime.ir import dispatch

ENGINES = [name for name in ("numpy", "native", "onnxruntime", "xla") if engines.is_installed(name)]


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 128)
        self.rest = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 8))

    def forward(self, x):
        h = self.first(x).tanh()
        return self.rest(h)


def powers(x):
    while x.sum() < 1e6:
        x = x @ x
    return x.sort(axis=0)


def attention(q, k, v):
    scores = q @ k.transpose([0, 2, 1]) / 8.0
    return nn.functional.softmax(scores, axis=-1) @ v


def image(x, w):
    y = nn.functional.conv2d(x, w, padding=1)
    return nn.functional.max_pool2d(nn.functional.relu(y), 2)


def recurrent(xs, w):
    h = xs[0]
    for x in xs:
        h = (h @ w + x).tanh()
    return h


PROGRAMS = {
    "net": (Net(), lambda: [dy2st.randn([64, 64])]),
    "powers": (powers, lambda: [dy2st.ones([96, 96])]),
    "attention": (attention, lambda: [dy2st.randn([4, 64, 64])] * 3),
    "image": (image, lambda: [dy2st.randn([2, 8, 24, 24]), dy2st.randn([8, 8, 3, 3])]),
    "recurrent": (recurrent, lambda: [dy2st.randn([12, 32, 64]), dy2st.randn([64, 64])]),
}


def summed(parts):
    return sum(part.seconds for part in parts)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("engine", [None, *ENGINES])
def test_the_parts_add_up_to_the_call(name, engine):
    subject, arguments = PROGRAMS[name]
    # A share of one call, and no time; of a machine that others use it is the best of some.
    for _ in range(8):
        found = dy2st.profile(subject, *arguments(), engine=engine, repeat=5)
        apart = [
            abs(summed(parts) / found.seconds - 1)
            for parts in (found.by_line, found.by_layer, found.by_operator)
        ]
        if max(apart) < 0.05:
            break
    assert max(apart) < 0.05
    assert found.engines == [engine or "eager"]


@pytest.mark.parametrize("engine", [None, "numpy"])
def test_every_operator_is_a_row_that_says_how_often_it_ran(engine):
    found = dy2st.profile(recurrent, dy2st.randn([5, 3, 4]), dy2st.randn([4, 4]), engine=engine)
    calls = {part.name: part.calls for part in found.by_operator}
    assert calls["matmul"] == calls["add"] == calls["tanh"] == 5
    assert BETWEEN in calls


@pytest.mark.parametrize("engine", [None, *(name for name in ENGINES if name != "xla")])
def test_lines_are_the_users_with_their_text(engine):
    found = dy2st.profile(Net(), dy2st.randn([8, 64]), engine=engine)
    texts = {part.text for part in found.by_line}
    assert {"h = self.first(x).tanh()", "return self.rest(h)"} <= texts


@pytest.mark.parametrize("engine", [None, "numpy"])
def test_operators_are_shown_by_the_path_of_their_layer(engine):
    found = dy2st.profile(Net(), dy2st.randn([8, 64]), engine=engine)
    assert {"first", "rest.0", "rest.1", "rest.2"} <= {part.name for part in found.by_layer}


def test_several_layers_that_a_function_reads_are_told_apart_by_their_variables():
    one, other = nn.Linear(4, 4), nn.Linear(4, 4)
    found = dy2st.profile(lambda x: other(one(x)), dy2st.ones([2, 4]))
    assert {"one", "other"} <= {part.name for part in found.by_layer}


def step_of(engine):
    net = dy2st.to_static(Net(), engine=engine) if engine else Net()
    optimizer = dy2st.optimizer.Adam(parameters=net.parameters())

    def step(x, y):
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return net, step


@pytest.mark.parametrize("engine", [None, "numpy", *(["native"] if "native" in ENGINES else [])])
def test_a_step_of_training_is_measured_forth_and_back(engine):
    net, step = step_of(engine)
    before = net.first.weight.numpy().copy()
    found = dy2st.profile(step, dy2st.randn([32, 64]), dy2st.randn([32, 8]), repeat=3)
    texts = {part.text for part in found.by_line}
    assert {"optimizer.step()", "loss.backward()", "return self.rest(h)"} <= texts
    assert set(found.engines) == {"eager", *filter(None, [engine])}
    assert not np.array_equal(net.first.weight.numpy(), before)


def test_a_converted_step_of_training_is_measured():
    _, step = step_of(None)
    found = dy2st.profile(
        dy2st.to_static(step), dy2st.randn([8, 64]), dy2st.randn([8, 8]), repeat=2
    )
    assert "optimizer.step()" in {part.text for part in found.by_line}


def test_the_gradient_of_an_operator_is_named():
    x = dy2st.ones([3], "float32")
    x.stop_gradient = False
    found = dy2st.profile(lambda: x.tanh().sum().backward())
    assert any("of the gradient of tanh" in part.name for part in found.by_operator)


@pytest.mark.parametrize("engine", [None, "numpy"])
def test_memory_is_what_arrays_take_over_time(engine):
    def big(x):
        y = (x + 1).exp()
        return y.sum()

    found = dy2st.profile(big, dy2st.zeros([500, 500]), engine=engine, repeat=1)
    assert 10**6 <= found.peak <= 4.5 * 10**6
    assert max(held for _, held in found.memory) <= found.peak
    assert found.memory[0][1] >= 10**6  # after x + 1


def test_operators_of_a_program_have_their_seconds():
    converted = dy2st.to_static(Net())
    with dy2st.no_grad():
        found = dy2st.profile(converted, dy2st.randn([8, 64]))
    operators = found.of_operators()
    program = converted.forward.main_program
    assert {one.name for one in operators} >= {"matmul", "add", "tanh", "relu"}
    assert set(operators) <= set(program.block.walk())
    assert found.programs == [program]


def test_a_program_a_module_a_model_and_a_path_are_profiled(tmp_path):
    @dy2st.to_static(input_spec=[dy2st.static.InputSpec(["n", 3])])
    def scaled(x):
        return x * 2.0

    x = dy2st.ones([4, 3])
    dy2st.jit.save(scaled, str(tmp_path / "scaled"))
    program = scaled.main_program
    model = dy2st.jit.load(str(tmp_path / "scaled"))
    for subject in (program, Module({"f": program}, {}), model, tmp_path / "scaled"):
        found = dy2st.profile(subject, x, repeat=1)
        assert "multiply" in {part.name for part in found.by_operator}
    found = dy2st.profile(model, x, repeat=1, engine="numpy")
    assert found.engines == ["numpy"]


def test_what_cannot_be_profiled_is_refused():
    with pytest.raises(ArgumentError, match="a function, a Layer, a Program"):
        dy2st.profile(3)
    with pytest.raises(ArgumentError, match="at least 1"):
        dy2st.profile(powers, dy2st.ones([2, 2]), repeat=0)
    net = dy2st.to_static(Net(), input_spec=[dy2st.static.InputSpec([None, 64])])
    with pytest.raises(ArgumentError, match=r"first.weight.*are not known"):
        dy2st.profile(net.forward.main_program, dy2st.ones([1, 64]))


def test_all_is_as_it_was_behind_it():
    converted = dy2st.to_static(powers)
    x = dy2st.ones([8, 8])
    dy2st.profile(converted, x, repeat=1)
    held = list(dispatch._eager)
    executable = converted.concrete_program.executable
    assert executable in COMPILED.now()
    assert not {"run", "entry"} & set(vars(executable))
    assert not executable.spans()
    converted(x)
    assert not executable.spans()

    def fails(x):
        raise KeyError("no")

    with pytest.raises(KeyError):
        dy2st.profile(fails, x)
    assert dispatch._eager == held


def test_a_table_shows_time_share_calls_and_line():
    text = str(dy2st.profile(Net(), dy2st.randn([8, 64]), repeat=2))
    head, *tables = text.split("\n\n")
    # On a busy machine it says beside "eager" by what the times are scaled.
    assert all(
        part in head for part in ("Net", "a call, the fastest of 2; ran: eager", "memory at")
    )
    assert [table.split()[:4] for table in tables] == [
        ["time", "share", "calls", name] for name in ("line", "layer", "operator")
    ]
    assert "test_profile.py:" in tables[0] and "h = self.first(x).tanh()" in tables[0]


def test_a_trace_file_holds_every_step_in_microseconds(tmp_path):
    found = dy2st.profile(Net(), dy2st.randn([8, 64]), repeat=1)
    found.save(tmp_path / "trace.json")
    entries = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    steps = [entry for entry in entries if entry["ph"] == "X"]
    assert len(steps) == len(found.events)
    assert all(entry["dur"] >= 0 and entry["ts"] >= 0 for entry in steps)
    shown = next(entry for entry in steps if entry["name"] == "tanh")
    assert shown["args"]["text"] == "h = self.first(x).tanh()"
    assert [entry for entry in entries if entry["ph"] == "C"][0]["args"]["bytes"] >= 0
    with pytest.raises(FileAccessError):
        found.save(tmp_path / "no folder" / "trace.json")


def test_a_page_stands_alone_and_shows_the_lines_as_text(tmp_path):
    def compared(x):
        return x.exp() + (x < 3).astype("float32")

    found = dy2st.profile(compared, dy2st.ones([300, 300]), repeat=1)
    found.page(tmp_path / "page.html")
    text = Path(tmp_path / "page.html").read_text()
    assert "(x &lt; 3)" in text and "<polyline" in text
    assert "http" not in text
    assert found._repr_html_() in text


def test_what_an_engine_does_not_say_is_one_row_that_says_so():
    def scaled(x):
        return x * 2.0

    class Silent(engines.Runner):
        def compute(self, inputs, state):
            return [inputs[0] * 2.0]

    known = dict(engines.ENGINES)
    engines.register_engine("silent", Silent)
    try:
        found = dy2st.profile(scaled, dy2st.ones([3]), engine="silent")
    finally:
        engines.ENGINES.clear()
        engines.ENGINES.update(known)
    assert any("of which Silent says no more" in part.name for part in found.by_operator)


def test_what_an_operator_is_made_of_counts_for_it():
    def halved(x):
        return dy2st.logaddexp(x, x).sort()

    converted = dy2st.to_static(halved)
    found = dy2st.profile(converted, dy2st.ones([40, 40]), engine="numpy", repeat=1)
    known = {id(one) for one in found.of_operators()}
    blocks = {id(one.block.program) for one in found.of_operators()}
    assert known and len(blocks) == 1


def test_what_is_switched_off_is_profiled_as_python():
    converted = dy2st.to_static(powers)
    dy2st.jit.enable_to_static(False)
    try:
        found = dy2st.profile(converted, dy2st.ones([4, 4]), repeat=1)
    finally:
        dy2st.jit.enable_to_static(True)
    assert found.engines == ["eager"]
