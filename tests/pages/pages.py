"""pages.py SOURCE_DIR SEGMENT EVALUATE FOLDER: runs every command of `segment` and `diacut-evaluate` in the pages
for cells, scenes, annotations and seeds, one page after the other, each in a folder with the files that it names."""

import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

SOURCE = Path(sys.argv[1])
PROGRAMS = {"segment": sys.argv[2], "diacut-evaluate": sys.argv[3]}
FOLDER = Path(sys.argv[4])
PHOTO = SOURCE / "images" / "cat.jpg"
SIZE = 451, 300
CELLS = SOURCE / "tests" / "cli" / "nuclei"
# A page, and at least how many commands of the two programs it has.
PAGES = {"objects": 7, "maps": 10, "annotations": 15, "seeds": 11}


def grey_png(path, size, value):
    """An 8-bit PNG of value(x, y)."""
    rows = b"".join(b"\0" + bytes(value(x, y) for x in range(size[0])) for y in range(size[1]))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", *size, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks))


def tiff(path, size, pages, samples=1, description="", scene=False):
    """A TIFF of 16 bits: value(x, y, sample) for each page. A scene lies in UTM 32N, in pixels of 10 m."""
    data = bytearray(b"II*\0\0\0\0\0")
    link = 4
    for value in pages:
        pixels = b"".join(struct.pack("<H", value(x, y, s)) for y in range(size[1]) for x in range(size[0])
                          for s in range(samples))
        fields = [(256, 3, [size[0]]), (257, 3, [size[1]]), (258, 3, [16] * samples), (259, 3, [1]), (262, 3, [1]),
                  (277, 3, [samples]), (278, 3, [size[1]]), (279, 4, [len(pixels)]), (273, 4, [len(data)])]
        data += pixels
        if samples > 1:
            fields.append((338, 3, [0] * (samples - 1)))
        if description:
            fields.append((270, 2, description.encode() + b"\0"))
        if scene:
            fields += [(33550, 12, [10, 10, 0]), (33922, 12, [0, 0, 0, 600000, 5300000, 0]),
                       (34735, 3, [1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32632])]
        entries = b""
        for tag, kind, values in sorted(fields):
            packed = bytes(values) if kind == 2 else struct.pack(f"<{len(values)}{' HId'[[0, 3, 4, 12].index(kind)]}",
                                                                 *values)
            if len(packed) > 4:
                packed, place = struct.pack("<I", len(data)), packed
                data += place + b"\0" * (len(place) % 2)
            entries += struct.pack("<HHI", tag, kind, len(values)) + packed.ljust(4, b"\0")
        data[link:link + 4] = struct.pack("<I", len(data))
        data += struct.pack("<H", len(fields)) + entries
        link = len(data)
        data += b"\0\0\0\0"
    path.write_bytes(data)


def netcdf(path, name, size, value):
    """A file of the classic format with one variable of floats."""
    def text(word):
        return struct.pack(">I", len(word)) + word.encode().ljust(-(-len(word) // 4) * 4, b"\0")
    head = b"CDF\1" + struct.pack(">III", 0, 10, 2) + text("y") + struct.pack(">I", size[1]) + text("x") \
        + struct.pack(">I", size[0]) + struct.pack(">IIII", 0, 0, 11, 1) + text(name) \
        + struct.pack(">IIIIIII", 2, 0, 1, 0, 0, 5, 4 * size[0] * size[1])
    values = struct.pack(f">{size[0] * size[1]}f", *(value(x, y, 0) for y in range(size[1]) for x in range(size[0])))
    path.write_bytes(head + struct.pack(">I", len(head) + 4) + values)


def field(x, y, sample):
    """Two halves with a little texture."""
    return (400 if x < 64 else 2400) + 100 * sample + (7 * x + 5 * y) % 11


def marks(boxes):
    """Value of a PNG of seeds: labels by box (left, upper, right, lower)."""
    return lambda x, y: next((label for label, (a, b, c, d) in boxes.items() if a <= x < c and b <= y < d), 0)


TWO = {1: (150, 100, 260, 200), 2: (2, 2, 40, 298)}
OME = ('<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0">'
       '<Pixels ID="Pixels:0" DimensionOrder="XYCZT" Type="uint16" SizeX="128" SizeY="96" SizeC="2" SizeZ="1"'
       ' SizeT="1" PhysicalSizeX="0.5" PhysicalSizeY="0.5"><Channel ID="Channel:0:0" Name="DAPI"/>'
       '<Channel ID="Channel:0:1" Name="actin"/><TiffData/></Pixels></Image></OME>')


def prepare(folder):
    """The files that the pages name and no command of theirs makes."""
    folder.mkdir()
    for name in ("photos", "plates", "annotations", "labels", "trees", "nuclei", "scenes", "marks", "dataset",
                 "dataset/images", "dataset/labels", "own", "own/images"):
        (folder / name).mkdir()
    for name in ("photo.jpg", "photos/a.jpg", "dataset/images/a.jpg"):
        shutil.copy(PHOTO, folder / name)
    shutil.copy(SOURCE / "images" / "coffee.jpg", folder / "own" / "images")
    grey_png(folder / "own" / "marks.png", (600, 400), marks(TWO))
    for name in ("cells.png", "plates/a.png"):
        shutil.copy(CELLS / "micrograph.png", folder / name)
    shutil.copy(CELLS / "truth.png", folder / "annotations" / "a.png")
    tiff(folder / "scene.tif", (128, 96), [field], samples=4, scene=True)
    shutil.copy(folder / "scene.tif", folder / "scenes" / "a.tif")
    with zipfile.ZipFile(folder / "scenes.zip", "w") as archive:
        archive.write(folder / "scene.tif", "a.tif")
    netcdf(folder / "sst.nc", "sst", (128, 96), field)
    tiff(folder / "cells.ome.tif", (128, 96), [field, lambda x, y, s: field(y, x, s)], description=OME)
    tiff(folder / "stack.tif", (128, 96), [field, field])
    tiff(folder / "labels.tif", SIZE, [lambda x, y, s: 1 + (x > 200)])
    grey_png(folder / "labels" / "a.png", SIZE, lambda x, y: 1 + (x > 200))
    for name in ("marks.png", "marks/a.png", "others.png"):
        grey_png(folder / name, SIZE, marks(TWO))
    grey_png(folder / "more.png", SIZE, marks({**TWO, 1: (150, 90, 260, 210)}))
    grey_png(folder / "lines.png", SIZE, lambda x, y: 255 * (x == 100))


def commands(page):
    text = (SOURCE / "docs" / f"{page}.md").read_text()
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            yield shlex.split(line, comments=True)


def outputs(words):
    """The files and folders that a command names as results."""
    return [value for option, value in zip(words, words[1:])
            if option in ("-o", "--tree", "--coco", "--cvat", "--yolo", "--labelme", "--label-studio", "--table",
                          "--svg", "--geojson", "--region-graph", "--overlay", "--probabilities")]


def main():
    for page, least in PAGES.items():
        folder = FOLDER / page
        prepare(folder)
        if page == "annotations":  # Trees of earlier runs.
            run(folder, ["segment", "photos/", "--tree", "trees/"])
            run(folder, ["segment", "photo.jpg", "--tree", "photo.tree"])
        count = 0
        for words in commands(page):
            if not words or words[0] not in PROGRAMS:
                continue
            run(folder / "own" if words[1].startswith("images/") else folder, words)
            count += 1
        assert count >= least, (page, count)
        print(f"docs/{page}.md: {count} commands")


def run(folder, words):
    before = {name: os.stat(folder / name).st_mtime_ns for name in outputs(words) if (folder / name).is_file()}
    done = subprocess.run([PROGRAMS[words[0]], *words[1:]], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, (words, done.returncode, done.stderr)
    for name in outputs(words):
        path = folder / name
        assert any(path.rglob("*")) if path.is_dir() else path.stat().st_mtime_ns != before.get(name), (words, name)


if __name__ == "__main__":
    main()
