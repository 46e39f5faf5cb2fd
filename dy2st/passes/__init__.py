"""Passes: from a Program to a better one that computes the same."""

from dy2st.passes.dynamic_to_static import DynamicToStatic

__all__ = ["DynamicToStatic"]
