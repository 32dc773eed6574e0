#!/usr/bin/env python3
"""Scores superpixels of `segment --regions N` beside those of SLIC, SEEDS, LSC and Felzenszwalb's graphs.

    superpixel_peers.py IMAGES TRUTH [--segment segment] [--regions 50 100 200 400 800] [--compactness 0]

IMAGES holds photographs, TRUTH a .mat file of BSDS500 for each. For every method and number of regions it prints the
mean number of regions, the pixels of the largest one, the variation of sizes (standard deviation by mean), the
achievable segmentation accuracy (the share of pixels when each region gets the label that most of its pixels have; Liu
et al. 2011), the boundary recall at 2 pixels, the under-segmentation error (the share of pixels in the smaller parts of
regions that a boundary divides; Neubert and Protzel 2012), each the mean over annotators, and milliseconds a photograph
(Felzenszwalb's of all eight runs of its bisection). Needs NumPy, SciPy, scikit-image and OpenCV with its contrib modules.
"""
import argparse
import pathlib
import subprocess
import tempfile
import time

import cv2
import numpy as np
from scipy import io, ndimage
from skimage import segmentation

REACH = 2  # Pixels between a boundary and its match.


def boundaries(labels):
    edge = np.zeros(labels.shape, bool)
    edge[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    edge[:-1] |= labels[:-1] != labels[1:]
    return edge


def scores(labels, truth):
    """Accuracy, recall and under-segmentation of labels from 0 on."""
    regions, segments = labels.max() + 1, truth.max() + 1
    both = np.bincount(labels.ravel() * segments + truth.ravel(), minlength=regions * segments)
    both = both.reshape(regions, segments)
    inside = both.sum(1, keepdims=True)
    leaks = np.minimum(both, inside - both).sum()
    square = np.ones((2 * REACH + 1, 2 * REACH + 1), bool)
    wanted = boundaries(truth)
    recall = (wanted & ndimage.binary_dilation(boundaries(labels), square)).sum() / max(wanted.sum(), 1)
    return both.max(1).sum() / truth.size, recall, leaks / truth.size


def annotations(path):
    for each in io.loadmat(path)["groundTruth"].ravel():
        yield np.unique(each["Segmentation"][0, 0], return_inverse=True)[1].reshape(
            each["Segmentation"][0, 0].shape)


def slic(picture, count):
    return segmentation.slic(picture[..., ::-1], count, compactness=10, start_label=0)


def felzenszwalb(picture, count):
    """The scale whose number of regions is nearest to `count`, by bisection."""
    low, high = 1.0, 3000.0
    for _ in range(8):
        scale = (low * high) ** 0.5
        labels = segmentation.felzenszwalb(picture[..., ::-1], scale, sigma=0.8, min_size=20)
        low, high = (scale, high) if labels.max() + 1 > count else (low, scale)
    return labels


def lsc(picture, count):
    side = round((picture.shape[0] * picture.shape[1] / count) ** 0.5)
    lab = cv2.cvtColor(cv2.GaussianBlur(picture, (3, 3), 0), cv2.COLOR_BGR2LAB)
    found = cv2.ximgproc.createSuperpixelLSC(lab, side, 0.075)
    found.iterate(10)
    found.enforceLabelConnectivity(25)
    return found.getLabels()


def seeds(picture, count):
    found = cv2.ximgproc.createSuperpixelSEEDS(picture.shape[1], picture.shape[0], 3, count, 4, 2, 5, True)
    found.iterate(cv2.cvtColor(picture, cv2.COLOR_BGR2HSV), 10)
    return found.getLabels()


PEERS = {"SLIC": slic, "LSC": lsc, "SEEDS": seeds, "Felzenszwalb": felzenszwalb}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("images", type=pathlib.Path)
    parser.add_argument("truth", type=pathlib.Path)
    parser.add_argument("--segment", default="segment")
    parser.add_argument("--compactness", type=float, nargs="+", default=[0], help="of segment, each")
    parser.add_argument("--regions", type=int, nargs="+", default=[50, 100, 200, 400, 800])
    options = parser.parse_args()
    paths = sorted(p for p in options.images.iterdir() if p.suffix in (".jpg", ".png"))
    print("method        asked  regions  largest  variation  accuracy  recall  under-seg.      ms")
    for count in options.regions:
        for name in (*(f"diacut {c}" for c in options.compactness), *PEERS):
            rows = []
            with tempfile.TemporaryDirectory() as folder:
                began = time.perf_counter()
                own = name.startswith("diacut")
                if own:
                    subprocess.run([options.segment, options.images, "--regions", str(count), "--compactness",
                                    name.split()[1], "-q", "-o", folder], check=True)
                spent = time.perf_counter() - began
                for path in paths:
                    picture = cv2.imread(str(path))
                    began = time.perf_counter()
                    if own:
                        labels = cv2.imread(f"{folder}/{path.stem}.png", cv2.IMREAD_UNCHANGED)
                    else:
                        labels = PEERS[name](picture, count)
                        spent += time.perf_counter() - began
                    labels = np.unique(labels, return_inverse=True)[1].reshape(labels.shape)
                    each = [scores(labels, t) for t in annotations(options.truth / f"{path.stem}.mat")]
                    sizes = np.bincount(labels.ravel())
                    rows.append([len(sizes), sizes.max(), sizes.std() / sizes.mean(), *np.mean(each, axis=0)])
            mean = np.mean(rows, axis=0)
            print(f"{name:12s} {count:6d} {mean[0]:8.0f} {mean[1]:8.0f} {mean[2]:10.2f} {mean[3]:9.3f} "
                  f"{mean[4]:7.3f} {mean[5]:11.3f} "
                  f"{1000 * spent / len(paths):7.0f}", flush=True)


if __name__ == "__main__":
    main()
