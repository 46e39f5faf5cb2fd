"""References that keep nothing alive, where Python has them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any


def reference_to(instance: Any) -> Callable[[], Any]:
    """A weak reference, or a strong one to what takes none."""
    try:
        return weakref.ref(instance)
    except TypeError:
        return lambda: instance
