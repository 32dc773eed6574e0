"""Random crops of photographs and of the regions that people drew, made on the GPU, and their targets."""
import math

import numpy as np
import torch
import torch.nn.functional as F

from network import MEAN, SCALE
from weather import Random, stretched, weathered

CROP = 320
REACH = 2  # Boundaries of annotators agree within this many pixels.


class Crops:
    """Crops of photographs, with the regions warped by nearest neighbour, so that boundaries stay as wide
    as they are under any rotation and scale. Region 0 is no region: outside of the photograph, or no such
    annotator."""

    scales = (0.6, 1.7)
    stretch = 0.12
    mirrored = False  # Whether crops that reach beyond a photograph see it mirrored there.

    stretches = 0.75  # How many of the crops are stretched to the range of their values, with weather.

    def __init__(self, photographs, regions, device, seed, weather=0.0, drawn=0, share=0.0):
        """weather: the share of the crops that are degraded; share: that of crops of the last `drawn`
        photographs, which are drawn pictures."""
        self.drawn, self.drawn_share = drawn, share
        annotators = max(r.shape[0] for r in regions)
        sizes = [p.shape[:2] for p in photographs]
        pixels = sum(h * w for h, w in sizes)
        photograph_pixels = np.zeros((pixels, 3), np.uint8)
        region_pixels = np.zeros((pixels, annotators), np.int16)
        starts, at = [], 0
        for photograph, region, (h, w) in zip(photographs, regions, sizes):
            photograph_pixels[at : at + h * w] = photograph.reshape(-1, 3)
            region_pixels[at : at + h * w, : region.shape[0]] = region.reshape(region.shape[0], -1).T
            starts.append(at)
            at += h * w
        self.photographs = torch.from_numpy(photograph_pixels).to(device)
        self.regions = torch.from_numpy(region_pixels).to(device)
        self.start = torch.tensor(starts, device=device)
        self.size = torch.tensor([(w, h) for h, w in sizes], device=device)
        self.device, self.weather = device, weather
        self.skies = Random(seed, device)
        self.random = torch.Generator(device=device)
        self.random.manual_seed(seed)

    def uniform(self, n, low, high):
        return low + (high - low) * torch.rand(n, generator=self.random, device=self.device)

    def chance(self, n, share):
        return self.uniform(n, 0, 1) < share

    def batch(self, n, folds=1):
        """n crops in `folds` equal groups; group k is of photographs k, k + folds, k + 2 folds, ...
        Returns the input, the same without weather, and the targets and their weights,
        n x channels x CROP x CROP each."""
        pick = self.pick(n, folds)
        at_x, at_y = self.places(pick)
        image = self.sample(pick, at_x, at_y)
        regions = self.nearest(pick, at_x.round().long(), at_y.round().long())
        clear = image = self.colour(image.clamp(0, 1)).clamp(0, 1)
        if self.weather > 0:
            image = weathered(image, self.weather, self.skies)
            image = torch.where(self.chance(n, self.stretches)[:, None, None, None], stretched(image), image)
        return (image - MEAN) * SCALE, (clear - MEAN) * SCALE, *self.target(regions)

    def pick(self, n, folds):
        draw = torch.rand(n, generator=self.random, device=self.device)
        fold = torch.arange(n, device=self.device) * folds // n
        photographs = len(self.size) - self.drawn
        members = (photographs - fold + folds - 1) // folds  # Photographs of each group.
        pick = (draw * members).long() * folds + fold
        if not self.drawn:
            return pick
        drawn = photographs + self.uniform(n, 0, self.drawn).long().clamp(max=self.drawn - 1)
        return torch.where(self.chance(n, self.drawn_share), drawn, pick)

    def angles(self, n):
        angle = self.uniform(n, 0, 2 * math.pi)
        return angle.masked_fill(self.chance(n, 0.5), 0)  # Half of the crops are upright, as photographs are.

    def places(self, pick):
        """Where in the photograph each pixel of each crop lies."""
        n = len(pick)
        angle = self.angles(n)
        scale = torch.exp(self.uniform(n, *(math.log(s) for s in self.scales)))
        stretch = torch.exp(self.uniform(n, -self.stretch, self.stretch))
        flip = torch.where(self.chance(n, 0.5), -1.0, 1.0)
        # The map from a pixel of the crop, relative to its centre, to a pixel of the photograph.
        a = torch.cos(angle) / (scale * stretch) * flip
        b = -torch.sin(angle) / scale
        c = torch.sin(angle) / (scale * stretch) * flip
        d = torch.cos(angle) / scale
        centre = torch.stack([self.uniform(n, 0, 1), self.uniform(n, 0, 1)], 1)
        # Most of a crop lies inside of the photograph.
        size = self.size[pick].float()
        reach = torch.minimum(CROP / 2 / scale[:, None] * 0.8, size / 2)
        centre = reach + centre * (size - 2 * reach)
        line = torch.arange(CROP, device=self.device) - (CROP - 1) / 2
        y, x = torch.meshgrid(line, line, indexing="ij")
        a, b, c, d, centre_x, centre_y = (
            v[:, None, None] for v in (a, b, c, d, centre[:, 0], centre[:, 1]))
        return centre_x + a * x + b * y, centre_y + c * x + d * y

    def index(self, pick, column, row):
        """Where the pixels lie in the list of all pixels, and which of them lie in the photograph."""
        w, h = (v[:, None, None] for v in self.size[pick].unbind(1))
        inside = (column >= 0) & (column < w) & (row >= 0) & (row < h)
        if self.mirrored:
            column, row = column % (2 * w), row % (2 * h)
            column = torch.where(column < w, column, 2 * w - 1 - column)
            row = torch.where(row < h, row, 2 * h - 1 - row)
            inside = torch.ones_like(inside)
        column = torch.minimum(column.clamp(min=0), w - 1)
        row = torch.minimum(row.clamp(min=0), h - 1)
        return self.start[pick][:, None, None] + row * w + column, inside

    def sample(self, pick, at_x, at_y):
        """The photographs, interpolated bilinearly, 0 outside: n x 3 x CROP x CROP."""
        left, top = at_x.floor(), at_y.floor()
        total = 0
        for column, share_x in ((left, left + 1 - at_x), (left + 1, at_x - left)):
            for row, share_y in ((top, top + 1 - at_y), (top + 1, at_y - top)):
                index, inside = self.index(pick, column.long(), row.long())
                share = share_x * share_y * inside / 255
                total = total + self.photographs[index] * share[..., None]
        return total.permute(0, 3, 1, 2)

    def nearest(self, pick, column, row):
        index, inside = self.index(pick, column, row)
        return self.regions[index].masked_fill(~inside[..., None], 0).permute(0, 3, 1, 2).contiguous()

    def spread(self, n, low, high):
        return self.uniform(n, low, high)[:, None, None, None]

    def normal(self, *shape):
        return torch.randn(*shape, generator=self.random, device=self.device)

    def colour(self, image):
        n = image.shape[0]
        image = image ** torch.exp(self.spread(n, -0.3, 0.3))
        grey = image.mean(1, keepdim=True)
        saturation = self.spread(n, 0.4, 1.4).masked_fill(self.chance(n, 0.1)[:, None, None, None], 0)
        image = grey + saturation * (image - grey)
        gain = (1 + 0.15 * self.normal(n, 3, 1, 1)) * torch.exp(self.spread(n, -0.35, 0.35))
        image = (image - 0.5) * gain + 0.5 + self.spread(n, -0.15, 0.15)
        return image + self.spread(n, 0, 0.02) * self.normal(*image.shape)

    def target(self, regions):
        """The target of a pixel on the boundary of any annotator is the share of annotators with a
        boundary within REACH pixels of it; the target of any other pixel is 0."""
        here = regions > 0
        edge = torch.zeros_like(here)
        right = (regions[..., 1:] != regions[..., :-1]) & here[..., 1:] & here[..., :-1]
        below = (regions[..., 1:, :] != regions[..., :-1, :]) & here[..., 1:, :] & here[..., :-1, :]
        edge[..., :-1] = right
        edge[..., :-1, :] |= below
        near = F.max_pool2d(edge.float(), (1, 2 * REACH + 1), 1, (0, REACH))
        near = F.max_pool2d(near, (2 * REACH + 1, 1), 1, (REACH, 0))
        annotators = here.any(3).any(2).sum(1).clamp(min=1)[:, None, None, None]
        agreed = near.sum(1, keepdim=True, dtype=torch.float32) / annotators
        anybody = edge.any(1, keepdim=True).float()
        inside = here.any(1, keepdim=True).float()
        # The edge of the photograph, inside of a warped crop, is no boundary.
        inside = 1 - F.max_pool2d(1 - inside, 5, 1, 2)
        return anybody * agreed, inside


class ObjectCrops(Crops):
    """Crops of images of objects, with two targets: pixels within 1 pixel of a change of region, and
    pixels inside of an object."""

    scales = (0.35, 2.8)
    mirrored = True
    touching = 3.0  # The weight of boundaries between two objects, which are rare.

    def __init__(self, photographs, regions, device, seed, weather=0.0):
        super().__init__(photographs, regions, device, seed, weather)
        # Bright images, stained tissue for the most, get a share of the crops that is not left to how many
        # of them there are.
        bright = torch.tensor([bool(p.mean() > 127) for p in photographs], device=device)
        share = bright.float().mean().clamp(0.01, 0.99)
        self.share = torch.where(bright, 0.4 / share, 0.6 / (1 - share)) / len(photographs)

    def pick(self, n, folds):
        share = self.share[None].repeat(n, 1)
        if folds > 1:
            fold = torch.arange(n, device=self.device) * folds // n
            number = torch.arange(len(self.size), device=self.device)
            share = share * (number[None] % folds == fold[:, None])
        return torch.multinomial(share, 1, generator=self.random)[:, 0]

    def colour(self, image):
        n = image.shape[0]

        def often(share, changed, image):
            return torch.where(self.chance(n, share)[:, None, None, None], changed, image)

        image = image ** torch.exp(self.spread(n, -0.7, 0.7))
        mix = torch.eye(3, device=self.device) + 0.4 * self.normal(n, 3, 3)
        mix = mix / mix.sum(2, keepdim=True).clamp(min=0.4)
        image = often(0.3, torch.einsum("nij,njhw->nihw", mix, image), image)
        image = often(0.3, image.mean(1, keepdim=True).expand_as(image), image)
        image = often(0.3, 1 - image, image)
        gain = (1 + 0.1 * self.normal(n, 3, 1, 1)) * torch.exp(self.spread(n, -0.5, 0.5))
        middle = image.mean((1, 2, 3), keepdim=True)
        image = (image - middle) * gain + middle + self.spread(n, -0.1, 0.1)
        image = often(0.2, F.avg_pool2d(image, 3, 1, 1, count_include_pad=False), image)
        return image + self.spread(n, 0, 0.04) * self.normal(*image.shape)

    def target(self, regions):
        regions = regions.float()
        greatest = F.max_pool2d(regions, 3, 1, 1)
        boundary = greatest != -F.max_pool2d(-regions, 3, 1, 1)
        inside = regions > 1
        least_object = -F.max_pool2d(-torch.where(inside, regions, 1e6), 3, 1, 1)
        between = boundary & (least_object > 1) & (least_object < greatest)
        target = torch.cat([boundary, inside], 1).float()
        weight = torch.ones_like(target)
        weight[:, :1] += (self.touching - 1) * between
        return target, weight


CROPS = {"contours": Crops, "objects": ObjectCrops}
