"""Transforms of pictures under PaddlePaddle's names: arrays, tensors, and images of PIL."""
