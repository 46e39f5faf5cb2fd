"""Learning-rate schedules: those of `dy2st_runtime.optimizer.lr`."""

from dy2st_runtime.optimizer.lr import (
    CosineAnnealingDecay as CosineAnnealingDecay,
    ExponentialDecay as ExponentialDecay,
    LRScheduler as LRScheduler,
    LambdaDecay as LambdaDecay,
    LinearWarmup as LinearWarmup,
    MultiStepDecay as MultiStepDecay,
    NaturalExpDecay as NaturalExpDecay,
    PiecewiseDecay as PiecewiseDecay,
    PolynomialDecay as PolynomialDecay,
    ReduceOnPlateau as ReduceOnPlateau,
    StepDecay as StepDecay,
)
from dy2st_runtime.optimizer.rare_lr import (
    CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts,
    CyclicLR as CyclicLR,
    InverseTimeDecay as InverseTimeDecay,
    LinearLR as LinearLR,
    MultiplicativeDecay as MultiplicativeDecay,
    NoamDecay as NoamDecay,
    OneCycleLR as OneCycleLR,
)

