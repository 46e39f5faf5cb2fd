"""Targets: what Programs are lowered to, one folder each."""
