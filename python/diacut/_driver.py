"""A driver for CPUs that came from PyPI, for where the system has no OpenCL device; the program of a wheel."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from glob import glob

WAY_OUT = "; for Python, 'pip install intel-opencl-rt intel-cmplr-lib-rt' brings one for CPUs"


def driver_library() -> str:
    """The library of intel-opencl-rt; "" where it is not installed.

    pocl-binary-distribution is not looked for: without a linker, and on some processors, it ends the process.
    """
    for folder in (sysconfig.get_path("data"), site.USER_BASE):
        path = os.path.join(folder or "", "lib", "libintelocl.so")
        if os.path.isfile(path):
            return path
    return ""


def run_segment() -> None:
    """Becomes the program `segment`: that of the wheel."""
    own = os.path.join(os.path.dirname(__file__), "segment")
    if not os.path.isfile(own):
        sys.exit("segment: this package was built without the program; ./setup.sh wheel builds one with it")
    if "OCL_ICD_VENDORS" not in os.environ and not glob("/etc/OpenCL/vendors/*.icd"):
        os.environ["OCL_ICD_VENDORS"] = driver_library()
    os.execv(own, ["segment", *sys.argv[1:]])
