"""Lists names of PaddlePaddle that are here and do less than they say: what each of them does.

A name stands for all that is under it; a text that is empty says of a name that it does its work.
"""

from __future__ import annotations

_FOR_GPUS = "jax keeps its own count and memory"

HOLLOW = {
    "LazyGuard": "nothing: parameters get their values at once",
    "async_save": "saves, and is done when it returns",
    "clear_async_save_task_queue": "nothing: all is saved",
    "device.Stream": "there is one, in which all things come in order",
    "device.cuda.empty_cache": f"nothing: {_FOR_GPUS}",
    "device.cuda.reset_max_memory_allocated": f"nothing: {_FOR_GPUS}",
    "device.cuda.reset_max_memory_reserved": f"nothing: {_FOR_GPUS}",
    "device.empty_cache": f"nothing: {_FOR_GPUS}",
    "device.get_all_custom_device_type": "an empty list",
    "device.get_available_custom_device": "an empty list",
    "device.get_cudnn_version": "None: cuDNN is jax's own",
    "device.ipc_collect": f"nothing: {_FOR_GPUS}",
    "device.is_compiled_with_cinn": "False",
    "device.is_compiled_with_custom_device": "False",
    "device.is_compiled_with_distribute": "False; `paddle.distributed` works all the same",
    "device.is_compiled_with_ipu": "False",
    "device.is_compiled_with_xpu": "False",
    "device.is_current_stream_capturing": "False",
    "device.reset_max_memory_allocated": f"nothing: {_FOR_GPUS}",
    "device.reset_max_memory_reserved": f"nothing: {_FOR_GPUS}",
    "device.reset_peak_memory_stats": f"nothing: {_FOR_GPUS}",
    "device.set_stream": "nothing: there is one stream",
    "device.stream_guard": "nothing: there is one stream",
    "disable_signal_handler": "nothing: there is none",
    "distributed.fleet.meta_parallel": "`fleet.init` cuts layers; shapes are those of the whole",
    "get_cuda_rng_state": "an empty list: get_rng_state() is for all devices",
    "get_cudnn_version": "None: cuDNN is jax's own",
    "in_dynamic_mode": "True, in converted functions too: a Program computes what Python would",
    "is_compiled_with_cinn": "False",
    "is_compiled_with_custom_device": "False",
    "is_compiled_with_distribute": "False; `paddle.distributed` works all the same",
    "is_compiled_with_ipu": "False",
    "is_compiled_with_xpu": "False",
    "set_cuda_rng_state": "takes an empty list: set_rng_state() is for all devices",
    "set_flags": "keeps them for get_flags; FLAGS_check_nan_inf is refused",
    "utils.cpp_extension": "may be imported; a call is refused",
    "utils.download": "takes files that are there, downloads nothing",
}


def what_it_does(name: str) -> str:
    """What a name does here that does less than it says; empty where it does its work.

    >>> what_it_does("is_compiled_with_cinn")
    'False'
    >>> what_it_does("nn.Linear")
    ''
    """
    parts = name.split(".")
    prefixes = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return next((HOLLOW[prefix] for prefix in prefixes if prefix in HOLLOW), "")
