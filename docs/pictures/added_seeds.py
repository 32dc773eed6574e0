#!/usr/bin/env python3
"""What starting from the last answer saves: the figures of docs/seeds.md, "Seeds added later".

    added_seeds.py [--segment PROGRAM] [--rounds 3]

Takes the strokes on images/coffee.jpg that marks_picture.py draws, first one of each label, then one more at a time,
as somebody does who mends labels. Each time `segment --seeds` runs anew and from the probabilities of the run
before (--start-from), in turns, and with a tolerance of 1e-6. Prints iterations, the median milliseconds of the
random walk, and how many labels differ from those of that tolerance.
"""
import argparse
import os
import statistics
import tempfile

import numpy as np
from marks_picture import PHOTO, STROKES
from panels import report_of
from PIL import Image, ImageDraw


def drawn(size, lines):
    image = Image.new("L", size)
    draw = ImageDraw.Draw(image)
    for label, line in lines:
        draw.line(line, fill=label, width=4)
    return image


class Walks:
    """Runs of `segment` with one set of seeds after another, in a folder."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, probabilities, *more):
        """Labels, iterations and milliseconds of the random walk."""
        report = report_of(self.program, PHOTO, "--seeds", self.path("marks.png"), "-o", self.path("labels.npy"),
                           "--probabilities", self.path(probabilities), *more)
        walk = next(stage["wall_ms"] for stage in report["stages"] if stage["stage"] == "random walk")
        return np.load(self.path("labels.npy")), report["walk"]["iterations"], walk


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--segment", default="segment")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    size = Image.open(PHOTO).size
    lines = [(label, each[0]) for label, each in STROKES.items()]
    later = [(label, line) for label, each in STROKES.items() for line in each[1:]]
    with tempfile.TemporaryDirectory() as folder:
        walks = Walks(options.segment, folder)
        drawn(size, lines).save(walks.path("marks.png"))
        walks.run("last.npy")
        sums = np.zeros(4)
        for stroke in later:
            lines.append(stroke)
            drawn(size, lines).save(walks.path("marks.png"))
            tight = walks.run("x.npy", "--set", "walker.tolerance=1e-6")[0]
            times = {"anew": [], "started": []}
            for _ in range(options.rounds):
                anew, anew_iterations, ms = walks.run("x.npy")
                times["anew"].append(ms)
                started, iterations, ms = walks.run("next.npy", "--start-from", walks.path("last.npy"))
                times["started"].append(ms)
            os.replace(walks.path("next.npy"), walks.path("last.npy"))
            row = [anew_iterations, iterations, *(statistics.median(each) for each in times.values())]
            sums += row
            print(f"stroke {len(lines)}, label {stroke[0]}: iterations {row[0]} anew, {row[1]} started; random walk "
                  f"{row[2]:.0f} and {row[3]:.0f} ms; {np.sum(anew != tight)} and {np.sum(started != tight)} of "
                  f"{tight.size} labels differ from those of a tolerance of 1e-6", flush=True)
        print("means:", *(f"{value:.1f}" for value in sums / len(later)))


if __name__ == "__main__":
    main()
