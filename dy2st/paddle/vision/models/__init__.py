"""Builds networks that classify pictures, with PaddlePaddle's names of parameters."""

# These functions have the names of their modules, and stand before them.
from dy2st.paddle.vision.models.alexnet import AlexNet, alexnet
from dy2st.paddle.vision.models.googlenet import GoogLeNet, googlenet
from dy2st_runtime.lazy import lazy_names, places, public_dir

LATE = places(
    {
        "dy2st.paddle.vision.models.densenet": "DenseNet densenet121 densenet161 densenet169 "
        "densenet201 densenet264",
        "dy2st.paddle.vision.models.inceptionv3": "InceptionV3 inception_v3",
        "dy2st.paddle.vision.models.lenet": "LeNet",
        "dy2st.paddle.vision.models.mobilenetv1": "MobileNetV1 mobilenet_v1",
        "dy2st.paddle.vision.models.mobilenetv2": "MobileNetV2 mobilenet_v2",
        "dy2st.paddle.vision.models.mobilenetv3": "MobileNetV3Large MobileNetV3Small "
        "mobilenet_v3_large mobilenet_v3_small",
        "dy2st.paddle.vision.models.resnet": "ResNet resnet101 resnet152 resnet18 resnet34 "
        "resnet50 resnext101_32x4d resnext101_64x4d resnext152_32x4d resnext152_64x4d "
        "resnext50_32x4d resnext50_64x4d wide_resnet101_2 wide_resnet50_2",
        "dy2st.paddle.vision.models.shufflenetv2": "ShuffleNetV2 shufflenet_v2_swish "
        "shufflenet_v2_x0_25 shufflenet_v2_x0_33 shufflenet_v2_x0_5 shufflenet_v2_x1_0 "
        "shufflenet_v2_x1_5 shufflenet_v2_x2_0",
        "dy2st.paddle.vision.models.squeezenet": "SqueezeNet squeezenet1_0 squeezenet1_1",
        "dy2st.paddle.vision.models.vgg": "VGG vgg11 vgg13 vgg16 vgg19",
    }
)
_MODULES = [
    "densenet",
    "inceptionv3",
    "lenet",
    "mobilenetv1",
    "mobilenetv2",
    "mobilenetv3",
    "resnet",
    "shufflenetv2",
    "squeezenet",
    "vgg",
]
__getattr__ = lazy_names(
    __name__, {**LATE, **{name: f"dy2st.paddle.vision.models.{name}" for name in _MODULES}}
)
__all__ = ["AlexNet", "GoogLeNet", "alexnet", "googlenet", *LATE]
__dir__ = public_dir(__name__)
