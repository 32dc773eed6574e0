"""A clustering of pixels in the manner of scikit-learn, which need not be installed."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import ImageLike
from ._errors import ConfigError
from ._hierarchy import Hierarchy
from ._parameters import Value
from ._segmenter import shared_segmenter


class NormalizedCut:
    """Regions of an image, as a scikit-learn clusterer finds clusters.

    The arguments are those of diacut.Segmenter, kept as they are given and checked by fit(). X is an
    image as diacut.segment() takes it.

    Attributes after fit(): labels_, (height, width), from 1, 0 where there is no data; n_regions_;
    hierarchy_; contours_; eigenvalues_, empty where none were needed.
    """

    _estimator_type = "clusterer"

    def __init__(
        self,
        regions: int | None = None,
        *,
        compactness: float | None = None,
        threshold: float | None = None,
        merging: str | None = None,
        min_size: int | str | None = None,
        detail: int | str | None = None,
        boundary: str | None = None,
        untrusted: bool | None = None,
        config: str | None = None,
        set: Mapping[str, Value] | None = None,
        device: str | None = None,
    ) -> None:
        self.regions = regions
        self.compactness = compactness
        self.threshold = threshold
        self.merging = merging
        self.min_size = min_size
        self.detail = detail
        self.boundary = boundary
        self.untrusted = untrusted
        self.config = config
        self.set = set
        self.device = device

    def fit(self, X: ImageLike, y: object = None) -> NormalizedCut:
        """Segments the image X. y is ignored."""
        result = shared_segmenter(**self.get_params()).segment(X)
        self.labels_: NDArray[np.int32] = result.labels
        self.n_regions_: int = result.count
        self.hierarchy_: Hierarchy | None = result.hierarchy
        self.contours_: NDArray[np.float32] | None = result.contours
        self.eigenvalues_: NDArray[np.float64] = result.eigenvalues
        return self

    def fit_predict(self, X: ImageLike, y: object = None) -> NDArray[np.int32]:
        """Segments the image X and returns labels_. y is ignored."""
        return self.fit(X).labels_

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> NormalizedCut:
        """Replaces arguments of the constructor."""
        names = self._names()
        for name, value in params.items():
            if name not in names:
                raise ConfigError(
                    f"unknown parameter {name!r} of {type(self).__name__}, expected one of "
                    f"{', '.join(names)}; diacut's own parameters go into set={{...}}"
                )
            setattr(self, name, value)
        return self

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import (  # type: ignore[import-untyped,unused-ignore]
            InputTags,
            Tags,
            TargetTags,
        )

        return Tags(
            estimator_type="clusterer",
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=True, three_d_array=True, allow_nan=True),
            requires_fit=True,
        )

    def __repr__(self) -> str:
        given = ", ".join(
            f"{name}={value!r}" for name, value in self.get_params().items() if value is not None
        )
        return f"{type(self).__name__}({given})"
