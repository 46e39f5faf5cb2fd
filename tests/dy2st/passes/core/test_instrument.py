"""In what order instruments see passes, how they veto them, and what they see of errors."""

from __future__ import annotations

import pytest

from dy2st.passes import Module, PassContext, PassInstrument, Sequential, function_pass
from dy2st_runtime.ir import F


class Watch(PassInstrument):
    """Notes its calls; fails in one of them, or says no to a pass."""

    def __init__(self, name, log, fails=None, refuses=None):
        self.name, self.log, self.fails, self.refuses = name, log, fails, refuses

    def _note(self, event, info=None):
        text = event if info is None else f"{event} {info.name}"
        self.log.append(f"{self.name} {text}")
        if self.fails == text:
            raise KeyError(text)

    def enter_pass_ctx(self):
        self._note("enter")

    def exit_pass_ctx(self):
        self._note("exit")

    def should_run(self, module, info):
        assert isinstance(module, Module)
        self._note("asked", info)
        return self.refuses != info.name

    def run_before_pass(self, module, info):
        self._note("before", info)

    def run_after_pass(self, module, info):
        self._note("after", info)

    def pass_failed(self, info, error):
        assert isinstance(error, (KeyError, KeyboardInterrupt))
        self._note("failed", info)


def watched(t, instruments, log, passes="P", error=None):
    """Run passes that note themselves, with instruments; the error that comes out."""

    def made(name):
        @function_pass(opt_level=0, name=name)
        def run(program, module, context):
            log.append(name)
            if error is not None:
                raise error
            return program

        return run

    program = t.program_of(lambda x: F.relu(x), t.floats(2))
    chosen = [made(name) for name in passes]
    subject = chosen[0] if len(chosen) == 1 else Sequential(chosen, name="S")
    try:
        with PassContext(instruments=instruments):
            subject(program)
    except (KeyError, KeyboardInterrupt) as caught:
        return caught
    return None


def events(log):
    return [entry for entry in log if not entry.endswith(("enter", "exit"))]


def test_all_calls_of_two_instruments_and_two_passes(t):
    log = []
    assert watched(t, [Watch("a", log), Watch("b", log)], log, "PQ") is None
    one_pass = "a asked {0}, b asked {0}, a before {0}, b before {0}, {0}, a after {0}, b after {0}"
    assert ", ".join(log) == (
        "a enter, b enter, a asked S, b asked S, a before S, b before S, "
        f"{one_pass.format('P')}, {one_pass.format('Q')}, a after S, b after S, b exit, a exit"
    )


def test_all_instruments_are_asked_and_one_that_refuses_is_enough(t):
    log = []
    watched(t, [Watch("a", log, refuses="P"), Watch("b", log)], log)
    assert events(log) == ["a asked P", "b asked P"]


def test_an_instrument_may_refuse_a_pass_that_is_required_too(t):
    log = []
    program = t.program_of(lambda x: F.relu(x), t.floats(2))
    refused = function_pass(opt_level=0, name="R")(lambda *_: 1 / 0)
    with PassContext(required_pass=["R"], instruments=[Watch("a", log, refuses="R")]):
        after = Sequential([refused])(program)
    assert str(after) == str(program)


def test_a_refused_sequential_runs_none_of_its_members(t):
    log = []
    watched(t, [Watch("a", log, refuses="S")], log, "PQ")
    assert events(log) == ["a asked S"]


@pytest.mark.parametrize(
    "fails, expected",
    [
        ("asked P", "a asked P, b asked P"),
        ("before P", "a asked P, b asked P, a before P, b before P, a failed P"),
        (
            "after P",
            "a asked P, b asked P, a before P, b before P, P, a after P, b after P",
        ),
    ],
)
def test_an_error_of_an_instrument_ends_the_pass_and_goes_on(t, fails, expected):
    log = []
    error = watched(t, [Watch("a", log), Watch("b", log, fails)], log)
    assert isinstance(error, KeyError) and fails in str(error)
    assert ", ".join(events(log)) == expected
    assert log[-2:] == ["b exit", "a exit"]


def test_instruments_that_wait_for_the_end_of_a_pass_are_told_of_its_failure(t):
    log = []
    watched(t, [Watch("a", log, "after P"), Watch("b", log)], log)
    assert events(log)[-2:] == ["a after P", "b failed P"]


@pytest.mark.parametrize("error", [KeyError("x"), KeyboardInterrupt()])
def test_every_instrument_is_told_once_of_every_pass_that_fails(t, error):
    log = []
    assert watched(t, [Watch("a", log), Watch("b", log)], log, "PQ", error) is error
    assert events(log)[-5:] == ["P", "a failed P", "b failed P", "a failed S", "b failed S"]
    assert log[-2:] == ["b exit", "a exit"]


def test_after_an_error_a_context_works_as_before(t):
    log = []
    watched(t, [Watch("a", log)], log, error=KeyError("x"))
    del log[:]
    watched(t, [Watch("a", log)], log)
    assert log == ["a enter", "a asked P", "a before P", "P", "a after P", "a exit"]


def test_a_plain_instrument_lets_everything_run(t):
    log = []
    assert watched(t, [PassInstrument()], log, "PQ") is None
    assert log == ["P", "Q"]
