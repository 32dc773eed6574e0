#!/usr/bin/env python3
"""Compares the eigenvectors of affinities by features with those of SciPy's eigsh on the same matrix.

    feature_peers.py IMAGE FEATURES.npy [--segment PROGRAM] [--strides 1,2,4] [--vectors 17]
                     [--tolerance 1e-4] [--measure cosine|gaussian] [--repeats 5]

Runs `segment IMAGE --features FEATURES.npy --detail native` and takes the times of its stages from its
report: that of the least eigenvector stage of the repeats. Then it makes the matrix by NumPy in double
from the formula in docs/features.md and the scale in the report, and calls eigsh (ARPACK, float64) as a
user would. Residuals of both are those of NumPy's matrix, so that they also check ours. The features must
have the image's size. Prints wall milliseconds, largest residual norms, the largest difference of
eigenvalues, and the sine of the largest angle between the subspaces, of all vectors and of those before
the widest gap between eigenvalues.
"""
import argparse
import json
import subprocess
import tempfile
import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla


def stencil(radius, strides):
    disc = [(x, y) for y in range(-radius, radius + 1) for x in range(-radius, radius + 1)
            if x * x + y * y <= radius * radius]
    return sorted({(s * x, s * y) for s in strides for x, y in disc})


def affinity(features, measure, scale, radius, strides):
    """W and the normalized matrix A = D^-1/2 W D^-1/2, CSR in double."""
    height, width, _ = features.shape
    features = features.astype(np.float64)
    if measure == "cosine":
        length = np.linalg.norm(features, axis=2, keepdims=True)
        features = np.divide(features, length, out=np.zeros_like(features), where=length > 0)
    index = np.arange(height * width).reshape(height, width)
    rows, columns, weights = [], [], []
    for dx, dy in stencil(radius, strides):
        own = np.s_[max(0, -dy):height - max(0, dy), max(0, -dx):width - max(0, dx)]
        other = np.s_[max(0, dy):height + min(0, dy), max(0, dx):width + min(0, dx)]
        squares = ((features[own] - features[other]) ** 2).sum(axis=2)
        rows.append(index[own].ravel())
        columns.append(index[other].ravel())
        weights.append(np.exp(-squares / (2 * scale * scale)).ravel())
    shape = (height * width,) * 2
    w = sp.csr_matrix((np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))),
                      shape=shape)
    root = np.sqrt(np.asarray(w.sum(axis=1)).ravel())
    inverse = sp.diags(1 / root)
    return (inverse @ w @ inverse).tocsr(), root


def ours(options):
    """The least times of the repeats, the report, and the eigenvectors as columns."""
    with tempfile.TemporaryDirectory() as folder:
        best = None
        for _ in range(options.repeats + 1):  # The first compiles kernels.
            subprocess.run(
                [options.segment, options.image, "--features", options.features, "--detail", "native",
                 "--eigenvectors", folder + "/v", "--json", folder + "/r.json", "--vectors",
                 str(options.vectors), "--tolerance", str(options.tolerance), "--set",
                 f"affinity.feature_measure={options.measure}", "--set",
                 f"affinity.strides={options.strides}"], check=True, stdout=subprocess.DEVNULL)
            report = json.load(open(folder + "/r.json"))
            times = {stage["stage"]: stage["wall_ms"] for stage in report["stages"]}
            if best is None or times["eigenvectors"] < best["eigenvectors"]:
                best = times
        vectors = np.load(folder + "/v/eigenvectors.npy").astype(np.float64)
        return best, report, vectors.reshape(len(vectors), -1).T


def residuals(matrix, vectors):
    product = matrix @ vectors
    values = np.einsum("ij,ij->j", vectors, product)
    return values, np.linalg.norm(product - vectors * values, axis=0).max()


def sine(a, b):
    """The largest sine of an angle between the spaces of orthonormal columns."""
    return np.linalg.norm(a - b @ (b.T @ a), 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("image")
    parser.add_argument("features")
    parser.add_argument("--segment", default="segment")
    parser.add_argument("--strides", default="1")
    parser.add_argument("--vectors", type=int, default=17)
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--measure", default="cosine", choices=("cosine", "gaussian"))
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()

    times, report, vectors = ours(options)
    scale = report["features"]["scale"]
    radius = report["parameters"]["affinity"]["radius"]
    start = time.perf_counter()
    matrix, root = affinity(np.load(options.features), options.measure, scale, radius,
                            [int(s) for s in options.strides.split(",")])
    making = 1e3 * (time.perf_counter() - start)
    print(f"{matrix.shape[0]} rows, {matrix.nnz} non-zeros, scale {scale:.6g}, "
          f"{report['eigen']['solver']}, {report['eigen']['passes']} passes")
    vectors = np.linalg.qr(root[:, None] * vectors)[0]
    our_values, our_residual = residuals(matrix, vectors)

    start = time.perf_counter()
    _, theirs = spla.eigsh(matrix, k=options.vectors, which="LA", tol=options.tolerance)
    solving = 1e3 * (time.perf_counter() - start)
    their_values, their_residual = residuals(matrix, theirs)
    order = np.argsort(-their_values)
    their_values, theirs = their_values[order], theirs[:, order]
    our_order = np.argsort(-our_values)
    our_values, vectors = our_values[our_order], vectors[:, our_order]
    gaps = their_values[1:-1] - their_values[2:]
    clear = 2 + int(np.argmax(gaps))
    print(f"{'':<10}{'affinity':>10}{'eigenvectors':>14}  largest residual")
    print(f"{'diacut':<10}{times['affinity']:>7.0f} ms{times['eigenvectors']:>11.0f} ms  {our_residual:.1e}")
    print(f"{'SciPy':<10}{making:>7.0f} ms{solving:>11.0f} ms  {their_residual:.1e}")
    print(f"eigsh takes {solving / times['eigenvectors']:.1f} times as long; eigenvalues differ by at "
          f"most {np.abs(our_values - their_values).max():.1e}")
    print(f"sine between the subspaces: {sine(vectors, theirs):.1e} of all {options.vectors} vectors, "
          f"{sine(vectors[:, :clear], theirs[:, :clear]):.1e} of the first {clear}")


if __name__ == "__main__":
    main()
