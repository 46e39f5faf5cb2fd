"""Convolutional networks for the OPU in plain dy2st code; `models.py` has a table of them."""
