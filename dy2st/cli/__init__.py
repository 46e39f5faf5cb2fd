"""The command `dy2st`, loaded when it is called: `exit_status.py` says how a command ends."""

from typing import TYPE_CHECKING

from dy2st_runtime.lazy import lazy_names

if TYPE_CHECKING:
    from dy2st.cli.commands import main
else:
    __getattr__ = lazy_names(__name__, {"main": "dy2st.cli.commands:main"})

__all__ = ["main"]
