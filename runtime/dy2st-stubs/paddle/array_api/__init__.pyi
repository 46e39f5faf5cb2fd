"""Another name of dy2st_runtime.array_api."""

from dy2st_runtime.array_api import *
