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
import tempfile

import numpy as np
import scipy.sparse as sp

from peers import disc, eigsh, parser_of, rayleigh, report_of, timed


def stencil(radius, strides):
    return sorted({(s * x, s * y) for s in strides for x, y in disc(radius)})


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
        command = [options.segment, options.image, "--features", options.features, "--detail", "native",
                   "--eigenvectors", folder + "/v", "--vectors", str(options.vectors), "--tolerance",
                   str(options.tolerance), "--set", f"affinity.feature_measure={options.measure}", "--set",
                   f"affinity.strides={options.strides}"]
        reports = [report_of(command, folder) for _ in range(options.repeats + 1)]  # The first compiles kernels.
        times = [{stage["stage"]: stage["wall_ms"] for stage in report["stages"]} for report in reports]
        vectors = np.load(folder + "/v/eigenvectors.npy").astype(np.float64)
        return min(times, key=lambda each: each["eigenvectors"]), reports[-1], vectors.reshape(len(vectors), -1).T


def sine(a, b):
    """The largest sine of an angle between the spaces of orthonormal columns."""
    return np.linalg.norm(a - b @ (b.T @ a), 2)


def main():
    parser = parser_of(__doc__)
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
    features, strides = np.load(options.features), [int(s) for s in options.strides.split(",")]
    making, (matrix, root) = timed(lambda: affinity(features, options.measure, scale, radius, strides))
    print(f"{matrix.shape[0]} rows, {matrix.nnz} non-zeros, scale {scale:.6g}, "
          f"{report['eigen']['solver']}, {report['eigen']['passes']} passes")
    vectors = np.linalg.qr(root[:, None] * vectors)[0]
    our_values, our_residual = rayleigh(matrix, vectors)

    solving, (_, theirs) = eigsh(matrix, options.vectors, options.tolerance)
    their_values, their_residual = rayleigh(matrix, theirs)
    order = np.argsort(-their_values)
    their_values, theirs = their_values[order], theirs[:, order]
    our_order = np.argsort(-our_values)
    our_values, vectors = our_values[our_order], vectors[:, our_order]
    gaps = their_values[1:-1] - their_values[2:]
    clear = 2 + int(np.argmax(gaps))
    print(f"{'':<10}{'affinity':>10}{'eigenvectors':>14}  largest residual")
    print(f"{'diacut':<10}{times['affinity']:>7.0f} ms{times['eigenvectors']:>11.0f} ms  {our_residual:.1e}")
    print(f"{'SciPy':<10}{1e3 * making:>7.0f} ms{1e3 * solving:>11.0f} ms  {their_residual:.1e}")
    print(f"eigsh takes {1e3 * solving / times['eigenvectors']:.1f} times as long; eigenvalues differ by at "
          f"most {np.abs(our_values - their_values).max():.1e}")
    print(f"sine between the subspaces: {sine(vectors, theirs):.1e} of all {options.vectors} vectors, "
          f"{sine(vectors[:, :clear], theirs[:, :clear]):.1e} of the first {clear}")


if __name__ == "__main__":
    main()
