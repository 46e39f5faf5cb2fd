"""Gives what models of pictures need, under PaddlePaddle's names."""

from dy2st_runtime.lazy import lazy_names, places, public_dir

__all__ = [
    "datasets",
    "get_image_backend",
    "image_load",
    "models",
    "ops",
    "set_image_backend",
    "transforms",
]
__dir__ = public_dir(__name__)

_MODULES = ("datasets", "models", "ops", "transforms")

# Names of the modules that PaddlePaddle has here too.
_TOO = {
    "dy2st.paddle.vision.datasets": "Cifar10 Cifar100 DatasetFolder FashionMNIST ImageFolder MNIST",
    "dy2st.paddle.vision.models": "AlexNet DenseNet GoogLeNet InceptionV3 LeNet MobileNetV1 "
    "MobileNetV2 MobileNetV3Large MobileNetV3Small ResNet ShuffleNetV2 SqueezeNet VGG alexnet "
    "densenet121 densenet161 densenet169 densenet201 densenet264 googlenet inception_v3 "
    "mobilenet_v1 mobilenet_v2 mobilenet_v3_large mobilenet_v3_small resnet101 resnet152 resnet18 "
    "resnet34 resnet50 resnext101_32x4d resnext101_64x4d resnext152_32x4d resnext152_64x4d "
    "resnext50_32x4d resnext50_64x4d shufflenet_v2_swish shufflenet_v2_x0_25 "
    "shufflenet_v2_x0_33 shufflenet_v2_x0_5 shufflenet_v2_x1_0 shufflenet_v2_x1_5 "
    "shufflenet_v2_x2_0 squeezenet1_0 squeezenet1_1 vgg11 vgg13 vgg16 vgg19 wide_resnet101_2 "
    "wide_resnet50_2",
    "dy2st.paddle.vision.transforms": "BaseTransform BrightnessTransform CenterCrop ColorJitter "
    "Compose ContrastTransform Grayscale HueTransform Normalize Pad RandomCrop "
    "RandomHorizontalFlip RandomResizedCrop RandomRotation RandomVerticalFlip Resize "
    "SaturationTransform ToTensor Transpose adjust_brightness adjust_contrast adjust_hue "
    "center_crop crop hflip normalize pad resize rotate to_grayscale to_tensor vflip",
}

__getattr__ = lazy_names(
    __name__,
    {
        **{name: f"dy2st.paddle.vision.{name}" for name in _MODULES},
        **places({"dy2st.paddle.vision.image": "get_image_backend image_load set_image_backend"}),
        **places(_TOO),
    },
)
