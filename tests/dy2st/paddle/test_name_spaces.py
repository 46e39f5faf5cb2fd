"""Name spaces of PaddlePaddle: imported in every way, they show the same objects as `dy2st`."""

from __future__ import annotations

import importlib
import subprocess
import sys

import numpy as np
import pytest

import dy2st
from dy2st import inference
from dy2st.paddle.mirrors import names_of

SAME = [
    ("dy2st.tensor", "zeros", dy2st.zeros),
    ("dy2st.tensor.creation", "zeros", dy2st.zeros),
    ("dy2st.tensor.manipulation", "concat", dy2st.concat),
    ("dy2st.tensor.math", "add", dy2st.add),
    ("dy2st.linalg", "matmul", dy2st.matmul),
    ("dy2st.framework", "get_default_dtype", dy2st.get_default_dtype),
    ("dy2st.framework", "ParamAttr", dy2st.nn.ParamAttr),
    ("dy2st.framework.random", "get_rng_state", dy2st.get_rng_state),
    ("dy2st.nn.clip", "ClipGradByNorm", dy2st.nn.ClipGradByNorm),
    ("dy2st.nn.layer", "Layer", dy2st.nn.Layer),
    ("dy2st.nn.layer.layers", "Layer", dy2st.nn.Layer),
    ("dy2st.nn.layer.conv", "Conv2D", dy2st.nn.Conv2D),
    ("dy2st.nn.layer.transformer", "MultiHeadAttention", dy2st.nn.MultiHeadAttention),
    ("dy2st.nn.functional.common", "linear", dy2st.nn.functional.linear),
    ("dy2st.nn.initializer.constant", "Constant", dy2st.nn.initializer.Constant),
    ("dy2st.optimizer.optimizer", "Optimizer", dy2st.optimizer.Optimizer),
    ("dy2st.optimizer.adam", "Adam", dy2st.optimizer.Adam),
    ("dy2st.common_ops_import", "ParamAttr", dy2st.nn.ParamAttr),
]


@pytest.mark.parametrize("space, name, value", SAME, ids=[f"{s}.{n}" for s, n, _ in SAME])
def test_a_name_space_shows_what_stands_elsewhere(space, name, value):
    assert getattr(importlib.import_module(space), name) is value
    reached = dy2st
    for part in space.split(".")[1:]:
        reached = getattr(reached, part)
    assert getattr(reached, name) is value
    namespace = {}
    exec(f"from {space} import {name} as found\nimport {space} as module", namespace)
    assert namespace["found"] is value and namespace["module"] is reached


def test_none_of_them_is_loaded_before_it_is_asked_for():
    code = "import dy2st, sys; print(*[n for n in sys.modules if n.startswith('dy2st.')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    late = ("tensor", "framework", "device", "nn.layer", "common_ops_import", "dtypes", "modes")
    assert not {f"dy2st.{name}" for name in late} & set(loaded.split())


def test_a_star_import_takes_the_public_names():
    namespace = {}
    exec("from dy2st.nn.layer.transformer import *", namespace)
    assert namespace["MultiHeadAttention"] is dy2st.nn.MultiHeadAttention


def test_models_look_classes_up_in_the_dict_of_a_name_space():
    found = {name.lower(): name for name in dy2st.nn.layer.activation.__dict__}
    assert found["relu"] == "ReLU" and "softmax2d" in found and "relu" not in vars(dy2st.nn)
    assert vars(dy2st.nn.layer.activation)["ReLU"] is dy2st.nn.ReLU


def test_a_name_that_no_source_has_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'somewhere' has no attribute 'nope'"):
        names_of("somewhere", ["math"])("nope")
    with pytest.raises(ImportError, match="no_such_function"):
        exec("from dy2st.tensor.creation import no_such_function")


def test_normal_numbers_go_by_another_name_in_tensor_random():
    import dy2st.paddle.tensor.random as drawn

    dy2st.seed(3)
    x = drawn.gaussian([2000], mean=5.0, std=0.5, dtype="float64")
    assert str(x.dtype) == "float64" and drawn.gaussian([2]).dtype == dy2st.float32
    assert abs(float(x.mean()) - 5.0) < 0.05 and abs(float(x.std()) - 0.5) < 0.05
    with pytest.raises(AttributeError, match="gaussian"):
        dy2st.tensor.math.gaussian  # noqa: B018  it is asked for


def test_modes_are_those_of_python():
    assert dy2st.in_dynamic_mode() and dy2st.framework.in_dygraph_mode()
    assert not dy2st.framework.in_pir_mode() and not dy2st.framework.use_pir_api()
    assert dy2st.disable_static() is None
    with pytest.raises(dy2st.errors.ArgumentError, match="put @to_static on it"):
        dy2st.enable_static()


def test_a_converted_function_sees_the_mode_of_python():
    @dy2st.to_static
    def f(x):
        return x * 2 if dy2st.in_dynamic_mode() else x

    assert f(dy2st.ones([2])).tolist() == [2.0, 2.0]


def test_flags_are_kept_and_the_check_of_numbers_is_refused():
    dy2st.set_flags({"FLAGS_cudnn_deterministic": True})
    assert dy2st.get_flags(["FLAGS_cudnn_deterministic"]) == {"FLAGS_cudnn_deterministic": True}
    assert dy2st.get_flags("FLAGS_other") == {"FLAGS_other": None}
    for wrong in ({"FLAGS_check_nan_inf": 1}, {"cudnn": 1}, ["FLAGS_a"]):
        with pytest.raises(dy2st.errors.ArgumentError):
            dy2st.set_flags(wrong)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_finfo_has_the_limits_of_numpy(dtype):
    found, limits = dy2st.finfo(dtype), np.finfo(dtype)
    for name in ("min", "max", "eps", "tiny", "smallest_normal", "bits"):
        assert getattr(found, name) == getattr(limits, name)
    assert found.dtype == dtype and type(found.min) is float


def test_limits_of_bfloat16_and_of_integers():
    assert (dy2st.finfo(dy2st.bfloat16).eps, dy2st.finfo("float32").resolution) == (2.0**-7, 1e-6)
    assert (dy2st.iinfo(dy2st.int32).max, dy2st.iinfo("uint8").min) == (2**31 - 1, 0)
    for wrong in (lambda: dy2st.iinfo("float32"), lambda: dy2st.finfo("int8")):
        with pytest.raises(dy2st.errors.DTypeError):
            wrong()


def test_dtypes_have_their_other_names():
    assert (dy2st.half, dy2st.float, dy2st.double) == (np.float16, np.float32, np.float64)
    assert isinstance(dy2st.float32, dy2st.dtype) and dy2st.pi == np.pi and dy2st.newaxis is None


def test_files_of_collectives_have_the_names_of_their_functions():
    from dy2st.paddle.distributed.communication.group import Group
    from dy2st.paddle.distributed.communication.reduce import ReduceOp

    assert ReduceOp is dy2st.distributed.ReduceOp and Group is dy2st.distributed.Group
    assert dy2st.distributed.communication.reduce is dy2st.distributed.reduce


def test_dtypes_of_eight_bits_can_be_named_but_hold_nothing():
    sizes = {dy2st.float8_e4m3fn: 1, dy2st.float8_e5m2: 1, dy2st.float32: 4}
    assert sizes[dy2st.ones([1]).dtype] == 4 and str(dy2st.float8_e5m2) == "float8_e5m2"
    with pytest.raises(TypeError, match="float8_e5m2 is not here"):  # an older NumPy's own
        dy2st.to_tensor([1.0], dtype=dy2st.float8_e5m2)


def test_what_is_built_in_is_told():
    assert dy2st.framework.core.VarDesc.VarType.INT64 == np.int64
    assert isinstance(dy2st.ones([1]), dy2st.framework.core.eager.Tensor)
    assert repr(dy2st.framework._current_expected_place()) == "Place(cpu)"
    assert dy2st.version.full_version.split(".")[0] == dy2st.version.major == "3"


def test_checks_of_arguments_raise():
    from dy2st.paddle.common_ops_import import check_type, check_variable_and_dtype, convert_dtype

    x = dy2st.ones([2])
    assert convert_dtype(x.dtype) == convert_dtype("float32") == "float32"
    check_variable_and_dtype(x, "x", ["float32", "float64"], "f")
    check_type([1], "x", (list, tuple), "f")
    for wrong in (
        lambda: check_variable_and_dtype(x, "x", ["int64"], "f"),
        lambda: check_variable_and_dtype(1.0, "x", ["float32"], "f"),
        lambda: check_type(1, "x", str, "f"),
    ):
        with pytest.raises(TypeError, match="f: "):
            wrong()


@pytest.mark.parametrize(
    "mask, expected",
    [
        (np.array([True, False]), [0.0, -1e9]),
        (np.array([1, 0]), [0.0, -1e9]),
        (np.array([0.0, -3.0], "float32"), [0.0, -3.0]),
    ],
)
def test_a_mask_becomes_what_is_added_to_scores(mask, expected):
    from dy2st.nn.layer.transformer import _convert_attention_mask

    assert _convert_attention_mask(dy2st.to_tensor(mask), "float32").tolist() == expected
    assert _convert_attention_mask(None, "float32") is None
    converted = dy2st.to_static(lambda m: _convert_attention_mask(m, "float32"))
    assert converted(dy2st.to_tensor(mask)).tolist() == expected


def test_attributes_of_parameters_become_one_a_parameter():
    from dy2st.nn.layer.transformer import _convert_param_attr_to_list

    attr = dy2st.ParamAttr(name="w")
    assert _convert_param_attr_to_list(attr, 2) == [attr, attr]
    first, second, third = _convert_param_attr_to_list([None, False, True], 3)
    assert isinstance(first, dy2st.ParamAttr) and second is False
    assert isinstance(third, dy2st.ParamAttr)
    with pytest.raises(ValueError, match="2 parameters"):
        _convert_param_attr_to_list([None], 2)


def test_families_of_layers_are_recognised():
    from dy2st.nn.layer.norm import _BatchNormBase, _InstanceNormBase

    assert isinstance(dy2st.nn.BatchNorm1D(2), _BatchNormBase)
    assert isinstance(dy2st.nn.InstanceNorm2D(2), _InstanceNormBase)
    assert not isinstance(dy2st.nn.Linear(1, 1), (_BatchNormBase, _InstanceNormBase))


def test_the_package_has_itself_as_a_name():
    assert dy2st.paddle.paddle is dy2st.paddle
    assert dy2st.paddle.Tensor is dy2st.Tensor


def test_convolutions_can_be_made_of_their_private_base():
    from dy2st.nn.layer.conv import _ConvNd

    class Valid(_ConvNd):
        def __init__(self, *channels, dims=2, transposed=False):
            super().__init__(*channels, 3, transposed, dims, stride=2, groups=2, bias_attr=False)

    x = dy2st.to_tensor(np.arange(2 * 49, dtype="float32").reshape(1, 2, 7, 7))
    layer, usual = Valid(2, 4), dy2st.nn.Conv2D(2, 4, 3, stride=2, groups=2, bias_attr=False)
    usual.set_state_dict(layer.state_dict())
    assert layer(x).tolist() == usual(x).tolist() and layer.bias is None
    row = x[:, :, 0]
    assert Valid(2, 4, dims=1)(row).shape == dy2st.nn.Conv1D(2, 4, 3, stride=2)(row).shape
    assert Valid(2, 4, transposed=True)(x).shape == dy2st.nn.Conv2DTranspose(2, 4, 3, 2)(x).shape
    assert isinstance(usual, _ConvNd) and isinstance(layer, (_ConvNd, Valid))
    assert not isinstance(usual, Valid) and not isinstance(dy2st.nn.Linear(1, 1), _ConvNd)


def test_wishes_of_compilers_change_nothing():
    strategy = dy2st.static.BuildStrategy()
    strategy.build_cinn_pass = strategy.fuse_gemm_epilogue = True
    double = dy2st.to_static(lambda x: x * 2, build_strategy=strategy)
    assert double(dy2st.ones([2])).tolist() == [2.0, 2.0]


def test_names_of_static_graphs_that_models_ask_for():
    assert isinstance(dy2st.ones([1]), dy2st.static.Variable)
    assert dy2st.static.create_parameter([2], "float32").shape == [2]
    assert dy2st.framework.dygraph_only(len) is len


# Private modules of PaddlePaddle 3.3.1 that show what public ones have.
PRIVATE = {
    "amp.auto_cast": "auto_cast",
    "autograd.backward_mode": "backward",
    "autograd.py_layer": "PyLayer",
    "base.backward": "append_backward",
    "base.dygraph.base": "grad no_grad to_variable",
    "base.framework": "EagerParamBase Variable require_version",
    "distributed.collective": "all_reduce _c_identity _get_default_group",
    "distributed.communication.group": "Group _get_global_group",
    "distributed.communication.stream": "all_gather send",
    "distributed.fleet.base.topology": "HybridCommunicateGroup",
    "distributed.fleet.layers.mpu": "ColumnParallelLinear",
    "distributed.fleet.layers.mpu.mp_layers": "RowParallelLinear",
    "distributed.fleet.layers.mpu.mp_ops": "_c_concat _mp_allreduce",
    "distributed.fleet.layers.mpu.random": "get_rng_state_tracker",
    "distributed.fleet.meta_parallel.parallel_layers": "PipelineLayer SharedLayerDesc",
    "distributed.fleet.recompute.recompute": "recompute",
    "distributed.fleet.utils.log_util": "logger",
    "distributed.spawn": "spawn",
    "framework.io": "load save",
    "geometric.message_passing.send_recv": "send_u_recv",
    "hapi.model_summary": "summary",
    "incubate.nn.functional.fused_layer_norm": "fused_layer_norm",
    "incubate.nn.layer.fused_transformer": "FusedFeedForward",
    "incubate.operators.softmax_mask_fuse": "softmax_mask_fuse",
    "io.dataloader.dataset": "Dataset IterableDataset",
    "io.reader": "DataLoader",
    "jit.dy2static.program_translator": "StaticFunction enable_to_static",
    "jit.marker": "not_to_static",
    "jit.translated_layer": "TranslatedLayer",
    "metric.metrics": "Accuracy",
    "nn.decode": "BeamSearchDecoder dynamic_decode",
    "nn.init": "constant_ kaiming_uniform_ ones_ xavier_normal_",
    "nn.initializer.lazy_init": "LazyGuard",
    "nn.layer.layers": "HookRemoveHelper Layer in_declarative_mode",
    "nn.loss": "CrossEntropyLoss L1Loss",
    "nn.quant.format": "ConvertibleQuantedLayer",
    "nn.utils.weight_norm_hook": "weight_norm",
    "optimizer.lbfgs": "LBFGS _strong_wolfe",
    "profiler.profiler": "Profiler",
    "static.amp": "fp16_guard",
    "static.input": "InputSpec",
    "static.nn.control_flow": "cond while_loop",
    "tensor": "fill_constant",
    "tensor.einsum": "einsum",
    "tensor.linalg": "norm",
    "text.viterbi_decode": "ViterbiDecoder",
    "utils.cpp_extension.cpp_extension": "CppExtension",
    "vision.datasets.mnist": "MNIST",
    "vision.transforms.transforms": "Compose",
}


@pytest.mark.parametrize("space", PRIVATE)
def test_a_private_module_shows_its_names(space):
    code = f"import dy2st.{space}\nfrom dy2st.{space} import {', '.join(PRIVATE[space].split())}"
    namespace = {}
    exec(code, namespace)
    public = dy2st
    for part in space.split(".")[:-1]:
        public = getattr(public, part)
    for name in PRIVATE[space].split():
        assert getattr(public, name, namespace[name]) is namespace[name]


def test_a_function_stays_what_it_is_though_a_private_module_has_its_name():
    import dy2st.paddle.distributed.spawn
    import dy2st.paddle.utils.deprecated  # noqa: F401  it must not become the attribute

    assert callable(dy2st.distributed.spawn) and callable(dy2st.utils.deprecated)


def test_classes_of_several_processes_can_be_imported_and_made_classes_of():
    from dy2st.paddle.distributed.fleet.meta_parallel import LayerDesc, PipelineLayer

    class Pipe(PipelineLayer):
        pass

    for refused in (Pipe, LayerDesc, dy2st.distributed.shard_scaler):
        with pytest.raises(dy2st.errors.ArgumentError, match="not shared between processes"):
            refused(1)
    assert not isinstance(dy2st.nn.Linear(1, 1), PipelineLayer)
    with pytest.raises(ImportError):
        exec("from dy2st.distributed.fleet.meta_parallel import NoSuchLayer")


def test_operators_in_c_can_be_imported_and_refuse_to_be_called():
    from dy2st import _C_ops, _legacy_C_ops

    with pytest.raises(dy2st.errors.ArgumentError, match=r"such as paddle\.argsort"):
        _C_ops.argsort(dy2st.ones([2]), 0, False)
    assert callable(_legacy_C_ops.squared_l2_norm)


def test_the_tracker_of_random_numbers_knows_its_names():
    from dy2st.paddle.distributed.fleet.meta_parallel import get_rng_state_tracker

    tracker = get_rng_state_tracker()
    tracker.reset()
    if "local_seed" not in tracker.states_:
        tracker.add("local_seed", 3)
    assert "local_seed" in get_rng_state_tracker().states_
    with tracker.rng_state("local_seed"):
        assert dy2st.rand([2]).shape == [2]


def test_a_parameter_is_made_of_a_tensor():
    made = dy2st.framework.EagerParamBase.from_tensor(
        dy2st.to_tensor([1.0, 2.0]), trainable=False, name="w", is_bias=True
    )
    assert isinstance(made, dy2st.Parameter) and made.tolist() == [1.0, 2.0]
    assert (made.stop_gradient, made.name, made.is_bias) == (True, "w", True)


def test_a_tensor_becomes_another_one_in_place():
    def f(x, y):
        x = x.clone()
        dy2st.assign(y * 2, output=x)
        x._inplace_assign(x + 1)
        return x * 1

    for call in (f, dy2st.to_static(f)):
        assert call(dy2st.to_tensor([1.0]), dy2st.to_tensor([5.0])).tolist() == [11.0]
    x = dy2st.zeros([1])
    assert x._inplace_assign(dy2st.ones([1])) is x and x.tolist() == [1.0]


def test_first_values_are_put_into_a_tensor():
    x = dy2st.zeros([4, 3])
    assert dy2st.nn.init.constant_(x, 2.0) is x and x.sum().item() == 24
    limit = (6 / (4 + 3)) ** 0.5
    dy2st.nn.init.xavier_uniform_(x)
    assert 0.3 * limit < abs(x.numpy()).max() <= limit


def test_a_step_of_the_line_search_goes_down():
    from dy2st.optimizer.lbfgs import _strong_wolfe

    def at(x, far, direction):
        place = x + far * direction
        return (place**2).sum(), 2 * place

    x, d = dy2st.to_tensor([2.0, -1.0]), dy2st.to_tensor([-4.0, 2.0])
    loss, gradient, far, count = _strong_wolfe(at, x, 1.0, d, 5.0, 2 * x, -20.0)
    assert loss < 5.0 and gradient.shape == [2] and 0 < far < 1 and count >= 2


def test_a_part_for_sixteen_bits_has_no_effect():
    class Net(dy2st.nn.Layer):
        def forward(self, x):
            with dy2st.static.amp.fp16_guard():
                return x * 2

    assert dy2st.to_static(Net())(dy2st.ones([2])).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("options", [{"output_spec": [0]}, {"skip_forward": True}])
def test_options_of_save_that_mean_something_else_are_refused(options, tmp_path):
    net = dy2st.to_static(dy2st.nn.Linear(2, 2), input_spec=[dy2st.static.InputSpec([1, 2])])
    dy2st.jit.save(net, str(tmp_path / "net"), output_spec=None, combine_params=True)
    with pytest.raises(dy2st.errors.ArgumentError, match=f"{[*options][0]}=.* is not here"):
        dy2st.jit.save(net, str(tmp_path / "net"), **options)
    with pytest.raises(TypeError, match="unexpected keyword argument 'no_such'"):
        dy2st.jit.save(net, str(tmp_path / "net"), no_such=1)


def test_sums_and_archives_of_files_are_at_hand(tmp_path):
    import hashlib
    import zipfile

    from dy2st.paddle.dataset.common import md5file
    from dy2st.paddle.utils.download import _decompress, _get_unique_endpoints

    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inner/b.txt", "text")
    assert md5file(str(path)) == hashlib.md5(path.read_bytes()).hexdigest()
    assert _decompress(str(path)) == str(tmp_path / "inner")
    assert _get_unique_endpoints(["a:1", "a:2", "b:1"]) == {"a:1", "b:1"}


# -- models from the net ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["list", "help", "load", "load_state_dict_from_url"])
def test_nothing_is_downloaded(name):
    with pytest.raises(dy2st.errors.ArgumentError, match="downloads nothing; clone"):
        getattr(dy2st.hub, name)("org/repository", "model")


# -- Paddle Inference ------------------------------------------------------------------------------


def test_what_would_write_another_model_is_refused():
    with pytest.raises(dy2st.errors.ArgumentError, match="dy2st opt net.mlir"):
        inference.convert_to_mixed_precision()


def test_scripts_may_ask_for_names():
    assert not isinstance(1, inference.Tensor) and inference.PlaceType.CPU.name == "CPU"
    assert inference.PrecisionType.Float32 is not inference.PrecisionType.Half
    assert inference.get_version() == f"version: {dy2st.version.full_version}"


# -- old names -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "space, name, value",
    [
        ("base.framework", "in_dygraph_mode", dy2st.in_dynamic_mode),
        ("base.core", "CPUPlace", dy2st.CPUPlace),
        ("base.dygraph", "to_variable", dy2st.to_tensor),
        ("base.dygraph", "Layer", dy2st.nn.Layer),
        ("base.param_attr", "ParamAttr", dy2st.ParamAttr),
        ("base.unique_name", "generate", dy2st.utils.unique_name.generate),
        ("base.dygraph.layers", "Linear", dy2st.nn.Linear),
        ("base.data_feeder", "check_type", dy2st.common_ops_import.check_type),
    ],
)
def test_old_names_show_what_stands_elsewhere(space, name, value):
    assert getattr(importlib.import_module(f"dy2st.{space}"), name) is value


def test_a_guard_computes_at_once():
    with dy2st.base.dygraph.guard(dy2st.CPUPlace()):
        assert dy2st.ones([1]).tolist() == [1.0]


def test_the_module_tensor_makes_tensors_as_a_function_does():
    made = dy2st.tensor([1.0, 2.0], dtype="float64", device="cpu", requires_grad=True)
    assert made.tolist() == [1.0, 2.0] and made.dtype == "float64" and not made.stop_gradient
    shifted = dy2st.to_static(lambda x: x + dy2st.tensor(1.0))
    assert shifted(made).tolist() == [2.0, 3.0]
    assert dy2st.tensor.zeros is dy2st.zeros and "sys" not in dir(dy2st.tensor)
