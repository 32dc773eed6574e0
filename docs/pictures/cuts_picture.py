#!/usr/bin/env python3
"""Direct normalized cuts by diacut, scikit-image and scikit-learn: picture and table of docs/sources.md.

    cuts_picture.py cuts.png [--photographs FOLDER --truth FOLDER --count 10] [--weights NETWORK]
                    [--matvec NAME] [--segment PROGRAM] [--bench PROGRAM]

The picture is of images/coffee.jpg, which scikit-image shows too. With photographs and the segmentations that
people drew of them (BSDS500's .mat files), each of `count` of them, evenly spaced by name, is cut into as many
regions as the median of its people drew, by all in turns. Prints median seconds by the clock and of the
processor, the normalized cut on diacut's affinity matrix, which `diacut-bench eigen --save-matrix` writes, and
how well people's regions are covered: means and standard errors. The normalized cut is the mean over the regions
of cut(A, V)/assoc(A, V).

 - segment --config ncut --regions K, and the default's hierarchy, --regions K: the whole process.
 - scikit-image's cut_normalized as its gallery calls it, on the mean colours of 400 SLIC segments. It takes no
   number: of the thresholds of a bisection the one whose regions are the nearest to K in number; its time is
   that of the call with it.
 - scikit-learn's spectral_clustering as its gallery calls it, on the gradient of grey values, reduced so that
   the longer side has 240 pixels; labels are resized by the nearest.

Needs scikit-image, scikit-learn and Pillow.
"""
import glob
import os
import subprocess
import tempfile
import time

import numpy as np
import scipy.io
import scipy.sparse as sp
from PIL import Image
from panels import ROOT, arguments, beside, outlined, report_of
from scipy.ndimage import gaussian_filter
from skimage import graph, segmentation, transform
from sklearn.cluster import spectral_clustering
from sklearn.feature_extraction.image import img_to_graph

LONGER_SIDE = 240


class Watch:
    """Seconds since it began: by the clock, and of the processor by this process and the programs it ran."""

    def __init__(self):
        self.begin = self.now()

    @staticmethod
    def now():
        return np.array([time.perf_counter(), sum(os.times()[:4])])

    def seconds(self):
        return self.now() - self.begin


def segment(options, photo, *words):
    """Labels, seconds, and the report."""
    watch = Watch()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "l.npy")
        if options.weights:
            words += ("--weights", options.weights)
        report = report_of(options.segment, photo, "-o", path, *words)
        return np.load(path), watch.seconds(), report


def cut_normalized(pixels, regions):
    watch = Watch()
    pieces = segmentation.slic(pixels, compactness=30, n_segments=400, start_label=1)
    before = graph.rag_mean_color(pixels, pieces, mode="similarity")
    shared = watch.seconds()
    best = None
    low, high = -5.5, -0.5  # Powers of ten, from the 0.001 of the gallery: more regions at higher thresholds.
    for _ in range(5):
        middle = (low + high) / 2
        watch = Watch()
        labels = graph.cut_normalized(pieces, before, thresh=10**middle, in_place=False, rng=0)
        seconds = shared + watch.seconds()
        count = len(np.unique(labels))
        if best is None or abs(count - regions) < abs(best[0] - regions):
            best = count, labels, seconds
        low, high = (middle, high) if count < regions else (low, middle)
        if count == regions:
            break
    return best[1], best[2]


def spectral(pixels, regions):
    watch = Watch()
    grey = np.asarray(Image.fromarray(pixels).convert("L"), float)
    scale = min(1, LONGER_SIDE / max(grey.shape))
    small = transform.rescale(gaussian_filter(grey, 0.5 / scale), scale, mode="reflect", anti_aliasing=False)
    ties = img_to_graph(small)
    ties.data = np.exp(-10 * ties.data / ties.data.std()) + 1e-6
    labels = spectral_clustering(ties, n_clusters=regions, eigen_solver="arpack", assign_labels="discretize",
                                 random_state=0)
    labels = transform.resize(labels.reshape(small.shape), grey.shape, order=0, preserve_range=True,
                              anti_aliasing=False)
    return labels.astype(int), watch.seconds()


def mean_ncut(weights, labels):
    """The mean over the regions of cut(A, V)/assoc(A, V)."""
    _, each = np.unique(labels, return_inverse=True)
    inside = sp.csr_array((np.ones(each.size), (np.arange(each.size), each.ravel())))
    whole = inside.T @ weights.sum(axis=1)
    return float((1 - (inside.multiply(weights @ inside)).sum(axis=0) / whole).mean())


def covering(labels, truths):
    """Of the people's regions by the best of `labels`, the people pooled."""
    covered = total = 0
    for truth in truths:
        _, found = np.unique(labels, return_inverse=True)
        table = np.zeros((truth.max() + 1, found.max() + 1))
        np.add.at(table, (truth.ravel(), found.ravel()), 1)
        union = table.sum(axis=1, keepdims=True) + table.sum(axis=0) - table
        size = table.sum(axis=1)
        covered += (size * (table / np.maximum(union, 1)).max(axis=1)).sum()
        total += size.sum()
    return covered / total


def matrix_of(options, photo):
    """W of the affinity matrix that segment cuts."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["--weights", options.weights] if options.weights else []
        path = os.path.join(folder, "W.npz")
        subprocess.run([options.bench, "eigen", photo, "--save-matrix", path, *words], check=True,
                       stdout=subprocess.DEVNULL)
        return sp.csr_array(sp.load_npz(path).astype(float))


def cuts(options, photo, regions):
    """Labels and seconds of each, by name."""
    pixels = np.asarray(Image.open(photo).convert("RGB"))
    product = ("--matvec", options.matvec) if options.matvec else ()
    labels, seconds, report = segment(options, photo, "--config", "ncut", "--regions", regions, *product)
    found = {f"segment --config ncut ({report['matvec']})": (labels, seconds)}
    found["segment, its default hierarchy"] = segment(options, photo, "--regions", regions)[:2]
    found["scikit-image cut_normalized"] = cut_normalized(pixels, regions)
    found["scikit-learn spectral_clustering"] = spectral(pixels, regions)
    return pixels, found


def truths_of(path):
    cells = scipy.io.loadmat(path)["groundTruth"].ravel()
    return [cell["Segmentation"][0, 0].astype(int) for cell in cells]


def table(options):
    photos = sorted(glob.glob(os.path.join(options.photographs, "*.jpg")))
    photos = photos[:: max(1, len(photos) // options.count)][: options.count]
    rows = {}
    for photo in photos:
        truths = truths_of(os.path.join(options.truth, os.path.basename(photo)[:-4] + ".mat"))
        regions = round(float(np.median([len(np.unique(truth)) for truth in truths])))
        weights = matrix_of(options, photo)
        for name, (labels, seconds) in cuts(options, photo, regions)[1].items():
            rows.setdefault(name, []).append((*seconds, len(np.unique(labels)), mean_ncut(weights, labels),
                                              covering(labels, truths)))
            print(os.path.basename(photo), regions, name, *(f"{x:.3f}" for x in rows[name][-1]), flush=True)
        for k, truth in enumerate(truths):  # What a person drew, by the others.
            others = truths[:k] + truths[k + 1:]
            rows.setdefault("people", []).append((np.nan, np.nan, len(np.unique(truth)), mean_ncut(weights, truth),
                                                  covering(truth, others)))
    for name, figures in rows.items():
        mean = np.mean(figures, axis=0)
        error = np.std(figures, axis=0, ddof=1) / np.sqrt(len(figures))
        wall, processor = np.median(figures, axis=0)[:2]
        print(f"| {name} | {wall:.1f} | {processor:.1f} | {mean[2]:.1f} | {mean[3]:.4f} ({error[3]:.4f}) "
              f"| {mean[4]:.3f} ({error[4]:.3f}) |")


def main():
    parser = arguments(__doc__)
    parser.add_argument("--bench", default="diacut-bench", help="the program")
    parser.add_argument("--photographs", help="a folder of .jpg")
    parser.add_argument("--truth", help="a folder of .mat")
    parser.add_argument("--count", type=int, default=10, help="so many of the photographs")
    parser.add_argument("--weights", help="the network of segment")
    parser.add_argument("--matvec", help="the kernel of --config ncut in place of the preset's")
    parser.add_argument("--regions", type=int, default=8, help="of the picture")
    options = parser.parse_args()
    pixels, found = cuts(options, os.path.join(ROOT, "images", "coffee.jpg"), options.regions)
    panels = [(pixels, "the photograph")]
    for name, (labels, (_, processor)) in found.items():
        if "hierarchy" not in name:
            caption = f"{name.split(' (')[0]}\n{len(np.unique(labels))} regions, {processor:.1f} s of processor"
            panels.append((outlined(pixels, labels, wide=True), caption))
    beside(options.output, panels, 300, 128)
    if options.photographs:
        table(options)


if __name__ == "__main__":
    main()
