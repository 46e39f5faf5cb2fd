"""The table says of each function what a call reads, does and changes; its names are Python's."""

import array
import datetime
import functools
import heapq
import importlib
import io
import json
import logging
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import textwrap
import threading
import time
import uuid
import warnings
from contextvars import ContextVar
from pathlib import Path

import numpy as np
import pytest

import dy2st
from dy2st.convert.effect_table import KINDS, TABLE, Effect, changed, row_of

NOW, ARRAY, PATH, STREAM = datetime.datetime(2000, 1, 1), np.zeros(2), Path("a"), io.StringIO()
RNG, LOGGER, NUMBERS, BUFFER = np.random.default_rng(3), logging.getLogger("a"), [1], bytearray(4)
VARIABLE, CACHED, LOCK = ContextVar("a"), functools.lru_cache(abs), threading.Lock()


class Named(list):
    """A class of the user's, made in C."""


# A function, its arguments with the object of a method, what a call does, and what it changes.
ROWS = [
    (len, [NUMBERS], Effect.PURE, []),
    (dict, [], Effect.PURE, []),
    (Named, [], Effect.MUTATES, []),
    (NUMBERS.append, [NUMBERS, 2], Effect.MUTATES, [NUMBERS, 2]),
    (NUMBERS.index, [NUMBERS, 1], Effect.PURE, []),
    ("".join, ["", "a"], Effect.PURE, []),
    (re.compile("a").match, [re.compile("a"), "a"], Effect.PURE, []),
    (json.dumps, [1], Effect.PURE, []),
    (heapq.heappush, [NUMBERS, 1], Effect.MUTATES, [NUMBERS]),
    (struct.pack, ["i", 1], Effect.PURE, []),
    (struct.pack_into, ["i", BUFFER, 0, 1], Effect.MUTATES, [BUFFER]),
    (array.array.append, [array.array("i"), 1], Effect.MUTATES, [array.array("i"), 1]),
    (time.time, [], Effect.CLOCK, []),
    (time.gmtime, [], Effect.CLOCK, []),
    (time.gmtime, [None], Effect.CLOCK, []),
    (time.localtime, [3], Effect.READS_PROCESS, []),
    (time.sleep, [1], Effect.IO, [1]),
    (datetime.datetime.now, [datetime.datetime], Effect.CLOCK, []),
    (NOW.isoformat, [NOW], Effect.PURE, []),
    (NOW.timestamp, [NOW], Effect.READS_PROCESS, []),
    (NOW.astimezone, [NOW, datetime.timezone.utc], Effect.PURE, []),
    (os.getcwd, [], Effect.READS_PROCESS, []),
    (os.path.exists, ["a"], Effect.READS_PROCESS, []),
    (os.path.join, ["a", "b"], Effect.PURE, []),
    (os.remove, ["a"], Effect.IO, ["a"]),
    (os.urandom, [1], Effect.RANDOM, [1]),
    (pathlib.Path, ["a"], Effect.PURE, []),
    (pathlib.Path.exists, [PATH], Effect.READS_PROCESS, []),
    (pathlib.Path.unlink, [PATH], Effect.IO, [PATH]),
    (STREAM.write, [STREAM, "a"], Effect.IO, [STREAM, "a"]),
    (open, ["a"], Effect.IO, ["a"]),
    (random.random, [random._inst], Effect.RANDOM, [random._inst]),
    (random.Random, [], Effect.RANDOM, []),
    (random.Random, [3], Effect.MUTATES, [3]),
    (np.random.default_rng, [3], Effect.PURE, []),
    (RNG.normal, [RNG], Effect.RANDOM, [RNG]),
    (uuid.UUID.__str__, [uuid.UUID(int=3)], Effect.PURE, []),
    (uuid.uuid4, [], Effect.RANDOM, []),
    (LOGGER.info, [LOGGER, "a"], Effect.IO, [LOGGER, "a"]),
    (warnings.warn, ["a"], Effect.IO, ["a"]),
    (VARIABLE.set, [VARIABLE, 1], Effect.IO, [VARIABLE, 1]),
    (CACHED.cache_clear, [CACHED], Effect.IO, [CACHED]),
    (LOCK.acquire, [LOCK], Effect.MUTATES, [LOCK]),
    (threading.current_thread, [], Effect.READS_PROCESS, []),
    (sys.setrecursionlimit, [999], Effect.SETS_PROCESS, [999]),
    (subprocess.run, ["a"], Effect.IO, ["a"]),
    (np.dot, [ARRAY, ARRAY], Effect.PURE, []),
    (np.dot, [1, 2, ARRAY], Effect.MUTATES, [ARRAY]),
    (np.add.at, [np.add, ARRAY, 0, 1], Effect.MUTATES, [ARRAY]),
    (ARRAY.sum, [ARRAY], Effect.PURE, []),
    (ARRAY.sort, [ARRAY], Effect.MUTATES, [ARRAY]),
    (ARRAY.tofile, [ARRAY, "a"], Effect.IO, [ARRAY, "a"]),
    (dy2st.ones, [[1]], Effect.PURE, []),
    (dy2st.seed, [1], Effect.IO, [1]),
    (exec, ["a"], Effect.MUTATES, ["a"]),
]


@pytest.mark.parametrize(
    ("function", "values", "effect", "changes"),
    ROWS,
    ids=lambda one: getattr(one, "__qualname__", "") if callable(one) else "",
)
def test_a_call_does_what_its_row_says(function, values, effect, changes):
    row = row_of(function, values)
    assert row.effect is effect
    assert list(map(id, changed(row, function, values, {}))) == list(map(id, changes)) or (
        changed(row, function, values, {}) == changes
    )


def test_what_is_given_as_out_is_changed():
    row = row_of(np.sum, [NUMBERS, ARRAY])
    assert changed(row, np.sum, [NUMBERS], {"out": ARRAY})[0] is ARRAY
    assert changed(row_of(np.add), np.add, [1, 2, ARRAY], {})[0] is ARRAY


def test_to_take_a_lock_twice_is_more_than_a_change():
    assert row_of(LOCK.acquire, [LOCK]) is KINDS["LOCKS"]


def test_what_nobody_knows_is_a_row():
    assert row_of(importlib.import_module("marshal").dumps, [1]).effect is Effect.UNKNOWN


# Of other Pythons, systems and NumPys.
ELSEWHERE = """
    activate_stack_trampoline copy copy_into deactivate_stack_trampoline getLevelNamesMapping getdlopenflags
    is_junction isdevdrive isjunction itemset lchmod link_to move move_into prlimit process_cpu_count
    sched_getaffinity setdlopenflags setprofile_all_threads settrace_all_threads startfile uuid6
    uuid7 uuid8
""".split()
# What many classes have, and our own, which stand in modules inside.
NOT_ASKED = ("builtins.object", "dy2st_runtime")


def test_names_of_the_table_are_those_of_python():
    owners = {}  # of the same rows
    for place, rows in TABLE.items():
        owners.setdefault(id(rows), []).append(_found(place))
    missing = [
        f"{place}: {name}"
        for place, rows in TABLE.items()
        if place not in NOT_ASKED and any(owners[id(rows)])
        for name in rows
        if name != "*" and name not in ELSEWHERE
        if not any(_has(owner, name) for owner in owners[id(rows)] if owner is not None)
    ]
    assert not missing


def _found(place):
    """A module or class; None where this Python has none."""
    for module, _, kind in ((place, "", ""), place.rpartition(".")):
        try:
            loaded = importlib.import_module(module)
        except (ImportError, ValueError):
            continue
        return getattr(loaded, kind, None) if kind else loaded
    return None


def _has(owner, name):
    """Whether a module, or a class or module in it, has a name; `A.b` is a method of its class."""
    head, _, rest = name.partition(".")
    if rest:
        return hasattr(getattr(owner, head, None), rest)
    inner = [one for one in vars(owner).values() if isinstance(one, (type, type(sys)))]
    if isinstance(owner, type):  # also for classes that are derived from it, or as a function
        inner = [*owner.__subclasses__(), sys.modules[owner.__module__]]
    return hasattr(owner, name) or any(hasattr(one, name) for one in inner)


def test_the_rows_in_the_docs_are_those_of_the_table():
    root = Path(__file__).parents[3]
    (block,) = re.findall(
        r"^       resource\n(?:           [A-Z].*\n)+",
        (root / "docs" / "development.md").read_text(),
        re.MULTILINE,
    )
    assert textwrap.dedent(block) in (root / "dy2st" / "convert" / "effects.txt").read_text()
