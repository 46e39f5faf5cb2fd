"""Another name of dy2st_runtime.array_api.linalg."""

from dy2st_runtime.array_api.linalg import *
