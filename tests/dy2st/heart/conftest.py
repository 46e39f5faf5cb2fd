import pytest

from dy2st.jit import heart_program, static_function


@pytest.fixture(autouse=True)
def on_the_heart(monkeypatch):
    """`to_static` traces by the heart."""
    monkeypatch.setattr(static_function.tracing, "uses_heart", True)
    made = lambda: heart_program.HeartTracing().trace  # noqa: E731
    monkeypatch.setattr(static_function.tracing, "new_trace", made)
