#!/usr/bin/env python3
"""Times other eigensolvers on a matrix that `diacut-bench eigen IMAGE --save-matrix FOLDER` wrote.

    eigen_peers.py FOLDER [--vectors 17] [--tolerance 1e-4] [--diacut FIGURES.json]

Runs ARPACK through SciPy (eigsh, float64) and, where CuPy and a GPU are there, CuPy's eigsh
(float32, CSR product by cuSPARSE), both on the matrix with its trivial eigenvector left in, as a
user of theirs would call them. Prints wall milliseconds after one uncounted run, the largest
residual norm, and, given the JSON of diacut-bench eigen, the ratio to each of its solvers.
"""
import argparse
import json
import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla


def load(folder):
    values = np.load(f"{folder}/values.npy")
    offsets = np.load(f"{folder}/offsets.npy")
    rows = np.load(f"{folder}/sqrt_degree.npy").size
    diagonals = []
    for diagonal, offset in zip(values, offsets):
        first, last = max(0, -offset), min(rows, rows - offset)
        diagonals.append(diagonal[first:last] if first < last else diagonal[:0])
    keep = [k for k, d in enumerate(diagonals) if d.size]
    # Repeated offsets (images narrower than the stencil) add up in COO form.
    parts = []
    for k in keep:
        first = max(0, -int(offsets[k]))
        index = np.arange(first, first + diagonals[k].size)
        parts.append((diagonals[k], index, index + int(offsets[k])))
    data, row, col = (np.concatenate(p) for p in zip(*parts))
    matrix = sp.coo_matrix((data, (row, col)), shape=(rows, rows)).tocsr()
    matrix.eliminate_zeros()
    return matrix


def worst_residual(matrix, values, vectors):
    vectors = vectors / np.linalg.norm(vectors, axis=0)
    product = matrix.astype(np.float64) @ vectors
    rho = np.einsum("ij,ij->j", vectors, product)
    return np.linalg.norm(product - vectors * rho, axis=0).max()


def timed(call, repeats):
    call()
    best = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        best.append(1e3 * (time.perf_counter() - start))
    return sorted(best)[len(best) // 2], result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--vectors", type=int, default=17)
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--diacut", help="the JSON that diacut-bench eigen wrote")
    parser.add_argument("--skip-arpack", action="store_true")
    options = parser.parse_args()
    matrix = load(options.folder)
    print(f"{matrix.shape[0]} rows, {matrix.nnz} non-zeros, {options.vectors} vectors "
          f"to {options.tolerance:g}")
    figures = []
    if not options.skip_arpack:
        double = matrix.astype(np.float64)
        ms, (values, vectors) = timed(
            lambda: spla.eigsh(double, k=options.vectors, which="LA", tol=options.tolerance,
                               ncv=2 * options.vectors + 1), 1)
        figures.append(("ARPACK (SciPy eigsh)", ms, worst_residual(matrix, values, vectors)))
    try:
        import cupy
        import cupyx.scipy.sparse as csp
        import cupyx.scipy.sparse.linalg as cla
        device = csp.csr_matrix(matrix)

        def solve():
            result = cla.eigsh(device, k=options.vectors, which="LA", tol=options.tolerance)
            cupy.cuda.Stream.null.synchronize()
            return result
        ms, (values, vectors) = timed(solve, options.repeats)
        figures.append(("CuPy eigsh", ms,
                        worst_residual(matrix, cupy.asnumpy(values), cupy.asnumpy(vectors))))
    except ImportError:
        print("CuPy is not installed: its eigsh was not run")
    ours = json.load(open(options.diacut))["results"] if options.diacut else []
    for name, ms, residual in figures:
        ratios = "".join(f"  {ms / r['wall_ms']:.1f} x diacut {r['solver']}" for r in ours)
        print(f"{name:<22}{ms:>10.1f} ms  residual {residual:.1e}{ratios}")


if __name__ == "__main__":
    main()
