"""What users get wrong on the way from a model to a run: one clear error, nothing half-written."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st import to_static
from dy2st.static import InputSpec
from dy2st.targets.opu.compiled import compile_network
from dy2st.targets.opu.gen_ir import gen_ir
from dy2st.targets.opu.ir_file import read_ir
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.simulator import simulate
from dy2st_runtime.errors import ArgumentError, DTypeError, Dy2stError, FormatError, ShapeError
from tests.dy2st.targets.opu.conv_networks import Builder
from tests.dy2st.targets.opu.models import IMAGE, F, Model, conv, module_of


def model() -> Model:
    return Model(lambda m, x: m.b(F.relu(m.a(x))), a=conv(), b=conv(4, 4))


def images(count: int = 3, shape: tuple[int, ...] = IMAGE) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype("float32") for _ in range(count)]


def network() -> Network:
    build = Builder(8, 3, seed=1)
    build.conv(build.conv(0, 4, 3), 4, 3)
    return build.done()


@pytest.mark.parametrize(
    ("shape", "axis", "name"),
    [
        ((1, 3, "height", 8), 2, "height"),
        ((1, 3, 8, "width"), 3, "width"),
        (("n", 3, 8, 8), 0, "n"),
    ],
)
def test_a_size_that_is_not_known_is_named_and_buckets_are_offered(shape, axis, name, tmp_path):
    static = to_static(model(), [InputSpec(list(shape), "float32", "photo")])
    wanted = rf"axis {axis} of the input 'photo' has the unknown size {name}: .*static\.bucket"
    with pytest.raises(ShapeError, match=wanted):
        gen_ir(static, images(), folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("mode", ["own", "compat"])
def test_a_layer_larger_than_every_tiling_is_named(mode):
    with pytest.raises(ArgumentError, match="layer 2"):
        compile_network(network(), machine("opu1024").but(fm_rows=8), mode)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight_fraclen": 40}, "layer 2: it shifts features by -22"),
        ({"weight_fraclen": 18}, "layer 2: it shifts features by 0 "),
        ({"weight_fraclen": -14}, "layer 2: it shifts features by 32 "),
        ({"bias_fraclen": 19}, "layer 2: .* biases by -1 "),
        ({"bias_fraclen": -14}, "layer 2: .* biases by 32 "),
        ({"input_fraclen": 3}, r"layer 2: it reads \[1\] with fraction length 3; theirs are \[0\]"),
        ({"weight_fraclen": 2.5}, r"layer 2: it has fraction lengths \[0, 2.5, 10, 0\]"),
    ],
)
def test_fraction_lengths_that_are_not_legal_are_not_compiled(change, message):
    wrong = network()
    for key, value in change.items():
        setattr(wrong.layers[1], key, value)
    with pytest.raises(ArgumentError, match=message):
        compile_network(wrong)


def test_integers_of_another_shape_or_type_are_not_compiled():
    wrong = network()
    wrong.int_weights[2] = wrong.int_weights[2][:1]
    with pytest.raises(ArgumentError, match=r"layer 2: its weights are int8 \(3, 3, 4, 4\), not"):
        compile_network(wrong)
    wrong = network()
    wrong.int_weights[1] = wrong.int_weights[1].astype("int64") * 1000
    with pytest.raises(ArgumentError, match="layer 1: its weights are int8 .* not int64"):
        compile_network(wrong)
    wrong = network()
    wrong.int_biases[2] = wrong.int_biases[2][:2]
    with pytest.raises(ArgumentError, match=r"layer 2: its biases are int16 \(4,\), not"):
        compile_network(wrong)


def test_a_foreign_or_cut_ir_file_is_refused_with_its_line(tmp_path):
    gen_ir(module_of(model(), IMAGE), images(), folder=tmp_path)
    path = tmp_path / "OPU_IR.json"
    whole = path.read_text()
    first, second = whole.splitlines()
    for text, message in (
        (whole.replace('"group"', '"groups"', 1), "line 1: .*group"),
        (first + "\n" + second[: len(second) // 2], "line 2 is no JSON"),
        (first + "\n", "layer 1: output_layer is"),
        ('{"nodes": []}', "line 1: .*'nodes'|'index' is missing"),
    ):
        path.write_text(text)
        with pytest.raises(FormatError, match=message):
            read_ir(tmp_path)


def test_a_truncated_binary_is_refused_wherever_it_ends():
    compiled = compile_network(network())
    image = compiled.image([np.zeros((1, 8, 8, 3), "int8")])
    for count in range(len(compiled.words)):
        with pytest.raises(FormatError, match="no program of dy2st|the program is truncated"):
            simulate(compiled.words[:count], image, compiled.machine, compiled.regions())


@pytest.mark.parametrize(
    ("second", "error", "message"),
    [
        (
            np.full(IMAGE, np.nan, "float32"),
            ArgumentError,
            r"calibration input 1 has nan at \[0, 0",
        ),
        (np.full(IMAGE, np.inf, "float32"), ArgumentError, "calibration input 1 has inf"),
        (np.zeros((1, 3, 8, 9), "float32"), ShapeError, r"calibration input 1: .*\[1, 3, 8, 9\]"),
        (np.zeros((1, 8, 8, 3), "float32"), ShapeError, r"calibration input 1: .*\[1, 8, 8, 3\]"),
        (np.zeros((3, 8, 8), "float32"), ShapeError, r"calibration input 1: .*\[3, 8, 8\]"),
        (np.zeros(IMAGE, "uint8"), DTypeError, "calibration input 1: .*uint8: an array of floats"),
        (
            (np.zeros(IMAGE, "float32"),) * 2,
            ArgumentError,
            "calibration input 1: .*1 input, not 2",
        ),
        (None, Dy2stError, "calibration input 1: "),
    ],
)
def test_calibration_that_does_not_fit_is_refused_with_its_number(second, error, message, tmp_path):
    folder = tmp_path / "out"
    with pytest.raises(error, match=message):
        gen_ir(module_of(model(), IMAGE), [images()[0], second], folder=folder)
    assert not folder.exists()


def test_bad_calibration_leaves_a_folder_as_it_was(tmp_path):
    gen_ir(module_of(model(), IMAGE), images(), folder=tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(ArgumentError, match="has nan"):
        gen_ir(module_of(model(), IMAGE), [np.full(IMAGE, np.nan, "float32")], folder=tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
