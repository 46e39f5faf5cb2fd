"""Passes made of rules, and explain: why rules did not fire."""

from __future__ import annotations

import pytest

from dy2st import passes
from dy2st.passes import Module, PassContext, Sequential, explain, find, rewrite_pass, rule
from dy2st.passes.patterns.pattern import constant, op, value
from dy2st_runtime.errors import Location
from dy2st_runtime.ir import F
from dy2st_runtime.ops.control_flow import cond

X, Y, C = value(), value(), constant()


@rule(op.tanh(op.add(op.relu(X), C)))
def squashed(m):
    """tanh(relu(x) + c) -> sigmoid(x) + c."""
    m.require(m.array(C).size == 1, "the constant has several elements")
    return F.sigmoid(m[X]) + m[C]


def reasons(applied, program, *more):
    return [str(entry) for entry in explain(applied, program, *more)]


def at(program, line=5):
    """The Program with a location at every operator."""
    for index, operator in enumerate(program.block.walk()):
        operator.location = Location("model.py", line + index)
    return program


# -- the pass -------------------------------------------------------------------------------------


def test_a_pass_of_rules_is_registered_with_what_is_said_of_it():
    made = rewrite_pass(
        "OfRules", [squashed], opt_level=2, doc="Squashes.", required=["FoldConstant"]
    )
    assert made.__doc__ == "Squashes." and made.rules == (squashed,)
    assert (made.info.name, made.info.opt_level) == ("OfRules", 2)
    assert made.info.required == ("FoldConstant",)
    assert type(find("of-rules")) is made


def test_one_string_is_no_list_of_required_passes():
    with pytest.raises(TypeError, match="as a list of names, not as 'FoldConstant'"):
        rewrite_pass("OfRules", [], opt_level=0, doc="", required="FoldConstant")


def test_its_rules_go_over_every_program_of_a_module(t, as_pass):
    program = t.program_of(lambda x: F.tanh(F.relu(x) + t.array(1)), t.floats(3))
    after = as_pass(squashed)(Module({"a": program, "b": program}))
    assert [t.names(p) for p in after.programs.values()] == [["sigmoid", "add"]] * 2


# -- explain --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "build, reason",
    [
        (lambda x, w: F.tanh(x), "%x0 is made by the caller, not by `add`"),
        (lambda x, w: F.tanh(F.exp(x)), "a value is made by `exp`, not by `add`"),
        (lambda x, w: F.tanh(F.exp(x) + w[:1]), "a value is made by `exp`, not by `relu`"),
        (lambda x, w: F.tanh(F.relu(x) + x), "%x0: float32[3] is not a constant"),
        (lambda x, w: F.tanh(F.relu(x) + w), "the constant has several elements"),
        (lambda x, w: [F.tanh(y := F.relu(x) + w[:1]), y], "a value of `add` has other users"),
        (lambda x, w: [F.tanh(w[:1] + (y := F.relu(x))), y], "a value of `relu` has other users"),
    ],
)
def test_the_reason_is_that_of_the_nearest_miss(t, as_pass, build, reason):
    program = t.program_of(lambda x: build(x, t.array(3)), t.floats(3))
    assert [entry.reason for entry in explain(as_pass(squashed), program)] == [reason]


def test_a_reason_comes_with_the_rule_the_operator_and_its_place(t, as_pass):
    program = at(t.program_of(lambda x: F.tanh(F.exp(x)), t.floats(3)))
    assert reasons(as_pass(squashed), program) == [
        "squashed: tanh (model.py:6): a value is made by `exp`, not by `add`"
    ]
    entry = explain(as_pass(squashed), program)[0]
    assert (entry.rule, entry.operator, entry.location) == (
        "squashed",
        "tanh",
        Location("model.py", 6),
    )


def test_there_is_no_place_where_none_is_known(t, as_pass):
    program = t.program_of(lambda x: F.tanh(x), t.floats(3))
    program.operators[0].location = None
    assert reasons(as_pass(squashed), program) == [
        "squashed: tanh: %x0 is made by the caller, not by `add`"
    ]


@pytest.mark.parametrize(
    "pattern, reason",
    [
        (op.sum(X, axis=(1,)), "`sum` has axis = (0,)"),
        (
            op.sum(value(lambda v: v.type.rank == 2, "a matrix")),
            "%x0: float32[3] is not a m",
        ),
        (op.sum(op.relu(X) | op.abs(X)), "%x0 is made by the caller, not by `relu`"),
    ],
)
def test_attributes_and_guards_say_what_they_want(t, as_pass, pattern, reason):
    program = t.program_of(lambda x: F.sum(x, axis=0), t.floats(3))
    found = explain(as_pass(rule(pattern)(squashed.replace)), program)
    assert len(found) == 1 and found[0].reason.startswith(reason)


def test_nothing_is_explained_where_all_rules_fire_or_none_starts(t, as_pass):
    fires = t.program_of(lambda x: F.tanh(F.relu(x) + t.array(1)), t.floats(3))
    assert explain(as_pass(squashed), fires) == []
    assert explain(as_pass(squashed), t.program_of(F.exp, t.floats(3))) == []


def test_places_inside_of_branches_are_explained_and_equal_reasons_stand_once(t, as_pass):
    def build(x):
        y = cond(F.sum(x) > 0, lambda: [F.tanh(F.exp(x))], lambda: [F.tanh(F.abs(x))])[0]
        return F.tanh(F.exp(y)) + F.tanh(F.exp(x))

    program = t.program_of(build, t.floats(3))
    for operator in program.block.walk():
        operator.location = None
    found = reasons(as_pass(squashed), program)
    assert sorted(found) == [
        "squashed: tanh: a value is made by `abs`, not by `add`",
        "squashed: tanh: a value is made by `exp`, not by `add`",
    ]


def test_explaining_changes_nothing_and_takes_programs_modules_and_sequentials(t, as_pass):
    program = t.program_of(lambda x: F.tanh(F.exp(x)), t.floats(3))
    text = str(program)
    applied = as_pass(squashed)
    one = reasons(applied, program)
    assert one == reasons(applied, Module({"main": program}))
    assert one == reasons(Sequential([passes.FoldConstant(), applied]), program)
    assert str(program) == text and PassContext.current().explanations is None


def test_explaining_heeds_the_options_of_the_context(t):
    program = t.program_of(lambda x: (x + t.array(3)) + t.array(3, seed=1), t.floats(3))
    found = reasons(passes.Peephole2(), program)
    assert len(found) == 2 and "set the option `reassociate` to allow it" in "".join(found)
    with PassContext(config={"reassociate": True}):
        assert "reassociate" not in "".join(reasons(passes.Peephole2(), program))


def test_a_real_case_a_shared_convolution(t):
    w, b, s = t.array(4, 3, 3, 3), t.array(1, 4, 1, 1), t.array(1, 4, 1, 1, seed=1)

    def build(x):
        y = F.conv2d(x, w) + b
        return [y * s, F.relu(y)]

    program = at(t.program_of(build, t.floats("n", 3, 8, 8)))
    found = reasons(passes.Peephole1(), program)
    assert any("a value of `add` has other users" in entry for entry in found), found


def test_what_is_no_rule_is_refused_when_the_pass_is_made():
    with pytest.raises(TypeError, match="OfRules is made of rules, not of <function .*@rule"):
        rewrite_pass("OfRules", [squashed, squashed.replace], opt_level=1, doc="Squashes.")
