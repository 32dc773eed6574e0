#!/usr/bin/env python3
"""Compares `segment --seeds` with scikit-image's random_walker on the same weights.

    walk_peers.py PHOTO SEEDS [--segment PROGRAM] [--bench PROGRAM] [--size WxH] [--modes cg_mg,bf] [--rounds 3]

`diacut-bench eigen --save-matrix` writes the affinities that segment walks by; random_walker gets their
Laplacian in place of the one that it makes of its four neighbours, and solves it in its own modes. What both
are held against is the solution by SciPy's conjugate gradients in float64 to a residual of 1e-12. Prints
for each the pixels whose label differs from that solution's, and the largest error of a probability.

Then the seconds of both in turns: of segment the stages of its report without the network, reading and
writing, of random_walker the call with its own weights. SEEDS is a .npy or a picture as --seeds takes it.
--size resizes both. Needs SciPy, scikit-image, Pillow, and for cg_mg PyAMG.
"""
import importlib
import os
import statistics
import subprocess
import tempfile
import warnings
from unittest import mock

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from PIL import Image
from skimage.segmentation import random_walker

from peers import parser_of, report_of, timed

WALKER = importlib.import_module("skimage.segmentation.random_walker_segmentation")


def pixels_of(path, size, resample):
    pixels = np.load(path) if path.endswith(".npy") else np.asarray(Image.open(path))
    if not size:
        return pixels
    return np.asarray(Image.fromarray(pixels).resize(tuple(map(int, size.split("x"))), resample))


def laplacian_of(photo, bench, folder):
    """D - W of the matrix that segment walks by."""
    path = os.path.join(folder, "W.npz")
    subprocess.run([bench, "eigen", photo, "--save-matrix", path], check=True, stdout=subprocess.DEVNULL)
    weights = sp.load_npz(path).astype(np.float64)
    weights.setdiag(0)
    weights.eliminate_zeros()
    return sp.csgraph.laplacian((weights + weights.T) / 2).tocsr()


def solution(laplacian, seeds):
    """For each label the probabilities, by conjugate gradients under the diagonal, in float64."""
    flat = seeds.ravel()
    free = flat == 0
    matrix, right = laplacian[free][:, free].tocsr(), -laplacian[free][:, ~free]
    inverse = sp.diags(1 / matrix.diagonal())
    result = []
    for label in np.unique(flat[~free]):
        x, info = spla.cg(matrix, right @ (flat[~free] == label).astype(float), rtol=1e-12, atol=0, M=inverse,
                          maxiter=100000)
        if info != 0:
            raise SystemExit("SciPy's conjugate gradients do not converge")
        whole = (flat == label).astype(float)
        whole[free] = x
        result.append(whole.reshape(seeds.shape))
    return np.array(result)


def compare(name, found, exact):
    """Prints how labels of the largest probabilities differ."""
    error = np.abs(found - exact).max()
    differ = found.argmax(0) != exact.argmax(0)
    print(f"{name:<42} {differ.sum():6} of {differ.size} labels differ; "
          f"largest error of a probability {error:.1e}", flush=True)


def arguments():
    parser = parser_of(__doc__)
    parser.add_argument("photo")
    parser.add_argument("seeds")
    parser.add_argument("--segment", default="segment")
    parser.add_argument("--bench", default="diacut-bench")
    parser.add_argument("--size", help="WIDTHxHEIGHT to which both are resized")
    parser.add_argument("--modes", type=lambda text: text.split(","), default=["cg_mg", "bf"])
    parser.add_argument("--rounds", type=int, default=3, help="timed runs of each")
    return parser.parse_args()


def main():
    options = arguments()
    warnings.simplefilter("ignore")
    pixels = pixels_of(options.photo, options.size, Image.Resampling.BICUBIC)
    seeds = pixels_of(options.seeds, options.size, Image.Resampling.NEAREST).astype(int)
    print(f"{seeds.shape[1]}x{seeds.shape[0]}, {np.unique(seeds).size - 1} labels")
    with tempfile.TemporaryDirectory() as folder:
        photo, marks, found = (os.path.join(folder, name) for name in ("photo.png", "seeds.npy", "p.npy"))
        Image.fromarray(pixels).save(photo)
        np.save(marks, seeds.astype(np.uint16))
        command = [options.segment, photo, "--seeds", marks, "--detail", "native", "--quiet", "-o",
                   os.path.join(folder, "labels.npy")]

        laplacian = laplacian_of(photo, options.bench, os.path.join(folder, "matrix"))
        exact = solution(laplacian, seeds)
        for tolerance in (1e-3, 1e-4, 1e-5, 1e-6):
            report_of([*command, "--set", f"walker.tolerance={tolerance}", "--probabilities", found], folder)
            compare(f"segment, walker.tolerance {tolerance:g}", np.load(found), exact)
        grey = pixels[..., 0] if pixels.ndim == 3 else pixels
        for mode in options.modes:
            for tolerance in (1e-3,) if mode == "bf" else (1e-3, 1e-6):
                with mock.patch.object(WALKER, "_build_laplacian", lambda *_, **__: laplacian.copy()):
                    seconds, theirs = timed(lambda: random_walker(grey, seeds, mode=mode, tol=tolerance,
                                                                  return_full_prob=True))
                compare(f"random_walker, {mode}, tol {tolerance:g}, {seconds:.1f} s", theirs, exact)

        def segment():
            stages = report_of(command, folder)["stages"]
            return sum(stage["wall_ms"] / 1e3 for stage in stages
                       if stage["stage"] not in ("read", "write", "boundaries"))

        calls = {"segment": segment}
        for mode in options.modes:
            calls[mode] = lambda mode=mode: timed(lambda: random_walker(
                pixels, seeds, mode=mode, channel_axis=-1 if pixels.ndim == 3 else None))[0]
        turns = [{name: call() for name, call in calls.items()} for _ in range(options.rounds + 1)]
        for name in calls:
            each = [turn[name] for turn in turns[1:]]  # The first is not counted.
            print(f"{name:<10} median {statistics.median(each):.3f} s, least {min(each):.3f} s of {options.rounds}")


if __name__ == "__main__":
    main()
