"""Parameters: from the arguments of a call to those of the library."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping
from typing import Any, Union

import numpy as np

from . import _core
from ._errors import ConfigError

#: A value of a parameter: a number, a flag, a name, or several numbers.
Value = Union[bool, int, float, str, "tuple[float, ...]", "list[float]"]

#: The name of a file.
Name = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

#: Arguments with a name of their own, as the program's options have them.
OPTIONS = {
    "regions": "region.regions",
    "compactness": "region.compactness",
    "threshold": "region.threshold",
    "merging": "region.merging",
    "min_size": "region.min_size",
    "method": "region.method",
    "detail": "image.detail",
    "boundary": "boundary.kind",
    "weights": "boundary.weights",
    "untrusted": "image.untrusted",
}


def name_bytes(name: Name | None) -> bytes:
    """A file's name as the system has it; empty for None."""
    if name is None:
        return b""
    encoded = os.fsencode(name)
    if b"\0" in encoded:
        raise ValueError("embedded null byte")  # As the built-in functions do.
    return encoded


def whole_number(
    name: str, value: Any, expected: str = "an integer of 1 or more", most: int = 2**31 - 1
) -> int:
    """An integer from 1 to `most`. expected: what messages call it."""
    try:
        number = 0 if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = 0
    if not 1 <= number <= most:
        raise ConfigError(f"{name} is {value!r}, expected {expected}")
    return number


def check_regions(regions: Any) -> int:
    """A number of regions that was asked for."""
    expected = "an integer from 1 to 2147483647, or None, which leaves the number to the image"
    return whole_number("regions", regions, expected)


def memory_bytes(memory: Any) -> int:
    """A limit of the device memory held at once; 0: none."""
    if memory is None:
        return 0
    return whole_number("memory", memory, "a number of bytes, 1 or more", 2**64 - 1)


# Compactness says where a number of regions is divided.
COMPACTNESS_ALONE = "compactness has no effect without regions: give their number, or leave it out"


def text_of(name: str, value: Any) -> str:
    """A value as the library's table of parameters reads it."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(text_of(name, each) for each in value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (bytes, os.PathLike)):
        return os.fsdecode(value)
    if isinstance(value, (int, str)):
        return str(value)
    raise ConfigError(
        f"{name} is {value!r} of type {type(value).__name__}, expected a number, a text, True or "
        "False, or a list of numbers"
    )


def make_parameters(
    options: Mapping[str, Any],
    config: str | bytes | None,
    values: Mapping[str, Any] | None,
) -> _core.Parameters:
    """The library's parameters. The options win over `values`, and these over `config`."""
    given = {name: value for name, value in options.items() if value is not None}
    if "regions" in given:
        given["regions"] = check_regions(given["regions"])
        if "threshold" in given:
            raise ConfigError(
                "threshold has no effect beside regions: leave out one of them"
            )
    if values is not None and not isinstance(values, Mapping):
        raise ConfigError(
            f"set is {values!r}, expected a mapping of parameters to values, as "
            "{'boundary.scales': [0.5, 1]}"
        )
    pairs = [(str(key), text_of(str(key), value)) for key, value in (values or {}).items()]
    pairs += [(OPTIONS[name], text_of(name, value)) for name, value in given.items()]
    made = _core.make_parameters(
        name_bytes(config), [(key, name_bytes(text)) for key, text in pairs]
    )
    if "compactness" in given and dict(made.items())["region.regions"] == "0":
        raise ConfigError(COMPACTNESS_ALONE)
    return made


def value_of(text: str) -> bool | int | float | str:
    """A value that the library printed as text."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
