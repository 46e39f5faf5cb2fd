"""Tests of the engine xla see eight devices, which jax makes of the one CPU."""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
