"""Eigenvectors of the normalized cut of any graph, and clusters of its nodes."""

from __future__ import annotations

import os
import threading
import warnings
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._errors import DiacutWarning, DtypeError, InputError
from ._parameters import Name, memory_bytes, name_bytes, whole_number
from ._progress import Progress, stage_progress

#: Iterations after which the solver gives up.
_MOST_ITERATIONS = 200

_lock = threading.Lock()
_last: tuple[tuple[Any, ...], _core.GraphEngine] | None = None


@dataclass(frozen=True)
class GraphEigenvectors:
    """Eigenvectors of the normalized cut of a graph of n nodes, (D - W) y = lambda D y, in ascending
    order. It unpacks as `values, vectors` and has their indices, as the result of
    scipy.sparse.linalg.eigsh."""

    #: The k eigenvalues lambda of I - D^-1/2 W D^-1/2, float64; one is 0 for each component.
    values: NDArray[np.float64]
    #: (n, k), float32: column j is z = D^1/2 y, of norm 1, 0 at nodes without edges.
    vectors: NDArray[np.float32] = field(repr=False)
    #: D^1/2, n, float32: y is vectors / sqrt_degree[:, None].
    sqrt_degree: NDArray[np.float32] = field(repr=False)
    #: The norms of the residuals, k.
    residuals: NDArray[np.float64] = field(repr=False)
    #: How far each eigenvalue may be from an exact one, as its residual shows, k.
    error_bounds: NDArray[np.float64] = field(repr=False)
    #: The largest sine of the angle between each vector and an exact eigenvector, k.
    angle_bounds: NDArray[np.float64] = field(repr=False)
    #: Whether each eigenvalue is larger than its error may be, k.
    resolved: list[bool] = field(repr=False)
    #: Whether every residual is within the tolerance.
    converged: bool
    #: Connected components, without isolated nodes.
    components: int
    #: Nodes without edges.
    isolated: int
    #: Iterations on all levels.
    iterations: int
    #: "multilevel", "dense" for small graphs, or "components" where all eigenvalues are 0.
    solver: str

    def __iter__(self) -> Any:
        return iter((self.values, self.vectors))

    def __getitem__(self, index: Any) -> Any:
        return (self.values, self.vectors)[index]

    def __len__(self) -> int:
        return 2


def _matrix(w: Any) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float32]]:
    """Row starts, columns and weights of a sparse or dense square matrix."""
    shape = getattr(w, "shape", None)
    if not hasattr(w, "tocsr"):
        w = np.asarray(w)
        shape = w.shape
    if shape is None or len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(
            f"the graph has the shape {shape}, expected (n, n): a row and a column for each node"
        )
    if w.dtype.kind not in "biuf":
        raise DtypeError(
            f"the graph's weights are of type {w.dtype}, expected bool, integers or floats"
        )
    if isinstance(w, np.ndarray):
        rows, columns = np.nonzero(w)
        starts = np.searchsorted(rows, np.arange(shape[0] + 1))
        values = w[rows, columns]
    else:
        w = w.tocsr()
        if not w.has_canonical_format:
            w = w.copy()
            w.sum_duplicates()
        starts, columns, values = w.indptr, w.indices, w.data
    with np.errstate(over="ignore"):  # The library refuses infinite weights.
        return (
            np.ascontiguousarray(starts, np.int64),
            np.ascontiguousarray(columns, np.uint32),
            np.ascontiguousarray(values, np.float32),
        )


def _engine(
    device: str | None, memory: int | None, kernel_dir: Name | None
) -> _core.GraphEngine:
    """The last engine, if it is of the same device. Precondition: the lock is held."""
    global _last
    folder = name_bytes(kernel_dir)
    most = memory_bytes(memory)
    key = (device, most, folder, os.environ.get("DIACUT_DEVICE"))
    if _last is None or _last[0] != key:
        _last = None  # First, so that two devices' memory is not held at once.
        _last = (key, _core.GraphEngine(device or "", folder, most))
    return _last[1]


def _solve(
    what: Literal["eigenvectors", "cluster"],
    w: Any,
    k: int,
    tolerance: float,
    max_iterations: int,
    device: str | None,
    memory: int | None,
    kernel_dir: Name | None,
    progress: Progress,
) -> dict[str, Any]:
    """What the engine's function of that name finds. A warning names the caller's caller."""
    count = whole_number("k", k)
    most = whole_number("max_iterations", max_iterations)
    starts, columns, weights = _matrix(w)
    with stage_progress(progress) as tell, _lock:
        solve = getattr(_engine(device, memory, kernel_dir), what)
        found: dict[str, Any] = solve(
            starts, columns, weights, count, float(tolerance), most, tell
        )
    if not found["converged"]:
        worst = float(np.max(found["residuals"]))
        warnings.warn(
            f"eigenvectors of the graph did not converge in {found['iterations']} iterations: the "
            f"largest residual is {worst:.2g}, asked for was {tolerance:g}, with settled eigenvalues",
            DiacutWarning,
            stacklevel=3,
        )
    return found


def eigenvectors(
    w: Any,
    k: int = 17,
    *,
    tolerance: float = 1e-4,
    max_iterations: int = _MOST_ITERATIONS,
    device: str | None = None,
    memory: int | None = None,
    kernel_dir: Name | None = None,
    progress: Progress = None,
) -> GraphEigenvectors:
    """The k eigenvectors of the normalized cut of a graph to the smallest eigenvalues.

    w: the weights, (n, n), symmetric, finite and not negative: a sparse matrix or array of SciPy of any
    format, or a dense array. Entries are converted to float32. Weights on the diagonal count in the
    degree of their node. Nodes without edges are 0 in every vector.

    tolerance: the residual norm at which a vector has converged; the norm of the matrix is 1. A
    DiacutWarning says where that is missed. device, memory, kernel_dir: as for Segmenter.

    Raises InputError for a graph that makes no sense, ConfigError for more vectors than nodes have
    edges, DeviceError for a graph that does not fit the device.
    """
    found = _solve(
        "eigenvectors", w, k, tolerance, max_iterations, device, memory, kernel_dir, progress
    )
    found["vectors"] = found["vectors"].T
    return GraphEigenvectors(**found)


def spectral_clustering(
    w: Any,
    k: int,
    *,
    tolerance: float = 1e-4,
    max_iterations: int = _MOST_ITERATIONS,
    device: str | None = None,
    memory: int | None = None,
    kernel_dir: Name | None = None,
    progress: Progress = None,
) -> NDArray[np.int32]:
    """Labels of k clusters of a graph with a small normalized cut (Yu and Shi 2003): n integers, 1, 2,
    ... in the order of the nodes, 0 for nodes without edges.

    The labels are discretised from the first k eigenvectors. A graph of k components or more is divided
    between components. The same graph on the same device gives the same labels. Arguments and errors
    are those of eigenvectors().
    """
    found = _solve(
        "cluster", w, k, tolerance, max_iterations, device, memory, kernel_dir, progress
    )
    labels: NDArray[np.int32] = found["labels"]
    return labels
