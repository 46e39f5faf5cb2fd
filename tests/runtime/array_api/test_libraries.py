"""scikit-learn and SciPy compute with tensors, by the array API, what they compute with arrays."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("scipy")

SCRIPT = """
import json, warnings
import numpy as np
import dy2st
import scipy.fft, scipy.integrate, scipy.signal, scipy.special as special, scipy.stats as stats
from sklearn import config_context, metrics
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

warnings.simplefilter("ignore")
random = np.random.default_rng(0)
X = random.normal(size=(40, 5))
A, y = np.abs(X), (X[:, 0] > 0).astype("int64")
z = np.where(np.arange(40) % 3 == 0, y, 1 - y)
pairwise = metrics.pairwise
WITH_SCIPY = {
    "logsumexp": lambda a: special.logsumexp(a, axis=1),
    "softmax": lambda a: special.softmax(a, axis=1),
    "log_softmax": lambda a: special.log_softmax(a, axis=1),
    "erf": lambda a: special.erf(a),
    "gammaln": lambda a: special.gammaln(a),
    "xlogy": lambda a: special.xlogy(a, a),
    "rel_entr": lambda a: special.rel_entr(a, a + 1),
    "zscore": lambda a: stats.zscore(a, axis=0),
    "skew": lambda a: stats.skew(a, axis=0),
    "kurtosis": lambda a: stats.kurtosis(a, axis=0),
    "gmean": lambda a: stats.gmean(a, axis=0),
    "entropy": lambda a: stats.entropy(a, axis=0),
    "sem": lambda a: stats.sem(a, axis=0),
    "ttest": lambda a: stats.ttest_1samp(a, 0.0, axis=0).statistic,
    "pearson": lambda a: stats.pearsonr(a[:, 0], a[:, 1]).statistic,
    "quantile": lambda a: stats.quantile(a, 0.3, axis=0),
    "fft": lambda a: scipy.fft.fft(a),
    "trapezoid": lambda a: scipy.integrate.trapezoid(a, axis=0),
    "detrend": lambda a: scipy.signal.detrend(a, axis=0),
}
WITH_SKLEARN = {
    "StandardScaler": lambda a, y, z: StandardScaler().fit(a).transform(a),
    "MinMaxScaler": lambda a, y, z: MinMaxScaler().fit(a).transform(a),
    "MaxAbsScaler": lambda a, y, z: MaxAbsScaler().fit(a).transform(a),
    "Normalizer": lambda a, y, z: Normalizer().fit(a).transform(a),
    "PCA": lambda a, y, z: PCA(2, svd_solver="full").fit(a).transform(a),
    "Ridge": lambda a, y, z: Ridge(solver="svd").fit(a, a[:, 0] * 2).predict(a),
    "LDA": lambda a, y, z: LinearDiscriminantAnalysis().fit(a, y).predict(a),
    "GaussianNB": lambda a, y, z: GaussianNB().fit(a, y).predict(a),
    "accuracy": lambda a, y, z: metrics.accuracy_score(y, z),
    "f1": lambda a, y, z: metrics.f1_score(y, z),
    "confusion": lambda a, y, z: metrics.confusion_matrix(y, z),
    "r2": lambda a, y, z: metrics.r2_score(a[:, 0], a[:, 1]),
    "squared error": lambda a, y, z: metrics.mean_squared_error(a[:, 0], a[:, 1]),
    "rbf": lambda a, y, z: pairwise.rbf_kernel(a),
    "cosine": lambda a, y, z: pairwise.cosine_similarity(a),
    "distances": lambda a, y, z: pairwise.euclidean_distances(a),
}
found = {}


def note(name, function, *values):
    made = function(*map(dy2st.to_tensor, values))
    wanted = function(*values)
    is_kind = isinstance(made, dy2st.Tensor) or isinstance(wanted, float)
    found[name] = bool(is_kind and np.allclose(np.asarray(made), wanted))


for name, function in WITH_SCIPY.items():
    note(name, function, A)
with config_context(array_api_dispatch=True):
    for name, function in WITH_SKLEARN.items():
        note(name, function, X, y, z)
print(json.dumps(found))
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="its scipy and scikit-learn are older")
def test_libraries_take_tensors():
    environment = {**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    made = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    found = json.loads(made.stdout)
    assert len(found) == 35
    assert [name for name, is_right in found.items() if not is_right] == []
