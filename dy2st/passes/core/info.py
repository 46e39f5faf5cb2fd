"""PassInfo: the name card of a pass."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PassInfo:
    """What is said of a pass.

    opt_level   from which level of a PassContext on it runs inside a Sequential.
    required    names of passes that must have run just before.
    traceable   whether `apply trace` instruments may record and repeat it: same input, same output.
    changes     whether it may change the Module; PrintIR does not.
    """

    name: str
    opt_level: int = 0
    required: tuple[str, ...] = ()
    traceable: bool = True
    changes: bool = True


__all__ = ["PassInfo"]
