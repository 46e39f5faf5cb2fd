"""Replays a finished trace at each call: guards, the run, effects, the result."""
