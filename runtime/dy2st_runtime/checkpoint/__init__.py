"""Checkpoints: state dicts and other nested data, saved, and loaded from several libraries."""

from dy2st_runtime.checkpoint.loading import load
from dy2st_runtime.checkpoint.saving import save

__all__ = ["load", "save"]
