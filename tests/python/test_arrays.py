"""Arrays of any order in memory, masks, and results without copies."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import diacut


def wider(picture: np.ndarray) -> np.ndarray:
    """The picture as a part of a larger array."""
    whole = np.zeros((200, 300, 4), np.uint8)
    part = whole[7 : 7 + picture.shape[0], 11 : 11 + picture.shape[1], :3]
    part[...] = picture
    return part


ORDERS = {
    "fortran": np.asfortranarray,
    "planes": lambda a: np.moveaxis(np.ascontiguousarray(np.moveaxis(a, -1, 0)), 0, -1),
    "a part": wider,
    "negative strides": lambda a: np.ascontiguousarray(a[::-1, ::-1, ::-1])[::-1, ::-1, ::-1],
    "every other": lambda a: np.repeat(np.repeat(a, 2, axis=0), 2, axis=1)[::2, ::2],
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
    "big endian": lambda a: (a.astype(">u2") * 257),
    "nested lists of bytes": lambda a: np.array(a.tolist(), dtype=np.uint8),
}


@pytest.mark.parametrize("order", ORDERS)
def test_order_in_memory(segmenter, picture, order):
    array = ORDERS[order](picture)
    before = array.copy()
    labels = segmenter.segment(array).labels
    assert np.array_equal(labels, segmenter.segment(picture).labels)
    assert np.array_equal(array, before)


def orders_of_a_plane(plane: np.ndarray) -> list[np.ndarray]:
    """The plane in other orders in memory."""
    whole = np.zeros((plane.shape[0] * 2, plane.shape[1] * 3), plane.dtype)
    whole[::2, ::3] = plane
    turned = np.ascontiguousarray(plane[::-1, ::-1])
    return [np.asfortranarray(plane), whole[::2, ::3], turned[::-1, ::-1], plane.astype(object)]


def test_order_in_memory_of_what_goes_with_a_picture(segmenter, picture):
    height, width = picture.shape[:2]
    mask = np.ones((height, width), bool)
    mask[:20, 5:50] = False
    boundary_map = np.linspace(0, 1, height * width, dtype=np.float32).reshape(height, width)
    seeds = np.zeros((height, width), np.int32)
    seeds[5:9, 5:9], seeds[60:70, 90:99] = 1, 2
    walker = diacut.Segmenter(method="walker", boundary="gradient")
    runs = [
        (mask, lambda each: segmenter.segment(picture, mask=each).labels),
        (boundary_map, lambda each: segmenter.segment(picture, boundary_map=each).labels),
        (seeds, lambda each: walker.segment(picture, seeds=each).labels),
        (seeds, lambda each: diacut.evaluate(each, [seeds, mask.astype(np.uint8)]).covering),
        (seeds, lambda each: diacut.evaluate(seeds, [each]).covering),
    ]
    for plane, run in runs:
        expected = run(plane)
        *orders, objects = orders_of_a_plane(plane)
        for order in orders:
            assert not order.flags.c_contiguous
            assert np.array_equal(run(order), expected)
        with pytest.raises(diacut.InputError, match="object"):
            run(objects)


def test_bool():
    drawing = np.zeros((40, 60), bool)
    drawing[:, 30:] = True
    expected = diacut.segment(drawing.astype(np.uint8) * 255, 2, boundary="gradient").labels
    labels = diacut.segment(drawing, 2, boundary="gradient").labels
    assert np.array_equal(labels, expected)
    assert np.array_equal(labels, 1 + drawing)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, bool])
def test_mask(segmenter, picture, dtype):
    array = picture[:, :, 0] > 100 if dtype is bool else picture.astype(dtype)
    mask = np.ones(picture.shape[:2], bool)
    mask[50:, 60:] = False
    labels = segmenter.segment(array, mask=mask).labels
    assert np.array_equal(labels == 0, ~mask)
    hidden = ~mask if array.ndim == 2 else np.repeat(~mask[:, :, np.newaxis], 3, axis=2)
    masked = np.ma.MaskedArray(array, mask=hidden)
    assert np.array_equal(segmenter.segment(masked).labels, labels)
    assert segmenter.segment(array, mask=np.ones_like(mask)).labels.min() == 1


def test_mask_beside_alpha(segmenter, picture):
    alpha = np.full(picture.shape[:2], 255, np.uint8)
    alpha[:20] = 0
    mask = np.ones(picture.shape[:2], bool)
    mask[:, :20] = False
    labels = segmenter.segment(np.dstack([picture, alpha]), mask=mask).labels
    assert np.array_equal(labels == 0, (alpha == 0) | ~mask)


def test_not_finite(segmenter, picture):
    array = picture / 255
    array[10:20, 10:20, 1] = np.nan
    array[30:40, 30:40, 2] = np.inf
    result = segmenter.segment(array)
    expected = np.zeros(picture.shape[:2], bool)
    expected[10:20, 10:20] = expected[30:40, 30:40] = True
    assert np.array_equal(result.labels == 0, expected)
    assert any("not finite" in note for note in result.notes)


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_results_are_views(segmenter, picture):
    result = segmenter.segment(picture, eigenvectors=True)
    for name in ["labels", "contours", "eigenvalues", "sqrt_degree"]:
        one, other = getattr(result, name), getattr(result, name)
        assert not one.flags.owndata
        assert address(one) == address(other), name
    for z, again in zip(result.normalized_eigenvectors, result.normalized_eigenvectors):
        assert address(z) == address(again)
    assert result.eigenvectors is result.eigenvectors
    tree = result.hierarchy
    for name in ["leaves", "children", "heights"]:
        array = getattr(tree, name)
        assert not array.flags.owndata and not array.flags.writeable, name
        assert address(array) == address(getattr(tree, name)), name
    assert address(tree.heights) == address(tree.children) + 8
    image = diacut.read_image.__globals__["image_of"](picture, segmenter._parameters, 10**6)
    assert address(image.pixels) == address(image.pixels)
    assert not image.pixels.flags.writeable
    assert np.array_equal(image.pixels, (picture / 255).astype(np.float32))


def test_views_outlive_the_result(segmenter, picture):
    labels = segmenter.segment(picture).labels
    heights = segmenter.segment(picture).hierarchy.heights
    expected, tall = labels.copy(), heights.copy()
    gc.collect()
    _ = [segmenter.segment(picture).labels for _ in range(2)]
    assert np.array_equal(labels, expected)
    assert np.array_equal(heights, tall)
    labels[0, 0] = 7  # Labels belong to the user.


def test_eigenvectors_are_kept_on_request_alone(segmenter, picture):
    result = segmenter.segment(picture)
    count = segmenter.parameters["eigen.vectors"]
    assert len(result.eigenvalues) == 0
    for name in ["eigenvectors", "normalized_eigenvectors", "sqrt_degree"]:
        with pytest.raises(diacut.ConfigError, match="eigenvectors=True"):
            getattr(result, name)
    kept = segmenter.segment(picture, eigenvectors=True)
    assert len(kept.eigenvalues) == count
    assert kept.eigenvalues[0] == pytest.approx(0, abs=1e-6)
    assert np.array_equal(kept.labels, result.labels)
    counted = diacut.segment(picture, 6, config="fast", set={"contour.spectral": "full"})
    assert len(counted.eigenvalues) == count
    with pytest.raises(diacut.ConfigError, match="not kept"):
        _ = counted.eigenvectors
    assert np.array_equal(kept.labels, result.labels)
    z = np.stack([each.ravel() for each in kept.normalized_eigenvectors]).astype(float)
    assert np.allclose(z @ z.T, np.eye(count), atol=1e-4)
    assert kept.eigenvectors.shape == (count, *picture.shape[:2])
    assert np.allclose(kept.eigenvectors[3] * kept.sqrt_degree, kept.normalized_eigenvectors[3], atol=1e-7)
    assert np.ptp(kept.eigenvectors[0]) < 1e-3 * kept.eigenvectors[0].max()
    with pytest.raises(diacut.ConfigError):
        _ = segmenter.segment(picture).eigenvectors
