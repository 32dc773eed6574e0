"""What a segmentation gives."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._errors import ConfigError
from ._hierarchy import Hierarchy


#: What a result holds, but for the hierarchy and what belongs to eigenvectors.
_FIELDS = (
    "labels", "seed_labels", "count", "normalized_cut", "feature_scale", "probabilities", "contours", "inside",
    "eigenvalues", "has_eigenvectors", "residuals", "error_bounds", "angle_bounds", "resolved", "converged", "solver",
    "times", "device_peak_bytes", "notes",
)  # fmt: skip


class _Kept:
    """A result's fields that were pickled, with the names that _core.Segmentation has for them."""

    _vectors: list[NDArray[np.float32]]
    _root: NDArray[np.float32]

    def __init__(self, fields: dict[str, Any]) -> None:
        self.__dict__.update(fields)

    def normalized_eigenvectors(self) -> list[NDArray[np.float32]]:
        return self._vectors

    def sqrt_degree(self) -> NDArray[np.float32]:
        return self._root

    def eigenvectors(self) -> NDArray[np.float32]:
        z = np.stack(self._vectors)
        return np.divide(z, self._root, out=np.zeros_like(z), where=self._root > 0)


def _restored(fields: dict[str, Any], hierarchy: Hierarchy | None) -> Result:
    fields["hierarchy"] = None if hierarchy is None else hierarchy._tree
    return Result(cast(_core.Segmentation, _Kept(fields)))


class Result:
    """All results for one image. Its arrays are views of the memory that diacut made them in, unless a
    property says otherwise."""

    def __init__(self, segmentation: _core.Segmentation) -> None:
        self._segmentation = segmentation

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {name: getattr(self._segmentation, name) for name in _FIELDS}
        if self._segmentation.has_eigenvectors:
            fields["_vectors"] = self._segmentation.normalized_eigenvectors()
            fields["_root"] = self._segmentation.sqrt_degree()
        return _restored, (fields, self.hierarchy)

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The regions, (height, width): 1, 2, ... in scan order, 0 where the image has no data. Every
        region is 4-connected. With method="objects": 0 outside of objects. With seeds: their labels, as
        a copy; 0 also where no seed can be reached."""
        regions = self._segmentation.labels
        seeds = self._segmentation.seed_labels
        return np.array([0, *seeds], dtype=np.int32)[regions] if seeds else regions

    @property
    def count(self) -> int:
        """The number of regions; with seeds the number of connected parts of all labels."""
        return self._segmentation.count

    @property
    def contours(self) -> NDArray[np.float32] | None:
        """Boundary strength at each pixel, (height, width), in [0, 1]; None with method="kway"
        and with seeds."""
        return self._segmentation.contours

    @property
    def inside(self) -> NDArray[np.float32] | None:
        """With method="objects": how likely each pixel lies inside of an object, (height, width), in
        [0, 1]; else None."""
        return self._segmentation.inside

    @property
    def probabilities(self) -> list[NDArray[np.float32]]:
        """With seeds, if they were asked for: for each label of the seeds, ascending, the probability
        that a random walker from a pixel meets a seed of that label first, (height, width)."""
        if not self._segmentation.probabilities:
            raise ConfigError(
                "the probabilities were not kept: segment(..., seeds=..., probabilities=True)"
            )
        return self._segmentation.probabilities

    @cached_property
    def hierarchy(self) -> Hierarchy | None:
        """The merge tree that the labels are a cut of; None with method="kway" and with seeds."""
        tree = self._segmentation.hierarchy
        return None if tree is None else Hierarchy(tree)

    @property
    def normalized_cut(self) -> float | None:
        """With method="kway": what leaves a region divided by the sum of its degrees, summed over the
        regions; else None."""
        return self._segmentation.normalized_cut

    @property
    def feature_scale(self) -> float:
        """With features: the scale that affinities were computed with, affinity.feature_scale or what the
        data gave in its place; else 0."""
        return self._segmentation.feature_scale

    @property
    def eigenvalues(self) -> NDArray[np.float64]:
        """The smallest eigenvalues of (D - W) y = lambda D y, ascending; the first is about 0. None where
        no eigenvectors were computed: they are on request, and where contours or cuts need them."""
        return self._segmentation.eigenvalues

    @cached_property
    def eigenvectors(self) -> NDArray[np.float32]:
        """The eigenvectors y, (count, height, width) of the picture that regions were found in, as
        `segment --eigenvectors` writes them. They are made when first asked for."""
        self._need_eigenvectors()
        return self._segmentation.eigenvectors()

    @property
    def normalized_eigenvectors(self) -> list[NDArray[np.float32]]:
        """z = D^1/2 y for each eigenvector y: of unit norm and orthogonal, without a copy."""
        self._need_eigenvectors()
        return self._segmentation.normalized_eigenvectors()

    @property
    def sqrt_degree(self) -> NDArray[np.float32]:
        """The diagonal of D^1/2, (height, width); 0 where the image has no data."""
        self._need_eigenvectors()
        return self._segmentation.sqrt_degree()

    @property
    def converged(self) -> bool:
        """Whether every eigenvector meets the tolerance; with seeds, every label's probabilities."""
        return self._segmentation.converged

    @property
    def residuals(self) -> list[float]:
        """The residual norm of each eigenvector."""
        return self._segmentation.residuals

    @property
    def error_bounds(self) -> list[float]:
        """How far each eigenvalue may be from an exact one, as its residual tells."""
        return self._segmentation.error_bounds

    @property
    def angle_bounds(self) -> list[float]:
        """The largest sine of the angle between each eigenvector and an exact one."""
        return self._segmentation.angle_bounds

    @property
    def resolved(self) -> list[bool]:
        """Whether each eigenvalue is larger than its error may be; the known first one counts."""
        return self._segmentation.resolved

    @property
    def solver(self) -> str:
        """The eigensolver that ran."""
        return self._segmentation.solver

    @property
    def times(self) -> dict[str, float]:
        """How long each stage took, milliseconds."""
        return dict(self._segmentation.times)

    @property
    def device_peak_bytes(self) -> int:
        """The most device memory held at once, bytes."""
        return self._segmentation.device_peak_bytes

    @property
    def notes(self) -> list[str]:
        """What a person should know of how the image was read and segmented."""
        return self._segmentation.notes

    def _need_eigenvectors(self) -> None:
        if len(self.eigenvalues) == 0:
            raise ConfigError(
                "no eigenvectors were computed: ask for them with segment(..., eigenvectors=True)"
            )
        if not self._segmentation.has_eigenvectors:
            raise ConfigError(
                "the eigenvectors were not kept: ask for them with segment(..., eigenvectors=True)"
            )

    def __repr__(self) -> str:
        height, width = self.labels.shape
        return f"<Result of {width}x{height} pixels: {self.count} regions>"
