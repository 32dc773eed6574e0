#!/usr/bin/env python3
"""Labels that grow from a few strokes, by diacut and by scikit-image: the picture of docs/seeds.md.

    marks_picture.py seeds.png [--segment PROGRAM] [--marks marks.png]

Draws strokes of four things on images/coffee.jpg, writes them to --marks, grows labels from them by `segment --seeds` and
by scikit-image's random_walker (mode cg_mg, its own weights of four neighbours), and prints times. Those of
segment are the stages of its report but reading and writing, so that neither counts decoding. Needs
scikit-image, PyAMG and Pillow.
"""
import os
import warnings

import numpy as np
from PIL import Image, ImageDraw
from panels import COLOURS, ROOT, arguments, beside, in_turns, report_of, tinted
from skimage.segmentation import random_walker

PHOTO = os.path.join(ROOT, "images", "coffee.jpg")
# Lines of x, y in pixels: the cup, the saucer, the table and the spoon.
STROKES = {1: [[(215, 60), (190, 110), (230, 185), (330, 185), (385, 120)], [(230, 130), (340, 150)],
               [(212, 275), (240, 245), (320, 218)]],
           2: [[(100, 190), (110, 260), (170, 330), (260, 365), (380, 355), (450, 280), (465, 200)]],
           3: [[(15, 220), (40, 320), (120, 390)], [(470, 60), (560, 160), (560, 300), (500, 380)],
               [(20, 40), (60, 90), (170, 50)]],
           4: [[(345, 265), (370, 310), (390, 270)], [(412, 85), (398, 170)]]}


def marks(size):
    image = Image.new("L", size)
    draw = ImageDraw.Draw(image)
    for label, lines in STROKES.items():
        for line in lines:
            draw.line(line, fill=label, width=4)
    return image


def stages(report):
    """Seconds of the stages that compute."""
    return sum(stage["wall_ms"] for stage in report["stages"] if stage["stage"] not in ("read", "write")) / 1e3


def main():
    parser = arguments(__doc__)
    parser.add_argument("--marks", default="marks.png")
    options = parser.parse_args()
    photo = Image.open(PHOTO)
    pixels = np.asarray(photo)
    marks(photo.size).save(options.marks)
    seeds = np.asarray(Image.open(options.marks))
    found = {}

    def program():
        path = os.path.splitext(options.output)[0] + "-labels.npy"
        report = report_of(options.segment, PHOTO, "--seeds", options.marks, "-o", path)
        found["segment"] = np.load(path)
        found["stages"] = {stage["stage"]: round(stage["wall_ms"]) for stage in report["stages"]}
        os.remove(path)
        return stages(report)

    def peer():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found["skimage"] = random_walker(pixels / 255, seeds.astype(int), mode="cg_mg", channel_axis=-1)

    seconds = in_turns(options.rounds, segment=program, skimage=peer)
    agree = np.mean(found["segment"] == found["skimage"])
    print(f"{photo.width}x{photo.height}: seconds {seconds}, of segment the last {found['stages']}; "
          f"{agree:.1%} of the pixels have one label")
    drawn = np.array(pixels)
    drawn[seeds > 0] = COLOURS[seeds[seeds > 0]]
    beside(options.output, [
        (drawn, "strokes"),
        (tinted(pixels, found["segment"]), f"segment --seeds: {seconds['segment']:.2f} s"),
        (tinted(pixels, found["skimage"]), f"scikit-image random_walker: {seconds['skimage']:.2f} s")], 330, 96)


if __name__ == "__main__":
    main()
