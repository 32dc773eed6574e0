"""Maps of whole photographs, as diacut computes them, and a rough measure of how good they are."""
import os

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image

from network import MEAN, SCALE

BORDER = 24  # Pixels mirrored at the edges of a whole photograph, as diacut does.
ENDINGS = (".png", ".inside.png")  # Of the files of a map, by channel.


def planes_of(photograph, device):
    return torch.from_numpy(photograph.copy()).to(device).permute(2, 0, 1)[None].float() / 255


def strength(net, photograph, device, scales=(0.5, 1.0)):
    """The map of one photograph, channels x height x width, averaged over scales."""
    h, w = photograph.shape[:2]
    image = planes_of(photograph, device)
    total = 0
    for scale in scales:
        x = image
        if scale != 1.0:
            size = (round(h * scale), round(w * scale))
            x = F.interpolate(image, size=size, mode="bilinear", align_corners=False,
                              antialias=scale < 1)
        rows, columns = (torch.tensor(np.pad(np.arange(n), BORDER, mode="symmetric"), device=device)
                         for n in x.shape[-2:])
        x = x[:, :, rows][:, :, :, columns]
        map_ = torch.sigmoid(net((x - MEAN) * SCALE).float())[..., BORDER:-BORDER, BORDER:-BORDER]
        if scale != 1.0:
            map_ = F.interpolate(map_, size=(h, w), mode="bilinear", align_corners=False)
        total = total + map_
    return (total / len(scales))[0]


def write_maps(folder, names, maps):
    os.makedirs(folder, exist_ok=True)
    for name, map_ in zip(names, maps):
        for channel, ending in zip((map_.cpu().numpy() * 255).round().astype(np.uint8), ENDINGS):
            Image.fromarray(channel).save(f"{folder}/{name}{ending}")


def thinned(map_):
    """Strengths that are greatest across the steepest direction, 1 x 1 x height x width."""
    smooth = F.avg_pool2d(F.pad(map_, (1, 1, 1, 1), mode="replicate"), 3, 1)
    along_x = F.pad(smooth, (1, 1, 0, 0), mode="replicate")
    along_y = F.pad(smooth, (0, 0, 1, 1), mode="replicate")
    ridge_x = (smooth >= along_x[..., :-2]) & (smooth > along_x[..., 2:])
    ridge_y = (smooth >= along_y[..., :-2, :]) & (smooth > along_y[..., 2:, :])
    return map_ * (ridge_x | ridge_y)


def rough_f(maps, regions, device):
    """A rough F of boundary maps and its threshold, to watch the training: maps are thinned across the
    steepest direction and matched by distance alone, many pixels to one. diacut-evaluate computes the
    exact F."""
    disc = torch.tensor(
        [[x * x + y * y <= 18 for x in range(-4, 5)] for y in range(-4, 5)], device=device
    ).float()[None, None]
    thresholds = torch.linspace(0.05, 0.95, 37, device=device)[:, None, None, None]
    counts = torch.zeros(len(thresholds), 4, dtype=torch.float64, device=device)
    for map_, region in zip(maps, regions):
        thin = thinned(map_[None, :1].float())
        r = torch.from_numpy(region.astype(np.float32)).to(device)[None]
        edge = torch.zeros_like(r)
        edge[..., :-1] = (r[..., 1:] != r[..., :-1]).float()
        edge[..., :-1, :] = torch.maximum(edge[..., :-1, :], (r[..., 1:, :] != r[..., :-1, :]).float())
        near_truth = (F.conv2d(edge.amax(1, keepdim=True), disc, padding=4) > 0.5).float()
        found = (thin >= thresholds).float()
        near_found = (F.conv2d(found, disc, padding=4) > 0.5).float()
        drawn = edge.sum(1, keepdim=True)
        for k, value in enumerate((found * near_truth, found, drawn * near_found)):
            counts[:, k] += value.sum((1, 2, 3))
        counts[:, 3] += drawn.sum()
    precision = counts[:, 0] / counts[:, 1].clamp(min=1)
    recall = counts[:, 2] / counts[:, 3].clamp(min=1)
    f = 2 * precision * recall / (precision + recall).clamp(min=1e-9)
    best = int(f.argmax())
    return f[best].item(), thresholds[best].item()
