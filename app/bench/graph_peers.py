#!/usr/bin/env python3
"""Eigenvectors and clusters of graphs by diacut, SciPy and scikit-learn, in one run.

    graph_peers.py [--sizes small,large] [--graphs mesh,road,neighbours,clusters]
                   [--program build/release/app/segment/segment] [--device gpu] [--limit 300]

Generates a mesh, a road network, and graphs of nearest neighbours, computes 17 vectors of I - D^-1/2 W
D^-1/2 to a residual of 1e-4 by each solver, and prints for each its wall time, the
largest residual recomputed in float64, the largest relative difference of eigenvalues to those of a
reference and the largest angle of the first 9 vectors to its space, and for clusters
the adjusted Rand index to the classes that the graph was made from. diacut's time is that which the
program's report gives, without reading the file.
--limit ends a solver after so many seconds; it runs in a process of its own.
"""
import functools
import multiprocessing
import tempfile

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from scipy.spatial import cKDTree
from sklearn.metrics import adjusted_rand_score

from peers import eigsh, parser_of, report_of, timed

VECTORS = 17
TOLERANCE = 1e-4
CLUSTERS = 16


def symmetric(a, b, weights, nodes):
    matrix = sp.coo_matrix((weights.astype(np.float32), (a, b)), (nodes, nodes)).tocsr()
    return matrix.maximum(matrix.T).tocsr()


def largest_component(matrix):
    _, label = sp.csgraph.connected_components(matrix, directed=False)
    keep = np.flatnonzero(label == np.bincount(label).argmax())
    return matrix[keep][:, keep].tocsr(), keep


def grid_pairs(nodes):
    """The horizontal and the vertical neighbours of a square, and its nodes by row and column."""
    side = round(nodes**0.5)
    index = np.arange(side * side).reshape(side, side)
    return (np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()]),
            np.concatenate([index[:, 1:].ravel(), index[1:].ravel()]), index)


def mesh(nodes):
    """A triangulated square, with weights that differ by up to a thousand."""
    a, b, index = grid_pairs(nodes)
    a, b = np.append(a, index[:-1, :-1]), np.append(b, index[1:, 1:])
    return symmetric(a, b, np.exp(np.random.default_rng(1).uniform(-6.9, 0, a.size)), index.size), None


def road(nodes):
    """What is connected of a grid of which two in five edges are missing: 2.5 edges at a crossing."""
    a, b, index = grid_pairs(nodes / 0.95)
    keep = np.random.default_rng(2).random(a.size) < 0.62
    return largest_component(symmetric(a[keep], b[keep], np.ones(keep.sum()), index.size))[0], None


def nearest(points, neighbours):
    distance, index = cKDTree(points).query(points, neighbours + 1, workers=-1)
    a = np.repeat(np.arange(len(points)), neighbours)
    weights = np.exp(-((distance[:, 1:].ravel() / np.median(distance[:, -1])) ** 2))
    return symmetric(a, index[:, 1:].ravel(), weights, len(points))


def neighbours(nodes):
    """Even points of a cube, each with its 18 nearest: some ten edges for each node."""
    return nearest(np.random.default_rng(3).random((nodes, 3)), 18), None


def clusters(nodes):
    """Points of 16 normal distributions, whose classes are known."""
    random = np.random.default_rng(4)
    classes = random.integers(0, CLUSTERS, nodes)
    points = (random.random((CLUSTERS, 4)) * 3)[classes] + random.normal(size=(nodes, 4)) * 0.3
    matrix, keep = largest_component(nearest(points, 10))
    return matrix, classes[keep]


GRAPHS = {"mesh": mesh, "road": road, "neighbours": neighbours, "clusters": clusters}
SIZES = {"small": 60_000, "medium": 250_000, "large": 1_000_000}


def normalized(matrix):
    matrix = matrix.astype(np.float64)
    roots = sp.diags(1 / np.sqrt(np.asarray(matrix.sum(1)).ravel()))
    return (roots @ matrix @ roots).tocsr()


def laplacian(matrix):
    return sp.identity(matrix.shape[0]) - normalized(matrix)


# --- the solvers: each returns seconds, and values with vectors (nodes, k) or labels -----------------


def diacut_program(matrix, options, clusters=None):
    with tempfile.TemporaryDirectory() as folder:
        sp.save_npz(f"{folder}/w.npz", matrix, compressed=False)
        command = [options.program, "graph", f"{folder}/w.npz", "-q", "--tolerance", str(TOLERANCE),
                   "--vectors", str(VECTORS), *(["--device", options.device] if options.device else []),
                   *(["--clusters", str(clusters), "--labels"] if clusters else ["-o"]), f"{folder}/r.npy"]
        reports = [report_of(command, folder) for _ in range(options.repeats)]
        found = np.load(f"{folder}/r.npy")
        if not clusters:
            found = np.array(reports[-1]["eigenvectors"]["eigenvalues"]), found.T
        return min(report["milliseconds"] for report in reports) / 1e3, found


def ascending(values, vectors):
    order = np.argsort(values)
    return values[order], vectors[:, order]


def solve_eigsh(matrix, options):
    """As users call it: the largest eigenvalues of D^-1/2 W D^-1/2."""
    seconds, (values, vectors) = eigsh(normalized(matrix), VECTORS, TOLERANCE, 3 * VECTORS)
    return seconds, ascending(1 - values, vectors)


def solve_lobpcg(matrix, options):
    """SciPy's LOBPCG under the diagonal, at most 500 iterations."""
    start = np.random.default_rng(5).standard_normal((matrix.shape[0], VECTORS))
    operator = laplacian(matrix).tocsr()
    seconds, found = timed(
        lambda: spla.lobpcg(operator, start, tol=TOLERANCE, maxiter=500, largest=False))
    return seconds, ascending(*found)


def cluster_sklearn(matrix, options, solver):
    from sklearn.cluster import spectral_clustering

    return timed(lambda: spectral_clustering(matrix.astype(np.float64), n_clusters=CLUSTERS,
                                             eigen_solver=solver, eigen_tol=TOLERANCE,
                                             assign_labels="cluster_qr", random_state=0))


SOLVERS = {"diacut": diacut_program, "scipy eigsh": solve_eigsh, "scipy lobpcg": solve_lobpcg}
CLUSTERERS = {"diacut": functools.partial(diacut_program, clusters=CLUSTERS),
              **{f"scikit-learn {solver}": functools.partial(cluster_sklearn, solver=solver)
                 for solver in ("arpack", "lobpcg", "amg")}}


# --- figures ----------------------------------------------------------------------------------------


def vector_figures(matrix, values, vectors, reference):
    vectors = vectors / np.linalg.norm(vectors, axis=0)
    residual = np.linalg.norm(normalized(matrix) @ vectors - vectors * (1 - values), axis=0).max()
    figures = {"residual": float(residual), "lambda_2": float(values[1]), "lambda_17": float(values[-1])}
    if reference is not None:
        exact, space = reference
        figures["eigenvalue_error"] = float(np.abs(values[1:] / exact[1:] - 1).max())
        cosines = np.linalg.svd(space[:, :9].T @ np.linalg.qr(vectors.astype(np.float64))[0])[1]
        figures["angle_of_9_degrees"] = float(np.degrees(np.arccos(min(1, cosines.min()))))
    return figures


def within_limit(call, matrix, options):
    """What a solver returns in a process of its own, or a text that says why there is nothing."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        try:
            return None, pool.apply_async(call, (matrix, options)).get(timeout=options.limit)
        except multiprocessing.TimeoutError:
            return f"more than {options.limit:.0f} s", None
        except Exception as error:  # The error of one solver is a figure of its own.
            return f"{type(error).__name__}: {error}"[:200], None


def measure(name, size, options):
    made, (matrix, classes) = timed(lambda: GRAPHS[name](SIZES[size]))
    print(f"\n{name}: {matrix.shape[0]} nodes, {matrix.nnz // 2} edges (made in {made:.0f} s)", flush=True)
    reference = None
    # Factors of graphs in three and more dimensions take too much memory.
    if options.reference and name in ("mesh", "road"):
        reference = ascending(*spla.eigsh(laplacian(matrix).tocsc(), VECTORS, sigma=-1e-6, which="LM", tol=1e-9))
    for solver, call in SOLVERS.items():
        report("vectors", solver, within_limit(call, matrix, options),
               lambda found: vector_figures(matrix, *found, reference))
    for solver, call in CLUSTERERS.items() if classes is not None else ():
        report("clusters", solver, within_limit(call, matrix, options),
               lambda labels: {"adjusted_rand": float(adjusted_rand_score(classes, labels))})


def report(task, solver, found, figures):
    shown, timing = found
    if timing is not None:
        figures = {**figures(timing[1]), "seconds": timing[0]}
        shown = "  ".join(f"{key} {value:.3g}" for key, value in figures.items())
    print(f"  {task:9}{solver:22}{shown}", flush=True)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", default="small", help=", ".join(SIZES))
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--program", default="build/release/app/segment/segment")
    parser.add_argument("--device", default=None)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("--reference", action="store_true",
                        help="compare with tight eigenvectors by factors of the matrix (mesh, road)")
    options = parser.parse_args()
    for size in options.sizes.split(","):
        for name in options.graphs.split(","):
            measure(name, size, options)


if __name__ == "__main__":
    main()
