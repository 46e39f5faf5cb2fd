"""Models of ONNX's own suite that are read and written again give what they gave."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("onnx", reason="ONNX needs onnx: pip install 'dy2st[onnx]'")
pytest.importorskip("ml_dtypes", reason="floats of 8 bits need ml_dtypes")

from onnx.reference import ReferenceEvaluator  # noqa: E402

from dy2st.importers.onnx import program_of  # noqa: E402
from dy2st_runtime.engine.onnx.model import newest_opset, write_model  # noqa: E402
from dy2st_runtime.engine.onnx.nesting import flat, unflat  # noqa: E402
from tests.dy2st.importers.onnx.backend_suite import cases  # noqa: E402
from tests.dy2st.importers.onnx.expected import EXPECTED  # noqa: E402
from tests.dy2st.targets.onnx.not_in_onnx import NOT_WRITTEN_AGAIN  # noqa: E402
from tests.effort import effort  # noqa: E402

READ = [key for key in cases() if key not in EXPECTED]


def as_list(value):
    return (
        [as_list(one) for one in value] if isinstance(value, (list, tuple)) else np.asarray(value)
    )


def assert_alike(wanted, found, case):
    for want, have in zip(wanted, found, strict=True):
        if isinstance(want, list):
            assert_alike(want, have, case)
            continue
        assert (have.dtype, have.shape) == (want.dtype, want.shape)
        tolerance = max(case.rtol, 1e-3)
        if want.dtype.kind == "V":
            tolerance = 2**-6 if want.dtype.name == "bfloat16" else tolerance
            want, have = want.astype("float32"), have.astype("float32")
        np.testing.assert_allclose(have, want, rtol=tolerance, atol=case.atol)


def written_again(case):
    """What a model gives when it has been a Program; and its outputs as they are stored."""
    program, state = program_of(case.model)
    model = write_model(program, state, newest_opset())
    run = ReferenceEvaluator(model.proto)
    for inputs, wanted in case.sets:
        given = flat([one.type for one in program.inputs], inputs)
        leaves = run.run(None, dict(zip(model.inputs, given, strict=True)))
        found = unflat([one.type for one in program.block.yields], leaves)
        assert_alike(as_list(wanted), as_list(found), case)


@pytest.mark.parametrize("first", range(effort(1, 23)))
def test_a_model_that_is_read_is_written_again(first):
    failed = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for key in READ[first::23]:
            try:
                written_again(cases()[key])
            except Exception as error:
                failed[key] = f"{type(error).__name__}: {error}"
    known = {key for key in READ[first::23] if key in NOT_WRITTEN_AGAIN}
    assert not {key: why for key, why in failed.items() if key not in known}
    assert known == set(failed), "it is written now: take it out of not_in_onnx.py"


def test_of_what_is_read_nearly_all_is_written_again():
    assert set(NOT_WRITTEN_AGAIN) <= set(READ)
    assert len(NOT_WRITTEN_AGAIN) < 0.02 * len(READ)
