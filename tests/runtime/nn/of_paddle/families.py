"""Cases that PaddlePaddle has answered, by family."""

from __future__ import annotations

from importlib import import_module

from tests.runtime.nn.of_paddle.cases import Cases

FAMILIES = ("alignment", "decoding", "images", "losses", "small", "transformer", "volumes")


def families() -> list[Cases]:
    """The cases of every family."""
    return [import_module(f"tests.runtime.nn.of_paddle.{family}").CASES for family in FAMILIES]
