#!/usr/bin/env python3
"""Times other eigensolvers on a matrix that `diacut-bench eigen IMAGE --save-matrix W.npz` wrote.

    eigen_peers.py W.npz [--vectors 17] [--tolerance 1e-4] [--diacut FIGURES.json]

Runs ARPACK through SciPy (eigsh, float64) and, where CuPy and a GPU are there, CuPy's eigsh
(float32, CSR product by cuSPARSE), both on the matrix with its trivial eigenvector left in, as a
user of theirs would call them. Prints wall milliseconds after one uncounted run, the largest
residual norm, and, given the JSON of diacut-bench eigen, the ratio to each of its solvers.
"""
import numpy as np
import scipy.sparse as sp

from peers import cupy_eigsh, cupy_or_none, eigsh, parser_of, rayleigh, read_json


def load(path):
    """A = D^-1/2 W D^-1/2."""
    with np.load(path) as arrays:
        degrees = arrays["degrees"]
    roots = sp.diags(np.divide(1, np.sqrt(degrees), where=degrees > 0, out=np.zeros_like(degrees)))
    return (roots @ sp.load_npz(path) @ roots).tocsr().astype(np.float32)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("matrix")
    parser.add_argument("--vectors", type=int, default=17)
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--diacut", help="the JSON that diacut-bench eigen wrote")
    options = parser.parse_args()
    matrix = load(options.matrix)
    print(f"{matrix.shape[0]} rows, {matrix.nnz} non-zeros, {options.vectors} vectors "
          f"to {options.tolerance:g}")
    wanted = options.vectors, options.tolerance
    double = matrix.astype(np.float64)
    eigsh(double, *wanted, 2 * options.vectors + 1)  # Not counted.
    figures = [("ARPACK (SciPy eigsh)", *eigsh(double, *wanted, 2 * options.vectors + 1))]
    if cupy_or_none("CuPy's eigsh"):
        figures.append(("CuPy eigsh", *cupy_eigsh(matrix, *wanted, repeats=3, choose=np.median)))
    ours = read_json(options.diacut)["results"] if options.diacut else []
    for name, seconds, (_, vectors) in figures:
        ratios = "".join(f"  {1e3 * seconds / r['wall_ms']:.1f} x diacut {r['solver']}" for r in ours)
        print(f"{name:<22}{1e3 * seconds:>10.1f} ms  residual {rayleigh(matrix, vectors)[1]:.1e}{ratios}")


if __name__ == "__main__":
    main()
