#!/usr/bin/env python3
"""Draws pictures that are no photographs, with the regions that a person would want of them.

    drawn.py --data BSDS500 --out DIR [--count 100] [--seed 1] [--fold K/N]

writes DIR/pictures/KIND-NUMBER.png and DIR/truth/KIND-NUMBER.mat, as BSDS500's, for app/learn/fit_merging.py and to
look at. train.py and embedding.py draw their own with --drawn. Textures and figures are parts of the train
photographs, with --fold of those that train.py leaves out.

Each kind draws on a Board in the sizes of a large picture, and the Board reduces it to what the network sees of one.
Region 0 is not learned: what is too small to be asked for. Letters, roads and outlines belong to what they lie on.
Needs NumPy, SciPy and Pillow; fonts are those of /usr/share/fonts, and Pillow's own.
"""
import argparse
import glob
import io
import multiprocessing
import os
import re

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage
from scipy.spatial import cKDTree

from data import Pictures, fold_of, load_contours, together

EACH = 8  # Pictures that training draws for each photograph.
LONG = (300, 640)  # The longer side of a picture.
LEAST = 40  # Smaller regions are not learned, in pixels.
PATCH = 40  # The least side of a texture that is a part of a photograph.
FONTS = [p for p in sorted(glob.glob("/usr/share/fonts/**/*.[to]tf", recursive=True))
         if not re.search("lyx|Math|Symbol|Emoji|Dingbat", p)]
SIZED = "size" in ImageFont.load_default.__code__.co_varnames  # Pillow's own font has one size before 10.1.
LETTERS, SHARES = "etaoinshrdlucmfwypvbgk", np.linspace(3, 0.5, 22)
NEW, SAME, NONE = "new", "same", "none"  # A shape's region: one of its own, what is below it, none.


# Colours and paints.

def colour(random, low=0, high=255):
    return random.uniform(low, high, 3)


def palette(random, count, least=24):
    """Colours of one mood, most of them `least` or more apart in one channel."""
    mood = random.integers(5)
    base = colour(random, 40, 215)
    found = []
    while len(found) < count:
        for _ in range(25):
            if mood == 0:
                new = colour(random)
            elif mood == 1:
                new = colour(random, 170, 255)
            elif mood == 2:
                new = colour(random, 0, 120)
            elif mood == 3:
                new = base + random.normal(0, 30, 3)
            else:
                new = np.full(3, random.uniform(10, 245)) + random.normal(0, 4, 3)
            new = np.clip(new, 0, 255)
            if all(np.abs(new - old).max() >= least for old in found):
                break
        found.append(new)
    return found


def clouds(random, shape, size):
    """Smooth noise of deviation 1."""
    grid = random.normal(0, 1, [int(n / size) + 3 for n in shape])
    grid = ndimage.zoom(grid, [(n + 2) / (m - 1) for n, m in zip(shape, grid.shape)], order=1)[: shape[0], : shape[1]]
    return (grid - grid.mean()) / (grid.std() + 1e-6)


def waves(random, shape, period, hard):
    """Parallel lines, from -1 to 1."""
    turn = random.uniform(0, np.pi)
    y, x = np.ogrid[: shape[0], : shape[1]]
    wave = np.sin((x * np.cos(turn) + y * np.sin(turn)) * 2 * np.pi / period + random.uniform(0, 6))
    return np.where(wave > random.uniform(0, 0.9), 1.0, -1.0) if hard else wave


def texture(random, shape, patches, depth):
    """A plane or three of about the deviation `depth` and the mean 0."""
    kind = random.integers(6)
    if kind == 0 and patches:
        patch = patches[random.integers(len(patches))]
        times = [-(-n // m) for n, m in zip(shape, patch.shape)]
        pad = [(0, m * (k - 1)) for m, k in zip(patch.shape, times)]
        tiled = np.pad(patch, pad + [(0, 0)], mode="symmetric")[: shape[0], : shape[1]]
        return tiled * depth / (patch.std() + 4)
    if kind == 1:
        return clouds(random, shape, random.uniform(2, 30))[..., None] * depth
    if kind == 2:
        return waves(random, shape, random.uniform(4, 20), True)[..., None] * depth
    if kind == 3:
        return waves(random, shape, random.uniform(3, 16), False)[..., None] * depth
    if kind == 4:
        return random.normal(0, depth, shape)[..., None]
    both = waves(random, shape, random.uniform(5, 20), True) + waves(random, shape, random.uniform(5, 20), True)
    return both[..., None] * depth / 1.4


class Paint:
    """A colour, a shading, or a texture about a colour."""

    def __init__(self, random, tone, textured=0.0, shaded=0.0, depth=(4, 30), patches=()):
        self.random, self.tone, self.patches = random, np.asarray(tone, float), patches
        self.kind = "texture" if random.random() < textured else "shade" if random.random() < shaded else "flat"
        self.depth = random.uniform(*depth)

    def __call__(self, shape):
        plane = np.broadcast_to(self.tone, (*shape, 3))
        if self.kind == "texture":
            return plane + texture(self.random, shape, self.patches, self.depth)
        if self.kind == "shade":
            y, x = np.mgrid[-1 : 1 : shape[0] * 1j, -1 : 1 : shape[1] * 1j]
            turn = self.random.uniform(0, 2 * np.pi)
            wave = x * np.cos(turn) + y * np.sin(turn) if self.random.random() < 0.6 else 0.7 - x * x - y * y
            return plane + (wave * self.depth * 1.3)[..., None]
        return plane


# Outlines, as arrays of points.

def box(x0, y0, x1, y1, corner=0.0):
    if corner < 1:
        return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], float)
    turn = np.linspace(0, np.pi / 2, 5)
    arc = corner * np.stack([1 - np.cos(turn), 1 - np.sin(turn)], 1)
    flipped = arc[::-1]
    return np.concatenate([(x0, y0) + arc, (x1, y0) + flipped * (-1, 1), (x1, y1) - arc, (x0, y1) + flipped * (1, -1)])


def oval(x, y, wide, high, turn=0.0, rough=(), points=60):
    """An ellipse; rough: the sizes and phases of waves on its outline."""
    at = np.linspace(0, 2 * np.pi, points, endpoint=False)
    radius = 1 + sum((size * np.cos(k * at + phase) for k, (size, phase) in enumerate(rough, 2)), 0 * at)
    px, py = wide * radius * np.cos(at), high * radius * np.sin(at)
    return np.stack([x + px * np.cos(turn) - py * np.sin(turn), y + px * np.sin(turn) + py * np.cos(turn)], 1)


def blob(random, x, y, size, rough=0.15):
    waves_ = [(random.normal(0, rough / k), random.uniform(0, 6)) for k in range(1, 5)]
    return oval(x, y, size * random.uniform(0.5, 1.3), size * random.uniform(0.5, 1.3), random.uniform(0, 3), waves_)


def shape_at(random, x, y, size):
    kind = random.integers(4)
    if kind == 0:
        return oval(x, y, size * random.uniform(0.4, 1.2), size * random.uniform(0.4, 1.2), random.uniform(0, 3))
    if kind == 1:
        wide, high = size * random.uniform(0.4, 1.2, 2)
        return box(x - wide, y - high, x + wide, y + high, random.choice([0, size * 0.2]))
    if kind == 2:
        at = np.sort(random.uniform(0, 2 * np.pi, random.integers(3, 8)))
        return np.stack([x + size * np.cos(at), y + size * np.sin(at)], 1)
    return blob(random, x, y, size)


def course(random, points, rough=0.12):
    """A broken line, made crooked by displacing the middles of its parts."""
    points = np.asarray(points, float)
    for _ in range(4):
        step = np.diff(points, axis=0)
        middle = points[:-1] + step / 2 + step[:, ::-1] * (-1, 1) * random.normal(0, rough, (len(step), 1))
        both = np.empty((len(points) + len(middle), 2))
        both[::2], both[1::2] = points, middle
        points = both
    return points


class Board:
    """A picture and its regions, both of the size in which things are drawn: `scale` times what is written."""

    def __init__(self, random, source, upright=False):
        self.random, self.photographs, self.patches = random, *source
        long = np.exp(random.uniform(*np.log(LONG)))
        other = long * random.uniform(0.55, 1)
        high = upright or random.random() < 0.3
        self.size = [round(v) for v in ((other, long) if high else (long, other))]
        self.scale = random.uniform(1, 1.8)
        self.w, self.h = (round(v * self.scale) for v in self.size)
        self.unit = self.scale * long / 480  # Of lengths, for a picture of 480 pixels.
        self.pixels = np.zeros((self.h, self.w, 3), np.float32)
        self.regions, self.count = np.ones((self.h, self.w), np.int32), 1
        self.clip = (0, 0, self.w, self.h)

    def within(self, place):
        """Lets nothing be drawn outside of a box, until self.clip is set again. Returns what was before."""
        kept, (x0, y0, x1, y1) = self.clip, (int(v) for v in place)
        self.clip = (max(x0, 0), max(y0, 0), min(x1, self.w), min(y1, self.h))
        return kept

    def paint(self, tone, **how):
        return Paint(self.random, tone, patches=self.patches, **how)

    def ground(self, paint):
        self.pixels[:] = paint((self.h, self.w)) if callable(paint) else paint

    def place(self):
        return self.random.uniform((0, 0), (self.w, self.h))

    def put(self, points, paint, region, draw):
        """draw(draw of a mask, the points moved) marks what is painted, within self.clip."""
        points = np.asarray(points, float)
        low, high = points.min(0).astype(int) - 12, points.max(0).astype(int) + 13
        x0, y0 = np.maximum(low, self.clip[:2])
        x1, y1 = np.minimum(high, self.clip[2:])
        if x1 <= x0 or y1 <= y0:
            return
        mask = Image.new("L", (int(x1 - x0), int(y1 - y0)))
        draw(ImageDraw.Draw(mask), [tuple(p) for p in points - (x0, y0)])
        self.cover(np.asarray(mask) > 127, paint, region, (x0, y0))

    def cover(self, mask, paint, region=NEW, at=(0, 0)):
        part = np.s_[at[1] : at[1] + mask.shape[0], at[0] : at[0] + mask.shape[1]]
        if paint is not None:
            colours = np.broadcast_to(paint(mask.shape) if callable(paint) else paint, (*mask.shape, 3))
            self.pixels[part][mask] = colours[mask]
        if region != SAME:
            self.count += region == NEW
            self.regions[part][mask] = self.count if region == NEW else 0

    def divide(self, numbers, paint_of):
        """A region for each number of a map, from 0."""
        for k, part in enumerate(ndimage.find_objects(numbers + 1)):
            if part:
                self.cover(numbers[part] == k, paint_of(k), at=(part[1].start, part[0].start))

    def area(self, points, paint, region=NEW, line=None, width=1):
        self.put(points, paint, region, lambda draw, at: draw.polygon(at, fill=255))
        if line is not None:
            self.stroke([*points, points[0], points[1]], line, width)

    def stroke(self, points, tone, width=1):
        width = max(1, round(width))
        self.put(points, tone, SAME, lambda draw, at: draw.line(at, fill=255, width=width, joint="curve"))

    def photograph(self, place):
        """A part of a photograph in a box, as a Paint."""
        x0, y0, x1, y1 = (int(v) for v in place)
        whole = self.photographs[self.random.integers(len(self.photographs))]
        resized = np.asarray(Image.fromarray(whole).resize((x1 - x0 + 30, y1 - y0 + 30)), np.float32)
        return lambda shape: resized[: shape[0], : shape[1]]

    # Letters.

    def font(self, size):
        size = max(4, round(size))
        k = self.random.integers(len(FONTS) + 1)
        if k < len(FONTS):
            return ImageFont.truetype(FONTS[k], size)
        return ImageFont.load_default(*([size] if SIZED else []))

    def words(self, count):
        """About so many letters."""
        letters = self.random.choice(list(LETTERS), count, p=SHARES / SHARES.sum())
        gap, at = self.random.integers(2, 10, count), 0
        for each in gap:
            at += each
            if at < count:
                letters[at] = " "
        return "".join(letters).strip().capitalize()

    def lines(self, place, size, ink, font=None, lead=1.3, ragged=0.0):
        """Lines of text that fill a box. Returns where the last one ends."""
        x0, y0, x1, y1 = (int(v) for v in place)
        x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, self.w), min(y1, self.h)
        if x1 - x0 < 4 or y1 - y0 < 4:
            return y0
        random, font = self.random, font or self.font(size)
        mask = Image.new("L", (x1 - x0, y1 - y0))
        draw, top = ImageDraw.Draw(mask), 0
        letters = max(1, int((x1 - x0) / max(1, font.getlength("etaoin shrdl") / 12)))
        tops = np.arange(0, max(1, y1 - y0 - size * 0.8), size * lead)
        for k, top in enumerate(tops):
            share = random.uniform(0.2, 1) if k + 1 == len(tops) and k else 1.1 - ragged * random.random()
            draw.text((0, top - size * 0.1), self.words(max(1, int(letters * share))), 255, font)
        share = np.asarray(mask, np.float32)[..., None] / 255
        part = self.pixels[y0:y1, x0:x1]
        part += share * (np.asarray(ink) - part)
        return y0 + top + size * 1.1

    def bars(self, place, size, ink, lead=1.5):
        """Scribbled words, or grey bars in the place of words."""
        x0, y0, x1, y1 = place
        scribbled = self.random.random() < 0.6
        for top in np.arange(y0, max(y0 + 1, y1 - size), size * lead):
            x = x0
            while x < x1 - 2 * size:
                wide = min(size * self.random.uniform(1, 5), x1 - x)
                if scribbled:
                    at = np.arange(0, wide, max(1, size / 5))
                    y = top + size * (0.5 + 0.3 * np.sin(at * 5 / size + self.random.uniform(0, 6)) +
                                      self.random.normal(0, 0.15, len(at)))
                    if len(at) > 1:
                        self.stroke(np.stack([x + at, y], 1), ink, size / 9)
                else:
                    self.area(box(x, top + size * 0.2, x + wide, top + size * 0.8), ink, SAME)
                x += wide + size * 0.5

    # The result.

    def done(self):
        """The picture, 8 bits, and its regions, in the size that is learned from."""
        random = self.random
        how = random.choice([Image.BOX, Image.BILINEAR, Image.LANCZOS, Image.NEAREST], p=[0.4, 0.3, 0.2, 0.1])
        small = Image.fromarray(np.clip(self.pixels, 0, 255).astype(np.uint8)).resize(self.size, how)
        if random.random() < 0.3:
            file = io.BytesIO()
            small.save(file, "JPEG", quality=int(random.integers(30, 95)))
            small = Image.open(file).convert("RGB")
        pixels = np.asarray(small, np.float32)
        if random.random() < 0.25:
            light = clouds(random, pixels.shape[:2], random.uniform(100, 400))
            pixels = pixels * (1 + random.uniform(0.02, 0.08) * light[..., None])
        if random.random() < 0.3:
            pixels = ndimage.gaussian_filter(pixels, (*[random.uniform(0.3, 1)] * 2, 0))
        if random.random() < 0.5:
            pixels = pixels + random.normal(0, random.uniform(1, 7), (*pixels.shape[:2], random.choice([1, 3])))
        if random.random() < 0.12:
            pixels = np.repeat(pixels @ np.array([[.3], [.59], [.11]], np.float32), 3, 2)
        rows, columns = (((np.arange(n) + 0.5) * m / n).astype(int) for n, m in zip(self.size[::-1], (self.h, self.w)))
        regions = self.regions[rows][:, columns]
        few = np.bincount(regions.ravel()) < LEAST
        regions = np.where(few[regions], 0, regions)
        return np.clip(pixels, 0, 255).astype(np.uint8), regions.astype(np.int16)


# Divisions of the whole picture.

def cells(board, count, warp=0.0, even=False):
    """A map of the nearest of random sites, from 0; warp: how far its borders stray, in pixels."""
    random, (h, w) = board.random, (board.h, board.w)
    points = random.uniform((0, 0), (w, h), (count, 2))
    if even:
        for _ in range(2):
            probes = random.uniform((0, 0), (w, h), (count * 60, 2))
            near = cKDTree(points).query(probes)[1]
            points = np.stack([probes[near == k].mean(0) if (near == k).any() else points[k] for k in range(count)])
    y, x = np.mgrid[:h:2, :w:2].astype(np.float32)
    if warp:
        x, y = (v + warp * (0.7 * clouds(random, v.shape, 25) + 0.4 * clouds(random, v.shape, 6)) for v in (x, y))
    near = cKDTree(points).query(np.stack([x, y], -1).reshape(-1, 2))[1].reshape(x.shape)
    return near.repeat(2, 0).repeat(2, 1)[:h, :w]


def parcels(board, least):
    """A map of boxes that are divided again and again, turned a little as a whole."""
    random = board.random
    numbers = np.zeros((board.h * 2, board.w * 2), np.int32)
    heap, count = [(0, 0, board.w * 2, board.h * 2)], 0
    while heap:
        x0, y0, x1, y1 = heap.pop()
        wide, high = x1 - x0, y1 - y0
        if max(wide, high) < 2 * least or (max(wide, high) < 5 * least and random.random() < 0.25):
            numbers[y0:y1, x0:x1] = count
            count += 1
            continue
        if wide * random.uniform(0.6, 1.6) > high:
            middle = int(x0 + wide * random.uniform(0.3, 0.7))
            heap += [(x0, y0, middle, y1), (middle, y0, x1, y1)]
        else:
            middle = int(y0 + high * random.uniform(0.3, 0.7))
            heap += [(x0, y0, x1, middle), (x0, middle, x1, y1)]
    turn, skew = random.uniform(-0.6, 0.6), random.normal(0, 0.15)
    y, x = np.mgrid[: board.h, : board.w]
    y, x = y - board.h / 2, x - board.w / 2
    column = (x * np.cos(turn) + y * (np.sin(turn) + skew) + board.w).astype(int) % (board.w * 2)
    row = (y * np.cos(turn) - x * np.sin(turn) + board.h).astype(int) % (board.h * 2)
    return np.unique(numbers[row, column], return_inverse=True)[1].reshape(board.h, board.w)


def borders(numbers, width):
    found = np.zeros(numbers.shape, bool)
    found[:, :-1] |= numbers[:, 1:] != numbers[:, :-1]
    found[:-1] |= numbers[1:] != numbers[:-1]
    return ndimage.binary_dilation(found, iterations=max(0, round(width / 2 - 0.5))) if width > 1.5 else found


# The kinds.

def page(board):
    random, u = board.random, board.unit
    dark = random.random() < 0.1
    paper = colour(random, 10, 60) if dark else colour(random, 215, 256) if random.random() < 0.8 else colour(
        random, 150, 256)
    ink = paper + (random.uniform(120, 190) if dark else -random.uniform(110, 220))
    board.ground(board.paint(paper, textured=0.15, depth=(1, 5)))
    size, lead = u * np.exp(random.uniform(np.log(4.5), np.log(15))), random.uniform(1.1, 1.7)
    font, ragged = board.font(size), random.choice([0, 0.5])
    scribbled = random.random() < 0.15
    margin, columns = random.uniform(8, 50) * u, random.integers(1, 4 if size < 9 * u else 3)
    gutter = random.uniform(1.2, 3) * size
    wide = (board.w - 2 * margin - gutter * (columns - 1)) / columns
    top = margin
    if random.random() < 0.5:
        top = block(board, "title", (margin, top, board.w - margin), size, font, lead, ragged, ink) + size
    for k in range(columns):
        left, y = margin + k * (wide + gutter), top
        while y < board.h - margin - 2 * size:
            kind = random.choice(["text", "title", "figure", "table", "gap"], p=[0.6, 0.12, 0.17, 0.06, 0.05])
            kind = "scribble" if kind == "text" and scribbled else kind
            y = block(board, kind, (left, y, left + wide), size, font, lead, ragged, ink)
            y += size * (lead - 1 + random.uniform(0.6, 2.2))
        if columns > 1 and random.random() < 0.1:
            board.stroke([(left - gutter / 2, top), (left - gutter / 2, board.h - margin)], ink, u)


def block(board, kind, place, size, font, lead, ragged, ink):
    """Part of a page below place, which is left, top and right. Returns its lower edge."""
    random, (x0, y, x1) = board.random, place
    room = board.h - size - y
    if kind == "gap" or room < size or x1 - x0 < 3 * size:
        return y + size * random.uniform(1, 8)
    if kind == "title":
        large = size * random.uniform(1.2, 2.4)
        low = min(y + large * random.integers(1, 3) * 1.2, board.h)
        x1 = x0 + (x1 - x0) * random.uniform(0.4, 1)
        board.lines((x0, y, x1, low), large, ink, lead=1.2)
        board.area(box(x0 - 1, y - 1, x1 + 1, low + 1), None)
        return low
    if kind in ("text", "scribble"):
        low = min(y + size * lead * random.integers(2, 14), y + room)
        if kind == "text":
            low = min(board.lines((x0, y, x1, low), size, ink, font, lead, ragged), board.h)
        else:
            board.bars((x0, y, x1, low), size * 1.3, ink, lead)
        board.area(box(x0 - 1, y - 1, x1 + 1, low), None)
        return low
    high = min((x1 - x0) * random.uniform(0.3, 1.1), room)
    if kind == "table":
        return table(board, (x0, y, x1, y + high), size, ink)
    figure(board, (x0, y, x1, y + high), size, ink)
    return y + high


def table(board, place, size, ink):
    random, (x0, y0, x1, y1) = board.random, place
    board.area(box(*place), board.pixels[int(y0) % board.h, int(x0) % board.w] + random.choice([0, -12]), line=ink)
    for y in np.arange(y0, y1 - size, size * 1.6):
        if random.random() < 0.9:
            board.stroke([(x0, y), (x1, y)], ink, 1)
        for x in np.linspace(x0, x1, 5)[:-1]:
            board.lines((x + 2, y + 2, x + (x1 - x0) / 6, y + size * 1.5), size, ink)
    return y1


def figure(board, place, size, ink):
    """One region: a photograph, a drawing, or a chart."""
    random, (x0, y0, x1, y1) = board.random, place
    kind, tone = random.integers(3), colour(random, 60, 256)
    paint = board.photograph(place) if kind == 0 else board.paint(tone, textured=0.4, shaded=0.5)
    board.area(box(*place), paint, line=ink if random.random() < 0.4 else None)
    kept = board.within(place)
    if kind == 1:
        for _ in range(random.integers(0, 6)):
            at = random.uniform((x0, y0), (x1, y1))
            board.area(shape_at(random, *at, (x1 - x0) * 0.2), colour(random), SAME)
    elif kind == 2:
        for x in np.linspace(x0, x1, random.integers(4, 12))[:-1] if random.random() < 0.5 else ():
            board.area(box(x + 2, random.uniform(y0, y1), x + (x1 - x0) / 14, y1 - 3), tone * 0.5, SAME)
        for _ in range(random.integers(1, 4)):
            x = np.linspace(x0, x1, 30)
            board.stroke(np.stack([x, y0 + (y1 - y0) * (0.5 + 0.1 * np.cumsum(random.normal(0, 0.6, 30)))], 1),
                         colour(random, 0, 140), 1 + random.integers(2))
        board.lines((x0 + 4, y0 + 3, x0 + (x1 - x0) * 0.5, y0 + 3 + size), size, ink)
    board.clip = kept


def figures_of(board, place, count, line, width):
    """Flat bodies, with outlines if `line` is not None, one before another."""
    random, (x0, y0, x1, y1) = board.random, place
    for tone in palette(random, count):
        at, size = random.uniform((x0, y0), (x1, y1)), min(x1 - x0, y1 - y0) * random.uniform(0.12, 0.4)
        paint = board.paint(tone, textured=0.12, shaded=0.25, depth=(4, 22))
        if random.random() < 0.4:  # Somebody: a body, a head, eyes.
            board.area(blob(random, at[0], at[1] + size, size), paint, line=line, width=width)
            board.area(oval(*at, size * 0.45, size * 0.55), colour(random, 120, 255), line=line, width=width)
            for side in (-0.18, 0.18):
                board.area(oval(at[0] + side * size, at[1], size * 0.05 + 1, size * 0.07 + 1), (20, 20, 20), SAME)
        else:
            board.area(shape_at(random, *at, size), paint, line=line, width=width)


def balloon(board, place, line, width):
    random, (x0, y0, x1, y1) = board.random, place
    wide, high = (x1 - x0) * random.uniform(0.2, 0.5), (y1 - y0) * random.uniform(0.12, 0.3)
    x, y = random.uniform(x0, max(x0 + 1, x1 - wide)), random.uniform(y0, max(y0 + 1, y1 - high))
    white = colour(random, 225, 256)
    outline = (box(x, y, x + wide, y + high, high * 0.3) if random.random() < 0.5 else
               oval(x + wide / 2, y + high / 2, wide / 2, high / 2))
    board.area(outline, white, line=line, width=width)
    size = max(5, min(high / 3.5, 12 * board.unit))
    board.lines((x + wide * 0.16, y + high * 0.22, x + wide * 0.86, y + high * 0.85), size, (20, 20, 20))


def comic(board):
    random, u = board.random, board.unit
    paper, line = colour(random, 225, 256) if random.random() < 0.8 else colour(random), colour(random, 0, 60)
    board.ground(paper)
    width, gutter = random.uniform(1, 4) * u, random.choice([0, random.uniform(3, 12)]) * u
    rows = random.integers(1, 4)
    tops = np.sort(random.uniform(0.15, 0.85, rows - 1)) if rows > 1 else []
    tops = np.concatenate([[0], tops, [1]]) * board.h
    for top, low in zip(tops[:-1], tops[1:]):
        count = random.integers(1, 4)
        sides = np.linspace(0, 1, count + 1) + np.r_[0, random.normal(0, 0.06, count - 1), 0]
        for left, right in zip(sides[:-1] * board.w, sides[1:] * board.w):
            place = (left + gutter, top + gutter, right - gutter, low - gutter)
            if place[2] - place[0] > 20 and place[3] - place[1] > 20:
                panel(board, place, line, width)


def panel(board, place, line, width):
    random, (x0, y0, x1, y1) = board.random, place
    drawn = line if random.random() < 0.75 else None
    board.area(box(*place), board.paint(colour(random, 60, 256), textured=0.15, shaded=0.3, depth=(3, 20)))
    kept = board.within(place)
    if random.random() < 0.6:  # The ground that they stand on.
        y = y0 + (y1 - y0) * random.uniform(0.4, 0.8)
        edge = course(random, [(x0 - 9, y), (x1 + 9, y + random.normal(0, 20))], 0.05)
        board.area([*edge, (x1 + 9, y1 + 9), (x0 - 9, y1 + 9)], board.paint(colour(random), textured=0.2), line=drawn,
                   width=width)
    figures_of(board, place, random.integers(1, 6), drawn, width)
    for _ in range(random.integers(0, 3)):
        balloon(board, place, line, width)
    if random.random() < 0.2:
        for _ in range(random.integers(4, 14)):
            at = random.uniform((x0, y0), (x1, y1))
            board.stroke([at, at + random.normal(0, 40, 2)], line, 1)
    board.clip = kept
    if random.random() < 0.8:
        board.stroke(box(x0, y0, x1, y1)[[0, 1, 2, 3, 0]], line, width)


def plan(board):
    """A map, or the plan of a building."""
    random, u = board.random, board.unit
    numbers = (parcels(board, random.uniform(40, 110) * u) if random.random() < 0.15 else
               cells(board, random.integers(5, 30), random.choice([0, 6, 15]) * u, random.random() < 0.5))
    if random.random() < 0.4:  # Several cells make one country, or the sea.
        few = random.integers(0, max(3, numbers.max() * 2 // 3), numbers.max() + 1)
        numbers = few[numbers]
    plain = random.random() < 0.25
    width = random.choice([0, 1, random.uniform(1, 4)]) * u if not plain else random.uniform(1.2, 4) * u
    tones = palette(random, numbers.max() + 1, 14 if width else 22)
    tones = [tones[0]] * len(tones) if plain else tones
    dark = plain and tones[0].mean() < 110 or not plain and random.random() < 0.2
    board.divide(numbers, lambda k: board.paint(tones[k], textured=0.2, depth=(3, 18)))
    if width:
        board.cover(borders(numbers, max(1, width)), colour(random, 190, 256) if dark else colour(random, 0, 120), SAME)
    for _ in range(random.integers(0, 3)):
        board.area(blob(random, *board.place(), random.uniform(15, 60) * u, 0.3), board.paint(colour(random)),
                   line=(60, 60, 90) if random.random() < 0.5 else None)
    map_lines(board)
    names(board, random.integers(0, 22))
    if random.random() < 0.25:
        x, y = board.place() * 0.7
        wide, high = random.uniform(50, 140, 2) * u
        board.area(box(x, y, x + wide, y + high), colour(random, 220, 256), line=(40, 40, 40))
        board.lines((x + 5, y + 4, x + wide - 4, y + high - 3), 8 * u, (50, 50, 50), lead=1.6)


def map_lines(board):
    """Roads, rivers, contour lines and a grid: on the map, but no borders of its areas."""
    random, u = board.random, board.unit
    for _ in range(random.integers(0, 8)):
        line = course(random, [board.place() for _ in range(random.integers(2, 6))],
                      random.choice([0, random.uniform(0.02, 0.2)]))
        width = random.uniform(0.8, 4) * u
        if random.random() < 0.4:
            board.stroke(line, colour(random, 0, 160), width + 2)
        board.stroke(line, colour(random), width)
    if random.random() < 0.2:
        hills, tone = clouds(random, (board.h, board.w), random.uniform(60, 200)), colour(random, 60, 200)
        steps = np.floor(ndimage.gaussian_filter(hills, 6 * u) * random.uniform(3, 8))
        board.cover(borders(steps, 1), tone, SAME)
    if random.random() < 0.2:
        step, tone = random.uniform(30, 100) * u, colour(random, 60, 220)
        for x in np.arange(random.uniform(0, step), board.w, step):
            board.stroke([(x, 0), (x, board.h)], tone, 1)
        for y in np.arange(random.uniform(0, step), board.h, step):
            board.stroke([(0, y), (board.w, y)], tone, 1)


def names(board, count):
    random, u = board.random, board.unit
    for _ in range(count):
        x, y = board.place()
        size, tone = random.uniform(6, 17) * u, colour(random, 0, 110) if random.random() < 0.8 else colour(
            random, 200, 256)
        board.lines((x, y, x + size * random.uniform(3, 7), y + size * 1.3), size, tone)
        if random.random() < 0.4:
            board.area(oval(x - 6 * u, y, 3 * u, 3 * u), tone, SAME)


def screen(board):
    random, u = board.random, board.unit
    dark = random.random() < 0.4
    ground = colour(random, 20, 160)
    board.ground(board.photograph((0, 0, board.w, board.h)) if random.random() < 0.1 else board.paint(
        ground, textured=0.08, shaded=0.3, depth=(4, 22)))
    if random.random() < 0.4:
        window(board, (0, 0, board.w, board.h), dark)
    for _ in range(random.integers(1, 5)):
        wide, high = random.uniform(0.25, 0.7) * board.w, random.uniform(0.25, 0.7) * board.h
        x, y = random.uniform(-0.1, 0.6) * board.w, random.uniform(-0.05, 0.6) * board.h
        window(board, (x, y, x + wide, y + high), dark if random.random() < 0.8 else not dark)
    if random.random() < 0.5:
        high = random.uniform(10, 26) * u
        board.area(box(0, board.h - high, board.w, board.h), colour(random, 10, 90))
        icons(board, (5, board.h - high * 0.85, board.w * random.uniform(0.2, 0.9)), high * 0.7)
    for _ in range(random.integers(0, 8)):
        x, y = board.place()
        board.area(box(x, y, x + 14 * u, y + 14 * u, 3 * u), colour(random), NONE)


def icons(board, place, size):
    x0, y, x1 = place
    for x in np.arange(x0, x1, size * board.random.uniform(1.3, 2.5)):
        board.area(shape_at(board.random, x + size / 2, y + size / 2, size * 0.45), colour(board.random), SAME)


def window(board, place, dark):
    random, u, (x0, y0, x1, y1) = board.random, board.unit, place
    base = random.uniform(25, 70) if dark else random.uniform(215, 255)
    step = random.uniform(8, 40) * (1 if dark else -1)
    back, ink = base + random.normal(0, 4, 3), 220 if dark else random.uniform(10, 70)
    line = back + step * 2 if random.random() < 0.5 else None
    if random.random() < 0.3:
        board.area(box(x0 + 4 * u, y0 + 4 * u, x1 + 4 * u, y1 + 4 * u), board.pixels.mean() * 0.5, SAME)
    board.area(box(*place, random.choice([0, 4 * u])), back, line=line)
    size, y = random.uniform(5, 12) * u, y0
    for tall, chance in ((random.uniform(9, 24) * u, 0.75), (random.uniform(12, 30) * u, 0.4)):
        if random.random() < chance:
            tone = colour(random) if random.random() < 0.4 else back + step * random.uniform(0.7, 2)
            board.area(box(x0, y, x1, y + tall), tone)
            contrast = 235 if np.mean(tone) < 130 else 30
            if random.random() < 0.6:
                board.lines((x0 + 6 * u, y + tall * 0.2, x0 + (x1 - x0) * 0.4, y + tall), tall * 0.6, contrast)
            else:
                icons(board, (x0 + 4 * u, y + tall * 0.15, x0 + (x1 - x0) * 0.7), tall * 0.7)
            y += tall
    left, right = x0, x1
    for side in (0, 1):
        if random.random() < 0.4 - 0.2 * side:
            wide = (x1 - x0) * random.uniform(0.12, 0.3)
            at = x0 if side == 0 else x1 - wide
            board.area(box(at, y, at + wide, y1), back + step if random.random() < 0.8 else colour(random))
            board.lines((at + 5 * u, y + 5 * u, at + wide - 3 * u, y1 - 3 * u), size, ink, lead=1.8, ragged=0.7)
            left, right = (at + wide, right) if side == 0 else (left, at)
    content(board, (left, y, right, y1), back, step, size, ink)


def content(board, place, back, step, size, ink):
    """What a window shows: text, a list, cards, a picture or a chart."""
    random, u, (x0, y0, x1, y1) = board.random, board.unit, place
    if x1 - x0 < 12 * u or y1 - y0 < 12 * u:
        return
    kind = random.integers(5)
    inner = (x0 + 6 * u, y0 + 6 * u, x1 - 6 * u, y1 - 6 * u)
    if kind == 0:
        board.lines(inner, size, ink, lead=1.4, ragged=0.6)
    elif kind == 1:
        for k, y in enumerate(np.arange(y0 + 4, y1 - size, size * 1.7)):
            if k % 2:
                board.area(box(x0, y, x1, y + size * 1.7), back + step * 0.3, SAME)
            board.lines((x0 + 6 * u, y + 2, x0 + (x1 - x0) * random.uniform(0.3, 0.9), y + size * 1.5), size, ink)
    elif kind == 2:
        columns, rows = random.integers(2, 4), random.integers(1, 4)
        wide, high = (inner[2] - inner[0]) / columns, (inner[3] - inner[1]) / rows
        for k in range(columns * rows):
            x, y = inner[0] + wide * (k % columns), inner[1] + high * (k // columns)
            tone = colour(random) if random.random() < 0.3 else back + step * random.uniform(0.6, 1.5)
            board.area(box(x + 3, y + 3, x + wide - 3, y + high - 3, 3 * u), board.paint(tone, shaded=0.2))
            board.lines((x + 8, y + 8, x + wide - 8, y + high * random.uniform(0.3, 0.9)), size, ink)
    elif kind == 3:
        figure(board, inner, size, ink)
    else:
        low = y0 + (y1 - y0) * random.uniform(0.3, 0.7)
        figure(board, (*inner[:3], low), size, ink)
        board.lines((inner[0], low + 5 * u, *inner[2:]), size, ink, ragged=0.5)


def soft(board):
    """X-rays and micrographs: soft bodies that add up, or lie one before another."""
    random, u, shape = board.random, board.unit, (board.h, board.w)
    light, truth = np.full(shape, random.uniform(15, 90)), np.zeros(shape, int)
    bright, sums = random.random() < 0.25, random.random() < 0.6
    count = random.integers(2, 9) if sums else random.integers(3, 40)
    softness = np.exp(random.uniform(np.log(0.6), np.log(4))) * u
    for number in range(count):
        size = random.uniform(25, 120) * u if sums else random.uniform(12, 40) * u
        mask = Image.new("L", shape[::-1])
        outline = blob(random, *board.place(), size, random.choice([0, 0.12]))
        ImageDraw.Draw(mask).polygon([tuple(p) for p in outline], fill=1)
        inside = np.asarray(mask) > 0
        step = random.uniform(14, 60)
        light = light + inside * step if sums else np.where(inside, light.min() + step * 1.5, light)
        if not sums and random.random() < 0.5:
            light += inside * clouds(random, shape, 8 * u) * random.uniform(0, 6)
        truth = truth + inside * 2**number if sums else np.where(inside, number + 1, truth)
    light = ndimage.gaussian_filter(light, softness)
    light += clouds(random, shape, random.uniform(2, 60)) * random.uniform(0, 4) + random.normal(
        0, random.uniform(0, 10), shape)
    light = 255 - light if bright else light
    tint = np.ones(3) if random.random() < 0.7 else random.uniform(0.4, 1, 3)
    board.pixels[:] = light[..., None] * tint
    board.regions[:] = np.unique(truth, return_inverse=True)[1].reshape(shape) + 1


def fields(board):
    random, u, shape = board.random, board.unit, (board.h, board.w)
    numbers = (cells(board, random.integers(6, 50), random.choice([0, 3]) * u, random.random() < 0.6)
               if random.random() < 0.5 else parcels(board, random.uniform(24, 80) * u))
    few = np.array([(120, 100, 70), (90, 120, 60), (70, 100, 55), (160, 145, 95), (110, 125, 75), (140, 120, 90)])
    depth = random.uniform(2, 16)
    board.divide(numbers, lambda k: board.paint(
        few[random.integers(6)] * random.uniform(0.75, 1.3) + random.normal(0, 8, 3), textured=0.8, shaded=0.3,
        depth=(1, depth + 1)))
    if random.random() < 0.4:
        board.cover(borders(numbers, random.uniform(1, 4) * u), colour(random, 40, 190), SAME)
    for _ in range(random.integers(0, 4)):
        line = course(random, [board.place() for _ in range(3)], 0.08)
        board.stroke(line, colour(random, 90, 220), random.uniform(1, 4) * u)
    for _ in range(random.integers(0, 4)):  # Woods and lakes.
        tone = colour(random, 20, 90)
        board.area(blob(random, *board.place(), random.uniform(12, 50) * u), board.paint(tone, textured=0.7))
    for _ in range(random.integers(0, 25)):
        x, y = board.place()
        board.area(shape_at(random, x, y, random.uniform(2, 7) * u), colour(random, 40, 230), NONE)
    board.pixels[:] = ndimage.gaussian_filter(board.pixels, (*[random.uniform(0.3, 1.5)] * 2, 0))
    haze = random.uniform(0, 0.5)
    board.pixels[:] = board.pixels * (1 - haze) + 170 * haze + random.normal(0, random.uniform(0, 6), (*shape, 1))


def mosaic(board):
    """Textures side by side, as bright on average, and as a rule of one colour."""
    random = board.random
    numbers = cells(board, random.integers(2, 9), random.choice([0, 0, 10]) * board.unit, True)
    mean, grey, equal = colour(random, 60, 200), random.random() < 0.5, random.random() < 0.7

    def material(shape):
        if random.random() < 0.75 and board.patches:
            patch = board.patches[random.integers(len(board.patches))]
            pad = [(0, max(0, n - m)) for n, m in zip(shape, patch.shape)]
            plane = np.pad(patch, [*pad, (0, 0)], mode="symmetric")[: shape[0], : shape[1]]
        else:
            plane = np.broadcast_to(texture(random, shape, board.patches, random.uniform(10, 45)), (*shape, 3))
        plane = plane.mean(2, keepdims=True) if grey else plane
        return mean - plane.mean((0, 1)) + plane + (0 if equal else random.normal(0, 20, 3))

    board.divide(numbers, lambda k: material)


def shapes(board):
    """Things before a ground: flat or shaded, with outlines or without, with shadows and stray lines."""
    random, u = board.random, board.unit
    board.ground(board.paint(colour(random), textured=0.3, shaded=0.4, depth=(3, 25)))
    line = colour(random, 0, 80) if random.random() < 0.4 else None
    width = random.uniform(1, 4) * u
    hollow = line is not None and random.random() < 0.25
    tones = palette(random, random.integers(2, 14))
    for tone in tones:
        at, size = board.place(), random.uniform(15, 110) * u
        outline = shape_at(random, *at, size)
        if random.random() < 0.15:
            board.area(outline + random.uniform(-8, 8, 2) * u, board.pixels.mean((0, 1)) * 0.6, SAME)
        paint = board.pixels[0, 0] if hollow else board.paint(tone, textured=0.25, shaded=0.45, depth=(4, 40))
        board.area(outline, paint, line=line, width=width)
    for _ in range(random.integers(0, 5) if random.random() < 0.4 else 0):
        board.stroke(course(random, [board.place(), board.place()], 0.1), colour(random), random.uniform(1, 2.5) * u)
    if random.random() < 0.3:
        names(board, random.integers(1, 8))
    if random.random() < 0.25:
        board.pixels[:] = ndimage.gaussian_filter(board.pixels, (*[random.uniform(1, 3) * u] * 2, 0))


KINDS = {"page": page, "comic": comic, "map": plan, "screen": screen, "soft": soft, "fields": fields,
         "mosaic": mosaic, "shapes": shapes}
SHARE = {"page": 0.22, "comic": 0.1, "map": 0.16, "screen": 0.15, "soft": 0.09, "fields": 0.09, "mosaic": 0.09,
         "shapes": 0.1}


def patches_of(pictures):
    """For each of the larger regions of photographs the largest square within it, less its mean."""
    found = []
    for photograph, drawn in zip(pictures.photographs, pictures.regions):
        regions = np.pad(drawn[0], 1)
        for number in np.flatnonzero(np.bincount(regions.ravel()) > 4 * PATCH**2):
            depth = ndimage.distance_transform_cdt(regions == number)
            half = int(depth.max()) - 4
            if number and 2 * half >= PATCH:
                y, x = np.unravel_index(depth.argmax(), depth.shape)
                square = photograph[y - 1 - half : y - 1 + half, x - 1 - half : x - 1 + half].astype(np.float32)
                if square.std() > 6:
                    found.append(square - square.mean((0, 1)))
    return found


_source = None  # Photographs and patches, for the processes that draw.


def _draw(seed):
    random = np.random.default_rng(seed)
    kind = random.choice(list(SHARE), p=list(SHARE.values()))
    board = Board(random, _source, upright=kind in ("page", "comic") and random.random() < 0.7)
    KINDS[kind](board)
    return f"{kind}-{seed[1]}", *board.done()


def draw(pictures, count, seed):
    """Pictures as those of data.py, by one annotator each."""
    global _source
    _source = pictures.photographs, patches_of(pictures)
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        names_, pixels, regions = zip(*pool.imap(_draw, [(seed, k) for k in range(count)], chunksize=8))
    return Pictures(list(names_), list(pixels), [r[None] for r in regions])


def check_drawn(parser, options):
    if not 0 <= options.drawn < 1:
        parser.error(f"--drawn {options.drawn:g}: expected a share of at least 0 and less than 1")


def with_drawn(pictures, options):
    """The pictures and those drawn for --drawn, and what Crops has to know of them."""
    if not options.drawn:
        return pictures, {}
    count = EACH * len(pictures.names)
    return together([pictures, draw(pictures, count, options.seed)]), {"drawn": count, "share": options.drawn}


def main():
    from scipy.io import savemat

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="folder of BSDS500")
    parser.add_argument("--out", required=True, help="folder to write")
    parser.add_argument("--count", type=int, default=100, help="pictures; default 100")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fold", help="K/N: parts of every N-th photograph from the K-th on alone")
    options = parser.parse_args()
    fold = fold_of(parser, options.fold)
    drawn = draw(load_contours(options.data, "train").divided(fold)[1 if fold else 0], options.count, options.seed)
    for folder in ("pictures", "truth"):
        os.makedirs(f"{options.out}/{folder}", exist_ok=True)
    for name, pixels, regions in zip(*drawn):
        Image.fromarray(pixels).save(f"{options.out}/pictures/{name}.png")
        cell = np.empty((1, 1), object)
        cell[0, 0] = {"Segmentation": regions[0].astype(np.uint16), "Boundaries": borders(regions[0], 1)}
        savemat(f"{options.out}/truth/{name}.mat", {"groundTruth": cell}, do_compression=True)


if __name__ == "__main__":
    main()
