"""Models from the net: refused, with what to do instead."""

import pytest

import dy2st


@pytest.mark.parametrize("name", ["list", "help", "load", "load_state_dict_from_url"])
def test_nothing_is_downloaded(name):
    with pytest.raises(dy2st.errors.ArgumentError, match="downloads nothing; clone"):
        getattr(dy2st.hub, name)("org/repository", "model")
