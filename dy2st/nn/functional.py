"""Functions of neural networks: those of `dy2st_runtime.nn.functional`."""

from typing import TYPE_CHECKING

from dy2st.mirrors import mirrors
from dy2st.private_modules import private_modules
from dy2st_runtime.late import late_names
from dy2st_runtime.nn.functional import *  # noqa: F403
from dy2st_runtime.nn.functional import __all__ as __all__
from dy2st_runtime.nn.late import FUNCTIONALS

mirrors(__name__, "flash_attention", ["dy2st_runtime.nn.functions.flash_attention", __name__])

if TYPE_CHECKING:
    from dy2st_runtime.nn.late_functions import *  # noqa: F403
else:
    __getattr__ = late_names(__name__, FUNCTIONALS)

private_modules(__name__)
