"""PassInfo: the name card of a pass."""

from __future__ import annotations

import dataclasses

import pytest

from dy2st.passes.core.info import PassInfo, names_of, plain


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
