"""Products, eigenpairs and linear systems of any sparse matrix on an OpenCL device.

    from diacut import sparse
    A = sparse.Matrix(matrix)              # of scipy.sparse, or a dense array
    y = A @ x                              # a vector, or many as columns
    values, vectors = sparse.eigsh(A, k=6, which="SA")

docs/sparse.md of the sources has examples.
"""

from __future__ import annotations

import os
import threading
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._errors import ConfigError, DiacutWarning, DtypeError, InputError
from ._parameters import Name, memory_bytes, name_bytes, whole_number
from ._progress import Progress, stage_progress

__all__ = ["Matrix", "cg", "eigsh"]

_WHICH = {"LA": 0, "SA": 1, "LM": 2}
_lock = threading.Lock()
_last: tuple[tuple[Any, ...], _core.SparseQueue] | None = None


def _queue(device: str | None, memory: int | None, kernel_dir: Name | None) -> _core.SparseQueue:
    """The last queue, if it is of the same device: its matrices share programs and memory."""
    global _last
    folder, most = name_bytes(kernel_dir), memory_bytes(memory)
    key = (device, most, folder, os.environ.get("DIACUT_DEVICE"), os.getpid())
    with _lock:
        if _last is None or _last[0] != key:
            _last = (key, _core.SparseQueue(device or "", folder, most))
        return _last[1]


def _numbers(array: Any, what: str) -> NDArray[np.float32]:
    """As float32 in C order; without a copy where the array is that already."""
    if not isinstance(array, np.ndarray) and hasattr(array, "__dlpack__"):
        array = np.from_dlpack(array)
    array = np.asarray(array)
    if array.dtype.kind not in "biuf":
        raise DtypeError(f"{what} is of type {array.dtype}, expected bool, integers or floats")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, np.float32)


class Matrix:
    """A sparse matrix on a device, in float32.

    a: a matrix or array of scipy.sparse of any format, or a dense array; entries of one place are
    summed. format: a format ("csr") or a format and a kernel ("csr/stream"); None: the fastest of those
    that the device's profile proposes. half: numbers in 16 bits. nan: take numbers that are NaN or
    infinite. device, memory, kernel_dir: as for Segmenter.

    Raises InputError, ConfigError for a format that there is not, DeviceMemoryError. Several threads may
    use a matrix: they take turns.
    """

    #: So that NumPy leaves `array @ matrix` to __rmatmul__().
    __array_ufunc__ = None
    dtype = np.dtype(np.float32)
    ndim = 2

    def __init__(
        self,
        a: Any,
        *,
        format: str | None = None,
        half: bool = False,
        nan: bool = False,
        device: str | None = None,
        memory: int | None = None,
        kernel_dir: Name | None = None,
    ) -> None:
        if not hasattr(a, "tocsr"):
            a = _numbers(a, "the matrix")
        if len(a.shape) != 2:
            raise InputError(f"the matrix has the shape {a.shape}, expected (rows, columns)")
        if isinstance(a, np.ndarray):
            row, columns = np.nonzero(a)
            starts = np.searchsorted(row, np.arange(a.shape[0] + 1))
            values = a[row, columns]
        else:
            a = a.tocsr()
            starts, columns, values = a.indptr, a.indices, a.data
        self.shape: tuple[int, int] = (int(a.shape[0]), int(a.shape[1]))
        self._transposed = False
        self._engine = _core.SparseEngine(
            _queue(device, memory, kernel_dir),
            *self.shape,
            np.ascontiguousarray(starts, np.int64),
            np.ascontiguousarray(columns, np.int64),
            _numbers(values, "the matrix"),
            format or "",
            half,
            nan,
        )

    @property
    def T(self) -> Matrix:
        """The transposed matrix, which shares this one's memory; its first product makes it."""
        other = object.__new__(Matrix)
        other.shape = self.shape[::-1]
        other._engine = self._engine
        other._transposed = not self._transposed
        return other

    @property
    def kernel(self) -> str:
        """Formats and kernels that multiply: "dia/compiled[5] + sell/lanes1"."""
        return self._engine.format

    @property
    def format(self) -> str:
        """The formats alone: "dia + sell"."""
        return " + ".join(part.split("/")[0] for part in self.kernel.split(" + "))

    @property
    def device(self) -> str:
        """The name of the device."""
        return self._engine.device

    @property
    def uploaded(self) -> int:
        """Bytes that went to the device by all matrices of its queue."""
        return self._engine.uploaded

    def __matmul__(self, x: Any) -> NDArray[np.float32]:
        x = _numbers(x, "x")
        if x.ndim not in (1, 2) or x.shape[0] != self.shape[1]:
            raise InputError(
                f"x has the shape {x.shape}, expected ({self.shape[1]},) or ({self.shape[1]}, columns)"
            )
        y = self._engine.product(x if x.ndim == 2 else x[:, None], self._transposed)
        return y.reshape(self.shape[0], *x.shape[1:])

    def __rmatmul__(self, x: Any) -> NDArray[np.float32]:
        return (self.T @ np.asarray(x).T).T

    def tolinearoperator(self) -> Any:
        """A scipy.sparse.linalg.LinearOperator."""
        from scipy.sparse.linalg import LinearOperator

        return LinearOperator(
            self.shape,
            matvec=self.__matmul__,
            rmatvec=self.T.__matmul__,
            matmat=self.__matmul__,
            rmatmat=self.T.__matmul__,
            dtype=self.dtype,
        )

    def rate(self, repeats: int = 9) -> dict[str, float]:
        """Measures the product with one vector: "milliseconds", "gflops", "gigabytes_per_second",
        "copy_gigabytes_per_second" and "share_of_copy"."""
        found: dict[str, float] = self._engine.rate(whole_number("repeats", repeats))
        return found

    def share_of_copy(self) -> float:
        """The share of the device's bandwidth, as a copy reaches it, that a product reaches."""
        return self.rate()["share_of_copy"]

    def __repr__(self) -> str:
        return f"<sparse.Matrix {self.shape[0]}x{self.shape[1]}, {self.kernel} on {self.device}>"


def _matrix(a: Any) -> Matrix:
    return a if isinstance(a, Matrix) else Matrix(a)


def eigsh(
    A: Any,
    k: int = 6,
    M: None = None,
    sigma: None = None,
    which: str = "LM",
    v0: None = None,
    ncv: None = None,
    maxiter: int | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    *,
    progress: Progress = None,
) -> Any:
    """Eigenvalues (k, float64, ascending) and eigenvectors (n, k, float32) of a symmetric matrix, with
    the signature of scipy.sparse.linalg.eigsh.

    A: a Matrix, or what Matrix takes. which: "LM", "LA" or "SA". maxiter: products, 100,000 by default.
    tol: the residual norm in units of the matrix's norm; 0: 1e-6, about what float32 reaches. A
    DiacutWarning says where that is missed. M, sigma, v0 and ncv are not supported.
    """
    for name, value in {"M": M, "sigma": sigma, "v0": v0, "ncv": ncv}.items():
        if value is not None:
            raise ConfigError(
                f"eigsh does not support {name}: scipy.sparse.linalg.eigsh takes A.tolinearoperator()"
            )
    if which not in _WHICH:
        raise ConfigError(
            f"which is {which!r}, expected 'LM', 'LA' or 'SA'; 'SA' is 'SM' where no eigenvalue is negative"
        )
    most = 100_000 if maxiter is None else whole_number("maxiter", maxiter)
    tolerance = float(tol) or 1e-6
    with stage_progress(progress) as tell:
        found = _matrix(A)._engine.pairs(
            _WHICH[which], whole_number("k", k), tolerance, most, tell
        )
    if not found["converged"]:
        warnings.warn(
            f"eigsh did not converge in {found['products']} products: the largest residual is "
            f"{float(np.max(found['residuals'])):.2g}, asked for was {tolerance:g} of the norm",
            DiacutWarning,
            stacklevel=2,
        )
    return (found["values"], found["vectors"].T) if return_eigenvectors else found["values"]


def cg(
    A: Any,
    b: ArrayLike,
    x0: ArrayLike | None = None,
    *,
    rtol: float = 1e-5,
    maxiter: int | None = None,
    progress: Progress = None,
) -> tuple[NDArray[np.float32], int]:
    """Solves A x = b, A symmetric and positive definite, by conjugate gradients with the main diagonal as
    the preconditioner: x and 0, or the iterations done where rtol was not reached, as
    scipy.sparse.linalg.cg gives them."""
    matrix = _matrix(A)
    right = _numbers(b, "b").ravel()
    start = np.zeros_like(right) if x0 is None else _numbers(x0, "x0").ravel()
    most = 10 * matrix.shape[0] if maxiter is None else whole_number("maxiter", maxiter)
    with stage_progress(progress) as tell:
        found = matrix._engine.system(right, start, float(rtol), most, tell)
    return found["x"], 0 if found["converged"] else found["iterations"]
