"""Bad input: each raises the right exception, which names what is wrong and what to do."""

from __future__ import annotations

import numpy as np
import pytest

import diacut

BYTES = np.zeros((8, 8, 3), np.uint8)
HUGE = np.broadcast_to(np.uint8(0), (100_000, 100_000))
#: A dark and a bright half, and for each a seed.
HALVES = np.repeat(np.uint8([[60, 190]]), [4, 4], axis=1).repeat(9, axis=0)
SEEDS = np.zeros(HALVES.shape, np.int64)
SEEDS[5, 2], SEEDS[2, 6] = 9, 2
HALF = np.full(HALVES.shape, 0.5, np.float32)


def changed(array, place, value):
    """A copy with another value at a place."""
    array = array.copy()
    array[place] = value
    return array


def with_seeds(seeds=SEEDS, **more):
    return {"seeds": seeds, "boundary": "gradient", **more}


# Images and what is given beside them, the error, and what it tells.
REFUSED = [
    (np.zeros(7, np.uint8), {}, diacut.InputError, r"shape \(7,\).*\(height, width\)"),
    (np.uint8(3), {}, diacut.InputError, r"shape \(\)"),
    (np.zeros((2, 8, 8, 3), np.uint8), {}, diacut.InputError, r"Segmenter\.map"),
    (np.zeros((3, 8, 9), np.uint8), {}, diacut.InputError, r"9 channels.*moveaxis"),
    (np.zeros((8, 8, 7), np.uint8), {}, diacut.InputError, r"7 channels.*choose 1 to 4"),
    (np.zeros((8, 8, 0), np.uint8), {}, diacut.InputError, r"empty.*\(8, 8, 0\)"),
    (np.zeros((0, 8), np.uint8), {}, diacut.InputError, r"empty.*\(0, 8\)"),
    ([], {}, diacut.InputError, r"shape \(0,\)"),
    (HUGE, {}, diacut.InputError, r"100000 x 100000 pixels.*image\.max_pixels"),
    ([[1, 2], [3]], {}, diacut.InputError, r"cannot be made an array"),
    (np.full((8, 8), np.nan), {}, diacut.InputError, r"64 are not finite"),
    (np.zeros((8, 8, 4), np.uint8), {}, diacut.InputError, r"64 are transparent"),
    (np.ma.masked_all((8, 8), np.uint8), {}, diacut.InputError, r"64 are transparent"),
    (np.zeros((8, 8), np.int64), {}, diacut.DtypeError, r"int64.*astype\('uint16'\)"),
    ([[0, 1], [1, 0]], {}, diacut.DtypeError, r"int64"),
    (np.zeros((8, 8), np.complex64), {}, diacut.DtypeError, r"complex64.*numpy\.abs"),
    (np.full((8, 8), None), {}, diacut.DtypeError, r"object"),
    (np.full((8, 8), "x"), {}, diacut.DtypeError, r"<U1"),
    (np.zeros((8, 8), "datetime64[s]"), {}, diacut.DtypeError, r"datetime64"),
    (np.zeros((8, 8), [("r", "u1")]), {}, diacut.DtypeError, r"'r'"),
    (np.zeros((8, 8), np.longdouble), {}, diacut.DtypeError, r"longdouble|float128"),
    (None, {}, diacut.InputError, r"shape \(\)"),
    ({"a": 1}, {}, diacut.InputError, r"shape \(\)"),
    ("/nonexistent/photo.jpg", {}, diacut.FileError, r"/nonexistent/photo\.jpg.*No such file"),
    (__file__, {}, diacut.FileError, r"test_errors\.py"),
    (BYTES, {"mask": np.ones((7, 8), bool)}, diacut.InputError, r"\(7, 8\), expected bool of the shape \(8, 8\)"),
    (BYTES, {"mask": np.ones((8, 8), np.uint8)}, diacut.InputError, r"array of uint8"),
    (BYTES, {"mask": [[True], []]}, diacut.InputError, r"the mask cannot be made an array"),
    (BYTES, {"boundary_map": np.zeros((8, 7))}, diacut.InputError, r"7x8|8x7|7 x 8"),
    (BYTES, {"boundary_map": np.zeros((8, 8, 1))}, diacut.InputError, r"\(8, 8, 1\)"),
    (BYTES, {"boundary_map": np.full((8, 8), 1.5)}, diacut.InputError, r"outside of \[0, 1\]"),
    (BYTES, {"boundary_map": np.full((8, 8), np.nan)}, diacut.InputError, r"NaN"),
    (BYTES, {"boundary_map": np.zeros((8, 8), np.int32)}, diacut.DtypeError, r"int32"),
    (BYTES, {"features": np.zeros((8, 8, 2))}, diacut.DtypeError, "float64"),
    (BYTES, {"features": np.zeros((8, 8, 2), np.int32)}, diacut.DtypeError, "int32"),
    (BYTES, {"features": np.zeros(64, np.float32)}, diacut.InputError, "shape"),
    (BYTES, {"features": np.zeros((1, 8, 8, 2), np.float32)}, diacut.InputError, "shape"),
    (BYTES, {"features": np.zeros((8, 8, 0), np.float32)}, diacut.InputError, "shape"),
    (BYTES, {"features": np.ones((8, 8, 2), np.float32)}, diacut.InputError, "same at every pixel"),
    (BYTES, {"features": np.full((8, 8, 2), np.nan, np.float32)}, diacut.InputError, "nan"),
    (BYTES, {"features": np.full((8, 8, 2), np.inf, np.float16)}, diacut.InputError, "inf"),
    (BYTES, {"features": np.eye(8, 5, dtype=np.float32)}, diacut.InputError, "5x8"),
    (HALVES, with_seeds(np.zeros_like(SEEDS)), diacut.InputError, "at least two"),
    (HALVES, with_seeds(SEEDS[:7]), diacut.InputError, "8x7"),
    (HALVES, with_seeds(np.full_like(SEEDS, -1)), diacut.InputError, "-1"),
    (HALVES, with_seeds(SEEDS[0]), diacut.InputError, "shape"),
    (HALVES, with_seeds(SEEDS.astype(float)), diacut.DtypeError, "float"),
    (HALVES, with_seeds(method="kway"), diacut.ConfigError, "walker"),
    (HALVES, with_seeds(None, method="walker"), diacut.InputError, "needs seeds"),
    (HALVES, with_seeds(mask=np.arange(72).reshape(9, 8) > 40), diacut.InputError, "no data"),
    (HALVES, with_seeds(barriers=np.zeros((7, 8), bool)), diacut.InputError, "8x7"),
    (HALVES, with_seeds(barriers=SEEDS > 0), diacut.InputError, "column [26], row [25]"),
    (HALVES, with_seeds(None, barriers=SEEDS > 0), diacut.ConfigError, "walker"),
    (HALVES, with_seeds(start=[HALF[:7]] * 2), diacut.InputError, "8x7"),
    (HALVES, with_seeds(start=[HALF] * 3), diacut.InputError, "3 labels"),
    (HALVES, with_seeds(start=[HALF, changed(HALF, (3, 7), np.nan)]), diacut.InputError, "column 7, row 3"),
    (HALVES, with_seeds(start=[HALF, changed(HALF, (3, 7), -0.5)]), diacut.InputError, "column 7, row 3"),
    (HALVES, with_seeds(start=[HALF, changed(HALF, (3, 7), 1.5)]), diacut.InputError, "column 7, row 3"),
    (HALVES, with_seeds(start=[HALF, HALF[:7]]), diacut.InputError, "shapes"),
    (HALVES, with_seeds(start=HALF), diacut.InputError, "shapes"),
    (HALVES, with_seeds(start=[]), diacut.InputError, "shapes"),
    (HALVES, with_seeds(start="p.npy"), diacut.InputError, "expected arrays"),
    (HALVES, with_seeds(start=[np.ones(HALVES.shape, int)] * 2), diacut.DtypeError, "floats"),
    (HALVES, with_seeds(start=[HALF] * 2, method="hierarchy"), diacut.ConfigError, "walker"),
    (HALVES, with_seeds(start=[HALF] * 2, features=np.dstack([HALF] * 2)), diacut.ConfigError, "features"),
]


@pytest.mark.parametrize("image, given, error, message", REFUSED)
def test_what_is_refused(image, given, error, message):
    with pytest.raises(error, match=message) as raised:
        diacut.segment(image, **given)
    assert type(raised.value) is error
    assert isinstance(raised.value, diacut.Error)


def test_an_error_leaves_the_segmenter_as_it_was(segmenter, picture):
    labels = segmenter.segment(picture).labels
    for bad in [np.zeros((0, 8), np.uint8), np.full((8, 8), np.nan)]:
        with pytest.raises(diacut.InputError):
            segmenter.segment(bad)
    with pytest.raises(diacut.ConfigError, match="ask for at most 2 regions"):
        segmenter.segment(np.zeros((1, 2), np.uint8))
    assert np.array_equal(segmenter.segment(picture).labels, labels)


SETTINGS = [
    ({"regions": 0}, r"regions is 0, expected an integer from 1"),
    ({"regions": -3}, r"regions is -3"),
    ({"regions": 2**40}, r"regions is 1099511627776"),
    ({"regions": 2.5}, r"regions is 2\.5.*integer"),
    ({"regions": "8"}, r"regions is '8'"),
    ({"regions": True}, r"regions is True"),
    ({"regions": 4, "threshold": 0.2}, r"threshold has no effect beside regions"),
    ({"compactness": 0.5}, r"compactness has no effect without regions"),
    ({"threshold": 1.5}, r"region\.threshold is '1\.5', expected a number from 0 to 1"),
    ({"threshold": float("nan")}, r"region\.threshold"),
    ({"min_size": "many"}, r"region\.min_size is 'many'"),
    ({"min_size": -1}, r"region\.min_size is '-1'"),
    ({"boundary": "sobel"}, r'boundary\.kind is .sobel.*"learned", "gradient"'),
    ({"method": "kmeans"}, r"region\.method"),
    ({"detail": "full"}, r"image\.detail"),
    ({"weights": "nosuch"}, r"nosuch"),
    ({"config": "slow"}, r"no configuration 'slow'.*fast"),
    ({"set": {"boundary.scale": 1}}, r"unknown parameter 'boundary\.scale'.*'boundary\.scales'"),
    ({"set": {"vectors": 5}}, r"unknown parameter 'vectors'.*'eigen\.vectors'"),
    ({"set": {"eigen.vectors": 1}}, r"eigen\.vectors is '1', expected an integer from 2 to 1000"),
    ({"set": {"eigen.vectors": None}}, r"eigen\.vectors is None"),
    ({"set": {"eigen.basis": 5}}, r"eigen\.basis is 5.*eigen\.vectors"),
    ({"set": ["eigen.vectors"]}, r"set is \['eigen\.vectors'\], expected a mapping"),
    ({"device": "quantum"}, r"quantum"),
    ({"memory": -1}, r"memory is -1"),
    ({"memory": "2G"}, r"memory is '2G', expected a number of bytes"),
]


@pytest.mark.parametrize("arguments, message", SETTINGS)
@pytest.mark.parametrize("how", ["segment", "Segmenter"])
def test_settings(arguments, message, how):
    with pytest.raises(diacut.ConfigError, match=message) as raised:
        diacut.segment(BYTES, **arguments) if how == "segment" else diacut.Segmenter(**arguments)
    assert isinstance(raised.value, ValueError)


def test_unknown_arguments():
    with pytest.raises(TypeError, match="region"):
        diacut.segment(BYTES, region=8)


def test_masks_of_what_has_its_own(segmenter, photograph):
    mask = np.ones((8, 8), bool)
    for image in [photograph, diacut.read_image(photograph)]:
        with pytest.raises(diacut.InputError, match="a mask belongs to an array"):
            segmenter.segment(image, mask=mask)


def test_tree_files(segmenter, picture, tmp_path):
    hierarchy = segmenter.segment(picture).hierarchy
    with pytest.raises(diacut.FileError, match="nowhere") as raised:
        hierarchy.save(tmp_path / "nowhere" / "a.tree")
    assert isinstance(raised.value, OSError) and isinstance(raised.value, ValueError)
    with pytest.raises(diacut.FileError, match=r"none\.tree"):
        diacut.Hierarchy.load(tmp_path / "none.tree")
    (tmp_path / "cut.tree").write_bytes(hierarchy.to_bytes()[:-7])
    with pytest.raises(diacut.FileError, match=r"cut\.tree"):
        diacut.Hierarchy.load(tmp_path / "cut.tree")
    with pytest.raises(diacut.InputError):
        diacut.Hierarchy.from_bytes(b"no tree")


@pytest.mark.parametrize(
    "labels, truth, error, message",
    [
        (np.zeros((4, 4), int), np.zeros((4, 5), int), diacut.InputError, r"\(4, 5\).*\(4, 4\)"),
        (np.zeros((4, 4), int), [], diacut.InputError, r"truth is empty"),
        (np.zeros((4, 4)), np.zeros((4, 4), int), diacut.DtypeError, r"labels has the dtype float64"),
        (np.zeros((4, 4, 1), int), np.zeros((4, 4), int), diacut.InputError, r"labels has the shape"),
        (np.full((4, 4), 2**40), np.zeros((4, 4), int), diacut.InputError, r"32 bits"),
        (np.zeros((0, 4), int), np.zeros((0, 4), int), diacut.InputError, r"\(0, 4\)"),
    ],
)
def test_evaluate(labels, truth, error, message):
    with pytest.raises(error, match=message):
        diacut.evaluate(labels, truth)


def test_memory_that_does_not_suffice(picture):
    with diacut.Segmenter(memory=1 << 20) as small:
        with pytest.raises(diacut.DeviceMemoryError, match="memory|MiB") as raised:
            small.segment(picture)
    assert isinstance(raised.value, MemoryError)
    assert isinstance(raised.value, diacut.DeviceError)
    assert raised.value.build_log == ""


def test_a_file_too_large_is_refused_before_it_is_decoded(tmp_path):
    path = tmp_path / "large.ppm"
    path.write_bytes(b"P6 10000 7000 255 ")  # Decoded, it would be a file that ends early.
    with diacut.Segmenter(detail="native", memory=1 << 30) as small:
        with pytest.raises(MemoryError, match="large.ppm.*10000x7000.*--detail"):
            small.segment(path)
        with pytest.raises(diacut.DeviceMemoryError, match="10000x7000"):
            list(small.map([path]))
    with pytest.raises(diacut.FileError, match="end"):
        diacut.segment(path)


def test_the_memory_of_eigenvectors_is_needed_for_them_alone(tmp_path):
    # With eigenvectors a picture of this size takes 13 times the memory that it takes without.
    path = tmp_path / "flat.ppm"
    path.write_bytes(b"P6 640 480 255 " + bytes(640 * 480 * 3))
    with diacut.Segmenter(2, memory=100 << 20) as small:
        assert small.segment(path).labels.shape == (480, 640)
        with pytest.raises(diacut.DeviceMemoryError, match="640x480"):
            small.segment(path, eigenvectors=True)
        assert [each.labels.shape for each in small.map([path])] == [(480, 640)]
        with pytest.raises(diacut.DeviceMemoryError, match="640x480"):
            list(small.map([path], eigenvectors=True))


def test_kernels_that_do_not_build(picture, tmp_path):
    with pytest.raises(diacut.Error, match="nosuch"):
        diacut.Segmenter(kernel_dir=tmp_path / "nosuch").segment(picture)


def test_bases():
    bases = {
        diacut.InputError: ValueError,
        diacut.DtypeError: TypeError,
        diacut.FileError: OSError,
        diacut.ConfigError: ValueError,
        diacut.DeviceError: RuntimeError,
        diacut.DeviceMemoryError: MemoryError,
        diacut.NumericalError: ArithmeticError,
        diacut.CancelledError: diacut.Error,
    }
    for error, base in bases.items():
        assert issubclass(error, base) and issubclass(error, diacut.Error)


def test_a_closed_segmenter(picture):
    with diacut.Segmenter(config="fast") as segmenter:
        pass
    for call in [segmenter.segment, lambda image: segmenter.map([image])]:
        with pytest.raises(diacut.ConfigError, match="closed"):
            call(picture)
