"""Labels that grow from seeds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import diacut


@pytest.fixture(scope="module")
def halves() -> np.ndarray:
    """A dark and a bright half with a little texture: (48, 64), uint8."""
    rows, columns = np.mgrid[0:48, 0:64]
    return (np.where(columns < 32, 60, 190) + (rows * 7 + columns * 5) % 11).astype(np.uint8)


@pytest.fixture(scope="module")
def seeds() -> np.ndarray:
    seeds = np.zeros((48, 64), np.int64)
    seeds[20, 5] = 9
    seeds[30, 60] = 2
    return seeds


def test_grow_to_the_boundary(halves, seeds):
    result = diacut.segment(halves, seeds=seeds, boundary="gradient", probabilities=True)
    assert result.labels.dtype == np.int32
    assert (result.labels[:, :32] == 9).all()
    assert (result.labels[:, 32:] == 2).all()
    two, nine = result.probabilities  # Ascending.
    assert two.shape == (48, 64)
    assert np.abs(two + nine - 1).max() < 1e-3
    assert nine[20, 5] == 1
    assert two[20, 5] == 0
    assert result.converged
    assert result.count == 2
    assert isinstance(result, diacut.SeedGrowth)
    assert result.hierarchy is None and result.contours is None
    assert len(result.eigenvalues) == 0


def test_cut_a_hierarchy(halves, seeds):
    result = diacut.segment(halves, seeds=seeds, method="hierarchy", boundary="gradient")
    assert result.labels[20, 5] == 9
    assert result.labels[30, 60] == 2
    assert set(np.unique(result.labels)) <= {0, 2, 9}
    assert result.hierarchy is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", diacut.DiacutWarning)
        again = result.hierarchy.cut_by_seeds(seeds)
    assert np.array_equal(again, result.labels)
    with pytest.raises(diacut.InputError, match="at least two"):
        result.hierarchy.cut_by_seeds(np.zeros_like(seeds))
    with pytest.raises(diacut.InputError, match="64x47"):
        result.hierarchy.cut_by_seeds(seeds[:47])


def test_barriers_part_labels(seeds):
    flat = np.full((48, 64), 100, np.uint8)
    lines = np.zeros(flat.shape, bool)
    lines[:, 20] = True
    labels = diacut.segment(flat, seeds=seeds, barriers=lines, boundary="gradient").labels
    assert (labels[:, :20] == 9).all()
    assert (labels[:, 21:] == 2).all()
    assert np.isin(labels[:, 20], (2, 9)).all()


def test_a_segmenter_takes_one_set_after_another(halves, seeds):
    with diacut.Segmenter(method="walker", boundary="gradient") as segmenter:
        first = segmenter.segment(halves, seeds=seeds).labels
        more = seeds.copy()
        more[40, 5] = 4
        second = segmenter.segment(halves, seeds=more).labels
    assert set(np.unique(first)) == {2, 9}
    assert set(np.unique(second)) == {2, 4, 9}


def test_start_from_an_earlier_result(halves, seeds):
    tight = {"walker.tolerance": 1e-6}
    first = diacut.segment(halves, seeds=seeds, boundary="gradient", set=tight, probabilities=True)
    more = seeds.copy()
    more[40, 5] = 9
    more[10, 50] = 11
    anew = diacut.segment(halves, seeds=more, boundary="gradient", set=tight, probabilities=True)
    for start in (first.probabilities, np.stack(first.probabilities)):
        started = diacut.segment(
            halves, seeds=more, boundary="gradient", set=tight, start=start, probabilities=True
        )
        assert np.array_equal(started.labels, anew.labels)
        for mine, others in zip(started.probabilities, anew.probabilities):
            assert np.abs(mine - others).max() < 1e-3
    with diacut.Segmenter(method="walker", boundary="gradient") as segmenter:
        again = segmenter.segment(halves, seeds=seeds, start=first.probabilities).labels
    assert np.array_equal(again, first.labels)


def test_probabilities_that_were_not_asked_for(halves, seeds):
    result = diacut.segment(halves, seeds=seeds, boundary="gradient")
    with pytest.raises(diacut.ConfigError, match="probabilities=True"):
        _ = result.probabilities
