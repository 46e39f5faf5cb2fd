"""Warnings and messages to loggers in branches and loops come from the path of each call."""

from __future__ import annotations

import logging
import warnings

import pytest

import dy2st
from dy2st import to_static
from dy2st.errors import UnsupportedSyntax
from dy2st.jit import load, save
from dy2st.static import InputSpec

LOGGER = logging.getLogger("dy2st.tests.messages")
INPUTS = [dy2st.to_tensor(values) for values in ([1.0, 2.0], [-1.0, -2.0], [3.0, 0.5], [3.0, 0.5])]


def warned(x):
    if x.sum() > 0:
        warnings.warn(f"the sum is {x.sum().item():.2f}", stacklevel=1)
    else:
        warnings.warn("negative", RuntimeWarning, stacklevel=1)
    return x * 2


def logged(x):
    for index in range(int(x.abs().max())):
        LOGGER.info("turn %d of %s", index, "all")
    if x.sum() > 0:
        LOGGER.warning("sum %.1f, mean %s", x.sum().item(), x.mean().item())
        LOGGER.log(logging.ERROR, "%(a)s %(b)d", {"a": "text", "b": 3})
        logging.error("by the module")
    return x * 2


def _warnings_of(function):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for x in INPUTS:
            function(x)
    return [(str(one.message), one.category, one.lineno) for one in found]


def _messages_of(function, caplog):
    caplog.clear()
    with caplog.at_level(logging.INFO, LOGGER.name):
        for x in INPUTS:
            function(x)
    return [(r.name, r.levelname, r.getMessage(), r.lineno, r.funcName) for r in caplog.records]


def test_warnings_are_those_of_python():
    found = _warnings_of(to_static(warned))
    assert found == _warnings_of(warned) and len(found) == len(INPUTS)


def test_messages_are_those_of_python(caplog):
    found = _messages_of(to_static(logged), caplog)
    assert found == _messages_of(logged, caplog) and len(found) > len(INPUTS)


def test_levels_are_asked_when_the_program_runs(caplog):
    static = to_static(logged)
    _messages_of(static, caplog)
    caplog.clear()
    with caplog.at_level(logging.CRITICAL, LOGGER.name), caplog.at_level(logging.CRITICAL):
        static(INPUTS[0])
    assert not caplog.records


def test_a_saved_program_tells_the_same(tmp_path, caplog):
    spec = [InputSpec([2], "float32", "x")]
    with caplog.at_level(logging.INFO, LOGGER.name):
        for function in (warned, logged):
            save(to_static(function), str(tmp_path / function.__name__), spec)
    assert _warnings_of(load(str(tmp_path / "warned"))) == _warnings_of(warned)
    found = _messages_of(load(str(tmp_path / "logged")), caplog)
    assert found == _messages_of(logged, caplog)
    assert str(tmp_path) not in (tmp_path / "warned.mlir").read_text()


def test_a_warning_that_is_an_error_is_raised_by_the_call():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="negative"):
            to_static(warned)(INPUTS[1])


def told_of_all_kinds(x):
    LOGGER.info(x)
    LOGGER.info(x.sum())
    LOGGER.info(x.shape)
    LOGGER.info(float(x[0]))
    LOGGER.warning([x, {"a": 2.5}], exc_info=False)
    LOGGER.info("%s of %r", x, [x])
    if x.sum() > 0:
        LOGGER.error(x > 0)
    return x * 2


@pytest.mark.parametrize("sizes", [2, None])
def test_a_message_is_of_any_kind(caplog, sizes):
    static = to_static(told_of_all_kinds, input_spec=[InputSpec([sizes], "float32", "x")])
    found = _messages_of(static, caplog)
    assert found == _messages_of(told_of_all_kinds, caplog) and len(found) > 6 * len(INPUTS)


class Own(UserWarning):
    """A class that no file knows."""


def test_what_a_program_cannot_tell_is_refused():
    def of_the_users(x):
        if x.sum() > 0:
            warnings.warn("own", Own, stacklevel=1)
        return x

    def with_a_traceback(x):
        if x.sum() > 0:
            LOGGER.error("what", exc_info=True)
        return x

    with pytest.raises(UnsupportedSyntax, match="a warning is given in a branch"):
        to_static(of_the_users)(INPUTS[0])
    with pytest.raises(UnsupportedSyntax, match="a message is logged in a branch"):
        to_static(with_a_traceback)(INPUTS[0])


MADE_BY_HAND = logging.Logger("made by hand")
ADAPTER = logging.LoggerAdapter(LOGGER, {"run": 1})
TOLD = {
    "extra": lambda x: LOGGER.info("%s", x, extra={"a": 1}),
    "stacklevel": lambda x: LOGGER.info("%s", x, stacklevel=2),
    "the exception": lambda x: LOGGER.error("%s", x, exc_info=True),
    "of the name": lambda x: LOGGER.exception("%s", x),
    "a logger made by hand": lambda x: MADE_BY_HAND.info("%s", x),
    "an adapter": lambda x: ADAPTER.info("%s", x),
    "a template": lambda x: LOGGER.info(x, 3),
    "a class of the user's": lambda x: warnings.warn(f"{x}", Own, stacklevel=1),
}


@pytest.mark.parametrize("told", TOLD.values(), ids=TOLD)
def test_a_message_with_a_tensor_of_another_form_is_refused_without_noise(told, caplog, capsys):
    def function(x):
        told(x)
        return x * 2

    with caplog.at_level(logging.INFO), pytest.raises(UnsupportedSyntax, match="with a tensor in"):
        to_static(function)(INPUTS[0])
    assert "Logging error" not in capsys.readouterr().err


def test_a_message_gets_as_many_values_as_it_has_places(caplog):
    with caplog.at_level(logging.INFO), pytest.raises(TypeError, match="not all arguments"):
        to_static(lambda x: LOGGER.info("sum", x.sum()))(INPUTS[0])
