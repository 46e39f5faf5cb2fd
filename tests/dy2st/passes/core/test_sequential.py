"""Sequential: which members run, what they require, and how often."""

from __future__ import annotations

import pytest

from dy2st import passes
from dy2st.passes import PassContext, Sequential, function_pass, module_pass
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from tests.dy2st.passes.core.noting import noting


@pytest.fixture
def program(t):
    return t.program_of(lambda x: F.relu(x), t.floats("n", 3))


# -- Sequential -----------------------------------------------------------------------------------


def test_an_empty_sequential_changes_nothing(program):
    assert str(Sequential([])(program)) == str(program)


@pytest.mark.parametrize("entry", [None, "FoldConstant", passes.FoldConstant, lambda m: m])
def test_a_sequential_is_made_of_passes(entry):
    with pytest.raises(TypeError, match="a Sequential is made of passes, not"):
        Sequential([entry])


@pytest.mark.parametrize(
    "context, expected",
    [
        ({"opt_level": 0}, "a"),
        ({"opt_level": 1}, "ab"),
        ({"opt_level": 2}, "abc"),
        ({"opt_level": 0, "required_pass": ["c"]}, "ac"),
        ({"opt_level": 4, "disabled_pass": ["b"]}, "ac"),
        ({"opt_level": 4, "disabled_pass": ["b"], "required_pass": ["b"]}, "ac"),
        ({"opt_level": 4, "disabled_pass": ["all"]}, ""),
    ],
)
def test_members_run_in_order_if_the_context_wants_them(program, context, expected):
    log = []
    both = Sequential([noting(log, name, level) for level, name in enumerate("abc")], name="all")
    with PassContext(**context):
        both(program)
    assert "".join(log) == expected


@pytest.mark.parametrize(
    "level, required, expected",
    [
        (1, [], "ad"),
        (2, [], "abd"),
        (4, [], "abcd"),
        (1, ["inner"], "ad"),
        (1, ["inner", "b"], "abd"),
    ],
)
def test_a_nested_sequential_is_asked_first_and_then_its_members(
    program, level, required, expected
):
    log = []
    inner = Sequential([noting(log, "b", 2), noting(log, "c", 3)], opt_level=2, name="inner")
    outer = Sequential([noting(log, "a"), inner, noting(log, "d")])
    with PassContext(level, required_pass=required):
        outer(program)
    assert "".join(log) == expected


def test_a_sequential_of_module_and_function_passes_chains_what_they_give(t, program):
    @module_pass(opt_level=0)
    def add(module, context):
        module.programs["second"] = t.program_of(lambda x: F.exp(x), t.floats(2), name="second")
        return module

    seen = []

    @function_pass(opt_level=0)
    def look(program, module, context):
        seen.append(program.name)
        return program

    Sequential([look, add, look])(program)
    assert seen == ["main", "main", "second"]


# -- required passes ------------------------------------------------------------------------------


def test_what_is_required_runs_before_with_what_that_requires(program):
    log = []
    noting(log, "Deep")
    noting(log, "Middle", required=["Deep"])
    Sequential([noting(log, "Top", required=["middle", "Deep"])])(program)
    assert log == ["Deep", "Middle", "Top"]


def test_what_is_required_runs_whatever_its_level_but_not_if_it_is_disabled(program):
    log = []
    noting(log, "Costly", level=4)
    top = Sequential([noting(log, "Top", required=["Costly"])])
    with PassContext(opt_level=0):
        top(program)
    with PassContext(disabled_pass=["costly"]):
        top(program)
    assert log == ["Costly", "Top", "Top"]


def test_nothing_required_runs_for_a_member_that_does_not(program):
    log = []
    noting(log, "Needed")
    with PassContext(opt_level=0):
        Sequential([noting(log, "High", level=1, required=["Needed"])])(program)
    assert log == []


@pytest.mark.parametrize(
    "order, expected",
    [
        ("N T", "N T"),
        ("T T", "N T N T"),
        ("N K T", "N K T"),
        ("N C T", "N C N T"),
        ("T K T", "N T K N T"),
    ],
)
def test_what_is_required_runs_again_only_after_a_change(program, order, expected):
    log = []
    known = {
        "N": noting(log, "N"),
        "T": noting(log, "T", required=["N"]),
        "K": noting(log, "K", changes=False),
        "C": noting(log, "C"),
    }
    Sequential([known[name] for name in order.split()])(program)
    assert " ".join(log) == expected


@pytest.mark.parametrize("length", [1, 2, 3])
def test_passes_that_require_each_other_are_an_error_that_shows_the_circle(program, length):
    log = []
    names = [f"Ring{i}of{length}" for i in range(length)]
    ring = [noting(log, name, required=[names[(i + 1) % length]]) for i, name in enumerate(names)]
    wanted = "passes require each other in a circle: " + " -> ".join([*names, names[0]])
    with pytest.raises(ArgumentError, match=wanted):
        Sequential(ring[:1])(program)
    assert log == []


def test_an_unknown_required_pass_is_an_error_with_the_nearest_name(program):
    log = []
    with pytest.raises(ArgumentError, match="no pass 'FoldConstnt'; did you mean 'FoldConstant'?"):
        Sequential([noting(log, "Some", required=["FoldConstnt"])])(program)
    assert log == []


# -- bisect ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "limit, expected", [(-1, "NTab"), (0, ""), (1, "N"), (2, "NT"), (3, "NTa")]
)
def test_bisect_runs_the_first_passes_only_required_and_nested_ones_counted(
    program, limit, expected
):
    log = []
    noting(log, "N")
    inner = Sequential([noting(log, "a"), noting(log, "b")], name="inner")
    outer = Sequential([noting(log, "T", required=["N"]), inner])
    with PassContext(config={"bisect": limit}):
        outer(program)
    assert "".join(log) == expected


def test_bisect_counts_anew_whenever_a_context_is_entered(program):
    log = []
    context = PassContext(config={"bisect": 1})
    some = Sequential([noting(log, "a"), noting(log, "b")])
    for _ in range(2):
        with context:
            some(program)
    assert log == ["a", "a"]
