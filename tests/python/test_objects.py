"""Objects before a background, by a network that tells their inside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import diacut

NUCLEI = Path(__file__).resolve().parents[2] / "tests" / "cli" / "nuclei"


def test_nuclei_are_found() -> None:
    image = diacut.read_image(NUCLEI / "micrograph.png").pixels
    result = diacut.segment(image, config="nuclei")
    assert isinstance(result, diacut.Objects)
    assert result.labels.shape == result.inside.shape == image.shape[:2]
    assert 10 <= result.count <= 12
    assert result.labels.max() == result.count
    assert result.inside[result.labels > 0].mean() > 0.8
    assert result.inside[result.labels == 0].mean() < 0.2
    assert result.hierarchy.leaf_count > result.count


def test_other_methods_have_no_inside(picture: np.ndarray) -> None:
    assert diacut.segment(picture, 4).inside is None


def test_objects_need_such_a_network(picture: np.ndarray) -> None:
    with pytest.raises(diacut.ConfigError, match="config nuclei"):
        diacut.segment(picture, method="objects")
