"""Generators, coroutines and `async`."""
