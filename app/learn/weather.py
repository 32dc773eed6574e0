"""Degraded pictures: noise, blur, darkness, low contrast, fog, compression. On tensors n x 3 x height x width
of sRGB values in [0, 1], each picture with its own kind and strength.

A strength is a number from 0 (hardly visible) to 5 (the strongest); at 1 to 5 it is about a severity of
ImageNet-C (Hendrycks and Dietterich 2019).
"""
import math

import numpy as np
import torch
import torch.nn.functional as F


def between(table, strength):
    """The entry of the table of strengths 1 to 5 for a strength between, on a logarithmic scale."""
    strength = min(max(strength, 1.0), 5.0)
    return float(np.exp(np.interp(strength, range(1, 6), np.log(table))))


def gaussian_noise(image, strength, random):
    return image + between((.08, .12, .18, .26, .38), strength) * random.normal(image)


def shot_noise(image, strength, random):
    photons = between((60, 25, 12, 5, 3), strength)
    return random.poisson(image * photons) / photons


def speckle_noise(image, strength, random):
    return image + image * between((.15, .2, .35, .45, .6), strength) * random.normal(image)


def convolved(image, kernel):
    """Each channel with one kernel of odd sides, mirrored at the edges."""
    rows, columns = kernel.shape
    padded = F.pad(image, (columns // 2, columns // 2, rows // 2, rows // 2), mode="reflect")
    weight = kernel.to(image)[None, None].expand(image.shape[1], 1, rows, columns)
    return F.conv2d(padded, weight.contiguous(), groups=image.shape[1])


def defocus(image, strength, random):
    """A disc with a soft edge."""
    radius = between((1.5, 2.5, 3.5, 5, 7), strength)
    reach = math.ceil(radius + 1)
    line = torch.arange(-reach, reach + 1, dtype=torch.float32)
    disc = (radius + .5 - torch.hypot(line[:, None], line[None])).clamp(0, 1)
    return convolved(image, disc / disc.sum())


def motion(image, strength, random):
    """A line in any direction."""
    length = between((6, 10, 15, 20, 27), strength)
    angle = random.uniform(0, math.pi)
    reach = math.ceil(length / 2)
    line = torch.arange(-reach, reach + 1, dtype=torch.float32)
    y, x = torch.meshgrid(line, line, indexing="ij")
    along = (x * math.cos(angle) + y * math.sin(angle)).abs()
    across = (x * math.sin(angle) - y * math.cos(angle)).abs()
    kernel = (length / 2 + .5 - along).clamp(0, 1) * (1 - across).clamp(0, 1)
    return convolved(image, kernel / kernel.sum())


def darkness(image, strength, random):
    """Little light, linear in the light of sRGB's curve, and the noise of few photons."""
    light = between((.4, .22, .12, .07, .04), strength)
    photons = between((240, 120, 60, 35, 20), strength)  # Of a white pixel, in that light.
    linear = image.clamp(0, 1) ** 2.2 * light
    return (random.poisson(linear * photons / light) / photons * light).clamp(0, 1) ** (1 / 2.2)


def low_contrast(image, strength, random):
    share = between((.4, .25, .12, .08, .05), strength)
    middle = image.mean((1, 2, 3), keepdim=True)
    return (image - middle) * share + middle


def fog(image, strength, random):
    """White that lies in clouds: noise of every octave, the coarse ones strongest."""
    density = between((.35, .5, .65, .75, .85), strength)
    n, _, height, width = image.shape
    clouds, total = 0, 0
    for octave in range(6):
        cells = 2 ** octave
        grid = random.plane(image, n, cells * 2 + 1, cells * 2 + 1)
        clouds = clouds + F.interpolate(grid, (height, width), mode="bilinear", align_corners=True) / cells ** .8
        total += 1 / cells ** .8
    veil = (density * (.6 + .8 * clouds / total)).clamp(0, .97)
    return image * (1 - veil) + .92 * veil


LUMINANCE = np.array([
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22,
    29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103,
    121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99]).reshape(8, 8)
CHROMA = np.array([17, 18, 24, 47, 18, 21, 26, 66, 24, 26, 56, 99, 47, 66, 99, 99]).reshape(4, 4)
TO_YCC = torch.tensor([[.299, .587, .114], [-.168736, -.331264, .5], [.5, -.418688, -.081312]])


def jpeg(image, strength, random):
    """As the JPEG format quantizes: blocks of 8x8 of the discrete cosine transform, colours at half size."""
    quality = between((25, 18, 12, 7, 4), strength)
    factor = (50 / quality if quality < 50 else 2 - quality / 50)
    k = torch.arange(8, dtype=torch.float64)
    dct = torch.cos((2 * k[None] + 1) * k[:, None] * math.pi / 16) / 2
    dct[0] /= math.sqrt(2)
    dct = dct.to(image)
    chroma = np.full((8, 8), 99)
    chroma[:4, :4] = CHROMA
    height, width = image.shape[-2:]
    padded = F.pad(image, (0, -width % 16, 0, -height % 16), mode="replicate")
    ycc = torch.einsum("ij,njhw->nihw", TO_YCC.to(image), padded) * 255

    def quantized(plane, table):
        n, c, h, w = plane.shape
        steps = torch.from_numpy(np.clip(np.floor(table * factor + .5), 1, 255)).to(image)
        blocks = plane.reshape(n, c, h // 8, 8, w // 8, 8).permute(0, 1, 2, 4, 3, 5)
        blocks = dct.T @ ((dct @ blocks @ dct.T / steps).round() * steps) @ dct
        return blocks.permute(0, 1, 2, 4, 3, 5).reshape(n, c, h, w)

    light = quantized(ycc[:, :1] - 128, LUMINANCE) + 128
    colour = quantized(F.avg_pool2d(ycc[:, 1:], 2), chroma)
    colour = F.interpolate(colour, scale_factor=2, mode="bilinear", align_corners=False)
    rgb = torch.einsum("ij,njhw->nihw", torch.linalg.inv(TO_YCC).to(image), torch.cat([light, colour], 1))
    return rgb[..., :height, :width] / 255


def grey(image, strength, random):
    weights = torch.tensor([.299, .587, .114]).to(image)
    return torch.einsum("j,njhw->nhw", weights, image)[:, None].expand_as(image)


KINDS = {
    "gaussian-noise": gaussian_noise, "shot-noise": shot_noise, "speckle-noise": speckle_noise,
    "defocus": defocus, "motion": motion, "low-light": darkness, "low-contrast": low_contrast, "fog": fog,
    "jpeg": jpeg, "grey": grey,
}


class Random:
    """Numbers for the pictures, on their device, and for the kinds, on the host."""

    def __init__(self, seed, device):
        self.host = np.random.default_rng(seed)
        self.device = torch.Generator(device=device)
        self.device.manual_seed(seed)

    def uniform(self, low, high):
        return float(self.host.uniform(low, high))

    def normal(self, like):
        return torch.randn(like.shape, generator=self.device, device=like.device)

    def poisson(self, mean):
        return torch.poisson(mean.clamp(min=0), generator=self.device)

    def plane(self, like, n, height, width):
        return torch.rand(n, 1, height, width, generator=self.device, device=like.device) * 2 - 1


def degrade(image, kind, strength, random):
    """Pictures of one kind and strength, in steps of 8 bits."""
    return (KINDS[kind](image, strength, random).clamp(0, 1) * 255).round() / 255


def stretched(image, share=.001):
    """Pictures of which a share of the values lies outside of [0, 1] on either side; nothing is stretched
    more than 20 times. As image.range=robust."""
    values = image.flatten(1)
    count = values.shape[1]
    low = values.kthvalue(max(1, round(share * count)), 1).values
    high = values.kthvalue(min(count, round((1 - share) * count)), 1).values
    low, high = (v[:, None, None, None] for v in (low, high))
    return ((image - low) / (high - low).clamp(min=.05)).clamp(0, 1)


def weathered(image, share, random):
    """A share of the pictures degraded, each by a kind and strength of its own, some by two."""
    image = image.clone()
    kinds = list(KINDS)
    for i in range(image.shape[0]):
        if random.uniform(0, 1) >= share:
            continue
        for _ in range(2 if random.uniform(0, 1) < .2 else 1):
            kind = kinds[random.host.integers(len(kinds))]
            image[i : i + 1] = degrade(image[i : i + 1], kind, random.uniform(.5, 5), random)
    return image
