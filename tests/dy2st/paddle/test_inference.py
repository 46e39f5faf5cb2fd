"""Paddle Inference: importable, refused in words."""

import pytest

import dy2st
from dy2st import inference


@pytest.mark.parametrize(
    "use",
    [
        lambda: inference.Config("net.pdmodel", "net.pdiparams"),
        lambda: inference.create_predictor(None),
        lambda: inference.Predictor(),
        lambda: inference.convert_to_mixed_precision(),
    ],
)
def test_what_would_run_a_model_is_refused(use):
    with pytest.raises(dy2st.errors.ArgumentError, match=r"jit.load\(\"net\"\); model\(x\)"):
        use()


def test_scripts_may_ask_for_names():
    assert not isinstance(1, inference.Tensor) and inference.PlaceType.CPU.name == "CPU"
    assert inference.PrecisionType.Float32 is not inference.PrecisionType.Half
    assert inference.get_version() == f"version: {dy2st.version.full_version}"
