"""Passes that are called, and the decorators that make them."""

from __future__ import annotations

import pytest

from dy2st import passes
from dy2st.passes import Module, PassContext, Sequential, function_pass, module_pass
from dy2st.passes.core.base import FunctionPass, ModulePass
from dy2st.passes.core.info import PassInfo
from dy2st_runtime.errors import PassError
from dy2st_runtime.ir import F
from tests.dy2st.passes.core.noting import noting


@pytest.fixture
def program(t):
    return t.program_of(lambda x: F.relu(x), t.floats("n", 3))


# -- what a direct call does ----------------------------------------------------------------------


def test_a_program_gives_a_program_and_a_module_a_module(t, program):
    module = Module({"main": program})
    assert type(passes.EliminateDeadCode()(program)) is type(program)
    after = passes.EliminateDeadCode()(module)
    assert type(after) is Module and after is not module
    assert module.programs["main"] is program is not after.programs["main"]


def test_what_is_given_stays_as_it_is(t):
    program = t.program_of(lambda x: F.relu(x) + (F.exp(x) * 0 + 1) * 0, t.floats(2))
    text, operators = str(program), list(program.operators)

    @function_pass(opt_level=0)
    def spoil(program, module, context):
        program.operators[0].attributes["left"] = 1
        program.operators[0].name = "tanh"
        program.operators.pop()
        program.inputs[0].name = "other"
        return program

    spoil(program)
    assert str(program) == text and program.operators == operators


def test_a_direct_call_does_not_ask_for_the_level(t, program):
    log = []
    with PassContext(opt_level=0):
        noting(log, "High", level=4)(program)
    assert log == ["High"]


def test_a_direct_call_of_a_disabled_pass_does_nothing(t, program):
    log = []
    with PassContext(disabled_pass=["High"], required_pass=["High"]):
        after = noting(log, "High")(program)
    assert log == [] and str(after) == str(program)


@pytest.mark.parametrize("target", [None, "text", 3, []])
def test_what_is_no_program_is_refused(target):
    with pytest.raises(TypeError, match="a pass takes a Program or a Module"):
        passes.FoldConstant()(target)


def test_a_module_is_not_given_arrays_beside(program):
    with pytest.raises(TypeError, match="a Module has arrays of its own"):
        passes.FoldConstant()(Module({"main": program}), {"w": 1})


def test_a_pass_that_takes_the_program_out_is_called_with_a_module(program):
    @module_pass(opt_level=0)
    def nothing_left(module, context):
        return Module({})

    assert nothing_left(Module({"main": program})).programs == {}
    with pytest.raises(PassError, match="nothing_left has taken out the Program 'main'"):
        nothing_left(program)


# -- decorators -----------------------------------------------------------------------------------


def test_a_function_becomes_a_function_pass_under_its_own_name(program):
    @function_pass(opt_level=2)
    def my_own(program, module, context):
        """What it does."""
        assert module.programs[program.name] is program and isinstance(context, PassContext)
        return program

    assert isinstance(my_own, FunctionPass) and my_own.__doc__ == "What it does."
    assert my_own.info == PassInfo("my_own", 2, ())
    assert repr(my_own) == "<my_own my_own, level 2>"
    assert str(my_own(program)) == str(program)


def test_a_function_pass_sees_every_program_once(t, program):
    seen = []

    @function_pass(opt_level=0)
    def look(program, module, context):
        seen.append(program.name)
        return program

    other = t.program_of(lambda x: F.exp(x), t.floats(2), name="other")
    look(Module({"main": program, "other": other}))
    assert seen == ["main", "other"]


def test_a_function_becomes_a_module_pass_that_may_add_programs(t, program):
    other = t.program_of(lambda x: F.exp(x), t.floats(2), name="other")

    @module_pass(opt_level=1, name="AddOther", required=["FoldConstant"])
    def add(module, context):
        module.programs["other"] = other
        return module

    assert add.info == PassInfo("AddOther", 1, ("FoldConstant",))
    assert list(add(Module({"main": program})).programs) == ["main", "other"]


@pytest.mark.parametrize("base", [object, FunctionPass])
def test_a_class_keeps_its_constructors_arguments(program, base):
    @function_pass(opt_level=1, name="Renamed")
    class Rename(base):
        """Names the inputs."""

        def __init__(self, name, *, suffix=""):
            self.name = name + suffix

        def transform_function(self, program, module, context):
            program.inputs[0].name = self.name
            return program

    assert issubclass(Rename, FunctionPass) and Rename.__doc__ == "Names the inputs."
    assert Rename.__name__ == "Rename" and Rename.info.name == "Renamed"
    assert Rename("a", suffix="b")(program).inputs[0].name == "ab"


def test_a_class_becomes_a_module_pass(program):
    @module_pass(opt_level=0)
    class Twice:
        def __init__(self, name):
            self.name = name

        def transform_module(self, module, context):
            return Module({**module.programs, self.name: module.programs["main"]})

    assert issubclass(Twice, ModulePass)
    assert list(Twice("again")(Module({"main": program})).programs) == ["main", "again"]


@pytest.mark.parametrize(
    "decorator, method",
    [(function_pass, "transform_function"), (module_pass, "transform_module")],
    ids=["function", "module"],
)
def test_a_class_without_its_method_is_refused(decorator, method):
    with pytest.raises(TypeError, match=f"the class Empty has no method {method}"):

        @decorator(opt_level=0)
        class Empty:
            pass


@pytest.mark.parametrize("decorator", [function_pass, module_pass])
def test_the_level_must_be_given(decorator):
    with pytest.raises(TypeError, match="opt_level"):
        decorator(name="x")


@pytest.mark.parametrize("required", ["FoldConstant", {"FoldConstant"}, None])
def test_required_passes_are_a_list(required):
    with pytest.raises(TypeError, match="`required` is a list or tuple of names"):
        function_pass(opt_level=0, required=required)


@pytest.mark.parametrize("required", [[passes.FoldConstant], [3]])
def test_required_passes_are_given_by_name(required):
    with pytest.raises(TypeError, match="required passes are given as a list of names"):
        noting([], "Some", required=required)


def test_one_string_is_no_list_of_required_passes():
    with pytest.raises(TypeError, match="as a list of names, not as 'FoldConstant'"):
        Sequential([], required="FoldConstant")


@pytest.mark.parametrize("given", [None, 1, "text"])
def test_a_function_pass_that_gives_no_program_is_an_error(program, given):
    @function_pass(opt_level=0)
    def forgetful(program, module, context):
        return given

    with pytest.raises(TypeError, match=f"the pass forgetful gave {given!r} and not a Program"):
        forgetful(program)


def test_a_module_pass_that_gives_none_is_an_error(program):
    @module_pass(opt_level=0)
    def forgetful(module, context):
        pass

    with pytest.raises(TypeError, match="the pass forgetful gave None and not a Module"):
        forgetful(program)


def test_an_error_tells_in_which_passes_it_was_raised(program):
    @function_pass(opt_level=0)
    def broken(program, module, context):
        raise KeyError("gone")

    with pytest.raises(KeyError) as caught:
        Sequential([broken], name="outer")(program)
    assert getattr(caught.value, "__notes__", ["in the pass broken", "in the pass outer"]) == [
        "in the pass broken",
        "in the pass outer",
    ]
