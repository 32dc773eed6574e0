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


def load_photographs(folder, ending, names):
    return [np.asarray(Image.open(f"{folder}/{name}{ending}").convert("RGB")) for name in names]


def load_contours(data, split):
    """Names, photographs, and for each the regions that its annotators drew: annotators x height x width,
    from 1."""
    names = names_in(f"{data}/images/{split}", ".jpg")
    regions = []
    for name in names:
        path = f"{data}/groundTruth/{split}/{name}.mat"
        if not os.path.exists(path):
            sys.exit(f"{path}: no such file, but there is a photograph of that name")
        cells = loadmat(path)["groundTruth"].ravel()
        regions.append(np.stack([c["Segmentation"][0, 0].astype(np.int16) for c in cells]))
    return names, load_photographs(f"{data}/images/{split}", ".jpg", names), regions


def load_objects(data, split):
    """Names, photographs, and for each its regions, 1 x height x width: 1 outside of objects, from 2 on
    one number for each object."""
    names = names_in(f"{data}/{split}/images", ".png")
    regions = []
    for name in names:
        path = f"{data}/{split}/labels/{name}.png"
        if not os.path.exists(path):
            sys.exit(f"{path}: no such file, but there is an image of that name")
        regions.append(np.asarray(Image.open(path)).astype(np.int16)[None] + 1)
    return names, load_photographs(f"{data}/{split}/images", ".png", names), regions


LOADERS = {"contours": load_contours, "objects": load_objects}
