"""Pictures of one's own, and what people drew in them.

Pictures: the files of a folder that end in PICTURES. Values of more than 8 bits, and of 8 bits that fill less
than half of their range, are stretched so that a thousandth of them lies beyond each end, as diacut reads
them.

Labels, one of these:
- a folder of label images, a file of the picture's name (NAME.png, .tif, .tiff or .npy) or one for each
  annotator (NAME_0.png, NAME_1.png, ...): one number for each region or object, 0 elsewhere;
- a folder of drawn outlines, named in the same way: the value that most pixels have is the ground, all
  others are lines. Areas that lines enclose are objects, or regions;
- a COCO file, NAME.json: polygons and RLE, one object an annotation.
"""
import json
import os
import sys

import numpy as np
from PIL import Image, ImageDraw

from data import Pictures

PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")
LABELS = (".png", ".tif", ".tiff", ".npy")
BEYOND = 0.001  # The share of the values beyond each end of the range that becomes the whole range.
MOSTLY_EMPTY = 0.5  # 8 bits that fill less of their range are stretched, 20 times at most.
MOST_REGIONS = np.iinfo(np.int16).max - 2  # Of one annotator.


def fail(message):
    sys.exit(f"train.py: {message}")


def read_array(path):
    try:
        if path.endswith(".npy"):
            return np.load(path, allow_pickle=False)
        with Image.open(path) as image:
            if image.mode in ("P", "1"):
                image = image.convert("RGB") if image.mode == "P" and is_colourful(image) else image.convert("L")
            return np.asarray(image)
    except (OSError, ValueError, SyntaxError) as error:
        fail(f"{path} cannot be read: {error}")


def is_colourful(image):
    """Whether a palette holds anything but greys."""
    palette = np.asarray(image.getpalette()).reshape(-1, 3)
    return bool((palette != palette[:, :1]).any())


def read_picture(path):
    """The picture in 8 bits, height x width x 3."""
    values = read_array(path)
    low, high = np.quantile(values, [BEYOND, 1 - BEYOND])
    eight_bits = values.dtype == np.uint8
    if not eight_bits or high - low < MOSTLY_EMPTY * 255:
        if eight_bits:
            middle, half = (low + high) / 2, max((high - low) / 2, 255 / 40)
            low, high = middle - half, middle + half
        values = values.astype(np.float64)
        if not np.isfinite(high - low):
            fail(f"{path} holds values that are no numbers")
        values = ((values - low) / max(high - low, 1e-12)).clip(0, 1)
        values = (values * 255).round().astype(np.uint8)
    if values.ndim == 2:
        values = values[..., None]
    if values.shape[2] in (1, 2):  # Grey, and grey with alpha.
        values = values[..., :1].repeat(3, 2)
    return np.ascontiguousarray(values[..., :3])


def find_pictures(folder):
    if not os.path.isdir(folder):
        fail(f"--pictures {folder}: there is no such folder")
    found = sorted(n for n in os.listdir(folder) if n.lower().endswith(PICTURES))
    if not found:
        fail(f"--pictures {folder}: there is no picture in it ({', '.join(PICTURES)})")
    return found


def label_files(folder, name):
    """The label files of a picture, one for each annotator."""
    for ending in LABELS:
        if os.path.exists(f"{folder}/{name}{ending}"):
            return [f"{folder}/{name}{ending}"]
    several = []
    while True:
        path = f"{folder}/{name}_{len(several)}"
        ending = next((e for e in LABELS if os.path.exists(path + e)), None)
        if ending is None:
            return several
        several.append(path + ending)


def read_labels(path):
    """A label image, its numbers replaced by 1, 2, ... in their order, 0 kept."""
    labels = read_array(path)
    if labels.ndim != 2:
        fail(f"{path} has {labels.ndim} dimensions or several channels: expected one number for each pixel")
    if labels.dtype.kind == "f" and (labels == np.floor(labels)).all():
        labels = labels.astype(np.int64)
    if labels.dtype.kind not in "uib":
        fail(f"{path} holds numbers of type {labels.dtype}: expected whole numbers")
    if labels.min(initial=0) < 0:
        fail(f"{path} holds the number {labels.min()}: expected 0 and above")
    values, number = np.unique(labels, return_inverse=True)
    number = number.reshape(labels.shape) + (0 if values[0] == 0 else 1)
    if number.max(initial=0) > MOST_REGIONS:
        fail(f"{path} holds {number.max()} regions: at most {MOST_REGIONS} fit")
    return number.astype(np.int16)


def read_outlines(path, task):
    """The areas that lines enclose, from 1. For objects, areas that touch the picture's border are 0."""
    from scipy import ndimage

    drawing = read_array(path)
    drawing = drawing.reshape(*drawing.shape[:2], -1)
    colours, number = np.unique(drawing.reshape(-1, drawing.shape[2]), axis=0, return_inverse=True)
    ground = np.bincount(number.ravel()).argmax()
    lines = (number.ravel() != ground).reshape(drawing.shape[:2])
    if not lines.any():
        fail(f"{path} has one colour: there are no lines in it")
    areas, count = ndimage.label(~lines)
    if task == "objects":
        border = np.unique(np.concatenate([areas[0], areas[-1], areas[:, 0], areas[:, -1]]))
        areas[np.isin(areas, border)] = 0
        inner = ndimage.binary_dilation(areas > 0, iterations=2) & lines
        nearest = ndimage.distance_transform_edt(areas == 0, return_distances=False, return_indices=True)
        areas = np.where(inner, areas[tuple(nearest)], areas)
    else:  # A line belongs to the areas on both sides of it.
        nearest = ndimage.distance_transform_edt(lines, return_distances=False, return_indices=True)
        areas = areas[tuple(nearest)]
    if count > MOST_REGIONS:
        fail(f"{path} encloses {count} areas: at most {MOST_REGIONS} fit")
    return areas.astype(np.int16)


def counts_of(text):
    """The run lengths of COCO's packed RLE."""
    counts, at = [], 0
    while at < len(text):
        value, shift, more = 0, 0, True
        while more:
            byte = ord(text[at]) - 48
            at += 1
            value |= (byte & 31) << shift
            shift += 5
            more = byte & 32
            if not more and byte & 16:
                value |= -1 << shift
        counts.append(value + (counts[-2] if len(counts) > 2 else 0))
    return counts


def mask_of(segmentation, width, height):
    """Which pixels an annotation covers."""
    if isinstance(segmentation, dict):
        counts = segmentation["counts"]
        runs = counts_of(counts) if isinstance(counts, str) else counts
        if sum(runs) != width * height:
            raise ValueError("an RLE of another size")
        values = np.arange(len(runs)) % 2
        return np.repeat(values, runs).reshape(width, height).T.astype(bool)
    canvas = Image.new("1", (width, height))
    for polygon in segmentation:
        ImageDraw.Draw(canvas).polygon([(x - 0.5, y - 0.5) for x, y in zip(polygon[::2], polygon[1::2])],
                                       fill=1)
    return np.asarray(canvas)


def read_coco(path):
    """For each picture's file name its labels: height x width, one number an annotation."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        images = {image["id"]: image for image in data["images"]}
        labels = {}
        for image in images.values():
            labels[os.path.basename(image["file_name"])] = np.zeros((image["height"], image["width"]), np.int16)
        for annotation in data["annotations"]:
            image = images[annotation["image_id"]]
            own = labels[os.path.basename(image["file_name"])]
            own[mask_of(annotation["segmentation"], image["width"], image["height"])] = own.max() + 1
        return labels
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        fail(f"{path}: not a COCO file of images and annotations: {type(error).__name__}: {error}")


def check_regions(regions, task):
    """Refuses labels that teach nothing."""
    if task == "objects":
        if all(r.max() == 0 for r in regions):
            fail("the labels hold no object: all their numbers are 0")
    elif all(len(np.unique(a)) == 1 for r in regions for a in r):
        fail("the labels hold one region a picture: there is no boundary to learn")


def load_own(pictures, labels, outlines, task):
    """Pictures and what annotators drew, as data.py's."""
    files = find_pictures(pictures)
    names = [os.path.splitext(n)[0] for n in files]
    coco = read_coco(labels) if labels.endswith(".json") else None
    if coco is None and not os.path.isdir(labels):
        fail(f"--labels {labels}: there is no such folder, and it is no .json file")
    if coco is not None and task != "objects":
        fail("a COCO file names objects: it teaches --task objects alone")
    found = [[n] if n in coco else [] for n in files] if coco is not None else [
        label_files(labels, n) for n in names]
    missing = [n for n, own in zip(files, found) if not own]
    if missing:
        fail(f"{len(missing)} of {len(files)} pictures have no labels in {labels}: "
             f"{', '.join(missing[:5])}{', ...' if len(missing) > 5 else ''}; label them, or take them out")
    photographs = [read_picture(f"{pictures}/{n}") for n in files]
    regions = []
    for n, picture, own in zip(files, photographs, found):
        if coco is not None:
            each = [coco[n]]
        else:
            each = [read_outlines(p, task) if outlines else read_labels(p) for p in own]
        for path, one in zip(own, each):
            if one.shape != picture.shape[:2]:
                fail(f"{path} has {one.shape[1]}x{one.shape[0]} pixels, the picture {n} "
                     f"{picture.shape[1]}x{picture.shape[0]}: labels are of the picture's size")
        regions.append(np.stack(each))
    check_regions(regions, task)
    return Pictures(names, photographs, [r + 1 for r in regions] if task == "objects" else regions)
