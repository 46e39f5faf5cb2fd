"""Datasets of pictures from files, under PaddlePaddle's names."""

from dy2st.vision.datasets.folder import DatasetFolder, ImageFolder

__all__ = ["DatasetFolder", "ImageFolder"]
