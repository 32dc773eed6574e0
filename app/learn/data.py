"""Reading of photographs and of what people drew in them.

Contours: BSDS500's images/{train,val}/*.jpg and groundTruth/{train,val}/*.mat, several annotators each.
Objects: {train,val}/images/*.png and {train,val}/labels/*.png, one number for each object, 0 elsewhere.
"""
import os
import sys

import numpy as np
from PIL import Image
from scipy.io import loadmat


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
    """Names, photographs, and for each the regions that its annotators drew: annotators x height x width,
    from 1."""
    names, photographs, paths = pairs(data, f"images/{split}", ".jpg", f"groundTruth/{split}", ".mat")
    regions = []
    for path in paths:
        cells = loadmat(path)["groundTruth"].ravel()
        regions.append(np.stack([c["Segmentation"][0, 0].astype(np.int16) for c in cells]))
    return names, photographs, regions


def load_objects(data, split):
    """Names, photographs, and for each its regions, 1 x height x width: 1 outside of objects, from 2 on
    one number for each object."""
    names, photographs, paths = pairs(data, f"{split}/images", ".png", f"{split}/labels", ".png")
    regions = [np.asarray(Image.open(path)).astype(np.int16)[None] + 1 for path in paths]
    return names, photographs, regions


def parse_fold(parser, text):
    """(K, N) of the text K/N; None where there is none. Ends the program where it is wrong."""
    if not text:
        return None
    parts = text.split("/")
    if len(parts) != 2 or not all(p.isdigit() for p in parts) or int(parts[0]) >= int(parts[1]):
        parser.error(f"--fold {text}: expected K/N with 0 <= K < N")
    return int(parts[0]), int(parts[1])


def parse_splits(parser, text):
    """The list of splits. Ends the program where it is wrong."""
    splits = text.split(",")
    if splits not in (["train"], ["train", "val"]):
        parser.error(f"--splits {text}: expected train, or train,val")
    return splits


def check_out(parser, path):
    if not path.endswith(".safetensors"):
        parser.error(f"--out {path}: the name of a file of weights ends in .safetensors")


def left_out(fold, count):
    """Which of `count` photographs a fold leaves out."""
    return range(fold[0], count, fold[1]) if fold else range(0)


LOADERS = {"contours": load_contours, "objects": load_objects}
