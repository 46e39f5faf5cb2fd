"""Ports sources written for torch: read `names`, `tables`, `calls`, `sources`, `report`."""
