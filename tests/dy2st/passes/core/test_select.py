"""apply_to_function: a pass for some Programs of a Module only."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dy2st import passes
from dy2st.passes import Module, PassContext, Sequential, apply_to_function, function_pass
from dy2st_runtime.errors import ArgumentError, PassError
from dy2st_runtime.ir import F

NAMES = ("main", "main1", "domain", "other")


@pytest.fixture
def module(t):
    def dead(x):
        F.exp(x)
        return F.relu(x)

    programs = [t.program_of(dead, t.floats("n", 2), name=name) for name in NAMES]
    return Module({program.name: program for program in programs})


def cleaned(module):
    """The Programs without the dead operator."""
    return [n for n, program in module.programs.items() if len(program.operators) == 1]


@pytest.mark.parametrize(
    "regex, expected",
    [
        ("main", ["main"]),
        ("main.*", ["main", "main1"]),
        (".*main.*", ["main", "main1", "domain"]),
        ("main|other", ["main", "other"]),
        ("ain", []),
        ("Main", []),
    ],
)
def test_the_whole_name_must_match(module, regex, expected):
    after = apply_to_function(passes.EliminateDeadCode(), regex)(module)
    assert cleaned(after) == expected
    assert list(after.programs) == list(NAMES)


def test_programs_that_do_not_match_stay_the_same_objects(module):
    apply = apply_to_function(passes.EliminateDeadCode(), "main")
    before = module.copy()
    work = Module(dict(before.programs))
    apply.run(work, PassContext())
    assert all(work.programs[name] is before.programs[name] for name in NAMES if name != "main")


def test_it_is_an_error_on_demand_that_nothing_matches(module):
    apply = apply_to_function(passes.EliminateDeadCode(), "mian", error_if_no_match=True)
    with pytest.raises(ArgumentError, match="no Program matches 'mian'; there are main, main1, do"):
        apply(module)
    found = apply_to_function(passes.EliminateDeadCode(), "main", error_if_no_match=True)(module)
    assert cleaned(found) == ["main"]


def test_a_regular_expression_that_is_none_is_an_error_at_once():
    with pytest.raises(re.error):
        apply_to_function(passes.EliminateDeadCode(), "(")


def test_it_has_the_level_of_the_pass_and_a_name_of_its_own(module):
    apply = apply_to_function(passes.CanonicalizeCast(), "main")
    assert apply.info.opt_level == 3 and apply.info.name == "CanonicalizeCast on main"


@pytest.mark.parametrize("disabled", ["EliminateDeadCode", "EliminateDeadCode on main"])
def test_it_does_nothing_if_the_pass_is_disabled(module, disabled):
    with PassContext(disabled_pass=[disabled]):
        after = apply_to_function(passes.EliminateDeadCode(), "main")(module)
    assert cleaned(after) == []


def test_what_the_pass_requires_runs_on_the_same_programs(module):
    @function_pass(opt_level=0, required=["EliminateDeadCode"])
    def demanding(program, module, context):
        assert len(program.operators) == 1
        return program

    after = Sequential([apply_to_function(demanding, "other")])(module)
    assert cleaned(after) == ["other"]


def test_a_pass_may_make_and_take_out_programs(t, module):
    @passes.module_pass(opt_level=0)
    def exchange(part, context):
        assert list(part.programs) == ["main"]
        made = t.program_of(lambda x: F.exp(x), t.floats(2), name="made")
        return Module({"made": made}, part.state)

    after = apply_to_function(exchange, "main")(module)
    assert list(after.programs) == ["main1", "domain", "other", "made"]


def test_a_pass_does_not_replace_a_program_that_it_was_not_given(t, module):
    @passes.module_pass(opt_level=0)
    def intrude(part, context):
        made = t.program_of(lambda x: F.exp(x), t.floats(2), name="other")
        return Module({**part.programs, "other": made}, part.state)

    with pytest.raises(PassError, match="intrude on main makes a Program 'other', which is there"):
        apply_to_function(intrude, "main")(module)


def test_arrays_that_other_programs_read_are_kept(t):
    def with_parameter(name):
        program = t.program_of(lambda x: F.relu(x), t.floats(2), name=name)
        w = program.block.add_parameter(t.floats(2), "w")
        program.parameters["w"], program.trainable["w"] = w, True
        add = program.operators[0]
        add.name, add.operands, add.attributes = "add", [program.inputs[0], w], {}
        return program

    programs = {name: with_parameter(name) for name in ("main", "other")}
    module = Module(programs, {"w": np.float32([1, 2])})
    after = apply_to_function(passes.FreezeParameters(), "main")(module)
    assert list(after.programs["main"].parameters) == []
    assert list(after.programs["other"].parameters) == ["w"]
    np.testing.assert_array_equal(after.state["w"], [1, 2])


def test_what_it_builds_in_is_noted(t):
    program = t.program_of(lambda x: F.relu(x), t.floats(2), name="main")
    w = program.block.add_parameter(t.floats(2), "w")
    program.parameters["w"], program.trainable["w"] = w, True
    module = Module({"main": program}, {"w": np.float32([1, 2])}, frozen={"before"})
    after = apply_to_function(passes.FreezeParameters(), "main")(module)
    assert after.frozen == {"before", "w"}


def test_passes_are_made_and_chosen_under_the_names_of_tvm(module):
    seen = []

    def look(program, module, context):
        seen.append(program.name)
        return passes.EliminateDeadCode().transform_function(program, module, context)

    made = passes.CreateFunctionPass(look, 2, "LookAtPrograms", ["FoldConstant"])
    assert made.info == passes.PassInfo("LookAtPrograms", 2, ("FoldConstant",), traceable=False)
    assert cleaned(passes.ApplyPassToFunction(made, "main|other", False)(module)) == seen
    assert seen == ["main", "other"]
    dropped = passes.CreateModulePass(lambda module, context: Module({}), 0, "DropPrograms")
    assert dropped(module).programs == {}
