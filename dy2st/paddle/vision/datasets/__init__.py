"""Reads datasets of pictures from files, under PaddlePaddle's names."""

from dy2st.paddle.private_modules import private_modules
from dy2st.paddle.vision.datasets.archives import MNIST, Cifar10, Cifar100, FashionMNIST
from dy2st.paddle.vision.datasets.folder import DatasetFolder, ImageFolder
from dy2st_runtime.lazy import public_dir

__all__ = ["MNIST", "Cifar10", "Cifar100", "DatasetFolder", "FashionMNIST", "ImageFolder"]
__dir__ = public_dir(__name__)

private_modules(__name__)
