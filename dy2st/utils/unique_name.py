"""Names that nobody else has: `fc_0`, `fc_1`, ..."""

from __future__ import annotations

from collections import Counter
from typing import Any


class UniqueNameGenerator:
    """Counts how often each name was asked for."""

    def __init__(self, prefix: str = "") -> None:
        """Begin at 0; all names get the prefix."""
        self._prefix = prefix
        self._used: Counter[str] = Counter()

    def __call__(self, key: str) -> str:
        """The next name."""
        number = self._used[key]
        self._used[key] += 1
        return f"{self._prefix}{key}_{number}"


_generators = [UniqueNameGenerator()]


def generate(key: str) -> str:
    """A name that begins with `key`.

    >>> with guard():
    ...     generate("fc"), generate("fc")
    ('fc_0', 'fc_1')
    """
    return _generators[-1](key)


def switch(new_generator: UniqueNameGenerator | None = None) -> UniqueNameGenerator:
    """Count from 0, or go on where another generator is; the one before."""
    before = _generators[-1]
    _generators[-1] = UniqueNameGenerator() if new_generator is None else new_generator
    return before


class guard:
    """Count anew in a `with`, with a prefix if a text is given."""

    def __init__(self, new_generator: Any = None) -> None:
        """Take the prefix or the generator."""
        if isinstance(new_generator, UniqueNameGenerator):
            self._generator = new_generator
        else:
            self._generator = UniqueNameGenerator(new_generator or "")

    def __enter__(self) -> None:
        """Count in the new generator."""
        _generators.append(self._generator)

    def __exit__(self, *_: object) -> None:
        """Go on in the one before."""
        _generators.pop()
