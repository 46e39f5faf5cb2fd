"""Mixed precision under PaddlePaddle's names. On a CPU it computes in float32, as Paddle does.

Where it is asked for, a warning says so. `dy2st.passes.MixedPrecision` makes Programs with short
floats for targets that have them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dy2st.mirrors import mirrors
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.location import warn_user

Function = TypeVar("Function", bound=Callable[..., Any])

_LEVELS = ("O0", "OD", "O1", "O2")


def _check(level: str, dtype: Any) -> None:
    if level not in _LEVELS:
        raise ArgumentError(f"the level of mixed precision is one of {_LEVELS}, not {level!r}")
    if str(dtype) not in ("float16", "bfloat16"):
        raise ArgumentError(f"mixed precision is in 'float16' or 'bfloat16', not {dtype!r}")


class auto_cast:
    """Compute in float32 in a `with`, or in the calls of a function.

    With `enable` there is a warning: on a CPU it makes no effect, here as in PaddlePaddle.

    >>> with auto_cast(enable=False):
    ...     pass
    """

    def __init__(
        self,
        enable: bool = True,
        custom_white_list: Any = None,
        custom_black_list: Any = None,
        level: str = "O1",
        dtype: Any = "float16",
        use_promote: bool = True,
    ):
        """Check level and dtype; ArgumentError for others than there are."""
        _check(level, dtype)
        self._wanted = bool(enable) and level != "O0"

    def __enter__(self) -> None:
        """Warn if short floats are wanted."""
        if self._wanted:
            _say_unchanged("auto_cast()")

    def __exit__(self, *_: object) -> None:
        """Nothing is to be changed back."""

    def __call__(self, function: Function) -> Function:
        """The function, which computes in float32 anyway."""
        if self._wanted:
            _say_unchanged("auto_cast()")
        return function


def _say_unchanged(what: str) -> None:
    warn_user(
        f"{what} makes no effect: dy2st computes on the CPU, in float32, as PaddlePaddle does "
        "there; pass enable=False to say that this is meant"
    )


autocast = amp_guard = auto_cast


class GradScaler:
    """Scales losses for float16: by 1, as all is float32. With `enable` there is a warning.

    >>> GradScaler(enable=False).scale(3.0)
    3.0
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 65536.0,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 2000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ):
        """Take the wishes; none of them has a use."""
        if enable:
            _say_unchanged("GradScaler()")

    def scale(self, var: Any) -> Any:
        """The loss, times 1."""
        return var

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients by 1."""

    def step(self, optimizer: Any) -> None:
        """Let the optimizer do its step."""
        optimizer.step()

    def update(self) -> None:
        """Take another scale: it stays 1."""

    def minimize(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Let the optimizer do its step; the gradients are there by `loss.backward()`."""
        return optimizer.step()

    def is_enable(self) -> bool:
        """False: the scale is 1."""
        return False

    is_use_dynamic_loss_scaling = is_enable

    def get_init_loss_scaling(self) -> float:
        """The scale."""
        return 1.0

    def state_dict(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take what another has saved: a scale that has no use here."""

    set_state_dict = load_state_dict


AmpScaler = GradScaler


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
    """The models and optimizers as they are: in float32, as PaddlePaddle gives them on a CPU."""
    _check(level, dtype)
    return models if optimizers is None else (models, optimizers)


amp_decorate = decorate


def is_float16_supported(device: Any = None) -> bool:
    """Whether mixed precision in float16 has an effect: False."""
    return False


def is_bfloat16_supported(device: Any = None) -> bool:
    """Whether mixed precision in bfloat16 has an effect: False."""
    return False


def is_autocast_enabled(device_type: Any = None) -> bool:
    """Whether operators compute in short floats now: False."""
    return False


def get_autocast_dtype(device_type: Any = None) -> str:
    """The short float that would be taken."""
    return "float16"


get_autocast_cpu_dtype = get_autocast_gpu_dtype = get_autocast_dtype


def amp_state() -> None:
    """The settings of mixed precision that are in force: none."""


mirrors(__name__, "grad_scaler", [__name__])
mirrors(__name__, "auto_cast", [__name__], hidden=True)

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
