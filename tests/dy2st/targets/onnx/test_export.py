"""What `dy2st.onnx.export` writes: run by onnxruntime, it is the Program, for every size."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st.errors import ArgumentError, ConversionError, EngineError
from dy2st.static import InputSpec

onnx = pytest.importorskip("onnx", reason="ONNX needs onnx: pip install 'dy2st[onnx]'")
onnxruntime = pytest.importorskip("onnxruntime", reason="ONNX needs the extra onnx")

from dy2st.cli import main  # noqa: E402
from dy2st_runtime.engine.onnx import table  # noqa: E402
from dy2st_runtime.engine.onnx.model import newest_opset  # noqa: E402


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def spec(*shape, dtype="float32", name="x"):
    return InputSpec(list(shape), dtype, name)


def exported(function, path, *specs, **options):
    """The files, and the session of the first."""
    files = dy2st.onnx.export(function, str(path / "net"), list(specs), **options)
    return files, session(files[0])


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 4)

    def forward(self, x):
        steps = dy2st.zeros([], "int64")
        while x.abs().sum() > 1.0 and steps < 5:
            x = dy2st.tanh(self.last(self.norm(self.first(x)))) * 0.5
            steps += 1
        if x.sum() > 0:
            x = x - x.mean(axis=0)
        rows = []
        for row in x:
            if row.sum() > 0:
                rows.append(row)
        return {"scores": nn.functional.softmax(x, axis=-1), "steps": steps, "rows": rows}


def test_branches_loops_and_lists_run_for_every_size(tmp_path):
    dy2st.seed(0)
    net = Net()
    files, run = exported(net, tmp_path, spec("batch", 4))
    assert files == [str(tmp_path / "net.onnx")]
    assert [one.name for one in run.get_outputs()] == ["scores", "steps", "rows"]
    assert run.get_inputs()[0].shape == ["batch", 4]
    for seed, size in enumerate((1, 2, 7, 0)):
        x = np.random.default_rng(seed).standard_normal((size, 4)).astype("float32")
        scores, steps, rows = run.run(None, {"x": x})
        wanted = net(dy2st.to_tensor(x))
        np.testing.assert_allclose(scores, wanted["scores"].numpy(), 1e-5, 1e-6)
        assert steps == wanted["steps"].item() and len(rows) == len(wanted["rows"])


def test_parameters_keep_their_names_and_operators_say_where_they_come_from(tmp_path):
    files, _ = exported(Net(), tmp_path, spec("batch", 4))
    model = onnx.load(files[0])
    assert {one.name for one in model.graph.initializer} >= {"first.weight", "norm.bias"}
    assert (model.ir_version, model.opset_import[0].version) == (10, 20)
    said = [node.doc_string for node in model.graph.node]
    assert any(text.startswith("while test_export.py:") for text in said)
    facts = {one.key: one.value for one in model.metadata_props}
    assert json.loads(facts["dy2st.trainable"])[0] == "first.weight"


def test_operators_say_which_layer_they_come_from(tmp_path):
    files, _ = exported(nn.Sequential(nn.Linear(4, 3), nn.ReLU()), tmp_path, spec("batch", 4))
    said = [node.doc_string for node in onnx.load(files[0]).graph.node]
    assert [text.rpartition(" in ")[2] for text in said] == ["0", "0", "1"]


def test_what_is_read_back_trains_the_parameters_and_no_constant(tmp_path):
    net = Net()
    exported(net, tmp_path, spec("batch", 4))
    again = dy2st.onnx.load(str(tmp_path / "net.onnx"))
    assert {n for n, _ in again.named_parameters()} == {n for n, _ in net.named_parameters()}


def test_the_same_model_gives_the_same_bytes_and_no_path_of_the_machine(tmp_path):
    dy2st.seed(0)
    net = Net()
    first = dy2st.onnx.export(net, tmp_path / "a", [spec("batch", 4)])[0]
    second = dy2st.onnx.export(net, tmp_path / "b", [spec("batch", 4)])[0]
    with open(first, "rb") as one, open(second, "rb") as other:
        data = one.read()
        assert data == other.read()
    folder = __file__.rpartition("/")[0]
    assert folder.encode() not in data


def of_many_operators(x, image):
    a = nn.functional.max_pool2d(image, 2).mean(axis=[2, 3])
    b = nn.functional.layer_norm(x, [6]).clip(-1, 1).cumsum(axis=1)
    c = nn.functional.gelu(x).split(2, axis=1)[0].max(axis=1)
    x = x.clone()
    x[:, 1] = 0.0
    return a, b, c, x.argsort(axis=1), dy2st.tril(x), x.prod(axis=1)


@pytest.mark.parametrize("opset", sorted({13, 14, 15, 16, 17, 18, 19, 21, 22, newest_opset()}))
def test_a_version_of_the_operators_is_chosen(tmp_path, opset):
    specs = [spec("n", 6), spec("n", 3, 8, 8, name="image")]
    files = dy2st.onnx.export(of_many_operators, tmp_path / "net", specs, opset_version=opset)
    assert onnx.load(files[0]).opset_import[0].version == opset


def test_versions_that_are_not_written_are_refused(tmp_path):
    for opset in (9, newest_opset() + 1, "20", True):
        with pytest.raises(ArgumentError, match="opset_version is"):
            dy2st.onnx.export(Net(), tmp_path / "net", [spec("n", 4)], opset_version=opset)


def test_sizes_are_computed_when_the_model_runs(tmp_path):
    def function(x, y):
        n, m = x.shape[0], y.shape[0]
        wide = dy2st.concat([x, y]).reshape([-1, 2])
        cut = wide[n // 2 : n + m - 1 : 2]
        return cut, dy2st.zeros([n * m, max(n, 3)]), dy2st.arange(n) * m, wide[::-1]

    _, run = exported(function, tmp_path, spec("n", 2), spec("m", 2, name="y"))
    for n, m in ((1, 1), (3, 5), (8, 2)):
        x, y = np.ones((n, 2), "float32"), np.zeros((m, 2), "float32")
        found = run.run(None, {"x": x, "y": y})
        wanted = function(dy2st.to_tensor(x), dy2st.to_tensor(y))
        for have, want in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(have, want.numpy())


def test_what_python_raises_makes_the_model_fail(tmp_path):
    def function(x, i):
        assert x.sum() > 0, "the sum"
        if x.max() > 10:
            raise ValueError("too large")
        return x[i] // 1

    _, run = exported(function, tmp_path, spec("n"), spec(dtype="int64", name="i"))
    x = np.ones(3, "float32")
    assert run.run(None, {"x": x, "i": np.asarray(-1)})[0] == 1
    for bad, place in ((-x, 0), (x * 20, 0), (x, 3)):
        with pytest.raises(Exception, match="out of data bounds|out of bounds"):
            run.run(None, {"x": bad, "i": np.asarray(place)})


def test_without_checks_a_model_gives_something_where_python_raises(tmp_path):
    def function(x):
        assert x.sum() > 0
        return x * 2

    _, run = exported(function, tmp_path, spec("n"), checks=False)
    assert run.run(None, {"x": -np.ones(2, "float32")})[0].tolist() == [-2, -2]


def test_all_operators_that_onnx_lacks_are_named_with_their_lines(tmp_path):
    def function(x):
        y = dy2st.linalg.inv(x)
        return dy2st.linalg.cholesky(y), dy2st.i0(x)

    with pytest.raises(ArgumentError) as caught:
        dy2st.onnx.export(function, tmp_path / "net", [spec("n", "n")])
    lines = str(caught.value).splitlines()
    assert [line.split(":")[0].strip() for line in lines[1:]] == ["inverse", "cholesky", "i0"]
    assert "test_export.py" in lines[1] and "dy2st.linalg.inv(x)" in lines[1]
    assert not list(tmp_path.iterdir())


def test_a_model_that_computes_something_else_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setitem(table.WRITERS, "tanh", lambda g, x: g.op("Sin", x, shape=x.shape))

    def function(x):
        y = x + 1
        return dy2st.tanh(y) * 2

    with pytest.raises(EngineError) as caught:
        dy2st.onnx.export(function, tmp_path / "net", [spec("n", 3)])
    said = str(caught.value)
    assert "the first operator that differs is tanh" in said and "test_export.py:" in said
    assert "n = 1" in said and not list(tmp_path.iterdir())
    dy2st.onnx.export(function, tmp_path / "net", [spec("n", 3)], verify=False)
    assert (tmp_path / "net.onnx").exists()


def test_inputs_for_the_check_can_be_given(tmp_path):
    def function(x):
        if x.sum() < 1000:
            raise ValueError("too small")
        return x * 2

    with pytest.raises(ArgumentError, match="give some as verify"):
        dy2st.onnx.export(function, tmp_path / "net", [spec(3)])
    large = np.full(3, 1000, "float32")
    dy2st.onnx.export(function, tmp_path / "net", [spec(3)], verify=[[large]])


def test_parameters_in_a_file_of_their_own(tmp_path):
    dy2st.seed(0)
    net = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 3))
    files, run = exported(net, tmp_path, spec("n", 64), external_data=True)
    assert files == [str(tmp_path / "net.onnx"), str(tmp_path / "net.onnx.data")]
    onnx.checker.check_model(files[0], full_check=True)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["net.onnx", "net.onnx.data"]
    assert (tmp_path / "net.onnx").stat().st_size < 4000
    x = np.random.default_rng(0).standard_normal((5, 64)).astype("float32")
    wanted = net(dy2st.to_tensor(x)).numpy()
    np.testing.assert_allclose(run.run(None, {"x": x})[0], wanted, 1e-5, 1e-5)


def test_a_step_of_training_runs_in_onnxruntime(tmp_path):
    dy2st.seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1D(8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = dy2st.optimizer.Adam(0.01, parameters=net.parameters())

    @to_static
    def step(x, y):
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((5, 4)).astype("float32"), np.arange(5) % 3
    step(dy2st.to_tensor(x), dy2st.to_tensor(y))
    with pytest.warns(UserWarning, match="leaves a gradient in its argument"):
        _, run = exported(step, tmp_path, spec("n", 4), spec("n", dtype="int64", name="y"))
    names, state = [one.name for one in run.get_outputs()], {}
    for _ in range(4):
        loss, *new = run.run(None, {"x": x, "y": y, **state})
        state = {name.removesuffix(".new"): one for name, one in zip(names[1:], new)}
        np.testing.assert_allclose(loss, step(dy2st.to_tensor(x), dy2st.to_tensor(y)), 1e-4)


def test_a_gradient_is_a_program_too(tmp_path):
    def slope(x):
        x.stop_gradient = False
        y = dy2st.zeros([])
        while (x * x).sum() > 1.0 + y:
            y = y + (x * x).sum() / 2
        return dy2st.grad(y, [x])[0]

    _, run = exported(slope, tmp_path, spec("n"))
    x = np.asarray([1.0, 2.0, -1.0], "float32")
    np.testing.assert_allclose(run.run(None, {"x": x})[0], slope(dy2st.to_tensor(x)), 1e-5)


def test_random_numbers_have_the_same_distribution(tmp_path):
    def function(x):
        return nn.functional.dropout(x, 0.25), dy2st.randint(2, 5, [1000])

    _, run = exported(function, tmp_path, spec("n"))
    dropped, whole = run.run(None, {"x": np.ones(4000, "float32")})
    assert abs((dropped == 0).mean() - 0.25) < 0.05 and set(dropped.tolist()) <= {
        0.0,
        np.float32(4 / 3),
    }
    assert set(whole.tolist()) == {2, 3, 4}


def test_a_print_is_left_out_and_said_so(tmp_path):
    def function(x):
        print("sum", x.sum())
        return x * 2

    files, _ = exported(function, tmp_path, spec(2))
    facts = {one.key: one.value for one in onnx.load(files[0]).metadata_props}
    assert "test_export.py" in facts["dy2st.left_out"]


def test_loaded_models_programs_and_layers_are_exported(tmp_path):
    dy2st.seed(0)
    net = nn.Linear(3, 2)
    dy2st.jit.save(net, str(tmp_path / "saved"), [spec("n", 3)])
    loaded = dy2st.jit.load(str(tmp_path / "saved"))
    files = dy2st.onnx.export(loaded, str(tmp_path / "loaded.onnx"))
    static = to_static(net, [spec("n", 3)])
    program = static.forward.main_program
    bare = dy2st.onnx.export(program, str(tmp_path / "bare"))
    assert [one.name for one in session(bare[0]).get_inputs()] == ["x", "weight", "bias"]
    x = np.ones((2, 3), "float32")
    wanted = net(dy2st.to_tensor(x)).numpy()
    np.testing.assert_allclose(session(files[0]).run(None, {"x": x})[0], wanted, 1e-5, 1e-6)


def test_the_command_writes_a_saved_model(tmp_path, capsys):
    dy2st.jit.save(nn.Linear(3, 2), str(tmp_path / "net"), [spec("n", 3)])
    command = ["export", str(tmp_path / "net"), "--onnx", "-o", str(tmp_path / "out")]
    assert main([*command, "--opset", "17"]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "out" / "net.onnx")
    assert onnx.load(str(tmp_path / "out" / "net.onnx")).opset_import[0].version == 17
    assert main([*command, "--opset", "9"]) == 2
    assert "opset_version" in capsys.readouterr().err


def test_the_order_and_the_options_of_torch_are_refused_with_the_way_to_write_them():
    net, x = nn.Linear(3, 2), dy2st.ones([1, 3])
    with pytest.raises(TypeError, match=r"not to a Tensor: write export\(layer, path, input_spec="):
        dy2st.onnx.export(net, x, "net.onnx")
    with pytest.raises(TypeError, match=r"'dynamic_axes': .*InputSpec\(\['batch', 4\], name='x'\)"):
        dy2st.onnx.export(net, "net.onnx", dynamic_axes={"x": {0: "batch"}})


def test_bad_arguments_are_refused(tmp_path):
    net = nn.Linear(3, 2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'opset'"):
        dy2st.onnx.export(net, tmp_path / "net", [spec("n", 3)], opset=20)
    with pytest.raises(ArgumentError, match="named like folder/name"):
        dy2st.onnx.export(net, f"{tmp_path}/", [spec("n", 3)])
    with pytest.raises(ArgumentError, match="no Program 'decode'"):
        dy2st.onnx.export(net, tmp_path / "net", [spec("n", 3)], program="decode")
    with pytest.raises(ArgumentError, match="no outputs"):
        dy2st.onnx.export(lambda x: None, tmp_path / "net", [spec("n", 3)])
    with pytest.raises(ArgumentError, match="has no arrays for bias"):
        static = to_static(net, [spec("n", 3)])
        program = static.forward.main_program
        dy2st.onnx.export(program, tmp_path / "net", state={"weight": np.ones((3, 2), "float32")})


def test_where_the_package_onnx_is_missing_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "onnx", None)  # as where it is not installed
    for step in (newest_opset, lambda: exported(lambda x: x * 2, tmp_path, spec("n"))):
        with pytest.raises(ArgumentError, match=r"pip install 'dy2st\[onnx\]'"):
            step()


class Rows(nn.Layer):
    def __init__(self):
        super().__init__()
        self.rows = []

    def forward(self, x):
        self.rows.append(x)
        return sum(self.rows)


def test_what_a_model_keeps_in_lists_is_refused(tmp_path):
    spec = [InputSpec([3], "float32", "x")]
    with pytest.raises(ConversionError, match="changes it for the next call"):
        dy2st.onnx.export(Rows(), str(tmp_path / "rows"), input_spec=spec)
    dy2st.jit.save(Rows(), str(tmp_path / "rows"), spec)
    with pytest.raises(ArgumentError, match="forward keeps rows from call to call"):
        dy2st.onnx.export(dy2st.jit.load(str(tmp_path / "rows")), str(tmp_path / "rows"))
    assert not list(tmp_path.glob("*.onnx"))
