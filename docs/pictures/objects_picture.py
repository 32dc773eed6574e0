#!/usr/bin/env python3
"""Nuclei by diacut and by a watershed of scikit-image: the picture of docs/objects.md.

    objects_picture.py objects.png PICTURE TRUTH [--segment PROGRAM]

PICTURE is a micrograph and TRUTH its nuclei, one number each. Finds nuclei by the preset `nuclei`, by the best
nodes of the default network's tree, and by Otsu's threshold with a watershed of the distance transform, and
prints times and F1 at an intersection over union of .5. The times of segment are its stages but reading and
writing; that of recut is the whole program. Needs scikit-image and Pillow.
"""
import os
import tempfile

import numpy as np
from PIL import Image
from panels import arguments, beside, in_turns, outlined, report_of, run
from scipy.ndimage import distance_transform_edt
from skimage.feature import peak_local_max
from skimage.filters import threshold_otsu
from skimage.measure import label
from skimage.segmentation import watershed


def thresholded(grey):
    """Otsu's threshold, the smaller side, parted at the maxima of the distance to the other side."""
    inside = grey > threshold_otsu(grey)
    if inside.mean() > 0.5:
        inside = ~inside
    distance = distance_transform_edt(inside)
    peaks = peak_local_max(distance, min_distance=10, labels=label(inside), exclude_border=False)
    markers = np.zeros(grey.shape, int)
    markers[tuple(peaks.T)] = np.arange(1, len(peaks) + 1)
    labels = watershed(-distance, markers, mask=inside)
    small = np.bincount(labels.ravel()) < 20
    return np.where(small[labels], 0, labels)


def f1(labels, truth):
    """2 TP / (found + true), and TP, found and true."""
    pairs, count = np.unique(np.stack([labels.ravel(), truth.ravel()]), axis=1, return_counts=True)
    area, size = np.bincount(labels.ravel()), np.bincount(truth.ravel())
    overlap = count / (area[pairs[0]] + size[pairs[1]] - count)
    hits = int(((overlap > 0.5) & (pairs[0] > 0) & (pairs[1] > 0)).sum())
    found, true = int((area[1:] > 0).sum()), int((size[1:] > 0).sum())
    return 2 * hits / (found + true), hits, found, true


def main():
    parser = arguments(__doc__)
    parser.add_argument("picture")
    parser.add_argument("truth")
    options = parser.parse_args()
    pixels = np.asarray(Image.open(options.picture).convert("RGB"))
    truth = np.asarray(Image.open(options.truth)).astype(int)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        tree, output = os.path.join(folder, "a.tree"), os.path.join(folder, "l.npy")

        def preset():
            report = report_of(options.segment, options.picture, "--config", "nuclei", "-o", output)
            found["preset"] = np.load(output)
            return sum(s["wall_ms"] for s in report["stages"] if s["stage"] not in ("read", "write")) / 1e3

        def nodes():
            run(options.segment, "recut", tree, "--objects", "--score", "nuclei", "--image", options.picture,
                "-o", output)
            found["nodes"] = np.load(output)

        def peer():
            found["peer"] = thresholded(pixels.mean(2))

        run(options.segment, options.picture, "--config", "micrographs", "--set", "boundary.scales=1,2", "--tree", tree,
            "-o", output)
        seconds = in_turns(options.rounds, preset=preset, nodes=nodes, peer=peer)
    score = {name: f1(labels, truth) for name, labels in found.items()}
    print(f"{pixels.shape[1]}x{pixels.shape[0]}: seconds {seconds}, F1 with right, found and true nuclei {score}")
    shown = np.clip(pixels.astype(float) * 255 / max(1, np.quantile(pixels, 0.995)), 0, 255).astype(np.uint8)
    names = {"preset": "segment --config nuclei", "nodes": "recut --objects --score nuclei",
             "peer": "Otsu, distance watershed"}
    beside(options.output, [
        (outlined(shown, found[name]), f"{title}\n{seconds[name]:.2f} s, F1 {score[name][0]:.2f}")
        for name, title in names.items()], 320, 96)


if __name__ == "__main__":
    main()
