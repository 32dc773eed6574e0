"""The estimator, by itself and in scikit-learn's hands."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn.base
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import diacut


def test_fit_predict(segmenter, picture):
    expected = segmenter.segment(picture)
    estimator = diacut.NormalizedCut(6, config="fast")
    labels = estimator.fit_predict(picture)
    assert np.array_equal(labels, expected.labels)
    assert labels is estimator.labels_
    assert estimator.n_regions_ == expected.count
    assert np.array_equal(estimator.contours_, expected.contours)
    assert estimator.hierarchy_.to_bytes() == expected.hierarchy.to_bytes()
    assert np.array_equal(estimator.eigenvalues_, expected.eigenvalues)
    assert estimator.fit(picture, y=None) is estimator


def test_params(picture):
    estimator = diacut.NormalizedCut(regions=6, config="fast")
    params = estimator.get_params()
    assert params["regions"] == 6 and params["threshold"] is None
    assert diacut.NormalizedCut(**params).get_params() == params
    assert estimator.set_params(regions=3) is estimator
    assert estimator.fit_predict(picture).max() == 3
    with pytest.raises(diacut.ConfigError, match="'n_clusters'.*regions"):
        estimator.set_params(n_clusters=3)
    with pytest.raises(diacut.ConfigError, match="regions is 0"):
        estimator.set_params(regions=0).fit(picture)
    assert repr(diacut.NormalizedCut(6, config="fast")) == "NormalizedCut(regions=6, config='fast')"


def test_with_scikit_learn(picture):
    estimator = diacut.NormalizedCut(6, config="fast").fit(picture)
    clone = sklearn.base.clone(estimator)
    assert clone is not estimator and clone.get_params() == estimator.get_params()
    assert not hasattr(clone, "labels_")
    assert sklearn.base.is_clusterer(estimator)
    pipeline = make_pipeline(FunctionTransformer(lambda image: image[:, ::-1]), clone)
    labels = pipeline.fit_predict(picture)
    assert np.array_equal(labels, diacut.segment(picture[:, ::-1], 6, config="fast").labels)
    for params in ParameterGrid({"regions": [2, 4]}):
        assert clone.set_params(**params).fit_predict(picture).max() == params["regions"]
    again = pickle.loads(pickle.dumps(estimator))
    assert again.get_params() == estimator.get_params()
    assert np.array_equal(again.labels_, estimator.labels_)


def test_without_optional_packages():
    """The package needs NumPy alone."""
    code = """
import sys
for name in ["sklearn", "scipy", "tqdm", "napari", "qtpy"]:
    sys.modules[name] = None
import numpy as np, diacut
labels = diacut.NormalizedCut(2, boundary="gradient").fit_predict(np.eye(16, dtype=np.uint8) * 255)
print(labels.shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "(16, 16)", done.stderr
