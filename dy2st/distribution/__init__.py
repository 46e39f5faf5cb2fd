"""Probability distributions under PaddlePaddle's names."""

from dy2st_runtime.late import late_names, places

_PLACES = places(
    {
        "dy2st.distribution.bernoulli": "Bernoulli",
        "dy2st.distribution.categorical": "Categorical",
        "dy2st.distribution.distribution": "Distribution",
        "dy2st.distribution.kl": "kl_divergence register_kl",
        "dy2st.distribution.normal": "Normal",
        "dy2st.distribution.uniform": "Uniform",
    }
)
_MODULES = {place.partition(":")[0] for place in _PLACES.values()}

__all__ = sorted(_PLACES)

__getattr__ = late_names(
    __name__, {**_PLACES, **{module.rpartition(".")[2]: module for module in _MODULES}}
)
