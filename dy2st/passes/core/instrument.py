"""PassInstrument: watches passes, and may veto them."""

from __future__ import annotations

from dy2st.passes.core.info import PassInfo
from dy2st.passes.core.module import Module


class PassInstrument:
    """Derive from it and override what is needed; give instances to a PassContext.

    All instruments are asked `should_run`, and the pass runs if all say so. Then come
    all `run_before_pass`, the pass, and all `run_after_pass`, in the order of the instruments.
    Modules are for looking at.
    """

    def enter_pass_ctx(self) -> None:
        """The context begins."""

    def exit_pass_ctx(self) -> None:
        """The context ends; called for every instrument that was entered, the last first."""

    def should_run(self, module: Module, info: PassInfo) -> bool:
        """Whether the pass may run."""
        return True

    def run_before_pass(self, module: Module, info: PassInfo) -> None:
        """The pass is about to run."""

    def run_after_pass(self, module: Module, info: PassInfo) -> None:
        """The pass has run."""

    def pass_failed(self, info: PassInfo, error: BaseException) -> None:
        """Instead of `run_after_pass`: the pass or an instrument has raised an error.

        The error goes on to the caller.
        """


__all__ = ["PassInstrument"]
