"""Ports models of PaddlePaddle: says which of its names are here, and makes imports mean dy2st."""
