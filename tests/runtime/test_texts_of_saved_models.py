"""Texts and exceptions of a saved model: what Python could not make at the call is refused at load."""

from __future__ import annotations

import builtins

import pytest

import dy2st
import dy2st_runtime
from dy2st.static import InputSpec
from dy2st_runtime.errors import FormatError


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    def f(x):
        if x.sum() > 0:
            raise ValueError("a", f"{x.sum():.2f} is")
        print("x %5.1f and" % float(x.sum()), f"{float(x.sum()):>10}")  # noqa: UP031
        return x

    path = tmp_path_factory.mktemp("model") / "net"
    dy2st.jit.save(dy2st.to_static(f, input_spec=[InputSpec([2])]), str(path))
    return path


def loaded(text, old, new, tmp_path):
    whole = text.with_suffix(".mlir").read_text()
    assert old in whole
    (tmp_path / "net.mlir").write_text(whole.replace(old, new))
    (tmp_path / "net.safetensors").write_bytes(text.with_suffix(".safetensors").read_bytes())
    return dy2st_runtime.load(tmp_path / "net")


FORMATS = ["%s %s", "%", "%%", "", "%(a)s", "%*d", "%.2f!", "x%s", "%5.1y", "%99999f", "%.99999f"]


@pytest.mark.parametrize("spec", FORMATS)
def test_a_format_of_more_or_less_than_one_value_is_refused(text, tmp_path, spec):
    with pytest.raises(FormatError, match="damaged"):
        loaded(text, '"%5.1f"', f'"{spec}"', tmp_path)


SPECS = ["{0.__class__}", "{}", ".", "d{", "%5", "99999", ".99999f", ">>>", "__class__", "!r"]


@pytest.mark.parametrize("spec", SPECS)
def test_a_specification_that_python_does_not_know_is_refused(text, tmp_path, spec):
    for own in ('".2f"', '">10"'):
        with pytest.raises(FormatError, match="damaged"):
            loaded(text, own, f'"{spec}"', tmp_path)


KINDS = [
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
]


@pytest.mark.parametrize("name", KINDS)
def test_each_class_of_python_is_raised_as_it_is_or_refused_at_load(text, tmp_path, name):
    kind = getattr(builtins, name)
    try:
        kind("a", "b")
    except (TypeError, ValueError):
        if not issubclass(kind, Exception):  # such are raised as a RuntimeError
            return
        with pytest.raises(FormatError, match=name):
            loaded(text, '"ValueError"', f'"{name}"', tmp_path)
        return
    model = loaded(text, '"ValueError"', f'"{name}"', tmp_path)
    with pytest.raises(kind if issubclass(kind, Exception) else RuntimeError) as caught:
        model(dy2st.ones([2]))
    assert "2.00 is" in str(caught.value) or "2.00 is" in repr(caught.value.args)
