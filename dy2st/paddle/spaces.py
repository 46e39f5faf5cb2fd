"""Loads names of `dy2st` and `dy2st.paddle` from their homes when they are asked for."""

from __future__ import annotations

from dy2st_runtime.lazy import places

# Name spaces that stand in `dy2st` itself; all others stand here.
OWN = ("amp", "io", "jit", "nn", "optimizer", "passes", "static")
HERE = (
    "_C_ops",
    "_legacy_C_ops",
    "as_paddle",
    "audio",
    "autograd",
    "base",
    "callbacks",
    "common_ops_import",
    "dataset",
    "device",
    "distributed",
    "distribution",
    "fft",
    "framework",
    "geometric",
    "hapi",
    "hub",
    "incubate",
    "inference",
    "linalg",
    "metric",
    "onnx",
    "porting",
    "profiler",
    "regularizer",
    "signal",
    "tensor",
    "text",
    "utils",
    "version",
    "vision",
)
IN_RUNTIME = ("array_api",)  # no space of PaddlePaddle's: what saved models need, too
SPACES = frozenset({*OWN, *HERE, *IN_RUNTIME})


def home(space: str) -> str:
    """The module that a name space of PaddlePaddle's is; "" is `paddle`.

    >>> home("nn.functional"), home("vision.models"), home("")
    ('dy2st.nn.functional', 'dy2st.paddle.vision.models', 'dy2st')
    """
    if not space:
        return "dy2st"
    if space.partition(".")[0] in IN_RUNTIME:
        return f"dy2st_runtime.{space}"
    return f"dy2st.{space}" if space.partition(".")[0] in OWN else f"dy2st.paddle.{space}"


def space_of(module: str) -> str:
    """The name space of PaddlePaddle's that a module is.

    >>> space_of("dy2st.nn.functional"), space_of("dy2st.paddle.vision")
    ('nn.functional', 'vision')
    """
    own = module.removeprefix("dy2st_runtime.").removeprefix("dy2st")
    return own.removeprefix(".paddle").removeprefix(".")


LATE = {
    **{name: home(name) for name in SPACES},
    "paddle": "dy2st.paddle",  # also of itself: annotations say `paddle.paddle.Tensor`
    **places(
        {
            "dy2st.amp": "autocast get_autocast_cpu_dtype get_autocast_dtype "
            "get_autocast_gpu_dtype is_autocast_enabled",
            "dy2st.importers.torch": "from_torch",
            "dy2st.paddle.audio.functional.plain_windows": "bartlett_window blackman_window "
            "hamming_window hann_window kaiser_window",
            "dy2st.paddle.device": "get_cudnn_version get_device is_compiled_with_cinn "
            "is_compiled_with_cuda is_compiled_with_custom_device is_compiled_with_distribute "
            "is_compiled_with_ipu is_compiled_with_rocm is_compiled_with_xpu set_device",
            "dy2st.paddle.distributed": "DataParallel",
            "dy2st.paddle.dtypes": "bfloat16 cdouble cfloat complex128 complex64 double dtype e "
            "finfo float8_e4m3fn float8_e5m2 float half iinfo inf int long nan newaxis "
            "pi short uint16 uint32 uint64",
            "dy2st.paddle.hapi.model": "Model",
            "dy2st.paddle.model_summary": "flops summary",
            "dy2st.paddle.modes": "LazyGuard disable_signal_handler disable_static enable_static "
            "get_flags in_dynamic_mode in_dynamic_or_pir_mode set_flags set_printoptions",
            "dy2st.paddle.reader": "batch",
            "dy2st.paddle.second_names": "as_tensor asarray async_save clear_async_save_task_queue "
            "get_cuda_rng_state get_default_device manual_seed set_cuda_rng_state "
            "set_default_device to_dlpack tolist",
            "dy2st.paddle.sizes": "Size range",
            "dy2st_runtime.checkpoint": "load save",
            "dy2st_runtime.nn.parameters": "ParamAttr create_parameter",
            "dy2st_runtime.place": "CPUPlace CUDAPinnedPlace CUDAPlace CustomPlace IPUPlace "
            "XPUPinnedPlace XPUPlace",
        }
    ),
}
