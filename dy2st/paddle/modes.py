"""Answers for modes and flags of PaddlePaddle: dy2st computes at once, and has no such flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.place import as_place

# Flags choose among kernels, allocators and logs, which are not here: they are kept to be asked.
_flags: dict[str, Any] = {}


def in_dynamic_mode() -> bool:
    """Whether operators compute at once: True, as a converted function means what Python does.

    >>> in_dynamic_mode()
    True
    """
    return True


def in_dynamic_or_pir_mode() -> bool:
    """True, see in_dynamic_mode.

    >>> dy2st.in_dynamic_or_pir_mode()
    True
    """
    return True


def in_pir_mode() -> bool:
    """False: there are no static graphs made by hand."""
    return False


def use_pir_api() -> bool:
    """False: there are no static graphs made by hand."""
    return False


def disable_static(place: Any = None) -> None:
    """Compute at once, as is always done; `place` must be here.

    >>> dy2st.disable_static()
    """
    as_place(place)


def enable_static() -> NoReturn:
    """Refuse: static graphs made by hand (Executor, program_guard, static.data) are not here.

    >>> dy2st.enable_static()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: ...
    """
    raise ArgumentError(
        "enable_static(): static graphs made by hand are not here; write the model as a Layer or "
        "function and put @to_static on it: what it gives is a Program, and jit.save keeps it"
    )


def disable_signal_handler() -> None:
    """Nothing: dy2st handles no signals.

    >>> dy2st.disable_signal_handler()
    """


def _named(flag: str) -> str:
    if not isinstance(flag, str) or not flag.startswith("FLAGS_"):
        raise ArgumentError(f"a flag is called FLAGS_..., not {flag!r}")
    return flag


def set_flags(flags: Mapping[str, Any]) -> None:
    """Keep flags for get_flags; they choose among kernels and allocators that are not here.

    >>> set_flags({"FLAGS_cudnn_deterministic": True})
    """
    if not isinstance(flags, Mapping):
        raise ArgumentError(f"set_flags takes a dict of flags and values, not {flags!r}")
    if str(flags.get("FLAGS_check_nan_inf")).lower() in ("1", "true"):
        raise ArgumentError(
            "FLAGS_check_nan_inf is not here: assert isfinite(x).all() where you want to know"
        )
    _flags.update({_named(flag): value for flag, value in flags.items()})


def get_flags(flags: str | Sequence[str]) -> dict[str, Any]:
    """The flags that set_flags has set; None for others.

    >>> get_flags("FLAGS_check_nan_inf")
    {'FLAGS_check_nan_inf': None}
    """
    names = [flags] if isinstance(flags, str) else flags
    return {flag: _flags.get(_named(flag)) for flag in names}


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sci_mode: bool | None = None,
    linewidth: int | None = None,
) -> None:
    """How tensors and NumPy arrays are printed, by NumPy: what is None stays as it is.

    Parameters
    ----------
    precision
        How many digits there are behind the point.
    threshold, edgeitems
        From how many elements on arrays are shortened, and to how many at each end.
    linewidth
        How long a line is.
    sci_mode
        Whether numbers have exponents.

    Examples
    --------
    >>> dy2st.set_printoptions(precision=2)
    >>> print(dy2st.to_tensor([1 / 3]))
    [0.33]
    >>> dy2st.set_printoptions(precision=8)
    """
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
        "suppress": None if sci_mode is None else not sci_mode,
    }
    np.set_printoptions(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


class LazyGuard:
    """Make Layers in a `with` whose parameters get values later: here they get them at once.

    >>> with dy2st.LazyGuard():
    ...     net = dy2st.nn.Linear(2, 3)
    >>> net.weight.shape
    [2, 3]
    """

    def __enter__(self) -> None:
        """Nothing is to be changed."""

    def __exit__(self, *_: object) -> None:
        """Nothing is to be changed back."""
