#!/usr/bin/env python3
"""Makes the first picture of README.md: a photograph, eigenvectors, contours and labels side by side.

    stages_picture.py OUTPUT.jpg [--photo images/astronaut.jpg] [--segment PROGRAM]
"""
import os
import tempfile

import numpy as np
from PIL import Image, ImageOps

from panels import ROOT, arguments, run

SHOWN = (1, 2, 4)  # Eigenvectors, the trivial one being 0.
HEIGHT = 180
GAP = 4


def grey(path):
    """A picture of 16 bits, from its least to its largest value."""
    values = np.asarray(Image.open(path), dtype=float)
    return Image.fromarray((255 * (values - values.min()) / np.ptp(values)).astype(np.uint8)).convert("RGB")


def main():
    parser = arguments(__doc__)
    parser.add_argument("--photo", default=os.path.join(ROOT, "images", "astronaut.jpg"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)

        os.mkdir(path("vectors"))
        run(options.segment, options.photo, "--eigenvectors", path("vectors"), "--contours", path("contours.png"),
            "-o", path("labels.png"), "--indexed")
        vectors = sorted(name for name in os.listdir(path("vectors")) if name.startswith("eigenvector"))
        pictures = [Image.open(options.photo).convert("RGB")]
        pictures += [grey(os.path.join(path("vectors"), vectors[k - 1])) for k in SHOWN]
        pictures.append(ImageOps.invert(grey(path("contours.png"))))
        pictures.append(Image.open(path("labels.png")).convert("RGB"))
        width = round(pictures[0].width * HEIGHT / pictures[0].height)
        sheet = Image.new("RGB", (len(pictures) * (width + GAP) - GAP, HEIGHT), "white")
        for k, picture in enumerate(pictures):
            sheet.paste(picture.resize((width, HEIGHT), Image.Resampling.LANCZOS), (k * (width + GAP), 0))
        sheet.save(options.output, quality=92)


if __name__ == "__main__":
    main()
