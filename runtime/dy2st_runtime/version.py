"""The version of both packages, dy2st and dy2st_runtime: here, and nowhere else."""

VERSION = "0.3.0"

__all__ = ["VERSION"]
