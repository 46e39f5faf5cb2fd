"""Reads datasets of pictures from files, under PaddlePaddle's names."""

from dy2st.paddle.vision.datasets.archives import (
    Cifar10 as Cifar10,
    Cifar100 as Cifar100,
    FashionMNIST as FashionMNIST,
    MNIST as MNIST,
)
from dy2st.paddle.vision.datasets.folder import (
    DatasetFolder as DatasetFolder,
    ImageFolder as ImageFolder,
)

