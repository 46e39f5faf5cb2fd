"""Old names: what models import from `paddle.base`."""

import importlib

import pytest

import dy2st


@pytest.mark.parametrize(
    "space, name, value",
    [
        ("base.framework", "in_dygraph_mode", dy2st.in_dynamic_mode),
        ("base.core", "CPUPlace", dy2st.CPUPlace),
        ("base.dygraph", "to_variable", dy2st.to_tensor),
        ("base.dygraph", "Layer", dy2st.nn.Layer),
        ("base.param_attr", "ParamAttr", dy2st.ParamAttr),
        ("base.unique_name", "generate", dy2st.utils.unique_name.generate),
        ("base.dygraph.layers", "Linear", dy2st.nn.Linear),
        ("base.data_feeder", "check_type", dy2st.common_ops_import.check_type),
    ],
)
def test_old_names_show_what_stands_elsewhere(space, name, value):
    assert getattr(importlib.import_module(f"dy2st.{space}"), name) is value


def test_a_guard_computes_at_once():
    with dy2st.base.dygraph.guard(dy2st.CPUPlace()):
        assert dy2st.ones([1]).tolist() == [1.0]
