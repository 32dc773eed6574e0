#!/usr/bin/env python3
"""Segments real pictures that are no photographs in several ways and scores the labels' covering of outlines that were
drawn by hand, real_outlines.json, before any segmentation was seen (numpy, Pillow, pydicom, and other_pictures.py's).

    real_pictures.py FOLDER --files FOLDER [--segment PROGRAM] [--evaluate PROGRAM]

The pictures are in packages of Debian and PyPI, which real_outlines.json names: --files has each file under its own
name. FOLDER gets pictures/, truth/ (label images), outlines/ (the outlines over the pictures), and each way's labels.
"""
import argparse
import json
import pathlib
import subprocess

import numpy as np
import pydicom
from PIL import Image, ImageDraw

from other_pictures import WAYS, score

WAYS = {name: WAYS.get(name, ["--config", name]) for name in ("default", "quality", "fast", "micrographs", "scene")}


def picture(file, size):
    """The file in 8-bit colours, as large as its outlines."""
    if file.suffix == ".dcm":
        values = pydicom.dcmread(file).pixel_array.astype(float)
        low, high = np.percentile(values, (1, 99))
        image = Image.fromarray(np.clip((values - low) / (high - low) * 255, 0, 255).astype(np.uint8))
    else:
        image = Image.open(file)
    return image.convert("RGB").resize(size, Image.LANCZOS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--files", type=pathlib.Path, required=True, help="folder of the packages' pictures")
    parser.add_argument("--segment", default="segment", help="the program")
    parser.add_argument("--evaluate", default="diacut-evaluate", help="the program")
    options = parser.parse_args()
    outlines = json.loads(pathlib.Path(__file__).with_name("real_outlines.json").read_text())
    scores = {}
    print("| |" + "|".join(WAYS) + "|")
    for name, drawn in outlines.items():
        folder = options.folder / name
        for part in ("pictures", "truth", "outlines"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        image = picture(options.files / pathlib.Path(drawn["file"]).name, drawn["size"])
        image.save(folder / "pictures" / f"{name}.png")
        truth = Image.new("I", image.size, 1)  # What no outline holds is one region, the background.
        for number, polygon in enumerate(drawn["polygons"], 2):
            ImageDraw.Draw(truth).polygon(polygon, fill=number)
            ImageDraw.Draw(image).polygon(polygon, outline=(255, 0, 0))
        Image.fromarray(np.array(truth).astype(np.uint16)).save(folder / "truth" / f"{name}.png")
        image.save(folder / "outlines" / f"{name}.png")
        for way, words in WAYS.items():
            subprocess.run([options.segment, folder / "pictures", "-o", folder / way, "--overlay",
                            folder / f"{way}-overlays", *words, "--quiet"], check=True)
            found = score(options.evaluate, folder / way, folder / "truth")["regions"]
            scores.setdefault(way, []).append(found["covering"]["ods"])
        print(f"| {name} | " + " | ".join(f"{found[-1]:.3f}" for found in scores.values()) + " |", flush=True)
    print("| mean | " + " | ".join(f"{np.mean(found):.3f}" for found in scores.values()) + " |")


if __name__ == "__main__":
    main()
