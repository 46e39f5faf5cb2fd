"""Mixed precision under PaddlePaddle's names: auto_cast, GradScaler, decorate.

NumPy computes in short floats as it does in long ones: the numbers are those of short floats, the
speed is not. `dy2st.passes.MixedPrecision` makes Programs for targets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.amp_lists import settings_of, short_float
from dy2st_runtime.grad_scaler import GradScaler
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.ir.promotion import autocast as _in_force
from dy2st_runtime.ir.promotion import autocasting
from dy2st_runtime.ir.types import named_dtype
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.nn.layer import Layer

Function = TypeVar("Function", bound=Callable[..., Any])

# Layers whose parameters and statistics stay in float32.
_NORMS = ("BatchNorm", "GroupNorm", "InstanceNorm", "LayerNorm", "SyncBatchNorm")


class auto_cast(autocasting):
    """Compute in a short float in a `with`, or in the calls of a function, where it is safe.

    Parameters
    ----------
    level
        'O1': what is on the white list computes in `dtype`, what is on the black list in
        float32, all else in the widest float that it gets. 'O2': with an empty black list, for
        a model of `decorate`. 'OD': the white list in `dtype`, all else in float32. 'O0':
        nothing is cast.
    custom_white_list, custom_black_list
        names of operators, PaddlePaddle's or ours.
    use_promote
        without it O2 computes in `dtype` whatever else it gets.

    Examples
    --------
    >>> from dy2st_runtime.ops import ones
    >>> with auto_cast():
    ...     (ones([2, 2]) @ ones([2, 2])).dtype
    dtype('float16')
    """

    @without_own_frames
    def __init__(
        self,
        enable: bool = True,
        custom_white_list: Any = None,
        custom_black_list: Any = None,
        level: str = "O1",
        dtype: Any = "float16",
        use_promote: bool = True,
    ):
        """Check all; ArgumentError for unknown levels and dtypes, ValueError for lists in two."""
        wanted = settings_of(level, dtype, custom_white_list, custom_black_list, use_promote)
        super().__init__(wanted if enable else None)

    def __call__(self, function: Function) -> Function:
        """The function, which computes so at each call."""
        settings = self._settings

        @wraps(function)
        def casting(*args: Any, **kwargs: Any) -> Any:
            with autocasting(settings):
                return function(*args, **kwargs)

        return casting  # type: ignore[return-value]


autocast = amp_guard = auto_cast
AmpScaler = GradScaler


@without_own_frames
def decorate(
    models: Any,
    optimizers: Any = None,
    level: str = "O1",
    dtype: Any = "float16",
    master_weight: bool | None = None,
    save_dtype: Any = None,
    master_grad: bool = False,
    excluded_layers: Any = None,
) -> Any:
    """Models whose parameters are short floats, in 'O2', and optimizers that keep long ones.

    In 'O1' all stays as it is. Norms, and `excluded_layers` (Layers or classes), stay in float32.
    Optimizers update a float32 copy unless `master_weight` is False; with `master_grad` gradients
    are float32. `save_dtype` is that of the floats in a `state_dict`.

    >>> net = dy2st.nn.Linear(2, 3)
    >>> opt = dy2st.optimizer.SGD(0.1, net.parameters())
    >>> net, opt = dy2st.amp.decorate(net, opt, level="O2")
    >>> net.weight.dtype
    dtype('float16')
    """
    short = short_float(level, dtype)
    if level == "O2":
        kept = _listed(excluded_layers)
        for model in _listed(models):
            # All parameters and buffers of float32 are short, but for those of some Layers.
            classes: Any = tuple(one for one in kept if isinstance(one, type))
            apart: list[Layer] = [one for one in kept if isinstance(one, Layer)]
            apart += [one for one in model.sublayers(include_self=True) if isinstance(one, classes)]
            untouched = {id(inner) for one in apart for inner in one.sublayers(include_self=True)}
            for layer in model.sublayers(include_self=True):
                is_norm = any(type_.__name__.startswith(_NORMS) for type_ in type(layer).__mro__)
                if id(layer) not in untouched and not is_norm:
                    for tensor in (*layer._parameters.values(), *layer._buffers.values()):
                        if tensor is not None and tensor.array.dtype == np.float32:
                            tensor.array = tensor.array.astype(short)
            if master_grad:
                for parameter in model.parameters():
                    if not parameter.stop_gradient:
                        parameter.register_hook(lambda gradient: gradient.astype("float32"))
            if save_dtype is not None:
                model.register_state_dict_hook(lambda state: _saved(state, save_dtype))
        for optimizer in _listed(optimizers):
            optimizer._multi_precision = master_weight is not False
    return models if optimizers is None else (models, optimizers)


def _listed(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [] if values is None else [values]


def _saved(state: dict[str, Any], dtype: Any) -> None:
    for name, tensor in state.items():
        if tensor.dtype.kind in "fV":
            state[name] = tensor.astype(dtype)


amp_decorate = decorate


def is_float16_supported(device: Any = None) -> bool:
    """Whether mixed precision in float16 has an effect: True.

    >>> dy2st.amp.is_float16_supported()
    True
    """
    return True


def is_bfloat16_supported(device: Any = None) -> bool:
    """Whether mixed precision in bfloat16 has an effect: with the package ml_dtypes.

    >>> isinstance(dy2st.amp.is_bfloat16_supported(), bool)
    True
    """
    return named_dtype("bfloat16") is not None


def is_autocast_enabled(device_type: Any = None) -> bool:
    """Whether operators compute in short floats now.

    >>> with dy2st.amp.auto_cast():
    ...     dy2st.is_autocast_enabled()
    True
    """
    return _in_force() is not None


@without_own_frames
def get_autocast_dtype(device_type: Any = None) -> str:
    """The short float that is taken, or would be.

    >>> with dy2st.amp.auto_cast(dtype="bfloat16"):  # doctest: +SKIP
    ...     dy2st.get_autocast_dtype()
    'bfloat16'
    >>> dy2st.get_autocast_dtype()
    'float16'
    """
    settings = _in_force()
    return "float16" if settings is None else settings.short.name


get_autocast_cpu_dtype = get_autocast_gpu_dtype = get_autocast_dtype


def amp_state() -> Any:
    """The settings of mixed precision that are in force, None if there are none."""
    return _in_force()


__all__ = [
    "AmpScaler",
    "GradScaler",
    "amp_decorate",
    "amp_guard",
    "auto_cast",
    "autocast",
    "decorate",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_enabled",
    "is_bfloat16_supported",
    "is_float16_supported",
]
__dir__ = public_dir(__name__)

private_modules(__name__)
