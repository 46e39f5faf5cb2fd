"""Names that are given once: `linear_0`, `linear_1`, ... as PaddlePaddle counts them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

_HUMP = r"(?<=.)(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])"
_counts: dict[str, int] = {}
_snakes: dict[str, str] = {}


def generate(key: str) -> str:
    """`key_0`, then `key_1`, and so on.

    >>> with guard():
    ...     generate("fc"), generate("fc"), generate("conv")
    ('fc_0', 'fc_1', 'conv_0')
    """
    number = _counts.get(key, 0)
    _counts[key] = number + 1
    return f"{key}_{number}"


def switch(counts: dict[str, int] | None = None) -> dict[str, int]:
    """Go on with other counts, none if they are left out; the counts until now."""
    global _counts
    before, _counts = _counts, {} if counts is None else counts
    return before


@contextmanager
def guard(counts: dict[str, int] | None = None) -> Iterator[None]:
    """Count anew inside of the `with`, and go on where it was left afterwards."""
    before = switch(counts)
    try:
        yield
    finally:
        switch(before)


def snake_case(name: str) -> str:
    """The name of a class as the first part of the names of its Layers.

    >>> snake_case("Conv1DTranspose"), snake_case("PReLU")
    ('conv1d_transpose', 'p_re_lu')
    """
    if name not in _snakes:
        _snakes[name] = re.sub(_HUMP, "_", name).lower()
    return _snakes[name]


__all__ = ["generate", "guard", "snake_case", "switch"]
