"""Python's library: objects that keep a state in C, streams, logs, random numbers, copies."""

from __future__ import annotations

import array
import contextlib
import copy
import dataclasses
import io
import logging
import random
import sys
import warnings
from collections import OrderedDict
from typing import Any

import numpy as np

import dy2st
from dy2st.errors import ConversionError, UnsupportedSyntax
from tests.dy2st.catalogue.entry import construct

log = logging.getLogger("dy2st.rows")
log.addHandler(logging.NullHandler())
log.propagate = False
_ONCE = "in a branch or loop that depends on a tensor"


@construct(
    "a method of a list under a name of its own, in a branch",
    "the list is changed where the branch is taken",
)
def bound_append(x):
    items = [1]
    add = items.append
    if x.sum() > 0:
        add(2)
    return items


@construct(
    "`OrderedDict.move_to_end` in a branch",
    "the pairs stand in the order that each path gives them",
)
def moved_to_the_end(x):
    entries = OrderedDict(a=x, b=x + 1)
    if x.sum() > 0:
        entries.move_to_end("a")
    return list(entries)


@construct(
    "`array.array` in a branch",
    "a Program changes no arrays of Python",
    refused=ConversionError,
    says="the array in a variable is changed",
)
def changed_array_of_numbers(x):
    numbers = array.array("i", [1, 2])
    if x.sum() > 0:
        numbers[0] = 5
    return numbers.tolist()


@construct(
    "`io.StringIO` in a branch",
    "a Program writes no streams",
    refused=ConversionError,
    says="gets a StringIO that is made outside",
)
def text_in_memory(x):
    out = io.StringIO()
    if x.sum() > 0:
        print("up", file=out)
    return out.getvalue()


@construct(
    "`random.Random` in a branch",
    "the numbers that Python draws: the Program has its state",
)
def own_random_numbers(x):
    source = random.Random(3)
    if x.sum() > 0:
        source.random()
    return source.random()


@construct(
    "a generator of NumPy in a branch",
    "how far it has come would be known only when the Program runs",
    refused=ConversionError,
    says="a random number of Python is drawn in a branch",
)
def random_numbers_of_numpy(x):
    source = np.random.default_rng(3)
    if x.sum() > 0:
        source.random()
    return float(source.random())


@construct(
    "`random.random()` in a branch",
    "the same: the state is read when a call begins, and left as Python leaves it",
)
def shared_random_numbers(x):
    if x.sum() > 0:
        return x * 0 + random.random() * 0
    return x * 0


@construct(
    "`random.seed(...)` in a branch",
    "belongs before the branch",
    refused=UnsupportedSyntax,
    says=f"a random number of Python is drawn {_ONCE}",
)
def seeded_in_a_branch(x):
    source = random.Random(3)
    if x.sum() > 0:
        source.seed(4)
    return source.random()


@construct(
    "`dy2st.seed(...)`",
    "belongs before the call",
    refused=ConversionError,
    says="seed() of dy2st is called in a converted function",
)
def seeded(x):
    dy2st.seed(1)
    return x


@construct(
    "`sys.stdout.write` in a branch",
    "a Program prints by `print`",
    refused=ConversionError,
    says="of a stream is called in a branch",
)
def written_in_a_branch(x):
    if x.sum() > 0:
        sys.stdout.write("up")
    return x


@construct("`logging`, of tensors and in branches too", "the Program logs when it runs")
def logged_in_a_branch(x):
    if x.sum() > 0:
        log.warning("up")
    log.warning(x)
    return x


@construct(
    "`logging` in a branch, of a level that the logger does not take", "nothing, as in Python"
)
def not_logged_in_a_branch(x):
    if x.sum() > 0:
        log.debug("up")
        x = x + 1
    return x


@construct(
    "`warnings.warn` in a branch, inside of `catch_warnings`",
    "a Program warns when nobody catches it any more; elsewhere it warns when it runs",
    refused=UnsupportedSyntax,
    says=f"a warning is given {_ONCE}",
)
def warned_in_a_branch(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if x.sum() > 0:
            warnings.warn("up", stacklevel=1)
    return x


@construct(
    "`redirect_stdout` around `print`",
    "the Program prints when the stream is back in place",
    refused=ConversionError,
    says="print of a traced tensor to a file other than the standard output",
)
def redirected(x):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print("sum", x.sum())
    return out.getvalue()


@dataclasses.dataclass
class Record:
    value: Any
    count: int = 0


@construct("`copy.copy`, `copy.deepcopy`", "of tensors, and of what holds tensors")
def copies(x):
    first = {"a": [x, [x + 1]]}
    deep = copy.deepcopy(first)
    if x.sum() > 0:
        deep["a"].append(x * 2)
    shallow = copy.copy(deep)
    shallow["b"] = x
    return first, deep, shallow, copy.copy(x), copy.deepcopy(x.sum())


@construct("`dataclasses.asdict`, `astuple`, `replace`", "with the values of the branch")
def records_taken_apart(x):
    record = Record(x)
    if x.sum() > 0:
        record = dataclasses.replace(record, count=3)
    return dataclasses.asdict(record), dataclasses.astuple(record)


@construct(
    "`is_grad_enabled()`",
    "as the function has set it, or its caller: a Program for each",
)
def asks_for_the_mode(x):
    with dy2st.no_grad():
        inside = dy2st.is_grad_enabled()
    return x * 2 if dy2st.is_grad_enabled() else x * 3, inside
