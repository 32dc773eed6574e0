#!/usr/bin/env python3
"""Eigenvectors of affinities by features, by diacut and by SciPy: the picture of docs/features.md.

    features_picture.py features.png [--segment PROGRAM]

Makes the 64 channels of python/examples/texture_features.py for images/coffee.jpg, lets `segment --features`
and SciPy's eigsh compute 17 eigenvectors of the same matrix to a residual of 1e-4, shows the second to fourth
of each as red, green and blue, and ten regions. Times are those of the eigenvectors alone. Needs scikit-image
and Pillow.
"""
import os
import sys
import tempfile
import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from PIL import Image
from panels import ROOT, arguments, beside, outlined, report_of

sys.path += [os.path.join(ROOT, "app", "bench"), os.path.join(ROOT, "python", "examples")]
import texture_features  # noqa: E402
from peers import disc, rayleigh  # noqa: E402

PHOTO = os.path.join(ROOT, "images", "coffee.jpg")
MEASURE = ("--set", "affinity.feature_measure=gaussian")


def affinity(features, scale, radius):
    """D^-1/2 W D^-1/2, CSR in double, by the formula in docs/features.md, and the diagonal of D^1/2."""
    height, width, _ = features.shape
    features = features.astype(np.float64)
    index = np.arange(height * width).reshape(height, width)
    rows, columns, weights = [], [], []
    for dx, dy in disc(radius):
        own = np.s_[max(0, -dy):height - max(0, dy), max(0, -dx):width - max(0, dx)]
        other = np.s_[max(0, dy):height + min(0, dy), max(0, dx):width + min(0, dx)]
        squares = ((features[own] - features[other]) ** 2).sum(axis=2)
        rows.append(index[own].ravel())
        columns.append(index[other].ravel())
        weights.append(np.exp(-squares / (2 * scale * scale)).ravel())
    w = sp.csr_matrix((np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))))
    root = np.sqrt(np.asarray(w.sum(axis=1)).ravel())
    return (sp.diags(1 / root) @ w @ sp.diags(1 / root)).tocsr(), root


def coloured(vectors, shape):
    """The second to fourth vector of D^-1/2 z as red, green and blue."""
    channels = []
    for k in (1, 2, 3):
        low, high = np.quantile(vectors[:, k], (0.02, 0.98))
        channels.append(np.clip((vectors[:, k] - low) / (high - low), 0, 1).reshape(shape))
    return (255 * np.stack(channels, -1)).astype(np.uint8)


def main():
    options = arguments(__doc__).parse_args()
    pixels = np.asarray(Image.open(PHOTO))
    shape = pixels.shape[:2]
    features = texture_features.features(pixels)
    with tempfile.TemporaryDirectory() as folder:
        files = {name: os.path.join(folder, name) for name in ("f.npy", "v", "l.npy")}
        np.save(files["f.npy"], features)
        words = (PHOTO, "--features", files["f.npy"], *MEASURE)
        times = []
        for _ in range(options.rounds + 1):  # The first compiles kernels.
            report = report_of(options.segment, *words, "--detail", "native", "--eigenvectors", files["v"])
            times += [stage["wall_ms"] / 1e3 for stage in report["stages"] if stage["stage"] == "eigenvectors"]
        seconds = float(np.median(times[1:]))
        ours = np.load(os.path.join(files["v"], "eigenvectors.npy")).reshape(-1, pixels[..., 0].size).T
        ours = ours.astype(float)
        report_of(options.segment, *words, "--regions", 10, "-o", files["l.npy"])
        labels = np.load(files["l.npy"])
    radius = report["parameters"]["affinity"]["radius"]
    matrix, root = affinity(features, report["features"]["scale"], radius)
    start = time.perf_counter()
    _, theirs = spla.eigsh(matrix, k=17, which="LA", tol=1e-4)
    peer = time.perf_counter() - start
    values, their_residual = rayleigh(matrix, theirs)
    theirs = theirs[:, np.argsort(-values)] / root[:, None]
    _, our_residual = rayleigh(matrix, np.linalg.qr(root[:, None] * ours)[0])
    for k in range(1, 4):  # A vector and its negative are one.
        if ours[:, k] @ theirs[:, k] < 0:
            theirs[:, k] *= -1
    print(f"{shape[1]}x{shape[0]}: segment {seconds:.2f} s (median of {options.rounds}), residual "
          f"{our_residual:.1e}; eigsh {peer:.1f} s, residual {their_residual:.1e}; ratio {peer / seconds:.0f}")
    beside(options.output, [
        (coloured(ours, shape), f"segment, eigenvectors 2 to 4: {seconds:.2f} s"),
        (coloured(theirs, shape), f"SciPy eigsh, the same: {peer:.1f} s"),
        (outlined(pixels, labels, wide=True), "ten regions of features alone")], 300, 96)


if __name__ == "__main__":
    main()
