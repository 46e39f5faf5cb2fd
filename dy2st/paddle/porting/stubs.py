"""Lists names of PaddlePaddle that are here and do less than they say: what each of them does.

A name stands for all that is under it; a text that is empty says of a name that it does its work.
"""

from __future__ import annotations

_CPU = "the CPU is the one device"

HOLLOW = {
    "LazyGuard": "nothing: parameters get their values at once",
    "async_save": "saves, and is done when it returns",
    "clear_async_save_task_queue": "nothing: all is saved",
    "device": f"answers that {_CPU}: of GPUs there are 0, with 0 bytes; nothing is waited for",
    "device.device_guard": f"nothing: {_CPU}, any other is refused",
    "device.set_device": f"nothing: {_CPU}, any other is refused",
    "disable_signal_handler": "nothing: there is none",
    "distributed.fleet.meta_parallel": "`fleet.init` cuts layers; shapes are those of the whole",
    "get_cuda_rng_state": "an empty list: no GPU is there",
    "get_default_device": f"'cpu': {_CPU}",
    "get_device": f"'cpu': {_CPU}",
    "get_cudnn_version": "None: no GPU is there",
    "in_dynamic_mode": "True, in converted functions too: a Program computes what Python would",
    "is_compiled_with_cinn": "False",
    "is_compiled_with_cuda": "False: no GPU is used",
    "is_compiled_with_custom_device": "False",
    "is_compiled_with_distribute": "False; `paddle.distributed` works all the same",
    "is_compiled_with_ipu": "False",
    "is_compiled_with_rocm": "False",
    "is_compiled_with_xpu": "False",
    "set_cuda_rng_state": "takes an empty list: no GPU is there",
    "set_device": f"nothing: {_CPU}, any other is refused",
    "set_flags": "keeps them for get_flags; FLAGS_check_nan_inf is refused",
    "utils.cpp_extension": "may be imported; a call is refused",
    "utils.download": "takes files that are there, downloads nothing",
}


def what_it_does(name: str) -> str:
    """What a name does here that does less than it says; empty where it does its work.

    >>> what_it_does("get_device")
    "'cpu': the CPU is the one device"
    >>> what_it_does("nn.Linear")
    ''
    """
    parts = name.split(".")
    prefixes = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return next((HOLLOW[prefix] for prefix in prefixes if prefix in HOLLOW), "")
