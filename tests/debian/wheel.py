"""wheel.py nothing|labels|scene: what a wheel does in an environment that has it; called by wheel.sh."""

import sqlite3
import struct
import subprocess
import sys

import numpy as np

import diacut


def nothing() -> None:
    try:
        diacut.list_devices()
    except diacut.DeviceError as error:
        assert "pocl-opencl-icd" in str(error) and "pip install" in str(error), error
    else:
        sys.exit("there is a device")


def labels() -> None:
    array = np.rint(diacut.read_image("cat.jpg").pixels * 255).astype(np.uint8)
    result = diacut.segment(array)
    assert result.labels.shape == array.shape[:2] and result.labels.max() == result.count > 1
    untrusted = diacut.segment(diacut.read_image("cat.jpg", untrusted=True))
    assert (untrusted.labels == result.labels).all()


def geotiff(pixels: np.ndarray) -> bytes:
    """Grey, 10 m a pixel in EPSG 32633."""
    height, width = pixels.shape
    doubles = struct.pack("<9d", 10, 10, 0, 0, 0, 0, 500000, 5500000, 0)
    keys = struct.pack("<16H", 1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32633)
    entries = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1)]
    data = 8 + 2 + 12 * 12 + 4
    entries += [(273, 4, 1, data + 104), (277, 3, 1, 1), (278, 4, 1, height), (279, 4, 1, pixels.size)]
    entries += [(33550, 12, 3, data), (33922, 12, 6, data + 24)]
    entries += [(34735, 3, 16, data + 72)]
    ifd = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return struct.pack("<2sHI", b"II", 42, 8) + ifd + bytes(4) + doubles + keys + pixels.tobytes()


def scene() -> None:
    pixels = np.full((80, 120), 40, np.uint8)
    pixels[20:60, 30:70] = 200
    with open("scene.tif", "wb") as file:
        file.write(geotiff(pixels))
    subprocess.run(["segment", "scene.tif", "--regions", "2", "-o", "scene.gpkg"], check=True)
    database = sqlite3.connect("scene.gpkg")
    layer, system = database.execute("SELECT table_name, srs_id FROM gpkg_contents").fetchone()
    assert system == 32633, system
    assert database.execute(f'SELECT COUNT(*) FROM "{layer}"').fetchone()[0] == 2
    subprocess.run(["segment", "scene.tif", "--regions", "2", "-o", "scene.geojson"], check=True)
    with open("scene.geojson") as file:
        assert '"Polygon"' in file.read()


{"nothing": nothing, "labels": labels, "scene": scene}[sys.argv[1]]()
