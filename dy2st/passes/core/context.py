"""PassContext: says which passes run, with what options, and who watches them."""

from __future__ import annotations

import contextvars
from collections.abc import Iterable, Mapping
from typing import Any

from dy2st.passes.core.info import names_of, plain
from dy2st.passes.core.instrument import PassInstrument
from dy2st_runtime.errors import ArgumentError, WrongKind, did_you_mean

HIGHEST_LEVEL = 4
"""Of a PassContext; a pass of a higher one runs only where it is required."""


class Option:
    """A setting that passes read: its default, whose type values must have, and its meaning."""

    def __init__(self, default: bool | int, doc: str):
        """Keep default and meaning."""
        self.default, self.doc = default, doc


OPTIONS: dict[str, Option] = {
    "reassociate": Option(False, "let (x + c1) + c2 become x + (c1 + c2) for floats too"),
    "fold_constant.most_elements": Option(1 << 20, "largest result, unless the inputs are larger"),
    "unroll.most_iterations": Option(16, "loops of at most so many iterations are unrolled"),
    "unroll.most_operators": Option(512, "... if that gives at most so many operators"),
    "rewrite.most_sweeps": Option(64, "how often rules may go over a Program"),
    "bisect": Option(-1, "run only the first n passes of Sequentials; -1 runs all"),
}
"""All options by name."""


class PassContext:
    """What holds while passes run inside `with PassContext(...)`.

    Names are compared as the registry does: `fold-constant` is `FoldConstant`. Raises ArgumentError
    for an option that does not exist or has another type.

    Parameters
    ----------
    opt_level
        passes of a higher level do not run inside a Sequential (0 to 4).
    required_pass
        names of passes that run whatever their level.
    disabled_pass
        names of passes that never run: it wins over `required_pass`.
    config
        options by name: see OPTIONS.
    instruments
        see `instrument.py`.

    Examples
    --------
    >>> with PassContext(opt_level=1, config={"reassociate": True}):
    ...     PassContext.current().option("reassociate")
    True
    """

    def __init__(
        self,
        opt_level: int = HIGHEST_LEVEL,
        required_pass: Iterable[str] = (),
        disabled_pass: Iterable[str] = (),
        config: Mapping[str, Any] | None = None,
        instruments: Iterable[PassInstrument] = (),
    ):
        """Check the options; nothing happens before the `with`."""
        if not isinstance(opt_level, int):
            raise WrongKind(f"opt_level is an int, not {opt_level!r}")
        if not 0 <= opt_level <= HIGHEST_LEVEL:
            raise ArgumentError(f"opt_level is 0 to {HIGHEST_LEVEL}, not {opt_level}")
        self.opt_level = opt_level
        self.required_pass = frozenset(names_of(required_pass, "required passes"))
        self.disabled_pass = frozenset(names_of(disabled_pass, "disabled passes"))
        self._required = frozenset(map(plain, self.required_pass))
        self._disabled = frozenset(map(plain, self.disabled_pass))
        given = config or {}
        for name, value in given.items():
            if name not in OPTIONS:
                raise ArgumentError(f"there is no option {name!r}{did_you_mean(name, OPTIONS)}")
            kind = type(OPTIONS[name].default)
            if type(value) is not kind:
                raise ArgumentError(
                    f"the option {name!r} is of type {kind.__name__}, not {value!r}"
                )
        self.config = dict(given)
        found: list[Any] = list(instruments) if isinstance(instruments, Iterable) else [None]
        if not all(isinstance(entry, PassInstrument) for entry in found):
            raise WrongKind(f"instruments are a list of PassInstruments, not {instruments!r:.80}")
        self.instruments = found
        self.explanations: list[Any] | None = None
        self.count = 0
        self._token: contextvars.Token[PassContext] | None = None

    @staticmethod
    def current() -> PassContext:
        """The innermost context, or one with the defaults."""
        return _current.get(None) or PassContext()

    def option(self, name: str) -> Any:
        """The value of an option."""
        return self.config.get(name, OPTIONS[name].default)

    def __enter__(self) -> PassContext:
        """Enter the instruments in order, then let the context be current."""
        if self._token is not None:
            raise ArgumentError("this PassContext is entered already; make another one")
        self.count = 0
        entered: list[PassInstrument] = []
        try:
            for instrument in self.instruments:
                instrument.enter_pass_ctx()
                entered.append(instrument)
        except BaseException:
            self._leave(entered)
            raise
        self._token = _current.set(self)
        return self

    def __exit__(self, *error: Any) -> None:
        """Leave the instruments, the last first, whatever happened inside."""
        assert self._token is not None
        _current.reset(self._token)
        self._token = None
        self._leave(self.instruments)

    def _leave(self, instruments: list[PassInstrument]) -> None:
        """Every instrument is left, also after one that fails; the first failure is raised."""
        failed: list[BaseException] = []
        for instrument in reversed(instruments):
            try:
                instrument.exit_pass_ctx()
            except Exception as error:
                failed.append(error)
        if failed:
            raise failed[0]

    def wants(self, name: str, opt_level: int) -> bool:
        """Whether a pass of a Sequential runs, as far as the context says.

        >>> context = dy2st.passes.PassContext(opt_level=1)
        >>> context.wants("FoldConstant", 1), context.wants("Mine", 3)
        (True, False)
        """
        if self.is_disabled(name):
            return False
        return plain(name) in self._required or opt_level <= self.opt_level

    def is_disabled(self, name: str) -> bool:
        """Whether a pass never runs.

        >>> dy2st.passes.PassContext(disabled_pass=["FoldConstant"]).is_disabled("FoldConstant")
        True
        """
        return plain(name) in self._disabled

    def explain(self, rule: str, operator: Any, reason: str) -> None:
        """Note why a rule left an operator alone; kept only for `explain`.

        >>> context = dy2st.passes.PassContext()
        >>> with context:
        ...     context.explain("Mine", None, "it is a constant")
        """
        if self.explanations is not None:
            self.explanations.append((rule, operator, reason))


_current: contextvars.ContextVar[PassContext] = contextvars.ContextVar("pass_context")

__all__ = ["OPTIONS", "Option", "PassContext"]
