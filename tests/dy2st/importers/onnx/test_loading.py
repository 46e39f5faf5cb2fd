"""Models of ONNX as Layers: sizes, parameters, files, and what is wrong with a model."""

from __future__ import annotations

import os

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="ONNX needs onnx: pip install 'dy2st[onnx]'")

import dy2st  # noqa: E402
from dy2st.cli import main  # noqa: E402
from dy2st.errors import ArgumentError, Dy2stError, FormatError, MissingFile  # noqa: E402
from dy2st_runtime import io  # noqa: E402
from tests.dy2st.importers.onnx.models import model, node, reference, value  # noqa: E402

RNG = np.random.default_rng(0)
WEIGHT = RNG.standard_normal((6, 6)).astype("float32")


def chained():
    """A shape that is put together of sizes: (batch, length, 6) -> (batch, length * 2, 3)."""
    return model(
        [
            node("MatMul", ["x", "w"], ["a"]),
            node("Shape", ["a"], ["s"]),
            node("Gather", ["s", "zero"], ["batch"]),
            node("Gather", ["s", "one"], ["length"]),
            node("Mul", ["length", "two"], ["twice"]),
            node("Unsqueeze", ["batch", "axis"], ["batch1"]),
            node("Unsqueeze", ["twice", "axis"], ["twice1"]),
            node("Concat", ["batch1", "twice1", "rest"], ["shape"], axis=0),
            node("Reshape", ["a", "shape"], ["y"]),
        ],
        {"x": ["batch", "length", 6]},
        ["y"],
        {
            "w": WEIGHT,
            "zero": np.int64(0),
            "one": np.int64(1),
            "two": np.int64(2),
            "axis": np.array([0]),
            "rest": np.array([-1]),
        },
    )


@pytest.mark.parametrize("batch, length", [(0, 3), (1, 1), (2, 0), (3, 5)])
def test_shapes_that_a_graph_computes_stay_symbolic(batch, length):
    net = dy2st.onnx.load(chained())
    (y,) = net.programs["forward"].outputs
    assert [str(size) for size in y.shape] == ["batch", "2*length", "3"]
    x = RNG.standard_normal((batch, length, 6)).astype("float32")
    if batch and length:
        (wanted,) = reference(chained(), x)
    else:
        wanted = np.zeros((batch, length * 2, 3), "float32")
    np.testing.assert_allclose(net(x).numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_float_initialisers_are_parameters_and_train():
    net = dy2st.onnx.load(chained())
    assert [name for name, _ in net.named_parameters()] == ["w"]
    net.train()
    x = RNG.standard_normal((2, 3, 6)).astype("float32")
    net(x).sum().backward()
    wanted = np.repeat(x.sum((0, 1))[:, None], 6, 1)
    np.testing.assert_allclose(net.w.grad.numpy(), wanted, rtol=1e-5)
    sgd = dy2st.optimizer.SGD(0.1, parameters=net.parameters())
    sgd.step()
    np.testing.assert_allclose(net.w.numpy(), WEIGHT - 0.1 * wanted, rtol=1e-4, atol=1e-5)


def test_statistics_of_batch_normalisation_are_buffers(tmp_path):
    net = dy2st.nn.Sequential(dy2st.nn.Linear(3, 2), dy2st.nn.BatchNorm1D(2))
    net.eval()
    dy2st.onnx.export(net, str(tmp_path / "net"), [dy2st.static.InputSpec(["batch", 3])])
    again = dy2st.onnx.load(str(tmp_path / "net.onnx"))
    assert {n for n, _ in again.named_parameters()} == {n for n, _ in net.named_parameters()}
    assert {n for n, _ in again.named_buffers()} == {n for n, _ in net.named_buffers()}


def test_a_model_is_saved_and_loaded_as_any_other(tmp_path):
    net = dy2st.onnx.load(chained())
    x = RNG.standard_normal((2, 3, 6)).astype("float32")
    net.save(tmp_path / "net")
    np.testing.assert_array_equal(io.load(tmp_path / "net")(x).numpy(), net(x).numpy())


def test_the_command_import_writes_a_saved_model(tmp_path):
    onnx.save(chained(), tmp_path / "net.onnx")
    assert main(["import", str(tmp_path / "net.onnx"), "-o", str(tmp_path / "net")]) == 0
    x = RNG.standard_normal((1, 2, 6)).astype("float32")
    wanted = dy2st.onnx.load(tmp_path / "net.onnx")(x).numpy()
    np.testing.assert_array_equal(io.load(tmp_path / "net")(x).numpy(), wanted)


def test_shapes_of_inputs_may_be_given():
    net = dy2st.onnx.load(
        model([node("Relu", ["x"], ["y"])], [value("x")], ["y"]), shapes={"x": ["n", 2, None]}
    )
    assert repr(net) == "LoadedModel(forward(x: float32[n, 2, x_2]))"
    with pytest.raises(FormatError, match="shapes="):
        dy2st.onnx.load(model([node("Relu", ["x"], ["y"])], [value("x")], ["y"]))


def test_nodes_that_stand_in_no_order_are_brought_into_one():
    nodes = [node("Relu", ["a"], ["y"]), node("Neg", ["b"], ["a"]), node("Abs", ["x"], ["b"])]
    net = dy2st.onnx.load(model(nodes, {"x": [2]}, ["y"]))
    np.testing.assert_array_equal(net(np.array([1.0, -2.0], "float32")).numpy(), [0.0, 0.0])


def test_functions_of_a_model_are_recorded_in_place_of_calls():
    helper = onnx.helper
    function = helper.make_function(
        "own",
        "Twice",
        ["x"],
        ["y"],
        [
            helper.make_node("Constant", [], ["c"]),
            helper.make_node("Mul", ["x", "c"], ["y"]),
        ],
        [helper.make_opsetid("", 20)],
        ["factor"],
    )
    reference = onnx.AttributeProto()
    reference.name, reference.ref_attr_name, reference.type = "value_float", "factor", 1
    function.node[0].attribute.append(reference)
    net = dy2st.onnx.load(
        model(
            [node("Twice", ["x"], ["y"], domain="own", factor=3.0)],
            {"x": [2]},
            ["y"],
            functions=[function],
            opsets=[helper.make_opsetid("own", 1)],
        )
    )
    np.testing.assert_array_equal(net(np.array([1.0, 2.0], "float32")).numpy(), [3.0, 6.0])


# -- weights beside the model -----------------------------------------------------------------


def beside(folder, location="w.bin", offset=0, length=144, dims=(6, 6)):
    """A model whose weight lies in another file."""
    proto = model([node("MatMul", ["x", "w"], ["y"])], {"x": ["n", 6]}, ["y"], {"w": WEIGHT})
    weight = proto.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.dims[:] = dims
    weight.data_location = onnx.TensorProto.EXTERNAL
    for key, text in (("location", location), ("offset", offset), ("length", length)):
        weight.external_data.add(key=key, value=str(text))
    (folder / "net.onnx").write_bytes(proto.SerializeToString())
    return folder / "net.onnx"


def test_weights_lie_beside_the_model(tmp_path):
    (tmp_path / "w.bin").write_bytes(b"12345" + WEIGHT.tobytes())
    net = dy2st.onnx.load(beside(tmp_path, offset=5))
    np.testing.assert_array_equal(net.w.numpy(), WEIGHT)


@pytest.mark.parametrize("location", ["../w.bin", "link.bin", "/w.bin", "", "a/../../w.bin", "."])
def test_nothing_outside_of_the_folder_is_opened(tmp_path, location):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "w.bin").write_bytes(WEIGHT.tobytes())
    os.symlink(tmp_path / "w.bin", folder / "link.bin")
    with pytest.raises(FormatError, match="folder"):
        dy2st.onnx.load(beside(folder, location))


def test_a_missing_or_short_file_of_weights_is_named(tmp_path):
    with pytest.raises(MissingFile, match=r"w\.bin"):
        dy2st.onnx.load(beside(tmp_path))
    (tmp_path / "w.bin").write_bytes(WEIGHT.tobytes()[:-1])
    with pytest.raises(FormatError, match="is cut"):
        dy2st.onnx.load(beside(tmp_path))


@pytest.mark.parametrize("length, dims", [(144, (2**40, 6)), (10, (6, 6)), (144, (-1, 6))])
def test_lengths_that_lie_take_no_memory(tmp_path, length, dims):
    (tmp_path / "w.bin").write_bytes(WEIGHT.tobytes())
    with pytest.raises(FormatError, match="sizes"):
        dy2st.onnx.load(beside(tmp_path, length=length, dims=dims))


# -- what is no model, or none that is read ---------------------------------------------------


def relu(**more):
    return model([node("Relu", ["x"], ["y"])], {"x": [2]}, ["y"], **more)


def test_operators_that_are_not_read_are_named_all_at_once():
    nodes = [
        node("Odd", ["x"], ["a"], name="first", domain="foreign"),
        node("StringSplit", ["a"], ["b", "c"], name="second"),
        node("Odd", ["b"], ["y"], name="third", domain="foreign"),
    ]
    wrong = model(nodes, {"x": [2]}, ["y"], opsets=[onnx.helper.make_opsetid("foreign", 1)])
    with pytest.raises(NotImplementedError, match=r"foreign.Odd \(first, third\)") as caught:
        dy2st.onnx.load(wrong)
    assert isinstance(caught.value, Dy2stError)
    assert "StringSplit (second)" in str(caught.value)


CYCLE = [node("Add", ["x", "b"], ["a"], name="one"), node("Relu", ["a"], ["b"], name="two")]
BROKEN = {
    "cycle": (model(CYCLE, {"x": [2]}, ["a"]), "cycle"),
    "nothing gives": (model([node("Relu", ["q"], ["y"])], {"x": [2]}, ["y"]), "'q'"),
    "output": (model([node("Relu", ["x"], ["y"])], {"x": [2]}, ["z"]), "'z'"),
    "twice": (
        model([node("Relu", ["x"], ["y"]), node("Abs", ["x"], ["y"])], {"x": [2]}, ["y"]),
        "twice",
    ),
    "inputs": (model([node("Relu", ["x", "x"], ["y"])], {"x": [2]}, ["y"]), "2 inputs"),
    "attribute": (model([node("Relu", ["x"], ["y"], odd=1)], {"x": [2]}, ["y"]), "'odd'"),
    "lacks": (model([node("Cast", ["x"], ["y"])], {"x": [2]}, ["y"]), "'to'"),
    "opset": (relu(opset=10_000), "version 10000"),
    "shape": (
        model([node("MatMul", ["x", "w"], ["y"])], {"x": [2, 3]}, ["y"], {"w": WEIGHT}),
        r"MatMul \(node 1\)",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_model_is_refused_with_what_is_wrong(name):
    proto, words = BROKEN[name]
    with pytest.raises(FormatError, match=words):
        dy2st.onnx.load(proto)


def test_files_that_are_no_models_are_refused(tmp_path):
    with pytest.raises(MissingFile):
        dy2st.onnx.load(tmp_path / "none.onnx")
    for data in (b"", b"no model at all", chained().SerializeToString()[:-40]):
        (tmp_path / "net.onnx").write_bytes(data)
        with pytest.raises(FormatError, match=r"net\.onnx"):
            dy2st.onnx.load(tmp_path / "net.onnx")
    with pytest.raises(ArgumentError):
        dy2st.onnx.load(3)


def test_an_initialiser_of_another_length_is_refused():
    proto = chained()
    proto.graph.initializer[0].dims[:] = [2**50, 6]
    with pytest.raises(FormatError, match="bytes"):
        dy2st.onnx.load(proto)


def test_a_function_that_calls_itself_is_refused():
    helper = onnx.helper
    function = helper.make_function(
        "own",
        "Self",
        ["x"],
        ["y"],
        [helper.make_node("Self", ["x"], ["y"], domain="own")],
        [helper.make_opsetid("own", 1)],
    )
    wrong = model(
        [node("Self", ["x"], ["y"], domain="own")],
        {"x": [2]},
        ["y"],
        functions=[function],
        opsets=[helper.make_opsetid("own", 1)],
    )
    with pytest.raises(FormatError, match="calls itself"):
        dy2st.onnx.load(wrong)


def test_tensors_of_texts_are_refused_by_name():
    proto = model(
        [node("Identity", ["x"], ["y"])], [value("x", [2], onnx.TensorProto.STRING)], ["y"]
    )
    with pytest.raises(Dy2stError, match="STRING"):
        dy2st.onnx.load(proto)


def test_known_values_that_are_used_twice_are_computed_once():
    nodes = [node("Constant", [], ["c0"], value_floats=[1.0, 1.0])]
    nodes += [node("Mul", [f"c{i}", f"c{i}"], [f"c{i + 1}"]) for i in range(50)]  # 2**50 products
    nodes += [node("Cast", ["c50"], ["s"], to=7), node("Tile", ["x", "s"], ["y"])]
    net = dy2st.onnx.load(model(nodes, [value("x", ["n", 2])], ["y"]))
    np.testing.assert_array_equal(net(np.ones((3, 2), "float32")).numpy(), 1.0)
