"""Reading of photographs and of what people drew in them.

Contours: BSDS500's images/{train,val}/*.jpg and groundTruth/{train,val}/*.mat, several annotators each.
Objects: {train,val}/images/*.png and {train,val}/labels/*.png, one number for each object, 0 elsewhere.
"""
import os
import sys
from typing import NamedTuple

import numpy as np
from PIL import Image


class Pictures(NamedTuple):
    """Names, pictures, and for each what annotators drew: annotators x height x width."""

    names: list
    photographs: list
    regions: list

    def some(self, numbers):
        return Pictures(*([part[i] for i in numbers] for part in self))

    def divided(self, fold):
        """Those that the fold (K, N) leaves, and those that it leaves out: every N-th from the K-th on."""
        out = range(fold[0], len(self.names), fold[1]) if fold else range(0)
        return self.some([i for i in range(len(self.names)) if i not in out]), self.some(out)


def together(several):
    return Pictures(*(sum(parts, []) for parts in zip(*several)))


def names_in(folder, ending):
    if not os.path.isdir(folder):
        sys.exit(f"{folder}: no such folder; train.py's description says what --data has to hold")
    names = sorted(n[: -len(ending)] for n in os.listdir(folder) if n.endswith(ending))
    if not names:
        sys.exit(f"{folder}: no *{ending} in it")
    return names


def pairs(data, images, ending, drawn, drawn_ending):
    """Names, photographs, and for each the path of what was drawn in it."""
    names = names_in(f"{data}/{images}", ending)
    paths = [f"{data}/{drawn}/{name}{drawn_ending}" for name in names]
    for path in paths:
        if not os.path.exists(path):
            sys.exit(f"{path}: no such file, but there is an image of that name in {data}/{images}")
    photographs = [np.asarray(Image.open(f"{data}/{images}/{name}{ending}").convert("RGB")) for name in names]
    return names, photographs, paths


def load_contours(data, split):
    """Photographs, and for each the regions that its annotators drew, from 1."""
    from scipy.io import loadmat

    names, photographs, paths = pairs(data, f"images/{split}", ".jpg", f"groundTruth/{split}", ".mat")
    regions = []
    for path in paths:
        cells = loadmat(path)["groundTruth"].ravel()
        regions.append(np.stack([c["Segmentation"][0, 0].astype(np.int16) for c in cells]))
    return Pictures(names, photographs, regions)


def load_objects(data, split):
    """Photographs, and for each its regions, 1 x height x width: 1 outside of objects, from 2 on one number
    for each object."""
    names, photographs, paths = pairs(data, f"{split}/images", ".png", f"{split}/labels", ".png")
    regions = [np.asarray(Image.open(path)).astype(np.int16)[None] + 1 for path in paths]
    return Pictures(names, photographs, regions)


def settle(parser, options):
    """Checks --out, and makes a list of --splits and (K, N) of --fold K/N. Ends the program where one is wrong."""
    if not options.out.endswith(".safetensors"):
        parser.error(f"--out {options.out}: the name of a file of weights ends in .safetensors")
    splits = options.splits.split(",")
    if splits not in (["train"], ["train", "val"]):
        parser.error(f"--splits {options.splits}: expected train, or train,val")
    options.splits, options.fold = splits, fold_of(parser, options.fold)


def fold_of(parser, text):
    """(K, N) of --fold K/N, or None. Ends the program where it is wrong."""
    fold = text.split("/") if text else []
    if fold and (len(fold) != 2 or not all(p.isdigit() for p in fold) or int(fold[0]) >= int(fold[1])):
        parser.error(f"--fold {text}: expected K/N with 0 <= K < N")
    return tuple(map(int, fold)) or None


LOADERS = {"contours": load_contours, "objects": load_objects}
