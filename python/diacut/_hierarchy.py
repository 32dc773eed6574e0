"""The merge tree of an image's regions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import ImageLike, image_of, seeds_of
from ._errors import ConfigError, DiacutWarning, file_errors
from ._parameters import COMPACTNESS_ALONE, Name, check_regions, make_parameters, name_bytes, text_of


class Hierarchy(_core.MergeTree):
    """All segmentations of an image, from fine to coarse: regions join pair by pair, the pair with the
    weakest boundary first.

    Nodes are numbered as labels are: a leaf by its label in `leaves`, from 1 to `leaf_count`; then the
    merges in their order, so that merge k (from 0) makes node `leaf_count + 1 + k`.
    """

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, int]:
        """(height, width) of the image."""
        height, width = self.leaves.shape
        return height, width

    def cut(
        self,
        regions: int | None = None,
        *,
        compactness: float = 0.0,
        threshold: float | None = None,
        min_size: int | str = "auto",
    ) -> NDArray[np.int32]:
        """Labels from 1, as `segment recut` makes them; 0 where the image has no data.

        regions: how many; compactness: from 0, regions of any size, to 1, as even as the tree allows.
        threshold: regions merge over boundaries of at most this height, in [0, 1]; without regions and
        threshold: the automatic cut. min_size: smaller regions join a neighbour: a number of
        pixels, a share of the pixels with data as "0.2%", or "auto"; 0 keeps all.

        Warns with DiacutWarning where there are more or fewer regions than were asked for. Takes
        milliseconds and no device.
        """
        if regions is not None and threshold is not None:
            raise ConfigError("regions and threshold exclude each other: leave out one of them")
        count = 0 if regions is None else check_regions(regions)
        evenness = _number(compactness, 0, f"compactness is {compactness!r}, expected 0 to 1")
        if evenness > 0 and regions is None:
            raise ConfigError(COMPACTNESS_ALONE)
        height = self.threshold
        if threshold is not None:
            refusal = f"threshold is {threshold!r}, expected a number from 0 to 1"
            height = _number(threshold, 0, refusal)
        labels, notes = self._cut(count, evenness, height, text_of("min_size", min_size))
        return _told(labels, notes)

    def cut_by_seeds(self, seeds: ArrayLike) -> NDArray[np.int32]:
        """The largest regions none of which holds seeds of two labels, as `segment recut --seeds` finds
        them: each region with seeds has their label, all others have 0, as have pixels without data.

        seeds: labels of a few pixels, (height, width), integers from 1, and 0 elsewhere; at least two
        labels.

        Warns with DiacutWarning where regions hold no seed, and where a leaf holds seeds of several
        labels. Takes milliseconds and no device.
        """
        labels, notes = self._cut_by_seeds(seeds_of(seeds))
        return _told(labels, notes)

    def objects(
        self,
        *,
        area: tuple[int | str | None, int | str | None] | None = None,
        solidity: tuple[float | None, float | None] | None = None,
        contrast: tuple[float | None, float | None] | None = None,
        brightness: tuple[float | None, float | None] | None = None,
        score: str = "contrast",
        image: ImageLike | None = None,
    ) -> NDArray[np.int32]:
        """Objects before a background, as `segment recut --objects` finds them: labels from 1, and 0 for
        the background. Each object is one node of the tree; of the nodes that meet all conditions those
        are taken that do not overlap and whose scores have the greatest sum.

        score: "contrast", which is contrast times solidity, or "nuclei", which was learned from nuclei of
        cells on micrographs and needs the image.

        Each condition is (low, high), both included; None leaves out an end. area: numbers of pixels, or
        shares of the pixels with data as "0.2%". solidity: the area divided by that of the convex hull.
        contrast: the height at which the node merges, less its own height. brightness: the mean of the
        channels within the node, less that of the node that it merges with, from -1 to 1; it needs the
        image. A condition that is left out is that of the score: with "contrast" a solidity of 0.9 and a
        contrast of 0.08 or more, with "nuclei" an area from 15 to 8000 pixels.

        image: what the hierarchy was made from, as segment() takes it.

        Warns with DiacutWarning where there is no object.
        """
        limits = None
        if area is not None:
            least, most = _pair("area", area)
            limits = (_limit(least), _limit(most))
        own = None if image is None else plain_image(image)
        labels, notes = self._objects(
            limits,
            _ends("solidity", solidity, 0),
            _ends("contrast", contrast, 0),
            _ends("brightness", brightness, -1),
            str(score),
            own,
        )
        return _told(labels, notes)

    def linkage(self) -> NDArray[np.float64]:
        """The tree as SciPy's hierarchical clustering has it, (leaf_count - 1, 4): two nodes, numbered
        from 0, their height, and the leaves below. Pieces of the data that do not touch are joined
        last, at infinity. `scipy.cluster.hierarchy.fcluster(linkage, t, "distance")[leaves - 1]` are
        the regions of `cut(threshold=t, min_size=0)` under other numbers."""
        sizes = [1] * self.leaf_count
        rows: list[tuple[float, ...]] = []

        def join(first: int, second: int, height: float) -> None:
            sizes.append(sizes[first] + sizes[second])
            rows.append((first, second, height, sizes[-1]))

        children = self.children - 1
        for (first, second), height in zip(children.tolist(), self.heights.tolist()):
            join(first, second, height)
        pieces = np.setdiff1d(np.arange(len(sizes)), children).tolist()
        for at, piece in enumerate(pieces[1:]):
            join(piece, pieces[0] if at == 0 else len(sizes) - 1, float("inf"))
        return np.array(rows, dtype=np.float64).reshape(-1, 4)

    def save(self, path: Name) -> None:
        """Writes the file that `segment recut` and load() read."""
        with file_errors():
            self._save(name_bytes(path))

    @classmethod
    def load(cls, path: Name) -> Hierarchy:
        """Reads a file that save() or `segment --tree` wrote."""
        with file_errors():
            return cls(_core.read_tree(name_bytes(path)))

    @classmethod
    def from_bytes(cls, data: bytes) -> Hierarchy:
        """The hierarchy of the bytes that to_bytes() made."""
        return cls(_core.decode_tree(data))

    def __reduce__(self) -> tuple[Any, ...]:
        return Hierarchy.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        height, width = self.shape
        return f"<Hierarchy of {width}x{height} pixels: {self.leaf_count} leaves>"


def _told(labels: NDArray[np.int32], notes: list[str]) -> NDArray[np.int32]:
    """The labels; warns of the notes where the method is called that found both."""
    for note in notes:
        warnings.warn(note, DiacutWarning, stacklevel=3)
    return labels


def plain_image(image: ImageLike) -> _core.Image:
    """The library's image of what a user gives, read as by default."""
    parameters = make_parameters({}, None, None)
    return image_of(image, parameters, int(dict(parameters.items())["image.max_pixels"]))


def _number(value: Any, low: float, refusal: str) -> float:
    """The number from `low` to 1 that the value is."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not low <= number <= 1:
        raise ConfigError(refusal)
    return number


def _pair(name: str, ends: Any) -> tuple[Any, Any]:
    if not isinstance(ends, (tuple, list)) or len(ends) != 2:
        raise ConfigError(f"{name} is {ends!r}, expected (low, high), where None leaves out an end")
    low, high = ends
    return low, high


def _limit(size: Any) -> str | None:
    return None if size is None else text_of("area", size)


def _ends(name: str, ends: Any, least: float) -> tuple[float | None, float | None] | None:
    """The two ends, each None or a number from `least` to 1."""
    if ends is None:
        return None
    low, high = (
        None
        if end is None
        else _number(end, least, f"{name} has the end {end!r}, expected a number from {least} to 1, or None")
        for end in _pair(name, ends)
    )
    return low, high
