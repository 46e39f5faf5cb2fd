"""PassInstrument: watches passes, and may veto them."""

from __future__ import annotations

from dy2st.passes.core.info import PassInfo
from dy2st.passes.core.module import Module


class PassInstrument:
    """Derive from it and override what is needed; give instances to a PassContext.

    All instruments are asked `should_run`, and the pass runs if all say so. Then come all
    `run_before_pass`, the pass, and all `run_after_pass`, in the order of the instruments. Modules
    are for looking at. `enter_pass_ctx` and `exit_pass_ctx` are called when a context begins and
    ends, `pass_failed` instead of `run_after_pass` where something is raised.

    >>> class Names(dy2st.passes.PassInstrument):
    ...     def run_before_pass(self, module, info):
    ...         print("begins", info.name)
    ...     def run_after_pass(self, module, info):
    ...         print("ends", info.name)
    >>> f = dy2st.to_static(lambda x: x + 1.0, [dy2st.static.InputSpec([3])])
    >>> with dy2st.passes.PassContext(instruments=[Names()]):
    ...     _ = dy2st.passes.EliminateDeadCode()(f.main_program)
    begins EliminateDeadCode
    ends EliminateDeadCode
    """

    def enter_pass_ctx(self) -> None:
        """The context begins.

        >>> class Begin(dy2st.passes.PassInstrument):
        ...     def enter_pass_ctx(self):
        ...         print("begins")
        >>> with dy2st.passes.PassContext(instruments=[Begin()]):
        ...     pass
        begins
        """

    def exit_pass_ctx(self) -> None:
        """The context ends; called for every instrument that was entered, the last first.

        >>> class End(dy2st.passes.PassInstrument):
        ...     def exit_pass_ctx(self):
        ...         print("ends")
        >>> with dy2st.passes.PassContext(instruments=[End()]):
        ...     pass
        ends
        """

    def should_run(self, module: Module, info: PassInfo) -> bool:
        """Whether the pass may run.

        >>> class Veto(dy2st.passes.PassInstrument):
        ...     def should_run(self, module, info):
        ...         return info.name != "EliminateDeadCode"
        >>> f = dy2st.to_static(lambda x: (x + 1.0, x * 2.0)[0], [dy2st.static.InputSpec([3])])
        >>> with dy2st.passes.PassContext(instruments=[Veto()]):
        ...     same = dy2st.passes.EliminateDeadCode()(f.main_program)
        >>> len(same.operators) == len(f.main_program.operators)
        True
        """
        return True

    def run_before_pass(self, module: Module, info: PassInfo) -> None:
        """The pass is about to run.

        >>> class Before(dy2st.passes.PassInstrument):
        ...     def run_before_pass(self, module, info):
        ...         print(info.name, *module.programs)
        >>> with dy2st.passes.PassContext(instruments=[Before()]):
        ...     _ = dy2st.passes.EliminateDeadCode()(dy2st.passes.Module({}))
        EliminateDeadCode
        """

    def run_after_pass(self, module: Module, info: PassInfo) -> None:
        """The pass has run.

        >>> class After(dy2st.passes.PassInstrument):
        ...     def run_after_pass(self, module, info):
        ...         print(info.name, *module.programs)
        >>> with dy2st.passes.PassContext(instruments=[After()]):
        ...     _ = dy2st.passes.EliminateDeadCode()(dy2st.passes.Module({}))
        EliminateDeadCode
        """

    def pass_failed(self, info: PassInfo, error: BaseException) -> None:
        """Instead of `run_after_pass`: the pass or an instrument has raised an error.

        The error goes on to the caller.

        >>> class Failures(dy2st.passes.PassInstrument):
        ...     def pass_failed(self, info, error):
        ...         print(info.name, type(error).__name__)
        >>> broken = dy2st.passes.CreateModulePass(lambda module, context: 1 / 0, 1, "Broken")
        >>> with dy2st.passes.PassContext(instruments=[Failures()]):
        ...     try:
        ...         _ = broken(dy2st.passes.Module({}))
        ...     except ZeroDivisionError:
        ...         pass
        Broken ZeroDivisionError
        """


__all__ = ["PassInstrument"]
