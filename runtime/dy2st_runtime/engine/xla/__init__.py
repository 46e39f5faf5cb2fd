"""Programs as functions of jax, which XLA compiles for GPUs, TPUs and CPUs; needs the extra `jax`.

`library.py` names jax; nothing is imported of it until a Program is compiled or exported.
"""
