#!/usr/bin/env python3
"""Compares `segment --seeds` with scikit-image's random_walker on the same weights.

    walk_peers.py PHOTO SEEDS [--segment PROGRAM] [--bench PROGRAM] [--size WxH]
                  [--modes cg_mg,bf] [--rounds 3]

`diacut-bench eigen --save-matrix` writes the affinities that segment walks by; random_walker gets their
Laplacian in place of the one that it makes of its four neighbours, and solves it in its own modes. What both
are held against is the solution by SciPy's conjugate gradients in float64 to a residual of 1e-12. Prints
for each the pixels whose label differs from that solution's, and how many of them are ties: pixels whose two
largest probabilities there differ by less than the largest error of the probabilities that are compared.

Then the seconds of both in turns: of segment the stages of its report without the network, reading and
writing, of random_walker the call with its own weights. SEEDS is a .npy or a picture as --seeds takes it. --size
resizes both. `--rounds 0` leaves out the times, `--modes ""` scikit-image. With --only-times nothing is
compared. Needs SciPy, scikit-image, Pillow, and for cg_mg PyAMG.
"""
import contextlib
import importlib
import os
import resource
import statistics
import subprocess
import tempfile
import time
import warnings

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from PIL import Image
from skimage.segmentation import random_walker

from eigen_peers import load
from peers import parser_of, report_of, timed

WALKER = importlib.import_module("skimage.segmentation.random_walker_segmentation")


def pixels_of(path):
    return np.load(path) if path.endswith(".npy") else np.asarray(Image.open(path))


def laplacian_of(photo, bench, folder):
    """D - W of the matrix that segment walks by."""
    subprocess.run([bench, "eigen", photo, "--solvers", "multilevel", "--save-matrix", folder], check=True,
                   stdout=subprocess.DEVNULL)
    roots = sp.diags_array(np.load(os.path.join(folder, "sqrt_degree.npy")).astype(np.float64))
    weights = (roots @ load(folder).astype(np.float64) @ roots).tocsr()
    weights.setdiag(0)
    weights.eliminate_zeros()
    weights = (weights + weights.T) / 2
    return sp.csr_array(sp.diags_array(weights.sum(axis=1)) - weights)


@contextlib.contextmanager
def weights_of(laplacian):
    """random_walker with these weights in place of its own."""
    own = WALKER._build_laplacian
    WALKER._build_laplacian = lambda *_, **__: laplacian.copy()
    try:
        yield
    finally:
        WALKER._build_laplacian = own


def quietly(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def solution(laplacian, seeds):
    """For each label the probabilities, by conjugate gradients under the diagonal, in float64."""
    flat = seeds.ravel()
    free = flat == 0
    matrix, right = laplacian[free][:, free].tocsr(), -laplacian[free][:, ~free]
    inverse = sp.diags_array(1 / matrix.diagonal())
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


class Segment:
    """Runs of `segment` on one photograph with one set of seeds."""

    def __init__(self, program, photo, seeds, folder):
        self.line = [program, photo, "--seeds", seeds, "--detail", "native", "--quiet"]
        self.folder = folder

    def run(self, *more):
        """The report of a run, whose results lie in the folder."""
        return report_of([*self.line, "-o", os.path.join(self.folder, "labels.npy"), *more], self.folder)

    def probabilities(self, tolerance):
        path = os.path.join(self.folder, "p.npy")
        self.run("--set", f"walker.tolerance={tolerance}", "--probabilities", path)
        return np.load(path)

    def seconds(self):
        stages = {stage["stage"]: stage["wall_ms"] / 1e3 for stage in self.run()["stages"]}
        print("stages of segment:", {name: round(value, 3) for name, value in stages.items()})
        return sum(value for name, value in stages.items() if name not in ("read", "write", "boundaries"))


def compare(name, found, exact):
    """Prints how labels of the largest probabilities differ."""
    error = np.abs(found - exact).max()
    differ = found.argmax(0) != exact.argmax(0)
    largest = np.sort(exact, axis=0)
    ties = differ & (largest[-1] - largest[-2] < 2 * error)
    close = np.max((largest[-1] - largest[-2])[differ], initial=0)
    print(f"{name:<42} {differ.sum():6} of {differ.size} labels differ, {ties.sum()} of them ties; "
          f"the clearest of them by {close:.1e}; largest error of a probability {error:.1e}", flush=True)


def timings(segment, pixels, seeds, modes, rounds):
    calls = {"segment": segment.seconds}
    for mode in modes:
        calls[mode] = lambda mode=mode: quietly(
            lambda: random_walker(pixels, seeds, mode=mode, channel_axis=-1 if pixels.ndim == 3 else None))
    taken = {name: [] for name in calls}
    for turn in range(rounds + 1):  # The first of each is not counted.
        for name, call in calls.items():
            start = time.perf_counter()
            told = call()
            if turn > 0:
                taken[name].append(told if isinstance(told, float) else time.perf_counter() - start)
    for name, each in taken.items():
        print(f"{name:<10} median {statistics.median(each):.3f} s, least {min(each):.3f} s of "
              f"{[round(second, 3) for second in each]}")


def arguments():
    parser = parser_of(__doc__)
    parser.add_argument("photo")
    parser.add_argument("seeds")
    parser.add_argument("--segment", default="segment")
    parser.add_argument("--bench", default="diacut-bench")
    parser.add_argument("--size", help="WIDTHxHEIGHT to which both are resized")
    parser.add_argument("--modes", default="cg_mg,bf")
    parser.add_argument("--rounds", type=int, default=3, help="timed runs of each, 0: none")
    parser.add_argument("--only-times", action="store_true")
    return parser.parse_args()


def resized(pixels, size, resample):
    if not size:
        return pixels
    return np.asarray(Image.fromarray(pixels).resize(tuple(map(int, size.split("x"))), resample))


def compare_all(segment, laplacian, pixels, seeds, modes):
    exact = solution(laplacian, seeds)
    for tolerance in (1e-3, 1e-4, 1e-5, 1e-6):
        compare(f"segment, walker.tolerance {tolerance:g}", segment.probabilities(tolerance), exact)
    grey = pixels[..., 0] if pixels.ndim == 3 else pixels
    for mode in modes:
        for tolerance in (1e-3,) if mode == "bf" else (1e-3, 1e-6):
            with weights_of(laplacian):
                seconds, found = timed(lambda: quietly(
                    lambda: random_walker(grey, seeds, mode=mode, tol=tolerance, return_full_prob=True)))
            compare(f"random_walker, {mode}, tol {tolerance:g}, {seconds:.1f} s", found, exact)


def main():
    options = arguments()
    modes = [mode for mode in options.modes.split(",") if mode]
    pixels = resized(pixels_of(options.photo), options.size, Image.Resampling.BICUBIC)
    seeds = resized(pixels_of(options.seeds), options.size, Image.Resampling.NEAREST).astype(int)
    print(f"{seeds.shape[1]}x{seeds.shape[0]}, {np.unique(seeds).size - 1} labels")
    with tempfile.TemporaryDirectory() as folder:
        photo, marks = os.path.join(folder, "photo.png"), os.path.join(folder, "seeds.npy")
        Image.fromarray(pixels).save(photo)
        np.save(marks, seeds.astype(np.uint16))
        segment = Segment(options.segment, photo, marks, folder)
        if not options.only_times:
            laplacian = laplacian_of(photo, options.bench, os.path.join(folder, "matrix"))
            print(f"{laplacian.nnz} numbers in the matrix")
            compare_all(segment, laplacian, pixels, seeds, modes)
        if options.rounds > 0:
            timings(segment, pixels, seeds, modes, options.rounds)
    print(f"peak memory of Python {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB")


if __name__ == "__main__":
    main()
