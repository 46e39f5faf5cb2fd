"""Switches that hold for the whole process: conversion on or off."""

from __future__ import annotations

_enabled = True


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Switch conversion on or off: while it is off, converted functions run as plain Python.

    >>> enable_to_static(True)
    """
    global _enabled
    if not isinstance(enable_to_static_bool, bool):
        raise TypeError(f"enable_to_static takes a bool, not {enable_to_static_bool!r}")
    _enabled = enable_to_static_bool


def enabled() -> bool:
    """Whether converted functions run as Programs."""
    return _enabled
