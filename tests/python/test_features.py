"""Features of the caller's as affinities."""

from __future__ import annotations

import numpy as np
import pytest

import diacut

SIZE = (48, 64)


@pytest.fixture(scope="module")
def flat() -> np.ndarray:
    return np.full(SIZE, 90, np.uint8)


@pytest.fixture(scope="module")
def features() -> np.ndarray:
    """Two channels that tell the left half from the right, with a little noise: float32."""
    noise = np.random.default_rng(3).uniform(0, 0.05, (*SIZE, 2))
    left = np.arange(SIZE[1]) < SIZE[1] // 2
    return (np.stack(np.broadcast_arrays(left, ~left), axis=-1) + noise).astype(np.float32)


def expect_halves(labels: np.ndarray) -> None:
    middle = SIZE[1] // 2
    assert (labels[:, : middle - 1] == 1).all()
    assert (labels[:, middle + 1 :] == 2).all()


@pytest.mark.parametrize("method", ["hierarchy", "kway"])
def test_divide_an_image_of_one_colour(flat, features, method):
    result = diacut.segment(flat, 2, features=features, method=method)
    expect_halves(result.labels)
    assert result.feature_scale > 0
    assert len(result.eigenvalues) == 17
    own = diacut.segment(
        flat, 2, features=features, method=method, set={"affinity.feature_scale": 0.5}
    )
    assert own.feature_scale == 0.5
    expect_halves(own.labels)


def test_halves_and_two_dimensions_and_any_order(flat, features):
    expect_halves(diacut.segment(flat, 2, features=features.astype(np.float16)).labels)
    plane = features[..., 0].copy()
    gaussian = {"affinity.feature_measure": "gaussian"}
    expect_halves(diacut.segment(flat, 2, features=plane, set=gaussian).labels)
    first = diacut.segment(flat, 2, features=features)
    for same in (np.asfortranarray(features), features.astype(">f4")):
        again = diacut.segment(flat, 2, features=same)
        assert np.array_equal(first.contours, again.contours)
    smaller = diacut.segment(flat, 2, features=features[::2, ::2])
    assert smaller.labels.shape == SIZE


def test_strides(flat, features):
    near = diacut.segment(flat, 2, features=features, method="kway")
    far = diacut.segment(
        flat, 2, features=features, method="kway", set={"affinity.strides": "1,2,4"}
    )
    expect_halves(far.labels)
    assert far.eigenvalues[2] > near.eigenvalues[2]


def test_map_takes_features_for_each_image(flat, features):
    with diacut.Segmenter(2) as segmenter:
        both = list(segmenter.map([flat, flat], features=[features, features[::2, ::2]]))
        expect_halves(both[0].labels)
        assert np.array_equal(
            both[1].labels, segmenter.segment(flat, features=features[::2, ::2]).labels
        )
        with pytest.raises(diacut.InputError, match="features has 1 maps"):
            list(segmenter.map([flat, flat], features=[features]))


def test_features_beside_a_boundary_map_need_the_product(flat, features):
    boundary_map = np.zeros(SIZE, np.float32)
    with pytest.raises(diacut.ConfigError, match="with_boundary"):
        diacut.segment(flat, features=features, boundary_map=boundary_map)
    both = {"affinity.with_boundary": True}
    expect_halves(diacut.segment(flat, 2, features=features, boundary_map=boundary_map, set=both).labels)
