"""Gives what models of pictures need, under PaddlePaddle's names."""

from dy2st.paddle.vision import (
    datasets as datasets,
    models as models,
    ops as ops,
    transforms as transforms,
)
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
from dy2st.paddle.vision.image import (
    get_image_backend as get_image_backend,
    image_load as image_load,
    set_image_backend as set_image_backend,
)
from dy2st.paddle.vision.models.alexnet import AlexNet as _AlexNet
from dy2st.paddle.vision.models.densenet import DenseNet as _DenseNet
from dy2st.paddle.vision.models.googlenet import GoogLeNet as _GoogLeNet
from dy2st.paddle.vision.models.inceptionv3 import InceptionV3 as _InceptionV3
from dy2st.paddle.vision.models.lenet import LeNet as _LeNet
from dy2st.paddle.vision.models.mobilenetv1 import MobileNetV1 as _MobileNetV1
from dy2st.paddle.vision.models.mobilenetv2 import MobileNetV2 as _MobileNetV2
from dy2st.paddle.vision.models.mobilenetv3 import (
    MobileNetV3Large as _MobileNetV3Large,
    MobileNetV3Small as _MobileNetV3Small,
)
from dy2st.paddle.vision.models.resnet import BasicBlock, BottleneckBlock, ResNet as _ResNet
from dy2st.paddle.vision.models.shufflenetv2 import ShuffleNetV2 as _ShuffleNetV2
from dy2st.paddle.vision.models.squeezenet import SqueezeNet as _SqueezeNet
from dy2st.paddle.vision.models.vgg import VGG as _VGG
from dy2st.paddle.vision.transforms.base import BaseTransform as BaseTransform, Compose as Compose
from dy2st.paddle.vision.transforms.fixed import (
    CenterCrop as CenterCrop,
    Grayscale as Grayscale,
    Normalize as Normalize,
    Pad as Pad,
    Resize as Resize,
    ToTensor as ToTensor,
    Transpose as Transpose,
)
from dy2st.paddle.vision.transforms.functional import (
    adjust_brightness as adjust_brightness,
    adjust_contrast as adjust_contrast,
    adjust_hue as adjust_hue,
    center_crop as center_crop,
    crop as crop,
    hflip as hflip,
    normalize as normalize,
    pad as pad,
    resize as resize,
    to_grayscale as to_grayscale,
    to_tensor as to_tensor,
    vflip as vflip,
)
from dy2st.paddle.vision.transforms.random_transforms import (
    BrightnessTransform as BrightnessTransform,
    ColorJitter as ColorJitter,
    ContrastTransform as ContrastTransform,
    HueTransform as HueTransform,
    RandomCrop as RandomCrop,
    RandomHorizontalFlip as RandomHorizontalFlip,
    RandomResizedCrop as RandomResizedCrop,
    RandomVerticalFlip as RandomVerticalFlip,
    SaturationTransform as SaturationTransform,
)
from dy2st.paddle.vision.transforms.rotation import RandomRotation as RandomRotation
from dy2st.paddle.vision.transforms.warping import rotate as rotate
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.nn.layer import Layer
from typing import Any

class AlexNet(_AlexNet):
    """(n, 3, 224, 224) -> (n, num_classes)."""
    def __init__(self, num_classes: int = 1000) -> None: ...
    def forward(self, inputs: Tensor) -> Tensor: ...
class DenseNet(_DenseNet):
    """(n, 3, h, w) -> (n, num_classes) (Huang et al. 2016)."""
    def __init__(self, layers: int = 121, bn_size: int = 4, dropout: float = 0.0, num_classes: int = 1000, with_pool: bool = True) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
class GoogLeNet(_GoogLeNet):
    """(n, 3, 224, 224) -> three of (n, num_classes); the last two are for training."""
    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None: ...
    def forward(self, inputs: Tensor) -> list[Tensor]: ...
class InceptionV3(_InceptionV3):
    """(n, 3, 299, 299) -> (n, num_classes) (Szegedy et al. 2015)."""
    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class LeNet(_LeNet):
    """(n, 1, 28, 28) -> (n, num_classes) (LeCun et al. 1998)."""
    def __init__(self, num_classes: int = 10) -> None: ...
    def forward(self, inputs: Tensor) -> Tensor: ...
class MobileNetV1(_MobileNetV1):
    """(n, 3, h, w) -> (n, num_classes) (Howard et al. 2017), with `scale` times as many channels."""
    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class MobileNetV2(_MobileNetV2):
    """(n, 3, h, w) -> (n, num_classes) (Sandler et al. 2018), with `scale` times as many channels."""
    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class MobileNetV3Large(_MobileNetV3Large):
    """The larger one: (n, 3, h, w) -> (n, num_classes) (Howard et al. 2019)."""
    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class MobileNetV3Small(_MobileNetV3Small):
    """The smaller one: (n, 3, h, w) -> (n, num_classes) (Howard et al. 2019)."""
    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class ResNet(_ResNet):
    """(n, 3, h, w) -> (n, num_classes) (He et al. 2015)."""
    def __init__(self, block: type[BasicBlock] | type[BottleneckBlock], depth: int = 50, width: int = 64, num_classes: int = 1000, with_pool: bool = True, groups: int = 1) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class ShuffleNetV2(_ShuffleNetV2):
    """(n, 3, h, w) -> (n, num_classes) (Ma et al. 2018); `act` is "relu", "swish" or None."""
    def __init__(self, scale: float = 1.0, act: str | None = 'relu', num_classes: int = 1000, with_pool: bool = True) -> None: ...
    def forward(self, inputs: Tensor) -> Tensor: ...
class SqueezeNet(_SqueezeNet):
    """(n, 3, h, w) -> (n, num_classes) (Iandola et al. 2016), of version "1.0" or "1.1"."""
    def __init__(self, version: str, num_classes: int = 1000, with_pool: bool = True) -> None: ...
    def forward(self, inputs: Tensor) -> Tensor: ...
class VGG(_VGG):
    """(n, 3, h, w) -> (n, num_classes) (Simonyan and Zisserman 2014)."""
    def __init__(self, features: Layer, num_classes: int = 1000, with_pool: bool = True) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
def alexnet(pretrained: bool = False, **kwargs: Any) -> AlexNet:
    """AlexNet (Krizhevsky et al. 2012)."""
def densenet121(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 121 layers (Huang et al. 2016)."""
def densenet161(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 161 layers (Huang et al. 2016)."""
def densenet169(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 169 layers (Huang et al. 2016)."""
def densenet201(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 201 layers (Huang et al. 2016)."""
def densenet264(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 264 layers (Huang et al. 2016)."""
def googlenet(pretrained: bool = False, **kwargs: Any) -> GoogLeNet:
    """GoogLeNet (Szegedy et al. 2014)."""
def inception_v3(pretrained: bool = False, **kwargs: Any) -> InceptionV3:
    """Inception v3 (Szegedy et al. 2015)."""
def mobilenet_v1(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV1:
    """MobileNet (Howard et al. 2017)."""
def mobilenet_v2(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV2:
    """MobileNetV2 (Sandler et al. 2018)."""
def mobilenet_v3_large(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Large:
    """The larger MobileNetV3 (Howard et al. 2019)."""
def mobilenet_v3_small(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Small:
    """The smaller MobileNetV3 (Howard et al. 2019)."""
def resnet101(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 101 layers (He et al. 2015)."""
def resnet152(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 152 layers (He et al. 2015)."""
def resnet18(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 18 layers (He et al. 2015)."""
def resnet34(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 34 layers (He et al. 2015)."""
def resnet50(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 50 layers (He et al. 2015)."""
def resnext101_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 101 layers, 32 groups of 4 channels (Xie et al. 2016)."""
def resnext101_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 101 layers, 64 groups of 4 channels (Xie et al. 2016)."""
def resnext152_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 152 layers, 32 groups of 4 channels (Xie et al. 2016)."""
def resnext152_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 152 layers, 64 groups of 4 channels (Xie et al. 2016)."""
def resnext50_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 50 layers, 32 groups of 4 channels (Xie et al. 2016)."""
def resnext50_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 50 layers, 64 groups of 4 channels (Xie et al. 2016)."""
def shufflenet_v2_swish(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with the channels of 1.0 and swish (Ma et al. 2018)."""
def shufflenet_v2_x0_25(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with the channels of 0.25 (Ma et al. 2018)."""
def shufflenet_v2_x0_33(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with the channels of 0.33 (Ma et al. 2018)."""
def shufflenet_v2_x0_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with the channels of 0.5 (Ma et al. 2018)."""
def shufflenet_v2_x1_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with the channels of 1.0 (Ma et al. 2018)."""
def shufflenet_v2_x1_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with the channels of 1.5 (Ma et al. 2018)."""
def shufflenet_v2_x2_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with the channels of 2.0 (Ma et al. 2018)."""
def squeezenet1_0(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.0 (Iandola et al. 2016)."""
def squeezenet1_1(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.1 (Iandola et al. 2016)."""
def vgg11(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 11 layers with weights (Simonyan and Zisserman 2014)."""
def vgg13(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 13 layers with weights (Simonyan and Zisserman 2014)."""
def vgg16(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 16 layers with weights (Simonyan and Zisserman 2014)."""
def vgg19(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 19 layers with weights (Simonyan and Zisserman 2014)."""
def wide_resnet101_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 101 layers, twice as wide inside (Zagoruyko and Komodakis 2016)."""
def wide_resnet50_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 50 layers, twice as wide inside (Zagoruyko and Komodakis 2016)."""
