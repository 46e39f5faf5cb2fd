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


def _keys(x):
    found = {}
    for value in x:
        if value > 0:
            found[value.item()] = value
    return found


def _entries(x):
    found = {"a": x}
    if x.sum() > 0:
        found["b"] = x * 2
    return found


NOT_HELD = {
    "of which a tensor decides the keys": _keys,
    "of which a tensor decides the entries": _entries,
    "a set": lambda x: ({1, 2}, x),
    "a slice": lambda x: (slice(1, 2), x),
    "a function": lambda x: [x, lambda: 1],
}


@pytest.mark.parametrize("words", NOT_HELD)
def test_a_result_that_no_file_holds_is_named(words, tmp_path):
    static = to_static(NOT_HELD[words], input_spec=[InputSpec([3])])
    with pytest.raises(ConversionError, match="a Program alone cannot give back: a .*\n") as error:
        P.jit.save(static, str(tmp_path / "model"))
    assert words in str(error.value)
