"""What the scripts of this folder share: runs of `segment`, and pictures beside each other."""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

import numpy as np
from PIL import Image, ImageDraw, ImageFont

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FONT = 13
COLOURS = np.array([(0, 0, 0), (230, 80, 60), (60, 130, 220), (250, 190, 40), (90, 180, 90), (160, 90, 190),
                    (70, 190, 200), (220, 120, 180), (140, 100, 60)], np.uint8)


def arguments(description):
    """The arguments that all scripts have."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("output", help="the picture to write, .png")
    parser.add_argument("--segment", default="segment", help="the program")
    parser.add_argument("--rounds", type=int, default=3, help="timed runs of each, in turns")
    return parser


def run(segment, *words):
    """Runs `segment` in silence."""
    subprocess.run([segment, *map(str, words), "--quiet"], check=True)


def report_of(segment, *words):
    """Runs `segment` and returns its report."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        run(segment, *words, "--json", path)
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def in_turns(rounds, **calls):
    """Calls each function once without a clock, as the first run compiles kernels, then `rounds` times in
    turns. The median seconds of each, which are what a call returns if that is a number, else its time."""
    seconds = {name: [] for name in calls}
    for turn in range(rounds + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            told = call()
            taken = told if isinstance(told, float) else time.perf_counter() - start
            if turn > 0:
                seconds[name].append(taken)
    return {name: statistics.median(values) for name, values in seconds.items()}


def outlined(pixels, labels, colour=(255, 220, 0), wide=False):
    """The image with the boundaries between labels drawn on it, one or two pixels wide."""
    edge = np.zeros(labels.shape, bool)
    edge[:, 1:] |= labels[:, 1:] != labels[:, :-1]
    edge[1:] |= labels[1:] != labels[:-1]
    if wide:
        edge[:-1] |= edge[1:]
        edge[:, :-1] |= edge[:, 1:]
    result = np.array(pixels[..., :3])
    result[edge] = colour
    return result


def tinted(pixels, labels, strength=0.45):
    """The image, each label in a colour of its own."""
    colours = COLOURS[np.where(labels > 0, 1 + (labels - 1) % (len(COLOURS) - 1), 0)]
    mixed = (1 - strength) * pixels[..., :3] + strength * colours
    return outlined(np.where((labels > 0)[..., None], mixed, pixels[..., :3]).astype(np.uint8), labels,
                    (255, 255, 255), True)


def beside(path, panels, width, colours=128):
    """Writes panels, pairs of pixels and a caption, beside each other, each `width` pixels wide."""
    font = ImageFont.load_default(FONT)
    images = [Image.fromarray(pixels).convert("RGB") for pixels, _ in panels]
    images = [image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
              for image in images]
    height = max(image.height for image in images)
    lines = max(caption.count("\n") + 1 for _, caption in panels)
    gap = 6
    whole = Image.new("RGB", (len(panels) * (width + gap) - gap, height + lines * (FONT + 4) + 6), "white")
    draw = ImageDraw.Draw(whole)
    for k, (image, (_, caption)) in enumerate(zip(images, panels)):
        whole.paste(image, (k * (width + gap), 0))
        draw.multiline_text((k * (width + gap) + 2, height + 3), caption, "black", font)
    whole.quantize(colours, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {os.path.getsize(path) / 1000:.0f} kB")
