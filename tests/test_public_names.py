"""What `dir()` and Tab show of a module is what it has for its users."""

from __future__ import annotations

import subprocess
import sys

import dy2st
from tests.test_docstrings import public_modules


def listed(module):
    """What a module says that it has, also late, or else what it defines itself."""
    late = getattr(vars(module).get("__getattr__"), "places", ())
    own = getattr(module, "__all__", None)
    if own is None:
        values = vars(module).items()
        own = {name for name, v in values if getattr(v, "__module__", "") == module.__name__}
    return sorted(name for name in {*own, *late} if not name.startswith("_"))


# Modules that show what others have.
OF_OTHERS = {"dy2st.paddle": "dy2st", "dy2st.optimizer.lr": "dy2st_runtime.optimizer.lr"}


def test_dir_of_every_public_module_has_all_public_names_and_no_others():
    modules = public_modules()
    wrong = {
        where: set(dir(module)) ^ set(listed(modules.get(OF_OTHERS.get(where), module)))
        for where, module in modules.items()
    }
    assert not {where: names for where, names in wrong.items() if names}
    assert sum(len(dir(module)) for module in modules.values()) > 5000


def test_dir_of_schedules_has_those_that_are_loaded_late_too():
    names = dir(dy2st.optimizer.lr)
    assert {"LRScheduler", "StepDecay", "OneCycleLR"} <= {*names}
    assert not {"Any", "LATE", "annotations", "np"} & {*names}


def test_dir_shows_names_that_nobody_has_used_yet():
    script = "import dy2st; print('save' in dir(dy2st.jit), 'logaddexp' in dir(dy2st), dir(dy2st))"
    command = [sys.executable, "-c", script]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert shown.startswith("True True")
    assert "'LATE'" not in shown and "'_" not in shown


def test_every_name_that_dir_shows_is_there():
    for module in (dy2st, dy2st.jit, dy2st.nn, dy2st.static, dy2st.optimizer.lr):
        assert all(hasattr(module, name) for name in dir(module))
