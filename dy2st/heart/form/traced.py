"""The traced form of a function, made once for each code object."""

from __future__ import annotations

from types import CodeType, FunctionType

from dy2st.heart.form.compile import Factory
from dy2st.heart.form.lower import lowered
from dy2st_runtime.by_identity import ByIdentity


class TracedForm:
    """A function whose every touch of an object goes through a protocol.

    untouched: why it has no such form (see `dy2st.transpiler.reasons`); empty if it has.
    """

    def __init__(self, function: FunctionType):
        """Find the source of a function, lower and compile it."""
        made = lowered(function)
        self.untouched = made if isinstance(made, str) else ""
        self._factory = made if isinstance(made, Factory) else None

    def bind(self, protocol: object, function: FunctionType) -> FunctionType:
        """The function that does what `function`, which has this code, does by the protocol."""
        return function if self._factory is None else self._factory.made(protocol, function)


def traced_form(function: FunctionType) -> TracedForm:
    """The traced form of a function; raises SourceUnavailable if its source is not to be found."""
    known = _forms.get(function.__code__)
    if known is None:
        known = _forms.setdefault(function.__code__, TracedForm(function))
    return known


# By identity, since two functions of two files may have equal code.
_forms: ByIdentity[CodeType, TracedForm] = ByIdentity()
