"""The code that is shown is the code that runs: compiled from its full text it gives the same Program."""

from __future__ import annotations

import ast
import linecache
import sys
import warnings
import zlib
from types import FunctionType
from typing import Any
from unittest import mock

import pytest

import dy2st
from dy2st.convert.call_context import Repeats
from dy2st.convert.dy2static import TRACED_CALLS
from dy2st.errors import Dy2stError
from dy2st.jit import dy2static, to_static
from dy2st.transpiler.lower import code_of
from tests.dy2st.catalogue.entry import Case
from tests.dy2st.catalogue.themes import CASES
from tests.effort import effort

# There a function that was a branch reads a variable through a cell, which knows which of several
# values it can be there, or says other words where it has none; and a generator expression is a
# function of the user's, whose code is not looked into.
OTHER_TEXT = frozenset(
    (
        "model_code.calls.walrus_in_a_chain",
        "model_code.accumulation.best_that_may_be_none",
        "model_code.corners.value_that_may_be_none",
        "model_code.data_texts.most_common_word",
        "model_code.data_texts.split_at_white_space",
        "model_code.dealing.multilevel_feedback_queue",
        "model_code.exceptions.finally_restores",
        "model_code.motion.kmeans",
        "model_code.motion.trajectory_simplify",
        "model_code.pipelines.composed_transforms",
        "model_code.probability.log_sum_with_nothing",
        "model_code.reinforcement.policy_iteration",
        "model_code.signals.first_crossing_interpolated",
        "model_code.speech.phones_in_text",
        "model_code.tracking.overlaps_as_a_table",
        "model_code.training.contrastive_with_a_queue",
        "model_code.vision.best_by_generator_and_default",
    )
)
ONE_IN = effort(48, 1)
CHOSEN = [
    case
    for case in CASES
    if case.way == "program"
    and case.entry.theme.startswith("model_code.")
    and type(case.entry.function) is FunctionType
    and not (case.entry.makes or case.entry.slow or case.entry.name in OTHER_TEXT)
    and zlib.crc32(case.name.encode()) % ONE_IN == 0
]


def compiled_from_text(function: FunctionType) -> FunctionType:
    """The function that the full text makes, in a module with nothing but the names it needs."""
    text, file = code_of(function, is_full=True), f"<full text of {function.__qualname__}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    known = {*dy2static.__all__, *TRACED_CALLS}
    used = {one.id for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Name)}
    names = {name: getattr(dy2static, name) for name in used if {name, name.rstrip("_")} & known}
    space = {**names, **function.__globals__}
    exec(compile(text, file, "exec"), space)
    made = space[function.__name__]
    assert isinstance(made, FunctionType)
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return made


def program_of(function: Any, case: Case) -> str:
    """The text of the Program of a function, or the name of what it is refused with.

    In the full text the body of a loop is a function of the user's, which may be one of the Program
    once it repeats: so all functions are recorded where they are called.
    """
    dy2st.seed(7)
    in_place = mock.patch.object(Repeats, "least", sys.maxsize)
    with in_place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(
                to_static(function, input_spec=case.spec(case.entry.calls()[0])).main_program
            )
        except Dy2stError as error:
            return type(error).__name__


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
def test_the_full_text_gives_the_same_program(case: Case) -> None:
    function = case.entry.function
    assert isinstance(function, FunctionType)
    assert program_of(compiled_from_text(function), case) == program_of(function, case)
