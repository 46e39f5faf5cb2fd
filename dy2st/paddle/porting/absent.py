"""Says why dy2st has not some names of PaddlePaddle, and what to write instead.

A name stands for all that is under it: `incubate` for `incubate.nn.FusedLinear` too. Whether a
name is here is asked of dy2st; what is here needs no row.
"""

from __future__ import annotations

_STATIC = "static graphs made by hand: put @to_static on a Layer or function, and jit.save it"
_MANY = "not shared between processes: DataParallel, and shard_tensor on a mesh, are here"
_GPU = "a device of Paddle's own: GPUs and TPUs come by jax, set_device('gpu:0')"
_PLUGIN = "operators in C++: write the function with operators of dy2st"
_INFERENCE = "engines run the model: `dy2st opt -p mixed-precision`, and create_predictor's engine"
_PROFILE = "records of kernels: Profiler.step_info(), cProfile, or `dy2st opt --timing`"
_QUANTISED = "quantisation is for a target: `dy2st opu compile` quantises for the OPU"
_UNSTABLE = "not stable in Paddle: the plain operators compute the same"
_NET = "dy2st downloads nothing: read the files with a Dataset of your own"

# What exists to be imported or asked about, and refuses when it is called.
REFUSED = {
    "enable_static": _STATIC,
    **{f"hub.{name}": _NET for name in ("help", "list", "load", "load_state_dict_from_url")},
    **{f"profiler.{name}": _PROFILE for name in ("export_chrome_tracing", "export_protobuf")},
    **{
        f"utils.cpp_extension.{name}": _PLUGIN
        for name in ("load", "setup", "CppExtension", "CUDAExtension", "BuildExtension")
    },
    "utils.cpp_extension.load_op_meta_info_and_register_op": _PLUGIN,
    "inference.convert_to_mixed_precision": _INFERENCE,
    "CUDAPinnedPlace": f"{_GPU}; CPUPlace()",
    "XPUPlace": f"{_GPU}; CPUPlace()",
}

# Classes that models are made of, and functions that they import: whoever uses one gets advice.
_IMPORTED = {
    "distributed": "group_sharded_parallel shard_scaler",
    "distributed.fleet": "DygraphShardingOptimizer DygraphShardingOptimizerV2 "
    "GroupShardedOptimizerStage2 GroupShardedScaler HybridParallelOptimizer",
    "distributed.fleet.meta_parallel": "LayerDesc PipelineLayer PipelineParallel SharedLayerDesc "
    "TensorParallel",
    "distributed.fleet.utils": "MixPrecisionLayer MixPrecisionOptimizer MixPrecisionScaler "
    "get_timers obtain_optimizer_parameters_list",
}
REFUSED |= {
    f"{space}.{name}": _MANY for space, names in _IMPORTED.items() for name in names.split()
}
REFUSED |= {
    f"nn.quant.{name}": _QUANTISED
    for name in ("llm_int8_linear", "weight_dequantize", "weight_only_linear", "weight_quantize")
}
REFUSED["nn.quant.ConvertibleQuantedLayer"] = _QUANTISED
REFUSED |= {
    f"incubate.nn.{name}": _UNSTABLE
    for name in (
        "memory_efficient_attention.memory_efficient_attention",
        "functional.block_multihead_attention",
        "functional.masked_multihead_attention",
        "functional.variable_length_memory_efficient_attention",
    )
}
REFUSED |= {
    f"framework.{name}": "parts of paddle.load: dy2st.load reads files of PaddlePaddle"
    for name in ("_parse_every_object", "_to_LodTensor", "_transformed_from_lodtensor")
}
REFUSED["io._DataLoaderIterBase"] = "iter(loader) goes through a DataLoader"
REFUSED |= {
    f"utils.cpp_extension.{name}": _PLUGIN
    for name in ("_get_include_dirs", "_import_module_from_library", "_jit_compile")
}

ABSENT = {
    "audio": "files: read them with soundfile or scipy.io.wavfile, as arrays",
    "dataset": _NET,
    "device": _GPU,
    "distributed": _MANY,
    "fluid": "Paddle 1 is not here: take the name that Paddle 3 has",
    "get_cuda_rng_state": f"{_GPU}; get_rng_state()",
    "geometric": "samples of graphs: NumPy, in a Dataset; segments and messages are here",
    "incubate": _UNSTABLE,
    "inference": _INFERENCE,
    "jit.TracedLayer": "to_static and jit.save",
    "nn.quant": _QUANTISED,
    "profiler": _PROFILE,
    "quantization": _QUANTISED,
    "set_cuda_rng_state": f"{_GPU}; set_rng_state()",
    "sparse": "sparse tensors: dense tensors with masks, gather and scatter",
    "static": _STATIC,
    "sysconfig": _PLUGIN,
    "text": _NET,
    "utils.cpp_extension": _PLUGIN,
    "vision.datasets": _NET,
}
