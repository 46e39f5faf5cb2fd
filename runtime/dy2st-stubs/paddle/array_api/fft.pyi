"""Another name of dy2st_runtime.array_api.fft."""

from dy2st_runtime.array_api.fft import *
