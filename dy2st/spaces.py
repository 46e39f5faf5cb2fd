"""Names of `dy2st` that are loaded when they are asked for, by the module that has them."""

from __future__ import annotations

from dy2st_runtime.late import places

_MODULES = (
    "amp",
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
    "io",
    "linalg",
    "metric",
    "onnx",
    "passes",
    "profiler",
    "regularizer",
    "signal",
    "tensor",
    "text",
    "utils",
    "version",
    "vision",
)

LATE = {
    **{name: f"dy2st.{name}" for name in _MODULES},
    "_C_ops": "dy2st._C_ops",
    "_legacy_C_ops": "dy2st._legacy_C_ops",
    "paddle": "dy2st",  # PaddlePaddle has itself as a name: annotations say `paddle.paddle.Tensor`
    **places(
        {
            "dy2st.amp": "autocast get_autocast_cpu_dtype get_autocast_dtype "
            "get_autocast_gpu_dtype is_autocast_enabled",
            "dy2st.audio.functional.plain_windows": "bartlett_window blackman_window "
            "hamming_window hann_window kaiser_window",
            "dy2st.device": "get_cudnn_version get_device is_compiled_with_cinn "
            "is_compiled_with_cuda is_compiled_with_custom_device is_compiled_with_distribute "
            "is_compiled_with_ipu is_compiled_with_rocm is_compiled_with_xpu set_device",
            "dy2st.distributed": "DataParallel",
            "dy2st.dtypes": "bfloat16 cdouble cfloat complex128 complex64 double dtype e finfo "
            "float8_e4m3fn float8_e5m2 "
            "float half iinfo inf int long nan newaxis pi short uint16 uint32 uint64",
            "dy2st.hapi.model": "Model",
            "dy2st.model_summary": "flops summary",
            "dy2st.modes": "LazyGuard disable_signal_handler disable_static enable_static "
            "get_flags in_dynamic_mode in_dynamic_or_pir_mode set_flags set_printoptions",
            "dy2st.reader": "batch",
            "dy2st.second_names": "as_tensor asarray async_save clear_async_save_task_queue "
            "get_cuda_rng_state get_default_device manual_seed set_cuda_rng_state "
            "set_default_device to_dlpack tolist",
            "dy2st.sizes": "Size range",
            "dy2st_runtime.checkpoint": "load save",
            "dy2st_runtime.nn.parameters": "ParamAttr create_parameter",
            "dy2st_runtime.place": "CPUPlace CUDAPinnedPlace CUDAPlace CustomPlace IPUPlace "
            "XPUPinnedPlace XPUPlace",
        }
    ),
}
