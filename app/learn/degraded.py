#!/usr/bin/env python3
"""Scores `segment` on degraded pictures: noise, blur, darkness, low contrast, fog, compression and grey.

    degraded.py PHOTOS --out DIR                              degraded copies alone
    degraded.py PHOTOS --truth TRUTH --out DIR [-- OPTIONS]   and the scores of `segment OPTIONS` on them

Writes DIR/KIND-STRENGTH/NAME.png, and with --truth the labels and ultrametric maps beside them; prints
for each kind and strength the scores against TRUTH (boundary F, covering and variation of information at
the best threshold, and those of the labels as written), the regions of a picture, and the covering of the
labels of each degraded picture by those of the picture itself. Pictures depend on the seed, the kind, the
strength and the file's name alone. Kinds and strengths are those of weather.py, about ImageNet-C's
(Hendrycks and Dietterich 2019).

Needs PyTorch, NumPy and Pillow; with --truth the programs segment and diacut-evaluate.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import zlib

import numpy as np
import torch
from PIL import Image

from pictures import PICTURES
from validate import find_program
from weather import KINDS, Random, degrade


def fail(message):
    sys.exit(f"degraded.py: {message}")


def kinds_of(text):
    kinds = list(KINDS) if text == "all" else text.split(",")
    for kind in kinds:
        if kind not in KINDS:
            raise argparse.ArgumentTypeError(f"no kind is named '{kind}'; there are {', '.join(KINDS)}")
    return kinds


def strengths_of(text):
    try:
        strengths = [float(part) for part in text.split(",")]
    except ValueError:
        strengths = [0]
    if not all(1 <= s <= 5 for s in strengths):
        raise argparse.ArgumentTypeError(f"strengths are numbers from 1 to 5, not '{text}'")
    return strengths


def parse():
    own, options = sys.argv[1:], []
    if "--" in own:
        own, options = own[: own.index("--")], own[own.index("--") + 1 :]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("photos", help="folder of pictures")
    add("--out", required=True, help="folder for the degraded copies and the results")
    add("--truth", help="folder of what people drew, as diacut-evaluate reads it")
    add("--kinds", type=kinds_of, default=list(KINDS), help=f"of {','.join(KINDS)}; or all")
    add("--strengths", type=strengths_of, default=[1.0, 2.0, 3.0, 4.0, 5.0], help="from 1 (mild) to 5 (default: all)")
    add("--seed", type=int, default=1)
    add("--json", help="file for the scores of each kind and picture")
    add("--programs", help="folder of segment and diacut-evaluate (default: the path, then build/release)")
    arguments = parser.parse_args(own)
    if options and not arguments.truth:
        parser.error("options of segment count only with --truth")
    arguments.options = options
    return arguments


def pictures_in(folder):
    """The pictures' files by their names without extensions."""
    try:
        names = sorted(n for n in os.listdir(folder) if n.lower().endswith(PICTURES))
    except OSError as error:
        fail(f"{folder} cannot be read: {error.strerror}")
    if not names:
        fail(f"{folder} holds no pictures ({', '.join(PICTURES)})")
    by_stem = {os.path.splitext(n)[0]: n for n in names}
    if len(by_stem) < len(names):
        fail(f"two pictures in {folder} have one name, but for the extension")
    return by_stem


def read(path):
    try:
        with Image.open(path) as image:
            pixels = np.array(image.convert("RGB"))
    except (OSError, ValueError, SyntaxError) as error:
        fail(f"{path} cannot be read: {error}")
    return torch.from_numpy(pixels).permute(2, 0, 1)[None].float() / 255


def write_copies(arguments, names, kind, strength, folder):
    """Those that are not there yet."""
    os.makedirs(folder, exist_ok=True)
    for stem, name in names.items():
        path = f"{folder}/{stem}.png"
        if os.path.exists(path):
            continue
        seed = zlib.crc32(f"{arguments.seed} {kind} {strength:g} {stem}".encode())
        image = degrade(read(f"{arguments.photos}/{name}"), kind, strength, Random(seed, "cpu"))
        Image.fromarray((image[0] * 255).round().byte().permute(1, 2, 0).numpy()).save(path + ".part", "png")
        os.replace(path + ".part", path)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        fail(f"{' '.join(command)} ended with {done.stderr.strip()}")
    return done.stdout


class Scorer:
    def __init__(self, arguments):
        self.truth, self.options = arguments.truth, arguments.options
        self.segment, self.evaluate = (find_program(n, arguments.programs) for n in ("segment", "diacut-evaluate"))
        if not self.segment or not self.evaluate:
            fail("segment or diacut-evaluate is not found: name their folder with --programs")

    def scores(self, results, truth, *options):
        return json.loads(run(self.evaluate, results, "--truth", truth, "-q", "--json", "-", *options))

    def row(self, pictures, results, plain):
        """The scores of one folder of pictures; plain: the labels of the pictures themselves, or None."""
        labels, maps, table = f"{results}/labels", f"{results}/ultrametric", f"{results}/labels.csv"
        os.makedirs(results, exist_ok=True)
        run(self.segment, pictures, "-o", labels, "--ultrametric", maps, "-q", *self.options)
        best = self.scores(maps, self.truth, "--kind", "ultrametric")
        regions = self.scores(labels, self.truth, "--kind", "labels", "--csv", table)["regions"]
        counts = [len(np.unique(np.asarray(Image.open(f"{labels}/{name}")))) for name in os.listdir(labels)]
        with open(table, encoding="utf-8") as file:
            each = {row["name"]: float(row["covering"]) for row in csv.DictReader(file)}
        row = {
            "f": best["boundaries"]["ods"]["f"], "covering": best["regions"]["covering"]["ods"],
            "vi": best["regions"]["vi"]["ods"], "labels_covering": regions["covering"]["ods"],
            "labels_vi": regions["vi"]["ods"], "regions": float(np.mean(counts)), "each": each,
        }
        if plain:
            same = self.scores(labels, plain, "--kind", "labels", "--no-boundaries")
            row["same"] = same["regions"]["covering"]["ods"]
        return row


COLUMNS = {"f": "F", "covering": "covering", "vi": "VI", "labels_covering": "labels", "labels_vi": "VI",
           "regions": "regions", "same": "as clear"}


def tell(name, row):
    cells = [f"{row[c]:.1f}" if c == "regions" else f"{row[c]:.4f}" if c in row else "" for c in COLUMNS]
    print(f"{name:18}" + "".join(f"{cell:>10}" for cell in cells), flush=True)


def main():
    arguments = parse()
    names = pictures_in(arguments.photos)
    scorer = Scorer(arguments) if arguments.truth else None
    rows, plain = {}, f"{arguments.out}/clear-results/labels"
    if scorer:
        print(f"{'':18}" + "".join(f"{title:>10}" for title in COLUMNS.values()))
        rows["clear"] = scorer.row(arguments.photos, f"{arguments.out}/clear-results", None)
        tell("clear", rows["clear"])
    for strength in arguments.strengths:
        folders = {kind: f"{arguments.out}/{kind}-{strength:g}" for kind in arguments.kinds}
        for kind, folder in folders.items():
            write_copies(arguments, names, kind, strength, folder)
            if scorer:
                rows[f"{kind}-{strength:g}"] = scorer.row(folder, f"{folder}-results", plain)
                tell(f"{kind}-{strength:g}", rows[f"{kind}-{strength:g}"])
        if scorer:
            own = [rows[f"{kind}-{strength:g}"] for kind in arguments.kinds]
            tell(f"mean of {len(own)}", {c: float(np.mean([row[c] for row in own])) for c in COLUMNS})
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
