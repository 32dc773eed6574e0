#!/usr/bin/env python3
"""Seconds of the processor and results of diacut and of scikit-image, for the pages of cells, scenes, annotations and
seeds.

    desk_times.py cells PICTURE TRUTH | scene | annotation PHOTO | seeds PHOTO TRUTH  [--segment PROGRAM] [--rounds 5] [--weights FILE]

All run in turns; each time is the least of the rounds. segment's is that of the whole program, a peer's leaves out
Python's start and imports. Strokes on a photograph are made of a person's regions (BSDS500's .mat): in each of at
least 1% of it the pixels that are the furthest from its edge. Needs scikit-image, Pillow and tifffile.
"""
import argparse
import json
import os
import subprocess
import tempfile

import numpy as np
import scipy.io
import tifffile
from PIL import Image
from fields_scene import SCENES, draw, found, write
from objects_picture import f1, thresholded
from scipy.ndimage import distance_transform_edt
from skimage.draw import polygon2mask
from skimage.measure import approximate_polygon, find_contours
from skimage.segmentation import felzenszwalb, random_walker


def cells(options, folder, timed):
    picture, truth = options.files
    truth = np.asarray(Image.open(truth)).astype(int)
    grey = np.asarray(Image.open(picture).convert("RGB")).mean(2)
    timed("segment --config nuclei", lambda: segment(options, folder, picture, "--config", "nuclei"),
          lambda labels: f1(labels, truth))
    timed("threshold_otsu, watershed", lambda: thresholded(grey), lambda labels: f1(labels, truth))


def scene(options, folder, timed):
    for name, drawn in SCENES.items():
        bands, truth = draw(*drawn)
        path = os.path.join(folder, name.split()[0] + ".tif")
        write(path, bands)
        values = bands.transpose(1, 2, 0) / bands.max()
        fields = lambda labels, truth=truth: (*found(truth, labels), truth.max())  # noqa: E731
        timed(f"segment --config scene, {name}",
              lambda path=path: segment(options, folder, path, "--config", "scene"), fields)
        for scale in (3, 10, 30):
            timed(f"felzenszwalb, scale {scale}, {name}", lambda scale=scale, values=values: 1 + felzenszwalb(
                values, scale=scale, sigma=0.8, min_size=100, channel_axis=-1), fields)


def annotation(options, folder, timed):
    photo = options.files[0]
    labels = segment(options, folder, photo, "--regions", "40")
    path, result = os.path.join(folder, "l.png"), os.path.join(folder, "c.json")
    Image.fromarray(labels.astype(np.uint16)).save(path)

    def ours():
        subprocess.run([options.segment, "annotate", path, "--image", photo, "--coco", result, "--simplify", "1", "-q"],
                       check=True)
        with open(result) as file:
            return [ring for each in json.load(file)["annotations"] for ring in each["segmentation"]
                    if isinstance(each["segmentation"], list)]

    def peer():
        rings = []
        for label in range(1, labels.max() + 1):
            for ring in find_contours(np.pad(labels == label, 1), 0.5):
                rings.append((approximate_polygon(ring, 1) - 0.5)[:, ::-1].ravel().tolist())
        return rings

    def gaps(rings):
        """Pixels in no polygon and in several, and the corners."""
        count = np.zeros(labels.shape, int)
        for ring in rings:
            # A little aside, so that no centre lies on an edge.
            count += polygon2mask(labels.shape, np.reshape(ring, (-1, 2))[:, ::-1] - (0.5013, 0.5007))
        return (count == 0).sum(), (count > 1).sum(), sum(len(ring) for ring in rings) // 2

    timed("segment annotate --coco --simplify 1", ours, gaps)
    timed("find_contours, approximate_polygon", peer, gaps)


def seeds(options, folder, timed):
    photo, drawn = options.files
    truth = scipy.io.loadmat(drawn)["groundTruth"].ravel()[0]["Segmentation"][0, 0].astype(int)
    marks = np.zeros(truth.shape, np.uint8)
    for label in np.unique(truth):
        depth = distance_transform_edt(np.pad(truth == label, 1))[1:-1, 1:-1]
        if (truth == label).mean() >= 0.01:
            marks[depth >= 0.8 * depth.max()] = label
    path = os.path.join(folder, "m.png")
    Image.fromarray(marks).save(path)
    pixels = np.asarray(Image.open(photo).convert("RGB")) / 255
    right = lambda labels: ((labels == truth).mean().round(3), len(np.unique(marks)) - 1)  # noqa: E731
    timed("segment --seeds", lambda: segment(options, folder, photo, "--seeds", path), right)
    timed("random_walker", lambda: random_walker(pixels, marks, mode="bf", channel_axis=-1), right)


def segment(options, folder, picture, *words):
    path = os.path.join(folder, "labels.tif")
    if options.weights:
        words += ("--weights", options.weights)
    subprocess.run([options.segment, picture, "-o", path, "-q", *words], check=True)
    return tifffile.imread(path).astype(np.int64)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("desk", choices=["cells", "scene", "annotation", "seeds"])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--segment", default="segment")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--weights", help="the network of segment")
    options = parser.parse_args()
    calls = []
    with tempfile.TemporaryDirectory() as folder:
        globals()[options.desk](options, folder, lambda *call: calls.append(call))
        least, results = {}, {}
        for _ in range(options.rounds):
            for name, call, score in calls:
                before = sum(os.times()[:4])
                labels = call()
                least[name] = min(least.get(name, np.inf), sum(os.times()[:4]) - before)
                results[name] = score(labels)
    for name, seconds in least.items():
        print(f"{name}: {seconds:.2f} s, {' '.join(map(str, np.ravel(results[name])))}")


if __name__ == "__main__":
    main()
