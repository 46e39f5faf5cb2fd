"""Gives PaddlePaddle's private modules, which show what public ones have, by a table of paths.

A package of ours calls `private_modules(__name__)` when its own names are there.
"""

from __future__ import annotations

from dy2st.paddle.mirrors import mirrors
from dy2st.paddle.spaces import home, space_of

# By the package: paths inside of it, and the public name spaces that they show ("." is `paddle`).
_SHOWN: dict[str, tuple[tuple[str, str], ...]] = {
    "amp": (("auto_cast grad_scaler", "amp ."),),
    "autograd": (("autograd backward_mode py_layer", "autograd"),),
    "base": (
        ("backward executor", "static"),
        ("data_feeder", "checks"),
        ("dygraph", "base nn ."),
        ("dygraph.base", "base autograd nn ."),
        ("dygraph.layers", "base nn.layer nn"),
        ("initializer", "nn.initializer"),
        ("param_attr", "base"),
    ),
    "device": (("cpu", "device"),),
    "distributed": (
        ("communication parallel", "distributed distributed.processes"),
        ("collective", "distributed distributed.processes distributed.mp_ops"),
        (
            "communication.all_gather communication.all_reduce communication.all_to_all "
            "communication.broadcast communication.gather communication.group "
            "communication.recv communication.reduce communication.reduce_scatter "
            "communication.scatter communication.send communication.stream sharding stream",
            "distributed distributed.processes distributed.mp_ops",
        ),
        ("launch.main spawn", "distributed"),
        ("parallel.parallel_helper", "distributed.processes"),
    ),
    "distributed.fleet": (
        ("base base.distributed_strategy base.role_maker fleet", "distributed.fleet"),
        ("model", "distributed.fleet distributed.fleet.meta_parallel"),
        (
            "meta_optimizers meta_optimizers.dygraph_optimizer "
            "meta_optimizers.dygraph_optimizer.dygraph_sharding_optimizer "
            "meta_optimizers.dygraph_optimizer.hybrid_parallel_optimizer "
            "meta_parallel.sharding meta_parallel.sharding.group_sharded_optimizer_stage2 "
            "meta_parallel.sharding.group_sharded_utils",
            "distributed.fleet",
        ),
        ("base.topology", "distributed.fleet.meta_parallel distributed.fleet"),
        ("layers layers.mpu", "distributed.fleet.meta_parallel"),
        ("layers.mpu.mp_layers layers.mpu.random", "distributed.fleet.meta_parallel"),
        ("layers.mpu.mp_ops", "distributed.mp_ops"),
        ("meta_parallel.parallel_layers", "distributed.fleet.meta_parallel"),
        (
            "meta_parallel.parallel_layers.mp_layers meta_parallel.parallel_layers.pp_layers "
            "meta_parallel.parallel_layers.random",
            "distributed.fleet.meta_parallel",
        ),
        ("recompute recompute.recompute recompute.recompute_hybrid", "distributed.fleet"),
    ),
    "distributed.fleet.utils": (
        (
            "hybrid_parallel_util log_util mix_precision_utils sequence_parallel_utils "
            "timer_helper",
            "distributed.fleet.utils",
        ),
    ),
    "framework": (("dtype framework io random", "framework"),),
    "geometric": (("math message_passing message_passing.send_recv", "geometric"),),
    "hapi": (
        ("dynamic_flops model_summary", "model_summary"),
        ("hub", "hub"),
    ),
    "incubate": (("jit jit.inference_decorator tensor tensor.math", "incubate"),),
    "incubate.nn": (
        ("memory_efficient_attention", "incubate.nn"),
        ("layer layer.fused_dropout_add layer.fused_transformer", "incubate.nn"),
        ("loss", "incubate"),
    ),
    "incubate.nn.functional": (
        (
            "fused_dropout_add fused_layer_norm fused_matmul_bias fused_rms_norm "
            "fused_rotary_position_embedding fused_transformer",
            "incubate.nn.functional",
        ),
    ),
    "incubate.operators": (
        ("graph_send_recv softmax_mask_fuse softmax_mask_fuse_upper_triangle", "incubate"),
    ),
    "inference": (("wrapper", "inference"),),
    "io": (
        (
            "dataloader dataloader.batch_sampler dataloader.dataloader_iter dataloader.dataset "
            "dataloader.sampler dataloader.worker reader",
            "io",
        ),
    ),
    "jit": (
        (
            "dy2static.logging_utils dy2static.program_translator marker translated_layer",
            "jit",
        ),
    ),
    "metric": (("metrics", "metric"),),
    "nn": (
        ("clip decode", "nn"),
        ("loss", "nn.layer.loss"),
    ),
    "nn.utils": (
        (
            "clip_grad_norm_ clip_grad_value_ spectral_norm_hook transform_parameters "
            "weight_norm_hook",
            "nn.utils",
        ),
    ),
    "nn.functional": (
        (
            "activation common conv distance extension input loss norm pooling sdpa "
            "sparse_attention vision",
            "nn.functional .",
        ),
    ),
    "nn.initializer": (
        (
            "assign bilinear constant dirac initializer kaiming lazy_init normal orthogonal "
            "uniform xavier",
            "nn.initializer modes",
        ),
    ),
    "optimizer": (
        (
            "adadelta adagrad adam adamax adamw asgd lamb momentum nadam optimizer radam "
            "rmsprop rprop sgd",
            "optimizer",
        ),
        ("lbfgs", "optimizer optimizer.line_search"),
    ),
    "nn.quant": (("format quantized_linear", "nn.quant"),),
    "onnx": (("export", "onnx"),),
    "profiler": (("profiler profiler_statistic utils", "profiler"),),
    "static": (("input", "static"),),
    "static.nn": (("common control_flow", "static.nn"),),
    "tensor": (
        (
            "attribute compat_softmax einsum layer_function_generator logic manipulation "
            "math ops search stat to_string",
            ". linalg",
        ),
        ("creation", ". linalg tensor.fill"),
        ("linalg", "linalg ."),
        ("random", ". linalg tensor.gaussian"),
    ),
    "text": (("viterbi_decode", "text"),),
    "utils": (("install_check layers_utils lazy_import deprecated", "utils"),),
    "utils.cpp_extension": (("cpp_extension extension_utils", "utils.cpp_extension"),),
    "vision.datasets": (("cifar mnist", "vision.datasets"),),
    "vision.transforms": (("transforms", "vision.transforms"),),
}


def private_modules(package: str) -> None:
    """Make the private modules inside of a package, which is `dy2st.nn`, say."""
    for paths, shown in _SHOWN[space_of(package)]:
        mirrors(package, paths, [home(space.strip(".")) for space in shown.split()])
