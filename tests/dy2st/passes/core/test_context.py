"""PassContext: levels, options, and how instruments are entered and left."""

from __future__ import annotations

import threading

import pytest

from dy2st.passes import PassContext, PassInstrument
from dy2st.passes.core.context import OPTIONS
from dy2st_runtime.errors import ArgumentError


class Recorded(PassInstrument):
    """Notes its calls in a list that several share, and fails where it is told to."""

    def __init__(self, name, log, fails=()):
        self.name, self.log, self.fails = name, log, fails

    def _note(self, event):
        self.log.append(f"{self.name} {event}")
        if event in self.fails:
            raise KeyError(f"{self.name} {event}")

    def enter_pass_ctx(self):
        self._note("enter")

    def exit_pass_ctx(self):
        self._note("exit")


def test_the_innermost_context_is_current():
    with PassContext(opt_level=1) as outer:
        assert PassContext.current() is outer
        with PassContext(opt_level=2) as inner:
            assert PassContext.current() is inner
        assert PassContext.current() is outer
    assert PassContext.current() is not outer


def test_without_a_context_all_levels_run_and_options_have_their_defaults():
    context = PassContext.current()
    assert context.wants("any", 4)
    assert {name: context.option(name) for name in OPTIONS} == {
        name: option.default for name, option in OPTIONS.items()
    }


def test_another_thread_has_a_context_of_its_own():
    found = []
    with PassContext(opt_level=0) as context:
        thread = threading.Thread(target=lambda: found.append(PassContext.current()))
        thread.start()
        thread.join()
    assert found[0] is not context and found[0].opt_level == 4


@pytest.mark.parametrize(
    "level, required, disabled, expected",
    [
        (2, [], [], True),
        (1, [], [], False),
        (1, ["Some"], [], True),
        (2, [], ["Some"], False),
        (1, ["Some"], ["Some"], False),
        (1, ["Other"], ["Another"], False),
    ],
)
def test_a_pass_of_level_two_runs_as_the_context_wants_it(level, required, disabled, expected):
    context = PassContext(level, required_pass=required, disabled_pass=disabled)
    assert context.wants("Some", 2) is expected


@pytest.mark.parametrize(
    "name", ["fold-constant", "fold_constant", "foldconstant", "Fold Constant"]
)
def test_names_of_passes_are_compared_as_the_registry_does(name):
    assert not PassContext(disabled_pass=[name]).wants("FoldConstant", 0)
    assert PassContext(0, required_pass=[name]).wants("FoldConstant", 3)


def test_an_unknown_option_is_an_error_with_the_nearest_name():
    with pytest.raises(ArgumentError, match="'reasociate'; did you mean 'reassociate'?"):
        PassContext(config={"reasociate": True})


def test_an_option_like_no_other_lists_them_all():
    with pytest.raises(ArgumentError) as caught:
        PassContext(config={"zzzz": True})
    assert all(name in str(caught.value) for name in OPTIONS)


@pytest.mark.parametrize(
    "name, value", [("reassociate", 1), ("bisect", True), ("bisect", "3"), ("bisect", None)]
)
def test_an_option_of_another_type_is_an_error(name, value):
    with pytest.raises(ArgumentError, match=f"the option '{name}' is of type"):
        PassContext(config={name: value})


@pytest.mark.parametrize("keyword", ["required_pass", "disabled_pass"])
def test_one_string_is_no_list_of_names(keyword):
    with pytest.raises(TypeError, match="as a list of names, not as 'FoldConstant'"):
        PassContext(**{keyword: "FoldConstant"})


def test_a_level_is_a_number():
    with pytest.raises(TypeError, match="opt_level is an int, not '3'"):
        PassContext(opt_level="3")


def test_a_context_is_not_entered_twice_at_once():
    context = PassContext()
    with context, pytest.raises(ArgumentError, match="entered already"):
        context.__enter__()
    with context:
        assert PassContext.current() is context


def test_instruments_are_entered_in_order_and_left_the_last_first():
    log = []
    with PassContext(instruments=[Recorded("a", log), Recorded("b", log)]):
        log.append("body")
    assert log == ["a enter", "b enter", "body", "b exit", "a exit"]


def test_when_one_cannot_be_entered_those_before_it_are_left():
    log = []
    before = PassContext.current()
    instruments = [Recorded("a", log), Recorded("b", log, ["enter"]), Recorded("c", log)]
    with pytest.raises(KeyError, match="b enter"), PassContext(instruments=instruments):
        log.append("body")
    assert log == ["a enter", "b enter", "a exit"]
    assert PassContext.current().instruments == before.instruments == []


def test_when_one_cannot_be_left_the_others_are_and_the_context_ends():
    log = []
    instruments = [Recorded("a", log), Recorded("b", log, ["exit"]), Recorded("c", log)]
    with pytest.raises(KeyError, match="b exit"), PassContext(instruments=instruments):
        pass
    assert log[3:] == ["c exit", "b exit", "a exit"]
    assert PassContext.current().instruments == []


def test_an_error_of_the_body_leaves_the_instruments_and_goes_on():
    log = []
    with pytest.raises(ZeroDivisionError), PassContext(instruments=[Recorded("a", log)]):
        1 / 0
    assert log == ["a enter", "a exit"]


def test_an_error_at_the_end_keeps_that_of_the_body_as_its_context():
    with (
        pytest.raises(KeyError, match="a exit") as caught,
        PassContext(instruments=[Recorded("a", [], ["exit"])]),
    ):
        raise ZeroDivisionError
    assert isinstance(caught.value.__context__, ZeroDivisionError)


@pytest.mark.parametrize("level", [-1, 5])
def test_a_level_is_one_of_those_that_there_are(level):
    with pytest.raises(ArgumentError, match=f"opt_level is 0 to 4, not {level}"):
        PassContext(opt_level=level)


@pytest.mark.parametrize("given", [[3], [PassInstrument], PassInstrument()])
def test_instruments_are_a_list_of_instances(given):
    with pytest.raises(TypeError, match="instruments are a list of PassInstruments, not"):
        PassContext(instruments=given)
