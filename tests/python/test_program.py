"""Results equal those of the programs, to the byte."""

from __future__ import annotations

import numpy as np
import PIL.Image
import pytest
import tifffile

import diacut


def stored(array: np.ndarray, path) -> None:
    """Writes an array as a TIFF file of the same samples."""
    channels = 1 if array.ndim == 2 else array.shape[2]
    tifffile.imwrite(
        path,
        array,
        photometric="rgb" if channels >= 3 else "minisblack",
        planarconfig="contig" if array.ndim == 3 else None,
        extrasamples=["unassalpha"] if channels in (2, 4) else None,
    )


def converted(picture: np.ndarray, dtype: str) -> np.ndarray:
    """The picture with values that fill much of the type's range."""
    if dtype.startswith("float"):
        return (picture / 255).astype(dtype)
    limits = np.iinfo(dtype)
    steps = (int(limits.max) - int(limits.min)) // 255
    return (picture.astype(np.int64) * steps + int(limits.min)).astype(dtype)


def stored_as(array, tmp_path):
    stored(array, tmp_path / "array.tif")
    return tmp_path / "array.tif"


def labels_of_program(programs, array, tmp_path, *options) -> np.ndarray:
    programs.run("segment", stored_as(array, tmp_path), "-o", tmp_path / "labels.npy", *options)
    return np.load(tmp_path / "labels.npy")


FAST = ("--config", "fast", "--regions", "6")


def with_alpha(array: np.ndarray) -> np.ndarray:
    alpha = np.full((*array.shape[:2], 1), array.max(), array.dtype)
    alpha[:30, :40] = 0
    return np.concatenate([array, alpha], axis=2)


DTYPES = "uint8 int8 uint16 int16 uint32 int32 float16 float32 float64".split()
ARRAYS = {dtype: lambda picture, dtype=dtype: converted(picture, dtype) for dtype in DTYPES}
ARRAYS["a narrow range"] = lambda picture: picture.astype(np.uint16) * 16  # Twelve bits in sixteen.
ARRAYS["grey"] = lambda picture: picture[:, :, 1]
ARRAYS["one channel"] = lambda picture: picture[:, :, 1:2]
for dtype in ["uint8", "uint16", "float32"]:
    ARRAYS[f"{dtype}, alpha"] = lambda picture, dtype=dtype: with_alpha(converted(picture, dtype))
    ARRAYS[f"{dtype}, grey, alpha"] = lambda picture, dtype=dtype: with_alpha(converted(picture[:, :, :1], dtype))


@pytest.mark.parametrize("kind", ARRAYS)
def test_labels_of_arrays(programs, segmenter, picture, tmp_path, kind):
    array = ARRAYS[kind](picture)
    expected = labels_of_program(programs, np.squeeze(array), tmp_path, *FAST)
    result = segmenter.segment(array)
    assert result.labels.dtype == np.int32
    assert result.labels.max() == 6
    assert result.labels.tobytes() == expected.tobytes()
    without_data = np.zeros(picture.shape[:2], bool)
    without_data[:30, :40] = "alpha" in kind
    assert np.array_equal(result.labels == 0, without_data)
    assert any("image.range" in note for note in result.notes) == (kind == "a narrow range")


@pytest.mark.parametrize(
    "options, arguments",
    [
        ((), {}),
        (("--regions", "9", "--method", "kway"), {"regions": 9, "method": "kway"}),
        (("--regions", "9", "--compactness", ".5"), {"regions": 9, "compactness": 0.5}),
        (("--boundary", "gradient", "--threshold", ".2"), {"boundary": "gradient", "threshold": 0.2}),
        (("--detail", "native", "--min-size", "1%"), {"detail": "native", "min_size": "1%"}),
        (
            ("--set", "boundary.scales=0.5,1", "--set", "eigen.vectors=9", "--regions", "3"),
            {"set": {"boundary.scales": [0.5, 1], "eigen.vectors": np.int64(9)}, "regions": np.int32(3)},
        ),
    ],
)
def test_options(programs, picture, tmp_path, options, arguments):
    expected = labels_of_program(programs, picture, tmp_path, *options)
    assert np.array_equal(diacut.segment(picture, **arguments).labels, expected)


def test_everything_of_a_photograph(programs, photograph, tmp_path):
    """A file, an Image, the arrays of a result, and the hierarchy's cuts."""
    names = ["contours", "ultrametric"]
    places = [argument for name in names for argument in (f"--{name}", tmp_path / f"{name}.npy")]
    programs.run("segment", photograph, "-o", tmp_path / "labels.npy", "--config", "fast", *places,
                 "--tree", tmp_path / "photo.tree", "--eigenvectors", tmp_path / "vectors")
    result = diacut.segment(photograph, config="fast", eigenvectors=True)
    labels = np.load(tmp_path / "labels.npy")
    assert np.array_equal(result.labels, labels)
    image = diacut.read_image(photograph)
    assert image.shape == (*labels.shape, 3)
    assert np.array_equal(diacut.segment(image, config="fast").labels, labels)
    assert np.array_equal(result.contours, np.load(tmp_path / "contours.npy"))
    assert np.array_equal(result.hierarchy.ultrametric(), np.load(tmp_path / "ultrametric.npy"))
    assert np.array_equal(result.eigenvectors, np.load(tmp_path / "vectors" / "eigenvectors.npy"))

    result.hierarchy.save(tmp_path / "own.tree")
    assert (tmp_path / "own.tree").read_bytes() == (tmp_path / "photo.tree").read_bytes()
    loaded = diacut.Hierarchy.load(tmp_path / "photo.tree")
    assert np.array_equal(loaded.cut(), labels)
    for options, arguments in [
        (("--regions", "12"), {"regions": 12}),
        (("--regions", "60", "--compactness", "1"), {"regions": 60, "compactness": 1}),
        (("--threshold", ".1"), {"threshold": 0.1}),
        (("--regions", "40", "--min-size", "500"), {"regions": 40, "min_size": 500}),
        (("--auto", "--min-size", "2%"), {"min_size": "2%"}),
    ]:
        programs.run("segment", "recut", tmp_path / "photo.tree", "-o", tmp_path / "cut.npy", *options)
        expected = np.load(tmp_path / "cut.npy")
        if "500" in options and expected.max() < 40:
            with pytest.warns(diacut.DiacutWarning, match="40"):
                cut = loaded.cut(**arguments)
        else:
            cut = loaded.cut(**arguments)
        assert cut.dtype == np.int32
        assert np.array_equal(cut, expected)


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("boundary_map", {"regions": 6}),
        ("boundary_map in bytes", {"regions": 6, "config": "fast"}),
        ("seeds", {"config": "fast"}),
        ("features", {"regions": 6}),
    ],
)
def test_what_is_given_beside_a_picture(programs, picture, tmp_path, name, arguments):
    boundary_map = np.abs(np.diff(picture[:, :, 1].astype(float), axis=1, prepend=0)) / 255
    boundary_map[:, 0] = 0
    seeds = np.zeros(boundary_map.shape, np.uint8)
    seeds[40:50, 40:50], seeds[-20:-10, -60:-40] = 1, 3
    features = np.dstack([picture / 255, np.ones(boundary_map.shape)]).astype(np.float32)
    given = {"boundary_map": boundary_map, "seeds": seeds, "features": features,
             "boundary_map in bytes": np.rint(boundary_map * 255).astype(np.uint8)}[name]
    kind = name.split()[0]
    option = "--" + kind.replace("_", "-")
    np.save(tmp_path / "given.npy", given)
    options = [word for key, value in arguments.items() for word in (f"--{key}", value)]
    expected = labels_of_program(programs, picture, tmp_path, option, tmp_path / "given.npy", *options)
    for image in (picture, tmp_path / "array.tif", diacut.read_image(tmp_path / "array.tif")):
        assert np.array_equal(diacut.segment(image, **arguments, **{kind: given}).labels, expected)


def test_evaluate(programs, segmenter, picture, tmp_path):
    labels = segmenter.segment(picture).labels
    hierarchy = segmenter.segment(picture).hierarchy
    truths = [hierarchy.cut(regions=k, min_size=0) for k in (3, 12)]
    for name, array in [("results/a", labels), ("truth/a_0", truths[0]), ("truth/a_1", truths[1])]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        np.save(tmp_path / f"{name}.npy", array)
    table = programs.run("diacut-evaluate", tmp_path / "results", "--truth", tmp_path / "truth",
                         "--kind", "labels", "--csv", "-")
    header, row = table.strip().splitlines()[:2]
    values = dict(zip(header.split(","), row.split(",")))
    scores = diacut.evaluate(labels, truths)
    found = [scores.precision, scores.recall, scores.f, scores.covering, scores.pri, scores.vi]
    print(header, row, scores)
    expected = [value for name, value in values.items()
                if any(part in name for part in ("precision", "recall", "f_", "covering", "pri", "vi"))]
    assert len(expected) >= 5
    for value in found:
        assert f"{value:.6f}" in row.split(","), (value, header, row)
    assert scores.f < 1
    perfect = diacut.evaluate(labels, labels)
    assert (perfect.f, perfect.covering, perfect.pri, perfect.vi) == pytest.approx((1, 1, 1, 0))


def test_pictures(programs, segmenter, picture, tmp_path):
    array = with_alpha(picture)
    labels = segmenter.segment(array).labels
    programs.run("segment", stored_as(array, tmp_path), *FAST, "--flat", tmp_path / "flat.png",
                 "--cutout", tmp_path / "cutout.png", "--of", "2,3")
    for name, made in (("flat", diacut.flat(array, labels)),
                       ("cutout", diacut.cutout(array, labels, [2, 3]))):
        assert made.dtype == np.uint8
        assert np.array_equal(made, np.asarray(PIL.Image.open(tmp_path / f"{name}.png"))), name
    alpha = diacut.cutout(array, labels, labels[50, 60])[:, :, 3]
    assert (alpha[labels == labels[50, 60]] >= 128).all() and (alpha == 0).any()
    assert diacut.cutout(array, labels).shape == (*labels.shape, 4)
    for wrong in ([], 0, 99):
        with pytest.raises(diacut.InputError):
            diacut.cutout(array, labels, wrong)
    for wrong in (labels[1:], labels - 1, labels * 10**6, labels * 0):
        with pytest.raises(diacut.InputError):
            diacut.cutout(array, wrong)


def test_frames_keep_their_numbers():
    labels = np.ones((20, 30), np.int32)
    labels[:, 15:] = 2
    linker = diacut.FrameLinker()
    assert np.array_equal(linker.link(labels), labels)
    assert np.array_equal(linker.link(3 - np.roll(labels, 2, axis=1)), np.roll(labels, 2, axis=1))
    assert linker.notes == []
    far = np.zeros((*labels.shape, 2))
    far[..., 0] = -10
    back = linker.link(3 - np.roll(labels, 12, axis=1), far)
    assert np.array_equal(back[:, 10:], np.roll(labels, 12, axis=1)[:, 10:])
    with pytest.raises(diacut.InputError, match="flow has the shape"):
        linker.link(labels, far[0])
    assert set(np.unique(linker.link(labels[:10]))) == {3, 4}, "another size begins anew"
    assert (linker.link(np.zeros((10, 30), int)) == 0).all()
    with pytest.raises(diacut.ConfigError):
        diacut.FrameLinker(0)
