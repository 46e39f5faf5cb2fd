"""What is converted gives as a model of ONNX, in onnxruntime, what Python gives."""

from __future__ import annotations

import pytest

from tests.dy2st.catalogue.drivers import verdict
from tests.dy2st.catalogue.not_yet import WRONG
from tests.dy2st.catalogue.test_catalogue import is_refused
from tests.dy2st.catalogue.themes import CASES
from tests.dy2st.targets.onnx.not_in_onnx import NOT_IN_ONNX
from tests.effort import effort

pytest.importorskip("onnx", reason="ONNX needs onnx: pip install 'dy2st[onnx]'")
pytest.importorskip("onnxruntime", reason="ONNX needs the extra onnx")

pytestmark = pytest.mark.usefixtures("small_heap")
OURS = [
    case
    for case in CASES
    if case.way == "on_onnx"
    and not is_refused(case)
    and not case.entry.slow
    and case.name not in WRONG
]
REASONS = {name: words for words, names in NOT_IN_ONNX.items() for name in names}


@pytest.mark.filterwarnings("ignore:(divide|invalid|overflow|underflow)")
@pytest.mark.parametrize("case", OURS[:: effort(24, 1)], ids=lambda case: case.name)
def test_an_entry_of_the_catalogue_gives_what_python_gives(case):
    kind, says, error = verdict(case)
    words = REASONS.get(case.name.removesuffix(" on_onnx"))
    if words is None:
        assert (kind, says) == ("equal", ""), error
    else:
        assert kind == "refused", "it is written now: take it out of not_in_onnx.py"
        assert words in str(error)


def test_the_list_of_what_onnx_lacks_names_cases_that_exist():
    assert set(REASONS) <= {case.name.removesuffix(" on_onnx") for case in OURS}
