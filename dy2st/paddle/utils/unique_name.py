"""Gives names that nobody else has: those of `dy2st_runtime.unique_name`, which Layers count by."""

from dy2st_runtime.lazy import public_dir
from dy2st_runtime.unique_name import UniqueNameGenerator, generate, guard, switch

__all__ = ["UniqueNameGenerator", "generate", "guard", "switch"]
__dir__ = public_dir(__name__)
