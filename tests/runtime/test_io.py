"""Saved models: what is loaded computes what was saved; damaged files are refused by name."""

import os
import random
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import dy2st_runtime
from dy2st_runtime import io
from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import (
    ArgumentError,
    FormatError,
    ParameterMismatch,
    SpecError,
    VerifyError,
)
from dy2st_runtime.ir import F, Output, Program, TensorType, Tracer
from dy2st_runtime.tensor import EagerTensor, to_tensor
from dy2st_runtime.tensor_file import read_arrays, write_arrays
from tests.effort import effort

OLD_FILES = Path(__file__).parent.parent / "data" / "saved"


def make_program(name, function, inputs, parameters=(), buffers=()):
    """The Program of `function(*inputs, *parameters, *buffers)`; it yields outputs, then updates."""
    program = Program(name)
    groups = [(program.parameters, parameters), (program.buffers, buffers)]
    for key, shape in inputs:
        type = TensorType("float32", shape)
        program.inputs.append(program.block.add_parameter(type, key))
    for known, entries in groups:
        for key, shape in entries:
            known[key] = program.block.add_parameter(TensorType("float32", shape), key)
    program.trainable = dict.fromkeys(program.parameters, True)
    program.updates = list(program.buffers)
    with Tracer(program).tracing():
        program.block.yields = list(function(*program.block.parameters))
    return program


@pytest.fixture
def model():
    """forward: {"y": x @ w + count, "more": [x.shape[0], "text"]} and count + 1; encode: relu(x @ w)."""
    n = symbol("n")

    def forward(x, w, count):
        return F.add(F.matmul(x, w), count), F.add(n, 0), F.add(count, 1.0)

    programs = {
        "forward": make_program(
            "anything", forward, [("x", (n, 2))], [("fc.w", (2, 3))], [("count", ())]
        ),
        "encode": make_program(
            "encode", lambda x, w: [F.relu(F.matmul(x, w))], [("x", (n, 2))], [("fc.w", (2, 3))]
        ),
    }
    programs["forward"].structure = {"y": Output(0), "more": [Output(1, True), "text"]}
    programs["encode"].structure = Output(0)
    state = {
        "fc.w": np.arange(6, dtype="float32").reshape(2, 3) - 2,
        "count": np.zeros((), "float32"),
    }
    return programs, state


@pytest.fixture
def path(tmp_path, model):
    path = tmp_path / "folder" / "model.v1"
    io.save_programs(path, *model)
    return path


X = np.array([[1, 2], [3, -4]], "float32")


# -- calling ----------------------------------------------------------------------------------


def test_a_loaded_model_computes_what_was_saved(path, model):
    loaded = dy2st_runtime.load(path)
    result = loaded(X)
    np.testing.assert_array_equal(result["y"].numpy(), X @ model[1]["fc.w"])
    assert result["more"] == [2, "text"]
    assert isinstance(result["y"], EagerTensor)


def test_other_methods_are_attributes(path, model):
    loaded = io.load(path)
    expected = np.maximum(X @ model[1]["fc.w"], 0)
    np.testing.assert_array_equal(loaded.encode(X).numpy(), expected)
    np.testing.assert_array_equal(loaded.forward(X)["y"].numpy(), X @ model[1]["fc.w"])
    assert sorted(loaded.programs) == ["encode", "forward"]
    with pytest.raises(AttributeError, match="has the methods forward, encode, no 'decode'"):
        loaded.decode(X)


def test_buffers_are_updated_from_call_to_call(path):
    loaded = io.load(path)
    first, second = loaded(X)["y"].numpy(), loaded(X)["y"].numpy()
    np.testing.assert_array_equal(second, first + 1)
    assert loaded.state_dict()["count"].item() == 2
    assert io.load(path).state_dict()["count"].item() == 0


def test_inputs_are_tensors_or_arrays_by_position_name_or_in_containers(path):
    loaded = io.load(path)
    expected = loaded.encode(X).numpy()
    for result in (
        loaded.encode(to_tensor(X)),
        loaded.encode(x=X),
        loaded.encode([X]),
        loaded.encode({"whatever": (to_tensor(X),)}),
    ):
        np.testing.assert_array_equal(result.numpy(), expected)


def test_python_numbers_take_the_dtype_of_the_input(tmp_path):
    program = make_program("f", lambda a, b: [F.add(a, b)], [("a", ()), ("b", ())])
    program.structure = Output(0)
    io.save_programs(tmp_path / "f", {"f": program}, {})
    result = io.load(tmp_path / "f")(1, b=2.5)
    assert (result.dtype, result.item()) == (np.float32, 3.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m(), "`x` is missing"),
        (lambda m: m(X, X), "takes 1 tensor, not 2"),
        (lambda m: m(X, x=X), "`x` is no input, or is given twice"),
        (lambda m: m(y=X), "`y` is no input"),
        (lambda m: m("x"), "`x` is a tensor or array, not str"),
        (lambda m: m(X.astype("float64")), "`x` has dtype float64"),
        (lambda m: m(X[0]), "`x` has the shape"),
        (lambda m: m(X.T[:1].T), "argument `x`, axis 1: 1"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(path, call, message):
    with pytest.raises(SpecError, match=message):
        call(io.load(path))


def test_a_loaded_model_can_be_trained_on(path):
    loaded = io.load(path)
    (weight,) = loaded.parameters()
    assert weight.stop_gradient
    loaded.encode(X)
    weight.trainable = True
    loaded.encode(X).sum().backward()
    expected = X.T @ (X @ weight.numpy() > 0).astype("float32")
    np.testing.assert_array_equal(weight.grad.numpy(), expected)


def test_gradients_reach_the_inputs(path):
    loaded = io.load(path)
    x = to_tensor(X, stop_gradient=False)
    loaded(x)["y"].sum().backward()
    expected = np.broadcast_to(loaded.parameters()[0].numpy().sum(1), X.shape)
    np.testing.assert_array_equal(x.grad.numpy(), expected)
    assert loaded.state_dict()["count"].item() == 1


def test_repr_names_methods_and_their_inputs(path):
    assert repr(io.load(path)) == (
        "LoadedModel(forward(x: float32[n, 2]); encode(x: float32[n, 2]))"
    )


# -- the files --------------------------------------------------------------------------------


def test_a_model_without_parameters_has_both_files(tmp_path):
    program = make_program("f", lambda a: [F.exp(a)], [("a", (2,))])
    program.structure = (Output(0),)
    io.save_programs(tmp_path / "f", {"f": program}, {})
    assert sorted(os.listdir(tmp_path)) == ["f.mlir", "f.safetensors"]
    assert io.load(tmp_path / "f")(np.zeros(2, "float32"))[0].tolist() == [1, 1]


def test_saving_again_gives_the_same_bytes_and_leaves_nothing_behind(path, model, tmp_path):
    io.save_programs(tmp_path / "again", *model)
    loaded = io.load(path)
    arrays = {name: tensor.array for name, tensor in loaded.state_dict().items()}
    io.save_programs(tmp_path / "loaded", loaded.programs, arrays)
    for ending in (".mlir", ".safetensors"):
        content = (tmp_path / f"again{ending}").read_bytes()
        assert content == Path(f"{path}{ending}").read_bytes()
        assert content == (tmp_path / f"loaded{ending}").read_bytes()
    assert len(os.listdir(tmp_path)) == 5
    assert str(tmp_path).encode() not in content


def test_the_files_do_not_depend_on_the_hash_seed(tmp_path):
    code = """
        import sys, numpy
        from dy2st_runtime import io
        from dy2st_runtime.ir import F, Program, TensorType, Tracer
        program, state = Program(), {}
        for name in ("a", "b", "c", "d"):
            program.parameters[name] = program.block.add_parameter(TensorType("int8", (2,)), name)
            state[name] = numpy.ones(2, "int8")
        with Tracer(program).tracing():
            program.block.yields = [F.concat(list(program.parameters.values()))]
        io.save_programs(sys.argv[1], {"f": program}, state)
    """
    contents = set()
    for seed in ("0", "1", "2"):
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / seed)],
            env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": seed},
            check=True,
        )
        files = (tmp_path / f"{seed}.mlir", tmp_path / f"{seed}.safetensors")
        contents.add(tuple(file.read_bytes() for file in files))
    assert len(contents) == 1


def test_a_broken_program_is_not_saved(tmp_path, model):
    programs, state = model
    programs["forward"].structure = Output(7)
    with pytest.raises(VerifyError, match="none with index 7"):
        io.save_programs(tmp_path / "f", programs, state)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("path", ["", "folder/"])
def test_a_path_without_a_name_is_refused(path):
    with pytest.raises(ArgumentError, match="named like folder/name"):
        io.save_programs(path, {}, {})


def test_the_state_to_save_is_that_of_the_programs(tmp_path, model):
    programs, state = model
    with pytest.raises(ParameterMismatch, match=r"missing: fc\.w"):
        io.save_programs(tmp_path / "f", programs, {"count": state["count"]})
    assert os.listdir(tmp_path) == []


# -- damaged files ----------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".mlir", ".safetensors"])
def test_a_model_that_is_named_by_one_of_its_files_is_told_its_name(path, ending):
    path.with_suffix(".mlir").touch()
    with pytest.raises(FileNotFoundError, match=rf"did you mean {re.escape(str(path))}\?$"):
        dy2st_runtime.load(f"{path}{ending}")


@pytest.mark.parametrize("ending", [".mlir", ".safetensors"])
def test_a_missing_file_is_named_with_the_other(path, ending):
    os.remove(f"{path}{ending}")
    with pytest.raises(FileNotFoundError) as caught:
        io.load(path)
    assert f"there is no {path}{ending}" in str(caught.value)
    assert f"{path}.mlir and {path}.safetensors" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[: len(text) // 2], "is damaged, or was not written by dy2st"),
        (lambda text: "# Name\n", "is damaged, or was not written by dy2st"),
        (
            lambda text: text.replace("dy2st.matmul", "dy2st.mutmal"),
            "there is no operator `mutmal`",
        ),
        (lambda text: text.replace("format = 2", "format = 9"), "written by a newer dy2st"),
        (lambda text: text.replace("?x3xf32", "?x4xf32"), "results are typed by rule"),
        (lambda text: text.replace('"encode"', '"forward"'), "two of one name: forward, forward"),
    ],
)
def test_a_damaged_text_is_refused(path, change, message):
    file = Path(f"{path}.mlir")
    file.write_text(change(file.read_text()))
    with pytest.raises(FormatError, match=message) as caught:
        io.load(path)
    assert str(caught.value).startswith(str(file))


def test_a_text_that_is_none_is_refused(path):
    Path(f"{path}.mlir").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormatError, match="is no text"):
        io.load(path)


def test_a_file_without_programs_is_refused(tmp_path):
    io.save_programs(tmp_path / "f", {}, {})
    with pytest.raises(FormatError, match="has no Program"):
        io.load(tmp_path / "f")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays: arrays.pop("fc.w"), r"missing: fc\.w"),
        (lambda arrays: arrays.update(extra=np.ones(1)), "not in the Program: extra"),
        (lambda arrays: arrays.update(count=np.ones(())), "'count' has dtype float64"),
        (lambda arrays: arrays.update(count=np.ones(1, "f4")), r"'count' .* shape \[1\]"),
    ],
)
def test_files_that_do_not_belong_together_are_refused(path, change, message):
    file = Path(f"{path}.safetensors")
    arrays = read_arrays(file)
    change(arrays)
    write_arrays(file, arrays)
    with pytest.raises(ParameterMismatch, match=message):
        io.load(path)


def test_mutated_files_are_refused_or_loaded_but_never_crash(path):
    file = Path(f"{path}.mlir")
    content, source = file.read_bytes(), random.Random(0)
    for _ in range(effort(100, 300)):
        changed = bytearray(content)
        changed[source.randrange(len(content))] = source.choice(b'<>{}[]()",:=%x019 \n\\\xff')
        file.write_bytes(changed)
        try:
            io.load(path)
        except FormatError as error:
            assert str(error).startswith((str(file), str(path)))


# -- old files --------------------------------------------------------------------------------


@pytest.mark.parametrize("file", sorted(OLD_FILES.glob("v*/*.mlir")), ids=lambda f: f.parent.name)
def test_models_saved_by_older_versions_still_give_the_same_results(file):
    loaded = io.load(file.with_suffix(""))
    recorded = read_arrays(file.parent / "calls" / f"{file.stem}.safetensors")
    for call in range(len([name for name in recorded if name.startswith("x")])):
        result = loaded(recorded[f"x{call}"], recorded[f"mask{call}"])
        np.testing.assert_allclose(result["scores"].numpy(), recorded[f"scores{call}"], rtol=1e-6)
        assert result["turns"] == recorded[f"turns{call}"].item()


def test_there_are_old_files():
    assert sorted(OLD_FILES.glob("v1/*.mlir"))
