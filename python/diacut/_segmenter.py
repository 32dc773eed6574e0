"""The Segmenter, and the function that needs none."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import (
    ImageLike,
    Probabilities,
    barriers_of,
    boundary_map_of,
    features_of,
    image_of,
    seeds_of,
    start_of,
)
from ._errors import ConfigError, Error, InputError
from ._parameters import (
    OPTIONS,
    Name,
    Value,
    make_parameters,
    memory_bytes,
    name_bytes,
    value_of,
)
from ._progress import Progress, image_progress, stage_progress
from ._result import Result, result_of

#: The most images that are begun together.
_MOST_TOGETHER = 16


class Segmenter:
    """Segments images on one device, which it keeps open.

    The arguments are the options of the program `segment`, and None leaves one out: regions,
    compactness (0 to 1: how even regions are in size), threshold, merging ("learned" or "strength"),
    min_size, method ("hierarchy", "kway" or "objects"), detail (pixels, or "native"), boundary
    ("learned" or "gradient"), weights (a network), untrusted (images that are given by their path are
    decoded in a process that can do nothing but compute). config: a preset ("fast",
    "quality", "micrographs", "nuclei", "scene", "ncut") or a TOML file. set: any parameter by its name, as
    {"boundary.scales": [0.5, 1]}; parameters() lists them. An
    argument wins over `set`, and `set` over `config`.

    device: "gpu", "cpu", "gpu:1" for the second GPU, an index as "0:1", a part of a name, or "auto" for
    the device that a job was given; None: the environment variable DIACUT_DEVICE, else the first GPU,
    else the CPU. memory: the most device memory held at once, bytes. verify: whether each image is
    segmented twice, and a DeviceError raised where both do not agree to the byte.
    eigenvectors: whether results hold them. kernel_dir: a folder of OpenCL kernels in place of those
    built in.

    Threads may share a Segmenter: they take turns on the device. Each may also have its own.
    """

    def __init__(
        self,
        regions: int | None = None,
        *,
        compactness: float | None = None,
        threshold: float | None = None,
        merging: str | None = None,
        min_size: int | str | None = None,
        method: str | None = None,
        detail: int | str | None = None,
        boundary: str | None = None,
        weights: Name | None = None,
        untrusted: bool | None = None,
        config: Name | None = None,
        set: Mapping[str, Value] | None = None,
        device: str | None = None,
        memory: int | None = None,
        verify: bool = False,
        eigenvectors: bool = False,
        kernel_dir: Name | None = None,
    ) -> None:
        given: dict[str, Any] = {name: value for name, value in locals().items() if name != "self"}
        for name in ("weights", "config", "kernel_dir"):
            given[name] = None if given[name] is None else os.fsdecode(given[name])
        self._arguments = given
        self._parameters = _parameters_of(self._arguments)
        self._eigenvectors = bool(eigenvectors)
        self._max_pixels = int(dict(self._parameters.items())["image.max_pixels"])
        self._engine: _core.Engine | None = _core.Engine(
            self._parameters,
            device or "",
            name_bytes(self._arguments["kernel_dir"]),
            memory_bytes(memory),
            bool(verify),
        )

    @property
    def device(self) -> _core.Device:
        """The device that was opened."""
        return self._open().device

    @property
    def parameters(self) -> dict[str, bool | int | float | str]:
        """Every parameter by its name, as "eigen.vectors"."""
        return {key: value_of(text) for key, text in self._parameters.items()}

    def segment(
        self,
        image: ImageLike,
        *,
        mask: ArrayLike | None = None,
        boundary_map: ArrayLike | None = None,
        seeds: ArrayLike | None = None,
        barriers: ArrayLike | None = None,
        start: Probabilities | None = None,
        features: ArrayLike | None = None,
        eigenvectors: bool | None = None,
        probabilities: bool = False,
        progress: Progress = None,
    ) -> Result:
        """Segments one image. The method makes a HierarchyCut, Objects, a KwayCut or a SeedGrowth.

        image: an array, (height, width) or (height, width, channels) with 1 (grey), 2 (grey, alpha), 3
        (RGB) or 4 (RGB, alpha) channels, of bool, integers up to 32 bits or floats; the path of a file;
        or what read_image() gives. Pixels that are transparent, not finite, masked in a masked array,
        or False in `mask` have no data. boundary_map: a boundary map in [0, 1] in place of diacut's own.
        seeds: with method="walker", labels of a few pixels, (height, width), integers from 1, and 0
        elsewhere: the labels of all pixels grow from them by the random walker (Grady 2006). With
        method="hierarchy" the hierarchy is cut by them, as Hierarchy.cut_by_seeds() does.
        barriers: with seeds, (height, width), bool or integers: pixels other than 0 are lines that labels
        do not cross.
        start: with seeds, the probabilities that an earlier result over the image has: one (height,
        width) array in [0, 1] for each label, ascending. The walk starts from them, and takes fewer
        iterations where few seeds are new.
        features: numbers of each pixel by whose likeness pixels belong together, (height, width,
        channels) or (height, width), float32 or float16, of the image's size or smaller in its
        proportions; no network runs, unless set={"affinity.with_boundary": True}.
        eigenvectors: whether the result holds them; None: as the Segmenter was made. probabilities:
        with seeds, whether the result holds those of each label.

        Ctrl-C stops the work, and so does an exception of the progress function.
        """
        engine = self._open()
        if seeds is None and (barriers is not None or start is not None):
            raise ConfigError('barriers and start are for method="walker": give seeds too')
        keeps = self._keeps(eigenvectors)
        whole, map_, own = self._load((image, boundary_map, features), engine, keeps, mask)
        marks = None if seeds is None else seeds_of(seeds)
        lines = None if barriers is None else barriers_of(barriers)
        earlier = None if start is None else start_of(start)
        keep = bool(probabilities)
        with stage_progress(progress) as tell:
            fields = engine.segment(whole, map_, marks, lines, earlier, own, keeps, keep, tell)
        return result_of(fields)

    __call__ = segment

    def map(
        self,
        images: Iterable[ImageLike],
        *,
        boundary_map: Iterable[ArrayLike | None] | None = None,
        features: Iterable[ArrayLike | None] | None = None,
        eigenvectors: bool | None = None,
        progress: Progress = None,
        errors: str = "raise",
    ) -> Iterator[Any]:
        """Segments many images; gives a Result for each, in their order and as soon as it is done.

        While the device works on an image, the one before it is finished and the one after it is read;
        on a GPU small images of one size go through the eigensolver together. The results are those of
        segment() for each image alone. The iterable is read a few images ahead.

        errors: "raise" raises the error of an image in its place, which ends the iteration; "return"
        gives the exception in place of a result and goes on.
        """
        if errors not in ("raise", "return"):
            raise ConfigError(f'errors is {errors!r}, expected "raise" or "return"')
        _check_many(images)
        self._open()
        total = len(images) if isinstance(images, (Sequence, np.ndarray)) else None
        given = _together(images, boundary_map, features)
        return self._results(given, self._keeps(eigenvectors), errors == "return", progress, total)

    def close(self) -> None:
        """Gives the device up. The Segmenter cannot be used afterwards."""
        self._engine = None

    def __enter__(self) -> Segmenter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Segmenter, **self._arguments), ()

    def __repr__(self) -> str:
        if self._engine is None:
            return "<Segmenter, closed>"
        return f"<Segmenter on {self.device.name}>"

    def _open(self) -> _core.Engine:
        if self._engine is None:
            raise ConfigError("the Segmenter was closed: make another one")
        return self._engine

    def _keeps(self, eigenvectors: bool | None) -> bool:
        return self._eigenvectors if eigenvectors is None else bool(eigenvectors)

    def _results(
        self,
        given: Iterator[_Given],
        eigenvectors: bool,
        returns_errors: bool,
        progress: Progress,
        total: int | None,
    ) -> Iterator[Any]:
        with image_progress(progress, total) as tell:
            for future in self._finished(given, eigenvectors):
                try:
                    result: Any = result_of(future.result())
                except Error as error:
                    if not returns_errors:
                        raise
                    result = error
                if tell is not None:
                    tell()
                yield result

    def _finished(
        self, given: Iterator[_Given], eigenvectors: bool
    ) -> Iterator[Future[Any]]:
        """For each image, in order, what will give its results or raise its error."""
        engine = self._open()
        ahead: deque[Future[_Loaded]] = deque()
        done: deque[Future[Any]] = deque()
        with ThreadPoolExecutor(2, thread_name_prefix="diacut") as pool:

            def read_ahead(count: int) -> None:
                for each in islice(given, max(0, count - len(ahead))):
                    ahead.append(pool.submit(self._load, each, engine, eigenvectors))

            try:
                while True:
                    read_ahead(1)
                    if not ahead:
                        break
                    before = len(done)
                    first = ahead.popleft()
                    if first.exception() is not None:
                        done.append(first)
                    else:
                        group = [first.result()]
                        _gather(engine.pixels_together, ahead, group, read_ahead)
                        read_ahead(len(group))
                        read, maps, own = (list(part) for part in zip(*group))
                        begun = engine.begin(read, maps, own, eigenvectors)
                        done.extend(pool.submit(each.finish) for each in begun)
                    for _ in range(before):
                        yield done.popleft()
                while done:
                    yield done.popleft()
            finally:
                for waiting in ahead:
                    waiting.cancel()

    def _load(
        self,
        given: _Given,
        engine: _core.Engine,
        eigenvectors: bool,
        mask: ArrayLike | None = None,
    ) -> _Loaded:
        image, boundary_map, features = given
        own = None if features is None else features_of(features)
        # How the file of an image is read that is segmented with these.
        size = (0, 0, 0, 0) if own is None else (*own.shape, own.itemsize)
        whole = image_of(
            image,
            self._parameters,
            self._max_pixels,
            mask,
            lambda path: engine.read(path, boundary_map is not None, size, eigenvectors),
        )
        return whole, None if boundary_map is None else boundary_map_of(boundary_map), own


#: An image with its boundary map and its features, as they are given, and as the library takes them.
_Given = tuple[ImageLike, "ArrayLike | None", "ArrayLike | None"]
_Loaded = tuple[_core.Image, "NDArray[np.float32] | None", "NDArray[Any] | None"]


def _gather(most: int, ahead: deque[Future[_Loaded]], group: list[_Loaded], read_ahead: Any) -> None:
    """Adds images to a group of one, as long as the device gains by it."""
    pixels = _pixels(group[0])
    if pixels > most // 2:
        return
    together = min(most // pixels, _MOST_TOGETHER)
    read_ahead(together - 1)
    while ahead and len(group) < together and ahead[0].exception() is None:
        pixels += _pixels(ahead[0].result())
        if pixels > most:
            return
        group.append(ahead.popleft().result())


def _pixels(loaded: _Loaded) -> int:
    height, width = loaded[0].shape[:2]
    return height * width


def _check_many(images: Any) -> None:
    """Refuses one image in the place of many, whose rows would be taken for images."""
    if isinstance(images, (str, bytes, os.PathLike, _core.Image)):
        raise InputError("map() takes several images: give a list, or call segment() for one")
    shape = getattr(images, "shape", None)
    if shape is not None and (len(shape) < 3 or (len(shape) == 3 and shape[2] <= 4)):
        raise InputError(
            f"map() takes several images, but the array of the shape {tuple(shape)} looks like one: "
            "call segment(), or give a list of arrays"
        )


def _together(
    images: Iterable[ImageLike],
    boundary_map: Iterable[ArrayLike | None] | None,
    features: Iterable[ArrayLike | None] | None,
) -> Iterator[_Given]:
    maps = None if boundary_map is None else iter(boundary_map)
    own = None if features is None else iter(features)
    for index, image in enumerate(images):
        yield image, _next_of(maps, "boundary_map", index), _next_of(own, "features", index)


def _next_of(
    maps: Iterator[ArrayLike | None] | None, name: str, index: int
) -> ArrayLike | None:
    if maps is None:
        return None
    try:
        return next(maps)
    except StopIteration:
        raise InputError(
            f"{name} has {index} maps, but there are more images: give a map for each"
        ) from None


def _parameters_of(arguments: Mapping[str, Any]) -> _core.Parameters:
    options = {name: arguments[name] for name in OPTIONS}
    return make_parameters(options, arguments["config"], arguments["set"])


_last_lock = threading.Lock()
_last: tuple[Any, Segmenter] | None = None


def shared_segmenter(**arguments: Any) -> Segmenter:
    """A Segmenter of these arguments: the last one that this function made, if it is of the same."""
    global _last
    complete = {
        **dict.fromkeys(OPTIONS),
        **dict.fromkeys(("config", "set")),
        **arguments,
    }
    device = (*(complete.get(name) for name in ("device", "memory", "kernel_dir")),
              bool(complete.get("verify")))
    key = (_parameters_of(complete).toml(), device, os.environ.get("DIACUT_DEVICE"))
    with _last_lock:
        if _last is None or _last[0] != key:
            _last = None  # First, so that two devices' memory is not held at once.
            _last = (key, Segmenter(**arguments))
        return _last[1]


#: The arguments of segment() that are not the Segmenter's.
_OF_IMAGE = ("mask", "boundary_map", "seeds", "barriers", "start", "features", "eigenvectors", "probabilities",
             "progress")


def segment(
    image: ImageLike,
    regions: int | None = None,
    *,
    compactness: float | None = None,
    threshold: float | None = None,
    merging: str | None = None,
    min_size: int | str | None = None,
    method: str | None = None,
    detail: int | str | None = None,
    boundary: str | None = None,
    weights: Name | None = None,
    untrusted: bool | None = None,
    config: Name | None = None,
    set: Mapping[str, Value] | None = None,
    device: str | None = None,
    memory: int | None = None,
    verify: bool = False,
    mask: ArrayLike | None = None,
    boundary_map: ArrayLike | None = None,
    seeds: ArrayLike | None = None,
    barriers: ArrayLike | None = None,
    start: Probabilities | None = None,
    features: ArrayLike | None = None,
    eigenvectors: bool = False,
    probabilities: bool = False,
    progress: Progress = None,
) -> Result:
    """Segments one image: diacut.segment(array, regions=8).labels.

    The arguments are those of Segmenter and of Segmenter.segment(); seeds choose the method "walker",
    unless `method` is given. The device stays open for the next call with the same ones; for many images
    or several settings at once, make a Segmenter.
    """
    given: dict[str, Any] = dict(locals())
    if seeds is not None and method is None:
        given["method"] = "walker"
    if weights is not None:
        given["weights"] = os.fsdecode(weights)
    given.pop("image")
    of_image = {name: given.pop(name) for name in _OF_IMAGE}
    return shared_segmenter(**given).segment(image, **of_image)
