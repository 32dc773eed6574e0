"""The merge tree as arrays, and as SciPy has it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.cluster import hierarchy as scipy_hierarchy

import diacut


@pytest.fixture(scope="module")
def tree(segmenter, picture) -> diacut.Hierarchy:
    return segmenter.segment(picture).hierarchy


@pytest.fixture(scope="module")
def forest(segmenter, picture) -> diacut.Hierarchy:
    """Of an image in three pieces that do not touch."""
    mask = np.ones(picture.shape[:2], bool)
    mask[:, 40] = mask[50, :] = False
    mask[51:, 41:] = False
    return segmenter.segment(picture, mask=mask).hierarchy


def partitions_equal(one: np.ndarray, other: np.ndarray) -> bool:
    pairs = np.unique(np.stack([one.ravel(), other.ravel()]), axis=1).shape[1]
    return pairs == len(np.unique(one)) == len(np.unique(other))


def test_arrays(tree, picture):
    assert tree.shape == picture.shape[:2]
    assert tree.leaf_count == tree.leaves.max() > 20
    assert tree.children.dtype == np.int32 and tree.heights.dtype == np.float32
    assert tree.children.shape == (tree.leaf_count - 1, 2)
    assert (np.diff(tree.heights) >= 0).all() and 0 <= tree.heights[0] <= tree.heights[-1] <= 1
    own = tree.leaf_count + 1 + np.arange(len(tree.children))
    assert (tree.children < own[:, np.newaxis]).all()
    assert len(np.unique(tree.children)) == tree.children.size


def test_cut_by_hand(tree):
    """A cut at a height made of the arrays alone."""
    height = float(np.median(tree.heights))
    node = np.arange(tree.leaf_count + 1 + len(tree.children))
    for k, (first, second) in enumerate(tree.children):
        if tree.heights[k] <= height:
            node[(node == node[first]) | (node == node[second])] = tree.leaf_count + 1 + k
    labels = tree.cut(threshold=height, min_size=0)
    assert partitions_equal(labels, node[tree.leaves])


def test_counts_nest(tree):
    coarse, fine = tree.cut(5, min_size=0), tree.cut(20, min_size=0)
    assert (coarse.max(), fine.max()) == (5, 20)
    assert np.unique(np.stack([coarse.ravel(), fine.ravel()]), axis=1).shape[1] == 20
    with pytest.warns(diacut.DiacutWarning, match="100000"):
        assert tree.cut(100_000, min_size=0).max() == tree.leaf_count


@pytest.mark.filterwarnings("ignore:There is one region")
@pytest.mark.parametrize("which", ["tree", "forest"])
def test_linkage(request, which):
    hierarchy: diacut.Hierarchy = request.getfixturevalue(which)
    linkage = hierarchy.linkage()
    assert linkage.shape == (hierarchy.leaf_count - 1, 4)
    assert scipy_hierarchy.is_valid_linkage(linkage)
    assert scipy_hierarchy.is_monotonic(linkage)
    assert linkage[-1, 3] == hierarchy.leaf_count
    data = hierarchy.leaves > 0
    for height in [0.0, 0.05, float(np.median(hierarchy.heights)), 0.3, 1.0]:
        flat = scipy_hierarchy.fcluster(linkage, height, "distance")
        cut = hierarchy.cut(threshold=height, min_size=0)
        assert partitions_equal(flat[hierarchy.leaves[data] - 1], cut[data]), height


def test_a_forest(forest):
    linkage = forest.linkage()
    assert np.isinf(linkage[-2:, 2]).all() and np.isfinite(linkage[:-2, 2]).all()
    assert len(forest.heights) == forest.leaf_count - 3
    with pytest.warns(diacut.DiacutWarning, match="3"):
        assert forest.cut(1, min_size=0).max() == 3


@pytest.mark.filterwarnings("ignore:There is one region")
def test_one_leaf(segmenter):
    flat = diacut.segment(np.zeros((8, 8), np.uint8)).hierarchy
    assert flat.leaf_count >= 1
    single = diacut.Hierarchy.from_bytes(flat.to_bytes())
    assert single.linkage().shape == (single.leaf_count - 1, 4)
    assert single.children.shape == (single.leaf_count - 1, 2)
    assert single.cut().max() == 1


def test_kway_has_none(picture):
    result = diacut.segment(picture, 4, method="kway")
    assert isinstance(result, diacut.KwayCut)
    assert result.hierarchy is None and result.contours is None
    assert "4 regions" in repr(result)
    assert 0 < result.normalized_cut < 4
    assert diacut.segment(picture, 4).normalized_cut is None


def test_objects_equal_the_programs(programs, photograph, tmp_path):
    tree, out = tmp_path / "cat.tree", tmp_path / "objects.npy"
    programs.run("segment", photograph, "--config", "fast", "--tree", tree, "-o", tmp_path / "x.png")
    hierarchy = diacut.Hierarchy.load(tree)
    image = diacut.read_image(photograph)
    for options, arguments in (
        (("--score", "nuclei"), {"score": "nuclei"}),
        (("--score", "nuclei", "--area", "30:", "--darker", "0.02"),
         {"score": "nuclei", "area": (30, None), "brightness": (None, -0.02)}),
        (("--brighter", "0.05", "--solidity", "0.7:"),
         {"solidity": (0.7, None), "brightness": (0.05, None)}),
        (("--area", "20:50%", "--solidity", "0.5:", "--contrast", "0.01:"),
         {"area": (20, "50%"), "solidity": (0.5, None), "contrast": (0.01, None)}),
        ((), {}),
    ):
        needed = ("--image", photograph) if {"score", "brightness"} & arguments.keys() else ()
        programs.run("segment", "recut", tree, "--objects", *options, *needed, "-o", out)
        for given in (image, photograph, np.asarray(image.pixels)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", diacut.DiacutWarning)
                found = hierarchy.objects(image=given, **arguments)
            assert found.dtype == np.int32 and found.max() > 0
            assert np.array_equal(found, np.load(out))


def test_objects_that_need_an_image(picture, tree):
    with pytest.raises(diacut.ConfigError, match="image"):
        tree.objects(score="nuclei")
    with pytest.raises(diacut.ConfigError, match="image"):
        tree.objects(brightness=(0.1, None))
    with pytest.raises(diacut.InputError, match="128 x 95"):
        tree.objects(score="nuclei", image=picture[:95])
    with pytest.raises(diacut.FileError, match="none.png"):
        tree.objects(score="nuclei", image="none.png")


def test_no_objects(tree):
    with pytest.warns(diacut.DiacutWarning, match="no object"):
        assert (tree.objects(area=(None, 0)) == 0).all()


@pytest.mark.parametrize(
    "arguments, told",
    [
        ({"regions": 0}, "regions is 0"),
        ({"regions": 3, "threshold": 0.1}, "exclude each other"),
        ({"threshold": -0.1}, r"threshold is -0\.1, expected a number from 0 to 1"),
        ({"threshold": float("nan")}, "threshold is nan"),
        ({"threshold": "high"}, "threshold is 'high'"),
        ({"regions": 3, "compactness": 2}, "compactness is 2, expected 0 to 1"),
        ({"compactness": 1}, "compactness has no effect without regions"),
        ({"min_size": "big"}, "min_size is 'big', expected a number of pixels"),
        ({"min_size": None}, "min_size is None"),
        ({"area": (60, 20)}, "area"),
        ({"area": 60}, "area is 60"),
        ({"area": ("few", None)}, "few"),
        ({"solidity": (0.9, 1.5)}, "solidity.*1.5"),
        ({"solidity": (0.9, 0.8)}, "solidity"),
        ({"contrast": ("strong", None)}, "contrast.*strong"),
        ({"contrast": (-0.1, None)}, "contrast.*-0.1"),
        ({"brightness": (-1.5, None)}, "brightness.*-1.5.*-1 to 1"),
        ({"brightness": 0.1}, "brightness is 0.1"),
        ({"score": "cells"}, "score is 'cells'"),
    ],
)
def test_cuts_and_objects_that_make_no_sense(tree, arguments, told):
    is_cut = {"regions", "compactness", "threshold", "min_size"} & arguments.keys()
    with pytest.raises(diacut.ConfigError, match=told):
        (tree.cut if is_cut else tree.objects)(**arguments)
