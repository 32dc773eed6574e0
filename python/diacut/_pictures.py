"""Pictures of regions, and numbers that they keep from frame to frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import ImageLike, labels_of
from ._errors import ConfigError, InputError
from ._hierarchy import plain_image


def regions_of(labels: ArrayLike) -> NDArray[np.int32]:
    regions = labels_of(labels, "labels")
    if not 0 <= regions.min() <= regions.max() <= regions.size:
        raise InputError(
            f"labels holds {regions.min()} to {regions.max()}, expected 0 to at most the number of pixels"
        )
    return regions


def flat(image: ImageLike, labels: ArrayLike) -> NDArray[np.uint8]:
    """The image with each region in its mean colour, as segment --flat: (height, width, 3), red, green,
    blue. labels: (height, width), as Result.labels."""
    return _core.flat(plain_image(image), regions_of(labels))


def cutout(image: ImageLike, labels: ArrayLike, of: int | Sequence[int] | None = None) -> NDArray[np.uint8]:
    """The image with all but some regions transparent, as segment --cutout: (height, width, 4), red,
    green, blue, alpha.

    labels: (height, width), as Result.labels. of: the regions' labels, as labels[y, x]; None: that of the
    largest region that does not surround the others, with what it encloses.
    """
    regions = regions_of(labels)
    chosen = [] if of is None else [int(label) for label in np.atleast_1d(of)]
    if of is not None and not chosen:
        raise InputError("of is empty, expected one label or more")
    if not regions.any():
        raise InputError("labels holds no region")
    return _core.cutout(plain_image(image), regions, chosen)


class FrameLinker:
    """Gives the regions of frame after frame their numbers: a region continues the one of the frame before,
    or of that before it, that it overlaps the most, by at least `least` (intersection over union)."""

    def __init__(self, least: float = 0.25) -> None:
        if not 0 < least <= 1:
            raise ConfigError(f"least is {least}, expected a share above 0, up to 1")
        self._linker = _core.PageLinker(least)
        self._shape: tuple[int, ...] | None = None
        #: Which regions of the last frame split, and which merge.
        self.notes: list[str] = []

    def link(self, labels: ArrayLike, flow: ArrayLike | None = None) -> NDArray[np.int32]:
        """The numbers of the next frame's regions, (height, width); 0 stays. Frames of another size begin
        anew, with new numbers.

        labels: as Result.labels. flow: where things move far, by pixel x and y of the way to the same thing on the
        frame before, (height, width, 2), as cv2.DISOpticalFlow computes it from this frame to the one before.
        """
        regions = regions_of(labels)
        if regions.shape != self._shape:
            self._linker.end()
        elif flow is not None:
            way = np.ascontiguousarray(flow, np.float32)
            if way.shape != (*regions.shape, 2):
                raise InputError(f"flow has the shape {way.shape}, expected {(*regions.shape, 2)}")
            self._linker.displace(way.reshape(len(way), -1))
        self._shape = regions.shape
        numbers, self.notes = self._linker.link(regions)
        return numbers
