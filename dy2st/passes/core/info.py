"""PassInfo: says what a pass is called, from which level on it runs, and what it needs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from dy2st_runtime.errors import WrongKind


@dataclass(frozen=True, slots=True)
class PassInfo:
    """What is said of a pass.

    Attributes
    ----------
    opt_level
        from which level of a PassContext on it runs inside a Sequential.
    required
        names of passes that must have run just before.
    traceable
        whether `apply trace` instruments may record and repeat it: same input, same output.
    changes
        whether it may change the Module; PrintIR does not.
    takes_functions
        whether it knows functions and calls; others get Programs in which these are inlined.

    Examples
    --------
    >>> dy2st.passes.FoldConstant().info.opt_level
    2
    >>> dy2st.passes.PassInfo("Mine", opt_level=2, required=("FoldConstant",)).required
    ('FoldConstant',)
    """

    name: str
    opt_level: int = 0
    required: tuple[str, ...] = ()
    traceable: bool = True
    changes: bool = True
    takes_functions: bool = False

    def __post_init__(self) -> None:
        """TypeError if `required` is not made of names."""
        names_of(self.required, "required passes")


def names_of(names: Iterable[str], what: str) -> tuple[str, ...]:
    """The names as a tuple; TypeError for one string, whose letters would be taken for names."""
    found = () if isinstance(names, str) else tuple(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in found):
        raise WrongKind(f"{what} are given as a list of names, not as {names!r:.80}")
    return found


def plain(name: str) -> str:
    """What is compared of the name of a pass: `fold-constant` is `FoldConstant`."""
    return re.sub(r"[-_ ]", "", name).lower()


__all__ = ["PassInfo", "names_of", "plain"]
