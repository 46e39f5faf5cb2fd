"""Functions of neural networks: those of `dy2st_runtime.nn.functional`."""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import dy2st_runtime.nn.functional as _of_layers
from dy2st.paddle.mirrors import mirrors
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.lazy import lazy_names, public_dir
from dy2st_runtime.nn.functional import *  # noqa: F403
from dy2st_runtime.nn.functional import __all__ as __all__
from dy2st_runtime.nn.lazy import FUNCTIONALS

mirrors(__name__, "flash_attention", ["dy2st_runtime.nn.functions.flash_attention", __name__])

if TYPE_CHECKING:
    from dy2st_runtime.nn.lazy_functions import *  # noqa: F403
else:
    __getattr__ = lazy_names(__name__, FUNCTIONALS)

private_modules(__name__)


class _Functional(ModuleType):
    """What a user puts in here is there for layers, too, that find functions by their names."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if not name.startswith("_") and not isinstance(value, ModuleType):
            setattr(_of_layers, name, value)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        vars(_of_layers).pop(name, None)


sys.modules[__name__].__class__ = _Functional

__dir__ = public_dir(__name__)
