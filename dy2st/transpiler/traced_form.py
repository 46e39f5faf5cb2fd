"""The traced form of a function, made once for each code object."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType

from dy2st.transpiler.compile import Factory, Statement
from dy2st.transpiler.lower import lowered
from dy2st.transpiler.reasons import REASONS
from dy2st_runtime.identity_tables import ByIdentity


class TracedForm:
    """A function whose every touch of an object goes through a protocol.

    untouched: why it has no such form (see `dy2st.transpiler.reasons`); empty if it has.
    """

    def __init__(self, function: FunctionType, pushes: bool = False):
        """Find the source of a function, lower and compile it."""
        made = lowered(function, pushes)
        self.untouched = made if isinstance(made, str) else ""
        self._factory = made if isinstance(made, Factory) else None

    @property
    def why(self) -> str:
        """Why it has no traced form, in words; empty if it has."""
        return REASONS[self.untouched].why if self.untouched else ""

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The branches and loops that the user has written in it."""
        return () if self._factory is None else self._factory.statements

    def bind(self, protocol: object, function: FunctionType) -> FunctionType:
        """The function that does what `function`, which has this code, does by the protocol."""
        return function if self._factory is None else self._factory.made(protocol, function)


def traced_form(
    function: FunctionType,
    pushes: bool = False,
    on_form: Callable[[FunctionType], object] | None = None,
) -> TracedForm:
    """The traced form of a function; raises SourceUnavailable if its source is not to be found.

    pushes: each `yield` of a generator function calls `push` of the protocol.
    on_form: gets a function whose form is made now.
    """
    forms = _pushing_forms if pushes else _forms
    known = forms.get(function.__code__)
    if known is None:
        known = forms.setdefault(function.__code__, TracedForm(function, pushes))
        if on_form is not None:
            on_form(function)
    return known


# By identity, since two functions of two files may have equal code.
_forms: ByIdentity[CodeType, TracedForm] = ByIdentity()
_pushing_forms: ByIdentity[CodeType, TracedForm] = ByIdentity()
