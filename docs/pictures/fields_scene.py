"""Draws scenes of fields in four bands, segments them, and counts the fields that are found: those
of which a region has an intersection over union of .5 or .75 (numpy, scipy, tifffile)."""
import argparse
import pathlib
import subprocess
import tempfile

import numpy
import scipy.ndimage
import tifffile

SIZE = 700
CROPS = numpy.array([[400, 600, 500, 3000], [700, 900, 1100, 1800], [500, 700, 450, 3800],
                     [900, 1000, 1300, 1500], [600, 800, 700, 2500], [450, 650, 520, 3400]])
# 10 m a pixel, UTM 32 N.
GEOTIFF = [(33550, "d", 3, (10.0, 10.0, 0.0), True),
           (33922, "d", 6, (0.0, 0.0, 0.0, 500000.0, 5200000.0, 0.0), True),
           (34735, "H", 16, (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32632), True)]


SCENES = {"large fields": (5, (1500, 12000), 150, 0.1, 0.02),
          "small fields, more noise": (77, (600, 5000), 80, 0.07, 0.05)}


def split(random, areas, box):
    """The rectangles that a rectangle is divided into, each below a random area."""
    left, right, top, bottom = box
    wide, high = right - left, bottom - top
    if wide * high <= random.uniform(*areas) or max(wide, high) <= 30:
        return [box]
    share = random.uniform(0.35, 0.65)
    if wide > high:
        middle = left + wide * share
        return split(random, areas, (left, middle, top, bottom)) + split(random, areas, (middle, right, top, bottom))
    middle = top + high * share
    return split(random, areas, (left, right, top, middle)) + split(random, areas, (left, right, middle, bottom))


def draw(seed, areas, least, contrast, noise):
    """Bands and the numbers of fields. contrast: how much fields of one crop differ."""
    random = numpy.random.default_rng(seed)
    y, x = numpy.mgrid[:SIZE, :SIZE]
    u, v = x * numpy.cos(0.3) + y * numpy.sin(0.3), -x * numpy.sin(0.3) + y * numpy.cos(0.3)
    truth = numpy.zeros((SIZE, SIZE), numpy.int32)
    for left, right, top, bottom in split(random, areas, (u.min(), u.max(), v.min(), v.max())):
        field = (u >= left) & (u < right) & (v >= top) & (v < bottom)
        if field.sum() >= least:
            truth[field] = truth.max() + 1
    bands = numpy.zeros((4, SIZE, SIZE))
    for number in range(1, truth.max() + 1):
        base = CROPS[random.integers(len(CROPS))] * random.uniform(1 - contrast, 1 + contrast, 4)
        field = truth == number
        rows = numpy.sin((u * numpy.cos(number) + v * numpy.sin(number)) * random.uniform(0.5, 1.2))
        bands[:, field] = base[:, None] * (1 + 0.03 * rows[field])
    for band in bands:
        mean = band.mean()
        haze = scipy.ndimage.gaussian_filter(random.normal(0, 1, band.shape), 8)
        band[:] = scipy.ndimage.gaussian_filter(band, 0.7) + haze * mean * 0.5 + random.normal(0, noise * mean, band.shape)
    return numpy.clip(bands, 0, 65535).astype(numpy.uint16), truth


def write(path, bands):
    tifffile.imwrite(path, bands.transpose(1, 2, 0), photometric="minisblack", planarconfig="contig",
                     extratags=GEOTIFF)


def found(truth, labels):
    table = numpy.zeros((truth.max() + 1, labels.max() + 1))
    numpy.add.at(table, (truth.ravel(), labels.ravel()), 1)
    table = table[1:, 1:]
    union = table.sum(1, keepdims=True) + table.sum(0, keepdims=True) - table
    best = (table / union).max(1)
    return (best >= 0.5).sum(), (best >= 0.75).sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segment", default="segment")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scene, result = pathlib.Path(folder) / "scene.tif", pathlib.Path(folder) / "labels.tif"
        for name, drawn in SCENES.items():
            bands, truth = draw(*drawn)
            write(scene, bands)
            for arguments in ([], ["--config", "scene"]):
                subprocess.run([options.segment, "-q", scene, "-o", result, *arguments], check=True)
                labels = tifffile.imread(result).astype(numpy.int64)
                print(f"{name}: {truth.max()} fields, {labels.max()} regions {' '.join(arguments)}: "
                      "%d found, %d at .75" % found(truth, labels))


if __name__ == "__main__":
    main()
