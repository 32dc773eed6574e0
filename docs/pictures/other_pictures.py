#!/usr/bin/env python3
"""Draws pictures that are no photographs, segments them in several ways, and scores the labels: the table of
docs/accuracy.md (numpy, scipy, Pillow, scikit-image).

    other_pictures.py FOLDER [--count 6] [--segment PROGRAM] [--evaluate PROGRAM]

FOLDER gets pictures/, truth/ (label images: what a person would want as regions), and the labels of each way.
Textures are scikit-image's brick, grass, gravel, coins, moon and ihc.
"""
import argparse
import json
import pathlib
import subprocess

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy.ndimage import gaussian_filter, zoom
from skimage import data

WIDE, HIGH = 480, 320
WAYS = {"default": [], "quality": ["--config", "quality"], "gradient": ["--boundary", "gradient"],
        "micrographs": ["--config", "micrographs"], "scene": ["--config", "scene"]}
WORDS = "the matrix of weights holds one entry for each pair of pixels that lie near each other".split()


def sites(random, count):
    """A Voronoi map of random sites: numbers from 1."""
    y, x = np.mgrid[:HIGH, :WIDE]
    points = random.uniform((0, 0), (WIDE, HIGH), (count, 2))
    points += (points[:, None] - points).sum(1) / count * 0.2  # A little apart.
    return np.argmin((x[..., None] - points[:, 0]) ** 2 + (y[..., None] - points[:, 1]) ** 2, -1) + 1


def sides(numbers):
    """Pixels whose right or lower neighbour has another number."""
    found = np.zeros(numbers.shape, bool)
    found[:, :-1] |= numbers[:, 1:] != numbers[:, :-1]
    found[:-1] |= numbers[1:] != numbers[:-1]
    return found


def write(draw, random, box, size, colour):
    """Fills a box with lines of words."""
    font = ImageFont.load_default(size)
    for top in range(box[1], box[3] - size, round(size * 1.4)):
        line = ""
        while draw.textlength(line + "mmmmmm ", font) < box[2] - box[0]:
            line += WORDS[random.integers(len(WORDS))] + " "
        draw.text((box[0], top), line, colour, font)


class Board:
    """A picture that is drawn in colours and, beside it, in numbers of regions."""

    def __init__(self, colour):
        self.picture, self.truth = Image.new("RGB", (WIDE, HIGH), colour), Image.new("I", (WIDE, HIGH), 1)
        self.draw, self.mark, self.regions = ImageDraw.Draw(self.picture), ImageDraw.Draw(self.truth), 1

    def shape(self, kind, where, colour, **rest):
        self.regions += 1
        getattr(self.draw, kind)(where, fill=colour, **rest)
        getattr(self.mark, kind)(where, fill=self.regions)

    def done(self):
        return np.array(self.picture), np.array(self.truth)


def colour(random, low=0, high=256):
    return tuple(int(c) for c in random.integers(low, high, 3))


def document(random):
    """Columns of paragraphs and a photograph on a scanned page."""
    board = Board((246, 243, 235))
    for left in (20, 250):
        top = 15
        while top < HIGH - 60:
            low = min(top + int(random.integers(50, 130)), HIGH - 12)
            board.regions += 1
            board.mark.rectangle((left, top, left + 210, low), fill=board.regions)
            if random.random() < 0.3:
                part = data.camera() if random.random() < 0.5 else data.coins()
                board.picture.paste(Image.fromarray(part).resize((211, low - top + 1)), (left, top))
            else:
                write(board.draw, random, (left, top, left + 210, low), 11, (30, 30, 34))
            top = low + 18
    pixels, truth = board.done()
    return gaussian_filter(pixels.astype(float), (0.5, 0.5, 0)) + random.normal(0, 4, pixels.shape), truth


def drawing(random):
    """Flat shapes with black outlines, one before another."""
    board = Board(colour(random, 150))
    for _ in range(12):
        x, y = random.uniform((0, 0), (WIDE, HIGH))
        wide, high = random.uniform(30, 110, 2)
        if random.random() < 0.5:
            board.shape("ellipse", (x - wide, y - high, x + wide, y + high), colour(random), outline=(0, 0, 0), width=3)
        else:
            angles = np.sort(random.uniform(0, 2 * np.pi, 6))
            corners = [(x + wide * np.cos(a), y + high * np.sin(a)) for a in angles]
            board.shape("polygon", corners, colour(random), outline=(0, 0, 0), width=3)
    return board.done()


def plan(random):
    """A map: areas in pale colours, thin borders, names and roads."""
    truth = sites(random, 14)
    pale = random.integers(190, 250, (15, 3))
    picture = Image.fromarray(np.where(sides(truth)[..., None], 110, pale[truth]).astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    for _ in range(4):
        draw.line([tuple(p) for p in random.uniform((0, 0), (WIDE, HIGH), (5, 2))], (235, 170, 80), 3)
    for number in range(1, 15):
        y, x = np.argwhere(truth == number).mean(0) if (truth == number).any() else (0, 0)
        draw.text((x - 20, y - 6), WORDS[number % len(WORDS)].upper(), (60, 60, 60), ImageFont.load_default(12))
    return np.array(picture), truth


def screen(random):
    """Windows with title bars and text before a plain background."""
    board = Board(colour(random, 40, 140))
    for _ in range(4):
        x, y = (int(v) for v in random.uniform((0, 0), (WIDE - 160, HIGH - 110)))
        right, low = x + int(random.integers(150, 260)), y + int(random.integers(100, 180))
        board.shape("rectangle", (x, y, right, low), colour(random, 225))
        board.shape("rectangle", (x, y, right, y + 18), colour(random, 60, 200))
        board.shape("rectangle", (x, y + 19, x + 44, low), colour(random, 170, 225))
        write(board.draw, random, (x + 52, y + 26, right - 6, low - 4), 11, (40, 40, 40))
    return board.done()


def xray(random):
    """Soft bodies that add up, dim and noisy."""
    y, x = np.mgrid[:HIGH, :WIDE]
    light, truth = np.full((HIGH, WIDE), 40.0), np.zeros((HIGH, WIDE), int)
    for number in range(7):
        middle, axes = random.uniform((60, 60), (WIDE - 60, HIGH - 60)), random.uniform(30, 110, 2)
        inside = ((x - middle[0]) / axes[0]) ** 2 + ((y - middle[1]) / axes[1]) ** 2 < 1
        light += inside * random.uniform(18, 40)
        truth += inside * 2 ** number
    light = gaussian_filter(light, 2) + random.normal(0, 7, light.shape)
    return np.repeat(light[..., None], 3, 2), np.unique(truth, return_inverse=True)[1].reshape(truth.shape) + 1


def fields(random):
    """Fields seen from above: soil, crops and rows, lightly hazy."""
    truth = sites(random, 20)
    y, x = np.mgrid[:HIGH, :WIDE]
    tones = np.array([(120, 100, 70), (90, 120, 60), (70, 100, 55), (150, 140, 90), (110, 125, 75)])
    picture = np.zeros((HIGH, WIDE, 3))
    for number in range(1, 21):
        turn, tone = random.uniform(0, np.pi), tones[random.integers(5)] * random.uniform(0.85, 1.15)
        rows = 6 * np.sin((x * np.cos(turn) + y * np.sin(turn)) * random.uniform(0.5, 1.2))
        picture += (truth == number)[..., None] * (tone + rows[..., None])
    return gaussian_filter(picture, (0.7, 0.7, 0)) * 0.8 + 40 + random.normal(0, 5, picture.shape), truth


def textures(random):
    """A mosaic of grey textures, all as bright on average."""
    truth, kinds = sites(random, 6), [data.brick(), data.grass(), data.gravel()]
    picture = np.zeros((HIGH, WIDE))
    for number in range(1, 7):
        whole = zoom(kinds[number % 3].astype(float), random.uniform(0.95, 1.3), order=1)
        top, left = random.integers(0, whole.shape[0] - HIGH), random.integers(0, max(1, whole.shape[1] - WIDE))
        part = whole[top:top + HIGH, left:left + WIDE]
        picture += (truth == number) * (part - part.mean() + 120)
    return np.repeat(picture[..., None], 3, 2), truth


KINDS = {"documents": document, "drawings": drawing, "maps": plan, "screens": screen, "x-rays": xray,
         "fields": fields, "textures": textures}


def score(program, labels, truth):
    found = subprocess.run([program, labels, "--truth", truth, "--kind", "labels", "--json", "-", "--quiet"],
                           check=True, capture_output=True, text=True).stdout
    return json.loads(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=6, help="pictures of each kind")
    parser.add_argument("--segment", default="segment", help="the program")
    parser.add_argument("--evaluate", default="diacut-evaluate", help="the program")
    options = parser.parse_args()
    print("| |" + "|".join(WAYS) + "|")
    for kind, draw in KINDS.items():
        folder = options.folder / kind
        for name in ("pictures", "truth"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for k in range(options.count):
            pixels, truth = draw(np.random.default_rng(100 * k + sum(map(ord, kind))))
            Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(folder / "pictures" / f"{k}.png")
            Image.fromarray(truth.astype(np.uint16)).save(folder / "truth" / f"{k}.png")
        row = []
        for way, words in WAYS.items():
            subprocess.run([options.segment, folder / "pictures", "-o", folder / way, "--overlay",
                            folder / f"{way}-overlays", *words, "--quiet"], check=True)
            found = score(options.evaluate, folder / way, folder / "truth")["regions"]
            row.append(f"{found['covering']['ods']:.3f}, {found['vi']['ods']:.2f}")
        print(f"| {kind} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
