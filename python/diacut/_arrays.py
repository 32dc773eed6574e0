"""Images of what a user has: arrays, masked arrays, files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._errors import DtypeError, InputError, file_errors
from ._parameters import Name, name_bytes

#: Probabilities of each label, (labels, height, width), as Result.probabilities has them.
Probabilities = Union["Sequence[NDArray[np.floating[Any]]]", "NDArray[np.floating[Any]]"]

#: What is segmented: an array, an image that read_image() has read, or the path of a file.
ImageLike = Union[ArrayLike, _core.Image, Name]

_DTYPES = ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64")


def array_of(values: Any, what: str) -> NDArray[Any]:
    """An array of something that NumPy can make one of."""
    try:
        if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            values = np.from_dlpack(values)
        return np.asanyarray(values)
    except (ValueError, TypeError, RuntimeError, BufferError) as error:
        raise InputError(f"{what} cannot be made an array: {error}") from None


def _shown(image: Any) -> Any:
    """An image of PIL's in colours as PIL shows it; anything else as it is."""
    mode = getattr(image, "mode", None)
    if not type(image).__module__.startswith("PIL.") or not isinstance(mode, str):
        return image
    if mode in ("P", "1", "L", "RGB") and "transparency" in image.info:
        wanted = "RGBA"
    elif mode in ("1", "L", "LA", "RGB", "RGBA", "I", "F") or mode.startswith("I;16"):
        return image
    else:
        wanted = {"PA": "RGBA", "RGBa": "RGBA", "La": "LA"}.get(mode, "RGB")
    try:
        return image.convert(wanted)
    except ValueError as error:
        raise InputError(
            f"PIL cannot show an image of the mode {mode!r} ({error}): convert it to RGB first"
        ) from None


def _check_dtype(array: NDArray[Any]) -> NDArray[Any]:
    dtype = array.dtype
    if dtype == np.float16:
        return array.astype(np.float32)
    if dtype.newbyteorder("=").name not in _DTYPES:
        advice = "convert it with array.astype()"
        if dtype.kind in "iu":
            advice = "convert it to the type that holds its values, as with array.astype('uint16')"
        elif dtype.kind == "c":
            advice = "take its magnitude with numpy.abs()"
        raise DtypeError(
            f"the array's dtype is {dtype}, expected one of {', '.join(_DTYPES)}, float16: {advice}"
        )
    return array


def _check_shape(array: NDArray[Any], max_pixels: int) -> None:
    shape = array.shape
    if len(shape) == 4:
        raise InputError(
            f"the array has the shape {shape}, expected (height, width) or (height, width, "
            "channels): of several images give one, or all of them to Segmenter.map()"
        )
    if len(shape) not in (2, 3):
        raise InputError(
            f"the array has the shape {shape}, expected (height, width) or (height, width, channels)"
        )
    if 0 in shape:
        raise InputError(f"the array is empty: it has the shape {shape}")
    if len(shape) == 3 and not 1 <= shape[2] <= 4:
        advice = "choose 1 to 4 of its channels"
        if 1 <= shape[0] <= 4:
            advice = "channels come last: numpy.moveaxis(array, 0, -1)"
        raise InputError(
            f"the array has the shape {shape}, which means {shape[2]} channels, expected 1 (grey), "
            f"2 (grey, alpha), 3 (red, green, blue) or 4 (red, green, blue, alpha): {advice}"
        )
    # Before the array is copied: one that is broadcast may be larger than all memory.
    if shape[0] * shape[1] > max_pixels:
        raise InputError(
            f"the array has {shape[1]} x {shape[0]} pixels, more than the limit of {max_pixels}: "
            "scale or crop it, or raise image.max_pixels"
        )


def _with_mask(array: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[Any]:
    """The array with an alpha that is least where the mask is False."""
    if array.dtype.kind in "iu":
        low, high = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
    else:
        low, high = 0, 1
    if array.ndim == 2:
        array = array[:, :, np.newaxis]
    if array.shape[2] in (2, 4):
        alpha = np.where(mask, array[:, :, -1], array.dtype.type(low))
        array = array[:, :, :-1]
    else:
        alpha = np.where(mask, array.dtype.type(high), array.dtype.type(low))
    return np.concatenate([array, alpha[:, :, np.newaxis]], axis=2)


def _mask_of(array: NDArray[Any], mask: ArrayLike | None) -> NDArray[np.bool_] | None:
    """Which pixels have data by `mask` and by the mask of a masked array; None: all of them."""
    found: NDArray[np.bool_] | None = None
    if isinstance(array, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(array)
        found = np.logical_not(hidden.any(axis=2) if hidden.ndim == 3 else hidden)
    if mask is None:
        return found
    given = array_of(mask, "the mask")
    if given.dtype != np.bool_ or given.shape != array.shape[:2]:
        raise InputError(
            f"the mask is an array of {given.dtype} of the shape {given.shape}, expected bool of "
            f"the shape {array.shape[:2]}: True where the image has data"
        )
    return given if found is None else found & given


def image_of(
    image: ImageLike,
    parameters: _core.Parameters,
    max_pixels: int,
    mask: ArrayLike | None = None,
    read: Callable[[bytes], _core.Image] | None = None,
) -> _core.Image:
    """The library's image of what a user gives.

    read: reads a file in place of image_from_file(), and refuses one that takes too much memory.
    """
    if isinstance(image, (str, bytes, os.PathLike)):
        if mask is not None:
            raise InputError("a mask belongs to an array: a file has its own transparency")
        name = name_bytes(image)
        with file_errors():
            return _core.image_from_file(name, parameters) if read is None else read(name)
    if isinstance(image, _core.Image):
        if mask is not None:
            raise InputError("a mask belongs to an array: an Image has its own (Image.valid)")
        return image
    array = array_of(_shown(image), "the image")
    _check_shape(array, max_pixels)
    array = _check_dtype(array)
    valid = _mask_of(array, mask)
    array = np.asarray(array)
    if valid is not None and not valid.all():
        array = _with_mask(array, valid)
    return _core.image_from_array(
        np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")), parameters
    )


def labels_of(labels: ArrayLike, what: str) -> NDArray[np.int32]:
    """A label image as int32."""
    array = array_of(labels, what)
    if array.dtype.kind not in "iub":
        raise DtypeError(
            f"{what} has the dtype {array.dtype}, expected integers: one label for each pixel"
        )
    if array.ndim != 2 or array.size == 0:
        raise InputError(f"{what} has the shape {array.shape}, expected (height, width)")
    if array.dtype.kind != "b" and array.dtype.itemsize >= 4:
        limits = np.iinfo(np.int32)
        low, high = int(array.min()), int(array.max())
        if low < limits.min or high > limits.max:
            raise InputError(f"{what} holds {low} to {high}, expected labels of 32 bits")
    return np.ascontiguousarray(array, dtype=np.int32)


def seeds_of(seeds: ArrayLike) -> NDArray[np.int32]:
    """Seeds: labels from 1, 0 where there is none."""
    labels = labels_of(seeds, "seeds")
    if int(labels.min()) < 0:
        raise InputError(f"seeds holds {int(labels.min())}, expected labels from 1, or 0 for none")
    return labels


def barriers_of(barriers: ArrayLike) -> NDArray[np.int32]:
    """Barriers: 1 where there is one, else 0."""
    return np.asarray(labels_of(barriers, "barriers") != 0, dtype=np.int32)


def start_of(start: Probabilities) -> NDArray[np.float32]:
    """Probabilities of each label, (labels, height, width), as float32."""
    if not isinstance(start, (Sequence, np.ndarray)) or isinstance(start, (str, bytes)):
        raise InputError(f"start is of the type {type(start).__name__}, expected arrays of floats")
    planes = [array_of(each, "start") for each in start]
    if not planes or any(each.ndim != 2 or each.shape != planes[0].shape for each in planes):
        raise InputError(
            f"start has the shapes {[each.shape for each in planes]}, expected one (height, width) "
            "array for each label, as Result.probabilities has them"
        )
    if any(each.dtype.kind != "f" for each in planes):
        raise DtypeError("start holds numbers that are no floats, expected probabilities in [0, 1]")
    return np.ascontiguousarray(np.stack(planes), dtype=np.float32)


def features_of(features: ArrayLike) -> NDArray[np.float32] | NDArray[np.uint16]:
    """Features, (height, width, channels): as floats, or as the bits of floats of 16 bits."""
    array = array_of(features, "features")
    if array.ndim == 2:
        array = array[:, :, np.newaxis]
    if array.ndim != 3 or array.size == 0:
        raise InputError(
            f"features has the shape {array.shape}, expected (height, width, channels) or (height, "
            "width)"
        )
    if array.dtype.newbyteorder("=").name not in ("float16", "float32"):
        raise DtypeError(
            f"features has the dtype {array.dtype}, expected float32 or float16: convert it with "
            "array.astype('float32')"
        )
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    return plain.view(np.uint16) if plain.dtype == np.float16 else plain


def boundary_map_of(boundary_map: ArrayLike) -> NDArray[np.float32]:
    """A boundary map as floats in [0, 1]; integers are divided by the largest value of their type."""
    array = array_of(boundary_map, "boundary_map")
    if array.ndim != 2:
        raise InputError(f"boundary_map has the shape {array.shape}, expected (height, width)")
    if array.dtype.newbyteorder("=").name not in ("bool", "uint8", "uint16", "float32", "float64"):
        raise DtypeError(
            f"boundary_map has the dtype {array.dtype}, expected bool, uint8, uint16, float32 or float64"
        )
    full = np.iinfo(array.dtype).max if array.dtype.kind == "u" else 1
    strengths = np.ascontiguousarray(array.astype(np.float64) / full, dtype=np.float32)
    if not ((strengths >= 0) & (strengths <= 1)).all():
        raise InputError(
            "boundary_map holds values outside of [0, 1] or NaN, expected strengths of boundaries"
        )
    return strengths
