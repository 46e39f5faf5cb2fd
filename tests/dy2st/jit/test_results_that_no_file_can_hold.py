"""What a function returns that a saved Program has no form for, in words at the save."""

import pytest

import dy2st as P
from dy2st import to_static
from dy2st.errors import ConversionError
from dy2st.static import InputSpec


@pytest.mark.parametrize("value", [range(3), 1j, ...])
def test_a_constant_that_no_file_holds_is_refused_at_the_save(value, tmp_path):
    static = to_static(lambda x: (value, x * 2), input_spec=[InputSpec([None])])
    assert static(P.ones([1]))[0] == value
    with pytest.raises(ConversionError, match="returns what a saved Program cannot give back") as e:
        P.jit.save(static, str(tmp_path / "model"))
    assert repr(value) in str(e.value)
