import pytest

from dy2st.jit import heart_program, static_function


@pytest.fixture(autouse=True)
def on_the_heart(monkeypatch):
    """`to_static` traces by the heart."""
    monkeypatch.setattr(static_function.tracing, "uses_heart", True)
    monkeypatch.setattr(static_function.tracing, "trace", heart_program.trace)
