"""Examples in docstrings take `dy2st` and `np` as given, as their readers do."""

from __future__ import annotations

import os

import pytest

# Before NumPy is loaded: its threads wait for each other wherever other processes are at work.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Code that tests compile is no business of the next ones.
os.environ["DY2ST_CACHE"] = "off"

import numpy as np

import dy2st
from dy2st.paddle import distributed
from dy2st.paddle.distributed.spawning import launch


@pytest.fixture(scope="session", autouse=True)
def names_of_examples(doctest_namespace: dict[str, object]) -> None:
    """Give every example the two names, and let it be the reader's own code, which is converted."""
    doctest_namespace.update(dy2st=dy2st, np=np, __name__="__main__")


def pytest_collection_finish() -> None:
    """Put the function back whose name a module takes where its examples are collected."""
    distributed.launch = launch
