"""Checkpoints: state dicts and other nested data, saved, and loaded from several libraries."""
