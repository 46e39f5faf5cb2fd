"""First values of parameters: those of `dy2st_runtime.nn.initializer`."""

from dy2st_runtime.nn.initializer import (
    Assign as Assign,
    Constant as Constant,
    Initializer as Initializer,
    KaimingNormal as KaimingNormal,
    KaimingUniform as KaimingUniform,
    Normal as Normal,
    Orthogonal as Orthogonal,
    TruncatedNormal as TruncatedNormal,
    Uniform as Uniform,
    XavierNormal as XavierNormal,
    XavierUniform as XavierUniform,
    calculate_gain as calculate_gain,
    fans_of as fans_of,
    global_initializer as global_initializer,
    set_global_initializer as set_global_initializer,
)
from dy2st_runtime.nn.rare_initializers import (
    Bilinear as Bilinear,
    ConstantInitializer as ConstantInitializer,
    Dirac as Dirac,
    MSRAInitializer as MSRAInitializer,
    NormalInitializer as NormalInitializer,
    NumpyArrayInitializer as NumpyArrayInitializer,
    TruncatedNormalInitializer as TruncatedNormalInitializer,
    UniformInitializer as UniformInitializer,
    XavierInitializer as XavierInitializer,
)

