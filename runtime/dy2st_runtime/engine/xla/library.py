"""jax, which is loaded when a Program is first compiled for it: nothing else imports it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.lazy import Lazy, once

jax, jnp, lax = Lazy("jax"), Lazy("jax.numpy"), Lazy("jax.lax")
special, jax_linalg = Lazy("jax.scipy.special"), Lazy("jax.scipy.linalg")
callbacks, export = Lazy("jax.experimental"), Lazy("jax.export")
sharding = Lazy("jax.sharding")
_chosen: list[Any] = [None]
_PRECISIONS = ("highest", "high", "default")


def precision() -> str:
    """How exact products are: `highest`, or what DY2ST_XLA_PRECISION says.

    Raises ArgumentError for a word that jax does not have.
    """
    chosen = os.environ.get("DY2ST_XLA_PRECISION") or "highest"
    if chosen not in _PRECISIONS:
        raise ArgumentError(
            f"DY2ST_XLA_PRECISION is {', '.join(_PRECISIONS[:-1])} or {_PRECISIONS[-1]}, "
            f"not {chosen!r}"
        )
    return chosen


def chosen_device() -> Any:
    """The device of jax that Programs without a mesh run on; None for the one that jax takes."""
    return _chosen[0]


@contextmanager
def exactly(device: Any = None) -> Iterator[None]:
    """Around traces and calls: 64 bits are 64 bits, and products are exact. No global flag.

    They are for that device, or the one that is chosen now.
    """
    # The name came with jax 0.8; before, it was in jax.experimental.
    is_new = hasattr(jax, "enable_x64")
    wide: Any = jax.enable_x64 if is_new else callbacks.enable_x64
    device = device or _chosen[0]
    where = nullcontext() if device is None else jax.default_device(device)
    before = _settings()
    try:
        with wide(True), jax.default_matmul_precision(precision()), where:
            yield
    finally:
        # Ctrl-C may come just after jax has changed a setting, and before `with` knows of it.
        for now, old, change in zip(_settings(), before, _changes(wide), strict=True):
            if now != old:
                change(old).__enter__()


def _settings() -> tuple[Any, ...]:
    """What `exactly` changes, as it is in this thread."""
    config = jax.config
    return config.jax_enable_x64, config.jax_default_matmul_precision, config.jax_default_device


def _changes(wide: Any) -> tuple[Any, ...]:
    return wide, jax.default_matmul_precision, jax.default_device


def draws_on_device(is_on_a_mesh: bool) -> bool:
    """Whether the device draws random numbers itself: on a mesh, or as DY2ST_XLA_RANDOM says.

    Raises ArgumentError for a word that it does not have.
    """
    chosen = os.environ.get("DY2ST_XLA_RANDOM", "")
    if chosen not in ("", "numpy", "device"):
        raise ArgumentError(f"DY2ST_XLA_RANDOM is numpy or device, not {chosen!r}")
    return is_on_a_mesh if chosen == "" else chosen == "device"


def compute_on(device: Any) -> None:
    """Let Programs without a mesh run on a device of jax; None for the one that jax takes."""
    _chosen[0] = device


def reuses_memory() -> bool:
    """Whether steps may write over the memory of what they update (`DY2ST_XLA_REUSE=on`).

    Then no other thread may look at the state while a step runs, and an interrupt loses it.
    """
    return os.environ.get("DY2ST_XLA_REUSE", "") == "on"


@once
def array_types() -> frozenset[type]:
    """The classes of what jax computes: to ask for them is quicker than for `jax.Array`."""
    return frozenset({type(jax.device_put(0))})


def is_cpu() -> bool:
    """Whether Programs run on the CPU."""
    return bool(jax.default_backend() == "cpu")


__all__ = [
    "array_types",
    "callbacks",
    "chosen_device",
    "compute_on",
    "draws_on_device",
    "exactly",
    "export",
    "is_cpu",
    "jax",
    "jax_linalg",
    "jnp",
    "lax",
    "precision",
    "reuses_memory",
    "sharding",
    "special",
]
