"""What the tests share: a small picture, a Segmenter, and the programs that results are compared with.

DIACUT_BIN names the folder of the programs `segment` and `diacut-evaluate`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import diacut

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def photograph() -> Path:
    return ROOT / "images" / "cat.jpg"


@pytest.fixture(scope="session")
def picture(photograph: Path) -> np.ndarray:
    """A part of a photograph: (96, 128, 3), uint8."""
    pixels = diacut.read_image(photograph).pixels
    return np.rint(pixels[60:156, 120:248] * 255).astype(np.uint8)


@pytest.fixture(scope="session")
def segmenter() -> diacut.Segmenter:
    return diacut.Segmenter(config="fast", regions=6)


class Programs:
    """The installed programs."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def run(self, name: str, *arguments: object) -> str:
        done = subprocess.run(
            [self.folder / name, *map(str, arguments)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="session")
def programs() -> Programs:
    folder = os.environ.get("DIACUT_BIN")
    if not folder:
        pytest.fail("set DIACUT_BIN to the folder of the programs that results are compared with")
    return Programs(folder)
