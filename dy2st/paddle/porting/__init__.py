"""Porting models of PaddlePaddle: which of its names are here, and imports that mean dy2st."""
