"""Tells what GPUs and TPUs jax finds on this machine; it is loaded when one is asked for.

>>> kind_and_number("GPU:1"), kind_and_number("tpu"), kind_and_number("cuda")
(('gpu', 1), ('tpu', 0), ('gpu', 0))
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.lazy import Lazy

if TYPE_CHECKING:
    from importlib import metadata, util
else:  # slow to load, and asked only where a device is
    metadata, util = Lazy("importlib.metadata"), Lazy("importlib.util")

_jax = Lazy("jax")
_KINDS = {"gpu": "gpu", "cuda": "gpu", "tpu": "tpu"}
_OTHERS = ("xpu", "npu", "dcu", "mlu", "ipu", "gcu", "metax_gpu", "iluvatar_gpu", "gpu_pinned")
_WRITTEN = re.compile(r"([a-z_]+)(?::([0-9]+))?")
_INSTALL = {"gpu": "pip install 'jax[cuda12]'", "tpu": "pip install 'jax[tpu]'"}


def kind_and_number(device: Any) -> tuple[str, int]:
    """What a text such as `gpu:0` names; ArgumentError for what names no device.

    A device that jax does not know, as `xpu`, is one; none of it is ever found.
    """
    found = _WRITTEN.fullmatch(device.lower()) if isinstance(device, str) else None
    kind = found and found[1]
    if found is None or kind not in {*_KINDS, *_OTHERS, "cpu"}:
        raise ArgumentError(f"a device is 'cpu', 'gpu', 'gpu:0', 'tpu:0' and so on, not {device!r}")
    return _KINDS.get(found[1], found[1]), int(found[2] or 0)


def found(kind: str) -> list[Any]:
    """The devices of that kind that this process has, as jax gives them; none without jax."""
    if kind not in _INSTALL or util.find_spec("jax") is None:
        return []
    return [one for one in _jax.local_devices() if one.platform == kind]


def the_one(kind: str, number: int, name: str = "") -> Any:
    """That device, which the user calls `name`; ArgumentError says what to install for it."""
    there = found(kind)
    if number < len(there):
        return there[number]
    what = f"the device '{name or f'{kind}:{number}'}' is not here"
    if kind not in _INSTALL:
        why = "dy2st computes on CPUs, and on GPUs and TPUs by jax"
    elif util.find_spec("jax") is None:
        why = f"jax, which brings {kind.upper()}s, is not installed: {_INSTALL[kind]}"
    elif there:
        why = f"jax finds {len(there)} of them, from '{kind}:0' on"
    else:
        have = ", ".join(sorted({one.platform for one in _jax.local_devices()}))
        why = f"jax finds no {kind.upper()}, but {have}: see to the driver, and {_INSTALL[kind]}"
    raise ArgumentError(f"{what}: {why}; or write 'cpu'")


def has_plugin(name: str) -> bool:
    """Whether jax is installed with what drives such GPUs, `cuda` or `rocm`; it is not loaded."""
    plugins = metadata.entry_points(group="jax_plugins")
    return util.find_spec("jax") is not None and any(
        one.name.startswith(f"xla_{name}") for one in plugins
    )


def wait() -> None:
    """Wait until all is computed that devices were asked for."""
    if "jax" in sys.modules:
        _jax.block_until_ready(_jax.live_arrays())


def memory(kind: str, number: int, what: str) -> int:
    """Bytes of a device that jax counts: `bytes_in_use`, say; 0 while nothing is computed there."""
    if "jax" not in sys.modules or number >= len(found(kind)):
        return 0
    return int((found(kind)[number].memory_stats() or {}).get(what, 0))


__all__ = ["found", "has_plugin", "kind_and_number", "memory", "the_one", "wait"]
