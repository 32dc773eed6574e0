"""The exceptions of diacut: those of the C++ library under their own names, and also the built-in ones
that a Python user expects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Error(Exception):
    """The base of every error that diacut raises."""


class InputError(Error, ValueError):
    """An image or array with nothing to segment, or of a shape or with values that make no sense."""


class DtypeError(InputError, TypeError):
    """An array whose elements no image has."""


class FileError(InputError, OSError):
    """A file that cannot be read, decoded or written."""


class ConfigError(Error, ValueError):
    """A parameter, option or configuration that makes no sense."""


class DeviceError(Error, RuntimeError):
    """A device that is missing, too small or failing."""

    #: What the compiler of the kernels printed; empty unless a kernel did not build.
    build_log: str = ""


class DeviceMemoryError(DeviceError, MemoryError):
    """Memory of a device that is too small for what is asked of it."""


class NumericalError(Error, ArithmeticError):
    """Arithmetic that went wrong: a NaN where none may be."""


class CancelledError(Error):
    """The work was asked to stop."""


class DiacutWarning(UserWarning):
    """What a person should know of a result that is not quite what was asked for."""


@contextmanager
def file_errors() -> Iterator[None]:
    """Makes a FileError of an InputError: within it a file is read or written."""
    try:
        yield
    except FileError:
        raise
    except InputError as error:
        raise FileError(str(error)) from None
