"""Models that PaddlePaddle has written: read, run at two sizes, trained, saved, called as scripts do.

`write.py` in tests/data/paddle_files wrote what lies there: files and expected outputs.
"""

from pathlib import Path

import numpy as np
import pytest

import dy2st
import dy2st.paddle as paddle
from dy2st.cli import main
from dy2st.importers.paddle import files_of
from dy2st.importers.paddle.reading import read
from dy2st.paddle import inference
from dy2st_runtime.errors import ArgumentError, MissingFile, SpecError

DATA = Path(__file__).parents[3] / "data" / "paddle_files"
MODELS = sorted(one for one in DATA.iterdir() if one.suffix in (".json", ".pdmodel"))
REGIONS = DATA / "regions.json"


def cases(model):
    """The inputs and outputs of each size."""
    with np.load(model.with_suffix(".npz")) as stored:
        for place in range(2):
            yield [
                [stored[key] for key in stored.files if key.startswith(f"{kind}{place}_")]
                for kind in "xy"
            ]


def check(found, wanted):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        array = one if isinstance(one, np.ndarray) else one.numpy()
        assert array.dtype == other.dtype
        np.testing.assert_allclose(array, other, 2e-4, 2e-4)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_models_of_both_forms_run_at_two_sizes(model):
    net = dy2st.jit.load(str(model))
    for inputs, outputs in cases(model):
        found = net(*inputs)
        check(found if isinstance(found, tuple) else [found], outputs)


@pytest.mark.parametrize("name", sorted({model.stem for model in MODELS}))
def test_both_forms_have_as_many_parameters_to_train(name):
    counts = [
        len([*dy2st.jit.load(str(DATA / f"{name}{ending}")).named_parameters()])
        for ending in (".json", ".pdmodel")
    ]
    assert counts[0] == counts[1] > 0


def test_a_path_without_ending_finds_the_model(tmp_path):
    assert files_of(DATA / "regions") == (REGIONS, REGIONS.with_suffix(".pdiparams"))
    assert files_of(str(tmp_path / "regions")) is None
    assert dy2st.jit.load(str(DATA / "regions")).state_dict()


def test_files_may_have_names_of_their_own():
    net = dy2st.jit.load(
        str(DATA), model_filename="regions.pdmodel", params_filename="regions.pdiparams"
    )
    inputs, outputs = next(cases(REGIONS))
    check(net(*inputs), outputs)


@pytest.mark.parametrize("ending", [".json", ".pdmodel"])
def test_sizes_that_are_unknown_there_are_symbols(ending):
    program = read(DATA / f"regions{ending}", DATA / "regions.pdiparams").program
    assert [str(one.type) for one in program.inputs] == [
        "float32[x_0, 3, x_2, x_3]",
        "float32[boxes_0, 4]",
        "int32[counts_0]",
    ]


def test_a_loaded_model_is_trained():
    net = dy2st.jit.load(str(REGIONS))
    net.train()
    inputs, _ = next(cases(REGIONS))
    scores, boxes = net(*inputs)
    (scores.sum() + (boxes**2).sum()).backward()
    reached = [name for name, one in net.named_parameters() if one.grad is not None]
    assert len(reached) == len(net.parameters()) > 5


def test_a_loaded_model_is_saved_as_ours(tmp_path):
    net = dy2st.jit.load(str(DATA / "gathered.json"))
    dy2st.jit.save(net, str(tmp_path / "net"))
    for inputs, outputs in cases(DATA / "gathered.json"):
        check(dy2st.jit.load(str(tmp_path / "net"))(*inputs), outputs)


def test_the_command_imports_a_model(tmp_path, capsys):
    made = str(tmp_path / "net")
    assert main(["import", str(DATA / "branches.pdmodel"), "-o", made]) == 0
    for inputs, outputs in cases(DATA / "branches.json"):
        check(dy2st.jit.load(made)(*inputs), outputs)
    assert main(["import", "model.tflite", "-o", made]) == 2
    assert "models that are read end in .json, .onnx, .pdmodel" in capsys.readouterr().err


def test_load_inference_model_gives_what_an_executor_runs():
    exe = paddle.static.Executor(paddle.CPUPlace())
    program, feeds, fetches = paddle.static.load_inference_model(str(DATA / "regions"), exe)
    assert feeds == ["x", "boxes", "counts"]
    inputs, outputs = next(cases(REGIONS))
    feed = dict(zip(feeds, inputs, strict=True))
    check(exe.run(program, feed=feed, fetch_list=fetches), outputs)
    check(exe.run(program, feed=feed, fetch_list=fetches[1:]), outputs[1:])
    with pytest.raises(SpecError, match="missing: boxes, counts"):
        exe.run(program, feed={"x": inputs[0]})
    with pytest.raises(ArgumentError, match="put @to_static on a function"):
        exe.run(None)


@pytest.mark.parametrize("ending", [".json", ".pdmodel"])
def test_a_predictor_runs_on_handles(ending):
    config = inference.Config(str(DATA / f"regions{ending}"), str(DATA / "regions.pdiparams"))
    config.disable_gpu()
    config.enable_memory_optim()
    config.set_cpu_math_library_num_threads(1)
    config.switch_ir_optim(True)
    predictor = inference.create_predictor(config, engine="native")
    for inputs, outputs in cases(REGIONS):
        for name, array in zip(predictor.get_input_names(), inputs, strict=True):
            handle = predictor.get_input_handle(name)
            handle.reshape(array.shape)
            handle.copy_from_cpu(array)
        assert predictor.run()
        names = predictor.get_output_names()
        check([predictor.get_output_handle(name).copy_to_cpu() for name in names], outputs)
        check(predictor.clone().run(inputs), outputs)


def test_a_predictor_says_what_is_wrong(tmp_path):
    predictor = inference.create_predictor(inference.Config(str(DATA / "regions")))
    with pytest.raises(SpecError, match="has no values yet"):
        predictor.run()
    with pytest.raises(SpecError, match="the model has x, boxes, counts, not 'y'"):
        predictor.get_input_handle("y")
    handle = predictor.get_input_handle("boxes")
    handle.reshape([2, 4])
    with pytest.raises(SpecError, match="is not"):
        handle.copy_from_cpu(np.zeros((3, 4), np.float32))
    with pytest.raises(MissingFile):
        inference.create_predictor(inference.Config(str(tmp_path / "net")))
    with pytest.raises(ArgumentError, match="names one"):
        inference.Config("net").enable_use_gpu(100, 0)


def test_a_format_of_other_tools_is_not_written(tmp_path):
    net = dy2st.jit.load(str(REGIONS))
    with pytest.raises(ArgumentError, match="PaddlePaddle reads the weights"):
        dy2st.jit.save(net, str(tmp_path / "net"), format="paddle")
