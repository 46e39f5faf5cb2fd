"""The commands of `dy2st opu` by name; `arguments.py` loads this when one of them is called."""

from __future__ import annotations

from dy2st.targets.opu.commands.compile_ import compile_, quantise
from dy2st.targets.opu.commands.disasm import disasm
from dy2st.targets.opu.commands.estimate import estimate
from dy2st.targets.opu.commands.inspect_ import inspect
from dy2st.targets.opu.commands.run import run

COMMANDS = {
    "compile": compile_,
    "run": run,
    "estimate": estimate,
    "inspect": inspect,
    "disasm": disasm,
    "quantise": quantise,
}

__all__ = ["COMMANDS"]
