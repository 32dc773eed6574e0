"""Image segmentation by normalized cuts on any OpenCL device.

    import diacut
    result = diacut.segment(array, regions=8)
    result.labels                       # int32, 1, 2, ...; 0 where the array has no data
    result.hierarchy.cut(regions=20)    # another cut, in milliseconds

segment() and Segmenter take NumPy arrays; docs/python.md of the sources has examples.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from . import _core, sparse
from ._arrays import ImageLike, image_of, labels_of
from ._core import Device, Image, ParameterInfo, Scores, list_devices
from ._core import describe_parameters as _describe_parameters
from ._core import preset_names as presets
from ._core import version as __version__
from ._driver import WAY_OUT, driver_library
from ._errors import (
    CancelledError,
    ConfigError,
    DeviceError,
    DeviceMemoryError,
    DiacutWarning,
    DtypeError,
    Error,
    FileError,
    InputError,
    NumericalError,
)
from ._estimator import NormalizedCut
from ._graph import GraphEigenvectors, eigenvectors, spectral_clustering
from ._hierarchy import Hierarchy
from ._parameters import Name, Value, make_parameters
from ._pictures import FrameLinker, cutout, flat
from ._result import HierarchyCut, KwayCut, Objects, Result, SeedGrowth
from ._segmenter import Segmenter, segment

__all__ = [
    "CancelledError",
    "ConfigError",
    "Device",
    "DeviceError",
    "DeviceMemoryError",
    "DiacutWarning",
    "DtypeError",
    "Error",
    "FileError",
    "FrameLinker",
    "GraphEigenvectors",
    "Hierarchy",
    "HierarchyCut",
    "Image",
    "ImageLike",
    "InputError",
    "KwayCut",
    "NormalizedCut",
    "NumericalError",
    "Objects",
    "ParameterInfo",
    "Result",
    "Scores",
    "SeedGrowth",
    "Segmenter",
    "__version__",
    "cutout",
    "eigenvectors",
    "evaluate",
    "flat",
    "list_devices",
    "parameters",
    "presets",
    "read_image",
    "segment",
    "sparse",
    "spectral_clustering",
]

# An interpreter has threads and secrets: what decodes images that are not trusted is no copy of it.
_core.use_sandbox_program(os.fsencode(os.path.join(os.path.dirname(_core.__file__), "diacut-decoder")))

_core.offer_driver(os.fsencode(driver_library()), WAY_OUT)


def read_image(
    path: Name,
    *,
    untrusted: bool | None = None,
    set: Mapping[str, Value] | None = None,
) -> Image:
    """Reads an image file of the formats that the program `segment` reads, as it does.

    untrusted: decode it in a process that can do nothing but compute, with limits of memory and time.
    set: parameters of reading, as {"image.range": "data"}. Raises FileError.
    """
    parameters = make_parameters({"untrusted": untrusted}, None, set)
    return image_of(os.fsencode(path), parameters, 0)


def evaluate(labels: ArrayLike, truth: ArrayLike | Sequence[ArrayLike]) -> Scores:
    """Scores labels against those that people drew, as `diacut-evaluate --kind labels` does.

    labels: (height, width), integers; pixels of one region have one value. truth: one such array, or a
    list of one for each person. Returns precision, recall and f of the boundaries, covering, pri
    (probabilistic Rand index) and vi (variation of information, bits).
    """
    found = labels_of(labels, "labels")
    several: Any = truth
    if not isinstance(truth, (list, tuple)):
        several = [truth] if getattr(truth, "ndim", 2) == 2 else list(truth)  # type: ignore[arg-type]
    truths = [labels_of(one, "truth") for one in several]
    if not truths:
        raise InputError("truth is empty, expected one label image or more")
    for one in truths:
        if one.shape != found.shape:
            raise InputError(
                f"truth has the shape {one.shape}, but labels have {found.shape}: both are of one image"
            )
    return _core.evaluate_labels(found, truths)


def parameters() -> list[ParameterInfo]:
    """Every parameter that `set=` takes, with its unit, its values and its meaning."""
    return _describe_parameters()
