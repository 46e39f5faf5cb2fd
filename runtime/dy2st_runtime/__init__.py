"""All that a saved model needs to run: tensors, layers, Programs, engines, files.

It imports NumPy and safetensors only.
"""

from typing import TYPE_CHECKING

from dy2st_runtime import dims, eager, engine, errors, ir, ops  # noqa: F401  eager runs operators
from dy2st_runtime.ir import Program, Tensor
from dy2st_runtime.lazy import lazy_names, public_dir
from dy2st_runtime.tensor import from_dlpack, from_numpy, to_tensor
from dy2st_runtime.version import VERSION as _version

if TYPE_CHECKING:
    from dy2st_runtime import nn, optimizer
    from dy2st_runtime.io import LoadedModel, load
    from dy2st_runtime.limits import Limits
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "Limits": "dy2st_runtime.limits:Limits",
            "LoadedModel": "dy2st_runtime.io:LoadedModel",
            "io": "dy2st_runtime.io",
            "load": "dy2st_runtime.io:load",
            "nn": "dy2st_runtime.nn",
            "optimizer": "dy2st_runtime.optimizer",
        },
    )

__all__ = [
    "Limits",
    "LoadedModel",
    "Program",
    "Tensor",
    "dims",
    "engine",
    "errors",
    "from_dlpack",
    "from_numpy",
    "ir",
    "load",
    "nn",
    "ops",
    "optimizer",
    "to_tensor",
]
__dir__ = public_dir(__name__)
__version__ = _version
