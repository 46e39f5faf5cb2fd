"""Passes by name, dy2st's own and those of other packages."""

from __future__ import annotations

import dataclasses
import itertools
import sys

import numpy as np
import pytest

from dy2st import passes
from dy2st.passes import PassContext, Sequential, find, pass_names
from dy2st.passes.core.info import PassInfo, names_of, plain
from dy2st.passes.core.registry import register
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F

NUMBERS = itertools.count()


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Makes a distribution of one module, with entry points, and puts it on the path."""

    def make(source, **groups):
        number = next(NUMBERS)
        folder, module = tmp_path / f"place{number}", f"offered_module_{number}"
        info = folder / f"offered_{number}-1.0.dist-info"
        info.mkdir(parents=True)
        (folder / f"{module}.py").write_text(source, encoding="utf-8")
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: offered-{number}\nVersion: 1.0\n", encoding="utf-8"
        )
        lines = []
        for group, entries in groups.items():
            lines.append(f"[{group.replace('_of_', '.')}]")
            lines += [f"{name} = {module}:{target}" for name, target in entries.items()]
        (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
        monkeypatch.syspath_prepend(str(folder))
        return module

    yield make
    for name in [name for name in sys.modules if name.startswith("offered_module_")]:
        del sys.modules[name]


PASSES = """
from dy2st.passes import function_pass, Pass
from dy2st.passes.core.info import PassInfo

@function_pass(opt_level=1, name="OfInstance{0}")
def of_instance(program, module, context):
    program.inputs[0].name = "renamed"
    return program

class Plain(Pass):
    info = PassInfo("OfClass{0}", 0)
    def transform(self, module, context):
        module.programs["main"].inputs[0].name = "by_class"

def maker():
    return Plain()

number = 3
def no_pass():
    return 3
"""


def renamed(t, made):
    program = t.program_of(lambda x: F.relu(x), t.floats(2))
    return made(program).inputs[0].name


@pytest.mark.parametrize("name", ["FoldConstant", "fold-constant", "fold_constant", "FOLDCONSTANT"])
def test_a_pass_is_found_however_its_name_is_written(name):
    assert type(find(name)) is passes.FoldConstant


def test_an_unknown_pass_is_an_error_with_the_nearest_name():
    with pytest.raises(ArgumentError, match="there is no pass 'FoldConstnat'; did you mean 'FoldC"):
        find("FoldConstnat")


def test_a_name_like_no_other_lists_all_passes():
    with pytest.raises(ArgumentError, match="EliminateDeadCode, .*FoldConstant"):
        find("zzzz")


def test_every_public_pass_is_found_by_its_name_and_bears_it():
    classes = [
        v for v in vars(passes).values() if isinstance(v, type) and issubclass(v, passes.Pass)
    ]
    infos = [v.info.name for v in classes if hasattr(v, "info")]
    assert len(infos) > 25
    for name in infos:
        assert find(name).info.name == name
        assert name in pass_names()


def test_pipelines_are_passes_too():
    assert set(passes.PIPELINES) <= set(pass_names())
    assert isinstance(find("inference"), Sequential)


def test_a_later_pass_of_the_same_name_replaces_the_earlier_one():
    register("Replaced-Pass", lambda: 1)
    register("replaced_pass", lambda: 2)
    assert find("ReplacedPass") == 2
    assert [n for n in pass_names() if n.lower().startswith("replaced")] == ["replaced_pass"]


def test_a_pass_that_needs_arguments_is_not_found_by_its_name_alone():
    @passes.function_pass(opt_level=0)
    class Needy:
        def __init__(self, count):
            self.count = count

        def transform_function(self, program, module, context):
            return program

    with pytest.raises(ArgumentError, match="'Needy' cannot be made by .*: missing a .*'count'"):
        find("needy")


@pytest.mark.parametrize(
    "target, expected", [("of_instance", "renamed"), ("Plain", "by_class"), ("maker", "by_class")]
)
def test_another_package_offers_a_pass_by_an_entry_point(t, install, target, expected):
    install(PASSES.format(target), dy2st_of_passes={"OfferedThing": target})
    assert "OfferedThing" in pass_names()
    assert renamed(t, find("offered-thing")) == expected


def test_an_offered_pass_may_be_required_and_disabled(t, install):
    install(PASSES.format("R"), dy2st_of_passes={"Needed": "Plain"})

    @passes.function_pass(opt_level=0, required=["Needed"])
    def top(program, module, context):
        return program

    assert renamed(t, Sequential([top])) == "by_class"
    with PassContext(disabled_pass=["OfClassR"]):
        assert renamed(t, Sequential([top])) == "x0"


@pytest.mark.parametrize("target", ["number", "no_pass"])
def test_what_is_offered_and_no_pass_is_an_error(install, target):
    module = install(PASSES.format("N"), dy2st_of_passes={"NoPass": target})
    with pytest.raises(
        TypeError, match=f"entry point {module}:{target} of dy2st.passes is no pass"
    ):
        find("NoPass")


@pytest.mark.parametrize("target", ["missing", "Plain.missing"])
def test_an_entry_point_that_points_nowhere_is_an_error_that_names_it(install, target):
    module = install(PASSES.format("M"), dy2st_of_passes={"Nowhere": target})
    with pytest.raises(ArgumentError, match=f"{module}:{target} of dy2st.passes cannot be loaded"):
        find("Nowhere")


def test_a_pass_that_two_packages_offer_is_an_error_that_names_both(install):
    first = install(PASSES.format("A"), dy2st_of_passes={"Doubled": "Plain"})
    second = install(PASSES.format("B"), dy2st_of_passes={"Doubled": "Plain"})
    with pytest.raises(ArgumentError, match=f"by {first}:Plain and {second}:Plain"):
        find("Doubled")


RULES = """
from dy2st.passes import rule
from dy2st.passes.patterns.pattern import op, value
from dy2st_runtime.ir import F

x = value()

@rule(op.tanh(x))
def tanh_is_sigmoid(m):
    '''tanh(x) -> 2 sigmoid(2 x) - 1.'''
    return 2.0 * F.sigmoid(2.0 * m[x]) - 1.0

no_rule = 3
"""


def test_another_package_adds_a_rule_to_a_pass(t, install):
    install(RULES, **{"dy2st_of_rules_of_Extended": {"first": "tanh_is_sigmoid"}})
    extended = passes.rewrite_pass("Extended", [], opt_level=0, doc="Takes rules of others.")
    program = t.program_of(lambda x: F.tanh(x), t.floats("n", 3))
    after = t.check(extended(), program)
    assert t.names(after) == ["multiply", "sigmoid", "multiply", "subtract"]
    found = t.run(after, [np.float32([[0.0, 1.0, -2.0]])])[0]
    np.testing.assert_allclose(found, [[0.0, 0.7615942, -0.9640276]], rtol=1e-6)


def test_an_offered_rule_that_is_none_is_an_error_every_time(t, install):
    install(RULES, **{"dy2st_of_rules_of_Spoilt": {"first": "no_rule"}})
    spoilt = passes.rewrite_pass("Spoilt", [], opt_level=0, doc="Takes rules of others.")
    program = t.program_of(lambda x: F.tanh(x), t.floats(3))
    for _ in range(2):
        with pytest.raises(TypeError, match="an entry point of dy2st.rules.Spoilt is no rule: 3"):
            spoilt()(program)


# -- PassInfo --------------------------------------------------------------------------------------


def test_it_needs_a_name_alone():
    info = PassInfo("Some")
    assert (info.name, info.opt_level, info.required) == ("Some", 0, ())
    assert info.traceable and info.changes


def test_it_is_a_value():
    assert PassInfo("Some", 1, ("Other",)) == PassInfo("Some", 1, ("Other",))
    with pytest.raises(dataclasses.FrozenInstanceError):
        PassInfo("Some").name = "Other"


@pytest.mark.parametrize("required", ["Other", (3,), (None,)])
def test_required_passes_are_names(required):
    with pytest.raises(TypeError, match="required passes are given as a list of names, not as"):
        PassInfo("Some", 0, required)


def test_any_iterable_of_names_will_do():
    assert names_of(iter(["b", "a"]), "names") == ("b", "a")


def test_what_is_compared_of_a_name():
    assert plain("Fold-constant_2 x") == plain("FoldConstant2X") != plain("FoldConstant")
