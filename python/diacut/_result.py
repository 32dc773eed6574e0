"""What a segmentation gives."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import ConfigError
from ._hierarchy import Hierarchy


def _field(name: str, doc: str) -> Any:
    """A property: a field of what the library found."""
    return property(lambda result: result._fields[name], doc=doc)


class Result:
    """What every segmentation of an image holds; its type says what else there is. Arrays are views of
    the memory that diacut made them in, unless a property says otherwise."""

    labels: NDArray[np.int32] = _field(
        "labels",
        """The regions, (height, width): 1, 2, ... in scan order, 0 where the image has no data. Every
        region is 4-connected. With method="objects": 0 outside of objects. With seeds: their labels, as
        a copy; 0 also where no seed can be reached.""",
    )
    count: int = _field(
        "count",
        "The number of regions; with seeds the number of connected parts of all labels.",
    )
    # What one type of result alone has is None in the others.
    contours: NDArray[np.float32] | None = None
    hierarchy: Hierarchy | None = None
    inside: NDArray[np.float32] | None = None
    normalized_cut: float | None = None
    feature_scale: float = _field(
        "feature_scale",
        """With features: the scale that affinities were computed with, affinity.feature_scale or what the
        data gave in its place; else 0.""",
    )
    eigenvalues: NDArray[np.float64] = _field(
        "eigenvalues",
        """The smallest eigenvalues of (D - W) y = lambda D y, ascending; the first is about 0. None where
        no eigenvectors were computed: they are on request, and where contours or cuts need them.""",
    )
    converged: bool = _field(
        "converged",
        "Whether every eigenvector meets the tolerance; with seeds, every label's probabilities.",
    )
    residuals: list[float] = _field("residuals", "The residual norm of each eigenvector.")
    error_bounds: list[float] = _field(
        "error_bounds",
        "How far each eigenvalue may be from an exact one, as its residual shows.",
    )
    angle_bounds: list[float] = _field(
        "angle_bounds",
        "The largest sine of the angle between each eigenvector and an exact one.",
    )
    resolved: list[bool] = _field(
        "resolved",
        "Whether each eigenvalue is larger than its error may be; the known first one counts.",
    )
    solver: str = _field("solver", "The eigensolver that ran.")
    times: dict[str, float] = _field("times", "How long each stage took, milliseconds.")
    device_peak_bytes: int = _field("device_peak_bytes", "The most device memory held at once, bytes.")
    notes: list[str] = _field(
        "notes",
        "What a person should know of how the image was read and segmented.",
    )

    def __init__(self, fields: dict[str, Any]) -> None:
        seeds = fields.pop("seed_labels", None)
        if seeds:
            fields["labels"] = np.array([0, *seeds], dtype=np.int32)[fields["labels"]]
        if "hierarchy" in fields:
            fields["hierarchy"] = Hierarchy(fields["hierarchy"])
        self._fields = fields

    def __getstate__(self) -> dict[str, Any]:
        return {"_fields": self._fields}

    @property
    def probabilities(self) -> list[NDArray[np.float32]]:
        """Of a SeedGrowth, if they were asked for: for each label of the seeds, ascending, the
        probability that a random walker from a pixel meets a seed of that label first, (height,
        width)."""
        kept: list[NDArray[np.float32]] | None = self._fields.get("probabilities")
        if not kept:
            raise ConfigError(
                "the probabilities were not kept: segment(..., seeds=..., probabilities=True)"
            )
        return kept

    @cached_property
    def eigenvectors(self) -> NDArray[np.float32]:
        """The eigenvectors y, (count, height, width) of the picture that regions were found in, as
        `segment --eigenvectors` writes them. They are made when first asked for."""
        z, root = self.normalized_eigenvectors, self.sqrt_degree
        y = np.zeros((len(z), *root.shape), dtype=np.float32)
        for each, out in zip(z, y):
            np.divide(each, root, out=out, where=root > 0)
        return y

    @property
    def normalized_eigenvectors(self) -> list[NDArray[np.float32]]:
        """z = D^1/2 y for each eigenvector y: of unit norm and orthogonal, without a copy."""
        self._need_eigenvectors()
        vectors: list[NDArray[np.float32]] = self._fields["vectors"]
        return vectors

    @property
    def sqrt_degree(self) -> NDArray[np.float32]:
        """The diagonal of D^1/2, (height, width); 0 where the image has no data."""
        self._need_eigenvectors()
        root: NDArray[np.float32] = self._fields["sqrt_degree"]
        return root

    def _need_eigenvectors(self) -> None:
        if len(self.eigenvalues) == 0:
            raise ConfigError(
                "no eigenvectors were computed: ask for them with segment(..., eigenvectors=True)"
            )
        if not self._fields["vectors"]:
            raise ConfigError(
                "the eigenvectors were not kept: ask for them with segment(..., eigenvectors=True)"
            )

    def __repr__(self) -> str:
        height, width = self.labels.shape
        return f"<{type(self).__name__} of {width}x{height} pixels: {self.count} regions>"


class HierarchyCut(Result):
    """Regions that are a cut of a hierarchy."""

    contours: NDArray[np.float32] = _field(
        "contours", "Boundary strength at each pixel, (height, width), in [0, 1]."
    )
    hierarchy: Hierarchy = _field("hierarchy", "The merge tree that the labels are a cut of.")


class Objects(HierarchyCut):
    """Objects before a background: regions of a cut."""

    inside: NDArray[np.float32] = _field(
        "inside", "How likely each pixel lies inside of an object, (height, width), in [0, 1]."
    )


class KwayCut(Result):
    """Regions by direct cuts."""

    normalized_cut: float = _field(
        "normalized_cut",
        "What leaves a region divided by the sum of its degrees, summed over the regions.",
    )


class SeedGrowth(Result):
    """Labels that grew from seeds."""


def result_of(fields: dict[str, Any]) -> Result:
    """The result of the type that the library found."""
    types = {each.__name__: each for each in (HierarchyCut, Objects, KwayCut, SeedGrowth)}
    return types[fields.pop("type")](fields)
